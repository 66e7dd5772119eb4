"""`propose-improvement`: one card because of one recurring claim."""

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command
from orgvault.services import proposing


@click.command(
    "propose-improvement",
    cls=Command,
    example="orgvault propose-improvement nova --memory-id c-7f3k2q9d",
    short_help="Ask for a change because of a recurring claim.",
)
@click.argument("agent")
@click.option("--memory-id", required=True, metavar="ID", help="The claim, or a beginning of it.")
def propose_improvement(agent: str, memory_id: str) -> None:
    """File a card with the change to AGENT's own files that would stop a recurring friction.

    A person applies it, or closes it.  Exits 3 with the reason when nothing is filed.
    """
    desk = wiring.desk()
    made = proposing.propose(desk, agent, memory_id, wiring.means())
    output.show(made, proposing.describe(made))
    wiring.finish(desk.vault)
