"""Rows of any content as a table, CSV, JSON or Markdown: written as they come, or bounded."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import chain, islice
from math import isfinite
from typing import Any

from orgvault.cli import output

FORMATS = ("table", "csv", "json", "md")
TABLE_ROWS = 1000
_MARKUP = {ord(mark): "\\" + mark for mark in "\\|`*_[]~$"} | {ord("<"): "&lt;", ord("&"): "&amp;"}
_MARKDOWN = _MARKUP | {9: " ", 10: "<br>", 13: ""}
_QUOTED = frozenset(',"\r\n')
Row = tuple[Any, ...]


def lines(form: str, columns: Sequence[str], types: Sequence[str], rows: Iterable[Row]) -> Any:
    """The text of rows in a form, piece by piece, each with its line end."""
    if form == "csv":
        return csv(columns, rows)
    if form == "json":
        return as_json(columns, types, rows)
    return markdown(columns, rows) if form == "md" else table(columns, rows)


def table(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """Aligned columns: the first rows only, since all of them must be known before the first."""
    taken = iter(rows)
    shown = [list(map(text, row)) for row in islice(taken, TABLE_ROWS)]
    heads = [output.visible(column, "") for column in columns]
    yield output.table(heads, shown, "No rows.") + "\n"
    if next(taken, None) is not None:
        output.remark(f"only the first {TABLE_ROWS} rows are shown: --format csv gives all")


def csv(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """RFC 4180: CRLF, quotes where needed.  Nothing for null, `""` for an empty text.

    A program gets every text as it is, a terminal only what it can show.
    """
    for row in chain([columns], rows):
        line = ",".join(map(_csv_cell, row))
        yield (output.visible(line) if sys.stdout.isatty() else line) + "\r\n"


def markdown(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """A table of GitHub's Markdown in which every cell is only text."""
    yield _md_row(columns) + "|" + "---|" * len(columns) + "\n"
    for row in rows:
        yield _md_row(row)


def as_json(columns: Sequence[str], types: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """One object: `columns` (name and SQL type), and `rows`, an object on a line each.

    A name that occurs twice gets a number.  What JSON cannot say (NaN, infinity) is null.
    """
    names = _distinct(columns)
    about = [{"name": name, "type": kind} for name, kind in zip(names, types, strict=True)]
    keys = [json.dumps(name, ensure_ascii=False) for name in names]
    yield output.as_json('{"columns": ' + json.dumps(about, ensure_ascii=False) + ',\n"rows": [')
    for at, row in enumerate(rows):
        cells = (
            f"{key}: {cell if kind == 'JSON' and cell is not None else _json(cell)}"
            for key, kind, cell in zip(keys, types, row, strict=True)
        )
        yield output.as_json((",\n" if at else "\n") + "{" + ", ".join(cells) + "}")
    yield "\n]}\n"


def text(value: object) -> str:
    """A value as it stands in a cell: instants in UTC with Z, money to the last digit."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | tuple | dict):
        return _json(value)
    return _moment(value) if isinstance(value, date | time) else str(value)


def _moment(value: date | time) -> str:
    if isinstance(value, time) or not isinstance(value, datetime):
        return "infinity" if value == date.max else value.isoformat()
    if value.replace(tzinfo=None) == datetime.max:  # noqa: DTZ901 - how "infinity" arrives
        return "infinity"
    if value.tzinfo is None:
        return value.isoformat()
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _json(value: object) -> str:
    if value is None or isinstance(value, bool | int):
        return json.dumps(value)
    if isinstance(value, float | Decimal):
        if not isfinite(value):
            return "null"
        return f"{value:f}" if isinstance(value, Decimal) else repr(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_json, value)) + "]"
    if isinstance(value, dict):
        pairs = (f"{_json(text(key))}: {_json(item)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    return json.dumps(text(value), ensure_ascii=False)


def _csv_cell(value: object) -> str:
    shown = text(value)
    if value is not None and (not shown or shown != shown.strip() or _QUOTED.intersection(shown)):
        return '"' + shown.replace('"', '""') + '"'
    return shown


def _md_row(cells: Iterable[object]) -> str:
    shown = (output.visible(text(cell).translate(_MARKDOWN), "") for cell in cells)
    return "| " + " | ".join(shown) + " |\n"


def _distinct(columns: Sequence[str]) -> list[str]:
    names: list[str] = []
    for column in columns:
        name, number = column, 1
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names.append(name)
    return names
