"""Everything that differs between operating systems, behind one portable face.

Linux and macOS are supported (Linux is tested).  On Windows locks and process questions are a
best effort: the lock is taken with `msvcrt`, folders cannot be fsynced, and nobody can be named
as a file's holder.
"""

import contextlib
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

O_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
# The same everywhere; importing `signal` costs a cold command half a millisecond.
_SIGTERM, _SIGKILL = 15, 9


class Process(Protocol):
    """A child that was started as the leader of its own group."""

    pid: int

    def kill(self) -> None:
        """Kill the child alone."""

    def wait(self) -> int:
        """Wait until it has ended; its exit code."""


def take_lock(path: str, limit_s: float) -> int | None:
    """Take the exclusive lock on `path`; its descriptor, or None when `limit_s` passed.

    The kernel releases the lock when the last process that inherited the descriptor is gone.
    Waiting blocks in the kernel (fair, unlike polling) on a daemon thread, so that it can be
    given up: the thread then lets go by itself as soon as it gets the lock.  Raises OSError
    where the file cannot be made or the file system knows no locks.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | O_CLOEXEC, 0o600)
    try:
        if _lock(descriptor, wait=False):
            return descriptor
    except OSError:
        os.close(descriptor)
        raise
    if limit_s > 0:
        return _wait_for(descriptor, limit_s)
    os.close(descriptor)
    return None


def _wait_for(descriptor: int, limit_s: float) -> int | None:
    given_up = False
    settled = threading.Lock()
    taken = threading.Event()

    def wait() -> None:
        try:
            got = _lock(descriptor, wait=True)
        except OSError:
            got = False
        with settled:
            if got and not given_up:
                taken.set()
            else:
                os.close(descriptor)

    threading.Thread(target=wait, daemon=True).start()
    try:
        taken.wait(limit_s)
    finally:  # also on ^C: a thread that nobody waits for must not keep the lock
        with settled:
            given_up = not taken.is_set()
    return None if given_up else descriptor


def free_lock(descriptor: int) -> None:
    """Give a lock back."""
    os.close(descriptor)


def is_at(descriptor: int, path: str) -> bool:
    """Whether an open file is the one that stands at `path`."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    own = os.fstat(descriptor)
    return (own.st_dev, own.st_ino) == (found.st_dev, found.st_ino)


def write_over(descriptor: int, text: str) -> None:
    """Put one short line at the start of an open file; no harm is done when the disk is full.

    Never shortens the file: ext4 would write it to the disk at once.
    """
    with contextlib.suppress(OSError):
        os.pwrite(descriptor, text.encode(errors="replace")[:63].ljust(63) + b"\n", 0)


def fsync_folder(path: str) -> None:
    """Make the names in a folder durable (a no-op where a folder cannot be opened)."""
    if sys.platform != "win32":
        _fsync(path)


def fsync_files(paths: "Iterable[str]") -> None:
    """Make the contents of files durable (threads were tried: they cost more than they save)."""
    for path in paths:
        _fsync(path)


def fsync_folders(paths: "Iterable[str]") -> None:
    """Make the names in folders durable; after the first one a journal has them all."""
    for path in paths:
        fsync_folder(path)


def _fsync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def end_group(process: Process) -> None:
    """Kill a process that leads its own group, with all it has started, and wait for it."""
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, _SIGKILL)
    process.wait()


def ask_group_to_end(process: Process) -> None:
    """Ask a process that leads its own group, and all in the group, to end."""
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, _SIGTERM)


def processes_with(*marks: str) -> list[int]:
    """The other processes of this user with all these `NAME=value` in the environment they got.

    Empty where there is no /proc.
    """
    wanted, found = {os.fsencode(one) for one in marks}, []
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            if pid != os.getpid() and wanted <= set(file.read().split(b"\0")):
                found.append(pid)
    return found


def kill_at_once(pid: int) -> None:
    """Kill one process.  Raises ProcessLookupError, PermissionError."""
    os.kill(pid, _SIGKILL)


@contextlib.contextmanager
def interrupted_by_term() -> "Iterator[None]":
    """Within it, being asked to end (SIGTERM) interrupts as ^C does, so that children are ended."""
    import signal

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def holders(path: str) -> list[str]:
    """The processes of this user that have `path` open, as `name (pid)`; empty if unknown."""
    found = []
    try:
        wanted = os.stat(path)
        pids = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    for pid in pids:
        try:
            opened = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for number in opened:
            try:
                one = os.stat(f"/proc/{pid}/fd/{number}")
            except OSError:
                continue
            if (one.st_dev, one.st_ino) == (wanted.st_dev, wanted.st_ino):
                found.append(f"{process_name(int(pid))} ({pid})")
                break
    return found


def named_by_a_process(path: str) -> bool | None:
    """Whether a running process has `path` on its command line; None where that cannot be told."""
    wanted = os.fsencode(os.path.realpath(path))
    try:
        pids = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return None
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
            if wanted in file.read():
                return True
    return False


def process_name(pid: int) -> str:
    """The name of a running process; `?` when it cannot be told."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return "?"


def clock_ns() -> int:
    """This machine's clock, to compare with the times of its files."""
    return time.time_ns()


def age_s(path: str) -> float | None:
    """Seconds since a file was last written, by this machine's clock; None when there is none."""
    try:
        return time.time() - os.stat(path).st_mtime  # noqa: TID251 - of this machine, not of the vault
    except OSError:
        return None


def owned_by_another(path: str) -> bool:
    """Whether a file belongs to another user (git then asks for `safe.directory`)."""
    return sys.platform != "win32" and os.stat(path).st_uid != os.geteuid()


def _lock(descriptor: int, *, wait: bool) -> bool:
    if sys.platform == "win32":
        try:
            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError:
            return wait and _lock(descriptor, wait=True)
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True
