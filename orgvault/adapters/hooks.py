"""Hooks: programs of connectors, run all at once under one budget, of which none is left over.

A hook gets JSON on stdin and prints one JSON value.  It leads a session and process group of its
own, which is killed when the hook has ended, broken a limit, or the budget is spent.  What it
started in further sessions is found by a mark in the environment where there is a /proc (Linux).
What leaves its session, empties its environment *and* closes its output is out of our sight.
"""

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import isfinite
from time import sleep
from typing import IO, Any

from orgvault.values import dataclass

OUTPUT_BYTES = 32_000
# What a hook inherits, and all that begins with LC_.
INHERITED = ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "SYSTEMROOT")
MARK = "ORGVAULT_HOOK"
_DEPTH = 32  # of lists and mappings in each other
_TAIL_BYTES = 16_000  # of stderr that are kept: more than a secret that has lines
_REASON_CHARS = 200
_CHUNK = 1 << 16
_NAP_S = 0.02  # how often we look whether a silent hook has ended
_LINGER_S = 0.25  # for the output of a hook that has ended
_REAP_S = 0.1
_SWEEPS, _SWEEP_S = 30, 0.005
_SIGKILL = 9


@dataclass(frozen=True)
class Hook:
    """One program to run: its words, its JSON on stdin, the secrets it may have, its folder."""

    words: tuple[str, ...]
    told: object
    secrets: Mapping[str, str]
    folder: str = ""


@dataclass(frozen=True)
class Ended:
    """What came of a hook: its value (None is JSON's null), or why there is none; how long."""

    value: Any
    unavailable: str | None
    ms: int


def run_hooks(
    hooks: Sequence[Hook], cwd: str, environment: Mapping[str, str], monotonic: Callable[[], float],
    mark: str, budget_s: float, masked: Callable[[str], str] = str,
) -> list[Ended]:  # fmt: skip
    """Run all hooks at once; what came of each, in their order, when the last has ended.

    `mark` is a text that no other process has in its environment.  `masked` hides the secrets in
    what a hook says on stderr, of which only a part is told.
    """
    if not hooks:
        return []
    until_s = monotonic() + budget_s
    running = [_Running(one, monotonic, masked) for one in hooks]
    kept = {name: text for name, text in environment.items() if _inherits(name)}
    try:
        for one in running:
            one.start(cwd, {**kept, **one.hook.secrets, MARK: mark})
        _watch(running, until_s, monotonic)
        for one in running:
            if not one.over:
                one.give_up(f"not done after {budget_s:g} seconds")
    finally:
        for one in running:
            one.end()
        _sweep(f"{MARK}={mark}".encode())
        for one in running:
            one.reap()
    return [one.ended() for one in running]


def strict_json(text: bytes) -> Any:  # noqa: ANN401 - what JSON can hold
    """The one JSON value in a text.

    ValueError for anything that another reader could take differently, or could not write again:
    NaN, a key written twice, half a character, more levels than anybody reads.
    """
    value = json.loads(
        text.decode(), parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once
    )
    _level(value, _DEPTH)
    json.dumps(value, ensure_ascii=False).encode()
    return value


