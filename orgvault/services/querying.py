"""One question in SQL, answered from the rows that whoever asks may read."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import Field, is_dataclass
from types import UnionType
from typing import Any, get_args, get_origin

from orgvault.adapters.queries import LIMIT_S, Queries, Rows
from orgvault.domain import instants
from orgvault.domain.card import Card
from orgvault.domain.claim import Claim
from orgvault.domain.episode import Correction, Episode
from orgvault.domain.ids import agent_id_fault
from orgvault.domain.ledger import Entry
from orgvault.domain.problem import Problem
from orgvault.domain.record import Says, described, plain
from orgvault.domain.reflection import Reflection
from orgvault.domain.run import Manifest
from orgvault.domain.wake import WakeEvent
from orgvault.services.desk import Desk
from orgvault.services.gathering import Log, load
from orgvault.services.ledger_views import listed
from orgvault.store.cards import Cards
from orgvault.store.claims import ACTIVE, CLOSED, Claims, Stored
from orgvault.store.runs import Runs
from orgvault.store.vault import ORG
from orgvault.values import dataclass

_LOADED = "loaded"  # the schema of the tables that the views look at
_VERSIONS = ("v", "version")
_MONEY = "DECIMAL(18,6)"
_BACKLOG = "cards"
_LEDGER = "ledger"
_RUNS = "runs"


@dataclass(frozen=True)
class Column:
    """A column of a view: its name, its SQL type, and what it holds."""

    name: str
    type: str
    text: str


@dataclass(frozen=True)
class View:
    """What a question can be asked of: `sources` are the tables behind it."""

    name: str
    text: str
    columns: tuple[Column, ...]
    select: str
    sources: tuple[str, ...]


@contextmanager
def answer(
    desk: Desk, sql: str, *, limit_s: float = LIMIT_S
) -> Iterator[tuple[Rows, list[Problem]]]:
    """Answer a question, with the rows and files that could not be read.

    Raises BadQuery, NotOneSelect, NameRefused, QueryTooLong, QueryTooLarge.
    """
    problems: list[Problem] = []
    with Queries(limit_s=limit_s) as tables:
        named = tables.mentioned(sql)
        needed = {source for view in VIEWS if view.name in named for source in view.sources}
        _fill(desk, tables, needed, problems)
        for view in VIEWS:
            tables.view(view.name, view.select)
        tables.lock()
        with tables.answer(sql) as rows:
            yield rows, problems


def _fill(desk: Desk, tables: Queries, needed: set[str], problems: list[Problem]) -> None:
    """Make all tables, and load those that are needed with what the actor may read."""
    agents = _agents(desk)
    for name, log in _LOGS.items():
        tables.make(log.table, log.columns)
        if name in needed:
            load(desk.vault, agents, log, problems, tables)
    for name, columns in _FILES.items():
        tables.make(f"{_LOADED}.{name}", columns)
    for name, read in _READ.items():
        if name in needed:
            for agent, rows in read(desk, agents, problems):
                tables.add(f"{_LOADED}.{name}", agent, list(map(json.dumps, rows)))


def _agents(desk: Desk) -> list[str]:
    """The agents whose rows the actor may read; for people also those that left the roster."""
    found = {agent.id for agent in desk.readable()}
    if desk.actor.is_person:
        for log in _LOGS:
            found.update(desk.vault.logs.agents(log))
        found.update(desk.vault.names(f"{ORG}/memory"))
    return sorted(one for one in found if not agent_id_fault(one))


_Rows = Iterator[tuple[str | None, Iterable[Any]]]  # plain rows, and whose they are


def _claims(desk: Desk, agents: Iterable[str], problems: list[Problem]) -> _Rows:
    kept = Claims(desk.vault)
    for agent in agents:
        for folder in (ACTIVE, CLOSED):
            yield agent, map(_claim, kept.load(agent, folder, problems))


def _claim(one: Stored) -> dict[str, Any]:
    claim = one.claim
    gone = "superseded" if claim.superseded_by else "retired"
    return {
        **plain(claim),
        "state": "active" if claim.active else gone,
        "edited_by_hand": claim.edited_by_hand,
    }


def _cards(desk: Desk, agents: Iterable[str], problems: list[Problem]) -> _Rows:
    """The cards of these agents; for people all.  Of the others not even a fault is told."""
    found: list[Problem] = []
    own = set(agents)
    for one in Cards(desk.vault, desk.roster.pages_folder).all(found):
        if desk.actor.is_person or one.card.agent in own:
            yield one.card.agent, [plain(one.card)]
    problems.extend(found if desk.actor.is_person else ())


def _ledger(desk: Desk, agents: Iterable[str], problems: list[Problem]) -> _Rows:
    del agents  # `listed` knows whose entries the actor may read
    entries, faults = listed(desk)
    problems.extend(faults)
    for entry in entries:
        yield entry.agent, [plain(entry)]


def _runs(desk: Desk, agents: Iterable[str], problems: list[Problem]) -> _Rows:
    del problems  # `check` tells of rows that are none
    for agent in agents:
        yield agent, map(plain, Runs(desk.vault).manifests(agent))


_READ = {"claims": _claims, _BACKLOG: _cards, _LEDGER: _ledger, _RUNS: _runs}


# ── what the tables and views are, from the records ─────────────────────────────────────────


def sql_type(kind: Any, about: Says) -> str:  # noqa: ANN401 - the type of any field
    """The SQL type of a record's field."""
    if get_origin(kind) is UnionType:
        kind = next(one for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is tuple:
        return sql_type(get_args(kind)[0], about) + "[]"
    if isinstance(kind, type) and is_dataclass(kind):
        return f"STRUCT({_listed(described(kind))})"
    if isinstance(kind, type) and issubclass(kind, str):
        return "TIMESTAMPTZ" if about.normal is instants.normal else "VARCHAR"
    return {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}.get(kind, "JSON")


def _listed(members: Iterable[tuple[Field[Any], Says]]) -> str:
    return ", ".join(f'"{one.name}" {sql_type(one.type, about)}' for one, about in members)


def _loaded(kind: type[Any], **more: str) -> dict[str, str]:
    """The columns in which a record is loaded: all of it but `agent`, which each table has."""
    own = {one.name: sql_type(one.type, about) for one, about in described(kind)}
    own.pop("agent")
    return own | more


def _view(
    name: str, text: str, kind: type[Any], *derived: tuple[Column, str], also: tuple[str, ...] = ()
) -> View:
    """A record's own columns, then those that are derived, then the version of its format."""
    shown, columns = [], []
    fields = sorted(described(kind), key=lambda one: one[0].name in _VERSIONS)
    for one, about in fields:
        sql = sql_type(one.type, about)
        money = one.name.endswith("_usd")
        columns.append(Column(one.name, _MONEY if money else sql, about.text))
        shown.append(f'"{one.name}"::{_MONEY} AS "{one.name}"' if money else f'"{one.name}"')
    for at, (column, expression) in enumerate(derived, len(columns) - 1):
        columns.insert(at, column)
        shown.insert(at, f'{expression} AS "{column.name}"')
    select = f"SELECT {', '.join(shown)} FROM {_LOADED}.{name}"  # noqa: S608 - our own names
    return View(name, text, tuple(columns), select, (name, *also))


_LOGS = {
    name: Log(name, kind, _loaded(kind), _LOADED)
    for name, kind in {
        "episodes": Episode, "corrections": Correction, "reflections": Reflection,
        "wakes": WakeEvent,
    }.items()
}  # fmt: skip
_FILES = {
    "claims": _loaded(Claim, state="VARCHAR", edited_by_hand="BOOLEAN"),
    _BACKLOG: _loaded(Card),
    _LEDGER: _loaded(Entry),
    _RUNS: _loaded(Manifest),
}
_WAKES = View(
    "wakes",
    "One row for each wake: a request that an agent run.",
    (
        Column("id", "VARCHAR", "The wake."),
        Column("agent", "VARCHAR", "The agent that is asked to run."),
        Column("reason", "VARCHAR", "Why: task, chat, mention, schedule or manual."),
        Column("card", "VARCHAR", "The card it is about."),
        Column("note", "VARCHAR", "A line for the agent."),
        Column("added_at", "TIMESTAMPTZ", "When it was added (UTC)."),
        Column("added_by", "VARCHAR", "Who added it."),
        Column("closed_at", "TIMESTAMPTZ", "When it was closed (UTC); null while it is open."),
        Column("closed_by", "VARCHAR", "Who closed it."),
        Column("run", "VARCHAR", "The run that closed it."),
        Column("v", "BIGINT", "Format version of its rows."),
    ),
    f"""
SELECT wake AS id, agent, coalesce(added.reason, 'manual') AS reason, added.card, added.note,
  added."at" AS added_at, added.actor AS added_by, closed."at" AS closed_at,
  closed.actor AS closed_by, closed.run, added.v
FROM (
  SELECT agent, wake, any_value(struct_pack(reason, card, note, "at", actor, v)) AS added
  FROM {_LOADED}.wakes WHERE event = 'added' GROUP BY agent, wake
) LEFT JOIN (
  SELECT agent, wake, any_value(struct_pack("at", actor, run)) AS closed
  FROM {_LOADED}.wakes WHERE event = 'closed' GROUP BY agent, wake
) USING (agent, wake)
ORDER BY added_at, id""",  # noqa: S608 - our own names
    ("wakes",),
)
VIEWS = (
    _view(
        "episodes",
        "One row for each finished run.",
        Episode,
        (
            Column("corrected", "BOOLEAN", "Whether a reviewer sent its work back (derived)."),
            f"(agent, id) IN (SELECT (agent, episode) FROM {_LOADED}.corrections)",  # noqa: S608
        ),
        also=("corrections",),
    ),
    _view("corrections", "One row each time that work was sent back.", Correction),
    _view(
        "claims",
        "One row for each claim, closed ones too.",
        Claim,
        (Column("state", "VARCHAR", "active, superseded or retired (derived)."), "state"),
        (
            Column("edited_by_hand", "BOOLEAN", "Whether its seal is broken (derived)."),
            "edited_by_hand",
        ),
    ),
    _view("reflections", "One row for each model call, or why there was none.", Reflection),
    _WAKES,
    _view(_BACKLOG, "One row for each card of the backlog.", Card),
    _view(_LEDGER, "One row for each shipped proposal: before, after, verdict.", Entry),
    _view(_RUNS, "One row for each run whose prompt orgvault composed.", Manifest),
)
