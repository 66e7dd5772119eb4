"""Rows of the logs as tables of DuckDB, and questions asked of them.

Loading and asking are apart: first the rows that somebody may read are loaded, then the database
is locked (no files, no network, no extensions, no settings), and only then are questions asked.
This is the one module that imports duckdb, and it does so when a database is made: 150 ms.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from json import dumps
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

THREADS = 4
MEMORY_MB = 512
FILES_A_THREAD = 64
_OF_FILES = """(
  SELECT * FROM (
    SELECT string_split(filename, '/')[-2] AS agent, unnest(string_split(content, chr(10))) AS line
    FROM read_text($given)
  ) WHERE line <> '')"""
_OF_LINES = "(SELECT $agent AS agent, unnest($given) AS line)"


class NotLoaded(Exception):
    """The rows could not be loaded: a file went away, or is not what it was taken for."""


class Tables:
    """Tables in memory, each with the column `agent` and those it was made with.

    The rows that are given must have been judged already: every line a JSON object that holds
    the columns, with values of their types; times are instants of RFC 3339.
    """

    def __init__(self, *, threads: int = THREADS, memory_mb: int = MEMORY_MB) -> None:
        import duckdb

        self._error = duckdb.Error
        self._threads = max(1, min(threads, os.cpu_count() or 1))
        # What does not fit into memory goes there; the default would be the current folder.
        self._overflow = TemporaryDirectory(prefix="orgvault-")
        self._columns: dict[str, dict[str, str]] = {}
        self._database: DuckDBPyConnection = duckdb.connect(
            ":memory:",
            config={
                "allow_community_extensions": False,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "memory_limit": f"{memory_mb}MB",
                "preserve_insertion_order": False,
                "python_enable_replacements": False,
                "temp_directory": self._overflow.name,
                "threads": self._threads,
            },
        )
        self._database.execute("SET enable_progress_bar = false")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._database.close()
        self._overflow.cleanup()

    def make(self, table: str, columns: Mapping[str, str]) -> None:
        """Make an empty table of these columns (name and SQL type), one of them `id`."""
        self._columns[table] = dict(columns)
        listed = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
        self._database.execute(f"CREATE TABLE {table} (agent VARCHAR, {listed})")

    def load(self, table: str, paths: Sequence[str]) -> None:
        """Add the rows of files (JSON lines) to a table; a file's folder names the agent.

        Raises NotLoaded, with some of them loaded.
        """
        parts = min(self._threads, 1 + len(paths) // FILES_A_THREAD)
        names = [_literal(path) for path in paths]
        try:
            with ThreadPoolExecutor(parts) as pool:
                for done in [
                    pool.submit(self._insert, table, _OF_FILES, given=names[part::parts])
                    for part in range(parts if names else 0)
                ]:
                    done.result()
        except (self._error, UnicodeError) as failure:
            raise NotLoaded(str(failure)) from failure

    def add(self, table: str, agent: str, lines: Sequence[str]) -> None:
        """Add rows (JSON, one a line) of an agent to a table."""
        if lines:
            self._insert(table, _OF_LINES, agent=agent, given=list(lines))

    def forget(self, table: str, agent: str) -> None:
        """Take an agent's rows out of a table."""
        self.ask(f"DELETE FROM {table} WHERE agent = $agent", agent=agent)  # noqa: S608 - our names

    def repeated(self, table: str, taken: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
        """The ids, by agent, that more than one of its rows has, or that are taken already."""
        found: dict[str, set[str]] = {}
        twice = f"SELECT count(*) > count(DISTINCT hash(agent, id)) FROM {table}"  # noqa: S608
        if self.ask(twice)[0][0]:  # exact or not, nobody has to look at a million ids without need
            same = f"SELECT agent, id FROM {table} GROUP BY ALL HAVING count(*) > 1"  # noqa: S608
            for agent, one in self.ask(same):
                found.setdefault(agent, set()).add(one)
        among = (
            f"SELECT id FROM {table} "  # noqa: S608 - our own names
            "WHERE agent = $agent AND id IN (SELECT unnest($ids::VARCHAR[]))"
        )
        for agent, ids in taken.items():
            if ids:
                both = {one for (one,) in self.ask(among, agent=agent, ids=list(ids))}
                found.setdefault(agent, set()).update(both)
        return found

    def lock(self) -> None:
        """Close every way out of the database: from here on it answers from its tables only."""
        self._database.execute("SET enable_external_access = false")
        self._database.execute("SET lock_configuration = true")

    def ask(self, question: str, **values: object) -> list[tuple[Any, ...]]:
        """The rows that answer a SELECT; `values` stand for its `$name`s."""
        return self._database.execute(question, values).fetchall()

    def _insert(self, table: str, source: str, **given: object) -> None:
        columns = self._columns[table]
        named = ", ".join(f'row."{name}"' for name in columns)
        insert = (
            f"INSERT INTO {table} SELECT agent, {named} FROM "  # noqa: S608 - our own names
            f"(SELECT agent, from_json(line, '{dumps(columns)}') AS row FROM {source})"
        )
        self._database.cursor().execute(insert, given)


def _literal(path: str) -> str:
    """A path as a pattern of names that means nothing but itself."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)
