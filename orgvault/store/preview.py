"""A vault that writes nothing: `--dry-run` takes the same path up to the last step."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import unified_diff

from orgvault.store.entry import Message, Row
from orgvault.store.vault import Change, Identity, Vault
from orgvault.values import dataclass


@dataclass(frozen=True)
class Planned:
    """One commit that would have been made."""

    message: Message
    rows: tuple[Row, ...]
    diffs: tuple[str, ...]

    def show(self) -> str:
        """The commit as a person reads it: subject, rows, then a diff for each file."""
        rows = [f"  + {row.log}/{row.agent}: {row.line}" for row in self.rows]
        return "\n".join([f"would commit: {self.message.subject}", *rows, *self.diffs])


class Preview(Vault):
    """Computes every write and keeps it in `planned`."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.planned: list[Planned] = []

    def record(self, message: Message, author: Identity, rows: Sequence[Row], at: str) -> None:
        """Plan rows."""
        del author, at
        self.planned.append(Planned(message, tuple(rows), ()))

    @contextmanager
    def change(
        self, message: Message, author: Identity, at: str, rows: Sequence[Row] = ()
    ) -> Iterator[Change]:
        """Plan texts and rows."""
        del author, at
        change = Change(self, message, rows)
        yield change
        if rows or change.rows or change.texts:
            diffs = tuple(self._diff(text.path, text.content) for text in change.texts)
            self.planned.append(Planned(change.message, (*rows, *change.rows), diffs))

    def settle(self) -> None:
        """Leave everything as it is."""

    def _diff(self, path: str, content: str | None) -> str:
        before = (self.read(path) or b"").decode(errors="replace").splitlines()
        after = (content or "").splitlines()
        return "\n".join(unified_diff(before, after, f"a/{path}", f"b/{path}", lineterm=""))
