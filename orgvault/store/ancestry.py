"""All that HEAD stands on, for whoever looks at every commit: paths are relative to the vault."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from orgvault.errors import UnknownRevision
from orgvault.git.walk import Delta, Entry, Walk, Walked
from orgvault.store import files
from orgvault.store.vault import Vault

__all__ = ["Ancestry", "Delta", "Entry", "TreeFiles", "Walked"]


class TreeFiles:
    """The files of the vault at one commit; read from git as they are asked for."""

    def __init__(self, walk: Walk, tree: str, prefix: str) -> None:
        self._walk = walk
        self._tree = tree
        self._prefix = prefix

    def read(self, path: str, /) -> bytes | None:
        """A plain file's content; None when there is none."""
        found = self.entry(path)
        return None if found is None or not is_file(found) else self._walk.content(found.oid)

    def names(self, folder: str, /) -> list[str]:
        """The names in a folder, sorted."""
        found = self.entry(folder)
        if found is None or found.mode != "40000":
            return []
        return sorted(self._walk.tree(found.oid))

    def entry(self, path: str) -> Entry | None:
        """What stands at a path."""
        return self._walk.entry(self._tree, self._prefix + path)

    def files(self, folder: str) -> dict[str, Entry]:
        """Everything below a folder that is no folder, by path."""
        found = self._walk.files(self._tree, self._prefix + folder)
        return {path[len(self._prefix) :]: entry for path, entry in sorted(found.items())}


class Ancestry:
    """The commits that HEAD stands on.  Close it when done."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self.walk = Walk(vault.repository)
        self._prefix = vault.place.in_repository("")

    def tip(self) -> Walked | None:
        """The commit of HEAD; None on an unborn branch."""
        name = self.vault.repository.head().oid
        return None if name is None else self.walk.commit(name)

    def commits(self, tip: str, since: str = "") -> list[Walked]:
        """The commits of a history, parents before children; none that `since` stands on."""
        return self.walk.commits(tip, since)

    def named(self, revision: str) -> str:
        """The name of the commit that a revision means.  Raises UnknownRevision."""
        found = self.walk.named(revision)
        if found is None:
            raise UnknownRevision(revision, dated=False)
        return found

    def at(self, tree: str) -> TreeFiles:
        """The vault in a commit's tree (an empty name: no tree)."""
        return TreeFiles(self.walk, tree or self.walk.empty_tree, self._prefix)

    def deltas(self, pairs: Sequence[tuple[str, str]], folder: str) -> Iterator[list[Delta]]:
        """What differs below a folder between pairs of trees (an empty name: no tree)."""
        named = [(old or self.walk.empty_tree, new) for old, new in pairs]
        skip = len(self._prefix)
        for found in self.walk.deltas(named, self._prefix + folder):
            yield [Delta(one.path[skip:], one.old, one.new) for one in found]

    def contents(self, entries: Iterable[Entry]) -> dict[str, bytes]:
        """The contents of plain files, by the names of their objects."""
        return self.walk.contents(one.oid for one in entries if is_file(one))

    def oddities(self) -> dict[str, list[str]]:
        """What has git tell another history than was made: `shallow`, `grafts`, `replaced`."""
        repository = self.vault.repository
        places = {
            "shallow": os.path.join(repository.common_dir, "shallow"),
            "grafts": os.path.join(repository.common_dir, "info", "grafts"),
        }
        told = {name: _lines(path) for name, path in places.items()}
        return {**told, "replaced": self.walk.replaced()}

    def waiting(self) -> Iterator[tuple[str, str, str]]:
        """The rows that wait in the spool and the journal: log, agent, line."""
        for folder in ("spool", "journal"):
            place = os.path.join(self.vault.private, folder)
            for name in files.names_in(place):
                yield from _rows(_lines(os.path.join(place, name)))


def is_file(entry: Entry) -> bool:
    """Whether an entry is a file that has a content of its own."""
    return entry.mode.startswith("100")


def _rows(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    for line in lines:
        try:
            data: Any = json.loads(line)
            for log, agent, _, row in data["rows"]:
                yield str(log), str(agent), str(row)
        except (ValueError, KeyError, TypeError):
            continue  # `check` and `status` speak of what waits


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return [line.strip() for line in file if line.strip()]
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return []
