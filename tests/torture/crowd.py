"""Many writers at once in two worktrees, beside a foreign committer and an editor that saves.

`python -m tests.torture.crowd [WRITERS [WRITES]]`: the writers call orgvault one command after
another; meanwhile a loop runs `git add -A && git commit`, and notes are saved as editors do
(a temporary file renamed).  Nothing acknowledged may be missing; latencies are printed.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from tests.torture import invariants
from tests.torture.faults import NEXT
from tests.torture.scene import model, run, save, workshop

DEFAULTS = ("16", "50")
P99_S = 5.0
WRITER = """
import contextlib, io, json, sys, time
sys.path.insert(0, sys.argv[1])
from orgvault.cli.main import main
agent, count = sys.argv[2], int(sys.argv[3])
for n in range(count):
    out, began = io.StringIO(), time.monotonic()
    with contextlib.redirect_stdout(out):
        code = main(["wake", "add", agent, "--reason", "task", "--note", f"n {n}"])
    took_s = time.monotonic() - began
    print(json.dumps([code, out.getvalue().strip(), took_s]), flush=True)
"""


class Disturbing:
    """A foreign committer and an editor, until it ends."""

    def __init__(self, trees: Sequence[Path]) -> None:
        self._trees = trees
        self._over = threading.Event()
        self.commits = 0
        self.saves = 0
        self._threads = [threading.Thread(target=one) for one in (self._commit, self._edit)]

    def __enter__(self) -> Self:
        for one in self._threads:
            one.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for one in self._threads:
            one.join()

    def _commit(self) -> None:
        while not self._over.wait(0.3):
            for tree in self._trees:
                line = "git add -A && git -c gc.auto=0 commit -q -m backup"
                done = subprocess.run(
                    ["sh", "-c", line], cwd=tree, capture_output=True, check=False
                )
                self.commits += done.returncode == 0

    def _edit(self) -> None:
        while not self._over.wait(0.05):
            for tree in self._trees:
                place = tree / f"Daily/{self.saves % 20}.md"
                place.parent.mkdir(exist_ok=True)
                place.with_suffix(".tmp").write_text(f"saved {self.saves}\n", "utf-8")
                place.with_suffix(".tmp").replace(place)
            self.saves += 1


def crowd(folder: Path, writers: int, writes: int) -> tuple[dict[str, object], list[str]]:
    """Let them all write; the figures, and what was wrong."""
    (folder / "model").mkdir()
    scene = model(folder / "model")
    tree = folder / "tree"
    subprocess.run(
        ["git", "worktree", "add", "-q", "-b", "side", str(tree)], cwd=scene.root, check=True
    )
    trees = (scene.root, tree)
    here = str(Path(__file__).resolve().parents[2])
    agents = ("nova", "juno", "atlas")
    with Disturbing(trees) as disturbing:
        children = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, here, agents[n % 3], str(writes)], cwd=trees[n % 2],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            for n in range(writers)
        ]  # fmt: skip
        said = [child.communicate(timeout=600) for child in children]
    wrong = [f"a writer's error: {err[-500:]}" for _, err in said if "Traceback" in err]
    told = [[json.loads(line) for line in out.splitlines()] for out, _ in said]
    later = sum(err.count("committed later") for _, err in said)
    for number, where in enumerate(trees):
        following = run(where, NEXT)
        wrong += [f"the next command: {following}"] * bool(following.code)
        held = {
            one[1] for n, lines in enumerate(told) if n % 2 == number for one in lines if not one[0]
        }
        wrong += _missing(where, held)
    wrong += [f"ended with {one[0]}" for lines in told for one in lines if one[0]]
    wrong += invariants.repository(scene.root)
    took = sorted(one[2] for lines in told for one in lines)
    figures = {
        "writes": len(took), "put off for a while": later, "foreign commits": disturbing.commits,
        "saves": disturbing.saves, "p50_s": round(took[len(took) // 2], 3),
        "p99_s": round(took[int(len(took) * 0.99)], 3), "worst_s": round(took[-1], 3),
    }  # fmt: skip
    if wrong:
        save("crowd", f"{writers}x{writes}", wrong, scene.root)
    return figures, wrong


def _missing(where: Path, held: set[str]) -> list[str]:
    vault = invariants.Vault(where)
    disk, head, spool = vault.on_disk(), vault.in_head(), vault.spooled()
    wrong = [*disk.bad, *head.bad]
    for name, logs in (("on disk", disk), ("in HEAD", head)):
        wrong += [f"{key} is {n} times {name}" for key, n in logs.rows.items() if n > 1]
        ids = {key[2] for key in (*logs.rows, *spool.rows)}
        wrong += [f"lost: {one} is not {name}" for one in sorted(held) if f"{one}.added" not in ids]
    return wrong


def main(given: Sequence[str]) -> int:
    """Run it; 1 when something did not hold, or the slow ones were too slow."""
    with workshop(in_memory=False) as folder:
        figures, wrong = crowd(folder, int(given[0]), int(given[1]))
    print(f"{given[0]} × {given[1]}: {figures}", *wrong, sep="\n")
    late = float(str(figures["p99_s"])) > P99_S
    print(f"p99 over {P99_S} s" if late else f"p99 within {P99_S} s")
    return 1 if wrong or late else 0


if __name__ == "__main__":
    sys.exit(main([*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]))
