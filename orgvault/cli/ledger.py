"""`ledger sync|list|show`: what shipped proposals did to the two numbers."""

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command, Lazy, settings
from orgvault.services import ledger_views

_HERE = "orgvault.cli.ledger"


@click.group(
    cls=Lazy,
    lazy={name: (_HERE, attribute) for name, attribute in (
        ("sync", "sync"), ("list", "list_"), ("show", "show"),
    )},
    short_help="What shipped proposals did.",
)  # fmt: skip
def ledger() -> None:
    """What shipped proposals did to corrections and cost, before and after."""


@click.command(cls=Command, example="orgvault ledger sync")
def sync() -> None:
    """Notice what was shipped or taken back, and measure what is due."""
    from orgvault.services import ledgering

    desk = wiring.desk()
    synced, problems = ledgering.sync(desk)
    output.show(synced, ledger_views.told(synced))
    output.remarks(problems)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault ledger list")
def list_() -> None:
    """The shipped proposals and their verdicts, latest first."""
    desk = wiring.desk()
    entries, problems = ledger_views.listed(desk)
    rows = [ledger_views.line(one) for one in entries]
    output.show(
        {"entries": entries}, output.table(ledger_views.COLUMNS, rows, "Nothing was shipped yet.")
    )
    output.remarks(problems)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault ledger show imp-7f3k2q9d --plot windows.svg")
@click.argument("card")
@click.option("--plot", "file", metavar="FILE.svg", help="Draw both windows into this file too.")
def show(card: str, file: str | None) -> None:
    """The measurement of one shipped proposal."""
    desk = wiring.desk()
    entry = ledger_views.show(desk, card)
    if file is not None:
        from orgvault.services import ledger_plot, plotting

        made, problems = ledger_plot.plot(desk, entry, file)
        if not settings().dry_run:
            plotting.save(made)
        output.remark(f"{'would write' if settings().dry_run else 'wrote'} {made.path}")
        output.remarks(problems)
    output.show(entry, ledger_views.describe(entry))
    wiring.finish(desk.vault)
