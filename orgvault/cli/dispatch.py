"""`dispatch`: the loop around runs."""

import click

from orgvault.cli import output, wiring
from orgvault.cli.dispatched import described
from orgvault.cli.options import Command, settings
from orgvault.posix import interrupted_by_term
from orgvault.services import dispatching
from orgvault.services.dispatching import RunEnded, Skipped


@click.command(
    cls=Command, example="orgvault dispatch --once", short_help="Run agents that are due."
)
@click.option("--once", is_flag=True, help="One pass, then end: for cron and CI.")
@click.option("--agent", metavar="AGENT", help="Only this agent.")
@click.option(
    "--jobs", type=click.IntRange(1, 64), default=4, show_default=True, metavar="N",
    help="How many agents run at once.",
)  # fmt: skip
@click.option(
    "--every", type=click.IntRange(1, 86400), default=60, show_default=True, metavar="S",
    help="Seconds from one pass to the next.",
)  # fmt: skip
@click.pass_context
def dispatch(
    context: click.Context, agent: str | None, jobs: int, every: int, *, once: bool
) -> None:
    """Wake agents whose routines are due, and run the clients of those that are woken.

    Any number of these may run side by side: nothing runs twice, and an agent once at a time.
    With --once it ends with 1 when work was left since something failed.
    """
    if settings().dry_run:
        _plan(agent)
        return
    left = _work(agent) if agent is not None and once else _loop(agent, jobs, every, once=once)
    context.exit(1 if any(one.failed for one in left) else 0)


def _plan(agent: str | None) -> None:
    planned, skipped = dispatching.survey(wiring.desk_to_look(), only=agent)
    lines = [*map(described, planned), *map(described, skipped)]
    output.show({"runs": planned, "skipped": skipped}, "\n".join(lines) or "Nothing to do.")


def _work(agent: str) -> list[Skipped]:
    desk = wiring.desk(writes=True)
    with interrupted_by_term():
        done = dispatching.work(desk, agent, wiring.clients(), wiring.reflecting(desk))
    if settings().json:
        output.show({"runs": done.runs, "skipped": done.skipped}, "")
    else:
        told: list[RunEnded | Skipped] = [*done.runs, *done.skipped]
        for one in told:
            _tell(one)
    output.remarks(done.remarks)
    wiring.finish(desk.vault)
    return done.skipped


def _loop(agent: str | None, jobs: int, every: int, *, once: bool) -> list[Skipped]:
    runs: list[RunEnded] = []
    skipped: list[Skipped] = []
    with interrupted_by_term():
        for one in wiring.dispatch(agent, jobs, every, once=once):
            if isinstance(one, RunEnded):
                runs.append(one)
            else:
                skipped.append(one)
            if not settings().json:
                _tell(one)
            elif not once:  # one object a line, as it comes
                output.show(one, "")
    if settings().json and once:
        output.show({"runs": runs, "skipped": skipped}, "")
    return skipped


def _tell(one: RunEnded | Skipped) -> None:
    """Say what came of a run or of work that was left: on stderr what failed."""
    if isinstance(one, Skipped) and one.failed:
        output.complain(described(one))
    else:
        output.show(None, described(one))
