"""`replay`: stored answers judged again."""

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command
from orgvault.services import replaying


@click.command(cls=Command, example="orgvault replay run-0412 run-0419")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.pass_context
def replay(context: click.Context, runs: tuple[str, ...]) -> None:
    """Judge the stored answers of RUN again: no model is asked, nothing is written.

    Exits with 1 when today's rules would judge any of them otherwise.
    """
    desk = wiring.desk_to_look()
    done = replaying.replay(desk, runs, wiring.reflecting(desk))
    output.show(done, replaying.describe(done))
    output.remarks(desk.vault.remarks)
    context.exit(1 if done.differ else 0)
