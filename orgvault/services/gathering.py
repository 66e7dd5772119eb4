"""The rows of agents, gathered from their logs into tables that questions can be asked of.

Which rows count is what `Logs.records` says, and nothing else.  It would take minutes for a
million rows, so it is asked only where it could object: a segment whose whole text is in the form
that orgvault writes, and whose ids stand nowhere else, holds nothing that it would refuse.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from orgvault.adapters.statistics import NotLoaded, Tables
from orgvault.domain import written
from orgvault.domain.episode import Correction, Episode
from orgvault.domain.problem import Problem
from orgvault.domain.record import plain
from orgvault.domain.reflection import Reflection
from orgvault.store.entry import Row
from orgvault.store.files import read_bytes
from orgvault.store.logs import Line, Logs
from orgvault.store.sound import Sound, Stamp, stamp
from orgvault.store.vault import Vault
from orgvault.values import dataclass

_ID = re.compile(rb'"id":"([a-z][a-z0-9.-]*)"')


@dataclass(frozen=True)
class Log:
    """A log as a table: the record of its rows, and the columns with their SQL types."""

    name: str
    kind: type[Any]
    columns: dict[str, str]


EPISODES = Log(
    "episodes", Episode,
    {
        "id": "VARCHAR", "outcome": "VARCHAR", "turns": "BIGINT", "cost_usd": "DOUBLE",
        "duration_s": "DOUBLE", "finished_at": "TIMESTAMPTZ",
    },
)  # fmt: skip
CORRECTIONS = Log("corrections", Correction, {"id": "VARCHAR", "episode": "VARCHAR"})
REFLECTIONS = Log(
    "reflections", Reflection,
    {
        "id": "VARCHAR", "at": "TIMESTAMPTZ", "result": "VARCHAR", "calls": "BIGINT",
        "cost_usd": "DOUBLE", "operations": "JSON",
    },
)  # fmt: skip


def gather(
    vault: Vault, agents: Iterable[str], logs: Sequence[Log], problems: list[Problem],
    tables: Tables,
) -> None:  # fmt: skip
    """Load the rows of agents, spooled ones too, each once; then lock the tables.

    What cannot be counted goes to `problems`, each with file and line.
    """
    wanted = list(agents)
    for log in logs:
        tables.make(log.name, log.columns)
        _Gathering(vault, log, tables).gather(wanted, problems)
    tables.lock()


class _Gathering:
    """One log on its way into its table."""

    def __init__(self, vault: Vault, log: Log, tables: Tables) -> None:
        form = written.lines(log.kind)
        self._vault = vault
        self._log = log
        self._tables = tables
        self._pattern = re.compile(form)
        self._sound = Sound(vault.private, log.name, form)

    def gather(self, agents: Iterable[str], problems: list[Problem]) -> None:
        """Load the rows of agents.

        Each round loads those that are left; one whose segments turn out to need the strict
        reader after all is left for the next.
        """
        strict: dict[str, set[str]] = {agent: set() for agent in agents}
        left = list(strict)
        while left:
            parts = [self._part(agent, strict[agent]) for agent in left]
            left = []
            for part, more in self._load(parts):
                if more:
                    strict[part.agent] |= more
                    self._tables.forget(self._log.name, part.agent)
                    left.append(part.agent)
                else:
                    self._tables.add(self._log.name, part.agent, part.lines)
                    problems.extend(part.problems)
                    self._sound.found(part.found)
        self._sound.save()

    def _part(self, agent: str, strict: set[str]) -> "_Part":
        # Spooled rows first: one on its way into a segment is then seen twice, never missed.
        rows = self._vault.logs._spooled()  # noqa: SLF001 - Logs shows them among all others only
        paths = self._vault.logs.segments(self._log.name, agent)
        stamps = {path: now for path in paths if (now := stamp(path)) is not None}
        known = self._sound.known(stamps)
        new = {p for p in stamps if p not in known and p not in strict and self._is_sound(p)}
        fast = {path: stamps[path] for path in paths if path in (known - strict) | new}
        odd = _Some(self._vault.org, rows, [path for path in paths if path not in fast])
        problems: list[Problem] = []
        ids, lines = self._strictly(odd, agent, problems)
        # The newest segment still grows: it is not worth remembering.
        found = {path: fast[path] for path in list(fast)[:-1] if path in new}
        return _Part(agent, fast, found, ids, lines, problems)

    def _load(self, parts: "Sequence[_Part]") -> "list[tuple[_Part, set[str]]]":
        """Load the sound segments; for each part those that have to be read strictly."""
        loaded = True
        try:
            self._tables.load(self._log.name, [path for part in parts for path in part.fast])
        except NotLoaded:
            loaded = False
        repeated = self._tables.repeated(self._log.name, {p.agent: p.ids for p in parts})
        result = []
        for part in parts:
            twice = repeated.get(part.agent, set())
            more = {path for path, was in part.fast.items() if stamp(path) != was}
            more.update(path for path in part.fast if twice and twice & _ids(path))
            result.append((part, more if loaded else more or set(part.fast)))
        return result

    def _is_sound(self, path: str) -> bool:
        try:
            text = (read_bytes(path) or b"").decode()
        except UnicodeDecodeError:
            return False
        return self._pattern.fullmatch(text) is not None

    def _strictly(
        self, odd: Logs, agent: str, problems: list[Problem]
    ) -> tuple[set[str], list[str]]:
        """The ids that stand in these segments and the spool, and the lines of the good rows."""
        stand = {str(line.row.get("id")): line for line in odd.lines(self._log.name, agent, [])}
        lines = []
        for one in odd.records(self._log.kind, self._log.name, agent, problems):
            row = plain(one)
            kept = {name: row[name] for name in self._log.columns}
            fault = _too_large(kept, stand[row["id"]])
            if fault:
                problems.append(fault)
            else:
                text = json.dumps(kept, ensure_ascii=False)
                lines.append(text.encode(errors="replace").decode())
        return set(stand), lines


@dataclass(frozen=True)
class _Part:
    """What one agent has in a log.

    `fast` are the segments that need no strict reading, with their stamps, `found` those of them
    that were not known before; `ids`, `lines` (good rows) and `problems` are of the others and
    of the spool.
    """

    agent: str
    fast: dict[str, Stamp]
    found: dict[str, Stamp]
    ids: set[str]
    lines: list[str]
    problems: list[Problem]


class _Some(Logs):
    """The spooled rows and some segments of a log, read as strictly as all of it."""

    def __init__(self, org: str, rows: Sequence[Row], paths: list[str]) -> None:
        super().__init__(org, lambda: rows)
        self._paths = paths

    def segments(self, log: str, agent: str) -> list[str]:
        """The paths that were given."""
        del log, agent
        return self._paths


def _too_large(row: dict[str, Any], line: Line) -> Problem | None:
    for name, value in row.items():
        if isinstance(value, int | float) and abs(value) >= 10**written.DIGITS:
            what = f"{name}: {value:.3g} is too large to be counted"
            return Problem(line.file, line.line, what, "mend the line")
    return None


def _ids(path: str) -> set[str]:
    return {one.decode() for one in _ID.findall(read_bytes(path) or b"")}
