"""A diff as words: what goes and what comes, inside its lines."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


class Mark(StrEnum):
    """What a piece of a diff is."""

    SAME = "same"
    GONE = "gone"
    NEW = "new"
    HEAD = "head"


class Piece(NamedTuple):
    """A piece of text and what it is; a line end only where the text has it."""

    mark: Mark
    text: str


def words(diff: str) -> Iterator[Piece]:
    """The pieces of a unified diff: its heads, and its lines with the words that change marked."""
    lines = diff.replace("\r\n", "\n").splitlines(keepends=True)
    first = next((at for at, line in enumerate(lines) if line.startswith("@@")), len(lines))
    yield from (Piece(Mark.HEAD, line) for line in lines[:first])
    gone: list[str] = []
    for sign, group in groupby(lines[first:], key=lambda line: line[:1]):
        found = [line[1:] for line in group]
        if sign == "-":
            gone = found
        elif sign == "+":
            yield from _changed("".join(gone), "".join(found))
            gone = []
        else:
            yield from _changed("".join(gone), "")
            gone = []
            yield from _plain(sign, found)
    yield from _changed("".join(gone), "")


def _plain(sign: str, lines: Sequence[str]) -> Iterator[Piece]:
    for line in lines:
        if sign == "@":
            yield Piece(Mark.HEAD, sign + line)
        elif sign == " ":
            yield Piece(Mark.SAME, line)


def _changed(before: str, after: str) -> Iterator[Piece]:
    """What goes and what comes; words that change side by side are one change."""
    from difflib import SequenceMatcher

    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    gone = come = ""
    for op, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        same = "".join(old[i:j]) if op == "equal" else ""
        if op == "equal" and not ((gone or come) and same.isspace() and "\n" not in same):
            yield from _both(gone, come)
            gone = come = ""
            yield Piece(Mark.SAME, same)
        else:
            gone, come = gone + "".join(old[i:j]), come + "".join(new[k:m])
    yield from _both(gone, come)


def _both(gone: str, come: str) -> Iterator[Piece]:
    if gone:
        yield Piece(Mark.GONE, gone)
    if come:
        yield Piece(Mark.NEW, come)
