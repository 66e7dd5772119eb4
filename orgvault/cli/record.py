"""`record add|list`: the records of collections."""

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command, Id, Lazy
from orgvault.services import collecting
from orgvault.services.collecting import Question

_HERE = "orgvault.cli.record"


@click.group(
    cls=Lazy,
    lazy={"add": (_HERE, "add"), "list": (_HERE, "list_")},
    short_help="Records of a collection.",
)
def record() -> None:
    """Records: the rows of a collection."""


@click.command(
    cls=Command, example='orgvault record add reading-queue title="The Gardener" pages=148'
)
@click.argument("collection", type=Id("collection"))
@click.argument("values", nargs=-1, required=True, metavar="COLUMN=VALUE…")
@click.option("--run", envvar="ORGVAULT_RUN", help="The run that adds it.")
def add(collection: str, values: tuple[str, ...], run: str | None) -> None:
    """Add a record; prints its id."""
    desk = wiring.desk(writes=True)
    made = collecting.add_record(desk, collection, values, run)
    output.show(made, made.record.id)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault record list reading-queue --where state=asked")
@click.argument("collection", type=Id("collection"))
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Only those; several times.")
@click.option("--since", metavar="WHEN", help="Only those changed since that instant or day (UTC).")
@click.option(
    "--order", default="created", show_default=True, metavar="COLUMN",
    help="A column, or id, created, updated; with - before it, the other way round.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(1), help="How many at most.")
def list_(
    collection: str, where: tuple[str, ...], since: str | None, order: str, limit: int | None
) -> None:
    """The records of a collection."""
    desk = wiring.desk()
    question = Question(where=where, since=since, order=order, limit=limit)
    shape, found, problems = collecting.records(desk, collection, question)
    names = [one.name for one in shape.columns]
    rows = [(one.id, *(_cell(one.values.get(name)) for name in names)) for one in found]
    output.show({"records": found}, output.table(("record", *names), rows, "No records."))
    output.remarks(problems)
    wiring.finish(desk.vault)


def _cell(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value
