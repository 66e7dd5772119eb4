"""`run start|list|show|exec`: runs and what their models were told."""

import click

from orgvault.cli import output, prompting, wiring
from orgvault.cli.options import Command, Id, Lazy
from orgvault.services import showing, starting

_HERE = "orgvault.cli.run"


@click.group(
    cls=Lazy,
    lazy={
        "start": (_HERE, "start"),
        "list": (_HERE, "list_"),
        "show": (_HERE, "show"),
        "exec": ("orgvault.cli.running", "exec_"),
    },
    short_help="Runs: start one, and see what its model was told.",
)
def run() -> None:
    """Runs: each begins with a prompt that is composed afresh and stored as it was sent."""


@click.command(cls=Command, example='orgvault run start nova --message "Mend the feed."')
@click.argument("agent")
@prompting.origin
@prompting.format_
def start(agent: str, message: str, group: int | None, routine: str | None, form: str) -> None:
    """Compose and store the prompt of a new run of AGENT, and print it; the run's id is remarked.

    Hand ORGVAULT_RUN=<that id> to the client, and report the run with `orgvault wake-done` or
    `orgvault reflect`.
    """
    desk = wiring.desk(writes=True)
    started = starting.start(desk, agent, prompting.origin_of(message, group, routine))
    prompting.show_sent(started.sent, started.composed, form)
    output.remarks([*started.remarks, f"started {started.manifest.run}"])
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault run list --agent nova")
@click.option("--agent", metavar="AGENT", help="Only this agent's.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=showing.MOST_LISTED, show_default=True,
    metavar="N", help="The latest N.",
)  # fmt: skip
def list_(agent: str | None, limit: int) -> None:
    """The latest runs that orgvault has started, newest first."""
    desk = wiring.desk()
    runs = showing.listed(desk, agent, limit)
    columns = ("run", "agent", "at", "tokens", "from")
    rows = [
        (one.run, one.agent, one.at, sum(s.tokens for s in one.sections), showing.origin(one))
        for one in runs
    ]
    output.show({"runs": runs}, output.table(columns, rows, "No runs yet."))
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault run show run-7f3k2q9d --section task")
@click.argument("run_id", metavar="RUN", type=Id("run"))
@click.option("--section", metavar="NAME", help="Only this section, or `message`, as it was sent.")
def show(run_id: str, section: str | None) -> None:
    """How the prompt of RUN came about, and the prompt byte for byte."""
    desk = wiring.desk()
    stored = showing.stored(desk, run_id)
    if section:
        prompting.show_text(section, stored.text(section))
    else:
        output.show(stored, showing.describe(stored))
    wiring.finish(desk.vault)
