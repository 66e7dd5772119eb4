"""Several dispatchers at work, a process for each agent; all end with the one above them."""

import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence

from orgvault.adapters.clients.process import GRACE_S, end_gently
from orgvault.values import dataclass

_GRACE_S = GRACE_S + 5.0  # they have clients to end before


@dataclass(frozen=True)
class Ended:
    """A dispatcher of one agent that has ended, and what it printed."""

    agent: str
    exit_code: int
    stdout: str


class Crew:
    """The processes that work for agents; `words` gives the arguments of orgvault for one."""

    def __init__(self, words: Callable[[str], Sequence[str]], env: Mapping[str, str]) -> None:
        self._words, self._env = words, dict(env)
        self._working: dict[str, subprocess.Popen[bytes]] = {}
        self._ended: list[Ended] = []
        self._change = threading.Condition()

    @property
    def agents(self) -> frozenset[str]:
        """For whom somebody is at work."""
        with self._change:
            return frozenset(self._working)

    @property
    def idle(self) -> bool:
        """Whether nobody is at work, and all who were have been told of."""
        with self._change:
            return not self._working and not self._ended

    def start(self, agent: str) -> None:
        """Start a process for an agent, in a group of its own.  Raises OSError."""
        process = subprocess.Popen(
            [sys.executable, "-m", "orgvault", *self._words(agent)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, env=self._env, start_new_session=True,
        )  # fmt: skip
        with self._change:
            self._working[agent] = process
        threading.Thread(target=self._hear, args=(agent, process), daemon=True).start()

    def wait(self, limit_s: float) -> list[Ended]:
        """Those that have ended; waits for one, no longer than `limit_s`."""
        with self._change:
            if not self._ended:
                self._change.wait(limit_s)
            found, self._ended = self._ended, []
        return found

    def end_all(self) -> None:
        """End all that work; their clients end with them, and their wakes are open again."""
        with self._change:
            left = list(self._working.values())
        enders = [threading.Thread(target=end_gently, args=(one, _GRACE_S)) for one in left]
        for one in enders:
            one.start()
        for one in enders:
            one.join()

    def _hear(self, agent: str, process: "subprocess.Popen[bytes]") -> None:
        out = process.communicate()[0]
        with self._change:
            self._working.pop(agent, None)
            self._ended.append(Ended(agent, process.returncode, out.decode(errors="replace")))
            self._change.notify_all()
