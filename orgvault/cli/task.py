"""`task add|list|show|redo|done|close`: the backlog."""

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command, Lazy
from orgvault.services import tasking

_HERE = "orgvault.cli.task"


@click.group(
    cls=Lazy,
    lazy={name: (_HERE, attribute) for name, attribute in (
        ("add", "add"), ("list", "list_"), ("show", "show"), ("redo", "redo"), ("done", "done"),
        ("close", "close"),
    )},
    short_help="The backlog: cards.",
)  # fmt: skip
def task() -> None:
    """The backlog: one Markdown note a card, in the visible folder."""


@click.command(cls=Command, example='orgvault task add "Mend the feed" --agent nova')
@click.argument("title")
@click.option("--agent", metavar="AGENT", help="Who is to do it.")
@click.option("--body", default="", help="The text of the card.")
def add(title: str, agent: str | None, body: str) -> None:
    """Put a card on the backlog; prints its id."""
    desk = wiring.desk()
    card = tasking.add(desk, title, agent, body)
    output.show(card, card.id)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault task list --all")
@click.option("--all", "closed", is_flag=True, help="Finished and closed ones too.")
def list_(*, closed: bool) -> None:
    """The cards that are still to do, newest first."""
    desk = wiring.desk()
    cards, problems = tasking.listed(desk, closed=closed)
    columns = ("card", "kind", "status", "agent", "created", "title")
    rows = [(c.id, c.kind, c.status, c.agent, c.created, c.title) for c in cards]
    output.show({"cards": cards}, output.table(columns, rows, "No cards."))
    output.remarks(problems)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault task show t-7f3k2q9d")
@click.argument("card")
def show(card: str) -> None:
    """A card as it stands."""
    desk = wiring.desk()
    stored = tasking.show(desk, card)
    output.show({"card": stored.card, "text": stored.text}, stored.text.rstrip())
    wiring.finish(desk.vault)


@click.command(cls=Command, example='orgvault task redo t-7f3k2q9d "The feed lacks dates."')
@click.argument("card")
@click.argument("why")
def redo(card: str, why: str) -> None:
    """Send a card's work back to the agent that finished it."""
    desk = wiring.desk()
    sent = tasking.redo(desk, card, why)
    text = f"{sent.correction.run} of {sent.correction.agent} marked corrected; woken: {sent.wake}"
    output.show(sent, text)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault task done t-7f3k2q9d")
@click.argument("card")
def done(card: str) -> None:
    """Mark a card done."""
    _mark(card, "done")


@click.command(cls=Command, example="orgvault task close t-7f3k2q9d")
@click.argument("card")
def close(card: str) -> None:
    """Close a card without its being done."""
    _mark(card, "closed")


def _mark(card: str, status: str) -> None:
    desk = wiring.desk()
    marked = tasking.set_status(desk, card, status)
    output.show(marked, f"{marked.id} is {marked.status}")
    wiring.finish(desk.vault)
