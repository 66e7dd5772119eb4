"""Collections and their records as files: YAML beside each other, or one note for each record.

Unquoted days (`2026-12-31`) are read in columns of dates, since Obsidian writes them so.
"""

from collections.abc import Collection as Some
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches

from orgvault.domain.collection import (
    OWN,
    Collection,
    Column,
    Record,
    Scalar,
    broken_rules,
    strangers,
)
from orgvault.domain.collection_values import faults, in_order
from orgvault.domain.format_version import newer_format
from orgvault.domain.frontmatter import FRONTMATTER
from orgvault.domain.ids import INSTANT, RECORD_ID
from orgvault.domain.instants import normal
from orgvault.domain.problem import Problem
from orgvault.domain.record import says
from orgvault.domain.yaml_node import is_trap, key_text
from orgvault.domain.yaml_record import problems_of, read_document
from orgvault.domain.yaml_scalars import quoted, trap, written
from orgvault.domain.yaml_tree import Document, compose
from orgvault.values import dataclass

FORMAT = 1
_FIRST_LINE = 2  # of the keys of a note, below the opening `---`
_NEAR = 0.8  # a key of a note so like a column's name is a slip; others are the person's own
_A_DAY = "a date"


@dataclass(frozen=True, kw_only=True)
class Head:
    """What a record says of itself beside its values."""

    version: int = says("Format version of the file.", default=1, minimum=1, maximum=1)
    collection: str | None = says("Of a note: its collection.", default=None)
    id: str = says("The record's id; the file is named after it.", pattern=RECORD_ID)
    created: str = says("When it was made (UTC).", pattern=INSTANT, normal=normal)
    updated: str = says("When it was last changed (UTC).", pattern=INSTANT, normal=normal)


def read_collection(
    text: str, file: str, pages: str, agents: Some[str] | None = None
) -> tuple[Collection | None, tuple[Problem, ...]]:
    """The collection in a file's text, or None and every problem with its line.

    With `agents`, grants to others are problems too, but keep no collection from being read.
    """
    document = compose(text, file)
    if newer := newer_format(document.value, FORMAT, file, document.line_of(("version",))):
        return None, newer
    shape, problems = read_document(Collection, document)
    if shape is None:
        return None, problems
    if broken := broken_rules(shape, pages):
        return None, tuple(sorted(problems_of(Collection, broken, document)))
    foreign = strangers(shape, agents) if agents is not None else []
    return shape, tuple(sorted(problems_of(Collection, foreign, document)))


def write_collection(shape: Collection) -> str:
    """The text of a new collection.yaml, which from then on is the owner's to edit."""
    access = ", ".join(f"{written(agent)}: {may}" for agent, may in shape.access.items())
    lines = [
        f"version: {shape.version}",
        f"name: {written(shape.name)}",
        f"purpose: {quoted(shape.purpose)}",
        f"scope: {shape.scope}",
        f"access: {{{access}}}",
        f"store: {shape.store}",
        *([f"folder: {quoted(shape.folder)}"] if shape.folder is not None else []),
        "columns:",
        *(f"  - {{{_column(one)}}}" for one in shape.columns),
        *([f"queue: {written(shape.queue)}"] if shape.queue is not None else []),
    ]
    return "".join(f"{line}\n" for line in lines)


def read_record(
    text: str, file: str, shape: Collection
) -> tuple[Record | None, tuple[Problem, ...]]:
    """The record in the text of a `records/<id>.yaml`, or None and every problem with its line."""
    document = compose(text, file, instants=True)
    value = document.value if isinstance(document.value, dict) else {}
    if newer := newer_format(value, FORMAT, file, document.line_of(("version",))):
        return None, newer
    values = value.get("values")
    if document.root is not None and not isinstance(values, dict):
        what = "the key `values` is missing, or holds no `column: value` lines"
        problem = Problem(file, document.line_of(("values",)), what, "restore the file from git")
        return None, tuple(sorted({*document.problems, problem}))
    given = _given(values) if isinstance(values, dict) else {}
    head = {key: one for key, one in value.items() if key != "values"}
    return _record(document, head, given, shape, ("values",))


def read_note(text: str, file: str, shape: Collection) -> tuple[Record | None, tuple[Problem, ...]]:
    """The record in a note's frontmatter, or None and every problem with its line.

    Keys that are no columns are the person's own, unless they look like a slip.
    """
    match = FRONTMATTER.match(text)
    if match is None:
        what = "no frontmatter (keys between two lines `---` at the top)"
        return None, (Problem(file, 1, what, "restore it from git, or remove the note"),)
    document = compose(match["keys"], file, instants=True, first_line=_FIRST_LINE)
    value = document.value if isinstance(document.value, dict) else {}
    if newer := newer_format(value, FORMAT, file, document.line_of(("version",))):
        return None, newer
    if document.root is not None and value.get("collection") != shape.name:
        what = f"it is no record of {shape.name}: its key `collection` does not say so"
        do = f"write `collection: {shape.name}`"
        return None, (Problem(file, document.line_of(("collection",)), what, do),)
    document = _without_theirs(document, shape)
    head = {key: one for key, one in value.items() if key in OWN}
    given = {
        key: one
        for key, one in _given(value).items()
        if key not in OWN and (shape.column(key) is not None or _is_slip(key, value, shape))
    }
    return _record(document, head, given, shape, ())


