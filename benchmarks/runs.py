"""What stored runs cost: three agents, State new in each run, Memory in every third.

`runs.py [RUNS]` tells how large `.git` is after gc beside the rows and texts it holds, how many
files the index lists for them, and what storing, listing and reading a run costs in a vault of
RUNS against one of 100, in turns.
"""

import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.figure import Figure, seconds, show
from benchmarks.transaction import vault_of
from orgvault.domain.prompt import Composed, Message, Section
from orgvault.domain.run import KeptSection, Manifest, TaskSource, manifest_id
from orgvault.store.runs import Runs, to_store
from orgvault.store.vault import Vault
from tests.vaults import AT, NOVA, Home, message

AGENTS = ("ada", "atlas", "nova")
SEED = "runs"
COUNT = 10_000
QUICK = 500
FEW = 100
TURNS = 15
_BATCH = 200
_WORDS = (Path(__file__).parent.parent / "README.md").read_text("utf-8").split()


class Prompts:
    """Prompts as a vault's agents would get them, one after the other."""

    def __init__(self) -> None:
        self._chance = random.Random(SEED)  # noqa: S311 - made up
        self._guidelines = self._lines(60)
        self._task = {agent: self._lines(40) for agent in AGENTS}
        self._memory = {agent: self._lines(60) for agent in AGENTS}

    def next(self, number: int) -> tuple[str, Composed]:
        """The agent of a run, and its prompt."""
        agent, turn = AGENTS[number % len(AGENTS)], number // len(AGENTS)
        if number % 600 == 0:
            self._change(self._guidelines)
        if turn % 40 == 0:
            self._change(self._task[agent])
        if turn % 3 == 0:
            self._change(self._memory[agent])
        texts = {
            "guidelines": "\n".join([*self._guidelines, f"You are {agent}."]),
            "task": "\n".join(self._task[agent]),
            "state": "State:\n" + "\n".join([f'"utc_now": {number}', *self._lines(20)]),
            "memory": "\n".join(self._memory[agent]),
        }
        sections = tuple(Section(name, text) for name, text in texts.items())
        return agent, Composed(sections, Message("", self._line()), 0)

    def _change(self, lines: list[str]) -> None:
        lines[self._chance.randrange(len(lines))] = self._line()

    def _lines(self, count: int) -> list[str]:
        return [self._line() for _ in range(count)]

    def _line(self) -> str:
        return " ".join(self._chance.choices(_WORDS, k=20))


def run_id(number: int) -> str:
    """The id of a run."""
    return f"run-{number:08d}"


def store(vault: Vault, number: int, agent: str, composed: Composed) -> None:
    """Store a run as `run start` does."""
    run = run_id(number)
    if Runs(vault).is_taken(agent, run):
        raise AssertionError(run)
    sections = tuple(
        KeptSection(name=one.name, sha256=one.sha256, bytes=len(one.text.encode()), tokens=1)
        for one in composed.sections
    )
    manifest = Manifest(
        id=manifest_id(agent, run), agent=agent, run=run, at=AT, actor="sam", origin="direct",
        prompt_sha256=composed.sha256, counter="words", sections=sections, sources=(),
        task_source=TaskSource(), neutralised=0, version="0",
    )  # fmt: skip
    rows, contents = to_store(manifest, composed)
    vault.record(message(f"run({agent}): start {run}"), NOVA, rows, AT, contents)


class Vaulted:
    """A vault that gets one run after the other."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._prompts = Prompts()
        self._number = 0

    def one_more(self) -> None:
        """Store the next run, as a command of its own would."""
        self._store(Vault(str(self.home.root)))

    def fill(self, count: int) -> None:
        """Spool runs while a merge is pretended, then have them drained, one commit each."""
        marker = self.home.git_dir / "MERGE_HEAD"
        while self._number < count:
            vault = Vault(str(self.home.root))
            last = min(count, self._number + _BATCH)
            marker.write_text(self.home.head() + "\n")
            while self._number < last - 1:
                self._store(vault)
            marker.unlink()
            self._store(vault)
            vault.tidy()
        self._age()

    def _age(self) -> None:
        """As in a vault of months: a segment of this minute is searched for rows once more."""
        then = time.time() - 3600
        for path in (self.home.root / ".agents/org/runs").rglob("*.jsonl"):
            os.utime(path, (then, then))
        self.home.git("update-index", "-q", "--refresh", code=None)

    def _store(self, vault: Vault) -> None:
        store(vault, self._number, *self._prompts.next(self._number))
        self._number += 1


def read(home: Home, number: int) -> None:
    """Read everything of a run, as `prompt verify` does."""
    runs = Runs(Vault(str(home.root)))
    manifest = runs.find(AGENTS, run_id(number))
    if manifest is None:
        raise AssertionError(number)
    hashes = {one.name: one.sha256 for one in manifest.sections}
    for row in runs.opening(manifest):
        for one in row.texts:
            found = runs.text(manifest.agent, one, one.sha256 or hashes[one.name])
            if found.text is None:
                raise AssertionError(one)


def latest(home: Home) -> None:
    """List the latest runs, as `run list` does."""
    runs = Runs(Vault(str(home.root)))
    for agent in AGENTS:
        runs.manifests(agent, 50)


def in_turns(
    name: str, few: Callable[[], object], many: Callable[[], object], aim: float | None = None
) -> Figure:
    """How long the same takes in both vaults."""
    times = [(seconds(few), seconds(many)) for _ in range(TURNS)]
    return Figure(name, median(a for a, _ in times), median(b for _, b in times), aim)


def figures(*, quick: bool = False) -> Iterator[Figure]:
    """All figures; `quick` stores fewer runs."""
    yield from stored(QUICK if quick else COUNT)


def stored(count: int) -> Iterator[Figure]:
    """All figures, for so many runs."""
    with vault_of(FEW) as small, vault_of(FEW) as large:
        few, many = Vaulted(small), Vaulted(large)
        many.fill(count)
        few.fill(FEW)
        against = f"run {count:,} against run {FEW}"
        for name, act, aim in (
            ("start", Vaulted.one_more, 1.5),
            ("list", lambda one: latest(one.home), 1.5),
            ("read the first", lambda one: read(one.home, 0), None),
        ):
            yield in_turns(f"{name}: {against}", partial(act, few), partial(act, many), aim)
        yield in_turns(
            f"read the latest: {against}",
            partial(read, small, FEW - 1), partial(read, large, count - 1),
        )  # fmt: skip
        large.git("gc", "-q", "--prune=now")
        org = large.root / ".agents/org/runs"
        held = sum(path.stat().st_size for path in org.rglob("*") if path.is_file())
        yield Figure(
            f"objects after gc, rows and texts of {count:,} runs",
            held,
            objects(large),
            1,
            unit="bytes",
        )
        names = len(large.git("ls-files", "--", ".agents/org/runs").splitlines())
        yield Figure(f"files in the index for {count:,} runs", count, names, 0.5, unit="files")


def objects(home: Home) -> int:
    """The bytes of a repository's objects."""
    return sum(path.stat().st_size for path in (home.git_dir / "objects").rglob("*.*"))


if __name__ == "__main__":
    show(stored(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT))
