"""Packing loose objects: each commit of ours leaves seven to nine, and thousands make git slow."""

import os

from orgvault.errors import GitFailed
from orgvault.git.repository import Repository

# As git itself does it: names are evenly spread, so one of the 256 folders tells for all.
_SAMPLE = "17"
_DUE = 30  # about 7,700 objects, a thousand commits
_LIMIT_S = 60.0


def due(repository: Repository, stamp: str) -> bool:
    """Whether enough loose objects have gathered since the last time; asks the disk, not git."""
    return _loose(repository) - _left(stamp) >= _DUE


def repack(repository: Repository, stamp: str) -> bool:
    """Pack the loose objects if enough have gathered since the last time; whether it did.

    `stamp` is a file that remembers how many were left.  Not `git gc`, which packs the person's
    attachments anew as well and takes minutes.
    """
    if not due(repository, stamp):
        return False
    try:
        repository.git("repack", "-d", "-l", "-q", limit_s=_LIMIT_S)
    except GitFailed:
        return False
    with open(stamp, "w", encoding="ascii") as file:
        file.write(str(_loose(repository)))
    return True


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
