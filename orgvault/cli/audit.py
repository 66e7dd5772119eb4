"""`audit`: what the history proves."""

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command, settings
from orgvault.services import auditing


@click.command(cls=Command, example="orgvault audit --since origin/main")
@click.option("--since", metavar="REV", help="Only the commits that REV does not stand on.")
@click.pass_context
def audit(context: click.Context, since: str | None) -> None:
    """Prove from history that no row or claim was lost or altered; fails on any finding."""
    desk = wiring.desk_to_compile()
    done = auditing.audit(desk, since, keep=not settings().dry_run)
    told = f"{done.commits} commits, {done.rows} rows, {done.claims} claims"
    lines = [*map(str, done.findings), f"{told}, {len(done.findings)} findings"]
    output.show(done, "\n".join(lines))
    output.remarks(done.notes)
    wiring.finish(desk.vault)
    context.exit(1 if done.findings else 0)
