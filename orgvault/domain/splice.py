"""One value of an agent's block in org.yaml changed, and every other byte of the file as it was.

The text is edited at the positions of its nodes and read again: what does not then read as was
wanted, every other value as before, is refused.  A wrong file never comes out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from difflib import SequenceMatcher
from itertools import product

from orgvault.domain.frontmatter import FRONTMATTER
from orgvault.domain.proposal import LIST, PROSE
from orgvault.domain.scalar_source import Splice, in_quotes, line_end, quotes_for, spellings
from orgvault.domain.yaml_node import Node, key_text
from orgvault.domain.yaml_tree import Document, compose
from orgvault.values import dataclass

_TRIED = 64  # combinations of spellings
# What the first character of an unquoted text must not be, and what must not stand in one.
_NEEDS_QUOTES = re.compile(
    r"[\s\-?:,\[\]{}#&*!|>'\"%@`~=<.+\d]|.*(?::(?:\s|\Z)|\s#|[\[\]{},]|\s\Z)", re.DOTALL
)


@dataclass(frozen=True)
class Unspliced:
    """Why a change cannot be made to a file, in a few words."""

    why: str


NOT_READABLE = Unspliced("the file does not read as YAML without fault")
NO_BLOCK = Unspliced("the file has no block of this agent that could be changed in its place")
NOT_PROSE = Unspliced("only the prose of the agent's block can be changed")
NOT_TEXT = Unspliced("the value is not plain text, or stands elsewhere (an alias, anchor or tag)")
NOTHING_TO_FIND = Unspliced("the text to be replaced is empty, and there is a value already")
NOT_FOUND = Unspliced("the text to be replaced does not occur in the file")
FOUND_OFTEN = Unspliced("the text to be replaced occurs more than once")
LEFT_EMPTY = Unspliced("the value would be left empty")
NO_CHANGE = Unspliced("nothing would change")
NO_PLACE = Unspliced("the change cannot be written into the file without touching anything else")

Values = Mapping[str, tuple[str, ...]]


def prose(text: str, agent: str) -> Values | Unspliced:
    """The prose that an agent's block has, by key: one text, of `principles` one for each item.

    `agent` is its id.  Keys without a value, or with one that is no text, are left out.
    """
    found = _block(compose(text, ""), agent)
    if isinstance(found, Unspliced):
        return found
    values = {}
    for key, node in found.prose.items():
        items = node.children if node.kind == "list" else (node,)
        read = tuple(one.value for one in items if one.kind == "scalar" and _is_text(one))
        if read and len(read) == len(items) and (node.kind == "list") == (key == LIST):
            values[key] = read
    return values


def swapped(
    values: Values, key: str, find: str, replace: str
) -> tuple[str, tuple[str, ...]] | Unspliced:
    """The key, and its value once `find`, which occurs once, is replaced.

    An empty `key` means any; an empty `find` adds: a principle, or a value where there is none.
    """
    if key and key not in PROSE:
        return NOT_PROSE
    if not find.strip():
        new = " ".join(replace.split()) if key == LIST else replace.strip()
        if not key or (key != LIST and values.get(key)):
            return NOTHING_TO_FIND
        return (key, (*values.get(key, ()), new)) if new else LEFT_EMPTY
    places = [
        (one, at)
        for one in ((key,) if key else PROSE)
        for at, item in enumerate(values.get(one, ()))
        for _ in range(item.count(find))
    ]
    if len(places) != 1:
        return FOUND_OFTEN if places else NOT_FOUND
    (found, at) = places[0]
    old = values[found]
    new = old[at].replace(find, replace)
    if not new.strip():
        return LEFT_EMPTY
    return NO_CHANGE if new == old[at] else (found, (*old[:at], new, *old[at + 1 :]))


def with_value(text: str, agent: str, key: str, wanted: Sequence[str]) -> str | Unspliced:
    """The file's text with a key of `PROSE` in an agent's block reading as `wanted`.

    One text, of `principles` any number.  Comments, quotes, styles, order and line ends stay.
    """
    if key not in PROSE or (key != LIST and len(wanted) != 1):
        return NOT_PROSE
    document = compose(text, "")
    block = _block(document, agent)
    if isinstance(block, Unspliced):
        return block
    node = block.prose.get(key)
    if node is not None and _is_shared(node):
        return NOT_TEXT
    target = _with(document.value, block.key, key, list(wanted) if key == LIST else wanted[0])
    for splices in _ways(text, block, key, tuple(wanted)):
        new = text
        for splice in sorted(splices, reverse=True):
            new = splice.into(new)
        read = compose(new, "")
        if not read.problems and read.value == target:
            return NO_CHANGE if new == text else new
    return NO_PLACE


def with_words(text: str, find: str, replace: str) -> str | Unspliced:
    """A skill file's text with `find`, which occurs once in its body, replaced.

    Both are given with LF; the file's own line ends stay, and its frontmatter as well.
    """
    end = line_end(text)
    old, new = find.replace("\n", end), replace.replace("\n", end)
    front = FRONTMATTER.match(text)
    start = front.end() if front else 0
    if not find.strip():
        return NOTHING_TO_FIND
    count = text.count(old, start)
    if count != 1:
        return FOUND_OFTEN if count else NOT_FOUND
    if old == new:
        return NO_CHANGE
    body = text[start:].replace(old, new)
    return text[:start] + body if body.strip() else LEFT_EMPTY


def _with(value: object, agent: str, key: str, expected: str | list[str]) -> object:
    """The plain value of the file as it is to read afterwards."""
    whole: dict[str, dict[str, dict[str, object] | None]] = deepcopy(value)  # type: ignore[arg-type]
    agents = whole["agents"]
    agents[agent] = {**(agents[agent] or {}), key: expected}
    return whole


# ── where the values stand ──────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Block:
    """An agent's block: the key it stands under, its nodes, and those of its prose by key."""

    key: str
    key_node: Node
    node: Node
    prose: dict[str, Node]


