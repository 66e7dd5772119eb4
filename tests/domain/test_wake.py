"""Wakes: what their events tell, which of them one run answers, and the runs of a day."""

from collections.abc import Iterator
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from orgvault.domain.wake import (
    Asked,
    Reason,
    Trigger,
    Wake,
    WakeEvent,
    closed,
    opened,
    taken,
    trigger_of,
    wakes,
)
from orgvault.domain.wake_groups import groups, runs_of_day

BERLIN = ZoneInfo("Europe/Berlin")
AT, LATER, LAST = "2026-11-20T09:14:03Z", "2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z"
ASKED = Asked(Reason.TASK, card="t-7f3k2q9d", note="Look.")
ADDED = opened("w-00000001", "nova", ASKED, AT, "sam")


def wake(number: int, reason: Reason, **more: object) -> Wake:
    event = opened(f"w-0000000{number}", "nova", Asked(reason), f"2026-11-20T0{number}:00:00Z", "s")
    return replace(wakes([event])[0], **more)  # type: ignore[arg-type]


def test_a_wake_is_open_until_a_run_closes_it() -> None:
    (one,) = wakes([ADDED])
    assert (one.id, one.agent, one.reason, one.card) == ("w-00000001", "nova", "task", ASKED.card)
    assert (one.note, one.added_at, one.added_by, one.open) == ("Look.", AT, "sam", True)
    (one,) = wakes([ADDED, taken(one, "run-1", LATER, "orgvault")])
    assert (one.taken_by_run, one.taken_at, one.open) == ("run-1", LATER, True)
    (one,) = wakes([ADDED, closed(one, "run-1", LAST, "orgvault")])
    assert (one.closed_by_run, one.closed_at, one.open) == ("run-1", LAST, False)


def test_the_first_adding_and_closing_and_the_latest_taking_count_in_any_order() -> None:
    (one,) = wakes([ADDED])
    early, late = taken(one, "run-1", AT, "x"), taken(one, "run-2", LATER, "x")
    first, second = closed(one, "run-2", LATER, "x"), closed(one, "run-3", LAST, "x")
    assert first.id == second.id  # so that it closes once, whoever does
    again = replace(ADDED, note="Another clone's.")
    for takings in ([early, late], [late, early]):
        (told,) = wakes([first, *takings, ADDED, again, second])
        assert (told.taken_by_run, told.taken_at) == ("run-2", LATER)
        assert (told.closed_by_run, told.note) == ("run-2", "Look.")


def test_events_of_a_wake_that_nobody_added_tell_of_none() -> None:
    (one,) = wakes([ADDED])
    assert wakes([taken(one, "run-1", LATER, "x"), closed(one, "run-1", LAST, "x")]) == []
    assert wakes([replace(ADDED, reason=None)])[0].reason is Reason.MANUAL


@pytest.mark.parametrize("reason", Reason)
def test_the_group_chat_reflects_at_its_end(reason: Reason) -> None:
    chat = reason in {Reason.CHAT, Reason.MENTION}
    assert trigger_of(reason) is (Trigger.CHAT_END if chat else Trigger.WAKE_DONE)


def test_one_run_answers_what_belongs_together_oldest_first() -> None:
    asked = [
        wake(9, Reason.MENTION, chat_seq=4),
        wake(8, Reason.CHAT),  # delivers no message: alone
        wake(7, Reason.SCHEDULE, routine="digest"),
        wake(6, Reason.SCHEDULE, routine="other"),
        wake(5, Reason.SCHEDULE, routine="digest"),
        wake(4, Reason.TASK, card="t-7f3k2q9d"),
        wake(3, Reason.MANUAL, card="t-7f3k2q9d"),
        wake(2, Reason.MANUAL),
        wake(1, Reason.CHAT, chat_seq=3),
    ]
    told = [[int(one.id[-1]) for one in group] for group in groups(asked)]
    assert told == [[1, 9], [2], [3, 4], [5, 7], [6], [8]]


def test_the_runs_of_a_day_are_those_of_the_zones_day() -> None:
    (one,) = wakes([ADDED])
    events = [
        taken(one, "run-3", "2026-11-20T09:00:00Z", "x"),
        taken(one, "run-3", "2026-11-20T08:00:00Z", "x"),
        closed(one, "run-2", "2026-11-20T07:00:00Z", "x"),
        taken(one, "run-2", "2026-11-19T23:00:00Z", "x"),  # midnight in Berlin
        replace(taken(one, "run-0", "2026-11-20T06:00:00Z", "x"), run=None),
        taken(one, "run-1", "2026-11-19T22:59:59Z", "x"),
        ADDED,
    ]
    assert runs_of_day(events, "2026-11-20T09:14:03Z", BERLIN) == {"run-2", "run-3"}
    assert runs_of_day([], "2026-11-20T09:14:03Z", BERLIN) == set()


def test_no_more_events_are_read_than_a_closing_of_the_day_before() -> None:
    (one,) = wakes([ADDED])

    def newest() -> Iterator[WakeEvent]:
        yield taken(one, "run-2", "2026-11-20T07:00:00Z", "x")
        yield closed(one, "run-1", "2026-11-19T07:00:00Z", "x")
        pytest.fail("an event of long ago was asked for")

    assert runs_of_day(newest(), "2026-11-20T09:14:03Z", BERLIN) == {"run-2"}
