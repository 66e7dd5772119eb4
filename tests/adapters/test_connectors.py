"""The two connectors that ship: real repositories, and calendars of many shapes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from orgvault.adapters.connectors import git
from orgvault.adapters.connectors.calendar import next_events

NOW = "2026-12-01T09:30:00Z"
ZONE = "Europe/Berlin"


# ── git ─────────────────────────────────────────────────────────────────────────────────────


def repository(path: Path, commits: int = 1) -> Path:
    path.mkdir()
    run(path, "init", "-q", "-b", "trunk")
    for number in range(commits):
        (path / "a.txt").write_text(f"{number}\n")
        run(path, "add", "-A")
        run(path, "commit", "-q", "-m", f"Commit {number}")
    return path


def run(path: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=path, check=True, capture_output=True)


def looked_at(*paths: Path) -> list[dict[str, Any]]:
    given = [{"name": path.name, "path": str(path)} for path in paths]
    return git.looked_at(given)


def test_git_tells_branch_changes_and_commits(tmp_path: Path) -> None:
    path = repository(tmp_path / "site", commits=7)
    (path / "a.txt").write_text("edited\n")
    (path / "new one.txt").write_text("x\n")
    (path / "staged.txt").write_text("x\n")
    run(path, "add", "staged.txt")

    (found,) = looked_at(path)

    assert (found["name"], found["branch"]) == ("site", "trunk")
    assert found["changed"] == {
        "count": 3,
        "files": [" M a.txt", "A  staged.txt", "?? new one.txt"],
    }
    assert [one["subject"] for one in found["last_commits"]] == [
        f"Commit {n}" for n in (6, 5, 4, 3, 2)
    ]


def test_git_tells_what_is_missing_empty_or_no_repository(tmp_path: Path) -> None:
    empty = repository(tmp_path / "empty", commits=0)
    (tmp_path / "plain").mkdir()

    none, bare, plain = looked_at(tmp_path / "none", empty, tmp_path / "plain")

    assert none["unavailable"] == f"no folder {tmp_path / 'none'}"
    assert (bare["branch"], bare["last_commits"]) == ("trunk", [])
    assert "not a git repository" in plain["unavailable"]


def test_git_runs_nothing_that_a_repository_names(tmp_path: Path) -> None:
    path = repository(tmp_path / "site")
    trace = tmp_path / "ran"
    for name in (
        "core.fsmonitor",
        "filter.x=y.clean",
        "filter.p.process",
        "gpg.program",
        "core.pager",
    ):
        run(path, "config", name, f"touch {trace}; cat #")
    run(path, "config", "filter.p.required", "true")
    run(path, "config", "log.showSignature", "true")
    (path / ".gitattributes").write_text("*.txt filter=p\n*.md filter=x=y\n")
    (path / "a.txt").write_text("edited\n")
    (path / "b.md").write_text("new\n")

    (found,) = looked_at(path)

    assert found["changed"]["count"] == 3
    assert not trace.exists()


def test_git_changes_nothing_in_a_repository(tmp_path: Path) -> None:
    path = repository(tmp_path / "site")
    (path / "a.txt").touch()
    before = {one: one.stat().st_mtime_ns for one in (path / ".git").rglob("*") if one.is_file()}

    looked_at(path)

    after = {one: one.stat().st_mtime_ns for one in (path / ".git").rglob("*") if one.is_file()}
    assert after == before


def test_git_stays_short_whatever_there_is() -> None:
    files = [f" M {'ü' * 150}/{n}" for n in range(50)]
    commits = [{"hash": "abc", "date": "2026-12-01", "subject": "s" * 120}] * 5
    big = {"branch": "b", "changed": {"count": 99, "files": files}, "last_commits": commits}

    for many in (1, 5, 40, 5_000):
        text = git.shown([{"name": f"r{n}", **big} for n in range(many)])
        assert len(text.encode()) <= git.OUTPUT_BYTES
        assert json.loads(text)[0]["name"] == "r0"


# ── calendar ────────────────────────────────────────────────────────────────────────────────


def ics(*events: str, head: str = "") -> bytes:
    blocks = "\n".join(
        f"BEGIN:VEVENT\nUID:{n}@x\nDTSTAMP:20260101T000000Z\n{one}\nEND:VEVENT"
        if "UID:" not in one
        else f"BEGIN:VEVENT\nDTSTAMP:20260101T000000Z\n{one}\nEND:VEVENT"
        for n, one in enumerate(events)
    )
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\n{head}{blocks}\nEND:VCALENDAR\n"
    return text.replace("\n", "\r\n").encode()


def starts(content: bytes, days: int = 14, now: str = NOW, zone: str = ZONE) -> list[str]:
    return [one["start"] for one in next_events(content, now, zone, days)["events"]]


WEEKLY = """UID:w@x
DTSTART;TZID=Europe/Berlin:20261102T190000
DTEND;TZID=Europe/Berlin:20261102T200000
RRULE:FREQ=WEEKLY
SUMMARY:Choir"""
MOVED = """UID:w@x
RECURRENCE-ID;TZID=Europe/Berlin:20261207T190000
DTSTART;TZID=Europe/Berlin:20261208T180000
DTEND;TZID=Europe/Berlin:20261208T190000
SUMMARY:Choir, moved"""


def test_a_recurring_event_without_one_that_is_taken_out() -> None:
    content = ics(f"{WEEKLY}\nEXDATE;TZID=Europe/Berlin:20261207T190000")

    assert starts(content) == ["2026-12-14T19:00+01:00"]


def test_one_of_a_series_that_was_moved() -> None:
    events = next_events(ics(WEEKLY, MOVED), NOW, ZONE, 14)["events"]

    assert [(one["title"], one["start"]) for one in events] == [
        ("Choir, moved", "2026-12-08T18:00+01:00"), ("Choir", "2026-12-14T19:00+01:00"),
    ]  # fmt: skip


def test_clock_time_stays_when_summer_begins() -> None:
    assert starts(ics(WEEKLY), now="2026-03-01T00:00:00Z") == []
    assert starts(ics(WEEKLY), now="2027-03-20T00:00:00Z") == [
        "2027-03-22T19:00+01:00", "2027-03-29T19:00+02:00",
    ]  # fmt: skip


def test_all_day_events_name_their_last_day() -> None:
    content = ics(
        "DTSTART;VALUE=DATE:20261201\nDTEND;VALUE=DATE:20261202\nSUMMARY:Today",
        "DTSTART;VALUE=DATE:20261130\nDTEND;VALUE=DATE:20261201\nSUMMARY:Yesterday",
        "DTSTART;VALUE=DATE:20261205\nDTEND;VALUE=DATE:20261208\nSUMMARY:Three days",
        "DTSTART;VALUE=DATE:20261210\nSUMMARY:No end",
    )
    events = next_events(content, NOW, ZONE, 14)["events"]

    assert [(one["title"], one["start"], one["end"]) for one in events] == [
        ("Today", "2026-12-01", "2026-12-01"),
        ("Three days", "2026-12-05", "2026-12-07"),
        ("No end", "2026-12-10", "2026-12-10"),
    ]
    assert all(one["all_day"] for one in events)


def test_all_zones_are_told_in_the_vaults() -> None:
    content = ics(
        "DTSTART:20261202T200000Z\nDTEND:20261202T210000Z\nSUMMARY:UTC",
        "DTSTART;TZID=America/New_York:20261203T080000\nDURATION:PT1H\nSUMMARY:New York",
        "DTSTART:20261204T080000\nDTEND:20261204T090000\nSUMMARY:Floating",
    )

    assert starts(content) == [
        "2026-12-02T21:00+01:00", "2026-12-03T14:00+01:00", "2026-12-04T08:00+01:00",
    ]  # fmt: skip
    assert starts(content, zone="UTC")[1] == "2026-12-03T13:00+00:00"


def test_what_goes_on_now_counts_and_what_is_over_or_cancelled_does_not() -> None:
    content = ics(
        "DTSTART:20261201T090000Z\nDTEND:20261201T100000Z\nSUMMARY:Now",
        "DTSTART:20261201T080000Z\nDTEND:20261201T093000Z\nSUMMARY:Just over",
        "DTSTART:20261202T080000Z\nDTEND:20261202T090000Z\nSTATUS:CANCELLED\nSUMMARY:Off",
        "DTSTART:20261215T093000Z\nDTEND:20261215T100000Z\nSUMMARY:Too late",
        "DTSTART:20261103T080000Z\nDTEND:20261220T090000Z\nSUMMARY:Long",
    )

    assert [one["title"] for one in next_events(content, NOW, "UTC", 14)["events"]] == [
        "Long",
        "Now",
    ]


def test_at_most_twenty_and_short_lines() -> None:
    content = ics(
        *[f"DTSTART:202612{n:02}T120000Z\nSUMMARY:{n} {'x' * 500}" for n in range(2, 14)] * 3
    )
    answer = next_events(content, NOW, "UTC", 14)

    assert len(answer["events"]) == 20
    assert answer["more"] == 16
    assert all(len(one["title"]) == 200 for one in answer["events"])


def test_rules_that_nobody_can_wait_for_are_left_out_and_counted() -> None:
    content = ics(
        "DTSTART:20000101T000000Z\nRRULE:FREQ=SECONDLY\nSUMMARY:Tick",
        "DTSTART:20261202T080000Z\nSUMMARY:Fine",
    )
    answer = next_events(content, NOW, "UTC", 14)

    assert ([one["title"] for one in answer["events"]], answer["unreadable"]) == (["Fine"], 1)


# ── the calendar as a program ───────────────────────────────────────────────────────────────


def program(vault: Path, *words: str, protected: tuple[str, ...] = ()) -> tuple[int, str, str]:
    told = {"vault": str(vault), "utc_now": NOW, "timezone": ZONE, "protected": protected}
    done = subprocess.run(
        [sys.executable, "-m", "orgvault.adapters.connectors.calendar", *words],
        input=json.dumps(told), capture_output=True, text=True, check=False, timeout=20,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_the_program_reads_a_file_of_the_vault(tmp_path: Path) -> None:
    (tmp_path / "a.ics").write_bytes(ics(WEEKLY))

    code, out, _ = program(tmp_path, "a.ics", "--days", "7")

    assert code == 0
    assert [one["start"] for one in json.loads(out)["events"]] == ["2026-12-07T19:00+01:00"]


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("../out.ics", "not a file inside the vault"),
        ("link.ics", "not a file inside the vault"),
        ("Areas/Finance/a.ics", "is protected"),
        ("Private/a.ics", "is protected"),
        ("none.ics", "there is no file none.ics"),
        ("bad.ics", "the file holds no whole calendar"),
        ("odd.ics", "the calendar cannot be read"),
        ("big.ics", "bigger than 5,000,000 bytes"),
        ("slow.ics", "the calendar is too much for 4 seconds"),
    ],
)
def test_the_program_says_in_one_line_what_it_cannot_read(
    tmp_path: Path, file: str, why: str
) -> None:
    vault = tmp_path / "vault"
    for folder in ("Areas/Finance", "Private"):
        (vault / folder).mkdir(parents=True)
        (vault / folder / "a.ics").write_bytes(ics(WEEKLY))
    (tmp_path / "out.ics").write_bytes(ics(WEEKLY))
    (vault / "link.ics").symlink_to(tmp_path / "out.ics")
    (vault / "bad.ics").write_bytes(b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n\xff\xfe\r\n")
    (vault / "odd.ics").write_bytes(b"This is no calendar.")
    (vault / "big.ics").write_bytes(b"x" * 5_000_001)
    never = "DTSTART:00020101T000000Z\nRRULE:FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30\nSUMMARY:Never"
    (vault / "slow.ics").write_bytes(ics(*[never] * 20))

    code, out, err = program(vault, file, protected=("Private/",))

    assert (code, out) == (1, "")
    assert why in err
    assert err.count("\n") == 1
