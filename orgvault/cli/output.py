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
_JOINERS = "\u200c\u200d"  # Persian words and emoji are written with them
_LINES = "\n\t"


class Drawn(str):
    """A text that `visible` has seen, perhaps with colours of our own."""

    __slots__ = ()


def show(result: object, text: str) -> None:
    """Print a command's result: its text, or with `--json` the object."""
    if settings().json:
        shown = plain(result)
        if settings().dry_run and isinstance(shown, dict):
            shown["dry_run"] = True
        click.echo(as_json(json.dumps(shown, ensure_ascii=False, indent=2)))
    elif text:
        text = text if isinstance(text, Drawn) else visible(text)
        planned = settings().dry_run and result is not None
        # Else click takes out of a prompt what looks like a terminal's colours.
        click.echo(f"(dry run) {text}" if planned else text, color=True)


def remark(text: str) -> None:
    """Say something beside the result."""
    if not settings().quiet:
        complain(text)


def complain(text: str) -> None:
    """Say on stderr what went wrong, also with `--quiet`."""
    click.echo(f"orgvault: {visible(text)}", err=True)


def remarks(texts: Sequence[object]) -> None:
    """Say several things, each once."""
    for text in dict.fromkeys(map(str, texts)):
        remark(text)


def visible(text: str, kept: str = _LINES) -> str:
    r"""The text with what would steer a terminal, or cannot be seen, as `\x1b` or `\u202e`.

    A text may be a model's or a stranger's.  Line ends and tabs stay unless `kept` says otherwise;
    joiners and wide spaces always stay.
    """
    if text.isprintable():
        return text
    if "\n" in kept and "\r\n" in text:
        return "\r\n".join(visible(line, kept) for line in text.split("\r\n"))
    return "".join(char if _is_seen(char) or char in kept else repr(char)[1:-1] for char in text)


def as_json(text: str) -> str:
    """JSON with the same characters escaped as JSON does it."""
    if text.isprintable():
        return text
    return "".join(c if _is_seen(c) or c in _LINES else json.dumps(c)[1:-1] for c in text)


def _is_seen(char: str) -> bool:
    if char.isprintable() or char in _JOINERS:
        return True
    return char.isspace() and char >= "\xa0" and char not in "\u2028\u2029"


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], empty: str) -> Drawn:
    """Rows under their column names, aligned; plain where stdout is not a terminal.

    Only the last column is folded: an id or a time that is cut cannot be copied.  Where the
    terminal is too narrow for that, each row stands as a few lines of its own.
    """
    if settings().json:
        return Drawn()  # it is not looked at, and drawing costs an import
    if not rows:
        return Drawn(visible(empty))
    cells = [["" if cell is None else visible(str(cell), "") for cell in row] for row in rows]
    fixed = [max(map(len, column)) for column in zip(columns, *cells, strict=True)][:-1]
    if not sys.stdout.isatty():
        # Room for all but the last column, even in letters that are two columns wide.
        return Drawn(_drawn(columns, cells, _UNBOUNDED + 2 * sum(fixed) + _GAP * len(fixed)))
    width = get_terminal_size().columns
    if sum(fixed) + _GAP * len(fixed) + _FOLDED > width:
        return Drawn("\n\n".join(_stacked(columns, row) for row in cells))
    return Drawn(_drawn(columns, cells, width))


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
