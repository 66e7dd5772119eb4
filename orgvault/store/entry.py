"""What one operation writes: rows and texts, with the words of its commit.

The same entry is spooled (rows only: acknowledged before any lock), journalled (with texts) and
committed, so that whoever finds one on disk can finish it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

VERSION = 1


@dataclass(frozen=True)
class Row:
    """One line of a log.  `log` is `episodes`, `wakes`, …; `line` has no newline."""

    log: str
    agent: str
    id: str
    line: str


@dataclass(frozen=True)
class Text:
    """A whole file of the working tree, relative to the vault, with `/`.

    `before` and `after` are sha256 of the contents, empty for an absent file; `content` is None
    when the file goes.
    """

    path: str
    before: str
    after: str
    content: str | None


@dataclass(frozen=True)
class Entry:
    """The rows and texts of one commit on `ref`, in the vault at `prefix` of the repository.

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
            "texts": [[t.path, t.before, t.after, t.content] for t in self.texts],
            "companions": self.companions,
        }
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
            tuple(Text(*text) for text in data["texts"]), tuple(data["companions"]),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError):
        return None


@dataclass(frozen=True)
class Message:
    """The words of a commit: `<noun>(<agent>): <what>` and its trailers."""

    subject: str
    trailers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        subject = " ".join(self.subject.split())
        if len(subject) > 100:
            subject = subject[:99].rstrip() + "…"
        lines = [
            f"{key}: {' '.join(value.split())}" for key, value in self.trailers.items() if value
        ]
        return "\n".join([subject, "", *lines, ""]) if lines else subject + "\n"
