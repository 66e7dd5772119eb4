"""The ledger: one file for each shipped proposal, `ledger/<card>.yaml`."""

import re

from orgvault.domain.ids import CARD_ID
from orgvault.domain.ledger import Entry
from orgvault.domain.ledger_file import read_entry
from orgvault.domain.problem import Problem
from orgvault.store.claims import Tree
from orgvault.store.files import text_of
from orgvault.store.vault import ORG
from orgvault.values import dataclass

FOLDER = f"{ORG}/ledger"
_ENDING = ".yaml"


@dataclass(frozen=True)
class StoredEntry:
    """An entry with its file: path relative to the vault, and text."""

    entry: Entry
    path: str
    text: str


class Ledger:
    """The entries of a vault, or of a vault as a change leaves it."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @staticmethod
    def path(card_id: str) -> str:
        """Where the entry of a card stands."""
        return f"{FOLDER}/{card_id}{_ENDING}"

    def ids(self) -> list[str]:
        """The cards that have an entry, by the names of the files; nothing is read."""
        return [name.removesuffix(_ENDING) for name in self._tree.names(FOLDER) if _is_entry(name)]

    def all(self, problems: list[Problem]) -> list[StoredEntry]:
        """Every entry, by card; what is none goes to `problems`."""
        problems += [
            Problem(f"{FOLDER}/{name}", 0, *_FOREIGN)
            for name in self._tree.names(FOLDER)
            if not _is_entry(name)
        ]
        found = (self.get(card_id, problems) for card_id in self.ids())
        return [one for one in found if one is not None]

    def get(self, card_id: str, problems: list[Problem]) -> StoredEntry | None:
        """One entry; None when there is none of that card, or it cannot be relied on."""
        if not re.fullmatch(CARD_ID, card_id):
            return None
        path = self.path(card_id)
        text = text_of(self._tree.read, path, problems, "restore it from git")
        if text is None:
            return None
        entry, faults = read_entry(text, path)
        problems.extend(faults)
        if entry is None:
            return None
        if entry.card != card_id:
            what = f"the file holds the entry of {entry.card}, which belongs elsewhere"
            problems.append(Problem(path, 0, what, f"name it {entry.card}{_ENDING}, or remove it"))
            return None
        return StoredEntry(entry, path, text)


_FOREIGN = ("not the name of an entry, so it is not loaded", "a sync tool's copy? remove it")


def _is_entry(name: str) -> bool:
    return re.fullmatch(CARD_ID + re.escape(_ENDING), name) is not None
