"""Cards as notes: flat frontmatter that a person may rearrange, and a body that is theirs.

Keys of the person's own are kept and not looked at.
"""

import re
from dataclasses import replace

from orgvault.domain.card import Card
from orgvault.domain.format_version import newer_format
from orgvault.domain.frontmatter import FRONTMATTER
from orgvault.domain.ids import INSTANT
from orgvault.domain.problem import Problem
from orgvault.domain.record import described, plain
from orgvault.domain.yaml_node import Node, key_text
from orgvault.domain.yaml_record import read_document
from orgvault.domain.yaml_scalars import quoted, written
from orgvault.domain.yaml_tree import Document, compose

FORMAT = 1
_NO_STATUS = "no status in the frontmatter"
_FIRST_LINE = 2  # of the keys, below the opening `---`
_OURS = frozenset(one.name for one, _ in described(Card))


def read_card(text: str, file: str) -> tuple[Card | None, tuple[Problem, ...]]:
    """The card in a note's text, or None and every problem with its line.

    A key without a value counts as absent: Obsidian leaves such keys behind.
    """
    found = _frontmatter(text, file)
    if isinstance(found, Problem):
        return None, (found,)
    document, _ = found
    value = document.value if isinstance(document.value, dict) else {}
    if newer := newer_format(value, FORMAT, file, document.line_of(("version",))):
        return None, newer
    ours = {key: one for key, one in value.items() if key in _OURS and one is not None}
    return read_document(Card, document, ours)


def card_body(text: str) -> str:
    """What stands below the frontmatter; all of it when there is none."""
    match = FRONTMATTER.match(text)
    return text[match.end() :] if match else text


def write_card(card: Card, body: str) -> str:
    """The text of a note with this frontmatter and body; keys without a value are left out."""
    lines = [
        f"{name}: {_value(name, value)}\n"
        for name, value in plain(card).items()
        if value is not None
    ]
    return "".join(["---\n", *lines, "---\n", body])


def with_status(text: str, status: str) -> str:
    """The note's text with another status and every other byte as it was.

    ValueError when `read_card` finds no status in it.
    """
    found = _frontmatter(text, "")
    if isinstance(found, Problem) or (node := found[0].node(("status",))) is None:
        raise ValueError(_NO_STATUS)
    start, end = found[1] + node.start, found[1] + node.end
    if node.kind != "scalar" or node.style in {"|", ">"}:
        raise ValueError(_NO_STATUS)
    space = " " if start == end else ""  # `status:` without a value
    return "".join([text[:start], space, written(status), text[end:]])


def closed(text: str, reason: str) -> str:
    """The note's text with the status `closed` and the reason, every other byte as it was.

    ValueError when that cannot be written into the note without disturbing it.
    """
    marked = with_status(text, "closed")
    found = _frontmatter(marked, "")
    if isinstance(found, Problem) or (status := found[0].node(("status",))) is None:
        raise ValueError(_NO_STATUS)
    document, first = found
    if (node := document.node(("reason",))) is not None:
        start, end = first + node.start, first + node.end
        new = "".join([marked[:start], " " * (start == end), quoted(reason), marked[end:]])
    else:
        below = marked.index("\n", first + status.end) + 1
        line_end = "\r\n" if marked[:below].endswith("\r\n") else "\n"
        new = "".join([marked[:below], f"reason: {quoted(reason)}{line_end}", marked[below:]])
    read, _ = read_card(new, "")
    if read is None or (read.status, read.reason) != ("closed", reason):
        raise ValueError(_NO_STATUS)
    return new


def _frontmatter(text: str, file: str) -> tuple[Document, int] | Problem:
    """The frontmatter with what is wrong in keys of ours, and where in the text it starts."""
    match = FRONTMATTER.match(text)
    if match is None:
        what = "no frontmatter (keys between two lines `---` at the top)"
        return Problem(file, 1, what, "restore it from git, or file the card anew")
    document = compose(match["keys"], file, instants=True, first_line=_FIRST_LINE)
    kept = tuple(one for one in document.problems if not _in_theirs(document.root, one.line))
    return replace(document, problems=kept), match.start("keys")


def _in_theirs(root: Node | None, line: int) -> bool:
    """Whether a line belongs to a key that is the person's own."""
    if root is None or root.kind != "mapping":
        return False
    above = [key for key, _ in root.pairs() if key.line <= line]
    return bool(above) and key_text(above[-1]) not in _OURS


def _value(name: str, value: object) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(quoted, value))}]"
    text = str(value)
    if name in {"title", "reason"}:
        return quoted(text)
    return text if re.fullmatch(INSTANT, text) else written(text)
