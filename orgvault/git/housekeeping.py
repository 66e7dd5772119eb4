"""Packing loose objects: each commit of ours leaves seven to nine, and thousands make git slow."""

import os

from orgvault.errors import GitFailed
from orgvault.git.repository import Repository

# As git itself does it: names are evenly spread, so one of the 256 folders tells for all.
_SAMPLE = "17"
_DUE = 24  # about 6,100 objects, eight hundred commits
_LIMIT_S = 60.0
_LARGEST = "256k"  # above what we write: the pictures and PDFs that a person has just added


def due(repository: Repository, stamp: str) -> bool:
    """Whether enough loose objects have gathered since the last time; asks the disk, not git."""
    return _loose(repository) - _left(stamp) >= _DUE


def repack(repository: Repository, stamp: str) -> bool:
    """Pack the small loose objects if enough have gathered since the last time; whether it did.

    `stamp` is a file that remembers how many were left.  Neither `git gc` nor `git repack`: they
    pack the person's attachments as well, which takes minutes.  Where it fails, it waits for as
    many objects again: it must not be tried after each command.
    """
    if not due(repository, stamp):
        return False
    try:
        _pack(repository)
        done = True
    except GitFailed:
        done = False
    with open(stamp, "w", encoding="ascii") as file:
        file.write(str(_loose(repository)))
    return done


def _pack(repository: Repository) -> None:
    """Put what is small, loose and reachable into one more pack, then drop it as loose."""
    asked = ("rev-list", "--objects", "--all", "--reflog", "--indexed-objects", "--unpacked")
    small = ("--filter-provided-objects", f"--filter=blob:limit={_LARGEST}")
    names = repository.git(*asked, *small, limit_s=_LIMIT_S)
    base = os.path.join(repository.common_dir, "objects", "pack", "pack")
    words = ("pack-objects", "-q", "--local", "--incremental", "--non-empty", base)
    repository.git(*words, stdin=names, limit_s=_LIMIT_S)
    repository.git("prune-packed", "-q", limit_s=_LIMIT_S)


def _loose(repository: Repository) -> int:
    try:
        return len(os.listdir(os.path.join(repository.common_dir, "objects", _SAMPLE)))
    except FileNotFoundError:
        return 0


def _left(stamp: str) -> int:
    try:
        with open(stamp, encoding="ascii") as file:
            return int(file.read())
    except (FileNotFoundError, ValueError):
        return 0
