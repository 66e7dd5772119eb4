"""Limits of time and memory for work that a library does and that nobody can foresee."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import Generic, TypeVar

T = TypeVar("T")
GRACE_S = 2.0  # how long work may take to notice that it is to stop
_PAGES = "/proc/self/statm"


class Overdue(Exception):
    """The work took longer than it may."""


class Watch:
    """Runs steps of one piece of work, which together may take `limit_s` seconds.

    Between the steps no time counts.  `stop` asks the work to end; `stuck` says that it did not,
    so that nothing it uses may be closed.
    """

    def __init__(self, limit_s: float, stop: Callable[[], object]) -> None:
        self.stuck = False
        self._left_s = limit_s
        self._stop = stop

    def run(self, step: Callable[[], T]) -> T:
        """What a step gives; raises what it raises, or Overdue.  ^C stops the step too.

        It runs on a daemon thread, so that it can be given up even where it cannot be stopped.
        """
        outcome = _Outcome(step)
        began = monotonic()
        Thread(target=outcome.find, daemon=True).start()
        try:
            late = not outcome.known.wait(max(self._left_s, 0))
        finally:
            if not outcome.known.is_set():
                self._stop()
                self.stuck = not outcome.known.wait(GRACE_S)
        self._left_s -= monotonic() - began
        if late:
            raise Overdue
        return outcome.give()


class _Outcome(Generic[T]):
    """What a step comes to, on another thread.

    An event tells when; `Thread.join` takes a thread for ended when ^C ends the waiting (3.11).
    """

    def __init__(self, step: Callable[[], T]) -> None:
        self.known = Event()
        self._step = step
        self._found: list[T] = []
        self._failure: BaseException | None = None

    def find(self) -> None:
        """Do the step."""
        try:
            self._found.append(self._step())
        except BaseException as failure:  # noqa: BLE001 - raised where the step was asked for
            self._failure = failure
        finally:
            self.known.set()

    def give(self) -> T:
        """What it gave; raises what it raised."""
        if self._failure is not None:
            raise self._failure
        return self._found[0]


@contextmanager
def more_memory(most_mb: int) -> Iterator[None]:
    """Let this process take no more than so much memory beside what it has (Linux only).

    Beyond it a library is told that there is none, and says so: better than a machine that swaps.
    """
    now = _taken()
    if sys.platform == "win32" or now is None:
        yield
        return
    import resource

    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    limits = [now + most_mb * 2**20, *(one for one in (before, hard) if one >= 0)]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))


def _taken() -> int | None:
    """The bytes of address space that this process has, where the system tells."""
    try:
        with open(_PAGES, encoding="ascii") as file:
            pages = int(file.read().split()[0])
    except (OSError, ValueError):
        return None
    import resource

    return pages * resource.getpagesize()
