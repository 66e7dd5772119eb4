"""Routines: when they are due, in time zones that turn their clocks."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgvault.domain.routine import (
    Routine,
    due,
    first_line,
    following,
    id_fault,
    local,
    wake_of,
    when_fault,
)
from orgvault.domain.routine_file import read_routine, with_values, write_routine

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
NOW = local("2026-11-20T09:14:03Z", BERLIN)  # a Friday


def routine(cron: str = "", window: str = "", since: str = "2026-01-01T00:00:00Z") -> Routine:
    return Routine(
        version=1, id="digest", agent="juno", cron=cron, window=window,
        instruction="Write the digest.\nAll of it.", created=since, created_by="sam",
    )  # fmt: skip


def at(text: str, zone: ZoneInfo) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def test_the_latest_occurrence_is_due_and_older_ones_are_not_made_up() -> None:
    assert due(routine("45 8 * * 5"), NOW) == "2026-11-20T07:45:00Z"
    assert due(routine("*/5 * * * *"), NOW) == "2026-11-20T09:10:00Z"
    assert following(routine("45 8 * * 5"), NOW) == "2026-11-27T07:45:00Z"


def test_the_very_second_counts_and_the_one_before_does_not() -> None:
    digest = routine("45 8 * * 5")
    assert due(digest, at("2026-11-20T08:45:00", BERLIN)) == "2026-11-20T07:45:00Z"
    assert due(digest, at("2026-11-20T08:44:59", BERLIN)) == "2026-11-13T07:45:00Z"


def test_what_was_missed_before_it_was_there_or_while_it_was_paused_is_not_made_up() -> None:
    digest = routine("45 8 * * 5", since="2026-11-20T07:45:00Z")
    assert due(digest, NOW) is None
    assert due(replace(digest, created="2026-11-20T07:44:59Z"), NOW) == "2026-11-20T07:45:00Z"
    resumed = replace(digest, created="2026-01-01T00:00:00Z", resumed="2026-11-20T08:00:00Z")
    assert due(resumed, NOW) is None
    assert due(replace(resumed, resumed=None, paused=True), NOW) is None


@pytest.mark.parametrize(
    ("cron", "zone", "now", "expected"),
    [
        # Berlin, 2026-03-29: 02:00 to 03:00 does not come; the job runs when it has passed.
        ("30 2 * * *", BERLIN, "2026-03-29T03:00:00", "2026-03-29T01:00:00Z"),
        ("30 2 * * *", BERLIN, "2026-03-29T01:59:59", "2026-03-28T01:30:00Z"),
        ("30 2 * * *", BERLIN, "2026-03-30T02:29:59", "2026-03-29T01:00:00Z"),
        ("30 2 * * *", BERLIN, "2026-03-30T02:30:00", "2026-03-30T00:30:00Z"),
        # New York, 2026-03-08.
        ("15 2 * * *", NEW_YORK, "2026-03-08T03:00:00", "2026-03-08T07:00:00Z"),
        ("0 12 * * *", NEW_YORK, "2026-03-08T12:00:00", "2026-03-08T16:00:00Z"),
        ("0 12 * * *", NEW_YORK, "2026-03-07T12:00:00", "2026-03-07T17:00:00Z"),
    ],
)
def test_an_hour_that_does_not_come(cron: str, zone: ZoneInfo, now: str, expected: str) -> None:
    assert due(routine(cron), at(now, zone)) == expected


@pytest.mark.parametrize(
    ("zone", "day", "first"),
    [(BERLIN, "2026-10-25T02", "2026-10-25T00:30:00Z"),
     (NEW_YORK, "2026-11-01T01", "2026-11-01T05:30:00Z")],
)  # fmt: skip
def test_an_hour_that_comes_twice_is_one_occurrence(zone: ZoneInfo, day: str, first: str) -> None:
    nightly = routine(f"30 {int(day[-2:])} * * *")
    begin = at(f"{day}:30:00", zone).astimezone(UTC)
    found = {
        due(nightly, (begin + timedelta(minutes=step)).astimezone(zone))
        for step in range(0, 180, 5)
    }
    assert found == {first}


def test_an_hourly_job_goes_by_real_time_through_both_turns() -> None:
    hourly, found = routine("0 * * * *"), set()
    for day in ("2026-03-29T00:00:00Z", "2026-10-25T00:00:00Z"):
        for step in range(12):
            now = datetime.fromisoformat(day) + timedelta(minutes=30 * step)
            found.add(due(hourly, now.astimezone(BERLIN)))
    assert len(found) == 12


def test_a_window_is_one_occurrence_from_its_begin_to_its_end() -> None:
    late = routine(window="1-5 22:00-02:00")
    assert due(late, at("2026-11-20T21:59:59", BERLIN)) is None
    assert due(late, at("2026-11-20T22:00:00", BERLIN)) == "2026-11-20T21:00:00Z"
    assert due(late, at("2026-11-21T01:59:59", BERLIN)) == "2026-11-20T21:00:00Z"
    assert due(late, at("2026-11-21T02:00:00", BERLIN)) is None
    assert due(late, at("2026-11-21T23:00:00", BERLIN)) is None  # a Saturday
    assert due(late, at("2026-11-23T01:00:00", BERLIN)) is None  # of a Sunday's evening
    assert following(late, at("2026-11-21T03:00:00", BERLIN)) == "2026-11-23T21:00:00Z"


def test_a_window_over_the_turn_of_the_clock() -> None:
    night = routine(window="* 01:30-02:30")
    assert due(night, at("2026-10-25T02:29:00", BERLIN).replace(fold=1)) == "2026-10-24T23:30:00Z"
    assert due(night, at("2026-10-25T02:30:00", BERLIN).replace(fold=1)) is None
    assert due(night, at("2026-03-29T03:10:00", BERLIN)) == "2026-03-29T00:30:00Z"


@pytest.mark.parametrize(
    ("cron", "window", "part"),
    [
        ("", "", "neither"), ("* * * * *", "* 1:00-2:00", "both"), ("* * * *", "", "4 fields"),
        ("60 8 * * 5", "", "`60` is no minute"), ("0 24 * * *", "", "`24` is no hour"),
        ("0 8 32 * *", "", "`32` is no day of month"), ("0 8 * FEBR *", "", "`FEBR` is no month"),
        ("0 8 * * 8", "", "`8` is no weekday"), ("0 8 30 2 *", "", "never comes"),
        ("0 0 * * L/2", "", "`L/2` is no weekday"), ("0 0 0 8 * * *", "", "7 fields"),
        ("", "8 09:00-10:00", "`8` is no weekday"), ("", "1-5 9:00-10:00", "is no window"),
        ("", "1-5 09:00-24:00", "is no window"), ("", "1-5 09:00-09:00", "ends where it begins"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(cron: str, window: str, part: str) -> None:
    what, do = when_fault(cron, window, NOW)
    assert part in what
    assert do


@given(st.text("0123456789*/,-#LW MONFEB", max_size=24))
def test_any_text_is_a_cron_or_is_refused(text: str) -> None:
    what, do = when_fault(text, "", NOW)
    if what:
        assert do
    elif text:
        found = due(routine(text), NOW)
        assert found is None or found <= "2026-11-20T09:14:03Z"


@given(
    st.sampled_from(["30 2 * * *", "0 */2 * * *", "15,45 1-3 * * *", "* 2 * * 0", "0 0 1 * *"]),
    st.sampled_from(
        [BERLIN, NEW_YORK, ZoneInfo("Australia/Lord_Howe"), ZoneInfo("Asia/Kathmandu")]
    ),
    st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_due_never_goes_back_and_is_never_ahead(cron: str, zone: ZoneInfo, now: datetime) -> None:
    one = routine(cron, since="2025-01-01T00:00:00Z")
    first = due(one, now.astimezone(zone))
    later = due(one, (now + timedelta(minutes=17)).astimezone(zone))
    assert first is not None
    assert later is not None
    assert first <= later
    assert datetime.fromisoformat(first) <= now


def test_a_wake_of_an_occurrence_is_the_same_in_every_clone() -> None:
    one = wake_of(routine("45 8 * * 5"), "2026-11-20T07:45:00Z", "Write")
    assert one == wake_of(routine("45 8 * * 5"), "2026-11-20T07:45:00Z", "Write")
    assert one.wake != wake_of(routine("45 8 * * 5"), "2026-11-27T07:45:00Z", "Write").wake
    assert (one.reason, one.routine, one.agent) == ("schedule", "digest", "juno")


def test_a_file_is_written_as_it_is_read_and_changed_in_its_place() -> None:
    one = routine("45 8 * * 5")
    text = write_routine(one)
    assert read_routine(text, "r.yaml", NOW) == (one, ())
    text = "# mine\n" + text.replace("paused: false", "paused:  false   # for now")
    paused = with_values(text, {"paused": True})
    assert paused == text.replace("paused:  false", "paused:  true")
    resumed = with_values(paused or "", {"paused": False, "resumed": "2026-11-20T09:14:03Z"})
    assert resumed == f'{text}resumed: "2026-11-20T09:14:03Z"\n'
    assert with_values("{paused: false}\n", {"paused": True}) is None


@pytest.mark.parametrize(
    ("change", "line", "part"),
    [
        (('cron: "45 8 * * 5"', 'cron: "45 28 * * 5"'), 4, "`28` is no hour"),
        (('cron: "45 8 * * 5"\n', ""), 1, "neither"),
        (("version: 1", "version: 2"), 1, "format version 2"),
        (("agent: juno", "agent: juno\nagnet: juno"), 4, "unknown key"),
        (("paused: false", "paused: no"), 6, "unquoted"),
    ],
)
def test_a_bad_file_is_a_problem_with_its_line(
    change: tuple[str, str], line: int, part: str
) -> None:
    text = write_routine(routine("45 8 * * 5")).replace(*change)
    found, problems = read_routine(text, "r.yaml", NOW)
    assert found is None
    assert [(one.line, part in one.what) for one in problems] == [(line, True)]


def test_a_paused_routine_has_no_next_time_and_a_window_has_one() -> None:
    weekdays = routine(window="1-5 09:00-10:00")
    assert following(weekdays, NOW) == "2026-11-23T08:00:00Z"
    assert following(replace(weekdays, paused=True), NOW) is None
    assert (weekdays.when, routine("45 8 * * 5").when) == ("1-5 09:00-10:00", "45 8 * * 5")


def test_a_window_that_does_not_read_is_no_window() -> None:
    with pytest.raises(ValueError, match="at noon"):
        due(routine(window="at noon"), NOW)


def test_a_window_is_right_when_nothing_is_wrong_with_it() -> None:
    assert when_fault("", "1-5 22:00-02:00", NOW) == ("", "")


@pytest.mark.parametrize(
    ("text", "fault"),
    [("digest", ""), ("aux", "a device name"), ("Digest", "a small letter"), ("", "small letter")],
)
def test_why_a_text_is_no_routines_id(text: str, fault: str) -> None:
    assert fault in id_fault(text)
    assert bool(fault) == bool(id_fault(text))


def test_the_note_of_a_wake_is_the_instructions_first_line() -> None:
    assert first_line(routine("* * * * *")) == "Write the digest."
    assert first_line(replace(routine("* * * * *"), instruction=" \n ")) == ""
    assert len(first_line(replace(routine("* * * * *"), instruction="x" * 4000))) == 400


def test_an_empty_instruction_and_a_value_in_a_block_are_refused() -> None:
    text = write_routine(routine("45 8 * * 5"))
    blank = text.replace(
        text[text.index("instruction:") : text.index("paused:")], 'instruction: " "\n'
    )
    found, problems = read_routine(blank, "r.yaml", NOW)
    assert found is None
    assert [(one.line, one.what) for one in problems] == [(5, "the instruction is empty")]
    for value in ("|\n  true", "&x true", "[true]"):
        changed = text.replace("paused: false", f"paused: {value}")
        assert with_values(changed, {"paused": True}) is None


def test_an_expression_that_does_not_read_never_comes() -> None:
    assert following(routine("at noon"), NOW) is None
    assert due(routine("0 0 31 2 *"), NOW) is None


def test_the_fifth_friday_comes_again() -> None:
    assert following(routine(window="5#5 09:00-10:00"), NOW) == "2027-01-29T08:00:00Z"
