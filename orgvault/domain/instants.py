"""Instants: UTC, written `2026-11-20T09:14:03Z`, so that text order is time order."""

from datetime import UTC, date, datetime, timedelta


def instant(moment: datetime) -> str:
    """The written form of a moment, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


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
    """The instant `days` times 24 hours before `now`."""
    return instant(moment(now) - timedelta(days=days))


def day(text: str) -> date:
    """The UTC day of an instant."""
    return moment(text).astimezone(UTC).date()
