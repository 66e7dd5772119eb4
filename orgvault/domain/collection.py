"""Collections: the owner's tables, which agents read and fill, and the records in them."""

from collections.abc import Collection as Some
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from orgvault.domain.access import Actor, may_use
from orgvault.domain.forms import ONE_LINE, PROSE, RELATIVE_PATH
from orgvault.domain.ids import AGENT_ID, DEVICE_NAMES
from orgvault.domain.masking import mentions_protected
from orgvault.domain.record import Violation, says
from orgvault.domain.roster import Agent, Roster
from orgvault.values import dataclass

COLUMN_NAME = r"[a-z][a-z0-9_]{0,39}"
TYPES = ("text", "integer", "number", "boolean", "date", "choice", "link")
CHOICE = "choice"
FILES, NOTES = "files", "notes"
# What every record has beside its columns.
OWN = ("version", "collection", "id", "created", "updated")
# Of the folder that people look at: where orgvault writes pages of its own.
_PAGES = ("Agents", "Backlog", "Claims", "Home", "Tasks")

Scalar: TypeAlias = str | int | float | bool


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a collection."""

    name: str = says("Its name: a small letter, then a-z, 0-9 and _.", pattern=COLUMN_NAME)
    type: str = says("What may stand in it.", choices=TYPES)
    required: bool = says("Whether every record has it.", default=False)
    choices: tuple[str, ...] = says(
        "Of a choice: the texts to choose from.", default=(), pattern=ONE_LINE, max_chars=100
    )
    description: str = says("What it holds.", default="", max_chars=500)


@dataclass(frozen=True, kw_only=True)
class Collection:
    """`collections/<name>/collection.yaml`: a table that the owner shapes."""

    version: int = says("Format version of the file.", default=1, minimum=1, maximum=1)
    name: str = says("Its name; the folder is named after it.", pattern=AGENT_ID)
    purpose: str = says("What it is for.", pattern=PROSE, max_chars=1000)
    scope: str = says("Whom it concerns.", default="guild", choices=("guild", "organisation"))
    access: dict[str, str] = says(
        "The agents that may read, or read and write, its records.",
        default={},
        key_pattern=AGENT_ID,
        choices=("read", "write"),
    )
    store: str = says(
        "Where records stand: files beside it, or one note each in a folder that Obsidian shows.",
        default=FILES,
        choices=(FILES, NOTES),
    )
    folder: str | None = says(
        "Of `store: notes`: the folder of the notes.",
        default=None,
        pattern=RELATIVE_PATH,
        max_chars=400,
    )
    columns: tuple[Column, ...] = says("Its columns, in order.")
    queue: str | None = says(
        "The choice column that holds the state of a record.", default=None, pattern=COLUMN_NAME
    )

    def column(self, name: str) -> Column | None:
        """A column by its name."""
        return next((one for one in self.columns if one.name == name), None)

    @property
    def display_path(self) -> str:
        """How people and agents call it: its notes' folder, or scope and name."""
        return self.folder.rstrip("/") if self.folder else f"{self.scope}/{self.name}"


@dataclass(frozen=True, kw_only=True)
class Record:
    """One row of a collection; `values` in the order of its columns, absent ones left out."""

    collection: str
    id: str
    created: str
    updated: str
    values: Mapping[str, Scalar]


def broken_rules(shape: Collection, pages: str) -> list[Violation]:
    """What must hold between the keys of a collection.yaml; `pages` is the visible folder."""
    return [*_names(shape), *_folder(shape, pages), *_columns(shape), *_queue(shape)]


def strangers(shape: Collection, agents: Some[str]) -> list[Violation]:
    """The grants to agents that are not on the roster."""
    from difflib import get_close_matches

    found = []
    for name in shape.access:
        if name not in agents:
            near = get_close_matches(name, agents, n=1)
            do = f"did you mean `{near[0]}`?" if near else f"agents are {', '.join(sorted(agents))}"
            what = f"no agent `{name}` on the roster"
            found.append(Violation(("access", name), what, do, at_key=True))
    return found


