"""The rows of agents, gathered from their logs into tables that questions can be asked of.

Which rows count is what `Logs.records` says, and nothing else.  That would take minutes for a
million rows, so it is asked only where it could object: a segment of nothing but lines in the form
that orgvault writes, whose ids stand nowhere else, holds nothing that it would refuse.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from orgvault.adapters.statistics import NotLoaded, Tables
from orgvault.domain import written
from orgvault.domain.episode import Correction, Episode
from orgvault.domain.problem import Problem
from orgvault.domain.record import plain
from orgvault.domain.reflection import Reflection
from orgvault.store.entry import Row
from orgvault.store.logs import Line, Logs
from orgvault.store.vault import Vault
from orgvault.values import dataclass


@dataclass(frozen=True)
class Log:
    """A log as a table: the record of its rows, and the columns with their SQL types.

    The table is called like the log, in the `schema` if one is given.
    """

    name: str
    kind: type[Any]
    columns: dict[str, str]
    schema: str = ""

    @property
    def table(self) -> str:
        """The name of the table."""
        return f"{self.schema}.{self.name}" if self.schema else self.name


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
        "cost_usd": "DOUBLE", "operations": "JSON", "asked": "VARCHAR",
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
        tables.make(log.table, log.columns)
        load(vault, wanted, log, problems, tables)
    tables.lock()


def load(
    vault: Vault, agents: Iterable[str], log: Log, problems: list[Problem], tables: Tables
) -> None:
    """Load the rows of agents into the table of one log, which is there already."""
    _Gathering(vault, log, tables).gather(agents, problems)


class _Gathering:
    """One log on its way into its table."""

    def __init__(self, vault: Vault, log: Log, tables: Tables) -> None:
        self._vault = vault
        self._log = log
        self._tables = tables
        self._form = written.form(log.kind)

    def gather(self, agents: Iterable[str], problems: list[Problem]) -> None:
        """Load the rows of agents."""
        # Spooled rows first: one on its way into a segment is then seen twice, never missed.
        spooled = self._vault.logs.spooled()
        paths = {agent: self._vault.logs.segments(self._log.name, agent) for agent in agents}
        odd = self._load([path for own in paths.values() for path in own])
        waiting = {row.agent for row in spooled if row.log == self._log.name}
        for agent, own in paths.items():
            strict = odd.intersection(own)
            if strict or agent in waiting:
                self._settle(agent, own, strict, spooled, problems)

    def _load(self, paths: list[str]) -> set[str]:
        """Load all segments; those of them that must be read strictly after all."""
        if self._form is None:
            return set(paths)
        try:
            self._tables.load(self._log.table, self._form, paths)
        except NotLoaded:
            return set(paths)
        files = self._tables.files(paths)
        good = self._tables.loaded(self._log.table) - self._tables.odd(self._log.table)
        return {path for path in paths if files.get(path) not in good}

    def _settle(
        self, agent: str, paths: list[str], strict: set[str], spooled: Sequence[Row],
        problems: list[Problem],
    ) -> None:  # fmt: skip
        """Replace what was loaded of some segments by what the strict reader makes of them.

        An id that it meets and that another segment has too makes that segment one of them.
        """
        while True:
            files = self._tables.files(sorted(strict))
            self._tables.remove(self._log.table, files.values())
            some = _Some(self._vault.org, spooled, [path for path in paths if path in strict])
            found: list[Problem] = []
            ids, lines = self._strictly(some, agent, found)
            both = self._tables.having(self._log.table, agent, ids)
            more = {path for path, file in self._tables.files(paths).items() if file in both}
            if not more:
                break
            strict = strict | more
        self._tables.add(self._log.table, agent, lines)
        problems.extend(found)

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
            what = f"{name}: more than {written.DIGITS} digits are too large to be counted"
            return Problem(line.file, line.line, what, "mend the line")
    return None
