"""Which characters of a file spell which characters of a YAML scalar, and how others are spelled.

A change of a few words can so be a change of the few characters that spell them, in whatever
style the scalar is written: its quotes, its indentation and its line breaks stay.
Nothing here is trusted: whoever splices reads the result again.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from orgvault.domain.yaml_node import Node
from orgvault.domain.yaml_scalars import quoted

LINE_CHARS = 100
_HEADER = re.compile(r"([|>])([0-9+-]*)([ \t]*(?:#[^\n]*?)?)(?:\r?\n|\Z)")
_FOLD = re.compile(r"[ \t]*(?:\r?\n[ \t]*)+")
_CONTINUED = re.compile(r"\\\r?\n[ \t]*")
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPED = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f",
    "r": "\r", "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0",
    "L": "\u2028", "P": "\u2029",
}  # fmt: skip


class Splice(NamedTuple):
    """What stands in a text from `start` to `end` (character offsets) is to be `new`."""

    start: int
    end: int
    new: str

    def into(self, text: str) -> str:
        """The text with it done."""
        return text[: self.start] + self.new + text[self.end :]


class _Unit(NamedTuple):
    """A piece of a value, and the piece of the source that spells it."""

    value: str
    start: int
    end: int


def spellings(text: str, node: Node, wanted: str) -> Iterator[Splice]:
    """Ways of making a scalar read as `wanted`, the one that changes least first.

    `text` is the file, `node` the scalar in it, without anchor or tag.  Not each of them reads
    as is wanted: the first that does is the one.
    """
    units = _units(text, node)
    if units is not None:
        yield from _local(text, node, units, wanted)
    comment = ""
    if header := _HEADER.match(text, node.start) if node.style in {"|", ">"} else None:
        yield from _block_anew(text, node, header, wanted)
        comment = header[3]
    end = _content_end(text, node)
    for style in quotes_for(node.style, wanted):
        yield Splice(node.start, end, in_quotes(style, wanted) + comment)


def in_quotes(style: str, words: str) -> str:
    """Words on one line between quotes of a style (`"` or `'`), or plain for an empty one."""
    if style == "'":
        return "'" + words.replace("'", "''") + "'"
    return quoted(words) if style else words


def quotes_for(style: str, wanted: str) -> tuple[str, ...]:
    """The quotes in which words are tried, the plainest first; `style` is how they are written."""
    if style == "'" or "\\" in wanted or '"' in wanted:
        return ("'", '"')
    return ('"',)


def line_end(text: str) -> str:
    """How the lines of a text end."""
    return "\r\n" if "\r\n" in text else "\n"


def _content_end(text: str, node: Node) -> int:
    """Where a scalar ends; of a block scalar, its last line without the break."""
    if node.style not in {"|", ">"}:
        return node.end
    return node.start + len(text[node.start : node.end].rstrip(" \r\n"))


# ── a few characters ────────────────────────────────────────────────────────────────────────────


def _local(text: str, node: Node, units: list[_Unit], wanted: str) -> Iterator[Splice]:
    """The units that differ, spelled anew; a line that becomes too long is broken."""
    old = node.value
    first = _shared(old, wanted)
    most = min(len(old), len(wanted)) - first
    last = min(most, _shared(old[::-1], wanted[::-1]))
    at, begin, stop = 0, None, len(units)
    for number, unit in enumerate(units):
        if begin is None and at + len(unit.value) > first:
            begin = (number, at)
        at += len(unit.value)
        if at <= len(old) - last:
            stop = number + 1
    number, value_at = begin or (len(units), len(old))
    # Nothing but an insertion: it goes before the unit where the texts begin to differ.
    changed = units[number : max(number, stop)] if first < len(old) - last else []
    value_end = value_at + sum(len(unit.value) for unit in changed)
    piece = wanted[value_at : len(wanted) - (len(old) - value_end)]
    start = units[number].start if number < len(units) else _body_end(text, node, units)
    end = changed[-1].end if changed else start
    spelled = _spelled(text, node, piece)
    if spelled is None:
        return
    local = Splice(start, end, spelled)
    broken = _broken(text, node, local)
    if broken is not None:
        yield broken
    yield local
    if not node.style:
        source = Splice(start - node.start, end - node.start, spelled)
        inside = source.into(text[node.start : node.end])
        for quote in quotes_for("", wanted):
            doubled = inside.replace("'", "''") if quote == "'" else _escaped(inside)
            yield Splice(node.start, node.end, f"{quote}{doubled}{quote}")


def _shared(one: str, other: str) -> int:
    """How many characters two texts share at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _body_end(text: str, node: Node, units: list[_Unit]) -> int:
    if units:
        return units[-1].end
    return node.end - (node.style in {"'", '"'} and text[node.end - 1 : node.end] == node.style)


