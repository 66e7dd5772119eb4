"""Collections and their records: the owner shapes them, people and granted agents fill them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orgvault.domain.access import may_use
from orgvault.domain.collection import Collection, Record, Scalar, broken_rules, strangers
from orgvault.domain.collection_query import STAMPS, Query, matching
from orgvault.domain.collection_values import did_you_mean, faults, in_order, parsed
from orgvault.domain.ids import is_run_id
from orgvault.domain.instants import normal
from orgvault.domain.problem import Problem
from orgvault.domain.record import Violation, read
from orgvault.errors import AlreadySo, BadRunId, BadValue, NotAllowed
from orgvault.services.collection_faults import (
    NoColumn,
    NoPair,
    Twice,
    UnfitCollection,
    UnfitRecord,
    UnknownCollection,
)
from orgvault.services.desk import Desk
from orgvault.store.collections import Collections
from orgvault.values import dataclass

_COLUMN = "NAME:TYPE or NAME:TYPE:required, as in due:date:required"
_CHOICES = "COLUMN=one,two, as in state=asked,listed"
_ACCESS = "AGENT=read or AGENT=write"
_PAIR = "column=value"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A collection as its owner says it: columns, choices and access are words still."""

    name: str
    purpose: str
    columns: Sequence[str]
    choices: Sequence[str] = ()
    access: Sequence[str] = ()
    scope: str = "guild"
    store: str = "files"
    folder: str | None = None
    queue: str | None = None


@dataclass(frozen=True)
class Shaped:
    """A collection with its file.  As JSON: `collection` (as in the file) and `path`."""

    collection: Collection
    path: str


@dataclass(frozen=True)
class Shown:
    """A collection with its file and how many records it has; `display_path` as State has it."""

    collection: Collection
    path: str
    display_path: str
    records: int


@dataclass(frozen=True)
class Added:
    """A new record.  As JSON: `record` (collection, id, created, updated, values) and `path`."""

    record: Record
    path: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """Which records are asked for, in words: `column=value`, an instant, a column's name."""

    where: Sequence[str] = ()
    since: str | None = None
    order: str = "created"
    limit: int | None = None


def add(desk: Desk, wanted: Wanted) -> Shaped:
    """Make a collection.  Raises UnfitCollection with everything that is wrong, or AlreadySo."""
    desk.require("shape", "shape collections")
    shape, wrong = read(Collection, _plain(desk, wanted))
    if shape is not None:
        broken = broken_rules(shape, desk.roster.pages_folder)
        protected = [one for one in _protected(desk, shape) if one not in broken]
        wrong = [*broken, *strangers(shape, desk.roster.agents), *protected]
    if shape is None or wrong:
        raise UnfitCollection(wanted.name, wrong)
    tables = _tables(desk)
    path = tables.path(shape.name)
    message = desk.message(f"collection({shape.name}): add", "collection-add")
    with desk.vault.change(message, desk.author, desk.clock.now()) as change:
        if change.read(path) is not None:
            raise AlreadySo(path, "there already", _EDIT)
        desk.vault.check(tables.folder(shape))
        change.write(path, tables.shaped(shape))
    return Shaped(shape, path)


def listed(desk: Desk) -> tuple[list[Collection], list[Problem]]:
    """The collections that the actor may read, by name."""
    problems: list[Problem] = []
    every = _tables(desk).all(problems)
    found = [one for one in every if may_use(desk.actor, "read", one.access)]
    return found, problems if desk.actor.is_person else []


def show(desk: Desk, name: str) -> tuple[Shown, list[Problem]]:
    """One collection with the number of its records."""
    shape = _shape(desk, name, "read")
    problems: list[Problem] = []
    count = len(_tables(desk).records(shape, problems))
    return Shown(shape, Collections.path(name), shape.display_path, count), problems


def check(desk: Desk, name: str | None) -> tuple[int, list[Problem]]:
    """How many files of collections (or of one) there are, and every problem in them."""
    desk.require("check", "check collections")
    problems: list[Problem] = []
    count = problems_of(desk, problems, name)
    if name is not None and not count and not problems:
        raise _unknown(desk, name)
    return count, sorted(set(problems))


def problems_of(desk: Desk, problems: list[Problem], name: str | None = None) -> int:
    """Find everything wrong in the collections (or in one); how many files were read."""
    agents = desk.roster.agents or None  # without a roster nobody can tell who is a stranger
    tables = Collections(desk.vault, desk.roster.pages_folder, agents)
    one = tables.get(name, problems) if name is not None else None
    shapes = tables.all(problems) if name is None else [one] if one is not None else []
    count = len(shapes)
    for shape in shapes:
        problems += _misplaced(desk, shape)
        count += len(tables.records(shape, problems))
    problems += _shared_folders(tables, shapes)
    return count


def add_record(desk: Desk, name: str, pairs: Sequence[str], run: str | None = None) -> Added:
    """Add a record of these values (`column=value`).

    Raises UnfitRecord with all that is wrong, or BadRunId.
    """
    if run and not is_run_id(run):
        raise BadRunId(desk.masked(run))
    shape = _shape(desk, name, "write")
    values = dict(_values(desk, shape, pairs))
    if wrong := faults(shape, values):
        raise UnfitRecord(name, wrong)
    at = desk.clock.now()
    record = Record(
        collection=name, id=desk.new_id("r"), created=at, updated=at,
        values=in_order(shape, values),
    )  # fmt: skip
    tables = _tables(desk)
    path = tables.record_path(shape, record.id)
    agent = None if desk.actor.is_person else desk.actor.name
    subject = f"record({agent or name}): add {record.id} to {name}"
    message = desk.message(subject, "record-add", agent, run or "")
    with desk.vault.change(message, desk.author, at) as change:
        change.write(path, tables.written(shape, record))
    return Added(record, path)


