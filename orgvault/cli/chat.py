"""`chat post|list`: the group chat."""

import sys

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command, Lazy
from orgvault.services import chatting

_HERE = "orgvault.cli.chat"
_STDIN_BYTES = 1024 * 1024


@click.group(
    cls=Lazy,
    lazy={"post": (_HERE, "post"), "list": (_HERE, "list_")},
    short_help="The group chat.",
)
def chat() -> None:
    """The group chat of people and agents."""


@click.command(cls=Command, example='orgvault chat post "@nova The feed lacks dates."')
@click.argument("text")
@click.option("--run", envvar="ORGVAULT_RUN", help="The run that writes it.")
def post(text: str, run: str | None) -> None:
    """Post TEXT (`-`: standard input).  Tagged agents are woken; `@operator` makes a card."""
    desk = wiring.desk(writes=True)
    posted = chatting.post(desk, _stdin() if text == "-" else text, run)
    woken = [f"woken: {one.agent} ({one.reason}, {one.wake})" for one in posted.wakes]
    card = [f"card: {posted.card}"] if posted.card else []
    output.show(posted, "\n".join([f"message {posted.said.seq}", *woken, *card]))
    output.remarks(posted.remarks)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault chat list --limit 40")
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="How many at most."
)
def list_(limit: int) -> None:
    """The newest messages, oldest first."""
    desk = wiring.desk()
    said = chatting.listed(desk, limit)
    rows = [(one.seq, one.at, name, one.text) for one, name in said]
    table = output.table(("seq", "at", "by", "text"), rows, "Nothing was said yet.")
    output.show({"messages": [one for one, _ in said]}, table)
    wiring.finish(desk.vault)


def _stdin() -> str:
    """What stands on standard input, whatever bytes it holds; no more than can be refused."""
    return sys.stdin.buffer.read(_STDIN_BYTES).decode(errors="replace")