def listed(
    collections: Sequence[Collection], agent: Agent, roster: Roster
) -> tuple[Mapping[str, Any], ...]:
    """What State says of the collections that an agent can read; State itself shows 50 at most.

    Each has name, purpose, access (the agent's own: read or write), scope, display_path, columns.
    """
    actor = Actor("agent", agent.id)
    return tuple(
        _shown(one, agent)
        for one in collections
        if may_use(actor, "read", one.access)
        and not mentions_protected(f"{one.folder or ''}/", roster.protected)
    )


def _shown(shape: Collection, agent: Agent) -> Mapping[str, Any]:
    return {
        "name": shape.name,
        "purpose": " ".join(shape.purpose.split()),
        "access": shape.access[agent.id],
        "scope": shape.scope,
        "display_path": shape.display_path,
        "columns": [_column(one, shape) for one in shape.columns],
    }


def _column(column: Column, shape: Collection) -> Mapping[str, Any]:
    """A column with what it says; `queue` marks the one that holds the state of a record."""
    told = {
        "name": column.name,
        "type": column.type,
        "required": column.required,
        "choices": list(column.choices),
        "description": column.description,
        "queue": column.name == shape.queue,
    }
    return {key: value for key, value in told.items() if value}


def _names(shape: Collection) -> Iterator[Violation]:
    if shape.name in DEVICE_NAMES:
        yield Violation(("name",), f"`{shape.name}` is a device name on some systems", "rename it")


def _folder(shape: Collection, pages: str) -> Iterator[Violation]:
    if shape.store == FILES:
        if shape.folder is not None:
            do = "write `store: notes`, or take it out"
            yield Violation(("folder",), "only notes stand in a folder", do, at_key=True)
        return
    if shape.folder is None:
        do = "add it, with the folder of the notes"
        yield Violation((), "with `store: notes`, the key `folder` is missing", do)
        return
    parts = shape.folder.rstrip("/").split("/")
    if any(part.startswith(".") for part in parts):
        yield Violation(("folder",), "Obsidian shows no dot-folder", "name a visible folder")
    elif devices := [part for part in parts if part.casefold() in DEVICE_NAMES]:
        what = f"`{devices[0]}` is a device name on some systems"
        yield Violation(("folder",), what, "name another folder")
    elif mentions_protected(f"{shape.folder.rstrip('/')}/"):
        yield Violation(("folder",), "it is protected", "name another folder")
    elif _same(parts[0], pages) and (len(parts) == 1 or any(_same(parts[1], p) for p in _PAGES)):
        yield Violation(("folder",), "orgvault's own pages stand there", "name another folder")


def _columns(shape: Collection) -> Iterator[Violation]:
    if not shape.columns:
        yield Violation(("columns",), "a collection has at least one column", "add one")
    seen: set[str] = set()
    for at, one in enumerate(shape.columns):
        where = ("columns", at)
        if one.name in seen:
            yield Violation((*where, "name"), f"a second column `{one.name}`", "rename one")
        seen.add(one.name)
        if one.name in OWN:
            what = f"every record has its own `{one.name}`"
            yield Violation((*where, "name"), what, "choose another name")
        if one.choices and one.type != CHOICE:
            do = "write `type: choice`, or take them out"
            yield Violation((*where, "choices"), f"choices of a column of type {one.type}", do)
        if one.type == CHOICE and not one.choices:
            what = f"the choice `{one.name}` has no choices"
            yield Violation((*where, "type"), what, "give the texts to choose from")
        if len(set(one.choices)) < len(one.choices):
            yield Violation((*where, "choices"), "the same choice twice", "take one out")


def _queue(shape: Collection) -> Iterator[Violation]:
    if shape.queue is None:
        return
    column = shape.column(shape.queue)
    choices = [one.name for one in shape.columns if one.type == CHOICE]
    do = f"name one of {', '.join(choices)}" if choices else "add a column of type choice"
    if column is None:
        yield Violation(("queue",), f"no column `{shape.queue}`", do)
    elif column.type != CHOICE:
        yield Violation(("queue",), f"`{column.name}` is no choice but {column.type}", do)


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()
