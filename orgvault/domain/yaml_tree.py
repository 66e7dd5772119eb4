"""YAML as a tree whose every value knows its place; what is wrong is a list, never an exception.

ruamel's C parser (libyaml) reads the text into events; from them we build the tree ourselves, so
that every reader of a vault has the one dialect of `yaml_scalars`, and nesting and aliases are
bounded.  What people trip over is reported, never coerced: keys written twice or that are not
text, traps, merge keys, tags, directives, several documents, git's conflict markers.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from orgvault.domain.forms import dotted
from orgvault.domain.problem import Problem
from orgvault.domain.yaml_builder import Builder, TooMuch
from orgvault.domain.yaml_node import Node, child, is_trap, plain, target, traps
from orgvault.domain.yaml_scalars import SWITCH, trap
from orgvault.values import dataclass

if TYPE_CHECKING:
    from ruamel.yaml.error import MarkedYAMLError

CHARACTERS_MAX = 1_000_000


@dataclass(frozen=True)
class Document:
    """A YAML text, read: its plain value, its tree, and what is wrong with it.

    `root` is None, and so is `value`, when the text cannot be parsed as one tree.  With
    problems and a root, `value` is still there so that further rules can report theirs: a
    trap stands in it as its text, a key written twice with its first value, a key that is not
    text under its text.  `instants` is how the text was read.
    """

    file: str
    value: object
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
        return node is not None and is_trap(node, instants=self.instants)

    def _along(self, path: Sequence[str | int]) -> Iterator[tuple[Node, Node]]:
        """(key, value) from the root down the path as far as it goes."""
        if self.root is None:
            return
        here = self.root
        yield here, here
        for step in path:
            here = target(here)
            pair = child(here, step)
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
        root, problems = _tree(text, file, first_line, instants=instants)
    value = plain(root, instants=instants) if root is not None else None
    return Document(file, value, root, tuple(sorted(set(problems))), instants)


# At the start of a line, as git writes them: `|||||||` is there with merge.conflictStyle=diff3.
_CONFLICT = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: |\r?$)|^={7}\r?$", re.MULTILINE)
_UNREADABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffd-\uffff]"
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
    text: str, file: str, first_line: int, *, instants: bool
) -> tuple[Node | None, list[Problem]]:
    # Fails where the C parser is not installed: seven times slower is not an answer.
    from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]
    from ruamel.yaml.error import MarkedYAMLError

    has_bom = text[:1] == "\ufeff"
    body, found = _readable(text[has_bom:], file, first_line)
    tree = Builder(file, found, first_line, int(has_bom), instants=instants)
    root = None
    try:
        root = tree.build(CParser(body))
    except TooMuch:
        pass  # found has it
    except MarkedYAMLError as error:  # no other is raised: `_readable` left nothing unreadable
        found.append(_syntax(error, body, file, first_line))
    if root is not None and tree.has_traps:
        found += _traps(root, file, instants=instants)
    return root, found


def _traps(root: Node, file: str, *, instants: bool) -> Iterator[Problem]:
    for node, path in traps(root, instants=instants):
        word, read = node.value[:_WORD_SHOWN], trap(node.value, instants=instants)
        what = f"`{word}` unquoted is {read} to some readers of YAML"
        do = f'quote it ("{word}")' + (", or write true or false" if read == SWITCH else "")
        yield Problem(file, node.line, f"{dotted(path)}: {what}" if path else what, do)


def _readable(text: str, file: str, first_line: int) -> tuple[str, list[Problem]]:
    """The text with one placeholder for each character that YAML forbids, and the problems.

    Also for U+0085, U+2028 and U+2029: libyaml ends a line there and YAML 1.2 does not, so
    two readers would see two different files.  And for U+FFFD: whoever decoded the bytes
    could not read some of them, and what was guessed must not become a setting.
    """
    found = []
    for match in _UNREADABLE.finditer(text):
        what = f"a character that YAML does not allow (U+{ord(match[0]):04X})"
        line, do = first_line + text.count("\n", 0, match.start()), "take it out"
        if match[0] == _LOST:
            what, do = "bytes that are not UTF-8 (U+FFFD stands for them)", "save it as UTF-8"
        found.append(Problem(file, line, what, do))
        if len(found) == _SHOWN_MAX:
            break
    return (_UNREADABLE.sub(_LOST, text) if found else text), found


_SHOWN_MAX = 20
_LOST = "\ufffd"
_WORD_SHOWN = 60
_BAD_START = "found character that cannot start any token"
_UNCLOSED = "found unexpected end of stream"
_SAID: dict[str, tuple[str, str]] = {
    "mapping values are not allowed in this context": (
        "a `: ` inside an unquoted text, or a line with wrong indentation",
        "put the text in quotes, or line it up with its neighbours",
    ),
    "could not find expected ':'": ("a key without `:`", "write `key: value`"),
    "did not find expected key": (
        "no key where one is expected",
        "line it up with its neighbours, and put texts with special characters in quotes",
    ),
    "did not find expected ',' or ']'": ("no `,` or `]` where one is expected", "close the list"),
    "did not find expected ',' or '}'": (
        "no `,` or `}` where one is expected",
        "close the mapping",
    ),
    "found unexpected ':'": (
        "a `:` in an unquoted text inside [ ] or { }",
        "put the text in quotes",
    ),
    _UNCLOSED: ("a quote that is never closed", "close it"),
}


def _syntax(error: "MarkedYAMLError", body: str, file: str, first_line: int) -> Problem:
    mark, context = error.problem_mark or error.context_mark, error.context_mark
    said = error.problem or error.context or "it cannot be parsed"
    what, do = _SAID.get(said, (f"not readable as YAML ({said})", "mend the line, or those above"))
    if said == _UNCLOSED and context is not None:
        mark = context
    elif said == _BAD_START and mark is not None:
        char = body[mark.index : mark.index + 1]
        what, do = f"an unquoted text that begins with `{char}`", "put it in quotes"
        if char == "\t":
            what, do = "a tab where YAML allows none", "indent with spaces"
    line = first_line + mark.line if mark is not None else 0
    if context is not None and context.line < line - first_line:
        what += f" (in what begins on line {first_line + context.line})"
    return Problem(file, line, what, do)