def write_record(record: Record, shape: Collection) -> str:
    """The text of a `records/<id>.yaml`; the same record gives the same bytes."""
    values = in_order(shape, record.values)
    lines = [
        f"version: {FORMAT}",
        f"id: {record.id}",
        f"created: {quoted(record.created)}",
        f"updated: {quoted(record.updated)}",
        "values:" if values else "values: {}",
        *(f"  {written(name)}: {_value(value)}" for name, value in values.items()),
    ]
    return "".join(f"{line}\n" for line in lines)


def write_note(record: Record, shape: Collection, body: str = "") -> str:
    """The text of a record's note: flat frontmatter, as Obsidian's tables want it, and a body."""
    days = {one.name for one in shape.columns if one.type == "date"}
    lines = [
        "---",
        f"version: {FORMAT}",
        f"collection: {written(record.collection)}",
        f"id: {record.id}",
        f"created: {record.created}",
        f"updated: {record.updated}",
        *(
            f"{written(name)}: {value if name in days else _value(value)}"
            for name, value in in_order(shape, record.values).items()
        ),
        "---",
    ]
    return "".join([*(f"{line}\n" for line in lines), body])


def _record(
    document: Document, head: object, values: Mapping[str, object], shape: Collection,
    above: tuple[str, ...],
) -> tuple[Record | None, tuple[Problem, ...]]:  # fmt: skip
    """The record of a document whose values stand below the path `above`."""
    days = _bare_days(document, shape, above)
    kept = tuple(one for one in document.problems if one.line not in days)
    found, problems = read_document(Head, replace(document, problems=kept), head)
    wrong = [
        Problem(
            document.file,
            document.line_of((*above, *one.path), at_key=one.at_key),
            one.what if one.at_key or not one.path else f"{one.path[0]}: {one.what}",
            one.do,
        )
        for one in faults(shape, values)
        if document.root is not None and not (one.path and _said(document, (*above, *one.path)))
    ]
    if found is None or wrong:
        return None, tuple(sorted({*problems, *wrong}))
    known = {name: one for name, one in values.items() if isinstance(one, str | int | float)}
    return Record(
        collection=shape.name, id=found.id, created=found.created, updated=found.updated,
        values=in_order(shape, known),
    ), ()  # fmt: skip


def _said(document: Document, path: tuple[str | int, ...]) -> bool:
    """Whether the document's own problems name the value already: an unquoted `no`, say."""
    node = document.node(path)
    return document.is_trap(path) and node is not None and trap(node.value) != _A_DAY


def _given(values: Mapping[str, object]) -> dict[str, object]:
    """The values that are there: Obsidian leaves keys without a value behind."""
    return {key: one for key, one in values.items() if one is not None}


def _bare_days(document: Document, shape: Collection, above: tuple[str, ...]) -> set[int]:
    """The lines on which a column of dates holds an unquoted day."""
    nodes = [document.node((*above, one.name)) for one in shape.columns if one.type == "date"]
    return {
        one.line
        for one in nodes
        if one is not None and is_trap(one, instants=True) and trap(one.value) == _A_DAY
    }


def _without_theirs(document: Document, shape: Collection) -> Document:
    """The document without what is wrong in keys that are the person's own."""
    ours = {*OWN, *(one.name for one in shape.columns)}
    keys = document.root.pairs() if document.root and document.root.kind == "mapping" else ()
    begins = [(key.line, key_text(key) in ours) for key, _ in keys]

    def is_ours(line: int) -> bool:
        return next((mine for first, mine in reversed(begins) if first <= line), True)

    kept = tuple(one for one in document.problems if is_ours(one.line))
    return replace(document, problems=kept)


def _is_slip(key: str, value: Mapping[str, object], shape: Collection) -> bool:
    missing = [one.name for one in shape.columns if value.get(one.name) is None]
    return bool(get_close_matches(key, missing, n=1, cutoff=_NEAR))


def _column(column: Column) -> str:
    told = [f"name: {written(column.name)}", f"type: {column.type}"]
    if column.required:
        told.append("required: true")
    if column.choices:
        told.append(f"choices: [{', '.join(map(written, column.choices))}]")
    if column.description:
        told.append(f"description: {quoted(column.description)}")
    return ", ".join(told)


def _value(value: Scalar) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return written(value) if isinstance(value, str) else str(value)
