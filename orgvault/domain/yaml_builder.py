"""Builds a YAML tree from a parser's events, and collects what is wrong on the way."""

from typing import NoReturn, Protocol

from orgvault.domain.problem import Problem
from orgvault.domain.yaml_node import Node, is_merge, key_text, plain
from orgvault.domain.yaml_scalars import trap

DEPTH_MAX = 100
VALUES_MAX = 100_000
_SHORT = 60
_STARTS = {"MappingStartEvent": "mapping", "SequenceStartEvent": "list"}
_ENDS = frozenset({"MappingEndEvent", "SequenceEndEvent"})


class Mark(Protocol):
    """A place in the text; both count from 0, `index` in characters."""

    line: int
    index: int


class Event(Protocol):
    """An event of ruamel's parser; each kind has those of these attributes that it needs."""

    anchor: str | None
    tag: str | None
    value: str
    style: str | None
    flow_style: bool
    version: object
    tags: object
    start_mark: Mark
    end_mark: Mark


class Parser(Protocol):
    """What gives the events one by one, and None after the last."""

    def get_event(self) -> Event | None:
        """The next event; raises ruamel's YAMLError where the text cannot be parsed."""


class TooMuch(Exception):
    """The tree would pass a bound; what was wrong is reported already."""


class Builder:
    """One building; `problems` is added to, `has_traps` says whether to look for them.

    `first_line` is the line number of the text's first line and `shift` is added to every
    offset.  A loop rather than a recursion: how deep a text nests is the text's choice.
    """

    def __init__(
        self, file: str, problems: list[Problem], first_line: int, shift: int, *, instants: bool
    ) -> None:
        self._file = file
        self._problems = problems
        self._first_line = first_line
        self._shift = shift
        self._instants = instants
        self.has_traps = False
        self._anchors: dict[str, Node | None] = {}  # None while what it names is still open

    def build(self, parser: Parser) -> Node | None:
        """The tree of the first document; raises YAMLError, or TooMuch."""
        root: Node | None = None
        opened: list[tuple[str, Event, list[Node]]] = []
        count = 0
        while (event := parser.get_event()) is not None:
            kind = type(event).__name__
            if kind == "ScalarEvent":
                node = self._scalar(event)
            elif kind in _STARTS:
                self._open(event, len(opened))
                opened.append((_STARTS[kind], event, []))
                continue
            elif kind in _ENDS:
                node = self._collection(*opened.pop(), event)
            elif kind == "AliasEvent":
                node = self._alias(event)
            elif kind == "DocumentStartEvent" and not self._begin(event, root):
                return root
            else:
                continue
            count += 1
            if count > VALUES_MAX:
                self._too_much(node.line, f"more than {VALUES_MAX:,} values")
            if opened:
                opened[-1][2].append(node)
            else:
                root = node
        return root

    def _begin(self, event: Event, root: Node | None) -> bool:
        line = self._line(event)
        if root is not None:
            self._note(line, "a second YAML document begins", "keep one, without `---` between")
            return False
        if event.version or event.tags:
            self._note(line, "a YAML directive (a line that begins with %)", "take it out")
        return True

    def _open(self, event: Event, depth: int) -> None:
        if depth == DEPTH_MAX:
            self._too_much(self._line(event), f"nested deeper than {DEPTH_MAX} levels")
        if event.anchor:
            self._anchor(event, None)

    def _scalar(self, event: Event) -> Node:
        value, tag, style = event.value, event.tag or "", event.style or ""
        node = Node(
            "scalar", value, (), tag, event.anchor or "", style,
            self._line(event), self._shift + event.start_mark.index,
            self._shift + event.end_mark.index,
        )  # fmt: skip
        if not style and not tag and trap(value, instants=self._instants):
            self.has_traps = True
        if tag:
            self._tag(node)
        if event.anchor:
            self._anchor(event, node)
        return node

    def _collection(self, kind: str, start: Event, items: list[Node], end: Event) -> Node:
        size = 1 + sum(item.size for item in items)
        height = 1 + max((item.height for item in items), default=0)
        line = self._line(start)
        if size > VALUES_MAX or height > DEPTH_MAX:
            self._too_much(
                line, f"aliases that unfold to over {VALUES_MAX:,} values or {DEPTH_MAX} levels"
            )
        node = Node(
            kind, "", tuple(items), start.tag or "", start.anchor or "",
            "flow" if start.flow_style else "block", line,
            self._shift + start.start_mark.index, self._shift + end.end_mark.index, size, height,
        )  # fmt: skip
        if node.tag:
            self._tag(node)
        if node.anchor:
            self._anchors[node.anchor] = node
        if kind == "mapping":
            self._check_keys(node)
        return node

    def _alias(self, event: Event) -> Node:
        name, line = event.anchor or "", self._line(event)
        found = self._anchors.get(name)
        if found is None:
            inside = name in self._anchors
            what = (
                f"`*{name}` stands inside what it points to"
                if inside
                else f"`*{name}` points to nothing"
            )
            self._note(line, what, "write the value out")
            found = Node("scalar", "", (), "", "", "", line, 0, 0)
        return Node(
            "alias", name, (found,), "", "", "", line, self._shift + event.start_mark.index,
            self._shift + event.end_mark.index, found.size, found.height,
        )  # fmt: skip

    def _anchor(self, event: Event, node: Node | None) -> None:
        name = event.anchor or ""
        if name in self._anchors:
            self._note(self._line(event), f"the anchor `&{name}` is set twice", "rename one")
        self._anchors[name] = node

    def _check_keys(self, mapping: Node) -> None:
        first: dict[str, int] = {}
        for key, _ in mapping.pairs():
            text = key_text(key)
            if is_merge(key):
                what = "a merge key (`<<`), which can hide what it brings along"
                self._note(key.line, what, "write the keys out")
            elif text is None:
                self._note(key.line, "a key that is a list or a mapping", "write a text")
            elif text in first:
                what = f"the key `{_short(text)}` is written twice, first on line {first[text]}"
                self._note(key.line, what, "keep one of them")
            else:
                first[text] = key.line
                if not isinstance(plain(key, instants=False), str):
                    self._note(key.line, f"the key `{_short(text)}` is not text", "quote it")

    def _tag(self, node: Node) -> None:
        what = f"a tag (`{_short(node.tag.removeprefix('tag:yaml.org,2002:'))}`)"
        self._note(node.line, what, "take it out; put the value in quotes if it is text")

    def _line(self, event: Event) -> int:
        return int(self._first_line + event.start_mark.line)

    def _note(self, line: int, what: str, do: str) -> None:
        self._problems.append(Problem(self._file, line, what, do))

    def _too_much(self, line: int, what: str) -> NoReturn:
        self._note(line, what, "write less, or write it flatter")
        raise TooMuch


def _short(text: str) -> str:
    return text if len(text) <= _SHORT else text[: _SHORT - 3] + "…"
