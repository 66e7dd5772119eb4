"""One command with one fault in it, made with strace, and what holds afterwards.

A fault is in orgvault's own process, or in one of the git processes it starts; those are reached
through a stand-in for git on the PATH.  The next command then comes without help, and
`invariants` judges.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.torture import invariants
from tests.torture.scene import (
    LIMIT_S,
    ORGVAULT,
    Ended,
    Scene,
    commands,
    model,
    ready,
    run,
    workshop,
)

CALLS = (
    "write", "pwrite64", "fsync", "fdatasync", "rename", "renameat", "renameat2", "link", "linkat",
    "unlink", "unlinkat", "mkdir", "mkdirat", "truncate", "ftruncate",
)  # fmt: skip
MAIN = "orgvault"
NEXT = ("wake", "add", "juno", "--reason", "task", "--note", "next")
NEXT_LIMIT_S = 10.0
# The trials of one command, each STRIDE-th: how they ended, and what was wrong.
Trials = Callable[[Scene, Path, str, Sequence[str], int], tuple[Counter[str], list[str]]]
# What a person had to do after a fault, because a remark named it: how often.
REMEDIES: Counter[str] = Counter()
STAND_IN = """\
#!/bin/sh
case "$* " in *" $TORTURE_VERB "*)
    n=$(cat "$TORTURE_COUNT" 2>/dev/null); n=$((${n:-0} + 1)); echo $n > "$TORTURE_COUNT"
    if [ "$n" = "$TORTURE_WHICH" ]; then
        strace -f -q -o /dev/null $TORTURE_TRACE -e "inject=$TORTURE_FAULT" "$TORTURE_GIT" "$@"
        code=$?
        if [ "$code" = 137 ]; then
            echo killed > "$TORTURE_COUNT.killed"
            if [ "$TORTURE_GROUP" = 1 ]; then kill -9 $PPID; fi
        fi
        exit $code
    fi;;
esac
exec "$TORTURE_GIT" "$@"
"""


@dataclass(frozen=True)
class Point:
    """The n-th of a system call of one process: of orgvault, or of the k-th git of that verb."""

    process: str
    which: int
    call: str
    n: int

    def __str__(self) -> str:
        who = self.process if self.process == MAIN else f"git {self.process} {self.which}"
        return f"{who} {self.call} {self.n}"


@dataclass(frozen=True)
class Fault:
    """What happens at a point: `signal=KILL`, `error=ENOSPC`; `group`: to all at once."""

    point: Point
    effect: str
    group: bool = False
    onwards: bool = False

    def __str__(self) -> str:
        more = f"{'+' if self.onwards else ''}{' with its group' if self.group else ''}"
        return f"{self.effect} at {self.point}{more}"

    @property
    def words(self) -> str:
        """The fault as strace takes it."""
        more = "+" if self.onwards else ""
        return f"{self.point.call}:{self.effect}:when={self.point.n}{more}"


def points(
    scene: Scene, words: Sequence[str], calls: Sequence[str] = CALLS, *, on_disk: bool = False
) -> list[Point]:
    """Every point of a command that is let through; the scene is used up.

    `on_disk`: only those at files, not at pipes, where no disk can fail.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        trace = f"trace={','.join(calls)},execve"
        run(
            scene.root,
            words,
            before=("strace", "-f", "-q", "-o", str(log), "-e", trace, "-y", "-s400"),
        )
        lines = log.read_text("utf-8", "replace").splitlines()
        return [point for point, at_file in _points(lines, calls) if at_file or not on_disk]


def _points(lines: Sequence[str], calls: Sequence[str]) -> Iterator[tuple[Point, bool]]:
    who: dict[str, tuple[str, int]] = {}
    starting: dict[str, str] = {}  # by process: the verb of an execve that strace tells in halves
    verbs: Counter[str] = Counter()
    counted: Counter[tuple[str, int, str]] = Counter()
    for line in lines:
        pid, _, rest = line.partition(" ")
        call = rest.lstrip().partition("(")[0]
        if call == "execve" or call.startswith("<... execve resumed"):
            verb = starting.pop(pid, "") or _verb(rest)
            if not who:
                who[pid] = (MAIN, 1)
            elif rest.rstrip().endswith("<unfinished ...>"):
                starting[pid] = verb
            elif pid not in who and rest.rstrip().endswith("= 0") and verb:
                verbs[verb] += 1
                who[pid] = (verb, verbs[verb])
        elif call in calls and pid in who:
            key = (*who[pid], call)
            counted[key] += 1
            yield Point(*key, counted[key]), not re.search(r"\(\d+<(?:pipe|socket):", rest)


def _verb(line: str) -> str:
    """The verb of git in an execve; empty when another program was started."""
    given: list[str] = re.findall(r'"((?:[^"\\]|\\.)*)"', line)
    if not given or not given[0].endswith("/git"):
        return ""
    words = iter(given[2:])
    for word in words:
        if word in {"-c", "-C"}:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""


