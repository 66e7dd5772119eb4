"""How results and remarks are shown: results on stdout, remarks on stderr."""

import json
import sys
from collections.abc import Sequence
from typing import Any

import click

from orgvault.cli.options import settings
from orgvault.domain.record import plain


def show(result: object, text: str) -> None:
    """Print a command's result: its text, or with `--json` the object."""
    if settings().json:
        click.echo(json.dumps(plain(result), ensure_ascii=False, indent=2))
    elif text:
        click.echo(text)


def remark(text: str) -> None:
    """Say something beside the result."""
    if not settings().quiet:
        click.echo(f"orgvault: {text}", err=True)


def remarks(texts: Sequence[object]) -> None:
    """Say several things, each once."""
    for text in dict.fromkeys(map(str, texts)):
        remark(text)


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], empty: str) -> str:
    """Rows under their column names, aligned; plain where stdout is not a terminal."""
    if not rows:
        return empty
    from io import StringIO

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty() and not settings().no_color
    shown = Table(box=None, pad_edge=False, header_style="bold" if terminal else "")
    for column in columns:
        shown.add_column(column, overflow="fold")
    for cells in rows:
        shown.add_row(*(Text("" if cell is None else str(cell)) for cell in cells))
    buffer = StringIO()
    width = None if sys.stdout.isatty() else 400
    console = Console(file=buffer, force_terminal=terminal, width=width, highlight=False)
    console.print(shown)
    return "\n".join(line.rstrip() for line in buffer.getvalue().rstrip("\n").split("\n"))
