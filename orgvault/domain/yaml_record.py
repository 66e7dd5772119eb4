"""A record read from YAML: every violation with its line, its key, the limit and a remedy."""

from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin

from orgvault.domain.forms import dotted, in_words
from orgvault.domain.problem import Problem
from orgvault.domain.record import Path, Says, Violation, described, read
from orgvault.domain.yaml_tree import Document

T = TypeVar("T")


def read_document(
    record: type[T], document: Document, value: object = None
) -> tuple[T | None, tuple[Problem, ...]]:
    """Read a document (or the part of its `value` that counts) as a record.

    The record and no problems, or None and every problem of the document and the record.
    """
    if document.root is None:
        empty = Problem(document.file, 0, "the file is empty", "write its keys, or restore it")
        return None, document.problems or (empty,)
    found, violations = read(record, document.value if value is None else value)
    problems = {*document.problems, *problems_of(record, violations, document)}
    return (None, tuple(sorted(problems))) if problems else (found, ())


def problems_of(
    record: type[Any], violations: list[Violation], document: Document
) -> list[Problem]:
    """Violations of a record with their lines; what the document reports already is left out."""
    return [
        Problem(
            document.file,
            document.line_of(one.path, at_key=one.at_key),
            f"{where}: {what}" if (where := dotted(one.path)) else what,
            do,
        )
        for one in violations
        if one.at_key or not document.is_trap(one.path)
        for what, do in [_words(one, about(record, one.path), document)]
    ]


def about(record: type[Any], path: Path) -> Says | None:
    """What the description says of the value at a path; None where there is no description."""
    kind: Any = record
    found: Says | None = None
    for step in path:
        if is_dataclass(kind) and isinstance(kind, type):
            fields = {one.name: (one.type, says) for one, says in described(kind)}
            if step not in fields:
                return None
            kind, found = fields[str(step)]
        else:
            kind = get_args(kind)[-1] if get_origin(kind) is dict else get_args(kind)[0]
        if get_origin(kind) is UnionType:
            kind = next(one for one in get_args(kind) if one is not NoneType)
    return found


def _words(one: Violation, says: Says | None, document: Document) -> tuple[str, str]:
    what, do = in_words(one.what), one.do
    if do or says is None:
        return what, do
    if what.startswith("expected text, found a "):
        return what, "write one text"
    node = document.node(one.path)
    if what.startswith("expected text, found nothing"):
        return what, "write a text, in quotes if need be, or take the key out"
    if what.startswith("expected text") and node is not None and node.kind == "scalar":
        return f"expected text, found {node.value}", f'quote it ("{node.value}")'
    for start, remedy in _REMEDIES.items():
        if what.startswith(start):
            return what, remedy
    return what, _limits(one, says, node.value if node is not None else "")


_REMEDIES = {
    "expected a list": "write it as [one, two], or one `- ` line for each",
    "expected a mapping": "write `key: value` lines below it",
    "expected true or false": "write true or false",
    "expected a whole number": "write a whole number, without quotes",
    "expected a number": "write a number, without quotes",
}


def _limits(one: Violation, says: Says, given: str) -> str:
    if says.choices:
        from difflib import get_close_matches

        near = get_close_matches(given, says.choices, n=1)
        return f"did you mean `{near[0]}`?" if near else f"write {' or '.join(says.choices)}"
    if says.minimum is not None and says.maximum is not None:
        return f"write a number from {says.minimum:g} to {says.maximum:g}"
    if says.minimum is not None:
        return f"write {says.minimum:g} or more"
    if says.maximum is not None:
        return f"write {says.maximum:g} or less"
    if "characters, at most" in one.what:
        return "shorten it"
    return f"what belongs there: {says.text}"
