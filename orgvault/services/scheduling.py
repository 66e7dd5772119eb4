"""Routines: standing instructions that people add, pause and resume, and what of them is due."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from orgvault.domain import routine as routines
from orgvault.domain.ids import derived_wake_id
from orgvault.domain.instants import instant
from orgvault.domain.problem import Problem
from orgvault.domain.roster import Agent, Roster
from orgvault.domain.routine import Routine
from orgvault.domain.routine_file import with_values, write_routine
from orgvault.domain.wake import WakeEvent
from orgvault.services.desk import Desk, row, sound
from orgvault.services.run_faults import (
    NoRoutine,
    RoutineAsWritten,
    RoutineExists,
    RoutineIs,
    UnknownRoutine,
)
from orgvault.store.routines import Routines
from orgvault.values import dataclass

_NOTHING_SAID = ("the instruction is empty", "say what the agent is to do")


@dataclass(frozen=True)
class Due:
    """A routine that is due, the instant of its occurrence, and the wake that it makes."""

    routine: Routine
    occurrence: str
    wake: str


@dataclass(frozen=True)
class Listed:
    """A routine, the instant at which it comes next (None: never, or paused), and its state."""

    routine: Routine
    next: str | None


def add(desk: Desk, agent_id: str, routine_id: str, when: tuple[str, str], said: str) -> Routine:
    """Add a routine; `when` is (cron, window), one of them empty.

    Raises NoRoutine or BadValue for what cannot be one, RoutineExists when there is one already.
    """
    agent = desk.agent(agent_id)
    desk.require("routine", f"add a routine for {agent.id}")
    now = desk.clock.now()
    cron, window = (" ".join(one.split()) for one in when)
    if fault := routines.id_fault(routine_id):
        raise NoRoutine(routine_id, fault, "choose another")
    what, do = routines.when_fault(cron, window, routines.local(now, zone(desk.roster)))
    if what:
        raise NoRoutine(routine_id, what, do)
    text = desk.masked(said.strip())
    if not text:
        raise NoRoutine(routine_id, *_NOTHING_SAID)
    routine = Routine(
        version=routines.FORMAT, id=routine_id, agent=agent.id, cron=cron, window=window,
        instruction=text, created=now, created_by=desk.actor.name,
    )  # fmt: skip
    sound(routine)
    message = desk.message(f"routine({agent.id}): add {routine_id}", "routine-add", agent.id)
    with desk.vault.change(message, desk.author, now) as change:
        if change.read(Routines.path(routine_id)) is not None:
            raise RoutineExists(routine_id)
        change.write(Routines.path(routine_id), write_routine(routine))
    return routine


def listed(desk: Desk, agent_id: str | None) -> tuple[list[Listed], list[Problem]]:
    """The routines that the actor may see, by id, and the files that are none."""
    if agent_id is not None:
        agent = desk.agent(agent_id)
        desk.require("read", f"read {agent.id}'s routines", agent)
        agents = {agent.id}
    else:
        agents = {one.id for one in desk.readable()}
    problems: list[Problem] = []
    now = local_now(desk)
    every = Routines(desk.vault).all(problems)
    found = [
        Listed(one, routines.following(one, now))
        for one in every
        if one.agent in agents or (desk.actor.is_person and agent_id is None)
    ]
    return found, problems if desk.actor.is_person else []


def due(desk: Desk, agents: Sequence[Agent] | None = None) -> tuple[list[Due], list[Problem]]:
    """What is due now and has woken nobody yet (for these agents, else all); writes nothing."""
    desk.require("routine", "ask what is due")
    problems: list[Problem] = []
    now, found = local_now(desk), []
    wanted = desk.roster.agents if agents is None else {one.id for one in agents}
    for one in Routines(desk.vault).all(problems):
        if one.agent not in wanted or one.agent not in desk.roster.agents:
            continue
        occurrence = routines.due(one, now)
        if occurrence is not None:
            wake = derived_wake_id(one.id, occurrence)
            known = desk.vault.logs.find(WakeEvent, "wakes", one.agent, "wake", [wake])
            if not known and not _passed(desk, one, occurrence, instant(now)):
                found.append(Due(one, occurrence, wake))
    return found, problems


def _passed(desk: Desk, routine: Routine, occurrence: str, now: str) -> bool:
    """Whether a routine has woken its agent for a later occurrence already.

    Its times may have been edited since, which makes up for nothing.  What a clock that went ahead
    has left after `now` does not count.
    """
    logs = desk.vault.logs
    if not logs.mention("wakes", routine.agent, routine.id):
        return False
    for event in logs.newest(WakeEvent, "wakes", routine.agent):
        if event.event == "added" and event.routine == routine.id and event.at <= now:
            return event.at >= occurrence
    return False


def events(desk: Desk, found: Sequence[Due]) -> list[WakeEvent]:
    """The events that wake the agents of what is due."""
    return [
        routines.wake_of(
            one.routine, one.occurrence, desk.masked(routines.first_line(one.routine))
        )
        for one in found
    ]  # fmt: skip


def wake_due(desk: Desk, found: Sequence[Due]) -> None:
    """Wake the agents of what is due, each once however many dispatchers do this."""
    for one, event in zip(found, events(desk, found), strict=True):
        sound(event)
        agent = one.routine.agent
        message = desk.message(f"wake({agent}): {one.routine.id} is due", "wake-add", agent)
        desk.vault.record(message, desk.author, [row("wakes", event)], desk.clock.now())


def set_paused(desk: Desk, routine_id: str, *, paused: bool) -> Routine:
    """Pause or resume a routine.  What was missed meanwhile is not made up.

    Raises UnknownRoutine, RoutineIs, or RoutineAsWritten.
    """
    word = "pause" if paused else "resume"
    desk.require("routine", f"{word} a routine")
    now, problems = desk.clock.now(), list[Problem]()
    routine = Routines(desk.vault).get(routine_id, problems)
    if routine is None:
        raise UnknownRoutine(routine_id, str(problems[0]) if problems else "")
    if routine.paused == paused:
        raise RoutineIs(routine_id, paused=paused)
    changes: dict[str, bool | str] = {"paused": paused}
    if not paused:
        changes["resumed"] = now
    path, subject = Routines.path(routine_id), f"routine({routine.agent}): {word} {routine_id}"
    message = desk.message(subject, f"routine-{word}", routine.agent)
    with desk.vault.change(message, desk.author, now) as change:
        text = (change.read(path) or b"").decode(errors="replace")
        changed = with_values(text, changes)
        if changed is None:
            raise RoutineAsWritten(path)
        change.write(path, changed)
    resumed = routine.resumed if paused else now
    return replace(routine, paused=paused, resumed=resumed)


def zone(roster: Roster) -> tzinfo:
    """The vault's time zone; UTC where this machine does not know it, which `compile` reports."""
    try:
        return ZoneInfo(roster.timezone)
    except (OSError, ValueError, LookupError):
        return UTC


def local_now(desk: Desk) -> datetime:
    """The present time in the vault's zone."""
    return routines.local(desk.clock.now(), zone(desk.roster))
