"""`memory AGENT` and its verbs: what an agent has learned, and correcting it."""

from itertools import pairwise
from typing import TYPE_CHECKING

import click

from orgvault.cli import drawing, output, wiring
from orgvault.cli.options import Command, Lazy
from orgvault.domain.claim import Claim
from orgvault.domain.wake import Outcome
from orgvault.services import curating, measuring, tracing

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_HERE = "orgvault.cli.memory"


class _Memory(Lazy):
    """`memory AGENT` is `memory show AGENT`: no agent may be called like a verb."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """The verbs, and the agents."""
        from orgvault.cli.completing import complete

        return [*super().shell_complete(ctx, incomplete), *complete("agent", ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that is meant: with a second word it is a verb, and maybe mistyped."""
        words = [one for one in args if not one.startswith("-")]
        if args and args[0] not in self.list_commands(ctx) and not _another(args, words):
            return "show", self.get_command(ctx, "show"), args
        return super().resolve_command(ctx, args)


def _another(args: list[str], words: list[str]) -> bool:
    """Whether a second word follows that is not the value of `--at` or `--as`."""
    values = {after for option, after in pairwise(args) if option in {"--at", "--as"}}
    return len([one for one in words if one not in values]) > 1


class _Line(Command):
    """A command that takes a line of core.md: its leading dash makes it no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, without the mark of a list item."""
        return super().parse_args(ctx, [one.removeprefix("- ") for one in args])


@click.group(
    cls=_Memory,
    lazy={name: (_HERE, attribute) for name, attribute in (
        ("show", "show"), ("episodes", "episodes"), ("stats", "stats"), ("edit", "edit"),
        ("retire", "retire"), ("why", "why"), ("render", "render"),
    )},
    short_help="What an agent has learned.",
)  # fmt: skip
def memory() -> None:
    """What an agent has learned: `orgvault memory AGENT`, or a verb."""


@click.command(cls=Command, example="orgvault memory nova --all")
@click.argument("agent")
@click.option("--all", "closed", is_flag=True, help="Closed claims too.")
@click.option("--at", metavar="REV|DATE", help="The memory as it was then.")
def show(agent: str, at: str | None, *, closed: bool) -> None:
    """The claims of AGENT, most seen first."""
    desk = wiring.desk()
    claims = curating.claims(desk, agent, closed=closed, at=at)
    columns = ("claim", "kind", "seen", "last seen", "by", "text")
    rows = [(c.id, c.kind, c.times_seen, c.last_seen[:10], c.author, _words(c)) for c in claims]
    output.show({"claims": claims}, output.table(columns, rows, f"{agent} has no claims yet."))
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault memory episodes nova --days 7")
@click.argument("agent")
@click.option("--days", type=click.IntRange(min=0), metavar="N", help="Only the last N days.")
@click.option("--outcome", type=click.Choice([str(o) for o in Outcome]))
def episodes(agent: str, days: int | None, outcome: str | None) -> None:
    """The finished runs of AGENT, oldest first."""
    desk = wiring.desk()
    seen, problems = curating.episodes(desk, agent, days=days, outcome=outcome)
    columns = ("finished", "run", "outcome", "corrected", "turns", "usd", "summary")
    rows = [
        (
            s.episode.finished_at, s.episode.run, s.episode.outcome, "yes" if s.corrected else "",
            s.episode.turns, s.episode.cost_usd, s.episode.summary,
        )
        for s in seen
    ]  # fmt: skip
    output.show({"episodes": seen}, output.table(columns, rows, f"{agent} has no episodes yet."))
    output.remarks(problems)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault memory stats nova --days 30")
@click.argument("agent")
@click.option("--days", type=click.IntRange(min=0), metavar="N", help="Only the last N days.")
@click.option("--plot", "file", metavar="FILE.svg", help="Draw the weeks into this file too.")
def stats(agent: str, days: int | None, file: str | None) -> None:
    """Corrections and cost per completed card, and the counts behind them."""
    desk = wiring.desk()
    measured, problems = measuring.stats(desk, agent, days=days)
    problems += drawing.draw(desk, agent, file, days)
    output.show(measured, measuring.describe(measured))
    output.remarks(problems)
    wiring.finish(desk.vault)


@click.command(cls=Command, example='orgvault memory edit c-7f3k "I install before I build."')
@click.argument("claim")
@click.argument("text")
def edit(claim: str, text: str) -> None:
    """Correct a claim: it is closed, and the new words supersede it."""
    desk = wiring.desk()
    closed, new = curating.edit(desk, claim, text)
    output.show({"closed": closed, "new": new}, f"{closed.id} is superseded by {new.id}")
    wiring.finish(desk.vault)


@click.command(cls=Command, example='orgvault memory retire c-7f3k "The build installs by itself."')
@click.argument("claim")
@click.argument("why")
def retire(claim: str, why: str) -> None:
    """Close a claim, with the reason."""
    desk = wiring.desk()
    closed = curating.retire(desk, claim, why)
    output.show(closed, f"{closed.id} is closed")
    wiring.finish(desk.vault)


@click.command(
    cls=_Line,
    example="orgvault memory why c-7f3k",
)
@click.argument("claim_or_line", metavar="ID_OR_LINE")
def why(claim_or_line: str) -> None:
    """Everything behind a claim, or behind a line of core.md."""
    desk = wiring.desk()
    trace = tracing.why(desk, claim_or_line)
    output.show(trace, tracing.describe(trace))
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault memory render nova --check")
@click.argument("agent")
@click.option("--check", "only_check", is_flag=True, help="Write nothing; fail when stale.")
def render(agent: str, *, only_check: bool) -> None:
    """Render core.md from the claims."""
    desk = wiring.desk()
    if only_check:
        curating.check_core(desk, agent)
        output.show({"agent": agent, "stale": False}, f"the core of {agent} is up to date")
    else:
        core = curating.render(desk, agent)
        text = f"{len(core.shown)} claims, {core.tokens} tokens, {core.left_out} left out"
        output.show(core, text)
    wiring.finish(desk.vault)


def _words(claim: Claim) -> str:
    text = " ".join(claim.text.split())
    return text if claim.active else f"{text} [closed: {claim.reason or 'no reason'}]"
