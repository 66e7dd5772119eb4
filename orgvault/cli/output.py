"""How results and remarks are shown: results on stdout, remarks on stderr."""

import json
import sys
from collections.abc import Sequence
from os import environ, get_terminal_size
from typing import Any

import click

from orgvault.cli.options import settings
from orgvault.domain.record import plain

_UNBOUNDED = 400  # columns of a table that a program reads
_GAP = 2  # between columns
_FOLDED = 24  # what the last column needs to be read


def show(result: object, text: str) -> None:
    """Print a command's result: its text, or with `--json` the object."""
    if settings().json:
        shown = plain(result)
        if settings().dry_run and isinstance(shown, dict):
            shown["dry_run"] = True
        click.echo(json.dumps(shown, ensure_ascii=False, indent=2))
    elif text:
        click.echo(f"(dry run) {text}" if settings().dry_run and result is not None else text)


def remark(text: str) -> None:
    """Say something beside the result."""
    if not settings().quiet:
        click.echo(f"orgvault: {text}", err=True)


def remarks(texts: Sequence[object]) -> None:
    """Say several things, each once."""
    for text in dict.fromkeys(map(str, texts)):
        remark(text)


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], empty: str) -> str:
    """Rows under their column names, aligned; plain where stdout is not a terminal.

    Only the last column is folded: an id or a time that is cut cannot be copied.  Where the
    terminal is too narrow for that, each row stands as a few lines of its own.
    """
    if not rows:
        return empty
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        return _drawn(columns, cells, _UNBOUNDED)
    width = get_terminal_size().columns
    fixed = [max(map(len, column)) for column in zip(columns, *cells, strict=True)][:-1]
    if sum(fixed) + _GAP * len(fixed) + _FOLDED > width:
        return "\n\n".join(_stacked(columns, row) for row in cells)
    return _drawn(columns, cells, width)


def _drawn(columns: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> str:
    from io import StringIO

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    plain_text = settings().no_color or "NO_COLOR" in environ or not sys.stdout.isatty()
    shown = Table(box=None, pad_edge=False, header_style="" if plain_text else "bold")
    for number, column in enumerate(columns, 1):
        shown.add_column(column, overflow="fold", no_wrap=number < len(columns))
    for row in cells:
        shown.add_row(*map(Text, row))
    buffer = StringIO()
    console = Console(
        file=buffer, force_terminal=not plain_text, width=width, highlight=False,
        no_color=plain_text,
    )  # fmt: skip
    console.print(shown)
    return "\n".join(line.rstrip() for line in buffer.getvalue().rstrip("\n").split("\n"))


def _stacked(columns: Sequence[str], row: Sequence[str]) -> str:
    """A row as lines `name: cell`, those that hold something."""
    return "\n".join(f"{name}: {cell}" for name, cell in zip(columns, row, strict=True) if cell)
