"""Cards: Markdown notes in the visible backlog folder, one each, named after their ids."""

from orgvault.domain.card import Card
from orgvault.domain.card_file import read_card
from orgvault.domain.problem import Problem
from orgvault.store.files import text_of
from orgvault.store.vault import Vault
from orgvault.values import dataclass


@dataclass(frozen=True)
class Stored:
    """A card with its note: path relative to the vault, and the whole text."""

    card: Card
    path: str
    text: str


class Cards:
    """The backlog of a vault; `pages` is the name of the visible folder."""

    def __init__(self, vault: Vault, pages: str) -> None:
        self._vault = vault
        self.folder = f"{pages}/Backlog"

    def path(self, card_id: str) -> str:
        """Where the note of a card stands."""
        return f"{self.folder}/{card_id}.md"

    def all(self, problems: list[Problem]) -> list[Stored]:
        """Every card, by id; notes that are none go to `problems`."""
        found = []
        for name in self._vault.names(self.folder):
            stored = self._read(f"{self.folder}/{name}", problems) if name.endswith(".md") else None
            if stored is not None:
                found.append(stored)
        return found

    def get(self, card_id: str, problems: list[Problem]) -> Stored | None:
        """One card; None when there is no note of that name, or it cannot be read."""
        return self._read(self.path(card_id), problems)

    def _read(self, path: str, problems: list[Problem]) -> Stored | None:
        text = text_of(self._vault.read, path, problems, "save it as UTF-8")
        if text is None:
            return None
        card, faults = read_card(text, path)
        problems.extend(faults)
        if card is None:
            return None
        if path != self.path(card.id):
            what = f"the note holds {card.id} under another name"
            problems.append(
                Problem(
                    path,
                    0,
                    what,
                    f"name the note {card.id}.md again (a sync tool's copy: remove it)",
                )
            )
            return None
        return Stored(card, path, text)
