"""A client's process: fed without deadlock, heard within bounds, ended with all it has started."""

import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from time import monotonic
from typing import IO

from orgvault.posix import ask_group_to_end, end_group
from orgvault.values import dataclass

HEAD_BYTES = 64 * 1024
TAIL_BYTES = 4 * 1024 * 1024
_ERRORS_BYTES = 64 * 1024
_CHUNK = 1 << 16
GRACE_S = 5.0
_LINGER_S = 2.0  # for output that something it started still holds open
_SIGNALLED = 128


class CannotStart(Exception):
    """A client that could not be started; the text says why."""

    def __init__(self, program: str, why: str) -> None:
        super().__init__(f"the client `{program}` cannot be started: {why}")


@dataclass(frozen=True)
class Heard:
    """How a process ended and when, and what it said: at most the first 64 KiB and last 4 MiB."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    took_s: float


def hear(command: Sequence[str], env: Mapping[str, str], cwd: str, stdin: bytes) -> Heard:
    """Run a program to its end.  Raises CannotStart.

    When the waiting is interrupted its group is asked to end, killed after 5 seconds, and the
    interruption goes on.  What it leaves running in its group when it ends is killed as well.
    """
    began_s = monotonic()
    try:
        process = subprocess.Popen(  # its group is always ended, below
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=dict(env), cwd=cwd, start_new_session=True, bufsize=0,
        )  # fmt: skip
    except (OSError, ValueError, IndexError) as failure:
        why = (getattr(failure, "strerror", None) or str(failure)).lower()
        raise CannotStart(command[0] if command else "", why) from failure
    try:
        out, err = _Kept(HEAD_BYTES, TAIL_BYTES), _Kept(0, _ERRORS_BYTES)
        ears = [_listen(process.stdout, out), _listen(process.stderr, err)]
        mouth = threading.Thread(target=_feed, args=(process.stdin, stdin), daemon=True)
        mouth.start()
        _await_end(process)
        took_s = round(monotonic() - began_s, 3)
        _join(ears)
    except BaseException:
        end_gently(process)
        raise
    end_group(process)
    _join([*ears, mouth])
    code = process.returncode
    return Heard(code if code >= 0 else _SIGNALLED - code, out.content(), err.content(), took_s)


def end_gently(process: "subprocess.Popen[bytes]", grace_s: float = GRACE_S) -> None:
    """Ask a process and its group to end, and kill what is left of it after `grace_s`."""
    ask_group_to_end(process)
    with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        process.wait(grace_s)
    end_group(process)


def _join(threads: Sequence[threading.Thread]) -> None:
    """Wait for threads to end, for all of them together no longer than `_LINGER_S`."""
    until_s = monotonic() + _LINGER_S
    for one in threads:
        one.join(max(0.0, until_s - monotonic()))


def _await_end(process: "subprocess.Popen[bytes]") -> None:
    """Wait until it has ended, unreaped where that can be: so its group's number stays its own."""
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    else:
        process.wait()


class _Kept:
    """The beginning and the end of a stream."""

    def __init__(self, head: int, tail: int) -> None:
        self._most_head, self._most_tail = head, tail
        self._head, self._tail = bytearray(), bytearray()
        self._cut = False

    def add(self, chunk: bytes) -> None:
        room = self._most_head - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * self._most_tail:
            self._trim()

    def content(self) -> bytes:
        """What is kept; where the middle is missing, only whole lines around it."""
        self._trim()
        if not self._cut:
            return bytes(self._head + self._tail)
        head, tail = bytes(self._head), bytes(self._tail)
        return head[: head.rfind(b"\n") + 1] + tail[tail.find(b"\n") + 1 :]

    def _trim(self) -> None:
        if len(self._tail) > self._most_tail:
            del self._tail[: len(self._tail) - self._most_tail]
            self._cut = True


def _listen(stream: IO[bytes] | None, kept: _Kept) -> threading.Thread:
    def listen() -> None:
        with suppress(OSError), stream or nullcontext():
            while stream is not None and (chunk := stream.read(_CHUNK)):
                kept.add(chunk)

    ear = threading.Thread(target=listen, daemon=True)
    ear.start()
    return ear


def _feed(stream: IO[bytes] | None, content: bytes) -> None:
    with suppress(OSError, ValueError):  # a client need not read all of its prompt
        left = memoryview(content)
        while stream is not None and left:
            left = left[stream.write(left) :]
    with suppress(OSError):
        if stream is not None:
            stream.close()
