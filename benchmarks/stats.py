"""How fast the figures of a whole roster are, beside reading and counting the lines of its logs.

The reference reads the segments as text, line by line, as any reader of them has to.  Run alone
for other sizes: `stats.py [EPISODES]`.
"""

import json
import random
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.figure import Figure, seconds, show
from orgvault.adapters.statistics import Tables
from orgvault.services.gathering import gather
from orgvault.services.measuring import LOGS, work
from orgvault.store.logs import SEGMENT_BYTES
from orgvault.store.vault import Vault
from tests.vaults import make_vault

if TYPE_CHECKING:
    from orgvault.domain.problem import Problem

EPISODES = 1_000_000
QUICK = 50_000
AGENTS = 10
AIM = 3.5
FLAT = 1.5  # ten times the episodes may take so many times the memory
TURNS = 3
OUTCOMES = ("done", "done", "done", "blocked", "request_changes", "no_report", "error")


def figures(*, quick: bool = False) -> Iterator[Figure]:
    """All figures; `quick` takes fewer episodes."""
    yield from whole_roster(QUICK if quick else EPISODES)


def whole_roster(episodes: int) -> Iterator[Figure]:
    """The figures of all agents together, over so many episodes, against counting their lines."""
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as fresh:
        few, _ = measured(episodes // 10, fresh)
        many, figure = measured(episodes, fresh)
        yield figure
        name = f"most memory of that, against {episodes // 10:,} episodes"
        yield Figure(name, few, many, FLAT, unit="bytes")


def measured(episodes: int, fresh: ProcessPoolExecutor) -> tuple[int, Figure]:
    """The most bytes that a process for it alone had in memory, and the times."""
    with tempfile.TemporaryDirectory(prefix="orgvault-bench-") as folder:
        home = make_vault(Path(folder) / "v")
        agents = [f"agent{number}" for number in range(AGENTS)]
        paths = [
            path for agent in agents for path in segments(home.root, agent, episodes // AGENTS)
        ]
        theirs, ours = [], []
        for _ in range(TURNS):
            theirs.append(seconds(partial(count, paths)))
            ours.append(seconds(partial(measure, Vault(str(home.root)), agents, episodes)))
        memory = fresh.submit(peak, str(home.root), agents, episodes).result()
        name = f"stats of the whole roster, {episodes:,} episodes, against counting lines"
        return memory, Figure(name, median(theirs), median(ours), AIM)


def peak(root: str, agents: list[str], episodes: int) -> int:
    """The most bytes that this process has had in memory, the statistics over."""
    measure(Vault(root), agents, episodes)
    # What `getrusage` says is never less than the process had that started this one.
    told = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(told.partition("VmHWM:")[2].split()[0]) * 1024


def count(paths: list[Path]) -> int:
    """The number of lines in all files."""
    lines = 0
    for path in paths:
        with path.open(encoding="utf-8") as file:
            lines += sum(1 for _ in file)
    return lines


def measure(vault: Vault, agents: list[str], episodes: int) -> None:
    """What a roster's statistics take: load, lock, ask."""
    problems: list[Problem] = []
    with Tables() as tables:
        gather(vault, agents, LOGS, problems, tables)
        counted = work(tables, "-infinity").episodes
    if problems or counted != episodes // AGENTS * AGENTS:
        raise AssertionError(counted, problems[:3])


def segments(root: Path, agent: str, episodes: int) -> list[Path]:
    """Write an agent's log as orgvault would have, in full segments; their paths."""
    folder = root / ".agents/org/episodes" / agent
    folder.mkdir(parents=True)
    chance = random.Random(agent)  # noqa: S311 - made-up data, the same every time
    paths: list[Path] = []
    lines: list[str] = []
    size = 0
    for number in range(episodes):
        line = episode(agent, number, chance) + "\n"
        size += len(line.encode())
        if size > SEGMENT_BYTES:
            paths.append(write(folder, agent, len(paths), lines, chance))
            lines, size = [], len(line.encode())
        lines.append(line)
    return [*paths, write(folder, agent, len(paths), lines, chance)]


def write(folder: Path, agent: str, number: int, lines: list[str], chance: random.Random) -> Path:
    """Write one segment."""
    path = folder / f"2026-11-{number + 1:05d}.{agent}.{chance.getrandbits(16):04x}.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def episode(agent: str, number: int, chance: random.Random) -> str:
    """One row as orgvault writes it."""
    card = f"t-{chance.randrange(5000):08d}"
    turns = chance.randint(2, 60)
    outcome = chance.choice(OUTCOMES)
    priced = chance.random() < 0.8
    day, second = divmod(number * 613, 86400)
    month, hour, minute = day // 28 % 12 + 1, second // 3600, second // 60 % 60
    at = f"2026-{month:02d}-{day % 28 + 1:02d}T{hour:02d}:{minute:02d}"
    row = {
        "v": 1, "id": f"e-{agent}-{number}", "agent": agent, "run": f"run-{agent}-{number}",
        "wakes": [f"w-{number:08d}"], "reason": "task", "card": card, "outcome": outcome,
        "exit_code": 1 if outcome == "error" else 0, "turns": turns,
        "cost_usd": round(chance.random() ** 4, 6) if priced else None,
        "duration_s": round(turns * chance.uniform(2, 30), 1), "tokens_in": turns * 3000,
        "tokens_out": turns * 200, "model": "large-5",
        "summary": f"I worked on {card} and finished after {turns} turns: größe – it “builds” now.",
        "log": None,
        "transcript": {"path": f"/home/sam/.client/{number}.jsonl", "sha256": f"{number:064x}"},
        "prompt_sha256": f"{chance.getrandbits(256):064x}", "core_sha256": f"{number // 50:064x}",
        "client": "claude-code", "session": f"{number:08x}-0000-4000-8000-000000000000",
        "session_cost_usd": None, "reflect_skipped": None, "started_at": f"{at}:00Z",
        "finished_at": f"{at}:{second % 60:02d}Z",
    }  # fmt: skip
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    show(whole_roster(int(sys.argv[1]) if len(sys.argv) > 1 else EPISODES))
