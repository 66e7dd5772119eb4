"""`script add|list`: what agents may run."""

from typing import Any

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command, Lazy
from orgvault.services import scripting
from orgvault.services.scripting import Wanted

_HERE = "orgvault.cli.script"


@click.group(
    cls=Lazy,
    lazy={"add": (_HERE, "add"), "list": (_HERE, "list_")},
    short_help="Scripts that agents may run.",
)
def script() -> None:
    """Scripts: commands with their files, each in a folder of its agent."""


@click.command(
    cls=Command,
    example="orgvault script add nova links --command python3 --command links.py "
    '--description "List dead links" --file links.py',
)
@click.argument("agent")
@click.argument("name")
@click.option("--command", multiple=True, required=True, metavar="WORD", help="Word by word.")
@click.option("--description", required=True, help="What it does.")
@click.option("--file", "files", multiple=True, metavar="PATH", help="A file to stand beside it.")
@click.option("--parameters", metavar="JSON-FILE", help="A JSON Schema of what it reads on stdin.")
@click.option(
    "--timeout", "timeout_s", type=int, default=30, show_default=True, metavar="SECONDS",
    help="After how long it is stopped.",
)  # fmt: skip
def add(agent: str, **said: Any) -> None:
    """Give an agent a script.  Afterwards its files are yours to edit."""
    desk = wiring.desk(writes=True)
    made = scripting.add(desk, agent, Wanted(**said))
    output.show(made, "\n".join(made.paths))
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault script list juno")
@click.argument("agent", required=False)
def list_(agent: str | None) -> None:
    """The scripts of an agent, or of all that you may read."""
    desk = wiring.desk()
    found, problems = scripting.listed(desk, agent)
    rows = [
        (
            one.agent,
            one.script.name,
            "tool" if one.script.parameters else "",
            one.script.description,
        )
        for one in found
    ]
    table = output.table(("agent", "script", "", "description"), rows, "No scripts.")
    output.show({"scripts": found}, table)
    output.remarks(problems)
    wiring.finish(desk.vault)
