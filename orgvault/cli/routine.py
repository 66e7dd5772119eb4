"""`routine add|list|due|pause|resume`: standing instructions."""

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command, Id, Lazy
from orgvault.services import scheduling

_HERE = "orgvault.cli.routine"


@click.group(
    cls=Lazy,
    lazy={name: (_HERE, attribute) for name, attribute in (
        ("add", "add"), ("list", "list_"), ("due", "due"), ("pause", "pause"),
        ("resume", "resume"),
    )},
    short_help="Routines: standing instructions.",
)  # fmt: skip
def routine() -> None:
    """Routines: what wakes an agent by the clock, in the vault's time zone."""


@click.command(
    cls=Command, example='orgvault routine add juno weekly --cron "45 8 * * 5" "Write the digest."'
)
@click.argument("agent")
@click.argument("routine_id", metavar="ID")
@click.option("--cron", default="", help="Minute, hour, day of month, month, weekday.")
@click.option("--window", default="", help="Weekdays of cron and hours: `1-5 22:00-02:00`.")
@click.argument("instruction")
def add(agent: str, routine_id: str, cron: str, window: str, instruction: str) -> None:
    """Wake AGENT by cron, or once in each window, with an INSTRUCTION."""
    desk = wiring.desk()
    made = scheduling.add(desk, agent, routine_id, (cron, window), instruction)
    output.show(made, f"{made.id} wakes {made.agent}: {made.when}")
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault routine list juno")
@click.argument("agent", required=False)
def list_(agent: str | None) -> None:
    """The routines, with the instant at which each comes next."""
    desk = wiring.desk()
    found, problems = scheduling.listed(desk, agent)
    columns = ("routine", "agent", "when", "next", "instruction")
    rows = [
        (
            one.routine.id, one.routine.agent, one.routine.when,
            "paused" if one.routine.paused else one.next or "never",
            " ".join(one.routine.instruction.split()),
        )
        for one in found
    ]  # fmt: skip
    output.show({"routines": found}, output.table(columns, rows, "No routines."))
    output.remarks(problems)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault routine due")
def due() -> None:
    """What is due now and has woken nobody yet; `orgvault dispatch` wakes them."""
    desk = wiring.desk()
    found, problems = scheduling.due(desk)
    rows = [(one.routine.id, one.routine.agent, one.occurrence, one.wake) for one in found]
    table = output.table(("routine", "agent", "due since", "wake"), rows, "Nothing is due.")
    output.show({"due": found}, table)
    output.remarks(problems)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault routine pause weekly-digest")
@click.argument("routine_id", metavar="ID", type=Id("routine"))
def pause(routine_id: str) -> None:
    """Let a routine wake nobody until it is resumed."""
    _set(routine_id, paused=True)


@click.command(cls=Command, example="orgvault routine resume weekly-digest")
@click.argument("routine_id", metavar="ID", type=Id("routine"))
def resume(routine_id: str) -> None:
    """Let a routine wake its agent again; what was missed is not made up."""
    _set(routine_id, paused=False)


def _set(routine_id: str, *, paused: bool) -> None:
    desk = wiring.desk()
    changed = scheduling.set_paused(desk, routine_id, paused=paused)
    output.show(changed, f"{changed.id} is {'paused' if paused else 'resumed'}")
    wiring.finish(desk.vault)
