"""Wakes and statuses: what asks an agent to run, and what a run says of itself."""

from dataclasses import replace
from enum import StrEnum

from orgvault.domain.ids import (
    AGENT_ID,
    CARD_ID,
    INSTANT,
    ROUTINE_ID,
    ROW_ID,
    RUN_ID,
    WAKE_ID,
    derived_id,
)
from orgvault.domain.instants import normal
from orgvault.domain.record import says
from orgvault.values import dataclass


class Reason(StrEnum):
    """Why a wake was asked for."""

    TASK = "task"
    CHAT = "chat"
    MENTION = "mention"
    SCHEDULE = "schedule"
    MANUAL = "manual"


class Trigger(StrEnum):
    """What makes orgvault ask a model.

    The two events that may reflect (`chat` and `mention` wakes reflect as `chat_end`), and the
    owner's own `propose-improvement`.
    """

    WAKE_DONE = "wake_done"
    CHAT_END = "chat_end"
    COMMAND = "command"


class Outcome(StrEnum):
    """How a run ended."""

    DONE = "done"
    BLOCKED = "blocked"
    REQUEST_CHANGES = "request_changes"
    NO_REPORT = "no_report"
    ERROR = "error"


# What a run may say of itself; the other two are the engine's words.
REPORTED = (Outcome.DONE, Outcome.BLOCKED, Outcome.REQUEST_CHANGES)


@dataclass(frozen=True, kw_only=True)
class WakeEvent:
    """One row of `wakes/`: a wake was added, taken by a run that began, or closed by one."""

    v: int = says("Format version of the row.", default=1, minimum=1, maximum=1)
    id: str = says("Row id: the wake's id and the event.", pattern=ROW_ID)
    agent: str = says("The agent that is asked to run.", pattern=AGENT_ID)
    wake: str = says("The wake.", pattern=WAKE_ID)
    event: str = says("What happened to it.", choices=("added", "taken", "closed"))
    at: str = says("When (UTC).", pattern=INSTANT, normal=normal)
    actor: str = says("Who did it.", max_chars=200)
    reason: Reason | None = says("Why the agent is asked to run (added).", default=None)
    card: str | None = says("The card it is about (added).", default=None, pattern=CARD_ID)
    note: str = says("A line for the agent (added).", default="", max_chars=4000)
    chat_seq: int | None = says(
        "The message of the group chat that it delivers (added).", default=None, minimum=1
    )
    routine: str | None = says("The routine that is due (added).", default=None, pattern=ROUTINE_ID)
    run: str | None = says("The run that took or closed it.", default=None, pattern=RUN_ID)


@dataclass(frozen=True)
class Asked:
    """Why an agent is asked to run, and what about."""

    reason: Reason
    card: str | None = None
    note: str = ""
    chat_seq: int | None = None
    routine: str | None = None


@dataclass(frozen=True)
class Wake:
    """A request that an agent run, as its events tell it."""

    id: str
    agent: str
    reason: Reason
    card: str | None
    note: str
    added_at: str
    added_by: str
    chat_seq: int | None = None
    routine: str | None = None
    taken_by_run: str | None = None  # the latest; whether that run is still going, its lock says
    taken_at: str | None = None
    closed_at: str | None = None
    closed_by_run: str | None = None

    @property
    def open(self) -> bool:
        """Whether no run has closed it yet."""
        return self.closed_at is None


@dataclass(frozen=True, kw_only=True)
class Status:
    """One row of `status/`: what a run says about itself."""

    v: int = says("Format version of the row.", default=1, minimum=1, maximum=1)
    id: str = says("Row id.", pattern=ROW_ID)
    agent: str = says("The agent whose run it is.", pattern=AGENT_ID)
    run: str = says("The run.", pattern=RUN_ID)
    at: str = says("When (UTC).", pattern=INSTANT, normal=normal)
    text: str = says("What it says.", max_chars=8000)
    card: str | None = says("The card the run worked on.", default=None, pattern=CARD_ID)
    outcome: str | None = says(
        "How the run says it ended.", default=None, choices=tuple(map(str, REPORTED))
    )
    fallback: bool = says("Posted by orgvault since the run left no status.", default=False)


def trigger_of(reason: Reason) -> Trigger:
    """Which trigger of the `memory:` block a reason counts as."""
    return Trigger.CHAT_END if reason in {Reason.CHAT, Reason.MENTION} else Trigger.WAKE_DONE


def opened(wake: str, agent: str, asked: Asked, at: str, actor: str) -> WakeEvent:
    """The event that adds a wake."""
    return WakeEvent(
        id=f"{wake}.added", agent=agent, wake=wake, event="added", at=at, actor=actor,
        reason=asked.reason, card=asked.card, note=asked.note, chat_seq=asked.chat_seq,
        routine=asked.routine,
    )  # fmt: skip


def taken(wake: Wake, run: str, at: str, actor: str) -> WakeEvent:
    """The event that says which run has begun to answer a wake."""
    return WakeEvent(
        id=derived_id("k", wake.id, run), agent=wake.agent, wake=wake.id, event="taken", at=at,
        actor=actor, run=run,
    )  # fmt: skip


def closed(wake: Wake, run: str, at: str, actor: str) -> WakeEvent:
    """The event that closes a wake; the same id whoever closes it, so that it closes once."""
    return WakeEvent(
        id=f"{wake.id}.closed", agent=wake.agent, wake=wake.id, event="closed", at=at,
        actor=actor, run=run,
    )  # fmt: skip


def wakes(events: list[WakeEvent]) -> list[Wake]:
    """The wakes that a list of events tells, in the order they were added."""
    found: dict[str, Wake] = {}
    takings: dict[str, WakeEvent] = {}
    closings: dict[str, WakeEvent] = {}
    for event in events:
        if event.event == "closed":
            closings.setdefault(event.wake, event)
        elif event.event == "taken":
            known = takings.get(event.wake)
            if known is None or known.at <= event.at:
                takings[event.wake] = event
        elif event.wake not in found:
            found[event.wake] = Wake(
                event.wake, event.agent, event.reason or Reason.MANUAL, event.card, event.note,
                event.at, event.actor, event.chat_seq, event.routine,
            )  # fmt: skip
    for key, event in takings.items():
        if key in found:
            found[key] = replace(found[key], taken_by_run=event.run, taken_at=event.at)
    for key, event in closings.items():
        if key in found:
            found[key] = replace(found[key], closed_at=event.at, closed_by_run=event.run)
    return list(found.values())
