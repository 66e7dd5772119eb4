"""`redact`: taking a secret out of history."""

import os

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command, settings
from orgvault.services import redacting


class WhichValue(click.UsageError):
    """No value is named, or two."""

    def __init__(self) -> None:
        super().__init__("say either --find TEXT or --value-from-env NAME")


class NotSet(click.UsageError):
    """The variable that is to have the value is not there."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the variable {name} is not set: export it, or say another")


@click.command(
    cls=Command, example="orgvault redact --value-from-env CALENDAR_TOKEN --rewrite --dry-run"
)
@click.option("--find", metavar="TEXT", help="The secret; your shell may remember this line.")
@click.option("--value-from-env", "name", metavar="NAME", help="The variable that has the secret.")
@click.option("--rewrite", is_flag=True, help="Take it out of every commit, branch and tag.")
@click.pass_context
def redact(context: click.Context, find: str | None, name: str | None, *, rewrite: bool) -> None:
    """Find a secret's value in files, git and spool; with --rewrite take it out of history.

    Every commit from the first that has it on gets a new name, with `[secret]` in its place and
    every other byte as it was.  Remotes, clones and backups keep what they have.
    """
    desk = wiring.desk()
    desk.require("redact", "redact")  # before anything is said of the options
    if (find is None) == (name is None):
        raise WhichValue
    value = find if name is None else os.environ.get(name)
    if value is None:
        raise NotSet(str(name))
    done = redacting.redact(desk, value, rewrite=rewrite, only_shown=settings().dry_run)
    output.show(done, redacting.describe(done))
    wiring.finish(desk.vault)
    context.exit(1 if done.refused else 0)  # a preview ends as the command would
