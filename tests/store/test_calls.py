"""The day's cap and the turn of a run."""

import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from orgvault.domain.instants import day, instant
from orgvault.store.calls import Calls

MIDNIGHT = datetime(2026, 11, 30, tzinfo=UTC)


def none() -> int:
    return 0


@pytest.mark.parametrize("hours", [-8, 0, 8])
def test_time_01_the_day_is_utcs_whatever_the_zone(tmp_path: Path, hours: int) -> None:
    calls, zone = Calls(str(tmp_path)), timezone(timedelta(hours=hours))
    made = 0
    for minutes in (-1, 1):
        local = (MIDNIGHT + timedelta(minutes=minutes)).astimezone(zone)
        today = day(instant(local)).isoformat()
        made += sum(calls.reserve(today, 150, none) for _ in range(200))
    assert made == 300
    assert [day(instant(MIDNIGHT + timedelta(minutes=m))).isoformat() for m in (-1, 1)] == [
        "2026-11-29",
        "2026-11-30",
    ]


def test_a_lost_or_ruined_counter_is_counted_anew(tmp_path: Path) -> None:
    calls = Calls(str(tmp_path))
    for ruin in ("", "{", "[]", '{"day": "2026-11-30", "made": "many"}'):
        (tmp_path / "calls.json").write_text(ruin, "utf-8")
        assert calls.reserve("2026-11-30", 5, lambda: 4)
        assert not calls.reserve("2026-11-30", 5, lambda: 4)


def test_a_run_has_one_turn_at_a_time_and_leaves_no_file(tmp_path: Path) -> None:
    calls, order, entered = Calls(str(tmp_path)), list[str](), threading.Event()

    def second() -> None:
        entered.wait(5)
        with Calls(str(tmp_path)).turn("nova", "run:1", 5) as mine:
            order.append(f"second {mine}")

    waiting = threading.Thread(target=second)
    waiting.start()
    with calls.turn("nova", "run:1", 1) as mine:
        entered.set()
        with Calls(str(tmp_path)).turn("nova", "run:1", 0.05) as other:
            order.append(f"first {mine}, other {other}")
        with Calls(str(tmp_path)).turn("nova", "run:2", 0.05) as free:
            order.append(f"another run {free}")
    waiting.join()
    assert order == ["first True, other False", "another run True", "second True"]
    assert list((tmp_path / "runs").iterdir()) == []
