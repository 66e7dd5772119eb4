"""Claims as files: one key a line, machine-owned, and legal to edit by hand."""

import re

from orgvault.domain.claim import Claim
from orgvault.domain.format_version import newer_format
from orgvault.domain.ids import INSTANT
from orgvault.domain.problem import Problem
from orgvault.domain.record import described
from orgvault.domain.yaml_node import Node
from orgvault.domain.yaml_record import read_document
from orgvault.domain.yaml_scalars import quoted, written
from orgvault.domain.yaml_tree import compose

FORMAT = 1
# Free text, and the seal, whose digits another reader could take for a number.
_QUOTED = frozenset({"text", "reason", "seal"})
_KEPT_EMPTY = frozenset({"proposal"})
_GROWING = frozenset({"evidence", "proposed_evidence"})
_CLOSING = ("closed_at", "closed_by", "reason", "superseded_by")


def read_claim(text: str, file: str) -> tuple[Claim | None, tuple[Problem, ...]]:
    """The claim in a file's text, or None and every problem with its line.

    Strict: an unknown key, a conflict marker or a second document is a problem, so that a
    claim is never read by halves.
    """
    document = compose(text, file, instants=True)
    if newer := newer_format(document.value, FORMAT, file, document.line_of(("version",))):
        return None, newer
    return read_document(Claim, document)


def write_claim(claim: Claim) -> str:
    """The text of a claim's file; the same claim gives the same bytes."""
    return "".join(_lines(claim, [one.name for one, _ in described(Claim)]))


def close_claim_text(text: str, closed: Claim) -> str:
    """The text of a claim's file with the keys of its closing added at the end.

    Every line of `text` stays as it is, however it was edited by hand.  Only where that does
    not read as `closed` (another of its values changed too, or the file is written in a style
    that nothing can be added to) is it written anew.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if text.endswith("\n") else end
    added = [line.replace("\n", end) for line in _lines(closed, _CLOSING)]
    appended = "".join([text, gap, *added])
    return appended if read_claim(appended, "")[0] == closed else write_claim(closed)


def updated_claim_text(text: str, claim: Claim) -> str:
    """The text of a claim's file with the values of `claim`, and every other byte as it was.

    Only the values that changed are written, in their places: comments, the order of the keys
    and folded texts stay.  Where that does not read as `claim` (a mapping in braces, say) the
    file is written anew.
    """
    document = compose(text, "", instants=True)
    old, root = read_claim(text, "")[0], document.root
    if old is None or root is None or root.style == "flow":
        return write_claim(claim)
    missing: list[str] = []
    pieces: list[_Splice] = []
    for name in _changed(old, claim):
        node = document.node((name,))
        if node is None:
            missing.append(name)
        elif _extendable(node, name):
            pieces += _items(text, node, getattr(old, name), getattr(claim, name))
        else:
            written_out = _value(name, getattr(claim, name))
            space = " " if node.start == node.end else ""  # `key:` without a value
            pieces.append((node.start, _end(node), space + written_out))
    for start, end, new in sorted(pieces, reverse=True):
        text = text[:start] + new + text[end:]
    line_end = "\r\n" if "\r\n" in text else "\n"
    added = [line.replace("\n", line_end) for line in _lines(claim, missing)]
    gap = line_end if added and not text.endswith("\n") else ""
    updated = "".join([text, gap, *added])
    return updated if read_claim(updated, "")[0] == claim else write_claim(claim)


# From, to (character offsets), and what stands there instead.
_Splice = tuple[int, int, str]


def _changed(old: Claim, new: Claim) -> list[str]:
    names = [one.name for one, _ in described(Claim)]
    return [name for name in names if getattr(old, name) != getattr(new, name)]


def _end(node: Node) -> int:
    """Where a value ends; libyaml ends a list in block style at whatever follows it."""
    return _end(node.children[-1]) if node.style == "block" and node.children else node.end


def _extendable(node: Node, name: str) -> bool:
    return node.kind == "list" and bool(node.children) and name in _GROWING


def _items(text: str, node: Node, old: tuple[str, ...], new: tuple[str, ...]) -> list[_Splice]:
    """A list whose first items go and which new ones end, each of the others as it is written."""
    gone = next((n for n in range(len(old)) if old[n:] == new[: len(old) - n]), len(old))
    last = node.children[-1]
    added = [written(item) for item in new[len(old) - gone :]]
    if gone == len(old):  # nothing stays
        return [(node.start, _end(node), f"[{', '.join(map(written, new))}]")]
    first, kept = node.children[0], node.children[gone]
    pieces = [(first.start, kept.start, "")] if gone else []
    if node.style == "flow":
        return [*pieces, (last.end, last.end, "".join(f", {item}" for item in added))]
    line = text.rfind("\n", 0, last.start) + 1
    end = text.find("\n", last.end)
    end = len(text) if end < 0 else end
    end -= text[last.end : end].endswith("\r")
    line_end = "\r\n" if "\r\n" in text else "\n"
    lead = text[line : last.start]
    return [*pieces, (end, end, "".join(f"{line_end}{lead}{item}" for item in added))]


def _lines(claim: Claim, names: list[str] | tuple[str, ...]) -> list[str]:
    values = [(name, getattr(claim, name)) for name in names]
    return [
        f"{name}: {_value(name, value)}\n"
        for name, value in values
        if value is not None or name in _KEPT_EMPTY
    ]


def _value(name: str, value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple):
        return f"[{', '.join(written(item) for item in value)}]"
    text = str(value)
    if name in _QUOTED:
        return quoted(text)
    return text if re.fullmatch(INSTANT, text) else written(text)
