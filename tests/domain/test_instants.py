"""Instants as they are written: UTC, to the second, in the order of time."""

from datetime import date

import pytest

from orgvault.domain.instants import day, days_before, moment, normal


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-11-20T09:14:03Z", "2026-11-20T09:14:03Z"),
        ("2026-11-20T10:14:03.987+01:00", "2026-11-20T09:14:03Z"),
        ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00Z"),
    ],
)
def test_a_time_of_any_zone_is_one_instant(written: str, read: str) -> None:
    assert normal(written) == read
    assert day(read) == date.fromisoformat(read[:10])


@pytest.mark.parametrize("text", ["2026-11-20T09:14:03", "2026-02-30T09:14:03Z", "soon"])
def test_a_time_without_a_zone_and_what_is_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - Python says the rest
        moment(text)


def test_days_go_no_further_than_the_calendar() -> None:
    now = "2026-11-20T09:14:03Z"
    assert days_before(now, 1.5) == "2026-11-18T21:14:03Z"
    assert days_before(now, 10**6) == "0001-01-01T00:00:00Z"
    assert days_before(now, -(10**7)) == "9999-12-31T23:59:59Z"
    assert days_before(now, 1e300) == "0001-01-01T00:00:00Z"
