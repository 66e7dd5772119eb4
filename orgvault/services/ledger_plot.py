"""Both windows of a ledger entry as a picture, and the marks of what was shipped."""

from collections.abc import Collection, Iterable
from datetime import timedelta

from orgvault.adapters.plot import Chart, Mark, Week, draw
from orgvault.domain.episode import Episode
from orgvault.domain.instants import day, days_before
from orgvault.domain.ledger import AGAIN_DAYS, Entry, Window, window
from orgvault.domain.problem import Problem
from orgvault.services.desk import Desk
from orgvault.services.ledger_views import listed, state
from orgvault.services.ledgering import rows
from orgvault.services.plotting import Plot, place


def plot(desk: Desk, entry: Entry, given: str) -> tuple[Plot, list[Problem]]:
    """The weeks of both windows; where nothing was measured yet, as far as they have come.

    Weeks count from shipping.  Raises NoPlot when nothing may or can be written to `given`.
    """
    path = place(desk, given)
    problems: list[Problem] = []
    since, shipped = entry.before.since, entry.shipped_at
    until = entry.after.until if entry.after else entry.next_at or entry.reverted_at or shipped
    episodes, corrected = rows(desk, entry.agent, since, problems)
    after = entry.after or window(episodes, corrected, shipped, until)
    weeks = tuple(_weeks(episodes, corrected, since, until))
    marks = [Mark(day(shipped), f"{entry.card} shipped")]
    if entry.reverted_at:
        marks.append(Mark(day(entry.reverted_at), "taken back"))
    return Plot(path, draw(_chart(entry, after, weeks), marks)), problems


def marks(desk: Desk, agent: str | None) -> tuple[Mark, ...]:
    """The days on which changes of an agent (or of any that the actor may see) came and went."""
    found = []
    for one in listed(desk)[0]:
        if agent is not None and one.agent != agent:
            continue
        found.append(Mark(day(one.shipped_at), f"{one.card} shipped"))
        if one.reverted_at:
            found.append(Mark(day(one.reverted_at), f"{one.card} taken back"))
    return tuple(found)


def _weeks(
    episodes: list[Episode], corrected: Collection[str], since: str, until: str
) -> Iterable[Week]:
    while since < until:
        end = days_before(since, -AGAIN_DAYS)
        one = window(episodes, corrected, since, end)
        yield Week(day(since), one.done, one.corrected, one.cost_usd)
        since = end


def _chart(entry: Entry, after: Window, weeks: tuple[Week, ...]) -> Chart:
    before = entry.before
    last = day(after.until) - timedelta(days=1)
    shares = [one.corrected / one.done if one.done else None for one in (before, after)]
    costs = [
        one.cost_usd / one.done if one.done and one.cost_usd is not None else None
        for one in (before, after)
    ]
    return Chart(
        f"{entry.card} of {entry.agent}: {state(entry)}",
        f"{before.done} completed cards before, {after.done} after; weeks from {before.since[:10]} "
        f"to {last}",
        weeks, shares[0], costs[0],
        f"{_figure(shares[0], '')} before (dashed), {_figure(shares[1], '')} after",
        f"{_figure(costs[0], '$')} before (dashed), {_figure(costs[1], '$')} after",
    )  # fmt: skip


def _figure(value: float | None, unit: str) -> str:
    return "n/a" if value is None else f"{unit}{value:.2f}"