def strike(root: Path, words: Sequence[str], fault: Fault) -> Ended:
    """Run a command with a fault in it."""
    trace = ("-e", f"trace={fault.point.call}")
    if fault.point.process == MAIN:
        before = ("strace", "-q", "-o", "/dev/null", *trace, "-e", f"inject={fault.words}")
        return _grouped(root, [*before, *ORGVAULT, *words], {}, group=fault.group)
    real = shutil.which("git")
    with tempfile.TemporaryDirectory() as folder:
        stand_in = Path(folder) / "git"
        stand_in.write_text(STAND_IN)
        stand_in.chmod(0o755)
        environment = {
            "PATH": f"{folder}:{os.environ['PATH']}", "TORTURE_GIT": str(real),
            "TORTURE_VERB": fault.point.process, "TORTURE_WHICH": str(fault.point.which),
            "TORTURE_COUNT": f"{folder}/count", "TORTURE_FAULT": fault.words,
            "TORTURE_TRACE": " ".join(trace), "TORTURE_GROUP": str(int(fault.group)),
        }  # fmt: skip
        return _grouped(root, [*ORGVAULT, *words], environment, group=fault.group)


def _grouped(
    root: Path, words: Sequence[str], environment: dict[str, str], *, group: bool
) -> Ended:
    """Run a program as a group; when it is killed and `group`, all that it left is, too."""
    with subprocess.Popen(
        words, cwd=root, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    ) as child:  # fmt: skip
        if group:
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        out, err = (one.decode(errors="replace") for one in child.communicate(timeout=LIMIT_S))
    return Ended(child.returncode, out, err)


def after(
    scene: Scene, before: invariants.Seen, ended: Ended, *, added: Counter[str] | None = None,
    silent: bool = False,
) -> list[str]:  # fmt: skip
    """What is wrong once a command has ended by a fault, and the next one has run.

    `added` is what the command adds to each log when it is let through: what it has promised by
    ending with 0.  `silent` where nothing could be said.
    """
    try:
        held = invariants.promised(scene.root)
    except invariants.GitFailed as failure:
        return [f"git fails at once: {failure}"]
    wrong = [] if silent else [ended.rude()] * bool(ended.rude())
    runs, more = _next(scene.root)
    wrong += more
    wrong += invariants.broken(scene.root, before, held)
    if ended.code == 0 and added:
        now = Counter(key[0] for key in invariants.Vault(scene.root).on_disk().rows - before.rows)
        now["wakes"] -= runs
        short = {log: n for log, n in added.items() if log != "reflections" and now[log] < n}
        wrong += [f"ended with 0, and {short} rows are missing"] if short else []
    return wrong


def _next(root: Path) -> tuple[int, list[str]]:
    """Run the next command, with the one remedy it names when it names one; what is wrong.

    Also how often it ran.
    """
    for runs in range(1, 7):
        began = time.monotonic()
        following = run(root, NEXT, limit_s=2 * NEXT_LIMIT_S)
        took_s = time.monotonic() - began
        if took_s > NEXT_LIMIT_S:
            return runs, [f"the next command took {took_s:.1f} s"]
        lock = re.search(r"(/\S+\.lock) has been there", following.err)
        if lock is None or following.code not in {0, 75}:
            break
        REMEDIES[f"remove {Path(lock[1]).name}"] += 1
        Path(lock[1]).unlink()
    bad = following.code or following.rude() or "later" in following.err
    return runs, [f"the next command: {following}"] if bad else []


def trial(
    scene: Scene, place: Path, name: str, words: Sequence[str], fault: Fault,
    added: Counter[str] | None = None,
) -> tuple[Ended, list[str]]:  # fmt: skip
    """Strike a command in a fresh copy at `place`: how it ended, and what is wrong."""
    copy = ready(name, scene.copy(place))
    before = invariants.see(copy.root)
    ended = strike(copy.root, words, fault)
    silent = fault.point.call == "write" and fault.onwards
    wrong = after(copy, before, ended, added=added, silent=silent)
    return ended, wrong


def rows_added(scene: Scene, place: Path, name: str, words: Sequence[str]) -> Counter[str]:
    """How many rows a command adds to each log when it is let through."""
    copy = ready(name, scene.copy(place))
    before = invariants.see(copy.root)
    ended = run(copy.root, words)
    if ended.code:
        raise AssertionError(name, ended)
    return Counter(key[0] for key in invariants.Vault(copy.root).on_disk().rows - before.rows)


def every_command(trials: Trials, given: Sequence[str]) -> int:
    """Try every writing command, one on each core, or one: `[STRIDE [COMMAND]]`.

    1 when something did not hold.
    """
    stride, only = [*given, *("1", "")[len(given) :]]
    failed, remedies = 0, Counter[str]()
    with workshop() as folder:
        (folder / "model").mkdir()
        scene = model(folder / "model")
        chosen = [name for name in commands(scene) if only in {"", name}]
        with ProcessPoolExecutor() as pool:
            one = partial(_one_command, trials, scene, folder, int(stride))
            for name, done in zip(chosen, pool.map(one, chosen), strict=True):
                ended, told, asked, took_s = done
                failed += ended["wrong"]
                remedies += asked
                print(f"{name}: {dict(ended)}, {took_s:.0f} s", *told, sep="\n", flush=True)
    print(f"by the person's hand, as a remark said: {dict(remedies)}")
    return 1 if failed else 0


def _one_command(
    trials: Trials, scene: Scene, folder: Path, stride: int, name: str
) -> tuple[Counter[str], list[str], Counter[str], float]:
    """The trials of one command, in a folder of its own; also the remedies, and the seconds."""
    REMEDIES.clear()
    began = time.monotonic()
    place = folder / name.replace(" ", "-")  # messages that name a file in it are read by words
    place.mkdir()
    ended, told = trials(scene, place, name, commands(scene)[name], stride)
    return ended, told, Counter(REMEDIES), time.monotonic() - began
