"""Instants: UTC, written `2026-11-20T09:14:03Z`, so that text order is time order."""

from datetime import UTC, date, datetime, timedelta


def instant(moment: datetime) -> str:
    """The written form of a moment, to the second; its year has four digits."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def normal(text: str) -> str:
    """Any RFC 3339 time as a UTC instant to the second; ValueError when it is none."""
    return instant(moment(text))


def moment(text: str) -> datetime:
    """The aware datetime of a written instant; ValueError when it is none."""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(text)
    return found


def days_before(now: str, days: float) -> str:
    """The instant `days` times 24 hours before `now`; no further than the calendar goes."""
    try:
        return instant(moment(now) - timedelta(days=days))
    except OverflowError:
        return "0001-01-01T00:00:00Z" if days > 0 else "9999-12-31T23:59:59Z"


def day(text: str) -> date:
    """The UTC day of an instant."""
    return moment(text).astimezone(UTC).date()
