"""The loop of `dispatch`: pass after pass, one process for each agent that has work."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from orgvault.errors import OrgvaultError
from orgvault.services import scheduling
from orgvault.services.desk import Desk
from orgvault.services.dispatching import RunEnded, Skipped, survey
from orgvault.values import dataclass

if TYPE_CHECKING:
    from orgvault.adapters.clients.crew import Crew, Ended

_DOZE_S = 600.0


@dataclass(frozen=True)
class Pace:
    """How many agents run at once, seconds from pass to pass, and whether one pass is all."""

    jobs: int
    every_s: float
    once: bool


def dispatch(
    open_desk: Callable[[], Desk], crew: "Crew", pace: Pace, monotonic: Callable[[], float],
    only: str | None = None,
) -> Iterator[RunEnded | Skipped]:  # fmt: skip
    """Do the work of all agents (or of `only` one), and give what comes of it as it comes.

    The roster is read anew for each pass.  With `once` the first pass is the last; what then
    cannot be read is raised, later it is told and tried again.  When the iteration is left, also
    by an interruption, all that is at work is ended.
    """
    queue: list[str] = []
    told: set[Skipped] = set()
    next_s = monotonic()
    passes = 0
    try:
        while True:
            if monotonic() >= next_s and not (pace.once and passes):
                passes, next_s = passes + 1, monotonic() + pace.every_s
                agents, skipped = _look(open_desk, only, once=pace.once)
                news = [one for one in skipped if Skipped(one.agent, one.why) not in told]
                told = {Skipped(one.agent, one.why) for one in skipped}
                yield from news
                queue += [one for one in agents if one not in queue and one not in crew.agents]
            while queue and len(crew.agents) < pace.jobs:
                crew.start(queue.pop(0))
            if pace.once and not queue and crew.idle:
                return
            left_s = _DOZE_S if pace.once else max(0.0, next_s - monotonic())
            for ended in crew.wait(left_s):
                yield from _told(ended)
    finally:
        crew.end_all()


def _look(
    open_desk: Callable[[], Desk], only: str | None, *, once: bool
) -> tuple[list[str], list[Skipped]]:
    """The agents that have work, after their due routines have woken them."""
    try:
        desk = open_desk()
        agents = None if only is None else [desk.agent(only)]
        scheduling.wake_due(desk, scheduling.due(desk, agents)[0])
        planned, skipped = survey(desk, only=only)
    except OrgvaultError as failure:
        if once:
            raise
        return [], [Skipped("", str(failure), failed=True)]
    remarks = [Skipped("", one) for one in desk.vault.remarks]
    return list(dict.fromkeys(one.agent for one in planned)), [*skipped, *remarks]


def _told(ended: "Ended") -> Iterator[RunEnded | Skipped]:
    """What a dispatcher of one agent has printed."""
    found: Any = None
    with suppress(ValueError):
        found = json.loads(ended.stdout)
    if not isinstance(found, dict):
        why = f"its dispatcher ended with exit code {ended.exit_code}"
        yield Skipped(ended.agent, why, failed=True)
        return
    for one in found.get("runs", ()):
        values = {**one, "wakes": tuple(one.get("wakes", ()))}
        yield RunEnded(**values)
    for one in found.get("skipped", ()):
        yield Skipped(**{**one, "wakes": tuple(one.get("wakes", ()))})