def _block(document: Document, agent: str) -> _Block | Unspliced:
    if document.problems or document.root is None:
        return NOT_READABLE
    agents = _own(document.root, "agents")
    if agents is None or agents[1].kind != "mapping":
        return NO_BLOCK
    for key, node in agents[1].pairs():
        own_id = _own(node, "id") if node.kind == "mapping" else None
        if agent != (own_id[1].value if own_id else key_text(key)):
            continue
        if _is_null(node):
            return _Block(key.value, key, node, {})
        if node.kind != "mapping" or node.tag or node.anchor:
            return NO_BLOCK
        found = {str(key_text(one)): value for one, value in node.pairs()}
        return _Block(key.value, key, node, {one: found[one] for one in PROSE if one in found})
    return NO_BLOCK


def _own(node: Node, name: str) -> tuple[Node, Node] | None:
    if node.kind != "mapping":
        return None
    return next((pair for pair in node.pairs() if key_text(pair[0]) == name), None)


def _is_null(node: Node) -> bool:
    return node.kind == "scalar" and not node.style and not node.tag and node.value in _NULLS


_NULLS = ("", "~", "null", "Null", "NULL")


def _is_text(node: Node) -> bool:
    return bool(node.style) or not _is_null(node)


def _is_shared(node: Node) -> bool:
    """Whether a value, or an item of it, is more than its own text in its own place."""
    parts = (node, *node.children) if node.kind == "list" else (node,)
    return any(one.kind in {"alias", "mapping"} or one.tag or one.anchor for one in parts)


# ── how it can be written ───────────────────────────────────────────────────────────────────────

_Way = tuple[Splice, ...]


def _ways(text: str, block: _Block, key: str, wanted: tuple[str, ...]) -> Iterator[_Way]:
    """Ways of writing the value, the least change first; which of them is right is tried."""
    node = block.prose.get(key)
    if node is None:
        yield from _added_key(text, block, key, wanted)
    elif _is_null(node) or (node.kind == "list" and not node.children):
        # `key:` without a value ends at its colon.
        lead = " " if node.start == node.end else ""
        plain = () if key == LIST else ("",)
        for style in (*plain, *quotes_for("", "".join(wanted))):
            written = [words for one in wanted for words in _written(style, one)]
            if len(written) == len(wanted):
                value = f"[{', '.join(written)}]" if key == LIST else written[0]
                yield (Splice(node.start, node.end, lead + value),)
    elif node.kind == "list" and key == LIST:
        yield from _items(text, node, wanted) if wanted else _emptied(text, node)
    elif node.kind == "scalar" and key != LIST:
        yield from ((one,) for one in spellings(text, node, wanted[0]))


def _emptied(text: str, node: Node) -> Iterator[_Way]:
    """No items, also where their dashes stood below the key."""
    for empty in ("[]", "  []"):
        yield (Splice(node.start, _end(text, node), empty),)


def _items(text: str, node: Node, wanted: tuple[str, ...]) -> Iterator[_Way]:
    """A list: items that changed in their places, others added or taken out."""
    old = tuple(one.value for one in node.children)
    parts: list[list[_Way]] = []
    matcher = SequenceMatcher(None, old, wanted, autojunk=False)
    for op, old_at, old_end, new_at, new_end in matcher.get_opcodes():
        if op == "equal":
            continue
        both = min(old_end - old_at, new_end - new_at)
        for step in range(both):
            item, new = node.children[old_at + step], wanted[new_at + step]
            parts.append([(one,) for one in spellings(text, item, new)])
        if old_at + both < old_end:
            parts.append([_taken_out(text, node, old_at + both, old_end)])
        elif new_at + both < new_end:
            added = wanted[new_at + both : new_end]
            parts.append(list(_added_items(text, node, old_at + both, added)))
    for number, chosen in enumerate(product(*parts)):
        if number == _TRIED:
            return
        yield tuple(splice for way in chosen for splice in way)


