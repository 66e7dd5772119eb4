"""YAML as a tree whose every value knows its place; what is wrong is a list, never an exception.

ruamel's C parser (libyaml) reads the text into events; from them we build the tree ourselves, so
that every reader of a vault has the one dialect of `yaml_scalars`, and nesting and aliases are
bounded.  What people trip over is reported, never coerced: keys written twice or that are not
text, traps, merge keys, tags, directives, several documents, git's conflict markers.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from orgvault.domain.problem import Problem
from orgvault.domain.yaml_scalars import scalar, trap

if TYPE_CHECKING:
    from ruamel.yaml.error import MarkedYAMLError

CHARACTERS_MAX = 1_000_000
DEPTH_MAX = 100
VALUES_MAX = 100_000


class Node(NamedTuple):
    """One node of the tree as it is written.

    `kind` is `scalar`, `list`, `mapping` or `alias`.  `value` is a scalar's text with escapes
    and folds resolved, or the name that an alias points to; `children` the items of a list,
    the keys and values of a mapping by turns, or the one node that an alias stands for.
    `tag` and `anchor` are empty where none is written.  `style` is a scalar's quote (`"`,
    `'`, `|`, `>`, or empty for none) and `flow` or `block` of a collection.  `line` counts
    from 1; `start` and `end` are character offsets into the text, anchor and tag included.
    `size` and `height` count all the values below, aliases written out.
    """

    kind: str
    value: str
    children: tuple["Node", ...]
    tag: str
    anchor: str
    style: str
    line: int
    start: int
    end: int
    size: int = 1
    height: int = 1

    def pairs(self) -> Iterator[tuple["Node", "Node"]]:
        """The keys and values of a mapping, in written order."""
        return zip(self.children[::2], self.children[1::2], strict=True)


@dataclass(frozen=True)
class Document:
    """A YAML text, read: its plain value, its tree, and what is wrong with it.

    `root` is None, and so is `value`, when the text cannot be parsed as one tree.  With
    problems and a root, `value` is still there so that further rules can report theirs: a
    trap stands in it as its text, a key written twice with its first value, a key that is not
    text under its text.  `instants` is how the text was read.
    """

    file: str
    value: Any
    root: Node | None
    problems: tuple[Problem, ...]
    instants: bool = False

    def node(self, path: Sequence[str | int]) -> Node | None:
        """The node at a path of keys and indexes (aliases followed), or None."""
        found = list(self._along(path))
        return found[-1][1] if len(found) == len(path) + 1 else None

    def line_of(self, path: Sequence[str | int], *, at_key: bool = False) -> int:
        """The line (from 1) of the value at a path, or of its key.

        Of a block that starts below its key, the key's line; of a path that is not there,
        the line of its nearest ancestor that is.  0 when there is no tree.
        """
        line = 0
        for key, value in self._along(path):
            below = value.kind in {"list", "mapping"} and value.style == "block"
            line = key.line if at_key or below else value.line
        return line

    def is_trap(self, path: Sequence[str | int]) -> bool:
        """Whether the value at a path is a trap, which `problems` has already."""
        node = self.node(path)
        return node is not None and _is_trap(node, instants=self.instants)

    def _along(self, path: Sequence[str | int]) -> Iterator[tuple[Node, Node]]:
        """(key, value) from the root down the path as far as it goes."""
        if self.root is None:
            return
        here = self.root
        yield here, here
        for step in path:
            here = _target(here)
            pair = _child(here, step)
            if pair is None:
                return
            yield pair
            here = pair[1]


def compose(text: str, file: str, *, instants: bool = False, first_line: int = 1) -> Document:
    """Read one YAML document; every text at all gives a Document.

    `file` is the name that the problems carry, `first_line` the line of `file` on which the
    text starts.  With `instants`, unquoted points in time are plain text rather than traps.
    """
    problems: list[Problem] = []
    root = None
    if len(text) > CHARACTERS_MAX:
        what = f"{len(text):,} characters, at most {CHARACTERS_MAX:,} are read"
        problems.append(Problem(file, 0, what, "take out what does not belong here"))
    elif not (problems := _conflicts(text, file, first_line)):
        root, problems = _tree(text, file, instants, first_line)
    value = _plain(root, instants=instants) if root is not None else None
    return Document(file, value, root, tuple(sorted(set(problems))), instants)


# At the start of a line, as git writes them: `|||||||` is there with merge.conflictStyle=diff3.
_CONFLICT = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: |\r?$)|^={7}\r?$", re.MULTILINE)
_UNREADABLE = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def _conflicts(text: str, file: str, first_line: int) -> list[Problem]:
    marks = list(_CONFLICT.finditer(text))
    starts = [mark for mark in marks if mark[0].startswith("<")] or marks
    return [
        Problem(
            file,
            first_line + text.count("\n", 0, mark.start()),
            f"a conflict marker of git (`{mark[0].strip()}`)",
            "resolve the merge, then take the markers out",
        )
        for mark in starts
    ]


def _tree(
    text: str, file: str, instants: bool, first_line: int
) -> tuple[Node | None, list[Problem]]:
    from ruamel.yaml.cyaml import CParser  # absent without the C parser: then loudly so
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    mark_bytes = text[:1] == "\ufeff"
    body, found = _readable(text[mark_bytes:], file, first_line)
    tree = _Tree(file, instants, first_line, int(mark_bytes), found)
    try:
        return tree.build(CParser(body)), found
    except MarkedYAMLError as error:
        found.append(_syntax(error, file, first_line))
    except YAMLError as error:
        found.append(Problem(file, 0, f"not readable as YAML ({' '.join(str(error).split())})"))
    return None, found


def _readable(text: str, file: str, first_line: int) -> tuple[str, list[Problem]]:
    """The text with one placeholder for each character that YAML forbids, and the problems.

    Also for U+0085, U+2028 and U+2029: libyaml ends a line there and YAML 1.2 does not, so
    two readers would see two different files.
    """
    found = []
    for match in _UNREADABLE.finditer(text):
        what = f"a character that YAML does not allow (U+{ord(match[0]):04X})"
        line = first_line + text.count("\n", 0, match.start())
        found.append(Problem(file, line, what, "take it out"))
        if len(found) == _SHOWN_MAX:
            break
    return (_UNREADABLE.sub("\ufffd", text) if found else text), found


_SHOWN_MAX = 20
_SAID: dict[str, tuple[str, str]] = {
    "found character '\\t' that cannot start any token": (
        "a tab where YAML allows none",
        "indent with spaces",
    ),
    "mapping values are not allowed in this context": (
        "a `: ` inside an unquoted text, or a line with wrong indentation",
        "put the text in quotes, or line it up with its neighbours",
    ),
    "could not find expected ':'": ("a key without `:`", "write `key: value`"),
    "did not find expected key": (
        "no key where one is expected",
        "line it up with its neighbours, and put texts with special characters in quotes",
    ),
    "found unexpected end of stream": ("a quote that is never closed", "close it"),
}


def _syntax(error: "MarkedYAMLError", file: str, first_line: int) -> Problem:
    mark = error.problem_mark or error.context_mark
    line = first_line + mark.line if mark is not None else 0
    said = error.problem or error.context or "it cannot be parsed"
    what, do = _SAID.get(said, (f"not readable as YAML ({said})", "mend the line, or those above"))
    if said == "found unexpected end of stream" and error.context_mark is not None:
        line = first_line + error.context_mark.line
    return Problem(file, line, what, do)


def _target(node: Node) -> Node:
    return node.children[0] if node.kind == "alias" else node


def _child(node: Node, step: str | int) -> tuple[Node, Node] | None:
    if isinstance(step, int):
        if node.kind != "list" or not 0 <= step < len(node.children):
            return None
        return node.children[step], node.children[step]
    if node.kind != "mapping":
        return None
    return next((pair for pair in node.pairs() if _key_text(pair[0]) == step), None)


def _key_text(key: Node) -> str | None:
    """The text of a key as the plain value has it; None for one that cannot be a key."""
    key = _target(key)
    return key.value if key.kind == "scalar" and not _is_merge(key) else None


def _is_merge(key: Node) -> bool:
    return key.kind == "scalar" and key.value == "<<" and not key.style and not key.tag


def _is_trap(node: Node, *, instants: bool) -> bool:
    unquoted = node.kind == "scalar" and not node.style and not node.tag
    return unquoted and bool(trap(node.value, instants=instants))


def _plain(node: Node, *, instants: bool) -> Any:
    """The dicts, lists and scalars of a tree; its height is bounded, so recursion is."""
    if node.kind == "scalar":
        plain = not node.style and not node.tag
        return scalar(node.value, instants=instants) if plain else node.value
    if node.kind == "list":
        return [_plain(item, instants=instants) for item in node.children]
    if node.kind == "alias":
        return _plain(node.children[0], instants=instants)
    found: dict[str, Any] = {}
    for key, value in node.pairs():
        text = _key_text(key)
        if text is not None and text not in found:
            found[text] = _plain(value, instants=instants)
    return found
