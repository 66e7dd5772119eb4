"""Where the values of a YAML text stand, and whether anything outside of them differs."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orgvault.domain.yaml_node import Node

_GAP = re.compile(r":[ \n]+")


class Span(NamedTuple):
    """From where to where (offsets) something is cut out of a text, and what marks the place."""

    start: int
    end: int
    mark: str


# What stands between the spans, each piece with its offset.
Frame = Sequence[tuple[str, int]]


def value_spans(old: tuple[str, Node], new: tuple[str, Node]) -> tuple[list[Span], list[Span]]:
    """From the blanks before a (text, value) to its end; a mark is left, since both have it."""
    before, after = (
        [Span(len(text[: value.start].rstrip(" \n")), end_of(text, value), "\0")]
        for text, value in (old, new)
    )
    return before, after


def item_spans(
    old: tuple[str, Node], new: tuple[str, Node]
) -> tuple[list[Span], list[Span]] | None:
    """The lines of the items that one list in block style has more than the other.

    So a comment beside the last item does not hinder one that is added below.  None where the
    lists differ in another way, or more than the items stands on their lines.
    """
    (text, longer), (_, shorter) = (
        (old, new) if len(old[1].children) > len(new[1].children) else (new, old)
    )
    words, kept = ([(one.style, one.value) for one in v.children] for v in (longer, shorter))
    extra = len(words) - len(kept)
    first = next(
        (n for n, (a, b) in enumerate(zip(words, kept, strict=False)) if a != b), len(kept)
    )
    if {longer.style, shorter.style} != {"block"} or words[first + extra :] != kept[first:]:
        return None
    spans = []
    for item in longer.children[first : first + extra]:
        start, stop, beside = _whole_lines(text, item.start, end_of(text, item))
        if not _ITEM.fullmatch(beside):
            return None
        spans.append(Span(start, stop, ""))
    return (spans, []) if longer is old[1] else ([], spans)


_ITEM = re.compile(r" *- *")


def pair_span(text: str, block: Node, pair: tuple[Node, Node]) -> Span | None:
    """Where a key and its value stand that the other text has not: whole lines, or in braces.

    None when more stands there, or the key is no plain word.
    """
    key, value = pair
    end = end_of(text, value)
    if block.style == "flow":
        start, stop = _flow_span(text, block, key, end)
        beside = (text[start : key.start] + text[end:stop]).replace(",", "")
    else:
        start, stop, beside = _whole_lines(text, key.start, end)
    plain = key.kind == "scalar" and not (key.style or key.tag or key.anchor)
    written = plain and _GAP.fullmatch(text, key.end, value.start) is not None
    return Span(start, stop, "") if written and not beside.strip(" \n") else None


def _whole_lines(text: str, first: int, end: int) -> tuple[int, int, str]:
    """The whole lines on which something stands, and what else is on them."""
    start, stop = text.rfind("\n", 0, first) + 1, text.find("\n", end) + 1
    beside = text[start:first] + text[end : (stop or len(text) + 1) - 1]
    # The last line may have no end: then the one above loses its own.
    return (start, stop, beside) if stop else (start - 1, len(text), beside)


def frame(text: str, spans: Iterable[Span]) -> Frame:
    """A text without the spans, and with their marks."""
    pieces, at = [], 0
    for start, end, mark in sorted(spans):
        pieces.append((text[at:start] + mark, at))
        at = end
    return [*pieces, (text[at:], at)]


def first_other(old: Frame, new: Frame, *, loosely: bool) -> int | None:
    """The offset into the new text at which two frames part; None when they are the same.

    With `loosely` blanks make no difference.
    """
    before, after = ("".join(piece for piece, _ in pieces) for pieces in (old, new))
    if before == after or (loosely and before.split() == after.split()):
        return None
    shorter = min(len(before), len(after))
    same = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    for piece, offset in new:
        if same < len(piece):
            return offset + same
        same -= len(piece)
    return new[-1][1] + len(new[-1][0])


def end_of(text: str, node: Node) -> int:
    """Where a value ends: with its last scalar, or with the bracket that closes it."""
    if node.style == "block" and node.children:
        return end_of(text, node.children[-1])
    # libyaml counts the empty lines below a block scalar in.
    return node.start + len(text[node.start : node.end].rstrip("\n"))


def _flow_span(text: str, block: Node, key: Node, end: int) -> tuple[int, int]:
    """The span of a pair in `{ }`, with the comma before it, or after it when it is the first."""
    keys = list(block.children[::2])
    at = keys.index(key)
    if at:
        return end_of(text, block.children[2 * at - 1]), end
    return key.start, keys[1].start if len(keys) > 1 else end
