"""kill -9 at random: four writers, each with its whole group.

`python -m tests.torture.kills [TRIALS [SEED]]`.  The writers call orgvault's commands one after
another and say what was acknowledged; every fourth trial the vault is judged by `invariants`.
A failure keeps the vault under .torture/kills/.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.torture import invariants
from tests.torture.faults import NEXT
from tests.torture.scene import model, run, save, workshop

WRITERS = 4
DEFAULTS = ("3200", "7")
# Says `ok <what was answered>` for each command that ended with 0.
WRITER = """
import contextlib, io, sys
sys.path.insert(0, sys.argv[1])
from orgvault.cli.main import main
agent, first = sys.argv[2], int(sys.argv[3])
for n in range(first, first + 200):
    kinds = (
        ["wake", "add", agent, "--reason", "task", "--note", f"n {n}"],
        ["post", f"Status {n}.", "--run", f"run-{agent}-{n}", "--agent", agent],
        ["task", "add", f"Card {n}"],
        ["wake-done", "", "--run", f"run-{agent}-{n}", "--turns", "3"],
    )
    words, out = list(kinds[n % 4]), io.StringIO()
    if words[0] == "wake-done":
        with contextlib.redirect_stdout(out):
            main(["wake", "add", agent, "--reason", "task"])
        words[1], out = out.getvalue().strip(), io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main(words)
    said = words[3] if words[0] in ("post", "wake-done") else out.getvalue().split()[0]
    print("ok" if code == 0 else f"code {code}", words[0], said, flush=True)
"""


def writer(root: Path, agent: str, first: int) -> "subprocess.Popen[str]":
    """Start a writer that leads a group of its own."""
    here = str(Path(__file__).resolve().parents[2])
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, here, agent, str(first)], cwd=root, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def round_of_kills(root: Path, number: int, chance: random.Random) -> tuple[set[str], list[str]]:
    """Start four writers and kill them at random; what they promised, and what was wrong."""
    agents = ("nova", "nova", "juno", "atlas")
    children = [
        writer(root, agent, 1000 * (WRITERS * number + n) + chance.randrange(4))
        for n, agent in enumerate(agents)
    ]
    time.sleep(0.15 + chance.random() * 0.6)
    chance.shuffle(children)
    for child in children:
        time.sleep(chance.random() * 0.03)
        os.killpg(child.pid, signal.SIGKILL)
    promised: set[str] = set()
    wrong: list[str] = []
    for child in children:
        out, err = child.communicate(timeout=30)
        lines = [line.split(" ", 1) for line in out.splitlines() if line.count(" ") == 2]
        promised |= {rest for word, rest in lines if word == "ok"}
        wrong += [f"a writer said: {out.splitlines()[-3:]} {err[-400:]}"] * ("Traceback" in err)
        wrong += [
            f"a writer ended a command with {one}: {err[-300:]}"
            for one, _ in lines
            if one == "code"
        ]
    return promised, wrong


def kept(root: Path, promised: set[str]) -> list[str]:
    """What of the promises is not there."""
    ids = {key[2] for key in invariants.Vault(root).in_head().rows}
    cards = {path.stem for path in (root / "Org/Backlog").glob("*.md")}
    runs: Counter[tuple[str, str]] = Counter()
    for log in ("status", "episodes"):
        for path in (root / ".agents/org" / log).rglob("*.jsonl"):
            for line in path.read_text("utf-8").splitlines():
                run_id = line.partition('"run":"')[2] or line.partition('"run": "')[2]
                runs[log, run_id.partition('"')[0]] += 1
    gone = []
    for one in sorted(promised):
        verb, what = one.split(" ")
        there = {
            "wake": f"{what}.added" in ids,
            "task": what in cards,
            "post": runs["status", what] >= 1,
            "wake-done": runs["episodes", what] == 1,
        }
        gone += [] if there[verb] else [f"lost: {one}"]
    return gone


def trials(count: int, seed: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """So many killed writers; counts, and what was wrong."""
    chance = random.Random(seed)  # noqa: S311 - to be repeated, not to be secret
    (folder / "model").mkdir()
    scene = model(folder / "model")
    before = invariants.see(scene.root)
    done: Counter[str] = Counter()
    promised: set[str] = set()
    wrong: list[str] = []
    for number in range(-(-count // WRITERS)):
        said, bad = round_of_kills(scene.root, number, chance)
        held = invariants.promised(scene.root)
        following = run(scene.root, NEXT)
        bad += [f"the next command: {following}"] * bool(following.code or following.err)
        promised |= said
        done += Counter(killed=WRITERS, promised=len(said))
        gone = held - set(invariants.Vault(scene.root).in_head().rows)
        bad += [f"lost: {key}" for key in sorted(gone)]
        if number % WRITERS == 0:
            bad += invariants.broken(scene.root, before, held)
        if bad:
            done["wrong"] += 1
            wrong += [f"round {number}, seed {seed}", *(f"    {one}" for one in bad)]
            save("kills", f"{seed} {number}", bad, scene.root)
    bad = invariants.broken(scene.root, before, set()) + kept(scene.root, promised)
    done["lost"] = sum("lost" in one for one in [*bad, *wrong])
    return done, wrong + bad


def main(given: Sequence[str]) -> int:
    """Run the trials; 1 when something did not hold."""
    count, seed = int(given[0]), int(given[1])
    with workshop() as folder:
        done, wrong = trials(count, seed, folder)
    print(f"seed {seed}: {dict(done)}", *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main([*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]))
