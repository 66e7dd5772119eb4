"""`recall`: what an agent's memory holds on a question."""

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command
from orgvault.domain.passage import Passage
from orgvault.services import recalling


@click.command(cls=Command, example='orgvault recall nova "installing dependencies" -k 3')
@click.argument("agent")
@click.argument("query")
@click.option(
    "-k", "count", type=click.IntRange(1, 1000), default=8, show_default=True, metavar="N",
    help="At most this many passages.",
)  # fmt: skip
def recall(agent: str, query: str, count: int) -> None:
    """The claims and notebook sections of AGENT that fit QUERY, best first."""
    desk = wiring.desk()
    passages = recalling.recall(desk, agent, query, count)
    text = "\n\n".join(map(_shown, passages)) or f"{agent} remembers nothing of that."
    output.show({"passages": passages}, text)
    wiring.finish(desk.vault)


def _shown(one: Passage) -> str:
    where = one.kind or f"{one.file}:{one.line}"
    text = "\n".join(f"  {line}".rstrip() for line in one.text.split("\n"))
    return f"{one.id}  ({one.source}, {where}, {one.score:.2f})\n{text}".rstrip()
