"""A notebook by heading section: what stands below a heading, up to the next one of any depth."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

_LINE = re.compile(r"\r\n|\n|\r")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+$")
_FENCE = re.compile(r" {0,3}(?:(`{3,})[^`]*|(~{3,}).*)")


class Section(NamedTuple):
    """A section: the headings above and of it, its own text, and the line (from 1) it begins in."""

    headings: tuple[str, ...]
    text: str
    line: int


class _Heading(NamedTuple):
    at: int
    depth: int
    title: str


def sections(text: str) -> list[Section]:
    """The sections of a Markdown text, in order; what stands above the first heading is one too.

    Frontmatter is dropped, and a `#` inside a code fence is no heading.  A heading with nothing
    below it but deeper headings is no section of its own: it stands in theirs.
    """
    lines = _LINE.split(text.removeprefix("\ufeff"))
    begin = _after_frontmatter(lines)
    headings = [*_headings(lines, begin), _Heading(len(lines), 0, "")]
    found = []
    if body := _body(lines[begin : headings[0].at]):
        first = next(at for at in range(begin, len(lines)) if lines[at].strip())
        found.append(Section((), body, first + 1))
    above: list[_Heading] = []
    for heading, following in pairwise(headings):
        above = [one for one in above if one.depth < heading.depth] + [heading]
        body = _body(lines[heading.at + 1 : following.at])
        if body or following.depth <= heading.depth:
            found.append(Section(tuple(one.title for one in above), body, heading.at + 1))
    return found


def _headings(lines: list[str], begin: int) -> Iterator[_Heading]:
    fence = ""
    for at in range(begin, len(lines)):
        line = lines[at]
        mark = _FENCE.fullmatch(line)
        if fence:
            closes = mark is not None and line.strip().strip(fence[0]) == ""
            if closes and line.strip().startswith(fence):
                fence = ""
        elif mark is not None:
            fence = mark[1] or mark[2]
        elif (heading := _HEADING.fullmatch(line)) is not None:
            title = _CLOSING.sub("", (heading[2] or "").strip())
            yield _Heading(at, len(heading[1]), title.strip())


def _after_frontmatter(lines: list[str]) -> int:
    if lines[0].rstrip() != "---":
        return 0
    ends = (at for at, line in enumerate(lines) if at and line.rstrip() in {"---", "..."})
    return next(ends, -1) + 1


def _body(lines: list[str]) -> str:
    """The lines without empty ones around them."""
    return "\n".join(lines).strip("\n").rstrip() if any(map(str.strip, lines)) else ""
