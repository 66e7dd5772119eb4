"""`wake`, `post`, `wake-done`, `reflect`."""

from typing import TYPE_CHECKING, Any

import click

from orgvault.cli import output, wiring
from orgvault.cli.options import Amount, Command, Id, Lazy
from orgvault.domain.wake import REPORTED, Reason
from orgvault.services import finishing, waking
from orgvault.services.desk import Desk
from orgvault.services.finishing import Finished, FinishedRun
from orgvault.services.reflecting import said

if TYPE_CHECKING:
    from orgvault.domain.reflection import Verdict

_HERE = "orgvault.cli.wake"
_MOST = 10**12 - 1  # what is larger would be recorded, and never counted
# Results whose names are no words of a sentence.
_HOW = {"repository_busy": "put off"}


@click.group(
    cls=Lazy, lazy={"add": (_HERE, "add"), "list": (_HERE, "list_")}, short_help="Ask for a run."
)
def wake() -> None:
    """Wakes: requests that an agent run."""


@click.command(cls=Command, example='orgvault wake add nova --reason task --note "Fix the feed"')
@click.argument("agent")
@click.option("--reason", type=click.Choice([str(r) for r in Reason]), required=True)
@click.option("--card", metavar="ID", help="The card it is about.")
@click.option("--note", default="", help="A line for the agent.")
def add(agent: str, reason: str, card: str | None, note: str) -> None:
    """Ask that AGENT run; prints the wake's id."""
    desk = wiring.desk(writes=True)
    made = waking.add_wake(desk, agent, Reason(reason), card, note)
    output.show({"wake": made, "agent": agent}, made)
    wiring.finish(desk.vault)


@click.command(cls=Command, example="orgvault wake list --agent nova --all")
@click.option("--agent", metavar="AGENT", help="Only this agent's.")
@click.option("--all", "closed", is_flag=True, help="Closed ones too.")
def list_(agent: str | None, *, closed: bool) -> None:
    """The open wakes, oldest first."""
    desk = wiring.desk()
    wakes = waking.list_wakes(desk, agent, closed=closed)
    taken = waking.running(desk, wakes)
    columns = ("wake", "agent", "reason", "card", "added", "taken by", "closed by", "note")
    rows = [
        (w.id, w.agent, w.reason, w.card, w.added_at, taken.get(w.id), w.closed_by_run, w.note)
        for w in wakes
    ]
    output.show({"wakes": wakes}, output.table(columns, rows, "No wakes."))
    wiring.finish(desk.vault)


@click.command(
    cls=Command, example='orgvault post --run run-0412 --outcome done "The feed validates again."'
)
@click.argument("text")
@click.option("--run", required=True, metavar="R", help="The run that speaks.")
@click.option("--agent", metavar="AGENT", help="Whose run it is (an agent posts as itself).")
@click.option("--card", metavar="ID", help="The card it worked on.")
@click.option("--outcome", type=click.Choice([str(o) for o in REPORTED]))
def post(text: str, run: str, agent: str | None, card: str | None, outcome: str | None) -> None:
    """What a run says about itself."""
    desk = wiring.desk(writes=True)
    status = waking.post(desk, agent, run, text, outcome, card)
    output.show(status, f"posted for {status.run}")
    wiring.finish(desk.vault)


def _told(command: Any) -> Any:
    """The options with which a dispatcher tells of a finished run."""
    whole = click.IntRange(min=0, max=_MOST)
    amount = Amount(min=0, max=_MOST)
    options = (
        click.option("--run", required=True, metavar="R", help="The run's id."),
        click.option(
            "--exit",
            "exit_code",
            type=click.IntRange(-_MOST, _MOST),
            help="Exit code of the client (else 0).",
        ),
        click.option("--result", default="", metavar="TEXT", help="What the run answered."),
        click.option("--outcome", type=click.Choice([str(o) for o in REPORTED])),
        click.option("--turns", type=whole, metavar="N"),
        click.option("--cost", "cost_usd", type=amount, metavar="USD", help="Unknown: leave out."),
        click.option("--duration", "duration_s", type=amount, metavar="S", help="In seconds."),
        click.option("--log", metavar="PATH", help="The client's log."),
        click.option("--transcript", metavar="PATH", help="The client's session file."),
        click.option("--model", metavar="NAME"),
        click.option("--tokens-in", type=whole, metavar="N"),
        click.option("--tokens-out", type=whole, metavar="N"),
        click.option("--session", metavar="ID", help="A resumed session; --cost is its total."),
        click.option("--client", metavar="NAME", help="The client program."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(
    "wake-done",
    cls=Command,
    example="orgvault wake-done w-7f3k2q9d --run run-0412 --exit 0 --transcript s.jsonl",
    short_help="Record a finished run.",
)
@click.argument("wakes", metavar="WAKE_ID[,WAKE_ID…]", type=Id("wake"))
@click.option("--agent", metavar="AGENT", help="Whose wakes they are, if of another queue.")
@_told
def wake_done(wakes: str, **told: Any) -> None:
    """Record that the run of these wakes has finished; reflect on it if allowed."""
    desk = wiring.desk(writes=True)
    ids = tuple(one.strip() for one in wakes.split(",") if one.strip())
    run = FinishedRun(wakes=ids, **told)
    _report(desk, finishing.wake_done(desk, run, wiring.reflecting(desk)))


@click.command(
    cls=Command, example="orgvault reflect nova --run chat-17 --reason chat --transcript s.jsonl"
)
@click.argument("agent")
@click.option("--reason", type=click.Choice([str(r) for r in Reason]))
@click.option("--card", metavar="ID", help="The card the run worked on.")
@_told
def reflect(agent: str, reason: str | None, **told: Any) -> None:
    """Reflect on a run without a wake to close, or try one again."""
    desk = wiring.desk(writes=True)
    run = FinishedRun(agent=agent, reason=Reason(reason) if reason else None, **told)
    _report(desk, finishing.reflect(desk, run, wiring.reflecting(desk)))


def _report(desk: Desk, finished: Finished) -> None:
    output.show(finished, describe(finished))
    output.remarks(finished.remarks)
    wiring.finish(desk.vault)


def describe(finished: Finished) -> str:
    """What recording a run did, in a few lines."""
    lines = [f"closed {', '.join(finished.closed)}"] if finished.closed else []
    if finished.episode is None:
        return "\n".join(lines)
    state = "recorded" if finished.new else "already recorded"
    lines.append(f"{finished.run}: {finished.episode.outcome}, {state}")
    lines.append(finished.episode.summary)
    done = finished.reflection
    if done is not None:
        asked = [one for one in done.operations if one.op != "none" or one.verdict != "accepted"]
        reason = f" ({said(done.reason)})" if done.reason else ""
        nothing = done.result == "applied" and not asked
        how = "nothing new" if nothing else f"{_HOW.get(done.result, done.result)}{reason}"
        lines.append(f"reflection: {how}")
        lines.extend(_line(one) for one in asked)
    if finished.proposal is not None:
        lines.append(f"proposed: {finished.proposal} (orgvault proposal show {finished.proposal})")
    return "\n".join(lines)


def _line(one: "Verdict") -> str:
    """One operation and what became of it."""
    claim = f" {one.claim_id}" if one.claim_id else ""
    text = " ".join(one.text.split())  # a model's: it must not write lines that look like ours
    if one.verdict != "accepted":
        return f"  dropped ({one.verdict}): {' '.join(one.op.split())}{claim} {text}"
    effect = "not applied yet" if one.effect == "nothing" else one.effect
    return f"  {effect}{claim}: {text}"
