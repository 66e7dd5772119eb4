"""`connector list|check|try`: outside systems that speak in a prompt."""

import json

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command, Id, Lazy
from orgvault.services import connecting

_HERE = "orgvault.cli.connector"


@click.group(
    cls=Lazy,
    lazy={"list": (_HERE, "list_"), "check": (_HERE, "check"), "try": (_HERE, "try_")},
    short_help="Connectors: list, check, try one.",
)
def connector() -> None:
    """Connectors: each may add one key to State and one paragraph to the Guidelines."""


@click.command(cls=Command, example="orgvault connector list")
def list_() -> None:
    """The connectors of the vault and of installed packages, in catalog order."""
    desk = wiring.desk()
    found = connecting.listed(desk)
    rows = [
        (one.name, one.title, one.key, _agents(one), one.problem or one.source) for one in found
    ]
    columns = ("connector", "title", "key", "on for", "from")
    output.show({"connectors": found}, output.table(columns, rows, "No connectors."))
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault connector check git")
@click.argument("name", required=False, type=Id("connector"))
@click.pass_context
def check(context: click.Context, name: str | None) -> None:
    """Every connector (or NAME) against its format and its rules; fails on any problem."""
    desk = wiring.desk()
    done = connecting.checked(desk, name)
    lines = [*map(str, done.problems), f"{done.files} files, {len(done.problems)} problems"]
    output.show(done, "\n".join(lines))
    wiring.finish(desk.vault)
    context.exit(1 if done.problems else 0)


@click.command(cls=Command, example="orgvault connector try calendar --agent nova")
@click.argument("name", type=Id("connector"))
@click.option("--agent", metavar="AGENT", help="For this agent.  [default: one that has it on]")
def try_(name: str, agent: str | None) -> None:
    """Run the hook of NAME now and print what it gives; nothing is stored."""
    desk = wiring.desk()
    got = connecting.tried(desk, name, agent)
    shown = {"unavailable": got.unavailable} if got.unavailable else got.value
    said = json.dumps(shown, ensure_ascii=False, indent=2)
    key = f"no value, so no key `{got.key}`" if shown is None else f"{got.key}: {said}"
    output.show(got, f"{key}\n{got.ms} ms, for {got.agent}")
    wiring.finish(desk.vault)


def _agents(one: connecting.Listed) -> str:
    waiting = one.waiting or {}
    return ", ".join(f"{a} ({waiting[a]})" if a in waiting else a for a in one.agents)
