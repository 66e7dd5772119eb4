"""`query`: a question in SQL."""

import click

from orgvault.cli import answers, output, wiring
from orgvault.cli.options import Command, settings
from orgvault.services import querying


@click.command(
    cls=Command,
    example='orgvault query "SELECT outcome, count(*) FROM episodes GROUP BY ALL" --format md',
)
@click.argument("sql")
@click.option(
    "--format", "form", type=click.Choice(answers.FORMATS), help="How to show it.  [default: table]"
)
def query(sql: str, form: str | None) -> None:
    """Answer one SELECT (DuckDB's SQL) from the rows that you may read; changes nothing.

    The views are episodes, corrections, claims, reflections, wakes, cards, ledger and
    runs.
    """
    if settings().json and form not in {None, "json"}:
        word = f"--format {form} and --json exclude each other"
        raise click.UsageError(word)
    wanted = "json" if settings().json else form or "table"
    desk = wiring.desk()
    with querying.answer(desk, sql) as (found, problems):
        for piece in answers.lines(wanted, found.columns, found.types, found.rows):
            click.echo(piece, nl=False, color=True)  # as it is: nothing is stripped
    output.remarks(problems)
    wiring.finish(desk.vault)