def _added_items(text: str, node: Node, at: int, added: Sequence[str]) -> Iterator[_Way]:
    """New items before the item of that number, or after the last, in the list's own style."""
    near = node.children[min(at, len(node.children) - 1)]
    for style in dict.fromkeys((near.style.strip("|>"), "", *quotes_for("", "".join(added)))):
        written = [_written(style, one) for one in added]
        if not all(written):
            continue
        words = [one[0] for one in written]
        if node.style == "flow":
            if at == 0:
                yield (Splice(near.start, near.start, "".join(f"{one}, " for one in words)),)
            else:
                after = node.children[at - 1].end
                yield (Splice(after, after, "".join(f", {one}" for one in words)),)
            continue
        lead = text[text.rfind("\n", 0, node.start) + 1 : node.start]
        lines = [f"{lead if not lead.strip() else ' ' * len(lead)}- {one}" for one in words]
        if at == 0:
            first = text.rfind("\n", 0, node.start) + 1
            end = line_end(text)
            yield (Splice(first, first, "".join(line + end for line in lines)),)
        else:
            yield (_below(text, _end(text, node.children[at - 1]), lines),)


def _taken_out(text: str, node: Node, first: int, end: int) -> _Way:
    """The items from one number up to another taken out; their comments go, others stay."""
    items = node.children
    if node.style == "flow":
        if end < len(items):
            return (Splice(items[first].start, items[end].start, ""),)
        return (Splice(items[first - 1].end, items[-1].end, ""),)
    return tuple(
        Splice(text.rfind("\n", 0, one.start) + 1, _next_line(text, _end(text, one)), "")
        for one in items[first:end]
    )


def _added_key(text: str, block: _Block, key: str, wanted: tuple[str, ...]) -> Iterator[_Way]:
    """A key that the block lacks: below its last prose, else below its first key."""
    node = block.node
    flow = node.style == "flow"
    known = [value for _, value in node.pairs()] if node.kind == "mapping" else []
    above = [one for one in block.prose.values() if known] or known[:1]
    last = max(above, key=lambda one: one.start) if above else None
    for style in ("", *quotes_for("", "".join(wanted))):
        written = [_written(style, one) for one in wanted]
        if not all(written) or not wanted:
            continue
        words = [one[0] for one in written]
        if flow or key != LIST:
            value = f"[{', '.join(words)}]" if key == LIST else words[0]
            lines = [f"{key}: {value}"]
        else:
            lines = [f"{key}:", *(f"  - {one}" for one in words)]
        if flow and last is None:
            yield (Splice(node.start + 1, node.start + 1, lines[0]),)
        elif flow and last is not None:
            yield (Splice(_end(text, last), _end(text, last), f", {lines[0]}"),)
        else:
            lead = _lead(text, node.start)
            if last is None:  # the block is empty: its key stands alone
                lead = _lead(text, block.key_node.start) + "  "
                below = _below(text, node.end, [lead + line for line in lines])
                yield (*_gone(node), below)
            else:
                yield (_below(text, _end(text, last), [lead + line for line in lines]),)


def _gone(node: Node) -> _Way:
    """A null that is written out taken away."""
    return (Splice(node.start, node.end, ""),) if node.start < node.end else ()


def _lead(text: str, at: int) -> str:
    """The spaces that bring a line to the column of a place in the text."""
    return " " * (at - text.rfind("\n", 0, at) - 1)


def _below(text: str, at: int, lines: Sequence[str]) -> Splice:
    """Lines below the one that a place stands in, its comment included."""
    end = line_end(text)
    below = _next_line(text, at)
    new = "".join(line + end for line in lines)
    if below == len(text) and not text.endswith("\n"):
        new = end + new.removesuffix(end)
    return Splice(below, below, new)


def _next_line(text: str, at: int) -> int:
    if at and text[at - 1] == "\n":
        return at
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _end(text: str, node: Node) -> int:
    """Where a value ends; libyaml ends a list in block style at whatever follows it."""
    if node.style == "block" and node.children:
        return _end(text, node.children[-1])
    if node.kind == "scalar" and node.style in {"|", ">"}:
        source = text[node.start : node.end]
        keeps = "+" in source.split("\n", 1)[0].split("#", 1)[0]
        return node.end if keeps else node.start + len(source.rstrip(" \r\n"))
    return node.end


def _written(style: str, words: str) -> tuple[str, ...]:
    """A text on one line in a style; none where the style cannot hold it."""
    if not style and ("\n" in words or _NEEDS_QUOTES.match(words)):
        return ()
    if style == "'" and not words.isprintable():
        return ()
    return (in_quotes(style, words),)
