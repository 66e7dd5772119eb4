"""The tables of a recall index: files, their passages, and the passages that hold each term.

The one module that knows SQLite.
"""

import os
import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from zlib import crc32

from orgvault.domain.passage import Passage
from orgvault.domain.ranking import Measured, Ranked, terms
from orgvault.store.files import read_regular
from orgvault.values import dataclass

_SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files (path TEXT PRIMARY KEY, sha256 TEXT NOT NULL, problems TEXT NOT NULL);
CREATE TABLE passages (
    key INTEGER PRIMARY KEY, file TEXT NOT NULL, source TEXT NOT NULL, context TEXT NOT NULL,
    place INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT, heading TEXT, line INTEGER,
    text TEXT NOT NULL, dates TEXT NOT NULL, words INTEGER NOT NULL, grams INTEGER NOT NULL
);
CREATE INDEX in_order ON passages (source, context, place, id, words, grams);
CREATE INDEX of_file ON passages (file);
CREATE TABLE postings (term TEXT PRIMARY KEY, held BLOB NOT NULL) WITHOUT ROWID;
"""
_ENTRIES = """
SELECT key, file, source, context, place, id, kind, heading, line, text, dates FROM passages
WHERE file = ?
"""
_ADD = """
INSERT INTO passages
(file, source, context, place, id, kind, heading, line, text, dates, words, grams)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_IN_ORDER = """
SELECT key, source, context, words, grams FROM passages ORDER BY source, context, place, id
"""
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_-.")
# Where SQLite keeps a number that it leaves to its user (https://www.sqlite.org/fileformat.html).
_SUM = slice(60, 64)
# What a file that is no index of ours, or half of one, makes the reading raise.
UNREADABLE = (sqlite3.Error, OSError, ValueError, TypeError, LookupError, OverflowError)


@dataclass(frozen=True)
class Entry:
    """A passage as it goes in.

    Those of one `source` and `context` stand beside each other, by `place` and then id; `dates`
    are the dates that belong to it beside those in its text.
    """

    file: str
    source: str
    context: str
    place: int
    id: str
    kind: str | None
    heading: str | None
    line: int | None
    text: str
    dates: str

    @property
    def searched(self) -> str:
        """What its words are taken from: headings and kind count like the text."""
        kind = self.kind.replace("_", " ") if self.kind else ""
        return f"{self.heading or ''}\n{self.text}\n{kind}"

    @property
    def row(self) -> tuple[object, ...]:
        """Its columns."""
        return (
            self.file, self.source, self.context, self.place, self.id, self.kind, self.heading,
            self.line, self.text, self.dates,
        )  # fmt: skip


