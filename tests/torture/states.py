"""Every state of a repository × every writing command: acknowledged or refused, nothing disturbed.

`python -m tests.torture.states [STRIDE]`: each STRIDE-th of all combinations.  Then the person
leaves the state as one does, the next command runs, and `invariants` judges.  Failures are saved
under .torture/states/.
"""

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from tests.torture import invariants
from tests.torture.faults import NEXT
from tests.torture.scene import Scene, commands, model, ready, run, save, workshop

LOCKS = ("index.lock", "HEAD.lock", "refs/heads/main.lock", "packed-refs.lock")
# Commands that change files which stand there: refused while the person is about to commit them.
STAGED = (
    "memory edit", "memory retire", "memory render", "task done", "task close", "compile",
    "proposal close", "routine pause", "routine resume",
)  # fmt: skip
HOSTILE = ("-rf.md", "new\nline.md", "tab\t.md", 'quo"te.md', "ümläut.md", ":(top)x.md", "*.md")


class State(NamedTuple):
    """How to get into a state and out of it.

    `waits`: rows are acknowledged there and committed later, texts answer 75; `refused`: every
    write answers so.  `answers` are the commands that rightly end otherwise there.  `enter` gives
    the place of the vault when that is another now.
    """

    enter: Callable[[Path], Path | None]
    leave: tuple[str, ...] = ()
    waits: bool = False
    refused: int = 0
    answers: Mapping[str, int] = MappingProxyType({})


def sh(root: Path, *lines: str) -> None:
    """Run lines of a shell as the person would; those that end in `|| true` may fail."""
    for line in lines:
        done = subprocess.run(["sh", "-c", line], cwd=root, capture_output=True, check=False)
        if done.returncode:
            raise AssertionError(line, done.stderr)


def _two_branches(root: Path, *then: str) -> None:
    sh(
        root, "git stash -q -u", "git switch -q -c other", "echo theirs > note.md",
        "git add note.md",
        "git commit -q -m theirs", "git switch -q main", "echo ours > note.md", "git add note.md",
        "git commit -q -m ours", *then,
    )  # fmt: skip


def _in_progress(*then: str) -> Callable[[Path], None]:
    return lambda root: _two_branches(root, *then)


def _lines(*lines: str) -> Callable[[Path], None]:
    return lambda root: sh(root, *lines)


def _beside(name: str, *lines: str) -> Callable[[Path], Path]:
    """Lines after which the vault is the folder `name` beside the one it was in."""

    def enter(root: Path) -> Path:
        sh(root, *lines)
        return root.parent / name

    return enter


def _lock(name: str) -> Callable[[Path], None]:
    def enter(root: Path) -> None:
        (root / ".git" / name).write_bytes(b"")

    return enter


def _below(root: Path) -> Path:
    sh(
        root, "git stash -q -u", "mkdir 'My notes'",
        "git ls-tree -z --name-only HEAD | xargs -0 -I% git mv % 'My notes/'",
        "git commit -q -m 'Everything in one folder'",
        "echo staged > new.md", "git add new.md", "echo edited >> 'My notes/Areas/Log.md'",
    )  # fmt: skip
    return root / "My notes"


def _hostile(root: Path) -> None:
    for name in HOSTILE:
        (root / name).write_text("hostile\n", "utf-8")
    (root / os.fsdecode(b"latin-\xe9.md")).write_text("hostile\n", "utf-8")
    sh(root, "git add -A -- .", "echo more > ./-rf.md")


def _hooks(root: Path) -> None:
    for name in ("pre-commit", "post-commit", "reference-transaction", "post-index-change"):
        hook = root / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\necho ran >> note-of-a-hook.md\nexit 1\n", "utf-8")
        hook.chmod(0o755)


def _signing(root: Path) -> None:
    gpg = root / ".git/gpg-that-hangs"
    gpg.write_text("#!/bin/sh\nsleep 60\n", "utf-8")
    gpg.chmod(0o755)
    sh(root, "git config commit.gpgsign true", f"git config gpg.program '{gpg}'")


