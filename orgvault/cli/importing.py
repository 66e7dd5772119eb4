"""`import claude-code` and `import codex`: episodes from a client's own session files."""

import sys
from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import Any, TextIO

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Command, Lazy, settings
from orgvault.domain.instants import normal
from orgvault.services.importing import Imported, Importing

_HERE = "orgvault.cli.importing"
_REASONS = {
    "unreadable": "cannot be read",
    "empty": "empty",
    "no_session": "no session of this client",
    "sub_agent": "of a sub-agent whose session is not here",
    "repeats": "repeating another session",
    "protected": "in a protected place",
    "silent": "without a word of the agent",
    "before_since": "ended before --since",
    "unfit": "not fit to be recorded",
}


@click.group(
    "import", cls=Lazy,
    lazy={"claude-code": (_HERE, "claude_code"), "codex": (_HERE, "codex")},
    short_help="Backfill runs from a client's session files.",
)  # fmt: skip
def import_() -> None:
    """Episodes of runs that happened before, from a client's own session files."""


def _since(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    if not value:
        return ""
    try:
        return normal(value if "T" in value.upper() else f"{value}T00:00:00Z")
    except (ValueError, OverflowError):
        said = "give a UTC day (2026-11-20) or an instant (2026-11-20T09:00:00Z)"
        raise click.BadParameter(said, context, parameter) from None


def _given(command: Any) -> Any:
    """What both clients' commands take."""
    for option in (
        click.option("--since", metavar="DATE", callback=_since,
                     help="Only sessions that ended on this day (UTC) or instant, or later."),
        click.option("--agent", required=True, metavar="AGENT", help="Whose runs they were."),
        click.argument("paths", nargs=-1, required=True, metavar="PATH..."),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command(
    "claude-code", cls=Command,
    example="orgvault import claude-code ~/.claude/projects/-srv-site --agent nova",
)  # fmt: skip
@_given
def claude_code(paths: tuple[str, ...], agent: str, since: str) -> None:
    """Record the Claude Code sessions in files and folders, each once.

    What sub-agents took counts for their session; a message that a resumed session repeats counts
    once.  Run it again whenever you like.
    """
    _import("claude-code", paths, agent, since)


@click.command(
    cls=Command, example="orgvault import codex ~/.codex/sessions --agent juno --since 2026-11-01"
)
@_given
def codex(paths: tuple[str, ...], agent: str, since: str) -> None:
    """Record the Codex sessions in files and folders, each once.

    What sub-agents took counts for their session; what a forked session repeats counts once.  Run
    it again whenever you like.
    """
    _import("codex", paths, agent, since)


def _import(client: str, paths: tuple[str, ...], agent: str, since: str) -> None:
    desk = wiring.desk()
    bar = Bar(sys.stderr, shown=not settings().quiet, color=not settings().no_color)
    work = Importing(desk, agent, client, bar, since=since)
    try:
        done = work.run(paths)
    except KeyboardInterrupt:
        bar.close()
        output.remark(
            f"{_count(len(work.imported), 'session')} recorded so far; run it again to go on"
        )
        raise
    finally:
        bar.close()
    output.show(done, describe(done))
    output.remarks([f"{s.path}: {s.why}" for s in done.skipped if s.reason != "before_since"])
    output.remarks(done.remarks)
    wiring.finish(desk.vault)


def describe(done: Imported) -> str:
    """What an import did, in a line or a few."""
    lines = [f"imported {_count(len(done.imported), 'session')} of {done.client} for {done.agent}"]
    if done.sub_agents:
        lines.append(f"  with {_count(done.sub_agents, 'file')} of their sub-agents")
    if done.already_recorded:
        lines.append(f"  {len(done.already_recorded)} already recorded")
    for reason, count in Counter(one.reason for one in done.skipped).most_common():
        lines.append(f"  {count} skipped: {_REASONS[reason]}")
    return "\n".join(lines)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


class Bar:
    """A progress bar on a terminal, once the work has taken a second; nothing elsewhere."""

    def __init__(
        self, stream: TextIO, *, shown: bool, color: bool = True, after_s: float = 1.0,
        now: Callable[[], float] = monotonic,
    ) -> None:  # fmt: skip
        self._stream = stream
        self._shown = shown and stream.isatty()
        self._color = color
        self._now = now
        self._begins = now() + after_s
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show how far the work is."""
        if not self._shown or (self._bar is None and self._now() < self._begins):
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress

            console = Console(file=self._stream, no_color=not self._color)
            self._bar = Progress(console=console, transient=True)
            self._task = self._bar.add_task(what)
            self._bar.start()
        self._bar.update(self._task, description=what, completed=done, total=total)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
            self._shown = False
