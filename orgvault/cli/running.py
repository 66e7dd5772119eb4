"""`run exec`: one run by hand; and how runs that have ended are shown."""

import click

from orgvault.cli import output, wiring
from orgvault.cli.dispatched import described
from orgvault.cli.options import Command, settings
from orgvault.posix import interrupted_by_term
from orgvault.services import running


@click.command(cls=Command, example='orgvault run exec nova --message "Look at the feed." -- cat')
@click.argument("agent")
@click.option("--message", default="", help="What the operator says to the agent.")
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND…")
def exec_(agent: str, message: str, command: tuple[str, ...]) -> None:
    """Start a run of AGENT, have COMMAND answer it, and record how it ended."""
    desk = wiring.desk(writes=True)
    if settings().dry_run:
        name = running.planned(desk, agent).id
        output.show({"agent": name, "command": command}, f"would run {name}: {' '.join(command)}")
        return
    said = message.encode(errors="replace").decode()
    with interrupted_by_term():
        done = running.execute(
            desk, agent, said, command, wiring.clients(), wiring.reflecting(desk)
        )
    output.show(done.runs[0], "\n".join(described(one) for one in done.runs))
    output.remarks(done.remarks)
    wiring.finish(desk.vault)
