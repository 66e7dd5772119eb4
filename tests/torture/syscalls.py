"""kill -9 at the n-th fsync, write, rename, link, unlink, … of every writing command.

`python -m tests.torture.syscalls [STRIDE [COMMAND]]`: every point of every command, or each
STRIDE-th of one.  In orgvault's process and in each git process it starts, alone and with the
whole group.  Failures are saved under .torture/syscalls/; needs strace.
"""

import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.torture.faults import Fault, every_command, points, rows_added, trial
from tests.torture.scene import Scene, ready, save


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


if __name__ == "__main__":
    sys.exit(every_command(kills, sys.argv[1:]))