STATES: dict[str, State] = {
    "as it is": State(_lines()),
    "a merge": State(
        _in_progress("git merge -q other || true"), ("git merge --abort",), waits=True),
    "a rebase": State(
        _in_progress("git rebase -q other || true"), ("git rebase --abort",), waits=True),
    "a cherry-pick": State(
        _in_progress("git cherry-pick other || true"), ("git cherry-pick --abort",), waits=True),
    "a revert": State(
        _in_progress("echo x > note.md", "git commit -qam x",
            "git revert --no-edit HEAD~1 || true"),
        ("git revert --abort",), waits=True),
    "a bisect": State(
        _in_progress("git bisect start HEAD HEAD~2"), ("git bisect reset",), waits=True),
    "git am": State(
        _in_progress("git format-patch -1 --stdout other | git am -q || true"),
        ("git am --abort",), waits=True),
    "detached": State(
        _lines("git switch -q --detach"), ("git switch -q main",), refused=75,
        answers={"dispatch": 0}),  # it says what it left, and why
    **{
        f"a stale {name}": State(_lock(name), (f"rm .git/{name}",), waits=True)
        for name in LOCKS
    },
    "hostile names": State(_hostile),
    "hooks": State(_hooks),
    "signing that hangs": State(_signing),
    "autocrlf": State(_lines("git config core.autocrlf true")),
    "a split index": State(
        _lines("git config core.splitIndex true", "git update-index --split-index")),
    "an index of version 4": State(_lines("git update-index --index-version 4")),
    "an untracked cache": State(_lines("git update-index --untracked-cache")),
    "packed": State(_lines("git pack-refs --all", "git repack -q -a -d")),
    "a commit message open": State(
        _lines("echo mine > .git/COMMIT_EDITMSG"), ("rm .git/COMMIT_EDITMSG",), waits=True),
    "a branch that stands for another": State(
        _lines("git symbolic-ref refs/heads/trunk refs/heads/main",
            "git symbolic-ref HEAD refs/heads/trunk")),
    "an unborn branch": State(
        _lines("git update-ref -d HEAD"), ("git add -A", "git commit -q -m First"),
        answers={**dict.fromkeys(STAGED, 5), "proposal shipped": 1}),
    "a linked worktree": State(
        _beside("tree", "git worktree add -q -b side ../tree", "echo mine >> ../tree/note.md")),
    "a submodule": State(
        _beside("outer/vault", "git init -q ../outer",
            'git -C ../outer -c protocol.file.allow=always submodule -q add "$PWD" vault',
            "echo mine > ../outer/vault/note.md")),
    "a shallow clone": State(
        _beside("clone", 'git clone -q --depth 1 "file://$PWD" ../clone',
            "echo mine > ../clone/note.md"),
        answers={"proposal shipped": 1, "ledger sync": 1}),
    "below the root": State(_below, answers={"proposal shipped": 1}),
    "ignored by git": State(
        _lines("printf '.agents/\\nOrg/\\n' >> .git/info/exclude"), answers={"init": 1}),
    "a foreign owner": State(
        _lines("chown -R 12345 ."), (f"chown -R {os.getuid()} .",), refused=1,
        answers={"dispatch": 0}),
}  # fmt: skip


def tried(scene: Scene, state: State, name: str, words: tuple[str, ...]) -> tuple[str, list[str]]:
    """Run a command in a state, and leave it: how the command ended, and what was wrong."""
    root = ready(name, scene).root
    root = state.enter(root) or root
    foreign = state.refused == 1
    before = None if foreign else invariants.see(root)
    ended = run(root, words)
    wrong = [ended.rude()] * bool(ended.rude())
    expected = {0, 75} if state.waits else {state.answers.get(name, state.refused)}
    if ended.code not in expected:
        wrong.append(f"ended with {ended.code}: {ended.err}")
    if before is not None:
        wrong += invariants.persons_work(root, before)
        held = invariants.promised(root)
    for line in state.leave:
        sh(root, line)
    left = invariants.see(root)
    following = run(root, NEXT)
    if following.code or following.rude() or "later" in following.err:
        wrong.append(f"the next command: {following}")
    wrong += invariants.broken(root, left, held if before is not None else ())
    return f"ended with {ended.code}", wrong


def combinations(
    scene: Scene, folder: Path, stride: int = 1, start: int = 0
) -> tuple[Counter[str], list[str]]:
    """Each STRIDE-th combination; counts, and what was wrong."""
    done: Counter[str] = Counter()
    told: list[str] = []
    pairs = [(state, name) for state in STATES for name in commands(scene)]
    for number, (state, name) in enumerate(pairs):
        if (number - start) % stride:
            continue
        place = folder / f"v{number}"
        place.mkdir()
        words = commands(scene)[name]
        outcome, wrong = tried(scene.copy(place / "vault"), STATES[state], name, words)
        done[outcome] += 1
        if wrong:
            done["wrong"] += 1
            told += [f"{state} × {name}", *(f"    {one}" for one in wrong)]
            save("states", f"{state} {name}", wrong, place)
        shutil.rmtree(place)
    return done, told


def main(stride: int) -> int:
    """Try all combinations; 1 when something was wrong."""
    with workshop() as folder:
        (folder / "model").mkdir()
        done, told = combinations(model(folder / "model"), folder, stride)
    print(f"every {stride}: {dict(done)}", *told, sep="\n")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 1))
