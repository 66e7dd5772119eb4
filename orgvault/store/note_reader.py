"""Reading the notes of a vault that an agent's prompt embeds, each within a time limit."""

import errno
import os
import stat
import threading
from collections.abc import Callable
from typing import TypeVar

from orgvault.digests import digest
from orgvault.domain.embeds import NoteText, Unread
from orgvault.domain.notes import LINKED
from orgvault.posix import O_CLOEXEC
from orgvault.store.files import O_NONBLOCK
from orgvault.store.place import Place

LIMIT_S = 5.0
# Far more than may be embedded; a part of a longer note is not looked for.
MOST_BYTES = 4 << 20

T = TypeVar("T")


class NoteReader:
    """Reads notes by their path; a note that another program is still fetching is given up.

    `read` is asked for the root, the path and how many bytes at most.
    """

    def __init__(
        self,
        place: Place,
        limit_s: float = LIMIT_S,
        read: "Callable[[str, str, int], bytes] | None" = None,
    ) -> None:
        self._plain = read or read_plain
        self._root = place.root
        self._repository = place.repository
        self._limit_s = limit_s

    def __call__(self, path: str) -> NoteText | Unread:
        """A note's text and the name of its blob, or why it cannot be read."""
        try:
            content = within(self._limit_s, lambda: self._plain(self._root, path, MOST_BYTES + 1))
        except TimeoutError:
            return Unread(f"it could not be read within {self._limit_s:g} seconds")
        except OSError as failure:
            if failure.errno == errno.ELOOP:
                return Unread(LINKED)
            return Unread(f"it cannot be read ({(failure.strerror or str(failure)).lower()})")
        if len(content) > MOST_BYTES:
            return Unread(f"it is larger than {MOST_BYTES:,} bytes")
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return Unread("it is not in UTF-8")
        blob = digest(self._repository.object_format, b"blob %d\0" % len(content) + content)
        return NoteText(text, blob.hex())


def read_plain(root: str, path: str, most: int) -> bytes:
    """At most `most` bytes of a file below `root`; OSError (ELOOP) where a link is on the way."""
    place = os.path.join(root, *path.split("/"))
    if os.path.realpath(place) != place:
        raise OSError(errno.ELOOP, "a symbolic link", path)
    flags = os.O_RDONLY | O_CLOEXEC | O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(place, flags | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        return file.read(most)


def within(limit_s: float, call: Callable[[], T]) -> T:
    """What a call gives, or TimeoutError: it is then left to itself, on a thread of its own."""
    # A thread that was left does not come back; to start one for each note costs as much as all
    # else that is done with it.
    kept = _waiting.setdefault(os.getpid(), [])
    try:
        aside = kept.pop()
    except IndexError:
        aside = _Aside()
    given: list[T] = []
    aside.make(lambda: given.append(call()), limit_s)
    kept.append(aside)
    if aside.failure is not None:
        raise aside.failure
    return given[0]


class _Aside:
    """A thread that makes one call after the other."""

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self._call: Callable[[], None]
        self._left = False
        self._asked, self._made = threading.Semaphore(0), threading.Semaphore(0)
        threading.Thread(target=self._run, daemon=True).start()

    def make(self, call: Callable[[], None], limit_s: float) -> None:
        """Make a call, and note how it failed; TimeoutError ends the thread with the call."""
        self._call = call
        self._asked.release()
        if not self._made.acquire(timeout=limit_s):
            self._left = True
            self._asked.release()
            raise TimeoutError

    def _run(self) -> None:
        while self._asked.acquire() and not self._left:
            self.failure = None
            try:
                self._call()
            except Exception as failure:  # noqa: BLE001 - raised again where the call was asked for
                self.failure = failure
            self._made.release()


# Threads that wait for a call, by process: a forked one has none of its parent's.
_waiting: dict[int, list[_Aside]] = {}
