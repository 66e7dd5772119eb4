"""`make profile COMMAND="wake-done ..."`: where the time of one orgvault command goes.

The command runs in scratch copies of the fixture vault, a fresh one each time: a few times as it
is, beside `python -c 'import click'`; once under `-X importtime`; once under cProfile.
"""

import argparse
import os
import pstats
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.harbor import make_harbor

TURNS = 7
TOP = 15
REPOSITORY = Path(__file__).resolve().parent.parent
ORGVAULT = (sys.executable, "-m", "orgvault")
# `orgvault` ends its process without ceremony, so nothing that waits for the end is told.
PROFILED = """\
import cProfile, sys
with cProfile.Profile() as profile:
    from orgvault.cli.main import main
    main(sys.argv[2:])
profile.dump_stats(sys.argv[1])
"""
IMPORT_LINE = re.compile(r"import time: +(\d+) \| +(\d+) \| ( *)(\S+)")


def main() -> int:
    """Measure and print; what the command failed with, if it did."""
    parser = argparse.ArgumentParser(prog="profile", description=__doc__)
    parser.add_argument("command", help="as it stands after `orgvault`")
    parser.add_argument("--top", type=int, default=TOP, help=f"lines of each table, {TOP}")
    options = parser.parse_args()
    words = shlex.split(options.command)
    with tempfile.TemporaryDirectory(prefix="orgvault-profile-") as folder:
        scratch = Scratch(Path(folder))
        first = scratch.run(*ORGVAULT, *words)
        print(f"$ orgvault {shlex.join(words)}\n{first.stdout}{first.stderr}", end="")
        if first.returncode:
            print(f"\nIt ended with {first.returncode}: nothing to profile.")
            return first.returncode
        for lines in (
            whole(scratch, words),
            imports(scratch, words, options.top),
            functions(scratch, words, options.top),
        ):
            print()
            for line in lines:
                print(line, flush=True)
    return 0


class Scratch:
    """Fresh copies of the fixture vault, and programs that run in them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._first = make_harbor(folder).root
        self._copies = 0
        # As a person's shell has it: modules are compiled once.
        self._environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self.seconds = 0.0  # of the last program

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program in a copy that nothing has run in."""
        self._copies += 1
        vault = self.folder / f"copy-{self._copies}" / "harbor"
        shutil.copytree(self._first, vault)
        # A copy's files are newer than the index says, which would be asked for every one.
        subprocess.run(["git", "update-index", "-q", "--refresh"], cwd=vault, check=True)
        environment = {**self._environment, "PYTHONPATH": str(REPOSITORY)}
        before = time.perf_counter()
        done = subprocess.run(
            words, cwd=vault, env=environment, text=True, capture_output=True, check=False
        )
        self.seconds = time.perf_counter() - before
        return done


def whole(scratch: Scratch, words: list[str]) -> Iterator[str]:
    """The whole process, in turns with importing click."""
    times: dict[str, list[float]] = {"the command": [], "`python -c 'import click'`": []}
    for _ in range(TURNS):
        for name, program in zip(
            times, ((*ORGVAULT, *words), (sys.executable, "-c", "import click")), strict=True
        ):
            scratch.run(*program)
            times[name].append(scratch.seconds)
    ours, click = (median(one) for one in times.values())
    yield f"Whole process, median of {TURNS}"
    yield from (
        f"{1e3 * median(one):>8.1f} ms  {name} (from {1e3 * min(one):.1f} to {1e3 * max(one):.1f})"
        for name, one in times.items()
    )
    yield f"{ours / click:>8.2f} ×   importing click"


def imports(scratch: Scratch, words: list[str], top: int) -> Iterator[str]:
    """The modules that were longest to import."""
    told = scratch.run(sys.executable, "-X", "importtime", *ORGVAULT[1:], *words).stderr
    found = [
        (int(line[1]), int(line[2]), line[4])
        for line in map(IMPORT_LINE.match, told.splitlines())
        if line
    ]
    own = sum(alone for alone, _, name in found if name.partition(".")[0] == "orgvault")
    every = sum(alone for alone, _, _ in found)
    yield f"Imports: {len(found)} modules, {every / 1e3:.1f} ms, of which ours {own / 1e3:.1f} ms"
    yield f"{'alone':>8} {'with its':>9}  module"
    for alone, with_its, name in sorted(found, reverse=True)[:top]:
        yield f"{alone / 1e3:>8.2f} {with_its / 1e3:>9.2f}  {name}"


def functions(scratch: Scratch, words: list[str], top: int) -> Iterator[str]:
    """The functions that took longest, alone and with what they call."""
    path = str(scratch.folder / "profile")
    scratch.run(sys.executable, "-c", PROFILED, path, *words)
    stats: dict[tuple[str, int, str], tuple[int, int, float, float, object]]
    stats = pstats.Stats(path).stats  # type: ignore[attr-defined]
    for heading, column in (("alone", 2), ("with what they call", 3)):
        yield f"Functions by their time {heading} (under cProfile, which slows them)"
        yield f"{'calls':>8} {'alone':>8} {'with its':>9}  function"
        for place, row in sorted(stats.items(), key=lambda one: -float(str(one[1][column])))[:top]:
            yield f"{row[1]:>8} {1e3 * row[2]:>8.2f} {1e3 * row[3]:>9.2f}  {named(*place)}"
        yield ""


def named(file: str, line: int, function: str) -> str:
    """A function as a person looks it up."""
    if file == "~":
        return function
    path = Path(file)
    for base in (REPOSITORY, *map(Path, sys.path)):
        if base.is_absolute() and path.is_relative_to(base):
            return f"{path.relative_to(base)}:{line} {function}"
    return f"{path.name}:{line} {function}"


if __name__ == "__main__":
    sys.exit(main())
