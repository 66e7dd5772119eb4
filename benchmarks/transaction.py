"""How fast the transaction is: each figure beside its reference, measured in the same run."""

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.figure import Figure, seconds
from orgvault.domain.episode import Episode, TranscriptFile, episode_id
from orgvault.domain.ids import random_id
from orgvault.domain.wake import Outcome, Reason
from orgvault.store.entry import Row
from orgvault.store.logs import encode
from orgvault.store.vault import Vault
from tests.vaults import AT, NOVA, Home, make_vault, message, row

ONLY = ("commit", "-q", "-m", "x", "--only", "--")
FEWEST = 1_000
MEMORY = "/dev/shm"  # noqa: S108 - the folder in it gets a random name
EPISODE = 260  # bytes of filling: the usual length of an episode's row
_SAID = (
    "the site build failed before its dependencies were there so I ran it again with a clean cache "
    "and then the links of the feed were checked one by one while Kim looked at the tide table"
)
WORDS = _SAID.split()


@contextmanager
def vault_of(files: int, place: str | None = None) -> Iterator[Home]:
    """A vault in a repository of so many notes, dirty and half-staged."""
    with tempfile.TemporaryDirectory(prefix="orgvault-bench-", dir=place) as folder:
        home = make_vault(Path(folder) / "v")
        for number in range(files):
            home.write(f"notes/{number % 97}/{number}.md", f"note {number}\n" * 3)
        home.commit("notes")
        home.git("gc", "-q")
        for number in range(0, min(files, 200), 2):
            home.write(f"notes/{number % 97}/{number}.md", "edited\n")
        if files:
            home.git("add", "notes/0", "notes/1")
        yield home


def commit_of_three_paths(files: int, aim: float) -> Iterator[Figure]:
    """A change of three texts against `git commit --only` of three files, in turns.

    As it comes, git syncs nothing; the second figure is against one that is told to, the third is
    of a disk on which that takes no time.
    """
    yield from _three_paths(files, aim)
    if os.access(MEMORY, os.W_OK) and files == FEWEST:
        (plain, *_) = _three_paths(files, None, MEMORY)
        yield replace(plain, name=f"{plain.name}, in memory")


def _three_paths(files: int, aim: float | None, place: str | None = None) -> Iterator[Figure]:
    with vault_of(files, place) as home:
        vault = Vault(str(home.root))
        ours: list[float] = []
        theirs: dict[str, list[float]] = {"": [], "-c core.fsync=all": []}
        names = [f"theirs/{n}.md" for n in range(3)]
        for name in names:
            home.write(name, "new\n")
        home.commit("theirs", *names)
        for turn in range(15):
            for how, times in theirs.items():
                for name in names:
                    home.write(name, f"{turn} {how}\n")
                os.sync()  # nobody pays for what another has left
                times.append(seconds(partial(home.git, *how.split(), *ONLY, *names)))
            texts = {f"Org/{n}.md": f"{turn}\n" for n in range(3)}
            os.sync()
            ours.append(seconds(partial(home.write_texts, texts, vault=vault)))
        name = f"commit of 3 paths, {files:,} files"
        yield Figure(name, median(theirs[""]), median(ours), aim)
        yield Figure(f"{name}: git syncs, too", median(theirs["-c core.fsync=all"]), median(ours))


def record_of_a_row(files: int, aim: float) -> Figure:
    """One record (acknowledged and committed) against `git commit --only` of one file."""
    with vault_of(files) as home:
        vault = Vault(str(home.root))
        ours, theirs = [], []
        home.write("theirs.md", "0\n")
        home.commit("theirs", "theirs.md")
        for turn in range(12):
            home.write("theirs.md", f"{turn}, again\n")
            os.sync()
            theirs.append(seconds(partial(home.git, *ONLY, "theirs.md")))
            os.sync()
            ours.append(
                seconds(partial(home.record, "nova", f"e-{turn}", vault=vault, size=EPISODE))
            )
        return Figure(f"record of 1 row, {files:,} files", median(theirs), median(ours), aim)


def append_at_row_10_000() -> Figure:
    """A record as an agent's row 10,000 against one as its row 100, in turns in two vaults."""
    with vault_of(0) as few, vault_of(0) as many:
        fill(few, 100, ("nova",))
        fill(many, 10_000, ("nova",))
        times: dict[str, list[float]] = {"few": [], "many": []}
        for turn in range(30):
            for name, home in (("few", few), ("many", many)):
                fresh = Vault(str(home.root))
                times[name].append(
                    seconds(partial(home.record, "nova", f"n-{turn}", vault=fresh, size=EPISODE))
                )
        return Figure(
            "append of row 10,000 against row 100", median(times["few"]), median(times["many"]), 1.2
        )


def plain_row(agent: str, number: int) -> Row:
    """A row of the usual length, and nothing else."""
    return row(agent, f"{agent}-{number}", size=EPISODE)


