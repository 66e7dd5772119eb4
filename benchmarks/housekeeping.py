"""Three years of single writes in a vault with attachments, tidied as the commands do it.

`housekeeping.py [EPISODES [MEGABYTES]]`: ten agents; each episode is one commit, of instants spread
over three years, beside so many megabytes of attachments in one commit.  Written in memory, where
no disk adds its moods; what is asked is whether anything grows with the history.
"""

import os
import random
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.figure import Figure, seconds, show
from benchmarks.transaction import MEMORY, episode, vault_of
from orgvault.domain.instants import instant
from orgvault.store.vault import Vault
from tests.vaults import NOVA, Home, message

EPISODES = 100_000
MEGABYTES = 1_000
QUICK = (2_000, 50)
PARTS = 10
AGENTS = tuple(f"agent-{letter}" for letter in "abcdefghij")
BEGIN = datetime(2023, 12, 1, tzinfo=UTC)
YEARS = timedelta(days=3 * 365)
_MEGABYTE = 1 << 20


class Years:
    """A vault that is written to for three years."""

    def __init__(self, home: Home, episodes: int) -> None:
        self._home = home
        self._episodes = episodes
        self._chance = random.Random(1)  # noqa: S311 - the same rows each time
        self._written = 0
        self.tidied_s: list[float] = []
        self.write_s: list[float] = []
        self.log_s: list[float] = []
        self.bytes: list[int] = [self._size()]

    def go_on(self) -> None:
        """Write a tenth of all, and look each time that it was tidied."""
        times, looked = list[float](), list[float]()
        for _ in range(self._episodes // PARTS):
            began = time.perf_counter()
            self._write()
            times.append(time.perf_counter() - began)
            began = time.perf_counter()
            if Vault(str(self._home.root)).tidy():
                self.tidied_s.append(time.perf_counter() - began)
                looked.append(self._look())
                self._age()
        self.write_s.append(median(times))
        self.log_s.append(median(looked))
        self.bytes.append(self._size())

    def _age(self) -> None:
        """Let what is written look as old as it is said to be.

        A write looks for its row in what was written within the last minute: here, a year and more.
        """
        for path in (self._home.root / ".agents/org/episodes").rglob("*.jsonl"):
            os.utime(path, (BEGIN.timestamp(), BEGIN.timestamp()))

    def _look(self) -> float:
        """How long it takes to find an agent's last fifty; when all is packed, to compare like.

        Every tenth commit is this agent's: git looks into five hundred.
        """
        folder = self._home.root / ".agents/org/episodes/agent-a"
        log = partial(self._home.git, "log", "--oneline", "-50", "--", str(folder))
        return median(seconds(log) for _ in range(5))

    def _write(self) -> None:
        at = instant(BEGIN + self._written * YEARS / self._episodes)
        agent = AGENTS[self._written % len(AGENTS)]
        row = episode(agent, self._written, self._chance)
        vault = Vault(str(self._home.root))  # as a command does: nothing is kept in memory
        vault.record(message(f"wake({agent}): {self._written}"), NOVA, [row], at)
        self._written += 1

    def _size(self) -> int:
        objects = self._home.git_dir / "objects"
        return sum(path.stat().st_size for path in objects.rglob("*") if path.is_file())

    @property
    def packs(self) -> int:
        """How many packs there are."""
        return len(list((self._home.git_dir / "objects/pack").glob("*.pack")))


def attach(home: Home, megabytes: int) -> None:
    """Commit pictures and the like: what no packing makes smaller."""
    for number in range(megabytes // 10):
        path = home.root / f"Attachments/{number}.bin"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(os.urandom(10 * _MEGABYTE))
    home.git("add", "Attachments")
    home.git("commit", "-q", "-m", "attachments", "--", "Attachments")


def figures(
    episodes: int = EPISODES, megabytes: int = MEGABYTES, *, quick: bool = False
) -> Iterator[Figure]:
    """Whether a write, the bytes it leaves, or looking into history grow with the years."""
    if quick:
        episodes, megabytes = QUICK
    with vault_of(1_000, MEMORY if os.access(MEMORY, os.W_OK) else None) as home:
        attach(home, megabytes)
        years = Years(home, episodes)
        for _ in range(PARTS):
            years.go_on()
        tidied = f"{len(years.tidied_s)} times packed, {years.packs} packs at the end"
    name = f"{episodes:,} episodes, 3 years, {megabytes:,} MB beside"
    yield Figure(
        f"{name}: a write of the last tenth against the first",
        years.write_s[0],
        years.write_s[-1],
        1.2,
    )
    grown = [after - before for before, after in zip(years.bytes, years.bytes[1:], strict=False)]
    yield Figure(f"{name}: bytes of a tenth", grown[0], grown[-1], 1.2, unit="bytes")
    yield Figure(f"{name}: `git log` of fifty commits", years.log_s[0], years.log_s[-1], 2)
    if years.tidied_s:
        longest = max(years.tidied_s)
        yield Figure(f"{name}: longest repack ({tidied}), a second", 1.0, longest, 1)


if __name__ == "__main__":
    given = [int(one) for one in sys.argv[1:]]
    show(figures(*given))
