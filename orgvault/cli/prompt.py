"""`prompt preview|diff|verify|shape`: what a model would be told, and what it was."""

import click

from orgvault.cli import output, prompting, wiring
from orgvault.cli.options import Command, Id, Lazy
from orgvault.services import previewing, showing

_HERE = "orgvault.cli.prompt"


@click.group(
    cls=Lazy,
    lazy={name: (_HERE, name) for name in ("preview", "diff", "verify", "shape")},
    short_help="Prompts: preview, compare, verify.",
)
def prompt() -> None:
    """Prompts: what a run of an agent would be told now, and what runs were told."""


@click.command(cls=Command, example="orgvault prompt preview nova --section task")
@click.argument("agent")
@prompting.origin
@prompting.format_
@click.option("--section", metavar="NAME", help="Only this section, or `message`.")
@click.option("--tokens", is_flag=True, help="Only how many tokens each section has.")
def preview(
    agent: str, message: str, group: int | None, routine: str | None, form: str,
    section: str | None, *, tokens: bool,
) -> None:  # fmt: skip
    """What a run of AGENT that began now would be told.

    Nothing is stored and no connector is called.
    """
    desk = wiring.desk(writes=True)  # sources are named by their blobs
    seen = previewing.preview(desk, agent, prompting.origin_of(message, group, routine))
    if tokens:
        prompting.show_sizes(seen.sections, seen.counter)
    elif section:
        prompting.show_text(section, seen.text(section))
    else:
        prompting.show_sent(seen.sent, seen.prepared.composed, form)
    output.remarks(seen.prepared.remarks)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault prompt diff run-7f3k2q9d run-0b1c2d3e")
@click.argument("first", metavar="RUN1", type=Id("run"))
@click.argument("second", metavar="RUN2", type=Id("run"))
def diff(first: str, second: str) -> None:
    """How what RUN2 was told differs from what RUN1 was, section by section."""
    desk = wiring.desk()
    parts = showing.diff(desk, first, second)
    output.show({"parts": parts}, showing.describe_diff(parts))
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault prompt verify run-7f3k2q9d")
@click.argument("run_id", metavar="RUN", type=Id("run"))
@click.pass_context
def verify(context: click.Context, run_id: str) -> None:
    """Check that the prompt of RUN is what was sent, and compose it again from its sources.

    Exits with 1 when a stored text is not what was sent, or what is composed again differs.
    """
    from orgvault.services import verifying

    desk = wiring.desk()
    done = verifying.verify(desk, run_id)
    output.show(done, verifying.describe(done))
    wiring.finish(desk.vault)
    context.exit(0 if done.ok else 1)


@click.command(cls=Command, example="orgvault prompt shape")
def shape() -> None:
    """What every prompt of this vault holds around a Task, so that a Task repeats none of it."""
    desk = wiring.desk()
    parts = previewing.shape(desk)
    text = "\n\n".join(f"── {name} ──\n{part}" for name, part in parts.items())
    output.show({"parts": parts}, text)
    wiring.finish(desk.vault)
