"""Routines: standing instructions that wake an agent, by cron or once in each window.

Times are those of the vault's time zone.  cronsim reads cron as Debian does: a job at a fixed time
that the clock skips runs when the clock has moved on, one in an hour that comes twice runs once,
and one that runs every hour or minute goes by real time.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import count

from cronsim import CronSim, CronSimError
from cronsim.cronsim import Field

from orgvault.domain.ids import (
    AGENT_ID,
    DEVICE_NAMES,
    INSTANT,
    ROUTINE_ID,
    derived_wake_id,
)
from orgvault.domain.instants import instant, moment, normal
from orgvault.domain.record import says
from orgvault.domain.wake import Asked, Reason, WakeEvent, opened
from orgvault.values import dataclass

FORMAT = 1
INSTRUCTION_CHARS = 4000
WHEN_CHARS = 200
_NOTE_CHARS = 400
_FIELDS = (Field.MINUTE, Field.HOUR, Field.DAY, Field.MONTH, Field.DOW)
_NAMES = ("minute", "hour", "day of month", "month", "weekday")
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_WINDOW = re.compile(rf"(\S+) +({_CLOCK})-({_CLOCK})")
# Clocks are set by an hour or two: looking back from that far ahead misses no turn of the clock.
_TURN = timedelta(hours=3)
_SOME_DAY = datetime(2026, 1, 1, tzinfo=UTC)  # whether an expression reads does not depend on it


@dataclass(frozen=True, kw_only=True)
class Routine:
    """A standing instruction for an agent, with exactly one of `cron` and `window`."""

    version: int = says("Format version of the file.", default=FORMAT, minimum=1, maximum=FORMAT)
    id: str = says("The routine's id, which is the file's name.", pattern=ROUTINE_ID)
    agent: str = says("The agent that it wakes.", pattern=AGENT_ID)
    cron: str = says(
        "Minute, hour, day of month, month, weekday, in the vault's time zone.",
        default="",
        max_chars=WHEN_CHARS,
    )
    window: str = says(
        "A weekday field of cron and hours (`1-5 22:00-02:00`): once in each.",
        default="",
        max_chars=WHEN_CHARS,
    )
    instruction: str = says("What the agent is to do.", max_chars=INSTRUCTION_CHARS)
    paused: bool = says("Whether it wakes nobody for now.", default=False)
    created: str = says("Since when it is there (UTC).", pattern=INSTANT, normal=normal)
    created_by: str = says("Who made it.", default="", max_chars=200)
    resumed: str | None = says(
        "When it was last resumed (UTC).", default=None, pattern=INSTANT, normal=normal
    )

    @property
    def when(self) -> str:
        """The cron or the window, as it is written."""
        return self.cron or self.window

    @property
    def since(self) -> str:
        """The instant after which it counts: what was missed before is not made up."""
        return max(self.created, self.resumed or self.created)


def due(routine: Routine, now: datetime) -> str | None:
    """The instant of the occurrence that is due at `now` (aware, in the vault's zone), or None.

    Of cron: the latest one up to now, if the routine counted by then.  Of a window: the begin of
    the one that is open now; one that closed meanwhile is missed.  Whether an occurrence has woken
    the agent already is for the log of wakes to say.
    """
    if routine.paused or moment(routine.since) > now:
        return None
    if routine.window:
        begin = _open_window(routine.window, now)
        return instant(begin) if begin is not None else None
    latest = _latest(routine.cron, now)
    return latest if latest is not None and latest > routine.since else None


def following(routine: Routine, now: datetime) -> str | None:
    """The instant of the next occurrence after `now` (aware, in the vault's zone)."""
    if routine.paused:
        return None
    after = max(now, local(routine.since, now.tzinfo or UTC))
    return next_window(routine.window, after) if routine.window else _next(routine.cron, after)


def next_window(window: str, now: datetime) -> str:
    """The instant at which the next window opens: each weekday of cron comes again."""
    weekday, begin, _ = _parts(window)
    days = (now.date() + timedelta(days=number) for number in count())
    opens = (_at(day, begin, now.tzinfo) for day in days if _falls_on(weekday, day))
    return next(instant(one) for one in opens if one > now.astimezone(UTC))


def id_fault(text: str) -> str:
    """Why a text cannot be a routine's id; empty when it can."""
    if text in DEVICE_NAMES:
        return "it is a device name on some systems and cannot name a file"
    if not re.fullmatch(ROUTINE_ID, text):
        return "an id is a small letter, then up to 31 of a-z, 0-9 and -"
    return ""


def when_fault(cron: str, window: str, now: datetime) -> tuple[str, str]:
    """What is wrong with the times of a routine, and what to do; empty texts when nothing is.

    `now` is aware, in the vault's time zone.
    """
    if bool(cron) == bool(window):
        both = "both cron and window" if cron else "neither cron nor window"
        return both, "give exactly one of the two"
    return _window_fault(window) if window else _cron_fault(cron, now)


def wake_of(routine: Routine, occurrence: str, note: str) -> WakeEvent:
    """The event that wakes the agent for an occurrence: the same, byte for byte, in every clone."""
    wake = derived_wake_id(routine.id, occurrence)
    asked = Asked(Reason.SCHEDULE, note=note, routine=routine.id)
    return opened(wake, routine.agent, asked, occurrence, routine.created_by)


def first_line(routine: Routine) -> str:
    """The first line of the instruction, as the note of a wake."""
    return next(iter(routine.instruction.strip().splitlines()), "")[:_NOTE_CHARS]


def _cron_fault(cron: str, now: datetime) -> tuple[str, str]:
    fields = cron.split()
    if len(fields) != len(_FIELDS):
        what = f"cron `{cron}` has {len(fields)} fields"
        return what, f"give five: {', '.join(_NAMES)} (as in `45 8 * * 5`)"
    for field, name, text in zip(_FIELDS, _NAMES, fields, strict=True):
        if not _reads(field, text):
            return f"`{text}` is no {name} of cron", f"write {_FORMS[field]}"
    if _next(cron, now) is None:
        return f"cron `{cron}` never comes", "name a day that is in the calendar"
    return "", ""


_FORMS = {
    Field.MINUTE: "0 to 59, a range (0-30), a list (0,30), a step (*/15) or *",
    Field.HOUR: "0 to 23, a range (8-17), a list (8,17), a step (*/2) or *",
    Field.DAY: "1 to 31, a range, a list, a step, L for the last day, or *",
    Field.MONTH: "1 to 12 or JAN to DEC, a range, a list, a step or *",
    Field.DOW: "0 to 7 or SUN to SAT, a range (1-5), a list, MON#1 for the first, 5L for the last,"
    " or *",
}


def _window_fault(window: str) -> tuple[str, str]:
    match = _WINDOW.fullmatch(window.strip())
    do = "write a weekday field of cron and hours, as in `1-5 09:00-17:30`"
    if match is None:
        return f"`{window}` is no window", do
    if not _reads(Field.DOW, match[1]):
        return f"`{match[1]}` is no weekday of cron", f"write {_FORMS[Field.DOW]}"
    if match[2] == match[3]:
        return f"the window `{window}` ends where it begins", do
    return "", ""


def _reads(field: Field, text: str) -> bool:
    try:
        return bool(field.parse(text.upper()))
    except (CronSimError, AssertionError, TypeError, RecursionError):
        return False  # cronsim asserts and sorts where a field mixes what cannot be mixed


def _latest(cron: str, now: datetime) -> str | None:
    """The latest occurrence of an expression up to now, as an instant."""
    limit = now.astimezone(UTC)
    ahead = (limit + _TURN).replace(microsecond=0).astimezone(now.tzinfo)
    past = (one for one in _occurrences(cron, ahead, back=True) if one <= limit)
    return next(map(instant, past), None)


def _next(cron: str, now: datetime) -> str | None:
    limit = now.astimezone(UTC)
    behind = (limit - _TURN).replace(microsecond=0).astimezone(now.tzinfo)
    ahead = (one for one in _occurrences(cron, behind, back=False) if one > limit)
    return next(map(instant, ahead), None)


def _occurrences(cron: str, start: datetime, *, back: bool) -> Iterator[datetime]:
    """The occurrences from a moment on, in UTC; nothing when none comes in fifty years.

    An expression that does not read has none: `when_fault` says what is wrong with it.
    """
    try:
        yield from map(_in_utc, CronSim(cron, start, reverse=back))
    except (CronSimError, OverflowError):
        return


def _in_utc(at: datetime) -> datetime:
    return at.astimezone(UTC)


def _open_window(window: str, now: datetime) -> datetime | None:
    """When the window that is open now began, in UTC."""
    weekday, begin, end = _parts(window)
    at = now.astimezone(UTC)
    for day in (now.date(), now.date() - timedelta(days=1)):
        last = day if begin < end else day + timedelta(days=1)
        opens = _at(day, begin, now.tzinfo)
        closes = max(_at(last, end, now.tzinfo, fold) for fold in (0, 1))
        if _falls_on(weekday, day) and opens <= at < closes:
            return opens
    return None


def _parts(window: str) -> tuple[str, time, time]:
    match = _WINDOW.fullmatch(window.strip())
    if match is None:
        raise ValueError(window)
    return match[1], time.fromisoformat(match[2]), time.fromisoformat(match[3])


def _at(day: date, clock: time, zone: tzinfo | None, fold: int = 0) -> datetime:
    """A time of a day in a zone, in UTC; a time that the clock skips is taken as before it."""
    return datetime.combine(day, clock.replace(fold=fold), zone).astimezone(UTC)


def _falls_on(weekday: str, day: date) -> bool:
    return CronSim(f"0 0 * * {weekday}", _SOME_DAY).match_day(day)


def local(now: str, zone: tzinfo) -> datetime:
    """An instant as an aware time of a zone."""
    return moment(now).astimezone(zone)
