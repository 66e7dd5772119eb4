"""What HEAD holds and the files do not: the next commit of everything would take it away."""

import os
from collections.abc import Iterator
from contextlib import suppress

from orgvault.domain.problem import Problem
from orgvault.store.claims import ACTIVE, CLOSED
from orgvault.store.faults import Unreadable
from orgvault.store.logs import LOGS, parse
from orgvault.store.vault import ORG, Vault

_KEPT = (f"{ORG}/memory", f"{ORG}/proposals")
_GONE = "HEAD has it, and it is not here: nothing of orgvault's removes it"


def losses(vault: Vault) -> Iterator[Problem]:
    """Committed rows, claims and proposals that are gone from the files, or read otherwise.

    Only git is asked which files differ, by their times; a branch without a commit has lost none.
    """
    if vault.repository.head().oid is None:
        return
    whole = vault.place.in_repository
    places = [whole(f"{ORG}/{name}") for name in LOGS] + [whole(one) for one in _KEPT]
    told = vault.repository.git(
        "diff-index", "-z", "--name-only", "--no-renames", "HEAD", "--", *places
    )
    skip = len(whole(""))
    for name in (os.fsdecode(one) for one in told.split(b"\0")[:-1]):
        path = name[skip:]
        try:
            content = vault.read(path)
        except OSError:
            continue  # whoever reads the file says so
        if path.endswith(".jsonl"):
            yield from _rows(vault, name, path, content or b"")
        elif content is None and _stays(vault, path):
            yield Problem(path, 0, _GONE, _restore(path))


def _rows(vault: Vault, name: str, path: str, content: bytes) -> Iterator[Problem]:
    there = set(_lines(content))
    before = _lines(vault.repository.git("cat-file", "blob", f"HEAD:{name}", ok=(0, 128)))
    lost = [at for at, line in enumerate(before[:-1], 1) if line not in there and _is_row(line)]
    if lost:
        what = f"{len(lost)} committed rows are gone from it or read otherwise"
        yield Problem(path, lost[0], f"{what}, the first is line {lost[0]} in HEAD", _restore(path))


def _lines(content: bytes) -> list[bytes]:
    return content.replace(b"\r\n", b"\n").split(b"\n")


def _is_row(line: bytes) -> bool:
    with suppress(Unreadable):
        return bool(parse(line))
    return False


def _stays(vault: Vault, path: str) -> bool:
    """Whether a file must not go: a claim may only move to the other folder."""
    folder, _, name = path.rpartition("/")
    above, _, last = folder.rpartition("/")
    if last in {ACTIVE, CLOSED}:
        other = CLOSED if last == ACTIVE else ACTIVE
        return name not in vault.names(f"{above}/{other}")
    return folder == _KEPT[1]


def _restore(path: str) -> str:
    return f"take it from git: `git checkout HEAD -- {path}`"
