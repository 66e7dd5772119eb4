"""The past of a vault: what stood where at a commit, and which commits touched a file."""

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress

from orgvault.domain.instants import instant
from orgvault.git.faults import ObjectMissing
from orgvault.git.history import (
    PastCommit,
    Snapshot,
    before_words,
    changes,
    in_history,
    last_before,
    newest_changes,
    past_contents,
    reached,
    snapshot,
    touching,
)
from orgvault.git.objects import Objects
from orgvault.store.vault import Vault
from orgvault.values import dataclass

AGENTS_DOMAIN = "@agents.invalid"
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class Touched:
    """A commit that changed a file: its short name, when (UTC instant), who, its subject."""

    commit: str
    at: str
    author: str
    subject: str


@dataclass(frozen=True)
class Landed:
    """A commit with its whole name, when it reached the branch (UTC instant), and by whom.

    `by` is its author, or its committer where the author is an agent (a proposal's own commit,
    picked or merged by a person): `of_agent` says which.
    """

    commit: str
    at: str
    by: str
    of_agent: bool


class Past:
    """The files of a vault as they were at a commit."""

    def __init__(self, vault: Vault, snapshot: Snapshot) -> None:
        self._vault = vault
        self._snapshot = snapshot

    def read(self, path: str, /) -> bytes | None:
        """A file's content; None when there was none."""
        return self._snapshot.read(self._vault.place.in_repository(path))

    def names(self, folder: str, /) -> list[str]:
        """The names in a folder, sorted."""
        return self._snapshot.names(self._vault.place.in_repository(folder))


def at(vault: Vault, when: str) -> Past:
    """The vault at a revision, or at the end of a day (UTC) or an instant.

    Raises UnknownRevision.
    """
    revision = when
    if day := _DAY.match(when):
        until = f"{when}T23:59:59Z" if day[0] == when else when
        revision = last_before(vault.repository, until)
    return Past(vault, snapshot(vault.repository, revision))


def before(vault: Vault, file: str, words: str) -> Past | None:
    """The vault just before the commit that brought words into a file (its place on disk).

    None when no commit of HEAD's history did, or the first of all.
    """
    relative = os.path.relpath(file, vault.root).replace(os.sep, "/")
    found = before_words(vault.repository, vault.place.in_repository(relative), words)
    return None if found is None else Past(vault, found)


def shipped_as(vault: Vault, revision: str) -> str:
    """The name of a commit of HEAD's history.  Raises UnknownRevision."""
    return in_history(vault.repository, revision)


def changed_since(vault: Vault, base: str, commit: str, path: str) -> bool:
    """Whether a commit comes after another one and changed a file, or merged its change."""
    return changes(vault.repository, base, commit, vault.place.in_repository(path))


def landed(vault: Vault, path: str, wanted: Callable[[bytes | None], bool]) -> Landed | None:
    """The commit of HEAD's own line since which a file reads as wanted, without a break.

    A merge is where its branch's changes reached the line.  None when HEAD's file does not read
    so.  Only commits that changed the file are looked at, and none behind the one that is found
    but the one before it.
    """
    found = None
    name = vault.place.in_repository(path)
    for commit, files in newest_changes(vault.repository, name):
        if not wanted(files.read(name)):
            break
        found = commit
    return found and _landed(found.name, found)


def landed_as(vault: Vault, commit: str) -> Landed:
    """A commit of HEAD's history, with when it reached HEAD's own line, and who brought it."""
    found = reached(vault.repository, commit)
    return _landed(commit, found)


def _landed(name: str, one: PastCommit) -> Landed:
    of_agent = one.email.endswith(AGENTS_DOMAIN)
    return Landed(name, instant(one.at), one.committer if of_agent else one.author, of_agent)


def ever_held(vault: Vault, path: str, wanted: Callable[[bytes], bool]) -> bytes | None:
    """The newest content that is wanted of those that a file had in the branch's history."""
    name = vault.repository.branch() or "HEAD"
    held = past_contents(vault.repository, name, vault.place.in_repository(path))
    return next(filter(wanted, held), None)


def blobs(vault: Vault, names: Iterable[str]) -> dict[str, bytes]:
    """The contents that the repository holds under names of blobs; the others are left out."""
    objects = Objects(vault.repository)
    found = {}
    try:
        for name in names:
            with suppress(ObjectMissing):
                found[name] = objects.read(name)
    finally:
        objects.close()
    return found


def touched(vault: Vault, paths: list[str]) -> list[Touched]:
    """The commits that changed any of the paths, oldest first."""
    whole = [vault.place.in_repository(path) for path in paths]
    return [
        Touched(one.name[:10], instant(one.at), one.author, one.subject)
        for one in touching(vault.repository, whole)
    ]
