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

from orgvault.domain.written import Form

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

THREADS = 4
MEMORY_MB = 512
FILES_A_THREAD = 64


class NotLoaded(Exception):
    """The rows could not be loaded: a file went away, or is not what it was taken for."""


class Tables:
    """Tables in memory, each with the column `agent` and those it was made with."""

    def __init__(self, *, threads: int = THREADS, memory_mb: int = MEMORY_MB) -> None:
        import duckdb

        self._library = duckdb
        self._threads = max(1, min(threads, os.cpu_count() or 1))
        # What does not fit into memory goes there; the default would be the current folder.
        self._overflow = TemporaryDirectory(prefix="orgvault-")
        self._made: dict[str, Mapping[str, str]] = {}
        self._database: DuckDBPyConnection = duckdb.connect(
            ":memory:",
            config={
                "allow_community_extensions": False,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "errors_as_json": True,  # with the place in the question
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
        """Make an empty table of these columns (name and SQL type), one of them `id`.

        It has three more: `agent`, `file` (a hash of the path that the row was read from) and
        `odd` (whether the line was in no known form, so that the row must not be believed).
        The name may be one in a schema.
        """
        self._made[table] = columns
        schema, dot, _ = table.rpartition(".")
        if dot:
            self._execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        listed = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
        self._execute(f"CREATE TABLE {table} (agent VARCHAR, {listed}, odd BOOLEAN, file UBIGINT)")

    def load(self, table: str, form: Form, paths: Sequence[str]) -> None:
        """Add the lines of files to a table; the second part of a file's name is the agent.

        Raises NotLoaded, with some of them loaded.
        """
        parts = min(self._threads, 1 + len(paths) // FILES_A_THREAD)
        names = [_literal(path) for path in paths]
        insert = f"INSERT INTO {table} {_selection(form, self._made[table])}"
        try:
            with ThreadPoolExecutor(parts) as pool:
                for done in [
                    pool.submit(self._execute, insert, paths=names[part::parts])
                    for part in range(parts if names else 0)
                ]:
                    done.result()
        except (self._library.Error, UnicodeError) as failure:
            raise NotLoaded(str(failure)) from failure

    def add(self, table: str, agent: str | None, lines: Sequence[str]) -> None:
        """Add rows of an agent (or of nobody) to a table: JSON objects that hold its columns."""
        columns = self._made[table]
        named = ", ".join(f'row."{name}"' for name in columns)
        if lines:
            self._execute(
                f"INSERT INTO {table} SELECT $agent, {named}, false, 0 FROM "  # noqa: S608 - ours
                f"(SELECT from_json(unnest($lines), '{dumps(dict(columns))}') AS row)",
                agent=agent, lines=list(lines),
            )  # fmt: skip

    def odd(self, table: str) -> set[int]:
        """The files that hold an odd line, or an id that its agent has twice."""
        files = self.ask(f"SELECT DISTINCT file FROM {table} WHERE odd")  # noqa: S608 - our names
        own = f"FROM {table} WHERE id IS NOT NULL"
        if self.ask(f"SELECT count(*) > count(DISTINCT hash(agent, id)) {own}")[0][0]:
            files += self.ask(
                f"SELECT DISTINCT file {own} AND (agent, id) IN "
                f"(SELECT (agent, id) {own} GROUP BY agent, id HAVING count(*) > 1)"
            )
        return {one for (one,) in files}

    def having(self, table: str, agent: str, ids: Collection[str]) -> set[int]:
        """The files in which a row of an agent has one of these ids."""
        files = self.ask(
            f"SELECT DISTINCT file FROM {table} "  # noqa: S608 - our own names
            "WHERE agent = $agent AND id IN (SELECT unnest($ids::VARCHAR[]))",
            agent=agent, ids=list(ids),
        )  # fmt: skip
        return {one for (one,) in files}

    def remove(self, table: str, files: Collection[int]) -> None:
        """Take the rows of files out of a table."""
        self._execute(
            f"DELETE FROM {table} WHERE file IN (SELECT unnest($files::UBIGINT[]))",  # noqa: S608
            files=list(files),
        )

    def files(self, paths: Sequence[str]) -> dict[str, int]:
        """The hash that stands for each of these paths in the column `file`.

        A path that is no UTF-8 has none: it cannot be loaded either.
        """
        known = [path for path in paths if path.isascii() or _is_text(path)]
        hashed = "SELECT path, hash(path) FROM (SELECT unnest($paths::VARCHAR[]) AS path)"
        return dict(self.ask(hashed, paths=known))

    def loaded(self, table: str) -> set[int]:
        """The files of which there is any row, odd or not."""
        return {one for (one,) in self.ask(f"SELECT DISTINCT file FROM {table}")}  # noqa: S608

    def lock(self) -> None:
        """Close every way out of the database: from here on it answers from its tables only."""
        self._database.execute("SET enable_external_access = false")
        self._database.execute("SET lock_configuration = true")

    def ask(self, question: str, **values: object) -> list[tuple[Any, ...]]:
        """The rows that answer a SELECT; `values` stand for its `$name`s."""
        return self._database.execute(question, values).fetchall()

    def _execute(self, statement: str, **values: object) -> None:
        self._database.cursor().execute(statement, values)


def _selection(form: Form, columns: Mapping[str, str]) -> str:
    """The lines of the files `$paths` as rows of a table.

    A line is in the form when it is what its own values would be written as (so each key is
    there once, in order, and no other), and each value is as the form says.  Reading alone would
    not show it: DuckDB takes `2.7` for a whole number, and the first of two equal keys.
    """
    values = {key: f"value[{at}]" for at, key in enumerate(form.keys, 1)}
    line = ", ".join(
        f"""'{"," if at else "{"}"{key}":', {_python(value) if key in form.floats else value}"""
        for at, (key, value) in enumerate(values.items())
    )
    rules = [f"line = concat({line}, '}}')"]
    rules += [
        _rule(values[key], f"{values[key]} < '#'", key in form.optional) for key in form.texts
    ]
    rules += [
        _rule(values[key], f"length({values[key]}) BETWEEN {fewest} AND {most}",
              key in form.optional)
        for key, (fewest, most) in form.chars.items()
    ]  # fmt: skip
    others = ", ".join(value for key, value in values.items() if key not in form.texts)
    pattern = form.pattern.replace("'", "''")
    rules.append(f"regexp_full_match(concat_ws(',', {others}), '{pattern}', 's')")
    listed = ", ".join(_column(values[name], kind) for name, kind in columns.items())
    paths = ", ".join(f"'$.{key}'" for key in form.keys)
    return f"""
SELECT agent, {listed}, CASE WHEN {" AND ".join(rules)} THEN false ELSE true END, hash(filename)
FROM (
  SELECT agent, filename, line, TRY(json_extract(line, [{paths}]))::VARCHAR[] AS value
  FROM (
    SELECT string_split(string_split(filename, '/')[-1], '.')[2] AS agent, filename,
      unnest(coalesce(string_split(TRY(decode(content)), chr(10)), [NULL])) AS line
    FROM read_blob($paths)
  ) WHERE line IS DISTINCT FROM ''
)"""  # noqa: S608 - made of the program's own names


def _python(value: str) -> str:
    """A number as Python writes it: DuckDB's JSON differs for those below 0.0001."""
    small = f"{value} LIKE '0.0000%' OR {value} LIKE '%e-%'"
    return f"CASE WHEN {small} THEN {value}::DOUBLE::VARCHAR ELSE {value} END"


def _rule(value: str, rule: str, optional: bool) -> str:  # noqa: FBT001 - both are of the form
    return f"({value} = 'null' OR {rule})" if optional else f"({rule})"


def _column(value: str, kind: str) -> str:
    if kind == "JSON":
        return f"nullif({value}, 'null')"
    if kind in {"VARCHAR", "TIMESTAMPTZ"}:
        return f"TRY_CAST(TRY({value}::JSON ->> '$') AS {kind})"
    if kind.endswith(("]", ")")):  # a list, a struct
        return f"TRY(from_json({value}::JSON, '{dumps(kind)}'))"
    return f"TRY_CAST({value} AS {kind})"


def _literal(path: str) -> str:
    """A path as a pattern of names that means nothing but itself."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
