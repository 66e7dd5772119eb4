"""Which open wakes one run answers together, and how many runs an agent has had in a day."""

from collections.abc import Iterable, Sequence
from datetime import datetime, time, tzinfo

from orgvault.domain.instants import instant, moment
from orgvault.domain.wake import Reason, Wake, WakeEvent

CHAT = (Reason.CHAT, Reason.MENTION)


def groups(wakes: Sequence[Wake]) -> list[tuple[Wake, ...]]:
    """The open wakes of one agent as its runs answer them, oldest first.

    All of the chat together, those of one routine, those of one card; any other alone.
    """
    found: dict[tuple[str, str], list[Wake]] = {}
    for wake in sorted(wakes, key=lambda one: (one.added_at, one.id)):
        found.setdefault(_key(wake), []).append(wake)
    return [tuple(group) for group in found.values()]


def _key(wake: Wake) -> tuple[str, str]:
    if wake.reason in CHAT and wake.chat_seq is not None:
        return "chat", ""
    if wake.reason is Reason.SCHEDULE and wake.routine is not None:
        return "schedule", wake.routine
    if wake.card is not None:
        return "card", wake.card
    return "wake", wake.id


def runs_of_day(newest: Iterable[WakeEvent], now: str, zone: tzinfo) -> set[str]:
    """The runs that have taken wakes on the day of `now` in a zone.

    `newest` are an agent's events, newest first; no more of them are asked for than that takes.
    """
    begin, found = day_begins(moment(now).astimezone(zone)), set()
    for event in newest:
        if event.event == "taken" and event.run is not None and event.at >= begin:
            found.add(event.run)
        elif event.event == "closed" and event.at < begin:
            break
    return found


def day_begins(now: datetime) -> str:
    """The instant at which the day of an aware time begins in its zone."""
    return instant(datetime.combine(now.date(), time(), now.tzinfo))
