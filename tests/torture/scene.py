"""A vault in use, copied for each trial, and every writing command of the command line in it.

`model(folder)` makes the vault once; `Scene.copy` gives a fresh one; `commands(scene)` are the
words of each command, for the ids of that vault.
"""

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from orgvault.cli import main as table
from tests.conftest import own_environment, replace_environment
from tests.harbor import BUILD, LINKS, REVIEW, Harbor, make_harbor
from tests.proposals import SKILL, change_of_lines, commit, filed

CASES = Path(__file__).resolve().parents[2] / ".torture"
ORGVAULT = (sys.executable, "-m", "orgvault")
CODEX = str(Path(__file__).resolve().parents[1] / "data/sessions/codex")
LIMIT_S = 60
HANGS = 124


@dataclass(frozen=True)
class Scene:
    """A vault at the top of its repository, and the ids of what stands in it."""

    root: Path
    ids: Mapping[str, str]

    def copy(self, to: Path) -> "Scene":
        """The same vault at another place, its index fresh."""
        shutil.copytree(self.root, to, symlinks=True)
        subprocess.run(["git", "status"], cwd=to, check=True, capture_output=True)
        return Scene(to, self.ids)


@dataclass(frozen=True)
class Ended:
    """How a command ended: its code (negative: the signal), what it said."""

    code: int
    out: str
    err: str

    def rude(self) -> str:
        """Why a failure was not told as one should be; empty when it was, or there was none."""
        if "Traceback" in self.err or "Traceback" in self.out or "this is a bug" in self.err:
            return f"a traceback, or a bug: {self.err[-600:]}"
        if self.code > 0 and not self.err.strip():
            return f"ended with {self.code} and said nothing"
        return ""


def model(folder: Path) -> Scene:
    """The fixture vault after some use, with staged, unstaged and untracked work of its owner's."""
    harbor = make_harbor(folder)
    ids = {"wake": harbor.wake("nova", card="t-4m7q2x9k")}
    learned = harbor.finish("nova", "run-before", "--transcript", BUILD)
    harbor.finish("nova", "run-untold", "--result", "It is built.", ORG_REFLECT_MODEL="off")
    ids["claim"] = harbor.claims("nova")[0]["id"]
    ids["other"] = harbor.claims("nova")[1]["id"]
    made = harbor.json("task", "add", "Mend the gate", "--agent", "nova")
    ids["card"] = made["id"]
    wake = harbor.wake("nova", card=ids["card"])
    harbor.json("wake-done", wake, "--run", "run-card", "--result", "Done.", "--outcome", "done")
    assert learned["reflection"]["result"] == "applied", learned
    ids |= proposals(harbor)
    persons_work(harbor)
    return Scene(harbor.root, ids)


def proposals(harbor: Harbor) -> dict[str, str]:
    """An open proposal, one that its owner ships in other words, one shipped as it is."""
    ids = {"proposal": filed(harbor, days_ago=30).id}
    skill = harbor.root / SKILL
    for name, days_ago, shipped in (("reworded", 20, "Other words.\n"), ("shipped", 10, "")):
        old = skill.read_bytes()
        last = old.decode().splitlines()[-1]
        new = (last, f"And then I rest ({name}).")
        change = change_of_lines(SKILL, old, (last,), new)
        ids[name] = filed(harbor, change, days_ago=days_ago).id
        skill.write_bytes(old + shipped.encode() if shipped else change.new)
        made = commit(harbor, f"My words ({name})", SKILL)
        ids["words"] = made if shipped else ids["words"]
    return ids


def persons_work(harbor: Harbor) -> None:
    """Leave some of every kind of work of the owner's undone."""
    root = harbor.root
    (root / "Projects/Site.md").write_text("staged\n")
    harbor.git("add", "Projects/Site.md")
    (root / "Projects/Site.md").write_text("and edited again\n")
    (root / "Areas/Log.md").write_text("edited\n")
    (root / "Areas/House rules.md").unlink()
    (root / "Org/Tasks/juno.md").write_text("A task that is being written.\n")
    harbor.git("rm", "-q", "--cached", "Resources/Glossary.md")
    (root / "Daily/2026-12-01.md").write_text("fresh\n")


def commands(scene: Scene) -> dict[str, tuple[str, ...]]:
    """Every writing command that exists by now, with words that make it write."""
    ids = scene.ids
    all_of_them = {
        "wake add": ("wake", "add", "juno", "--reason", "task", "--note", "Please."),
        "wake-done": ("wake-done", ids["wake"], "--run", "run-new", "--transcript", LINKS),
        "reflect": ("reflect", "nova", "--run", "run-untold", "--transcript", BUILD),
        "post": ("post", "Nearly done.", "--run", "run-new", "--agent", "nova"),
        "memory edit": ("memory", "edit", ids["claim"], "I run the quick tests first."),
        "memory retire": ("memory", "retire", ids["claim"], "It is mended."),
        "memory render": ("memory", "render", "nova"),
        "task add": ("task", "add", "Oil the hinges", "--agent", "nova", "--body", "All of them."),
        "task done": ("task", "done", ids["card"]),
        "task redo": ("task", "redo", ids["card"], "The gate still squeaks."),
        "task close": ("task", "close", ids["card"]),
        "compile": ("compile",),
        "import": ("import", "claude-code", REVIEW, "--agent", "atlas"),
        "proposal close": ("proposal", "close", ids["proposal"], "Too broad."),
        "proposal shipped": ("proposal", "shipped", ids["reworded"], "--commit", ids["words"]),
        "proposal sync": ("proposal", "sync"),
        "ledger sync": ("ledger", "sync"),
        "chat post": ("chat", "post", "Good morning, everybody."),
        "run start": ("run", "start", "nova", "--message", "Please look at the gate."),
        "routine pause": ("routine", "pause", "weekly-digest"),
        "routine add": ("routine", "add", "nova", "feed", "Look at it.", "--cron", "0 7 * * 1"),
        "script add": (
            "script", "add", "nova", "tell", "--command", "date", "--description", "The time.",
        ),
        "import codex": ("import", "codex", CODEX, "--agent", "juno"),
        "run exec": ("run", "exec", "nova", "--message", "Look at the feed.", "--", "cat"),
        "dispatch": ("dispatch", "--once", "--agent", "nova"),
        "routine resume": ("routine", "resume", "weekly-digest"),
        "collection add": (
            "collection", "add", "loans", "--purpose", "Who has which tool.", "--column",
            "tool:text:required", "--column", "due:date", "--access", "nova=write",
        ),
        "record add": (
            "record", "add", "reading-queue", "title=The Gardener", "suggested_by=kim",
            "state=asked",
        ),
        "init": ("init",),
    }  # fmt: skip
    return {name: words for name, words in all_of_them.items() if _exists(words[0])}


