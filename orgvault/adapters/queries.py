"""Questions that a person or an agent asks in SQL, answered from tables and from nothing else.

A question is looked at before anything is loaded: one SELECT, and no function that reads, writes
or calls something other than tables.  Then the database is locked, read only, and the answer
bounded in time and memory.  Each of these would do alone; bounds of a library have holes.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TypeVar

from orgvault.adapters.bounds import Overdue, Watch, more_memory
from orgvault.adapters.statistics import MEMORY_MB, Tables
from orgvault.errors import OrgvaultError
from orgvault.values import dataclass

T = TypeVar("T")
LIMIT_S = 60.0
OVERFLOW_MB = 2048
ROWS_A_BATCH = 500
SQL_BYTES = 64 * 1024
_SAID_CHARS = 600
# The functions that give tables and do nothing else.  All others that the library has are
# refused, those that it may get one day too: some of them read files or the memory of the process.
_TABLE_FUNCTIONS = """
duckdb_columns duckdb_functions duckdb_tables duckdb_types duckdb_views generate_series histogram
histogram_values json_each json_tree pg_timezone_names pragma_table_info range repeat repeat_row
unnest"""
# Functions of values that are more: they bind SQL of their own, tell of the machine,
# write, wait, or believe bytes.
_REFUSED = """
combine current_setting finalize json_serialize_plan pg_sleep setseed setval sleep_ms
to_aggregate_state write_log"""
# The parsed question as JSON: quotes inside a text are escaped there, so these are no text's.
_FUNCTION = re.compile(r'"function_name":"((?:[^"\\]|\\.)*)"')
_TABLE = re.compile(r'"table_name":"((?:[^"\\]|\\.)*)"')


class BadQuery(OrgvaultError):
    """A query cannot be answered; the database says why, and where in it."""

    def __init__(self, said: str, line: int, column: int) -> None:
        where = f" (line {line}, column {column})" if line else ""
        super().__init__(f"the query cannot be answered: {said}{where}")


class NotOneSelect(OrgvaultError):
    """A query is something else than one SELECT."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"a query is one SELECT, and this is {found}: it reads the tables that "
            "`orgvault query 'SHOW TABLES'` lists, and changes nothing"
        )


class NameRefused(OrgvaultError):
    """A query names a function, or a view, that reaches beyond the tables."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"a query may not use {name}: it reads the tables that "
            "`orgvault query 'SHOW TABLES'` lists, and nothing else"
        )


class QueryTooLong(OrgvaultError):
    """A query takes longer than it may."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(
            f"the query was stopped after {limit_s:g} seconds: ask for less "
            "(a WHERE, a LIMIT, a smaller join)"
        )


class QueryTooLarge(OrgvaultError):
    """A query needs more memory than it may have."""

    def __init__(self, limit_mb: int) -> None:
        super().__init__(
            f"the query needs more than {limit_mb} MB of memory: ask for less "
            "(a WHERE, fewer columns, a smaller join)"
        )


