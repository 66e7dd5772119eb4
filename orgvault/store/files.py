"""Files of the working tree: whole texts replaced in one step, logs grown by whole rows."""

import errno
import os
import stat
from collections.abc import Callable

from orgvault.digests import sha256
from orgvault.domain.problem import Problem
from orgvault.posix import O_CLOEXEC, fsync_folder

O_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # POSIX only

ABSENT = ""
SCRATCH = ".orgvault-tmp-"


def read_bytes(path: str) -> bytes | None:
    """A file's content; None when there is no such file.  OSError when it is no regular file."""
    try:
        return read_regular(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def read_regular(path: str) -> bytes:
    """A file's content.  OSError for anything but a file, without waiting on it."""
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        return file.read()


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | O_NONBLOCK | O_CLOEXEC)


def names_in(folder: str) -> list[str]:
    """The names in a folder, sorted; none when there is no such folder."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def names_seen_in(folder: str) -> list[str]:
    """The names in a folder, sorted; none when it cannot be looked into."""
    try:
        return names_in(folder)
    except OSError:
        return []


def unread(path: str, failure: OSError) -> Problem:
    """The problem of a file that cannot be read: a folder or a pipe of its name, or forbidden."""
    why = (failure.strerror or str(failure)).lower()
    do = "put the file in its place, from git or by hand"
    return Problem(path, 0, f"cannot be read ({why})", do)


def content_of(
    read: Callable[[str], bytes | None], path: str, problems: list[Problem]
) -> bytes | None:
    """A file's content; None where there is none, or where `problems` says why it is unread."""
    try:
        return read(path)
    except OSError as failure:
        problems.append(unread(path, failure))
        return None


def text_of(
    read: Callable[[str], bytes | None], path: str, problems: list[Problem], do: str
) -> str | None:
    """A file's text; as `content_of`, and `do` is what helps when it is not UTF-8."""
    content = content_of(read, path, problems)
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError:
        problems.append(Problem(path, 0, "the file is not UTF-8", do))
        return None


def fingerprint(content: bytes | None) -> str:
    """The sha256 of a content; empty for a file that does not exist."""
    return ABSENT if content is None else sha256(content).hexdigest()


def replace(path: str, content: bytes, scratch: str | None = None, *, settle: bool = True) -> None:
    """Put a whole content in a file's place, durably: the old or the new, never between.

    The permissions of an existing file are kept.  The content is written in the folder `scratch`
    first (a crash leaves nothing among the person's files), or beside the file.  Without `settle`,
    the name is durable only once its folder is synced.  Raises OSError with nothing changed.
    """
    folder = os.path.dirname(path)
    make_folder(folder)
    if scratch is not None:
        make_folder(scratch)
        try:
            _replace(path, content, scratch)
        except OSError as failure:
            if failure.errno != errno.EXDEV:
                raise
            _replace(path, content, folder)
    else:
        _replace(path, content, folder)
    if settle:
        fsync_folder(folder)


def _replace(path: str, content: bytes, folder: str) -> None:
    try:
        mode = os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        mode = 0o644
    scratch = os.path.join(folder, f"{SCRATCH}{os.getpid()}-{os.urandom(4).hex()}")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | O_CLOEXEC, mode)
    try:
        try:
            write_all(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(scratch, path)
    except OSError:
        remove(scratch)
        raise


def keep(path: str, folder: str) -> str | None:
    """A second name for a file, in `folder`: with it the file can be put back on a full disk.

    None where there is no such file, or the file system cannot do that.
    """
    kept = os.path.join(folder, f"{SCRATCH}{os.getpid()}-{os.urandom(4).hex()}")
    try:
        make_folder(folder)
        os.link(path, kept)
    except OSError:
        return None
    return kept


def put_back(kept: str, path: str) -> None:
    """Put a file that was kept in its former place again."""
    os.replace(kept, path)
    fsync_folder(os.path.dirname(path))


def remove(path: str) -> None:
    """Remove a file if it is there; durable with the next `fsync_folder` of its folder."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def remove_durably(path: str) -> None:
    """Remove a file if it is there."""
    remove(path)
    folder = os.path.dirname(path)
    if os.path.isdir(folder):
        fsync_folder(folder)


def make_folder(path: str) -> None:
    """Make a folder and those above it; the new names are durable."""
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    make_folder(above)
    try:
        os.mkdir(path)
    except FileExistsError:
        return
    fsync_folder(above)


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of a content in as few calls as the system allows; OSError on a full disk."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
