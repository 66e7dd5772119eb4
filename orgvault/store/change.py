"""What one operation is going to write, computed from what stands there."""

from collections.abc import Sequence
from typing import Protocol

from orgvault.store import files
from orgvault.store.entry import Message, Row, Text


class Tree(Protocol):
    """The files of a vault, by path relative to it."""

    def read(self, relative: str, /) -> bytes | None:
        """A file's content; None when there is none."""

    def names(self, folder: str, /) -> list[str]:
        """The names in a folder, sorted."""

    def check(self, relative: str, /) -> None:
        """Raise what makes a path unfit to be written."""


class Change:
    """What one operation will write; `message` may still be reworded inside the `with`."""

    def __init__(self, tree: Tree, message: Message, rows: Sequence[Row]) -> None:
        self.message = message
        self.acknowledged = tuple(rows)
        self.rows: list[Row] = []
        self._tree = tree
        self._texts: dict[str, Text] = {}

    def read(self, path: str) -> bytes | None:
        """A file as this change leaves it so far (path relative to the vault, with `/`)."""
        text = self._texts.get(path)
        return self._tree.read(path) if text is None else text.will_be

    def names(self, folder: str) -> list[str]:
        """The names in a folder as this change leaves it so far."""
        names = set(self._tree.names(folder))
        for text in self._texts.values():
            above, _, name = text.path.rpartition("/")
            if above == folder:
                (names.discard if text.content is None else names.add)(name)
        return sorted(names)

    def write(self, path: str, content: str) -> None:
        """Replace a whole file; nothing is written when it already reads so."""
        # A model's half of a surrogate pair is no character.
        self._put(path, content.encode(errors="replace").decode())

    def remove(self, path: str) -> None:
        """Remove a file."""
        self._put(path, None)

    def add(self, row: Row) -> None:
        """Add a row that belongs to this change: recorded with its texts, or not at all."""
        self.rows.append(row)

    @property
    def texts(self) -> tuple[Text, ...]:
        """The files that will differ."""
        return tuple(text for text in self._texts.values() if text.before != text.after)

    def _put(self, path: str, content: str | None) -> None:
        self._tree.check(path)
        known = self._texts.get(path)
        was = known.was if known else self._tree.read(path)
        after = files.fingerprint(None if content is None else content.encode())
        self._texts[path] = Text(path, files.fingerprint(was), after, content, was)
