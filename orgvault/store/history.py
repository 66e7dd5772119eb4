"""The past of a vault: what stood where at a commit, and which commits touched a file."""

import re

from orgvault.domain.instants import instant
from orgvault.git.history import Snapshot, last_before, snapshot, touching
from orgvault.store.vault import Vault
from orgvault.values import dataclass

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class Touched:
    """A commit that changed a file: its short name, when (UTC instant), who, its subject."""

    commit: str
    at: str
    author: str
    subject: str


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


def touched(vault: Vault, paths: list[str]) -> list[Touched]:
    """The commits that changed any of the paths, oldest first."""
    whole = [vault.place.in_repository(path) for path in paths]
    return [
        Touched(one.name[:10], instant(one.at), one.author, one.subject)
        for one in touching(vault.repository, whole)
    ]