def records(
    desk: Desk, name: str, question: Question
) -> tuple[Collection, list[Record], list[Problem]]:
    """The records of a collection that are asked for, in order."""
    shape = _shape(desk, name, "read")
    query = _query(desk, shape, question)
    problems: list[Problem] = []
    found = matching(_tables(desk).records(shape, problems), query)
    return shape, found, problems


def _shape(desk: Desk, name: str, verb: str) -> Collection:
    """A collection that the actor may read or write.

    To an agent, one that does not exist and one that it may not read are the same.
    """
    problems: list[Problem] = []
    shape = _tables(desk).get(name, problems)
    access = shape.access if shape is not None else {}
    if not may_use(desk.actor, "read", access):
        raise NotAllowed(desk.actor.name, f"read the collection {name}", _WHO)
    if shape is None:
        raise _unknown(desk, name, str(problems[0]) if problems else "")
    if not may_use(desk.actor, verb, access):
        raise NotAllowed(desk.actor.name, f"write to the collection {name}", _WHO)
    if wrong := _misplaced(desk, shape):
        raise _unknown(desk, name, str(wrong[0]))
    return shape


def _unknown(desk: Desk, name: str, why: str = "") -> UnknownCollection:
    return UnknownCollection(name, why, [one.name for one in _tables(desk).all([])])


def _tables(desk: Desk) -> Collections:
    return Collections(desk.vault, desk.roster.pages_folder)


def _plain(desk: Desk, wanted: Wanted) -> dict[str, Any]:
    """What is wanted, as a collection.yaml would say it."""
    choices = dict(_pairs(wanted.choices, _CHOICES))
    columns = [_column(one, choices) for one in wanted.columns]
    names = [one["name"] for one in columns]
    for name in choices:
        if name not in names:
            raise NoColumn(wanted.name, name, f"its columns are {', '.join(names) or 'none'}")
    said: dict[str, Any] = {
        "name": wanted.name,
        "purpose": desk.masked(wanted.purpose.strip()),
        "scope": wanted.scope,
        "access": dict(_pairs(wanted.access, _ACCESS)),
        "store": wanted.store,
        "columns": columns,
    }
    extra = {"folder": wanted.folder, "queue": wanted.queue}
    return said | {key: value for key, value in extra.items() if value is not None}


def _column(word: str, choices: Mapping[str, str]) -> dict[str, Any]:
    name, *rest = word.split(":")
    if len(rest) not in {1, 2} or rest[1:] not in ([], ["required"]):
        raise NoPair(word, _COLUMN)
    column: dict[str, Any] = {"name": name, "type": rest[0], "required": len(rest) > 1}
    if name in choices:
        column["choices"] = [one.strip() for one in choices[name].split(",")]
    return column


def _pairs(words: Sequence[str], wanted: str) -> Iterator[tuple[str, str]]:
    """The keys and values of words like `key=value`, each key once."""
    seen = set()
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or not key.strip():
            raise NoPair(word, wanted)
        if key.strip() in seen:
            raise Twice(key.strip())
        seen.add(key.strip())
        yield key.strip(), value


def _values(desk: Desk, shape: Collection, pairs: Sequence[str]) -> Iterator[tuple[str, Scalar]]:
    """The values that words give; a key without a value is left out."""
    for name, word in _pairs(pairs, _PAIR):
        column = shape.column(name)
        if column is None:
            yield name, word
        elif word.strip():
            yield name, parsed(column, desk.masked(word))


def _query(desk: Desk, shape: Collection, question: Question) -> Query:
    where = dict(_values(desk, shape, question.where))
    order = question.order.removeprefix("-")
    for name in (*where, order):
        if name not in STAMPS and shape.column(name) is None:
            raise NoColumn(shape.name, name, did_you_mean(name, shape))
    fits = {name: one for name, one in where.items() if name not in STAMPS}
    if wrong := [one for one in faults(shape, fits) if one.path]:
        raise UnfitRecord(shape.name, wrong)
    return Query(
        where=where,
        since=_instant(question.since) if question.since else "",
        order=order,
        descending=question.order.startswith("-"),
        limit=question.limit,
    )


def _instant(given: str) -> str:
    """An instant, or the beginning of a day (UTC)."""
    try:
        return normal(f"{given}T00:00:00Z" if "T" not in given else given)
    except (ValueError, OverflowError):
        raise BadValue(_SINCE, given, _MOMENT) from None


def _protected(desk: Desk, shape: Collection) -> list[Violation]:
    """What makes the folder of a collection's notes unfit in this vault."""
    if shape.folder is None or not (
        desk.protects(f"{shape.folder.rstrip('/')}/")
        or desk.leads_into_protected(desk.vault.path(shape.folder))
    ):
        return []
    return [Violation(("folder",), "it is protected", "name another folder")]


def _misplaced(desk: Desk, shape: Collection) -> list[Problem]:
    return [
        Problem(Collections.path(shape.name), 0, f"folder: {one.what}", one.do)
        for one in _protected(desk, shape)
    ]


def _shared_folders(tables: Collections, shapes: Sequence[Collection]) -> list[Problem]:
    """The collections whose records stand among those of another."""
    first: dict[str, str] = {}
    found = []
    for one in shapes:
        folder = tables.folder(one).casefold()
        if (other := first.setdefault(folder, one.name)) != one.name:
            what = f"folder: the notes of {other} stand there too"
            found.append(Problem(Collections.path(one.name), 0, what, "name another folder"))
    return found


_EDIT = "edit the file, or choose another name"
_WHO = "those that its `access` names"
_SINCE, _MOMENT = "--since", "give a day like 2026-11-20, or 2026-11-20T09:14:03Z"
