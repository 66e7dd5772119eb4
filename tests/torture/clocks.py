"""Clocks: DST, year ends, a clock that goes back, six zones; through the command line.

`python -m tests.torture.clocks [COUNT [SEED]]`: so many moments, in one vault for each zone.  Runs
are recorded at each; episodes must stand in the right month's segment, with instants in UTC, be
counted once, and by `--days` on the right side.  Failures are saved under .torture/clocks/.
"""

import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import time_machine

from tests.harbor import Harbor, make_harbor
from tests.torture import invariants
from tests.torture.scene import save, workshop

DEFAULTS = ("5000", "13")
ZONES = (
    "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Asia/Kathmandu", "Australia/Lord_Howe",
    "Pacific/Kiritimati",
)  # fmt: skip
TURNS = (
    "2026-10-25T01:00:00", "2027-03-28T01:00:00", "2026-12-31T23:59:59", "2027-01-01T00:00:00",
    "2028-02-29T23:59:59", "2027-02-28T23:59:59", "2026-11-30T23:59:59", "2027-04-04T15:00:00",
    "2026-12-31T10:00:00", "2027-10-03T15:30:00", "2038-01-19T03:14:07",
)  # fmt: skip
EACH = 30  # moments in one vault: `stats` and `episodes` read them all


def moments(chance: random.Random, count: int) -> Iterator[datetime]:
    """Moments near the turns of clocks and calendars, often before the last one."""
    for _ in range(count):
        turn = datetime.fromisoformat(chance.choice(TURNS)).replace(tzinfo=UTC)
        yield turn + timedelta(
            seconds=chance.choice((-1, 0, 1, 59, 3599, -3601, 7200, -86400)),
            milliseconds=chance.randrange(1000),
        )


def in_zone(harbor: Harbor, zone: str, times: Sequence[datetime]) -> list[str]:
    """Record a run at each time; what is wrong afterwards."""
    wrong = []
    for number, at in enumerate(times):
        run = f"run-clock-{number}"
        with time_machine.travel(at.astimezone(ZoneInfo(zone)), tick=False):
            wake = harbor.run("wake", "add", "nova", "--reason", "task", code=None)
            done = harbor.run(
                "wake-done",
                wake.out.strip(),
                "--run",
                run,
                "--turns",
                "2",
                code=None,
                ORG_REFLECT_MODEL="off",
            )
            if wake.code or done.code or "later" in done.err:
                wrong.append(f"{at} in {zone}: {wake} {done}")
            if number % 10 == 0:
                told = harbor.run("memory", "episodes", "nova", "--days", "1", "--json", code=None)
                wrong += _days(told.out, at) if told.code == 0 else [f"{at}: {told}"]
                wrong += _silent(harbor, at)
    return wrong + _segments(harbor, len(times), times)


def _days(text: str, at: datetime) -> list[str]:
    """Episodes of the last day that are older than that."""
    found = [one["episode"] for one in json.loads(text)["episodes"]]
    old = at - timedelta(days=1, seconds=1)
    late = [one for one in found if datetime.fromisoformat(one["finished_at"]) < old]
    here = any(one["finished_at"] == _instant(at) for one in found)
    wrong = [f"{at}: {one['run']} of {one['finished_at']} is of the last day" for one in late]
    return wrong + ([] if here else [f"{at}: what has just finished is not of the last day"])


def _silent(harbor: Harbor, at: datetime) -> list[str]:
    told = [harbor.run(*words, code=None) for words in (("stats",), ("check",), ("status",))]
    return [f"{at}: {one}" for one in told if "Traceback" in one.err or "this is a bug" in one.err]


def _segments(harbor: Harbor, count: int, times: Sequence[datetime]) -> list[str]:
    rows = [one for one in harbor.rows("episodes", "nova") if one["run"].startswith("run-clock-")]
    wrong = [] if len(rows) == count else [f"{len(rows)} episodes of {count}"]
    for one in rows:
        meant = times[int(one["run"].rsplit("-", 1)[1])]
        if one["finished_at"] != _instant(meant):
            wrong.append(f"{one['run']} finished at {one['finished_at']}, not {_instant(meant)}")
    return wrong + invariants.rows_at_rest(harbor.root, set())


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def trials(count: int, seed: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """So many moments, in turn in each zone; counts, and what was wrong."""
    chance = random.Random(seed)  # noqa: S311 - to be repeated
    done: Counter[str] = Counter()
    told: list[str] = []
    zone_before = os.environ.get("TZ", "UTC")
    for number in range(-(-count // EACH)):
        zone = ZONES[number % len(ZONES)]
        os.environ["TZ"] = zone
        time.tzset()
        place = folder / f"c{number}"
        place.mkdir()
        harbor = make_harbor(place)
        wrong = in_zone(harbor, zone, list(moments(chance, min(EACH, count - number * EACH))))
        done[zone] += min(EACH, count - number * EACH)
        if wrong:
            done["wrong"] += 1
            told += [f"{zone}, part {number}, seed {seed}", *(f"    {one}" for one in wrong)]
            save("clocks", f"{seed} {number}", wrong, harbor.root)
    os.environ["TZ"] = zone_before
    time.tzset()
    return done, told


def main(given: Sequence[str]) -> int:
    """Try them all; 1 when something was wrong."""
    with workshop() as folder:
        done, told = trials(int(given[0]), int(given[1]), folder)
    print(f"seed {given[1]}: {dict(done)}", *told, sep="\n")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main([*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]))
