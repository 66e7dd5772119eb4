"""Disk full, I/O errors and short writes at every point of every writing command.

`python -m tests.torture.disk [STRIDE [COMMAND]]`.  ENOSPC and EIO by strace, once and from then
on; short writes by a limit on the size of files (RLIMIT_FSIZE), which git meets too.  Then there is
room again, and the next command runs.  Failures are saved under .torture/disk/; needs strace.
"""

import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.torture import invariants
from tests.torture.faults import (
    MAIN,
    Fault,
    after,
    every_command,
    points,
    rows_added,
    trial,
)
from tests.torture.scene import Scene, ready, run, save

FULL = ("write", "pwrite64", "fsync", "mkdir", "rename", "link", "ftruncate")
ERRORS = ("ENOSPC", "EIO")
SIZES = (0, 1, 60, 150, 220, 300, 500, 900, 1400, 2000, 3000, 5000, 8000, 13000, 20000)


def faults(scene: Scene, folder: Path, name: str, words: Sequence[str]) -> list[Fault]:
    """Every error at every point of a command."""
    at = points(ready(name, scene.copy(folder / "traced")), words, FULL, on_disk=True)
    shutil.rmtree(folder / "traced")
    return [
        Fault(point, f"error={error}", onwards=onwards)
        for point in at
        for error in ERRORS
        for onwards in (False, True)
        # A child of git that cannot write is a failure of git's, once or for ever.
        if point.process == MAIN or onwards
    ]


def limited(
    scene: Scene, folder: Path, name: str, words: Sequence[str], size: int, added: Counter[str]
) -> tuple[int, list[str], Path]:
    """Run a command that may write no file beyond a size; its code and what is wrong."""
    place = folder / f"s{size}"
    copy = ready(name, scene.copy(place))
    before = invariants.see(copy.root)
    ended = run(copy.root, words, before=("prlimit", f"--fsize={size}", "--"))
    return ended.code, after(copy, before, ended, added=added), place


def errors(
    scene: Scene, folder: Path, name: str, words: Sequence[str], stride: int = 1, start: int = 0
) -> tuple[Counter[str], list[str]]:
    """Let the disk fail a command at its points; how the trials ended, and what was wrong."""
    ended: Counter[str] = Counter()
    told: list[str] = []
    added = rows_added(scene, folder / "whole", name, words)
    shutil.rmtree(folder / "whole")
    for what, code, wrong, place in _trials(scene, folder, name, words, stride, start, added):
        ended[f"ended with {code}"] += 1
        if wrong:
            ended["wrong"] += 1
            told += [f"{name}: {what}", *(f"    {one}" for one in wrong)]
            save("disk", f"{name} {what}", [what, str(code), *wrong], place)
        shutil.rmtree(place)
    return ended, told


def _trials(
    scene: Scene, folder: Path, name: str, words: Sequence[str], stride: int, start: int,
    added: Counter[str],
) -> Iterator[tuple[str, int, list[str], Path]]:  # fmt: skip
    for number, fault in enumerate(faults(scene, folder, name, words)):
        if (number - start) % stride == 0:
            place = folder / f"v{number}"
            end, wrong = trial(scene, place, name, words, fault, added)
            yield str(fault), end.code, wrong, place
    for number, size in enumerate(SIZES):
        if (number - start) % stride == 0:
            code, wrong, place = limited(scene, folder, name, words, size, added)
            yield f"no file beyond {size} bytes", code, wrong, place


if __name__ == "__main__":
    sys.exit(every_command(errors, sys.argv[1:]))
