"""Ledger entries as files: one key a line, machine-owned, a window's keys below its name."""

import re
from collections.abc import Iterator
from dataclasses import is_dataclass

from orgvault.domain.format_version import newer_format
from orgvault.domain.ids import INSTANT
from orgvault.domain.ledger import Entry
from orgvault.domain.problem import Problem
from orgvault.domain.record import described
from orgvault.domain.yaml_record import read_document
from orgvault.domain.yaml_scalars import quoted, written
from orgvault.domain.yaml_tree import compose

FORMAT = 1
# Words of people, and hashes: digits alone would be a number to another reader.
_QUOTED = frozenset(
    {"shipped_commit", "shipped_by", "reverted_commit", "reverted_by_person", "revert_refused"}
)
# What a reader looks for first stands there without a value, too.
_KEPT_EMPTY = frozenset({"after", "verdict", "next_at", "observed", "cost_usd"})


def read_entry(text: str, file: str) -> tuple[Entry | None, tuple[Problem, ...]]:
    """The entry in a file's text, or None and every problem with its line."""
    document = compose(text, file, instants=True)
    if newer := newer_format(document.value, FORMAT, file, document.line_of(("version",))):
        return None, newer
    return read_document(Entry, document)


def write_entry(entry: Entry) -> str:
    """The text of an entry's file; the same entry gives the same bytes."""
    return "".join(f"{line}\n" for line in _lines(entry, ""))


def _lines(record: Entry | object, lead: str) -> Iterator[str]:
    for one, _ in described(type(record)):
        value = getattr(record, one.name)
        if is_dataclass(value):
            yield f"{lead}{one.name}:"
            yield from _lines(value, f"{lead}  ")
        elif isinstance(value, tuple):
            if value:
                yield f"{lead}{one.name}:"
                yield from (f"{lead}  - {quoted(item)}" for item in value)
        elif value is not None or one.name in _KEPT_EMPTY:
            yield f"{lead}{one.name}: {_scalar(one.name, value)}"


def _scalar(name: str, value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    if isinstance(value, int):
        return str(value)
    text = str(value)
    if name in _QUOTED:
        return quoted(text)
    return text if re.fullmatch(INSTANT, text) else written(text)