def ready(name: str, scene: Scene) -> Scene:
    """The scene with what a command needs beside, so that there is something to write."""
    if name == "memory render":
        core = scene.root / ".agents/org/memory/nova/core.md"
        core.write_text("\n".join(core.read_text("utf-8").splitlines()[:-2]) + "\n", "utf-8")
        _by_hand(scene, core)
    if name == "compile":
        org = scene.root / ".agents/org/org.yaml"
        org.write_bytes(org.read_bytes().replace(b"Plans the work and", b"Plans the days and"))
    if name == "dispatch":
        org = scene.root / ".agents/org/org.yaml"
        org.write_bytes(org.read_bytes().replace(b"[claude, -p, --output-format, json]", b"[cat]"))
        _first(scene, "compile")
    if name == "init":
        schema = scene.root / ".agents/org/org.schema.json"
        schema.unlink()
        _by_hand(scene, schema)
    if name == "routine resume":
        _first(scene, "routine", "pause", "weekly-digest")
    return scene


def _by_hand(scene: Scene, path: Path) -> None:
    words = ["git", "-c", "gc.auto=0", "commit", "-q", "-m", "By hand", "--", str(path)]
    subprocess.run(words, cwd=scene.root, check=True)


def _first(scene: Scene, *words: str) -> None:
    ended = run(scene.root, words)
    if ended.code:
        raise AssertionError(words, ended)


def _exists(verb: str) -> bool:
    module, _ = table._COMMANDS.get(verb, ("", ""))  # noqa: SLF001 - the table of the commands
    try:
        return bool(module) and importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def run(
    root: Path, words: Sequence[str], *, before: Sequence[str] = (), limit_s: float = LIMIT_S,
    **environment: str,
) -> Ended:  # fmt: skip
    """Run one command in a process of its own, under another program when one is named."""
    try:
        done = subprocess.run(
            [*before, *ORGVAULT, *words], cwd=root, env={**os.environ, **environment},
            capture_output=True, check=False, timeout=limit_s, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Ended(HANGS, "", f"still running after {limit_s:.0f} s")
    out, err = (one.decode(errors="replace") for one in (done.stdout, done.stderr))
    return Ended(done.returncode, out, err)


@contextlib.contextmanager
def workshop(*, in_memory: bool = True) -> Iterator[Path]:
    """A folder to work in (in memory: there fsync is free), and a person's machine around it."""
    memory = Path("/dev/shm")  # noqa: S108 - the folder in it gets a random name
    base = memory if in_memory and os.access(memory, os.W_OK) else None
    was = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="orgvault-torture-", dir=base) as name:
        folder = Path(name)
        replace_environment(own_environment(was, folder))
        try:
            yield folder
        finally:
            replace_environment(was)


def save(program: str, name: str, told: Sequence[str], scene: Path | None = None) -> Path:
    """Keep a failure: what was done and what came of it, with the vault when one is given."""
    place = CASES / program / name.replace("/", "-").replace(" ", "-")
    place.mkdir(parents=True, exist_ok=True)
    (place / "told.txt").write_text("\n".join(told) + "\n", "utf-8")
    if scene is not None and scene.exists():
        shutil.rmtree(place / "vault", ignore_errors=True)
        shutil.copytree(scene, place / "vault", symlinks=True)
    return place


def in_parts(
    program: str, part: Callable[[int, int], str], count: int, size: int, number: int,
    at_once: int | None = None,
) -> int:  # fmt: skip
    """Try `count` of something, `size` in a process, each with a seed of its own from `number` on.

    `part(how many, seed)` gives a traceback, or nothing; those are printed and kept.  1 when there
    was one.
    """
    sizes = [min(size, count - first) for first in range(0, count, size)]
    seeds = range(number, number + len(sizes))
    wrong = 0
    with ProcessPoolExecutor(at_once) as pool:
        for chosen, told in zip(seeds, pool.map(part, sizes, seeds), strict=True):
            if told:
                wrong += 1
                print(f"seed {chosen}: {told}", f"saved: {save(program, str(chosen), [told])}")
    bad = f"{wrong} of {len(sizes)} parts went wrong" if wrong else "all right"
    print(f"{count} in {len(sizes)} parts, seeds {number} to {seeds[-1]}: {bad}")
    return 1 if wrong else 0
