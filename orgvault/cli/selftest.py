"""`selftest`: whether this disk keeps what orgvault says is recorded."""

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command, settings


@click.command(
    cls=Command, example="orgvault selftest --kills 40", short_help="Kill writers on this disk."
)
@click.option(
    "--kills",
    type=click.IntRange(min=1),
    default=40,
    show_default=True,
    metavar="N",
    help="How many writers to kill.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the moments chosen.")
@click.pass_context
def selftest(context: click.Context, kills: int, seed: int) -> None:
    """Kill writers at random in a scratch vault on this disk, and count what is lost.

    Your vault is neither read nor written.  Exits 1 when a row is lost or stands twice, or a
    command fails after a kill.
    """
    from orgvault.adapters.kills import kill_writers

    desk = wiring.desk_to_look()
    desk.require("selftest", "test this machine")
    if settings().dry_run:
        output.show({"kills": kills}, f"would kill {kills} writers in a scratch vault")
        return
    done = kill_writers(desk.vault.private, kills, seed)
    counts = f"{done.lost} lost, {done.twice} twice, {done.failed} commands failed afterwards"
    told = f"{done.trials} writers killed, {done.acknowledged} rows acknowledged: {counts}"
    output.show(done, f"{told} (seed {seed})")
    context.exit(0 if done.sound else 1)
