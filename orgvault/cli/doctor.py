"""`doctor`: what keeps a vault from working well."""

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command, settings
from orgvault.services import doctoring


@click.command(cls=Command, example="orgvault doctor --fix --dry-run")
@click.option("--fix", is_flag=True, help="Mend what is safe; each thing mended is said.")
@click.pass_context
def doctor(context: click.Context, *, fix: bool) -> None:
    """Examine git, locks, sync tools, files, secrets and isolation; fails on any fault.

    `--fix` removes locks that nobody holds and writes missing attributes, nothing else.
    """
    desk = wiring.desk_to_compile()
    done = doctoring.examine(desk, fix=fix, only_shown=settings().dry_run)
    told = f"{len(done.diagnoses)} answers, {done.warnings} warnings, {done.faults} faults"
    output.show(done, "\n".join([*map(str, done.diagnoses), told]))
    wiring.finish(desk.vault)
    context.exit(1 if done.faults else 0)
