"""`stats`: what the work of the whole roster came to."""

import click

from orgvault.cli import drawing, output, wiring
from orgvault.cli.options import Command
from orgvault.services import measuring
from orgvault.services.measuring import Stats

_COLUMNS = ("agent", "done", "corrected", "per card", "usd", "per card", "from")


@click.command(cls=Command, example="orgvault stats --days 30 --plot month.svg")
@click.option("--days", type=click.IntRange(min=0), metavar="N", help="Only the last N days.")
@click.option("--plot", "file", metavar="FILE.svg", help="Draw the weeks into this file too.")
def stats(days: int | None, file: str | None) -> None:
    """Corrections and cost per completed card: a line for each agent, and the total."""
    desk = wiring.desk()
    measured, problems = measuring.roster(desk, days=days)
    problems += drawing.draw(desk, None, file, days)
    rows = [_line(one) for one in (*measured.agents, measured.total)]
    output.show(measured, output.table(_COLUMNS, rows, ""))
    output.remarks(problems)
    wiring.finish(desk.vault)


def _line(one: Stats) -> tuple[object, ...]:
    did, asked = one.work, one.proposals
    rest = [
        f"{did.episodes} episodes", f"{did.unpriced} unpriced",
        f"{sum(states['active'] for states in one.claims.values())} claims",
        f"{one.reflections.reflections} reflections", f"{asked.filed} proposals",
        *([f"{asked.shipped} shipped"] if asked.shipped else ()),
        *([f"{asked.denied} denied"] if asked.denied else ()),
    ]  # fmt: skip
    return (
        one.agent or "total", did.done, did.corrected,
        _figure(did.corrections_per_completed_card, 2), _figure(did.cost_usd, 4),
        _figure(did.cost_per_completed_card_usd, 4), ", ".join(rest),
    )  # fmt: skip


def _figure(value: float | None, digits: int) -> str:
    return "n/a" if value is None else f"{value:.{digits}f}"