def _escaped(words: str) -> str:
    return words.replace("\\", "\\\\").replace('"', '\\"')


def _spelled(text: str, node: Node, piece: str) -> str | None:
    """A piece of a value in the scalar's style; None where that style has no way to say it."""
    match node.style:
        case '"':
            return quoted(piece)[1:-1]
        case "|":
            return _breaks(text, node, piece, 0)
        case ">":
            return _breaks(text, node, piece, 1)
    if "\n" in piece:
        return None
    return piece.replace("'", "''") if node.style else piece


def _breaks(text: str, node: Node, piece: str, more: int) -> str:
    """Line breaks as a block scalar has them: `more` of them where the text is folded."""
    end, lead = line_end(text), " " * _indent(text, node)
    return re.sub(r"\n+", lambda found: end * (len(found[0]) + more) + lead, piece)


def _broken(text: str, node: Node, local: Splice) -> Splice | None:
    """The splice with the lines it touches broken where they became too long.

    None where lines cannot be broken (they mean something), or need not.
    """
    source = text[node.start : node.end]
    if node.style == "|" or (node.style != ">" and "\n" not in source.strip()):
        return None
    begin = max(node.start, text.rfind("\n", 0, local.start) + 1)
    stop = text.find("\n", local.end)
    stop = min(node.end, len(text) if stop < 0 else stop)
    stop -= text[begin:stop].endswith("\r")
    whole = text[begin : local.start] + local.new + text[local.end : stop]
    limit = max(LINE_CHARS, *(len(line.rstrip()) for line in source.split("\n")))
    lead = " " * _indent(text, node)
    margin = begin - (text.rfind("\n", 0, begin) + 1)
    end = line_end(text)
    lines: list[str] = []
    for line in whole.split(end):
        lines += _wrapped(line, lead, limit, margin if not lines else 0)
    return None if len(lines) == len(whole.split(end)) else Splice(begin, stop, end.join(lines))


def _wrapped(line: str, lead: str, limit: int, margin: int) -> list[str]:
    """A line of folded text in lines of at most `limit` characters, where spaces allow it."""
    lines = []
    while len(line) + margin > limit:
        spaces = [
            found.start()
            for found in re.finditer(r"(?<=[^\s\\]) (?=[^\s#])", line)
            if found.start() > len(lead)
        ]
        fits = [at for at in spaces if at + margin <= limit]
        if not spaces:
            break
        at = fits[-1] if fits else spaces[0]
        lines.append(line[:at])
        line, margin = lead + line[at + 1 :], 0
    return [*lines, line]


def _indent(text: str, node: Node) -> int:
    """How far the lines of a scalar are indented, after its first."""
    lines = text[node.start : node.end].split("\n")[1:]
    first = next((line for line in lines if line.strip()), "")
    return len(first) - len(first.lstrip(" "))


# ── a block scalar anew, in its own style ───────────────────────────────────────────────────────