@dataclass(frozen=True)
class Rows:
    """An answer: the names of its columns, their SQL types, and the rows as they come."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


class Queries(Tables):
    """Tables of which one question of unknown content is asked."""

    def __init__(self, *, limit_s: float = LIMIT_S) -> None:
        super().__init__()
        self._limit_s = limit_s
        self._watch = Watch(limit_s, self._database.interrupt)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if self._watch.stuck:  # closing would wait for what could not be stopped
            self._overflow.cleanup()
        else:
            super().__exit__(kind, error, trace)

    def mentioned(self, sql: str) -> set[str]:
        """The tables that a question names (and perhaps some that it only calls a column).

        Raises BadQuery, NotOneSelect, NameRefused.
        """
        tree = self._tree(sql)
        reaching = self._reaching()
        named = {name.lower() for name in _TABLE.findall(tree)}
        for name in [one.lower() for one in _FUNCTION.findall(tree)]:
            if name in reaching:
                raise NameRefused(name)
        for name, text in self.ask("SELECT view_name, sql FROM duckdb_views() WHERE internal"):
            if name in named and any(f"{one}(" in text.lower() for one in reaching):
                raise NameRefused(name)
        return named

    def _reaching(self) -> set[str]:
        """The functions that a question may not call."""
        known = self.ask(
            "SELECT DISTINCT function_name FROM duckdb_functions() "
            "WHERE function_type IN ('table', 'table_macro')"
        )
        names = {str(name).lower() for (name,) in known}.difference(_TABLE_FUNCTIONS.split())
        return names.union(_REFUSED.split())

    def view(self, name: str, select: str) -> None:
        """Let a name stand for what a SELECT of our own gives."""
        self._execute(f"CREATE VIEW {name} AS {select}")

    def lock(self) -> None:
        """Close every way out of the database, and into it."""
        for setting, value in {
            "TimeZone": "'UTC'",
            "preserve_insertion_order": "true",
            "max_temp_directory_size": f"'{OVERFLOW_MB}MB'",
            "extension_directory": "''",
            "secret_directory": "''",
        }.items():
            self._database.execute(f"SET {setting} = {value}")
        super().lock()
        self._database.execute("BEGIN TRANSACTION READ ONLY")

    @contextmanager
    def answer(self, sql: str) -> Iterator[Rows]:
        """Answer a question that was looked at, from a database that was locked.

        Raises BadQuery, QueryTooLong, QueryTooLarge: at once, or when the rows are taken.
        """
        with more_memory(2 * MEMORY_MB):
            result = self._step(sql, lambda: self._database.execute(sql))
            about = result.description or []
            yield Rows(
                tuple(str(one[0]) for one in about),
                tuple(str(one[1]) for one in about),
                self._rows(sql),
            )

    def _rows(self, sql: str) -> Iterator[tuple[Any, ...]]:
        while rows := self._step(sql, lambda: self._database.fetchmany(ROWS_A_BATCH)):
            yield from rows

    def _tree(self, sql: str) -> str:
        """A question as it was parsed, in JSON."""
        fault = _size_fault(sql)
        if not fault:
            fault = _kind_fault(self._step(sql, lambda: self._database.extract_statements(sql)))
        if fault:
            raise NotOneSelect(fault)
        told = self._step(sql, lambda: self.ask("SELECT json_serialize_sql($sql)", sql=sql))
        tree = str(told[0][0])
        if tree.startswith('{"error":true'):
            raise BadQuery(str(json.loads(tree).get("error_message")), 0, 0)
        return tree

    def _step(self, sql: str, step: Callable[[], T]) -> T:
        try:
            return self._watch.run(step)
        except Overdue:
            raise QueryTooLong(self._limit_s) from None
        except (self._library.OutOfMemoryException, MemoryError):
            raise QueryTooLarge(2 * MEMORY_MB) from None
        except self._library.Error as failure:
            raise _spoken(str(failure), sql) from None
        except (ArithmeticError, TypeError, ValueError) as failure:
            raise _unlike(failure) from None


def _size_fault(sql: str) -> str:
    try:
        size = len(sql.encode())
    except UnicodeEncodeError:
        return "no UTF-8 text"
    return f"{size} bytes long (of at most {SQL_BYTES})" if size > SQL_BYTES else ""


def _kind_fault(statements: list[Any]) -> str:
    """What these statements are instead of one SELECT."""
    if len(statements) != 1:
        return f"{len(statements)} statements" if statements else "empty"
    try:
        kind = str(statements[0].type.name)
    except ValueError:  # one that the library has, and its Python has no name for
        kind = "something else"
    if kind == "MULTI":
        return "a PIVOT without its values (write ON column IN ('a', 'b'))"
    names = {"SELECT": "", "LOAD": "INSTALL or LOAD", "LOGICAL_PLAN": "a plan"}
    return names.get(kind, kind)


def _unlike(failure: Exception) -> BadQuery:
    """A value that Python has no like of, a map with lists for keys for example."""
    return BadQuery(f"{' '.join(str(failure).split())}, cast it to VARCHAR", 0, 0)


def _spoken(failure: str, sql: str) -> BadQuery:
    """The database's own words on one line, with the place in the question."""
    kind, _, about = failure.partition(": ")
    try:
        told = json.loads(about)
        said, at = str(told["exception_message"]), int(told.get("position", -1))
    except (ValueError, TypeError, KeyError):
        said, at = about or kind, -1
    words = " ".join(said.split())
    if len(words) > _SAID_CHARS:
        words = words[: _SAID_CHARS - 1] + "…"
    if at < 0:
        return BadQuery(words, 0, 0)
    before = sql.encode()[:at].decode(errors="replace")
    return BadQuery(words, before.count("\n") + 1, len(before) - before.rfind("\n"))
