"""Which part of a note a link means: what stands below a heading, or one block."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple
from unicodedata import normalize

from orgvault.domain.links import plain_text, properties_end
from orgvault.domain.markdown import Structure, structure
from orgvault.values import dataclass

# https://help.obsidian.md/links: these make no difference in a heading.
_SPECIAL = r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+"
_BLOCK_ID = r"\^([A-Za-z0-9-]+)"
_HEADING_LINE = r"(?m)^(#{1,6})(?:[ \t]+(.*))?$"
# Headings that a line's beginning does not tell.
_OTHER_HEADING = r"\r|(?:^|\n)[ ]+#|[^\n]\n[ ]*(?:=+|-+)[ \t]*(?:\n|$)"
_LISTS = frozenset({"bullet_list", "ordered_list", "list_item"})
_WITH_ID_BELOW = frozenset(
    {"bullet_list", "ordered_list", "blockquote", "table", "fence", "code_block", "math_block"}
)
_CLOSED = frozenset({"blockquote", "table"})

# Of an id that stands everywhere only these are looked at.
_PLACES = 100

NO_HEADING = "no such heading in it"
NO_BLOCK = "no such block in it"
OUT_OF_REACH = "that stands inside a quote, callout or table, where no link leads"
FOOTNOTE = "a footnote cannot be embedded"
TOO_LARGE = "too large to look for a part of it"
# Of a text that only the parser can tell about.
PARSED_CHARS = 1 << 18


@dataclass(frozen=True)
class Part:
    """A part from `start` to `end` without its `mark` (a block's own id), or why there is none."""

    start: int = 0
    end: int = 0
    mark: tuple[int, int] | None = None
    twice: bool = False  # there are several; this is the first
    reason: str = ""


class _Heading(NamedTuple):
    start: int
    level: int
    name: str


def part(text: str, subpath: str) -> Part:
    """The part of a note that `subpath` means (what stands after the first `#` of a link)."""
    names = [one.strip() for one in subpath.split("#") if one.strip()]
    begin = properties_end(text)
    if not names:
        return Part(begin, len(text))
    if names[-1].startswith("[^"):
        return Part(reason=FOOTNOTE)
    body = text[begin:]
    if names[-1].startswith("^"):
        found = _block(body, names[-1])
    else:
        found = _section(body, [_name(one) for one in names])
    if found.reason:
        return found
    mark = (begin + found.mark[0], begin + found.mark[1]) if found.mark else None
    return Part(begin + found.start, begin + found.end, mark, found.twice)


def _name(heading: str) -> str:
    return " ".join(re.sub(_SPECIAL, " ", normalize("NFC", heading)).lower().split())


# ── headings ────────────────────────────────────────────────────────────────────────────────


def _section(body: str, names: list[str]) -> Part:
    plain = plain_text(body)
    by_line = plain is not None and not re.search(_OTHER_HEADING, plain)
    if not by_line and len(body) > PARSED_CHARS:
        return Part(reason=TOO_LARGE)
    known = None if by_line else structure(body)
    headings = _parsed_headings(known) if known else _plain_headings(body, plain or "")
    fitting = list(_fitting(headings, names))
    if not fitting:
        known = known or (structure(body) if len(body) <= PARSED_CHARS else None)
        inside = known is not None and any(
            one.kind == "heading" and one.above and _name(one.text) == names[-1]
            for one in known.blocks
        )
        return Part(reason=OUT_OF_REACH if inside else NO_HEADING)
    at = fitting[0]
    after = (one.start for one in headings[at + 1 :] if one.level <= headings[at].level)
    return Part(headings[at].start, next(after, len(body)), twice=len(fitting) > 1)


def _plain_headings(body: str, plain: str) -> list[_Heading]:
    return [
        _Heading(one.start(), len(one[1]), _name(body[slice(*one.span(2))] if one[2] else ""))
        for one in re.finditer(_HEADING_LINE, plain)
    ]


def _parsed_headings(known: Structure) -> list[_Heading]:
    return [
        _Heading(known.lines[one.first], one.level, _name(one.text))
        for one in known.blocks
        if one.kind == "heading" and not one.above
    ]


def _fitting(headings: list[_Heading], names: list[str]) -> Iterator[int]:
    """The places of the headings of the last name that stand below those of the others."""
    above: list[_Heading] = []
    for at, heading in enumerate(headings):
        above = [one for one in above if one.level < heading.level]
        path = iter(one.name for one in above)
        if heading.name == names[-1] and all(name in path for name in names[:-1]):
            yield at
        above.append(heading)


# ── blocks ──────────────────────────────────────────────────────────────────────────────────


def _block(body: str, wanted: str) -> Part:
    if not (named := re.fullmatch(_BLOCK_ID, wanted)):
        return Part(reason=NO_BLOCK)
    ids = re.compile(rf"(?i)(?<!\S)\^{re.escape(named[1])}(?=[ \t]*(?:[\r\n|]|\Z))")
    places = [one.start() for one in islice(ids.finditer(body), _PLACES)]
    if not places:
        return Part(reason=NO_BLOCK)
    if len(places) == 1 and (plain := _plain_paragraph(body, places[0])):
        return plain
    if len(body) > PARSED_CHARS:
        return Part(reason=TOO_LARGE)
    known = structure(body)
    found = [one for place in places if (one := _marked(body, known, place, len(wanted)))]
    if found:
        first = found[0]
        return Part(first.start, first.end, first.mark, twice=len(found) > 1)
    return Part(reason=OUT_OF_REACH if _closed_in(known, places) else NO_BLOCK)


def _plain_paragraph(body: str, place: int) -> Part | None:
    """A paragraph that can be nothing else: lines that begin with letters, blank lines around."""
    plain = plain_text(body)
    if plain is None or "\r" in plain or plain[place] != "^":
        return None
    start = plain.rfind("\n\n", 0, place)
    start = 0 if start < 0 else start + 2
    line_end = plain.find("\n", place)
    line_end = len(plain) if line_end < 0 else line_end
    lines = plain[start:line_end].split("\n")
    if plain[line_end + 1 : line_end + 2].strip("\n") or not all(
        one[:1].isalpha() for one in lines
    ):
        return None
    end = len(body[:place].rstrip())
    return Part(start, line_end, (end, line_end))


def _marked(body: str, known: Structure, place: int, size: int) -> Part | None:
    """The block whose id stands at `place`, which it must end with."""
    for at, block in enumerate(known.blocks):
        start, end = known.lines[block.first], known.lines[block.last]
        words = block.kind == "paragraph" and _LISTS.issuperset(block.above)
        if not words or not start <= place < end:
            continue
        stop = start + len(body[start:end].rstrip())
        if place + size != stop:
            return None
        if not body[start:place].strip() and not block.above:
            return _before(body, known, at)
        mark = (len(body[:place].rstrip()), stop)
        if not block.above:
            return Part(start, stop, mark)
        return _item(body, known, at, mark)
    return None


def _before(body: str, known: Structure, at: int) -> Part | None:
    """The list, quote, callout or table above an id on a line of its own."""
    block = known.blocks[at]
    for one in reversed(known.blocks[:at]):
        if one.above:
            continue
        blank = not body[known.lines[block.first - 1] : known.lines[block.first]].strip()
        if one.kind in _WITH_ID_BELOW and blank:
            start = known.lines[one.first]
            return Part(start, start + len(body[start : known.lines[one.last]].rstrip()))
        return None
    return None


def _item(body: str, known: Structure, at: int, mark: tuple[int, int]) -> Part:
    """The item of a list that a paragraph stands in."""
    inside = known.blocks[at].above[:-1]
    above = reversed(known.blocks[:at])
    item = next(one for one in above if one.kind == "list_item" and one.above == inside)
    start = known.lines[item.first]
    return Part(start, start + len(body[start : known.lines[item.last]].rstrip()), mark)


def _closed_in(known: Structure, places: list[int]) -> bool:
    return any(
        one.kind in _CLOSED and known.lines[one.first] <= place < known.lines[one.last]
        for one in known.blocks
        for place in places
    )
