"""Packing loose objects: each commit of ours leaves seven to nine, and thousands make git slow."""

import os
from contextlib import suppress
from typing import NamedTuple

from orgvault.errors import GitFailed
from orgvault.git.repository import Repository
from orgvault.posix import fsync_folder

# As git itself does it: names are evenly spread, so one of the 256 folders tells for all.
_SAMPLE = "17"
_DUE = 12  # about 3,000 objects, four hundred commits: half a second
_LIMIT_S = 60.0
_LARGEST = "256k"  # above what we write: the pictures and PDFs that a person has just added
# git looks into one pack after the other, and begins a `gc` of its own at fifty.
_PACKS = 20
_MERGED = "4m"  # packs below that are made one, of about that size: a third of a second


class _Stamp(NamedTuple):
    """What the last packing left: how many loose objects, and the commit up to which it went."""

    left: int
    upto: str


def due(repository: Repository, stamp: str) -> bool:
    """Whether enough loose objects have gathered since the last time; asks the disk, not git."""
    return _loose(repository) - _last(stamp).left >= _DUE


def repack(repository: Repository, stamp: str) -> bool:
    """Pack the small loose objects if enough have gathered since the last time; whether it did.

    `stamp` is a file that remembers the last time.  Neither `git gc` nor `git repack`: they pack
    the person's attachments as well, which takes minutes, and walk through all of history.  Where
    it fails, it waits for as many objects again: it must not be tried after each command.  Where
    packs have gathered they are made one first, and the objects are left to the next command: no
    command is to wait longer than a second.
    """
    if not due(repository, stamp) or "extensions.partialclone" in repository.settings:
        return False  # what a partial clone has not got would be fetched, one by one
    last = _last(stamp).upto
    head = repository.head().oid or ""
    try:
        if _merged(repository):
            return True
        _pack(repository, head, last)
        done = True
    except (GitFailed, OSError):
        done = False
    told = f"{_loose(repository)} {head if done else last}"
    # On a full disk it stays as it was: nobody has asked for this, and all is committed.
    with suppress(OSError):
        with open(f"{stamp}.new", "w", encoding="ascii") as file:
            file.write(told)
        os.replace(f"{stamp}.new", stamp)
    return done


def _pack(repository: Repository, head: str, last: str) -> None:
    """Put what is small, loose and new in HEAD's history into a pack, then drop it as loose."""
    span = [head, *([f"^{last}"] if last else [])]
    small = ("--filter-provided-objects", f"--filter=blob:limit={_LARGEST}")
    asked = ("rev-list", "--objects", "--unpacked", "--ignore-missing", *small, *span)
    names = repository.git(*asked, limit_s=_LIMIT_S)
    base = os.path.join(_folder(repository), "pack")
    words = ("pack-objects", "-q", "--local", "--incremental", "--non-empty", base)
    repository.git(*words, stdin=names, limit_s=_LIMIT_S)
    fsync_folder(_folder(repository))  # before what it holds is gone elsewhere
    repository.git("prune-packed", "-q", limit_s=_LIMIT_S)
    # So git looks into all packs at once; each keeps an index of its own.
    repository.git("multi-pack-index", "write", "--no-progress", limit_s=_LIMIT_S)


def _merged(repository: Repository) -> bool:
    """Make one pack of small ones if many have gathered; whether there were such."""
    before = _packs(repository)
    if before <= _PACKS:
        return False

    def packs(*words: str) -> None:
        repository.git("multi-pack-index", *words, "--no-progress", limit_s=_LIMIT_S)

    packs("repack", f"--batch-size={_MERGED}")
    fsync_folder(_folder(repository))
    packs("expire")
    return _packs(repository) < before


def _folder(repository: Repository) -> str:
    return os.path.join(repository.common_dir, "objects", "pack")


def _packs(repository: Repository) -> int:
    try:
        return sum(name.endswith(".pack") for name in os.listdir(_folder(repository)))
    except FileNotFoundError:
        return 0


def _loose(repository: Repository) -> int:
    try:
        return len(os.listdir(os.path.join(repository.common_dir, "objects", _SAMPLE)))
    except FileNotFoundError:
        return 0


def _last(stamp: str) -> _Stamp:
    try:
        with open(stamp, encoding="ascii") as file:
            left, _, upto = file.read().partition(" ")
            return _Stamp(int(left), upto.strip())
    except (FileNotFoundError, ValueError):
        return _Stamp(0, "")
