"""Many writers at once, and writers that are killed at random."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

from tests.store.test_crash import busy_vault
from tests.vaults import Home, make_vault, writer

TORTURE = bool(os.environ.get("ORGVAULT_TORTURE"))


def test_git_01_eight_processes_of_25_records_in_a_large_vault(memory: Path) -> None:
    home = make_vault(memory / "v")
    for number in range(10_000):
        home.write(f"notes/{number % 100}/{number}.md", f"{number}\n")
    home.commit("ten thousand notes")
    home.write("notes/1/1.md", "edited\n")
    before = home.persons()
    agents = ("nova", "nova", "nova", "nova", "atlas", "atlas", "vega", "vega")
    commands = [writer(home.root, agent, 100 * n, 25) for n, agent in enumerate(agents)]
    children = [
        subprocess.Popen(one, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for one in commands
    ]
    said = [child.communicate(timeout=100) for child in children]
    assert [errors for _, errors in said] == [""] * 8
    promised = sorted(line.split()[1] for text, _ in said for line in text.splitlines())
    assert len(promised) == 200
    rows = [one for agent in sorted(set(agents)) for one in home.rows_in_head(agent)]
    assert sorted(rows) == promised
    subjects = home.git("log", "--format=%s").splitlines()
    assert sorted(subjects[:-2]) == sorted(
        f"wake({one.partition('-')[0]}): {one}" for one in promised
    )
    assert home.persons() == before
    home.fsck()


def test_random_kills_lose_nothing_acknowledged(memory: Path) -> None:
    seed = int(os.environ.get("ORGVAULT_SEED", "7"))
    chance = random.Random(seed)  # noqa: S311 - to be repeated, not to be secret
    home = busy_vault(memory / "v")
    promised: set[str] = {"e-0"}
    trials = 3200 if TORTURE else 100
    for trial in range(trials // 4):
        promised |= killed_writers(home, trial, chance)
    assert home.record("nova", "last").remarks == []
    rows = []
    for agent in ("nova", "atlas"):
        in_head = home.rows_in_head(agent)
        assert in_head == home.rows_on_disk(agent), seed
        rows += in_head
    assert len(rows) == len(set(rows)), seed
    assert promised <= set(rows), seed
    assert home.git("status", "--porcelain", "--", ".agents") == ""
    home.fsck()


def killed_writers(home: Home, trial: int, chance: random.Random) -> set[str]:
    """Start four writers in groups of their own, kill them at random; what they promised."""
    children = [
        subprocess.Popen(
            writer(home.root, agent, 10_000 * n + 20 * trial, 20), stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        )
        for n, agent in enumerate(("nova", "nova", "atlas", "atlas"))
    ]  # fmt: skip
    time.sleep(0.1 + chance.random() * 0.3)
    chance.shuffle(children)
    for child in children:
        time.sleep(chance.random() * 0.02)
        os.killpg(child.pid, signal.SIGKILL)
    said = [child.communicate(timeout=20)[0] for child in children]
    return {
        line.split()[1] for text in said for line in text.splitlines() if line.startswith("ok ")
    }