def fill(
    home: Home, rows: int, agents: tuple[str, ...], make: Callable[[str, int], Row] = plain_row
) -> None:
    """Spool rows while a merge is pretended, then drain them in batches of a thousand."""
    vault = Vault(str(home.root))
    marker = home.git_dir / "MERGE_HEAD"
    for first in range(0, rows, 1000):
        marker.write_text(home.head() + "\n")
        for number in range(first, min(rows, first + 1000)):
            for agent in agents:
                one = make(agent, number)
                vault.record(message(f"wake({agent}): {number}"), NOVA, [one], AT)
        marker.unlink()
        home.record(agents[0], f"flush-{first}", vault=vault)


def queue_of_1000() -> Figure:
    """A thousand queued writes drained at once against the same number one by one."""
    with vault_of(1000) as home:
        vault = Vault(str(home.root))
        singly = (
            seconds(
                lambda: [
                    home.record("nova", f"s-{n}", vault=vault, size=EPISODE) for n in range(50)
                ]
            )
            * 20
        )
        marker = home.git_dir / "MERGE_HEAD"
        marker.write_text(home.head() + "\n")
        for number in range(1000):
            one = row("nova", f"q-{number}", size=EPISODE)
            vault.record(message(f"wake(nova): q-{number}"), NOVA, [one], AT)
        marker.unlink()
        at_once = seconds(lambda: home.record("nova", "last", vault=vault))
        assert len(home.rows_in_head()) == 1051  # noqa: S101 - a figure for lost rows is worthless
        return Figure("1,000 queued writes against one by one", singly, at_once, 20, at_least=True)


def episode(agent: str, number: int, chance: random.Random) -> Row:
    """The row of a run as the dispatcher reports one, with its session and hashes."""
    words = " ".join(chance.choices(WORDS, k=14))
    hashes = [sha256(chance.randbytes(8)).hexdigest() for _ in range(3)]
    run = random_id("run", chance.randbytes(5))
    at = f"2026-{1 + number // 90:02}-{1 + number % 28:02}T{chance.randrange(24):02}:14:03Z"
    session = str(UUID(bytes=chance.randbytes(16)))
    made = Episode(
        id=episode_id(agent, run), agent=agent, run=run,
        wakes=(random_id("w", chance.randbytes(5)),), reason=Reason.TASK,
        card=random_id("t", chance.randbytes(5)), outcome=Outcome.DONE, exit_code=0,
        turns=chance.randrange(2, 60), cost_usd=round(chance.random(), 4),
        duration_s=round(chance.random() * 900, 1), tokens_in=chance.randrange(10**6),
        tokens_out=chance.randrange(10**4), model="claude-sonnet-4-5",
        summary=f"I worked on a card and finished after a while: {words}.", log=None,
        transcript=TranscriptFile(
            path=f"/home/sam/.claude/projects/-home-sam-harbor/{session}.jsonl", sha256=hashes[0]
        ),
        prompt_sha256=hashes[1], core_sha256=hashes[2], client="claude-code", session=session,
        session_cost_usd=None, reflect_skipped=None, started_at=at, finished_at=at,
    )  # fmt: skip
    return Row("episodes", agent, made.id, encode(made))


def size_after_gc() -> Figure:
    """`.git` after gc against the bytes of the JSONL: 10 agents, 10,000 episodes in all."""
    agents = tuple(f"agent-{letter}" for letter in "abcdefghij")
    chance = random.Random(1)  # noqa: S311 - the same rows each time
    with vault_of(0) as home:
        fill(home, 1000, agents, partial(episode, chance=chance))
        home.git("gc", "-q", "--prune=now")
        lines = sum(path.stat().st_size for path in home.root.rglob("*.jsonl"))
        git = sum(
            path.stat().st_size for path in (home.git_dir / "objects").rglob("*") if path.is_file()
        )
        return Figure(
            "objects after gc against JSONL, 10 x 1,000 episodes", lines, git, 1.5, unit="bytes"
        )


def cold_import() -> Figure:
    """Importing the writing half of the store against importing click."""
    ours, theirs = [], []
    for _ in range(9):
        theirs.append(
            seconds(lambda: subprocess.run([sys.executable, "-c", "import click"], check=True))
        )
        ours.append(
            seconds(
                lambda: subprocess.run(
                    [sys.executable, "-c", "import orgvault.store.vault"], check=True
                )
            )
        )
    return Figure("python -c 'import orgvault.store.vault'", median(theirs), median(ours), 1.4)


def figures(*, quick: bool = False) -> Iterator[Figure]:
    """All figures of the transaction; `quick` leaves out what takes minutes."""
    os.environ.setdefault("GIT_AUTHOR_NAME", "bench")
    yield cold_import()
    for files, aim in ((FEWEST, 0.7), (10_000, 0.4), (50_000, 0.3)):
        if not (quick and files == 50_000):
            yield from commit_of_three_paths(files, aim)
            yield record_of_a_row(files, aim)
    yield queue_of_1000()
    if not quick:
        yield append_at_row_10_000()
        yield size_after_gc()
