"""Model calls: one at a time for a run, and so many a day for all agents and processes together.

Both are kept beside the vault's lock and are disposable: a lost counter is counted anew from the
reflections log.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from orgvault import posix
from orgvault.domain.ids import file_name
from orgvault.store import files

COUNTER_LIMIT_S = 10.0


class Calls:
    """The model calls of a vault; `private` is its folder for what is not committed."""

    def __init__(self, private: str) -> None:
        self._private = private
        self._folder = os.path.join(private, "runs")

    @contextmanager
    def turn(self, agent: str, run: str, limit_s: float) -> Iterator[bool]:
        """The turn to reflect on a run; False when `limit_s` passed while another had it.

        Held during the call, so that of many who reflect on one run the first calls and the
        others see what it found.
        """
        files.make_folder(self._folder)
        path = os.path.join(self._folder, f"{agent}.{file_name(run)}.lock")
        lock = _own(path, limit_s)
        try:
            yield lock is not None
        finally:
            if lock is not None:
                files.remove(path)  # while we hold it: whoever waits takes the next file
                posix.free_lock(lock)

    def reserve(self, day: str, most: int, logged: Callable[[], int]) -> bool:
        """Reserve one call of a UTC day, before it is made; False when the day has no room.

        `logged` counts the calls of the day in the log, for a counter that was lost.  Raises
        OSError when the counter cannot be kept: then no call may be made.
        """
        files.make_folder(self._private)
        lock = posix.take_lock(os.path.join(self._private, "calls.lock"), COUNTER_LIMIT_S)
        if lock is None:
            return False
        try:
            path = os.path.join(self._private, "calls.json")
            made = _made(files.read_bytes(path), day)
            made = logged() if made is None else made
            if made >= most:
                return False
            files.replace(path, json.dumps({"day": day, "made": made + 1}).encode())
            return True
        finally:
            posix.free_lock(lock)


def _own(path: str, limit_s: float) -> int | None:
    """The lock on the file that stands at `path` when it is had: the one before may be gone."""
    while True:
        lock = posix.take_lock(path, limit_s)
        if lock is None or posix.is_at(lock, path):
            return lock
        posix.free_lock(lock)


def _made(content: bytes | None, day: str) -> int | None:
    """How many calls the counter knows of that day; None when it cannot tell."""
    try:
        data = json.loads(content or b"")
        if data["day"] == day and type(data["made"]) is int:
            return max(0, data["made"])
    except (ValueError, KeyError, TypeError):
        return None
    # Another day's counter: its file says nothing about this one.
    return None
