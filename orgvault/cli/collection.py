"""`collection add|list|show|check`: the tables that the owner shapes."""

from typing import Any

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command, Id, Lazy
from orgvault.services import collecting
from orgvault.services.collecting import Wanted

_HERE = "orgvault.cli.collection"


@click.group(
    cls=Lazy,
    lazy={
        "add": (_HERE, "add"),
        "list": (_HERE, "list_"),
        "show": (_HERE, "show"),
        "check": (_HERE, "check"),
    },
    short_help="Collections: tables of records.",
)
def collection() -> None:
    """Collections: tables that the owner shapes and agents fill."""


@click.command(
    cls=Command,
    example='orgvault collection add loans --purpose "Who has which tool" '
    "--column tool:text:required --column due:date --access nova=write",
)
@click.argument("name")
@click.option("--purpose", required=True, help="What it is for.")
@click.option(
    "--column", "columns", multiple=True, required=True, metavar="NAME:TYPE[:required]",
    help="A column: text, integer, number, boolean, date, choice or link; several times.",
)  # fmt: skip
@click.option(
    "--choices", multiple=True, metavar="COLUMN=ONE,TWO", help="What a choice column offers."
)
@click.option("--access", multiple=True, metavar="AGENT=read|write", help="An agent's grant.")
@click.option("--scope", default="guild", show_default=True, help="guild or organisation.")
@click.option(
    "--store", type=click.Choice(("files", "notes")), default="files", show_default=True,
    help="Records as files, or one note each in --folder.",
)  # fmt: skip
@click.option("--folder", help="The visible folder of the notes.")
@click.option("--queue", metavar="COLUMN", help="The choice column that holds a record's state.")
def add(**said: Any) -> None:
    """Make a collection.  Afterwards its collection.yaml is yours to edit."""
    desk = wiring.desk(writes=True)
    made = collecting.add(desk, Wanted(**said))
    output.show(made, made.path)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault collection list")
def list_() -> None:
    """The collections that you may read."""
    desk = wiring.desk()
    found, problems = collecting.listed(desk)
    rows = [(one.name, one.display_path, len(one.columns), one.purpose) for one in found]
    table = output.table(("name", "path", "columns", "purpose"), rows, "No collections.")
    output.show({"collections": found}, table)
    output.remarks(problems)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault collection show reading-queue")
@click.argument("name", type=Id("collection"))
def show(name: str) -> None:
    """A collection: what it is for, who may use it, its columns."""
    desk = wiring.desk()
    shown, problems = collecting.show(desk, name)
    shape = shown.collection
    columns = [
        (c.name, c.type, "required" if c.required else "", ", ".join(c.choices) or c.description)
        for c in shape.columns
    ]
    table = output.table(("column", "type", "", "choices"), columns, "")
    about = [f"{shape.name}: {shape.purpose}", f"{shown.display_path}, {shown.records} records"]
    about += [f"{agent} may {may}" for agent, may in shape.access.items()]
    about += [f"queue: {shape.queue}"] if shape.queue else []
    output.show(shown, output.Drawn("\n".join([*map(output.visible, about), "", table])))
    output.remarks(problems)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault collection check")
@click.argument("name", required=False, type=Id("collection"))
@click.pass_context
def check(context: click.Context, name: str | None) -> None:
    """Every collection (or one) and its records against their formats; fails on any problem."""
    desk = wiring.desk()
    files, problems = collecting.check(desk, name)
    lines = [*map(str, problems), f"{files} files, {len(problems)} problems"]
    output.show({"files": files, "problems": problems}, "\n".join(lines))
    wiring.finish(desk.vault)
    context.exit(1 if problems else 0)
