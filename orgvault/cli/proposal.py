"""`proposal list|show|check|close|shipped|sync`: what agents ask for, as people review it."""

import sys
from os import environ
from typing import Any, NoReturn

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command, Lazy, settings
from orgvault.domain.gate.diffs import DIFF_BYTES_MAX
from orgvault.domain.proposal import Accepted, Refusal
from orgvault.domain.word_diff import Mark, words
from orgvault.services import reviewing
from orgvault.services.proposal_faults import RefusedByGate

_HERE = "orgvault.cli.proposal"
_DIFF = "\0"
_LINE_END = "\n"


@click.group(
    cls=Lazy,
    lazy={name: (_HERE, attribute) for name, attribute in (
        ("list", "list_"), ("show", "show"), ("check", "check"), ("close", "close"),
        ("shipped", "shipped"), ("sync", "sync"),
    )},
    short_help="What agents ask to change about themselves.",
)  # fmt: skip
def proposal() -> None:
    """What agents ask to change about themselves; a person applies it with git, or closes it."""


@click.command(cls=Command, example="orgvault proposal list --all")
@click.option("--all", "closed", is_flag=True, help="Those that are over too.")
def list_(*, closed: bool) -> None:
    """The open proposals, newest first."""
    desk = wiring.desk()
    found, problems = reviewing.listed(desk, closed=closed)
    columns = ("card", "agent", "status", "created", "path", "changes", "note")
    output.show(
        {"proposals": [reviewing.summary(one) for one in found]},
        output.table(columns, [reviewing.line(one) for one in found], "No proposals."),
    )
    output.remarks(problems)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault proposal show imp-7f3k2q9d --word-diff")
@click.argument("card")
@click.option("--word-diff", is_flag=True, help="Mark the words that change.")
@click.option("--branch", is_flag=True, help="Make a commit of it, under a ref of its own.")
def show(card: str, *, word_diff: bool, branch: bool) -> None:
    """A proposal with its diff and the commands that apply it."""
    desk = wiring.desk()
    found = reviewing.show(desk, card)
    made = reviewing.branch(desk, found) if branch else None
    diff = found.stored.diff.decode(errors="replace")
    shown = {**reviewing.summary(found), "diff": diff}
    shown |= {"branch": made} if made else {}
    text = _marked(diff) if word_diff else output.visible(diff.replace("\r\n", "\n"))
    # What follows the diff is ours, so the last mark is the diff's place whatever stands before.
    before, _, after = reviewing.describe(desk, found, _DIFF, made).rpartition(_DIFF)
    whole = f"{output.visible(before)}{text.rstrip(_LINE_END)}{output.visible(after)}"
    output.show(shown, output.Drawn(whole))
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault proposal check change.diff --agent nova")
@click.argument("file", metavar="FILE.diff", type=click.File("rb"))
@click.option("--agent", required=True, metavar="AGENT", help="Whose change it would be.")
def check(file: Any, agent: str) -> None:
    """Run a diff (`-`: from stdin) through the gate; exit 3 when it is refused."""
    desk = wiring.desk()
    judged = reviewing.check(desk, file.read(DIFF_BYTES_MAX + 1), agent)
    if isinstance(judged, Refusal):
        _refuse(judged)
    output.show(reviewing.judged(judged), _accepted(judged))
    wiring.finish(desk.vault)


@click.command(cls=Command, example='orgvault proposal close imp-7f3k2q9d "Too broad."')
@click.argument("card")
@click.argument("why")
def close(card: str, why: str) -> None:
    """Deny a proposal, with the reason."""
    desk = wiring.desk()
    found = reviewing.close(desk, card, why)
    output.show(reviewing.summary(found), f"{card} is closed")
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault proposal shipped imp-7f3k2q9d --commit HEAD~1")
@click.argument("card")
@click.option("--commit", required=True, metavar="REV", help="The commit that shipped it.")
def shipped(card: str, commit: str) -> None:
    """Say which commit shipped a proposal in other words than it had."""
    desk = wiring.desk()
    recorded = reviewing.shipped(desk, card, commit)
    output.show(recorded, f"{card} is shipped, as {recorded.shipped_commit}")
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault proposal sync")
def sync() -> None:
    """Write into the notes what HEAD says of the open proposals."""
    desk = wiring.desk()
    settled = reviewing.sync(desk)
    lines = [f"{one.id} is {one.status}" + (f": {one.why}" if one.why else "") for one in settled]
    output.show({"settled": settled}, "\n".join(lines) or "Nothing has changed.")
    wiring.finish(desk.vault)


def _refuse(refusal: Refusal) -> NoReturn:
    if settings().json:
        output.show({"accepted": False, **vars(refusal)}, "")
    raise RefusedByGate(refusal.rule, refusal.why, refusal.key, refusal.line)


def _accepted(judged: Accepted) -> str:
    lines = [f"accepted: {judged.path} (+{judged.added} -{judged.removed})"]
    for edit in judged.edits:
        lines += [f"  {edit.key}:", *(f"    - {text}" for text in edit.before or ())]
        lines += [f"    + {text}" for text in edit.after or ()]
    return "\n".join([*lines, *(f"  look twice: {flag}" for flag in judged.flags)])


def _marked(diff: str) -> str:
    """The words of a diff: in colours on a terminal, else `[-x-]` and `{+y+}`."""
    coloured = sys.stdout.isatty() and not settings().no_color and "NO_COLOR" not in environ
    styles: dict[Mark, dict[str, Any]] = {
        Mark.GONE: {"fg": "red", "strikethrough": True}, Mark.NEW: {"fg": "green"},
        Mark.HEAD: {"fg": "cyan"}, Mark.SAME: {},
    }  # fmt: skip
    plain = {Mark.GONE: "[-{}-]", Mark.NEW: "{{+{}+}}", Mark.HEAD: "{}", Mark.SAME: "{}"}
    return "".join(
        click.style(text, **styles[mark]) if coloured else _framed(plain[mark], text)
        for mark, raw in words(diff)
        for text in [output.visible(raw)]
    )


def _framed(frame: str, text: str) -> str:
    """A text in a frame that does not take in the line end."""
    ends = text[len(text.rstrip("\n")) :]
    return frame.format(text.removesuffix(ends)) + ends if text.strip("\n") else text
