"""What one operation writes: rows and texts, with the words of its commit.

The same entry is spooled (rows only: acknowledged before any lock), journalled (with texts) and
committed, so that whoever finds one on disk can finish it.
"""

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from orgvault.domain.instants import moment
from orgvault.store.faults import NoRow
from orgvault.values import dataclass

VERSION = 1
SUBJECT_CHARS = 100
ROW_BYTES = 64 * 1024


@dataclass(frozen=True)
class Row:
    """One line of a log.  `log` is `episodes`, `wakes`, …; `line` has no newline.

    Raises NoRow when no log can hold it.
    """

    log: str
    agent: str
    id: str
    line: str

    def __post_init__(self) -> None:
        if "\n" in self.line or len(self.line.encode()) >= ROW_BYTES:
            raise NoRow(self.id, ROW_BYTES)


@dataclass(frozen=True)
class Content:
    """A file, relative to the vault, that is named by what it holds: it is never changed.

    It is recorded with rows, and like them it can be written by anybody, in any order.
    """

    path: str
    text: str


@dataclass(frozen=True)
class Text:
    """A whole file of the working tree, relative to the vault, with `/`.

    `before` and `after` are sha256 of the contents, empty for an absent file; `content` is None
    when the file goes, `was` when it is new.
    """

    path: str
    before: str
    after: str
    content: str | None
    was: bytes | None

    @property
    def will_be(self) -> bytes | None:
        """The content as bytes."""
        return None if self.content is None else self.content.encode()


@dataclass(frozen=True)
class Entry:
    """What one commit on `ref` holds, in the vault at `prefix` of the repository.

    `author` is `(name, email)`; `at` an instant; `companions` are the spool files whose rows
    belong to the same commit.
    """

    ref: str
    prefix: str
    message: str
    author: tuple[str, str]
    at: str
    rows: tuple[Row, ...] = ()
    texts: tuple[Text, ...] = ()
    companions: tuple[str, ...] = ()
    contents: tuple[Content, ...] = ()

    def __post_init__(self) -> None:
        moment(self.at)  # ValueError here, not when somebody else comes to commit it

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]

    def encode(self) -> bytes:
        """One line of JSON."""
        plain: dict[str, Any] = {
            "v": VERSION,
            "ref": self.ref,
            "prefix": self.prefix,
            "message": self.message,
            "author": self.author,
            "at": self.at,
            "rows": [[row.log, row.agent, row.id, row.line] for row in self.rows],
            "texts": [
                [
                    t.path,
                    t.before,
                    t.after,
                    t.content,
                    None if t.was is None else t.was.decode("latin-1"),
                ]
                for t in self.texts
            ],
            "companions": self.companions,
        }
        if self.contents:
            plain["contents"] = [[one.path, one.text] for one in self.contents]
        return json.dumps(plain).encode() + b"\n"


def decode(content: bytes) -> Entry | None:
    """The entry that a file holds; None when it was cut off or is none of ours."""
    try:
        data = json.loads(content)
        if not content.endswith(b"\n") or data["v"] > VERSION:
            return None
        name, email = data["author"]
        return Entry(
            data["ref"], data["prefix"], data["message"], (name, email), data["at"],
            tuple(Row(*row) for row in data["rows"]),
            tuple(_text(*text) for text in data["texts"]), tuple(data["companions"]),
            tuple(Content(*one) for one in data.get("contents", ())),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError, NoRow):
        return None


def _text(path: str, before: str, after: str, content: str | None, was: str | None) -> Text:
    return Text(path, before, after, content, None if was is None else was.encode("latin-1"))


@dataclass(frozen=True)
class Message:
    """The words of a commit: `<noun>(<agent>): <what>` and its trailers."""

    subject: str
    trailers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        subject = _one_line(self.subject)
        if len(subject) > SUBJECT_CHARS:
            subject = subject[: SUBJECT_CHARS - 1].rstrip() + "…"
        lines = [f"{key}: {_one_line(value)}" for key, value in self.trailers.items() if value]
        return "\n".join([subject, "", *lines, ""]) if lines else subject + "\n"


def _one_line(text: str) -> str:
    printable = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(printable.split())
