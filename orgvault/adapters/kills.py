"""kill -9 on this machine's own disk: writers in a scratch vault, killed at random, and a count.

The scratch vault is made inside the git folder of the vault, so that it lies on the same disk and
in nobody's way; nothing of the person's is read or written.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator

from orgvault.values import dataclass

WRITERS = 4
_ORG = ".agents/org"
_ROSTER = """\
version: 1
guild: {name: Scratch}
owner: sam
operators: [{name: sam, role: owner}]
agents: {nova: {name: Nova}}
"""
# The start of a writer (s), and how long it then writes.
_START_S, _WRITE_S = 0.2, 0.5
_LIMIT_S = 60.0
_LOOP = """
import contextlib, io, sys
from orgvault.cli.main import main
for n in range(int(sys.argv[1]), int(sys.argv[1]) + 1000):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(["wake", "add", "nova", "--reason", "task", "--note", str(n)])
    if code == 0:
        print(out.getvalue().strip(), flush=True)
"""


@dataclass(frozen=True, kw_only=True)
class Killed:
    """What so many killed writers came to.

    `acknowledged` rows, those of them that were `lost` or stand `twice`, in files or in HEAD, and
    how many commands after a kill did `fail`.
    """

    trials: int
    seed: int
    acknowledged: int
    lost: int
    twice: int
    failed: int

    @property
    def sound(self) -> bool:
        """Whether nothing was lost and everything went on."""
        return not (self.lost or self.twice or self.failed)


def kill_writers(folder: str, trials: int, seed: int) -> Killed:
    """Kill so many writers, four at a time, in a scratch vault inside `folder`.

    Raises OSError where no vault can be made.
    """
    chance = random.Random(seed)  # noqa: S311 - to be repeated, not to be secret
    told: set[str] = set()
    failed = 0
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="orgvault-selftest-", dir=folder) as root:
        _make(root)
        for first in range(0, trials, WRITERS):
            told |= _killed(root, min(WRITERS, trials - first), first * 1000, chance)
            after = _orgvault(root, "wake", "add", "nova", "--reason", "task")
            failed += after.returncode != 0 or bool(after.stderr)
            told |= set(after.stdout.split())
        disk, head = Counter(_on_disk(root)), Counter(_in_head(root))
    wanted = {f"{one}.added" for one in told}
    lost = [one for one in wanted if not (disk[one] and head[one])]
    twice = [one for one in disk | head if disk[one] > 1 or head[one] > 1]
    return Killed(
        trials=trials, seed=seed, acknowledged=len(wanted), lost=len(lost), twice=len(twice),
        failed=failed,
    )  # fmt: skip


def _environment() -> dict[str, str]:
    """This environment without what would lead to another vault, repository or actor."""
    foreign = ("GIT_", "ORGVAULT_", "ORG_")
    return {name: value for name, value in os.environ.items() if not name.startswith(foreign)}


def _make(root: str) -> None:
    subprocess.run(["git", "init", "-q", root], check=True, env=_environment())
    os.makedirs(os.path.join(root, _ORG))
    with open(os.path.join(root, _ORG, "org.yaml"), "w", encoding="utf-8") as file:
        file.write(_ROSTER)
    made = _orgvault(root, "compile")
    if made.returncode:
        raise OSError(made.returncode, made.stderr.strip(), root)


def _orgvault(root: str, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "orgvault", "-C", root, *words], capture_output=True, text=True,
        check=False, timeout=_LIMIT_S, env=_environment(),
    )  # fmt: skip


def _killed(root: str, count: int, first: int, chance: random.Random) -> set[str]:
    """Start writers in groups of their own and kill them; what they were told is recorded."""
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _LOOP, str(first + 1000 * number)], cwd=root, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
            env=_environment(),
        )
        for number in range(count)
    ]  # fmt: skip
    time.sleep(_START_S + chance.random() * _WRITE_S)
    for child in children:
        time.sleep(chance.random() * 0.02)
        os.killpg(child.pid, signal.SIGKILL)
    said = [child.communicate(timeout=_LIMIT_S)[0] for child in children]
    # A line that was cut off was told to nobody.
    return {line for text in said for line in text.split("\n")[:-1] if line}


def _ids(content: str) -> Iterator[str]:
    return (json.loads(line)["id"] for line in content.splitlines())


def _on_disk(root: str) -> Iterable[str]:
    folder = os.path.join(root, _ORG, "wakes")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            yield from _ids(file.read())


def _in_head(root: str) -> Iterable[str]:
    for name in sorted(os.listdir(os.path.join(root, _ORG, "wakes"))):
        shown = subprocess.run(
            ["git", "cat-file", "blob", f"HEAD:{_ORG}/wakes/{name}"], cwd=root, check=False,
            capture_output=True, text=True, env=_environment(),
        )  # fmt: skip
        yield from _ids(shown.stdout)
