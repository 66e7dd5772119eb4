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
_PROBED_S = 1.0  # somebody may just be looking whether a run's lock is held


class RunLocks:
    """The locks of a repository; `private` is its folder for what is not committed."""

    def __init__(self, private: str) -> None:
        self._folder = os.path.join(private, _FOLDER)

    @contextmanager
    def agent(self, agent: str) -> Iterator[bool]:
        """Hold an agent's lock; False when another process does."""
        with self._held(f"agent-{agent}.lock", 0) as lock:
            yield lock

    @contextmanager
    def run(self, run: str) -> Iterator[bool]:
        """Hold a run's lock, which is gone afterwards; False when another process does."""
        name = f"{file_name(run)}.lock"
        with self._held(name, _PROBED_S) as lock:
            try:
                yield lock
            finally:
                if lock:
                    with suppress(OSError):
                        os.unlink(os.path.join(self._folder, name))

    def is_held(self, run: str) -> bool:
        """Whether the dispatcher of a run is alive."""
        path = os.path.join(self._folder, f"{file_name(run)}.lock")
        if not os.path.exists(path):
            return False
        lock = posix.take_lock(path, 0)
        if lock is None:
            return True
        posix.free_lock(lock)
        return False

    @contextmanager
    def _held(self, name: str, limit_s: float) -> Iterator[bool]:
        files.make_folder(self._folder)
        lock = posix.take_lock(os.path.join(self._folder, name), limit_s)
        if lock is None:
            yield False
            return
        try:
            yield True
        finally:
            posix.free_lock(lock)
