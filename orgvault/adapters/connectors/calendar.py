"""The connector `calendar`, a program: the next events of an `.ics` file in the vault.

    python -m orgvault.adapters.connectors.calendar FILE.ics [--days 14]

FILE is relative to the vault.  Reads `{"vault", "utc_now", "timezone", "protected"}` from stdin
and prints the events that are not over yet and begin within so many days, in the vault's zone.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

    from icalendar import Component

MANIFEST = {
    "version": 1,
    "title": "Calendar",
    "state": {
        "key": "calendar",
        "intro": "The key `calendar` lists the next dates, in the guild's time zone.",
        "command": ["python3", "-m", "orgvault.adapters.connectors.calendar", "calendar.ics"],
    },
    "prompt": {"guidance": "Plan around the dates in `calendar`."},
}

LIMIT_S = 4  # within the budget of all hooks
FILE_BYTES = 5_000_000
MOST_EVENTS = 20
DAYS, MOST_DAYS = 14, 366
_TEXT_CHARS = 200
# Rules that nobody's calendar has, and that would be counted through second by second.
_TOO_OFTEN = frozenset({"SECONDLY", "MINUTELY"})


def main(words: Sequence[str]) -> int:
    """Answer what stands on stdin; 1, with the reason on stderr, when that cannot be done."""
    try:
        file, days = _arguments(words)
        told = json.load(sys.stdin)
        _limit_time()
        answer = next_events(_content(told, file), told["utc_now"], told.get("timezone"), days)
    except TimeoutError:
        return _complain(f"the calendar is too much for {LIMIT_S} seconds")
    except Unusable as failure:
        return _complain(str(failure))
    except Exception as failure:  # noqa: BLE001 - a stranger's file through two strangers' readers
        return _complain(f"the calendar cannot be read ({type(failure).__name__}: {failure})")
    print(json.dumps(answer, ensure_ascii=False))  # noqa: T201 - a program's answer
    return 0


class Unusable(Exception):
    """What the person can put right."""


class BadDays(Unusable):
    """--days is out of bounds."""

    def __init__(self) -> None:
        super().__init__(f"--days takes a number from 1 to {MOST_DAYS}")


class Outside(Unusable):
    """The file is not in the vault."""

    def __init__(self, file: str) -> None:
        super().__init__(f"{file} is not a file inside the vault")


class Protected(Unusable):
    """The file stands where nobody may look."""

    def __init__(self, file: str) -> None:
        super().__init__(f"{file} is protected")


class NoFile(Unusable):
    """There is no such file."""

    def __init__(self, file: str) -> None:
        super().__init__(f"there is no file {file}")


class NoCalendar(Unusable):
    """The file is no calendar, or one that was cut off."""

    def __init__(self) -> None:
        super().__init__("the file holds no whole calendar")


class TooBig(Unusable):
    """The file is bigger than can be read in time."""

    def __init__(self, file: str) -> None:
        super().__init__(f"{file} is bigger than {FILE_BYTES:,} bytes")


def next_events(content: bytes, utc_now: str, zone: str | None, days: int) -> dict[str, Any]:
    """The events that are not over and begin within `days` days, by their starts.

    `zone` is a name of the time zone database.  Raises NoCalendar, or ValueError where the content
    is no calendar at all.
    """
    import recurring_ical_events  # type: ignore[import-untyped]
    from icalendar import Calendar

    home_zone = _zone(zone)
    now = datetime.fromisoformat(utc_now).astimezone(home_zone)
    until = now + timedelta(days=days)
    found: list[tuple[datetime, dict[str, Any]]] = []
    left_out = 0
    calendars = Calendar.from_ical(content, multiple=True)
    if not calendars:
        raise NoCalendar
    for calendar in calendars:
        left_out += _without_too_often(calendar)
        query = recurring_ical_events.of(calendar, skip_bad_series=True)
        # A day more on either side: all-day and floating events have no zone of their own.
        for event in query.between(now - timedelta(days=1), until + timedelta(days=1)):
            found += _within(event, now, until)
    found.sort(key=lambda one: (one[0], one[1]["title"]))
    answer: dict[str, Any] = {"time_zone": str(home_zone), "events": [e for _, e in found]}
    if len(found) > MOST_EVENTS:
        answer |= {"events": answer["events"][:MOST_EVENTS], "more": len(found) - MOST_EVENTS}
    return answer | ({"unreadable": left_out} if left_out else {})


def _within(
    event: "Component", now: datetime, until: datetime
) -> Iterator[tuple[datetime, dict[str, Any]]]:
    """The event with its start, if it is one of the next."""
    if str(event.get("STATUS", "")).upper() == "CANCELLED":
        return
    zone = now.tzinfo
    start, end = (_time(event, name) for name in ("DTSTART", "DTEND"))
    begins, ends = _moment(start, zone), _moment(end, zone)
    if begins >= until or ends < now or (ends == now and begins < now):
        return
    shown: dict[str, Any] = {"title": _line(event.get("SUMMARY")) or "(no title)"}
    if isinstance(start, datetime):
        shown |= {"start": _minute(begins), "end": _minute(ends)}
    else:
        # The day after the last is what the file says; people name the last.
        last = max(ends.date() - timedelta(days=1), begins.date())
        shown |= {"all_day": True, "start": f"{begins:%Y-%m-%d}", "end": last.isoformat()}
    place = _line(event.get("LOCATION"))
    yield begins, {**shown, **({"location": place} if place else {})}


def _without_too_often(calendar: "Component") -> int:
    """Take out of a calendar the events whose rules nobody could wait for; how many."""
    kept = [one for one in calendar.subcomponents if not _is_too_often(one)]
    gone = len(calendar.subcomponents) - len(kept)
    calendar.subcomponents = kept
    return gone


def _is_too_often(event: "Component") -> bool:
    rules = event.get("RRULE") or []
    listed = rules if isinstance(rules, list) else [rules]
    return any(
        str(often).upper() in _TOO_OFTEN for rule in listed for often in rule.get("FREQ", ())
    )


def _time(event: "Component", name: str) -> date:
    given: Any = event[name]
    found: date = given.dt
    return found


def _moment(given: date, zone: tzinfo | None) -> datetime:
    """A date or time in the zone; one without a zone of its own is meant in this one."""
    if not isinstance(given, datetime):
        return datetime(given.year, given.month, given.day, tzinfo=zone)
    return given.replace(tzinfo=zone) if given.tzinfo is None else given.astimezone(zone)


def _minute(moment: datetime) -> str:
    return moment.isoformat(timespec="minutes")


def _line(text: object) -> str:
    line = " ".join(str(text or "").split())
    return line if len(line) <= _TEXT_CHARS else f"{line[: _TEXT_CHARS - 1]}…"


def _zone(name: str | None) -> tzinfo:
    from zoneinfo import ZoneInfo

    return ZoneInfo(name or "UTC")


def _arguments(words: Sequence[str]) -> tuple[str, int]:
    import argparse

    parser = argparse.ArgumentParser(prog="calendar", description="The next events of a calendar.")
    parser.add_argument("file", help="the .ics file, relative to the vault")
    parser.add_argument("--days", type=int, default=DAYS, help="how far to look")
    given = parser.parse_args(words)
    if not 1 <= given.days <= MOST_DAYS:
        raise BadDays
    return given.file, given.days


def _content(told: dict[str, Any], file: str) -> bytes:
    """The file's content.  Raises Unusable for one outside the vault, protected, or too big."""
    from orgvault.domain.masking import mentions_protected

    root = os.path.realpath(told["vault"])
    place = os.path.realpath(os.path.join(root, file))
    inside = place[len(root) + 1 :] if place.startswith(os.path.join(root, "")) else ""
    if os.path.isabs(file) or not inside:
        raise Outside(file)
    protected = tuple(told.get("protected") or ())
    if mentions_protected(file, protected) or mentions_protected(inside, protected):
        raise Protected(file)
    if not os.path.isfile(place):
        raise NoFile(file)
    if os.path.getsize(place) > FILE_BYTES:
        raise TooBig(file)
    with open(place, "rb") as stream:
        return stream.read(FILE_BYTES)


def _limit_time() -> None:
    """Have a TimeoutError raised when the time is up, where the system can do that."""
    import signal

    def out_of_time(_number: int, _frame: "FrameType | None") -> None:
        raise TimeoutError

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, out_of_time)
        signal.setitimer(signal.ITIMER_REAL, LIMIT_S)


def _complain(why: str) -> int:
    print(" ".join(why.split()), file=sys.stderr)  # noqa: T201 - a program's complaint
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
