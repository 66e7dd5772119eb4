"""How fast a cold command is, and how its cost grows with the vault and with the history."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.figure import Figure, seconds
from benchmarks.transaction import EPISODE, fill, vault_of
from orgvault.domain.episode import Episode
from orgvault.store.vault import Vault
from tests.vaults import Home

ORGVAULT = str(Path(sys.executable).parent / "orgvault")
CLICK = (sys.executable, "-c", "import click")
TURNS = 21
RUN = "run-20261130-7f3k2q9d"


def environment() -> dict[str, str]:
    """A person's environment: modules are compiled once, and no model is asked."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "ORG_REFLECT_MODEL": "off"}


def command(home: Home, *words: str) -> None:
    """Run a command in a vault, as a person's shell does."""
    subprocess.run(words, cwd=home.root, env=environment(), check=True, stdout=subprocess.DEVNULL)


def wake_done(home: Home) -> None:
    """Record one finished run."""
    run = f"run-{time.time_ns()}"
    command(
        home,
        ORGVAULT,
        "wake-done",
        "x",
        "--agent",
        "nova",
        "--run",
        run,
        "--result",
        "done: x",
        "--quiet",
    )


def set_up(home: Home) -> None:
    """Make a vault of ours of it."""
    command(home, ORGVAULT, "init", "--agent", "nova")
    wake_done(home)


def against_click() -> Figure:
    """A cold `wake-done` without reflection, the whole process, against importing click."""
    ours, theirs = [], []
    with vault_of(100) as home:
        set_up(home)
        for _ in range(TURNS):
            theirs.append(seconds(lambda: command(home, *CLICK)))
            ours.append(seconds(lambda: wake_done(home)))
    return Figure(
        "cold wake-done, small vault, against `import click`", median(theirs), median(ours), 1.8
    )


def in_larger_vaults() -> Iterator[Figure]:
    """The same command in larger vaults against one of 1,000 files, in turns."""
    for files, aim in ((10_000, 1.3), (50_000, 2.0)):
        with vault_of(1_000) as small, vault_of(files) as large:
            set_up(small)
            set_up(large)
            times: dict[str, list[float]] = {"small": [], "large": []}
            for _ in range(TURNS):
                for name, home in (("small", small), ("large", large)):
                    times[name].append(seconds(partial(wake_done, home)))
        name = f"cold wake-done, {files:,} files against 1,000"
        yield Figure(name, median(times["small"]), median(times["large"]), aim)


def with_a_long_history() -> Figure:
    """The same command as an agent's row 10,000 against its row 100, in turns."""
    with vault_of(100) as few, vault_of(100) as many:
        times: dict[str, list[float]] = {"few": [], "many": []}
        for home, rows in ((few, 100), (many, 10_000)):
            set_up(home)
            fill(home, rows, ("nova",))
        for _ in range(TURNS):
            for name, home in (("few", few), ("many", many)):
                times[name].append(seconds(partial(wake_done, home)))
    return Figure(
        "cold wake-done, row 10,000 against row 100",
        median(times["few"]),
        median(times["many"]),
        1.2,
    )


def is_this_run_recorded() -> Figure:
    """Looking for a run that is not there, in 35 MB of episodes, against reading them."""
    with vault_of(0) as home:
        folder = home.root / ".agents/org/episodes/nova"
        folder.mkdir(parents=True)
        line = '{"v":1,"id":"e-%d","run":"run-%d","summary":"' + "x" * EPISODE + '"}\n'
        number = 0
        for segment in range(550):
            rows = "".join(line % (number + n, number + n) for n in range(200))
            number += 200
            (folder / f"2026-11-{segment:04d}.nova.{segment:04x}.jsonl").write_text(rows)
        paths = sorted(folder.iterdir())
        ours, theirs = [], []
        for _ in range(9):
            theirs.append(seconds(lambda: [path.read_bytes() for path in paths]))
            logs = Vault(str(home.root)).logs
            ours.append(seconds(partial(logs.find, Episode, "episodes", "nova", "run", [RUN])))
        size = sum(path.stat().st_size for path in paths) / 1e6
    return Figure(
        f"is this run recorded? {size:.0f} MB, against reading", median(theirs), median(ours), 1.5
    )


# Both print when each of their writes began and when it was acknowledged.
OURS_WRITE = """\
import sys, time
sys.path.insert(0, sys.argv[1])
from tests.vaults import *
from orgvault.store.vault import Vault
vault = Vault(".")
for number in range(int(sys.argv[3])):
    before = time.time()
    one = row("nova", f"{sys.argv[2]}-{number}", size=260)
    vault.record(message("wake(nova): x"), NOVA, [one], AT)
    print(before, time.time())
"""
THEIRS_WRITE = """\
for n in $(seq "$2"); do
    before=$EPOCHREALTIME
    echo "{$1-$n}" >> "log-$1.jsonl"
    flock .git/bench git commit -q -m x --only -- "log-$1.jsonl" || exit 1
    echo "$before $EPOCHREALTIME"
done
"""


def eight_at_once(each: int) -> Iterator[Figure]:
    """Eight processes that write at once, against eight that take `flock` and commit with git."""
    root = str(Path(__file__).parent.parent)
    logs = [f"log-{number}.jsonl" for number in range(8)]
    with vault_of(10_000) as home, ThreadPoolExecutor(8) as pool:
        for name in logs:
            home.write(name, "")
        home.git("add", "-f", *logs)
        home.git("commit", "-q", "-m", "logs", "--only", "--", *logs)

        def all_eight(*words: str) -> tuple[float, float]:
            """Seconds from start to end, and what 99 of 100 writes took at most."""
            waits: list[float] = []

            def one(number: int) -> None:
                told = subprocess.run(
                    [*words, str(number), str(each)], cwd=home.root, check=True, text=True,
                    capture_output=True, env={**environment(), "LC_ALL": "C"},
                ).stdout.split()  # fmt: skip
                times = [float(word) for word in told]
                waits.extend(b - a for a, b in zip(times[::2], times[1::2], strict=True))

            took = seconds(lambda: list(pool.map(one, range(8))))
            return took, sorted(waits)[len(waits) * 99 // 100]

        theirs = all_eight("bash", "-c", THEIRS_WRITE, "-")
        ours = all_eight(sys.executable, "-c", OURS_WRITE, root)
        if len(set(home.rows_in_head())) != 8 * each:
            raise AssertionError(home.rows_in_head())  # a figure for lost rows is worthless
    name = f"8 processes x {each} writes, 10,000 files"
    yield Figure(f"{name}: rate, none lost", theirs[0], ours[0], 2.5, at_least=True)
    yield Figure(f"{name}: p99 of a write", theirs[1], ours[1], 1.0)


def figures(*, quick: bool = False) -> Iterator[Figure]:
    """All figures of cold commands; `quick` leaves out what takes minutes."""
    yield against_click()
    yield is_this_run_recorded()
    yield from eight_at_once(10 if quick else 100)
    if not quick:
        yield from in_larger_vaults()
        yield with_a_long_history()
