"""Proposals as files: one key a line, machine-owned, each value of an edit on lines of its own."""

import re
from collections.abc import Iterator

from orgvault.domain.format_version import newer_format
from orgvault.domain.ids import INSTANT
from orgvault.domain.problem import Problem
from orgvault.domain.proposal import Edit, Proposal
from orgvault.domain.record import described
from orgvault.domain.yaml_record import read_document
from orgvault.domain.yaml_scalars import quoted, written
from orgvault.domain.yaml_tree import compose

FORMAT = 1
# Hashes too: digits alone would be a number to another reader.
_QUOTED = frozenset({"path", "base", "base_blob", "diff_sha256", "shipped_commit"})


def read_proposal(text: str, file: str) -> tuple[Proposal | None, tuple[Problem, ...]]:
    """The proposal in a file's text, or None and every problem with its line."""
    document = compose(text, file, instants=True)
    if newer := newer_format(document.value, FORMAT, file, document.line_of(("version",))):
        return None, newer
    return read_document(Proposal, document)


def write_proposal(proposal: Proposal) -> str:
    """The text of a proposal's file; the same proposal gives the same bytes.

    A key without a value is left out.
    """
    lines: list[str] = []
    for one, _ in described(Proposal):
        value = getattr(proposal, one.name)
        if one.name == "edits":
            lines += ["edits:", *(line for edit in value for line in _edit(edit))]
        elif isinstance(value, tuple):
            lines.append(f"{one.name}: [{', '.join(map(written, value))}]")
        elif value is not None:
            lines.append(f"{one.name}: {_scalar(one.name, value)}")
    return "".join(f"{line}\n" for line in lines)


def _edit(edit: Edit) -> Iterator[str]:
    yield f"  - key: {written(edit.key)}"
    for name, texts in (("before", edit.before), ("after", edit.after)):
        if texts:
            yield f"    {name}:"
            yield from (f"      - {quoted(text)}" for text in texts)
        else:
            yield f"    {name}: {'null' if texts is None else '[]'}"


def _scalar(name: str, value: object) -> str:
    if isinstance(value, int):
        return str(value)
    text = str(value)
    if name in _QUOTED:
        return quoted(text)
    return text if re.fullmatch(INSTANT, text) else written(text)
