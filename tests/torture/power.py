"""Power loss: each command is traced, and its disk rebuilt without what no fsync had made sure.

`python -m tests.torture.power [CUTS [SEED [ordered|strict [COMMAND]]]]`: so many cuts, spread over
the writing commands; a third of them right after the command ended with 0, where all it has
acknowledged must survive.  Then the next command runs, and `invariants` judges.  Failures are
saved under .torture/power/; needs strace.
"""

import random
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.torture import invariants
from tests.torture.faults import REMEDIES, after
from tests.torture.scene import Ended, Scene, commands, model, ready, run, save, workshop
from tests.torture.traced import TRACED, Disk

DEFAULTS = ("500", "3", "ordered", "")
ENDED = Ended(0, "", "")


def traced(scene: Scene, words: Sequence[str], log: Path) -> Disk:
    """Run a command to its end; the disk with every step it took."""
    disk = Disk.of(scene.root)
    before = ("strace", "-f", "-y", "-q", "-xx", "-s", "20000000", "-o", str(log))
    ended = run(scene.root, words, before=(*before, "-e", f"trace={','.join(TRACED)}"))
    if ended.code:
        raise AssertionError(words, ended)
    disk.take(log.read_text("utf-8").splitlines())
    if disk.unlike():
        raise AssertionError(disk.unlike())  # the trace was misread
    return disk


def restore(disk: Disk, files: dict[str, bytes], start: Path, place: Path) -> None:
    """Make the files of a cut of a disk at `place`, from a copy of the vault before."""
    shutil.copytree(start, place, symlinks=True)
    was = {path: file.sure for path, file in disk.first.items()}
    for path in was.keys() | files.keys():
        here = place / Path(path).relative_to(disk.root)
        if path not in files:
            here.unlink()
        elif was.get(path) != files[path]:
            here.parent.mkdir(parents=True, exist_ok=True)
            here.unlink(missing_ok=True)
            here.write_bytes(files[path])
    refs = place / ".git/refs/heads"
    refs.mkdir(parents=True, exist_ok=True)


def texts(root: Path) -> set[str]:
    """The files of HEAD that are texts of ours, each with its blob."""
    told = invariants.git(root, "ls-tree", "-r", "-z", "HEAD").decode().split("\0")
    return {one for one in told if one.partition("\t")[2].endswith((".md", ".yaml", ".json"))}


def cuts(
    model_: Scene, folder: Path, name: str, words: Sequence[str], count: int, seed: str, *,
    strict: bool,
) -> tuple[Counter[str], list[str]]:  # fmt: skip
    """Cut the power so many times; counts, and what was wrong."""
    chance = random.Random(f"{seed} {name}")  # noqa: S311 - to be repeated
    ran = ready(name, model_.copy(folder / "ran"))
    start = folder / "start"
    shutil.copytree(ran.root, start, symlinks=True)
    before = invariants.see(start)
    disk = traced(ran, words, folder / "log")
    held, wanted = invariants.promised(ran.root), texts(ran.root)
    place = ran.root  # the same place again: what a dead orgvault left names it
    done: Counter[str] = Counter()
    told: list[str] = []
    for number in range(count):
        over = number % 3 == 0
        at = len(disk.steps) if over else chance.randrange(len(disk.steps) + 1)
        shutil.rmtree(place)
        restore(disk, disk.cut(at, chance, strict=strict), start, place)
        copy = Scene(place, model_.ids)
        wrong = after(copy, before, ENDED)
        if over and not any("git fails" in one for one in wrong):
            there = set(invariants.Vault(place).in_head().rows)
            wrong += [f"acknowledged, and lost: {key}" for key in sorted(held - there)]
            wrong += [f"done, and lost: {one}" for one in sorted(wanted - texts(place))]
        done["after the end" if over else "on the way"] += 1
        if wrong:
            done["wrong"] += 1
            told += [f"{name}: cut {number} after {at} of {len(disk.steps)} steps"]
            told += [f"    {one}" for one in wrong]
            save("power", f"{name} {number}", [told[0], *wrong], place)
    for one in (place, start):
        shutil.rmtree(one)
    return done, told


def main(given: Sequence[str]) -> int:
    """Cut the power of every command; 1 when something did not hold."""
    count, seed, how, only = int(given[0]), given[1], given[2], given[3]
    failed = 0
    with workshop() as folder:
        (folder / "model").mkdir()
        scene = model(folder / "model")
        all_of_them = commands(scene)
        each = -(-count // (1 if only else len(all_of_them)))
        for name, words in all_of_them.items():
            if only in {"", name}:
                done, told = cuts(scene, folder, name, words, each, seed, strict=how == "strict")
                failed += done["wrong"]
                print(f"{name}, {how}, seed {seed}: {dict(done)}", *told, sep="\n", flush=True)
    print(f"by the person's hand, as a remark said: {dict(REMEDIES)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main([*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]))