class Tables:
    """An index that is open; of a saved one, any reading can raise what `UNREADABLE` lists."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._gone: dict[str, set[int]] = {}
        self._come: dict[str, list[tuple[int, int]]] = {}

    @classmethod
    def saved(cls, path: str) -> "Tables":
        """A saved index, to be read: nobody ever writes to it, so nothing is locked."""
        quoted = "".join(chr(one) if one in _PLAIN else f"%{one:02x}" for one in os.fsencode(path))
        content = read_regular(path)  # a byte that was lost would change answers, not stop them
        if content[_SUM] != _checksum(content):
            raise sqlite3.DatabaseError(path)
        with ExitStack() as failing:
            database = sqlite3.connect(f"file:{quoted}?mode=ro&immutable=1", uri=True)
            failing.callback(database.close)
            database.execute("PRAGMA schema_version").fetchone()  # opens it
            failing.pop_all()
        return cls(database)

    @classmethod
    def empty(cls, form: str) -> "Tables":
        """An empty index in memory; `form` says what will be in it."""
        made = cls(sqlite3.connect(":memory:"))
        made._database.executescript(_SCHEMA)
        made._say("form", form)
        return made

    def copy(self) -> "Tables":
        """The same in memory, to be changed."""
        made = sqlite3.connect(":memory:")
        self._database.backup(made)
        return Tables(made)

    def image(self) -> bytes:
        """The index as a file's content, with its checksum."""
        content = self._database.serialize()
        return content[: _SUM.start] + _checksum(content) + content[_SUM.stop :]

    def close(self) -> None:
        """Let go of the file, or of the memory."""
        self._database.close()

    # ── reading ─────────────────────────────────────────────────────────────────────────────

    @property
    def form(self) -> str:
        """What the index looks like."""
        return self._said("form")

    @property
    def mark(self) -> str:
        """What the index was made of."""
        return self._said("mark")

    def files(self) -> dict[str, str]:
        """The sha256 of every file that was read, by its path."""
        return dict(self._database.execute("SELECT path, sha256 FROM files").fetchall())

    def problems(self) -> list[str]:
        """What was found wrong in the files."""
        found = self._database.execute(
            "SELECT problems FROM files WHERE problems != '' ORDER BY path"
        )
        return [line for (lines,) in found for line in lines.split("\n")]

    def passages(self) -> Sequence[Measured]:
        """All passages, in order."""
        return self._database.execute(_IN_ORDER).fetchall()

    def holding(self, term: str) -> Iterable[tuple[int, int]]:
        """The keys of the passages that hold a term, each with how often."""
        row = self._database.execute("SELECT held FROM postings WHERE term = ?", (term,)).fetchone()
        if row is None:
            return ()
        numbers = iter(_numbers(row[0]))
        return zip(numbers, numbers, strict=True)

    def passage(self, found: Ranked) -> Passage:
        """A passage that was found."""
        columns = "SELECT source, id, text, kind, heading, file, line FROM passages WHERE key = ?"
        row = self._database.execute(columns, (found.key,)).fetchone()
        source, name, text, kind, heading, file, line = row
        return Passage(source, name, round(found.score, 4), text, kind, heading, file, line)

    def entries(self, file: str) -> list[tuple[int, Entry]]:
        """The passages of a file, with their keys."""
        rows = self._database.execute(_ENTRIES, (file,))
        return [(row[0], Entry(*row[1:])) for row in rows]

    # ── writing ─────────────────────────────────────────────────────────────────────────────

    def put_file(self, path: str, sha256: str, problems: Sequence[str]) -> None:
        """Remember that a file was read, and what was wrong in it."""
        row = (path, sha256, "\n".join(problems))
        self._database.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", row)

    def drop_file(self, path: str) -> None:
        """Forget a file; its passages are removed one by one."""
        self._database.execute("DELETE FROM files WHERE path = ?", (path,))

    def add(self, entry: Entry) -> None:
        """Add a passage."""
        found = terms(entry.searched, entry.dates)
        row = (*entry.row, found.words, found.grams)
        cursor = self._database.execute(_ADD, row)
        key = cursor.lastrowid or 0
        for term, count in found.counts.items():
            self._come.setdefault(term, []).append((key, count))

    def remove(self, key: int, entry: Entry) -> None:
        """Remove a passage."""
        self._database.execute("DELETE FROM passages WHERE key = ?", (key,))
        for term in terms(entry.searched, entry.dates).counts:
            self._gone.setdefault(term, set()).add(key)

    def move(self, key: int, place: int, line: int | None) -> None:
        """Say that a passage now stands elsewhere in its file."""
        row = (place, line, key)
        self._database.execute("UPDATE passages SET place = ?, line = ? WHERE key = ?", row)

    def finish(self, mark: str) -> None:
        """Bring the terms up to date; `mark` says what the index is made of now."""
        for term in sorted(self._gone.keys() | self._come.keys()):
            gone = self._gone.get(term, set())
            held = [one for one in self.holding(term) if one[0] not in gone]
            held += self._come.get(term, [])
            if held:
                flat = array("I", (number for pair in held for number in pair))
                row = (term, flat.tobytes())
                self._database.execute("INSERT OR REPLACE INTO postings VALUES (?, ?)", row)
            else:
                self._database.execute("DELETE FROM postings WHERE term = ?", (term,))
        self._gone, self._come = {}, {}
        self._say("mark", mark)
        self._database.commit()

    def _said(self, name: str) -> str:
        row = self._database.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return str(row[0])

    def _say(self, name: str, value: str) -> None:
        self._database.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, value))


def _checksum(content: bytes) -> bytes:
    """Of all but the place where it stands itself."""
    before = crc32(content[: _SUM.start])
    return crc32(memoryview(content)[_SUM.stop :], before).to_bytes(4, "big")


def _numbers(content: bytes) -> "array[int]":
    numbers = array("I")
    numbers.frombytes(content)
    return numbers
