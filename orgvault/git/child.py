"""A child of git with three pipes, started by `posix_spawn`.

`subprocess` would cost a cold command two milliseconds of imports, a tenth of all it does beside
importing click.
"""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from orgvault.git.faults import NoSpawn, TooSlow
from orgvault.posix import end_group

_CHUNK = 1 << 16
# Python ignores a broken pipe, and a child would inherit that: git's default is to end quietly.
_SIGPIPE = 13
_NAP_S = 0.002


class Child:
    """A running program: talk to it with `send` and `line`, end it with `finish`.

    `words` are its arguments, the first its name on the PATH; `keep` are descriptors that it
    inherits; `apart` makes it the leader of a group of its own.  Raises OSError when it cannot
    be started.  `returncode` is None until `finish`, `wait` or `kill` has seen its end.
    """

    def __init__(
        self, words: Sequence[str], env: Mapping[str, str], *, keep: Sequence[int], apart: bool
    ) -> None:
        self.words = tuple(words)
        self.returncode: int | None = None
        self._kept = b""
        self._stdin = self._stdout = self._stderr = -1
        theirs_in, self._stdin = os.pipe()
        self._stdout, theirs_out = os.pipe()
        self._stderr, theirs_err = os.pipe()
        theirs = (theirs_in, theirs_out, theirs_err)
        self.pid = 0
        try:
            self.pid = _spawn(words, env, theirs, keep, apart=apart)
        finally:
            for one in theirs:
                os.close(one)

    def __del__(self) -> None:
        """Let go of one that nobody wanted to hear after all."""
        self._close()
        if self.returncode is None and self.pid:
            with suppress(ChildProcessError):
                os.waitpid(self.pid, os.WNOHANG)

    def send(self, content: bytes) -> None:
        """Write to it; what it no longer reads is lost, and its next line is empty."""
        with suppress(BrokenPipeError):
            while content:
                content = content[os.write(self._stdin, content) :]

    def feed(self, content: bytes) -> None:
        """Write all of its input, and close it."""
        self.send(content)
        self._stdin = _closed(self._stdin)

    def line(self, limit_s: float | None = None) -> bytes:
        """Its next line with the line end; empty when it has closed its output.

        One that says nothing for `limit_s` is ended.
        """
        while b"\n" not in self._kept:
            if limit_s is not None and not self._speaks(limit_s):
                self.kill()
                return b""
            if not self._more():
                break
        return self._take(self._kept.find(b"\n") + 1 or len(self._kept))

    def read(self, size: int) -> bytes:
        """So many bytes of its output, or fewer when it ends before."""
        while len(self._kept) < size and self._more():
            pass
        return self._take(size)

    def finish(
        self, content: bytes = b"", limit_s: float | None = None, *, name: str = ""
    ) -> tuple[bytes, bytes]:
        """Feed it, close its input, wait for its end: the rest of its output, and its errors.

        Raises TooSlow, said of `name`, after `limit_s`, with it and all that it has started
        ended; whatever else interrupts the waiting ends it as well.
        """
        if self.returncode is not None:
            return b"", b""
        until_s = None if limit_s is None else time.monotonic() + limit_s
        try:
            told, said = self._talk(content, until_s)
            self._wait_until(until_s)
        except TimeoutError:
            end_group(self)
            raise TooSlow(name, limit_s or 0.0) from None
        except BaseException:
            self.kill()
            raise
        finally:
            self._close()
        return self._take(len(self._kept)) + told, said

    def wait(self) -> int:
        """Wait until it has ended; its exit code, or the signal that ended it, negative."""
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def kill(self) -> None:
        """End it now, and wait for that."""
        if self.returncode is None:
            os.kill(self.pid, 9)
            self.wait()

    def _talk(self, content: bytes, until_s: float | None) -> tuple[bytes, bytes]:
        """Write and read by turns, since either side may have to wait for the other."""
        from select import POLLIN, POLLOUT, poll

        waiting = poll()
        got = {self._stdout: bytearray(), self._stderr: bytearray()}
        unsent = memoryview(content)
        if self._stdin >= 0:
            os.set_blocking(self._stdin, False)
            waiting.register(self._stdin, POLLOUT)
        for one in got:
            waiting.register(one, POLLIN)
        unread = set(got)
        while unread:
            for descriptor, _ in waiting.poll(_left_ms(until_s)):
                if descriptor == self._stdin:
                    unsent = unsent[self._sent(unsent) :]
                    if not unsent:
                        waiting.unregister(descriptor)
                        self._stdin = _closed(descriptor)
                    continue
                chunk = os.read(descriptor, _CHUNK)
                got[descriptor] += chunk
                if not chunk:
                    waiting.unregister(descriptor)
                    unread.discard(descriptor)
        return bytes(got[self._stdout]), bytes(got[self._stderr])

    def _sent(self, content: memoryview) -> int:
        try:
            return os.write(self._stdin, content)
        except BrokenPipeError:
            return len(content)  # it wants no more; why, its exit code says

    def _wait_until(self, until_s: float | None) -> None:
        self._stdin = _closed(self._stdin)
        while until_s is not None and self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
            elif _left_ms(until_s) is not None:
                time.sleep(_NAP_S)
        self.wait()

    def _speaks(self, limit_s: float) -> bool:
        """Whether there is something to read, or its output has ended, within a time."""
        from select import POLLIN, poll

        waiting = poll()
        waiting.register(self._stdout, POLLIN)
        return bool(waiting.poll(limit_s * 1000))

    def _more(self) -> bool:
        chunk = os.read(self._stdout, _CHUNK)
        self._kept += chunk
        return bool(chunk)

    def _take(self, size: int) -> bytes:
        taken, self._kept = self._kept[:size], self._kept[size:]
        return taken

    def _close(self) -> None:
        self._stdin, self._stdout, self._stderr = map(
            _closed, (self._stdin, self._stdout, self._stderr)
        )


def _spawn(
    words: Sequence[str], env: Mapping[str, str], pipes: Sequence[int], keep: Sequence[int], *,
    apart: bool,
) -> int:  # fmt: skip
    """Start a program with its ends of the pipes as 0, 1 and 2; its process id."""
    if not hasattr(os, "posix_spawnp"):
        raise NoSpawn
    try:
        for one in keep:
            os.set_inheritable(one, True)  # noqa: FBT003 - the library's own order
        # Pipes take the lowest free numbers in turn, so no end that has still to be moved to its
        # place is written over by one that goes before it.
        return os.posix_spawnp(
            words[0], tuple(words), env, setsigdef=[_SIGPIPE], setsid=apart,
            file_actions=[(os.POSIX_SPAWN_DUP2, one, at) for at, one in enumerate(pipes)],
        )  # fmt: skip
    finally:
        for one in keep:
            os.set_inheritable(one, False)  # noqa: FBT003 - the same


def _left_ms(until_s: float | None) -> int | None:
    """Milliseconds until a moment, at least one; None without one.  Raises TimeoutError."""
    if until_s is None:
        return None
    left_s = until_s - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    return int(left_s * 1000) + 1


def _closed(descriptor: int) -> int:
    """Close a descriptor, unless it is closed already (-1); always -1."""
    if descriptor >= 0:
        os.close(descriptor)
    return -1