def _block_anew(text: str, node: Node, header: re.Match[str], wanted: str) -> Iterator[Splice]:
    """All lines of a block scalar; its indentation is kept, `-` and `+` are as they must be."""
    digits = header[2].strip("+-")
    if not wanted.strip("\n") or (wanted[0] in " \t\n" and not digits):
        return
    end = line_end(text)
    words = wanted.rstrip("\n")
    over = len(wanted) - len(words)
    for indent in range(_indent(text, node), 0, -1) if digits else (_indent(text, node),):
        lead = " " * indent
        lines: list[str] = []
        for line in (words if node.style == "|" else _unfolded(words)).split("\n"):
            whole = lead + line if line else ""
            folds = node.style == ">" and not line.startswith((" ", "\t"))
            lines += _wrapped(whole, lead, LINE_CHARS, 0) if folds else [whole]
        new = f"{node.style}{digits}{('-', '', '+')[min(2, over)]}{header[3]}{end}"
        new += end.join([*lines, *[""] * (over - 1)])
        yield Splice(node.start, _content_end(text, node), new)
        yield Splice(node.start, node.end, new + end)


def _unfolded(words: str) -> str:
    """Words with the line breaks that a folded scalar needs to keep theirs.

    Between two lines of text that is one more; none beside a line that begins with a blank.
    """
    pieces = re.split(r"(\n+)", words)
    for at in range(1, len(pieces), 2):
        if not any(one[:1] in {" ", "\t"} for one in (pieces[at - 1], pieces[at + 1])):
            pieces[at] += "\n"
    return "".join(pieces)


# ── which source spells which value ─────────────────────────────────────────────────────────────


def _units(text: str, node: Node) -> list[_Unit] | None:
    """A scalar in units; None where they do not give its value."""
    if node.style in {"|", ">"}:
        header = _HEADER.match(text, node.start)
        if header is None:
            return None
        found = (
            _block_units(text, node, header, indent) for indent in range(_indent(text, node), 0, -1)
        )
        return next((units for units in found if _value(units) == node.value), None)
    units = list(_flow_units(text, node))
    return units if _value(units) == node.value else None


def _value(units: list[_Unit]) -> str:
    return "".join(unit.value for unit in units)


def _flow_units(text: str, node: Node) -> Iterator[_Unit]:
    quote = bool(node.style)
    at, end = node.start + quote, node.end - quote
    while at < end:
        fold = _FOLD.match(text, at, end)
        continued = _CONTINUED.match(text, at, end) if node.style == '"' else None
        if continued is not None:
            unit = _Unit("", at, continued.end())
        elif fold is not None:
            breaks = fold[0].count("\n")
            unit = _Unit("\n" * (breaks - 1) or " ", at, fold.end())
        elif node.style == "'" and text.startswith("''", at):
            unit = _Unit("'", at, at + 2)
        elif node.style == '"' and (escape := _ESCAPE.match(text, at, end)) is not None:
            said = escape[0][1:]
            known = _ESCAPED.get(said, "")
            unit = _Unit(known or chr(int(said[1:] or "0", 16)), at, escape.end())
        else:
            unit = _Unit(text[at], at, at + 1)
        yield unit
        at = unit.end


def _block_units(text: str, node: Node, header: re.Match[str], indent: int) -> list[_Unit]:
    """The units of a block scalar whose lines are indented so far."""
    units: list[_Unit] = []
    folds, blanks, after_blank = node.style == ">", 0, True
    broke_at = at = header.end()
    empty = True
    for line in text[at : node.end].splitlines(keepends=True):
        words = line.rstrip("\r\n")
        if not words[indent:] and not words.strip(" "):
            blanks += 1
        else:
            starts_blank = words[indent : indent + 1] in {" ", "\t"}
            if empty:
                value = "\n" * blanks
            elif folds and not after_blank and not starts_blank:
                value = "\n" * blanks or " "
            else:
                value = "\n" * (1 + blanks)
            if value or not empty:
                units.append(_Unit(value, broke_at, at + indent))
            units += [
                _Unit(char, at + column, at + column + 1)
                for column, char in enumerate(words[indent:], indent)
            ]
            broke_at, blanks, after_blank, empty = at + len(words), 0, starts_blank, False
        at += len(line)
    chomp = header[2].strip("0123456789")
    if not empty and chomp != "-":
        kept = blanks if chomp == "+" else 0
        if text[broke_at : node.end].strip(" "):
            stop = at if kept else broke_at + len(line_end(text))
            units.append(_Unit("\n" * (1 + kept), broke_at, stop))
    return units
