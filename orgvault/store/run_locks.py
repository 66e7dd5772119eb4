"""Locks that die with their dispatcher: one for each agent at work, one for each run.

The kernel lets go of them when the process ends, however it ends; a client does not inherit them.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from orgvault import posix
from orgvault.domain.ids import file_name
from orgvault.store import files

_FOLDER = "runs"
_AGENT, _ENDING = "agent-", ".lock"
_OWNER_CHARS = 64
_PROBED_S = 1.0  # somebody may just be looking whether a run's lock is held


class RunLocks:
    """The locks of a repository; `private` is its folder for what is not committed."""

    def __init__(self, private: str) -> None:
        self._folder = os.path.join(private, _FOLDER)

    @contextmanager
    def agent(self, agent: str) -> Iterator[bool]:
        """Hold an agent's lock; False when another process does."""
        with self._held(f"{_AGENT}{agent}{_ENDING}", 0) as lock:
            yield lock

    @contextmanager
    def run(self, run: str, agent: str) -> Iterator[bool]:
        """Hold the lock of an agent's run, which is gone afterwards; False when another does."""
        name = f"{file_name(run)}{_ENDING}"
        with self._held(name, _PROBED_S, agent) as lock:
            try:
                yield lock
            finally:
                if lock:
                    self._remove(name)

    def left(self, agent: str) -> list[str]:
        """The runs of an agent whose dispatcher was killed, for as long as they are not forgotten.

        Rely on it under the agent's lock.
        """
        files.make_folder(self._folder)
        names = [one for one in sorted(os.listdir(self._folder)) if one.endswith(_ENDING)]
        runs = [
            one.removesuffix(_ENDING)
            for one in names
            if not one.startswith(_AGENT) and self._whose(one) == agent
        ]
        return [one for one in runs if not self.is_held(one)]

    def forget(self, run: str) -> None:
        """Remove the lock of a run that was left."""
        self._remove(f"{file_name(run)}{_ENDING}")

    def is_held(self, run: str) -> bool:
        """Whether the dispatcher of a run is alive."""
        path = os.path.join(self._folder, f"{file_name(run)}{_ENDING}")
        if not os.path.exists(path):
            return False
        lock = posix.take_lock(path, 0)
        if lock is None:
            return True
        posix.free_lock(lock)
        return False

    def _whose(self, name: str) -> str:
        try:
            with open(os.path.join(self._folder, name), encoding="utf-8", errors="replace") as file:
                return file.read(_OWNER_CHARS).strip()
        except OSError:
            return ""

    def _remove(self, name: str) -> None:
        with suppress(OSError):
            os.unlink(os.path.join(self._folder, name))

    @contextmanager
    def _held(self, name: str, limit_s: float, agent: str = "") -> Iterator[bool]:
        files.make_folder(self._folder)
        lock = posix.take_lock(os.path.join(self._folder, name), limit_s)
        if lock is None:
            yield False
            return
        if agent:  # so that its next turn knows whose run it was, if we are killed
            posix.write_over(lock, agent)
        try:
            yield True
        finally:
            posix.free_lock(lock)
