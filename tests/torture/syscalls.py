"""kill -9 at the n-th fsync, write, rename, link, unlink, … of every writing command.

`python -m tests.torture.syscalls [STRIDE [COMMAND]]`: every point of every command, or each
STRIDE-th of one.  In orgvault's process and in each git process it starts, alone and with the
whole group.  Failures are saved under .torture/syscalls/; needs strace.
"""

import shutil
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.torture.faults import REMEDIES, Fault, points, rows_added, trial
from tests.torture.scene import Scene, commands, model, ready, save, workshop


def kills(
    scene: Scene, folder: Path, name: str, words: Sequence[str], stride: int = 1, start: int = 0
) -> tuple[Counter[str], list[str]]:
    """Kill a command at its points; how the trials ended, and what was wrong."""
    ended: Counter[str] = Counter()
    told: list[str] = []
    added = rows_added(scene, folder / "whole", name, words)
    at = points(ready(name, scene.copy(folder / "traced")), words)
    for number, point in enumerate(at):
        if (number - start) % stride:
            continue
        fault = Fault(point, "signal=KILL", group=number % 2 == 1)
        place = folder / f"v{number}"
        end, wrong = trial(scene, place, name, words, fault, added)
        ended["killed" if end.code in {-9, 137} else f"ended with {end.code}"] += 1
        if wrong:
            ended["wrong"] += 1
            told += [f"{name}: {fault}", *(f"    {one}" for one in wrong)]
            save("syscalls", f"{name} {number}", [str(fault), str(end), *wrong], place)
        shutil.rmtree(place)
    for one in ("whole", "traced"):
        shutil.rmtree(folder / one)
    return ended, told


def main(stride: int, only: str) -> int:
    """Kill every command at every point; 1 when something did not hold."""
    failed = 0
    with workshop() as folder:
        (folder / "model").mkdir()
        scene = model(folder / "model")
        for name, words in commands(scene).items():
            if only not in {"", name}:
                continue
            began = time.monotonic()
            ended, told = kills(scene, folder, name, words, stride)
            failed += ended["wrong"]
            took_s = time.monotonic() - began
            print(f"{name}: {dict(ended)}, {took_s:.0f} s", *told, sep="\n", flush=True)
    print(f"by the person's hand, as a remark said: {dict(REMEDIES)}")
    return 1 if failed else 0


if __name__ == "__main__":
    given = [*sys.argv[1:], *("1", "")[len(sys.argv) - 1 :]]
    sys.exit(main(int(given[0]), given[1]))
