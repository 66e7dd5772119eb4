"""Two YAML texts compared: they may differ in the values of a few keys of one mapping only.

The trees decide first, because they can name what would change; then the values; then every
byte that stands outside of them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

from orgvault.domain.forms import dotted
from orgvault.domain.gate.refused import Refused
from orgvault.domain.gate.spans import (
    Span,
    end_of,
    first_other,
    frame,
    item_spans,
    pair_span,
    value_spans,
)
from orgvault.domain.proposal import LIST, Edit, Rule
from orgvault.domain.yaml_node import Node, is_merge, is_trap, key_text, target
from orgvault.domain.yaml_scalars import scalar, trap
from orgvault.domain.yaml_tree import Document

Pair = tuple[Node, Node]
_Path = tuple[str, ...]
_LOST = "\ufffd"  # what the tree has for a character that YAML forbids
_NOTHING = Node("scalar", "", (), "", "", "", 0, 0, 0)


class Side(NamedTuple):
    """One of the two texts, with its tree and the line of the file on which it starts."""

    text: str
    document: Document
    first_line: int = 1


class Change(NamedTuple):
    """One key whose value differs: its (key, value) before and after, None where it is absent."""

    key: str
    old: Pair | None
    new: Pair | None

    @property
    def line(self) -> int:
        """Where it stands in the new text, or stood in the old one."""
        pair = self.new or self.old
        return pair[0].line if pair else 0

    def edit(self) -> Edit:
        """The values before and after."""
        return Edit(
            key=self.key,
            before=_texts(self.old[1]) if self.old else None,
            after=_texts(self.new[1]) if self.new else None,
        )


class Comparison(NamedTuple):
    """What is compared: under which rule, the mapping at `at`, and the keys that may differ.

    With `loosely` blanks outside of the values may differ: for texts that a program wrote.
    """

    rule: Rule
    at: _Path
    keys: Sequence[str]
    loosely: bool = False

    def changes(self, old: Side, new: Side) -> list[Change]:
        """The values that differ, in the order of `keys`; raises Refused for anything else."""
        blocks = self._block(old), self._block(new)
        changes = [one for key in self.keys if (one := _change(key, *blocks)) is not None]
        dropped = {one.key for one in changes}
        before, after = (
            _without(side.document.root or _NOTHING, self.at, dropped) for side in (old, new)
        )
        if (spot := difference(before, after, ())) is not None:
            place = f"`{dotted(spot.path)}`" if spot.path else "the whole text"
            self._refuse(f"{place} {spot.what}", spot.path, spot.line)
        for change in changes:
            if why := _value_fault(change) or _at_margin(change, new) or _shared(change, old, new):
                self._refuse(f"`{change.key}` {why}", (*self.at, change.key), change.line)
        self._same_outside(old, new, changes, blocks)
        self._no_new_problem(old, new)
        return changes

    def _refuse(self, why: str, path: Sequence[str], line: int) -> NoReturn:
        raise Refused(self.rule, why, self._key(path), line)

    def _key(self, path: Sequence[str]) -> str:
        """How a refusal names a path: within the mapping by its key, else by where it leads."""
        own = len(self.at)
        if tuple(path[:own]) == self.at and len(path) > own:
            return path[own]
        above = own - 1 if own and tuple(path[: own - 1]) == self.at[:-1] else 0
        return ".".join(path[above : above + 2]) or dotted(path)

    def _block(self, side: Side) -> Node:
        """The mapping whose keys may differ, reached without aliases and keys written twice."""
        node = side.document.root or _NOTHING
        for step in self.at:
            found = [value for key, value in _pairs(node) if key_text(key) == step]
            if len(found) != 1:
                line = found[-1].line if found else node.line
                self._refuse(f"`{step}` must stand there once", self.at, line)
            node = found[0]
        if node.kind != "mapping":
            self._refuse(f"`{dotted(self.at)}` is no mapping of its own", self.at, node.line)
        return node

    def _no_new_problem(self, old: Side, new: Side) -> None:
        known = Counter((one.what, one.do) for one in old.document.problems)
        for one in new.document.problems:
            known[one.what, one.do] -= 1
            if known[one.what, one.do] < 0:
                raise Refused(self.rule, one.what, "", one.line)

    def _same_outside(
        self, old: Side, new: Side, changes: Sequence[Change], blocks: tuple[Node, Node]
    ) -> None:
        """Refuse a byte that changes outside of the values, or of the items of a list."""
        at: int | None = 0
        for by_item in (True, False):
            cuts = [self._cut(one, old, new, blocks, by_item=by_item) for one in changes]
            before = frame(old.text, (span for cut, _ in cuts for span in cut))
            after = frame(new.text, (span for _, cut in cuts for span in cut))
            if (at := first_other(before, after, loosely=self.loosely)) is None:
                return
        why = "a comment, a blank or a mark changes outside of the values"
        raise Refused(self.rule, why, "", new.first_line + new.text.count("\n", 0, at))

    def _cut(
        self, change: Change, old: Side, new: Side, blocks: tuple[Node, Node], *, by_item: bool
    ) -> tuple[Sequence[Span], Sequence[Span]]:
        """What one change covers in the old text and in the new one."""
        if change.old and change.new:
            values = (old.text, change.old[1]), (new.text, change.new[1])
            return (item_spans(*values) if by_item else None) or value_spans(*values)
        cuts: list[Sequence[Span]] = []
        for side, block, pair in ((old, blocks[0], change.old), (new, blocks[1], change.new)):
            span = pair_span(side.text, block, pair) if pair else None
            if pair and span is None:
                name = change.key
                why = f"`{name}` must be written `{name}: …` with nothing beside it"
                self._refuse(why, (*self.at, name), pair[0].line)
            cuts.append([span] if span else [])
        return cuts[0], cuts[1]


class Spot(NamedTuple):
    """The first place at which two trees differ."""

    path: _Path
    line: int
    what: str


def difference(old: Node, new: Node, path: _Path, line: int = 0) -> Spot | None:
    """The first difference of two trees: kinds, tags, values, anchors, quotes, order.

    `line` is that of the key in the new text, or 0.  What an alias stands for is compared where
    it stands itself.
    """
    line = line or new.line
    if old.tag != new.tag:
        return Spot(path, line, "would get, lose or change a tag")
    if old.anchor != new.anchor or (old.kind == "alias") != (new.kind == "alias"):
        return Spot(path, line, "would get, lose or change an anchor or an alias")
    if (old.kind, old.value, old.style) != (new.kind, new.value, new.style):
        return Spot(path, line, "would change")
    if old.kind == "mapping":
        return _mapping_difference(old, new, path)
    if old.kind == "list":
        if len(old.children) != len(new.children):
            return Spot(path, line, "would change")
        for before, after in zip(old.children, new.children, strict=True):
            if (spot := difference(before, after, path, 0)) is not None:
                return spot
    return None


def _mapping_difference(old: Node, new: Node, path: _Path) -> Spot | None:
    olds, news = list(old.pairs()), list(new.pairs())
    before, after = ([_name(key) for key, _ in pairs] for pairs in (olds, news))
    if before != after:
        return _key_difference(olds, news, path)
    for name, (old_key, old_value), (key, value) in zip(before, olds, news, strict=True):
        below = (*path, name)
        spot = difference(old_key, key, below) or difference(old_value, value, below, key.line)
        if spot is not None:
            return spot
    return None


def _key_difference(olds: Sequence[Pair], news: Sequence[Pair], path: _Path) -> Spot:
    """Which key comes, goes or moves."""
    known = Counter(_name(key) for key, _ in olds)
    for pair in news:
        name = _name(pair[0])
        known[name] -= 1
        if known[name] < 0:
            twice = any(_name(key) == name for key, _ in olds)
            what = "would be written twice" if twice else "would be added"
            if is_merge(pair[0]):
                name, what = _brought(pair[1]), "would be brought by a merge key"
            return Spot((*path, name), pair[0].line, what)
    for key, _ in olds:
        if known[_name(key)] > 0:
            return Spot((*path, _name(key)), key.line, "would be taken out")
    moved = next(
        new for old, (new, _) in zip(olds, news, strict=True) if _name(old[0]) != _name(new)
    )
    return Spot((*path, _name(moved)), moved.line, "would move")


def _brought(value: Node) -> str:
    """A key that a merge brings along; the merge key itself where there is none."""
    value = target(value)
    for key, _ in _pairs(value):
        return _name(key)
    return _brought(value.children[0]) if value.kind == "list" and value.children else "<<"


def _name(key: Node) -> str:
    """A key for comparison and for people; of one that is no text, the word for its kind."""
    return key.value if is_merge(key) else key_text(key) or f"a {target(key).kind} as key"


def _pairs(node: Node) -> Iterator[Pair]:
    return node.pairs() if node.kind == "mapping" else iter(())


def _change(key: str, old: Node, new: Node) -> Change | None:
    """What becomes of a key that stands at most once on each side; None when nothing does."""
    olds, news = ([one for one in _pairs(node) if _name(one[0]) == key] for node in (old, new))
    if len(olds) > 1 or len(news) > 1 or not (olds or news):
        return None
    before, after = next(iter(olds), None), next(iter(news), None)
    if before and after and difference(before[1], after[1], ()) is None:
        return None
    if before and after and difference(before[0], after[0], ()) is not None:
        return None  # the key itself is written in another way: a difference like any other
    return Change(key, before, after)


def _without(node: Node, at: Sequence[str], keys: set[str]) -> Node:
    """A copy of the tree whose mapping at a path lacks these keys."""
    children: list[Node] = []
    for key, value in node.pairs():
        if not at and _name(key) in keys:
            continue
        on_way = bool(at) and key_text(key) == at[0]
        children += [key, _without(value, at[1:], keys) if on_way else value]
    return node._replace(children=tuple(children))


def _value_fault(change: Change) -> str:
    """What is wrong with a value that changes; empty when nothing is."""
    pairs = [pair[1] for pair in (change.old, change.new) if pair is not None]
    for value in pairs:
        inside = [value, *value.children] if value.kind == "list" else [value]
        kinds = ["list", *["scalar"] * len(value.children)] if change.key == LIST else ["scalar"]
        if any(one.kind == "alias" or one.tag for one in inside):
            return "has a tag or an alias"
        if [one.kind for one in inside] != kinds:
            return "must be a list of texts" if change.key == LIST else "must be one text"
    anchors = [_anchors(value) for value in pairs]
    if any(one != (anchors[0] if change.old and change.new else {}) for one in anchors):
        return "would get, lose or change an anchor"
    old_texts, new_texts = (_items(pair) for pair in (change.old, change.new))
    if not all(one.style or isinstance(scalar(one.value), str) for one in old_texts):
        return "is no text today"
    if not all(map(_is_text, new_texts)):
        return "must be text that nobody reads as something else: put it in quotes"
    mended = any(is_trap(one, instants=False) for one in old_texts)
    if change.edit().before == change.edit().after and not mended:
        return "would be written in another way, and say the same"
    return ""


def _at_margin(change: Change, new: Side) -> str:
    """Whether a line of a text stands no deeper than its key: who reads by lines sees a key."""
    if change.new is None:
        return ""
    key = change.new[0]
    column = key.start - new.text.rfind("\n", 0, key.start) - 1
    for node in _items(change.new):
        for line in new.text[node.start : end_of(new.text, node)].split("\n")[1:]:
            if line.strip(" ") and len(line) - len(line.lstrip(" ")) <= column:
                return "has a line that is not indented below its key"
    return ""


def _items(pair: Pair | None) -> Sequence[Node]:
    if pair is None:
        return ()
    return pair[1].children if pair[1].kind == "list" else (pair[1],)


def _is_text(node: Node) -> bool:
    """Whether every reader of YAML takes a scalar for a text, and for one that says something."""
    word = node.value
    read_as_text = isinstance(scalar(word), str) and not trap(word) and word != "<<"
    return bool(word.strip()) and _LOST not in word and (bool(node.style) or read_as_text)


def _anchors(value: Node) -> dict[int, str]:
    return {at: one.anchor for at, one in enumerate((value, *value.children)) if one.anchor}


def _shared(change: Change, old: Side, new: Side) -> str:
    """Which alias shares a value that changes, or something in which it stands."""
    for side, pair in ((old, change.old), (new, change.new)):
        root = side.document.root
        if pair is None or root is None:
            continue
        names = {*_anchors(pair[1]).values(), root.anchor}
        names.update(one.anchor for one in _holding(root, pair[1]))
        found = next(_aliases(root, (), names - {""}), None)
        if found is not None:
            return f"is shared by `{dotted(found)}`"
    return ""


def _holding(node: Node, value: Node) -> Iterator[Node]:
    for one in node.children:
        if one.kind != "alias" and one.start <= value.start and value.end <= one.end:
            yield one
            yield from _holding(one, value)


def _aliases(node: Node, path: _Path, names: set[str]) -> Iterator[_Path]:
    """The paths at which one of these anchors is referred to."""
    if node.kind == "alias" and node.value in names:
        yield path
    elif node.kind == "list":
        for one in node.children:
            yield from _aliases(one, path, names)
    for key, value in _pairs(node):
        yield from _aliases(value, (*path, _name(key)), names)


def _texts(value: Node) -> tuple[str, ...]:
    return tuple(one.value for one in value.children) if value.kind == "list" else (value.value,)
