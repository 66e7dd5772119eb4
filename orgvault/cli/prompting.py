"""What `run` and `prompt` share: what a run answers, and how a prompt is printed."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from orgvault.cli import output
from orgvault.cli.options import settings
from orgvault.domain.clients_formats import FORMATS
from orgvault.domain.prompt import Composed
from orgvault.domain.run import DIRECT, GROUP, SCHEDULE, KeptSection
from orgvault.services.composing import Origin
from orgvault.services.showing import Sent

Decorated = Callable[..., Any]


class OneOrigin(click.UsageError):
    """A run answers one thing."""

    def __init__(self) -> None:
        super().__init__("a run answers one of --message, --group and --routine: give one.")


def origin(command: Decorated) -> Decorated:
    """The options that say what a run answers."""
    options = (
        click.option("--message", default="", help="What the operator says to the agent."),
        click.option(
            "--group", type=click.IntRange(min=1), metavar="SEQ",
            help="The message of the group chat that is answered.",
        ),
        click.option("--routine", metavar="ID", help="The routine that is due."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def format_(command: Decorated) -> Decorated:
    """The option that says how the prompt is printed."""
    return click.option(
        "--format", "form", type=click.Choice(list(FORMATS)), default="text", show_default=True,
        help="As one text, or as the messages of an API.",
    )(command)  # fmt: skip


def origin_of(message: str, group: int | None, routine: str | None) -> Origin:
    """What the run answers.  Raises OneOrigin."""
    if sum(map(bool, (message, group, routine))) > 1:
        raise OneOrigin
    if group is not None:
        return Origin(GROUP, chat_seq=group)
    # A byte that is no UTF-8 comes as half of a character, which nothing could send or store.
    said = message.encode(errors="replace").decode()
    return Origin(SCHEDULE, routine=routine) if routine else Origin(DIRECT, said)


def show_sent(sent: Sent, composed: Composed, form: str) -> None:
    """Print a prompt as it is sent; with `--json` the object."""
    text = FORMATS[form](composed)
    _show(sent, text if form == "text" else output.as_json(text))


def show_text(name: str, text: str) -> None:
    """Print one part of a prompt as it is sent."""
    _show({"section": name, "text": text}, text)


def show_sizes(sections: Sequence[KeptSection], counter: str) -> None:
    """Print what each section takes."""
    total = ("all", sum(one.tokens for one in sections), sum(one.bytes for one in sections))
    rows = [*((one.name, one.tokens, one.bytes) for one in sections), total]
    table = output.table(("section", f"tokens ({counter})", "bytes"), rows, "")
    output.show({"counter": counter, "sections": sections}, table)


def _show(result: object, text: str) -> None:
    """Print a text unchanged, but for a terminal, which a text must not steer."""
    exact = output.Drawn(output.visible(text) if sys.stdout.isatty() else text)
    output.show(result if settings().json else None, exact)