class _Running:
    """One hook on its way."""

    def __init__(
        self, hook: Hook, monotonic: Callable[[], float], masked: Callable[[str], str]
    ) -> None:
        self.hook = hook
        self.over = False
        self._masked = masked
        self._monotonic = monotonic
        self._began_s = self._ended_s = monotonic()
        self._process: subprocess.Popen[bytes] | None = None
        self._unsent = memoryview(json.dumps(hook.told, ensure_ascii=True).encode())
        self._out = bytearray()
        self._err = bytearray()
        self._silent = False  # its output has come to an end
        self._gone_s: float | None = None  # when it was first seen to have ended
        self._why = ""

    def start(self, cwd: str, environment: Mapping[str, str]) -> None:
        """Start the program."""
        words = _words(self.hook)
        if not words:
            self.give_up("its program is not in the connector's folder")
            return
        try:
            # Its streams are closed and it is reaped by `end` and `reap`.
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                cwd=cwd, env=dict(environment), start_new_session=True, bufsize=0,
            )  # fmt: skip
        except (OSError, ValueError) as failure:
            why = getattr(failure, "strerror", None) or str(failure)
            self.give_up(f"its program cannot be started ({why.lower()})")

    @property
    def streams(self) -> list[tuple[IO[bytes], int, Callable[[IO[bytes]], bool]]]:
        """Its ends of the pipes, what to wait for on each, and what to do then."""
        if self._process is None:
            return []
        write, read = selectors.EVENT_WRITE, selectors.EVENT_READ
        given = (
            (self._process.stdin, write, self._send),
            (self._process.stdout, read, self._hear),
            (self._process.stderr, read, self._drain),
        )
        return [(one, event, act) for one, event, act in given if one is not None]

    def look(self) -> None:
        """Notice that the program has ended, or that what it left behind holds its output."""
        if self.over or self._process is None or not _has_ended(self._process):
            return
        now_s = self._monotonic()
        if self._silent:
            self._finish()
        elif self._gone_s is None:
            self._gone_s = now_s
        elif now_s - self._gone_s > _LINGER_S:
            self.give_up("it left a process running that holds its output")

    def give_up(self, why: str) -> None:
        """Nothing that it may still say counts."""
        self._why = why
        self._finish()

    def end(self) -> None:
        """Kill it, and all in its group.  Its own end is not taken note of before `reap`."""
        if self._process is None:
            return
        self._kill()
        for stream, _, _ in self.streams:
            with suppress(OSError):
                stream.close()

    def reap(self) -> None:
        """Let the system forget it; one that not even a kill ends now is not waited for."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_REAP_S)

    def ended(self) -> Ended:
        """What came of it."""
        ms = max(0, round((self._ended_s - self._began_s) * 1000))
        if not self._why and self._process is not None and self._process.returncode:
            self._why = f"{_how(self._process.returncode)}{self._said()}"
        if self._why:
            return Ended(None, self._why, ms)
        try:
            return Ended(strict_json(bytes(self._out)), None, ms)
        except (ValueError, RecursionError):
            what = "what it printed is not JSON" if self._out.strip() else "it printed nothing"
            return Ended(None, f"{what}{self._said()}", ms)

    def _finish(self) -> None:
        self.over = True
        self._ended_s = self._monotonic()
        self._kill()

    def _kill(self) -> None:
        """Kill its group, which lives on while any process is in it, itself unreaped included."""
        process = self._process
        if process is None or (process.returncode is not None and hasattr(os, "waitid")):
            return
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, _SIGKILL)
            else:
                process.kill()

    def _send(self, stream: IO[bytes]) -> bool:
        try:
            self._unsent = self._unsent[os.write(stream.fileno(), self._unsent) :]
        except BlockingIOError:
            return True
        except OSError:  # it does not want to hear it
            return False
        return bool(self._unsent)

    def _hear(self, stream: IO[bytes]) -> bool:
        chunk = os.read(stream.fileno(), OUTPUT_BYTES + 1 - len(self._out))
        self._out += chunk
        if len(self._out) > OUTPUT_BYTES:
            self.give_up(f"it printed more than {OUTPUT_BYTES:,} bytes")
            return False
        self._silent = not chunk
        return bool(chunk)

    def _drain(self, stream: IO[bytes]) -> bool:
        chunk = os.read(stream.fileno(), _CHUNK)
        self._err = (self._err + chunk)[-_TAIL_BYTES - 1 :]
        return bool(chunk)

    def _said(self) -> str:
        """The last line of what it said on stderr, where programs say what went wrong.

        Masked before a line is taken or cut, since half a secret is not known for one; nor is what
        is left of a line whose beginning is gone.
        """
        text = self._err.decode(errors="replace").replace("\r\n", "\n")
        if len(self._err) > _TAIL_BYTES:
            text = text.partition("\n")[2]
        lines = self._masked(text).split("\n")
        last = next((text for one in reversed(lines) if (text := " ".join(one.split()))), "")
        return f": {last[:_REASON_CHARS]}" if last else ""


def _watch(running: Sequence[_Running], until_s: float, monotonic: Callable[[], float]) -> None:
    """Talk to all hooks until each is over, or time is."""
    with selectors.DefaultSelector() as selector:
        for one in running:
            for stream, event, act in one.streams:
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, event, (one, stream, act))
        while (left_s := until_s - monotonic()) > 0 and not all(one.over for one in running):
            for key, _ in selector.select(min(left_s, _NAP_S)):
                one, stream, act = key.data
                if one.over or not act(stream):
                    selector.unregister(stream)
                    stream.close()
            for one in running:
                one.look()


def _words(hook: Hook) -> list[str]:
    """The words as they are run; none when the program lies outside the connector's folder.

    `python3` is the Python that runs orgvault.  The program, or the script that Python runs, is
    relative to the connector's folder when it begins with `./`.
    """
    words, at = list(hook.words), 0
    if words and words[0] in {"python", "python3"}:
        words[0] = sys.executable
        if words[1:2] == ["-m"]:
            # Else a file of the vault would stand in for any module of its name.
            return [words[0], "-P", *words[1:]]
        at = 1
    if words[at:] and words[at].startswith("./"):
        place = os.path.realpath(os.path.join(hook.folder, words[at]))
        inside = os.path.join(os.path.realpath(hook.folder), "") if hook.folder else ""
        if not inside or not place.startswith(inside):
            return []
        words[at] = place
    return words


def _inherits(name: str) -> bool:
    return name in INHERITED or name.startswith("LC_")


def _has_ended(process: "subprocess.Popen[bytes]") -> bool:
    """Whether it has ended.

    It is not reaped where that can be helped, so that its number, which is that of its group,
    cannot be another's when the group is killed.
    """
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    try:
        return os.waitid(os.P_PID, process.pid, flags) is not None
    except ChildProcessError:
        return True


def _sweep(mark: bytes) -> None:
    """Kill what carries the mark and see it gone; where there is no /proc, nothing is found."""
    for _ in range(_SWEEPS):
        marked = _marked(mark)
        if not marked:
            return
        for pid in marked:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, _SIGKILL)
        sleep(_SWEEP_S)  # what was killed takes a moment to go


def _marked(mark: bytes) -> list[int]:
    found = []
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    for pid in pids:
        with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            if mark in file.read().split(b"\0") and pid != os.getpid():
                found.append(pid)
    return found


def _how(code: int) -> str:
    return f"it exited with {code}" if code > 0 else f"it was ended by signal {-code}"


def _refuse(text: str) -> object:
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(text)
    return number


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(pairs[0][0])
    return found


def _level(value: object, left: int) -> None:
    if isinstance(value, dict | list):
        if left == 0:
            raise ValueError(left)
        for one in value.values() if isinstance(value, dict) else value:
            _level(one, left - 1)
