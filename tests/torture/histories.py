"""Honest histories of two people and their agents, joined in every way: the audit finds nothing.

`python -m tests.torture.histories [COUNT [STEPS [SEED]]]`: so many stories.  In each, two clones of
a vault with a past go their ways: runs, hand edits of claims, corrections, backups, squashes,
amended commits, merges and rebases.  Conflicts are resolved with care: what was seen on either
side counts, what is closed stays closed, and of what is derived one side is taken.  Left out is
what cannot be told from tampering: one plain commit of what had never been rendered.  Stories in
which the audit finds something are saved under .torture/histories/.
"""

import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.audit.past import ORG, audit, make_past
from tests.harbor import BUILD, LINKS, REVIEW, Harbor
from tests.torture.scene import save, workshop

DEFAULTS = ("300", "16", "1")
MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
AGENTS = ("atlas", "nova", "juno")
CLAIMS = f"{ORG}/memory/nova/claims"
_LATER_S = 4_000_000_000  # so no commit that is made anew has the second of the first one
_MOST = 60  # commits that are rebased, one after the other


class Story:
    """Two clones, and what is done to them; the same for the same seed."""

    def __init__(self, past: Path, folder: Path, seed: str) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - to be repeated
        self.done: list[str] = []
        self._now_s = _LATER_S
        shutil.copytree(past, folder / "a", symlinks=True)
        first = Harbor(folder / "a", {"ORGVAULT_OPERATOR": "sam"})
        first.git("clone", "-q", str(first.root), str(folder / "b"))
        second = Harbor(folder / "b", {"ORGVAULT_OPERATOR": "sam"})
        second.git("config", "user.name", "Kim")
        second.git("config", "user.email", "kim@example.org")
        self.clones = (first, second)

    def go_on(self, steps: int) -> None:
        """Do so many things, each in a clone by chance."""
        for _ in range(steps):
            name = self.chance.choices(list(DEEDS), list(DEEDS.values()))[0]
            here, there = self.chance.sample(self.clones, 2)
            self.done.append(f"{here.root.name}: {name}")
            getattr(self, name)(here, there)

    # ── one clone ───────────────────────────────────────────────────────────────────────────

    def run(self, here: Harbor, _: Harbor) -> None:
        agent, session = self.chance.choice((("nova", BUILD), ("nova", LINKS), ("atlas", REVIEW)))
        wake = here.run("wake", "add", agent, "--reason", "manual", code=None).out.strip()
        words = ("--run", f"run-{here.root.name}{len(self.done)}", "--transcript", session)
        here.run("wake-done", wake, "--result", "done: ok", *words, code=None)

    def speak(self, here: Harbor, _: Harbor) -> None:
        here.run("chat", "post", "Hello @nova", code=None, ORGVAULT_AGENT="juno")

    def edit(self, here: Harbor, _: Harbor) -> None:
        path = self._a_claim(here)
        text = path.read_text("utf-8")
        path.write_text(re.sub(r'(?m)^text: "(.*)"$', r'text: "\1 Or so."', text), "utf-8")

    def sort(self, here: Harbor, _: Harbor) -> None:
        path = self._a_claim(here)
        kind = self.chance.choice(("lesson", "friction", "preference"))
        path.write_text(re.sub(r"(?m)^kind: .*$", f"kind: {kind}", path.read_text()), "utf-8")

    def take_back(self, here: Harbor, _: Harbor) -> None:
        here.git("checkout", "HEAD", "--", CLAIMS)

    def correct(self, here: Harbor, _: Harbor) -> None:
        verb, words = self.chance.choice((("edit", "I do it so."), ("retire", "It is over.")))
        lead = self.chance.choice(({}, {"ORGVAULT_AGENT": "atlas"}))
        name = self._a_claim(here).stem
        here.run("memory", verb, name, f"{words} {len(self.done)}", code=None, **lead)

    def render(self, here: Harbor, _: Harbor) -> None:
        for agent in AGENTS:
            here.run("memory", "render", agent, code=None)

    def rename(self, here: Harbor, _: Harbor) -> None:
        here.edit_org(r"(?m)^    name: Juno.*$", f"    name: Juno {len(self.done)}")
        self.back_up(here, here)

    def back_up(self, here: Harbor, _: Harbor) -> None:
        here.git("add", "-A")
        here.git("commit", "-q", "--allow-empty", "-m", "vault backup")

    def squash(self, here: Harbor, _: Harbor) -> None:
        self.render(here, here)
        self.back_up(here, here)
        back = self.chance.choice((2, 3, 5, 9))
        if "Merge" not in here.git("log", f"-{back}", "--format=%s") and self._straight(here, back):
            here.git("reset", "-q", "--soft", f"HEAD~{back}")
            here.git("commit", "-q", "--allow-empty", "-m", "vault backup")

    def amend(self, here: Harbor, _: Harbor) -> None:
        here.git("add", "-A")
        self._tried(here, "commit", "-q", "--amend", "--no-edit", "--allow-empty")

    def _a_claim(self, here: Harbor) -> Path:
        return self.chance.choice(sorted((here.root / CLAIMS).glob("c-*.yaml")))

    def _straight(self, here: Harbor, back: int) -> bool:
        """Whether the last commits are nobody's but this clone's, as they were made."""
        told = here.git("log", f"-{back}", "--format=%at %ct").splitlines()
        return all(len(set(one.split())) == 1 for one in told)

    # ── both ────────────────────────────────────────────────────────────────────────────────

    def merge(self, here: Harbor, there: Harbor) -> None:
        self._fetch(here, there)
        if not self._tried(here, "merge", "-q", "--no-edit", "FETCH_HEAD"):
            self._resolve(here)
            here.git("commit", "-q", "--no-edit")

    def rebase(self, here: Harbor, there: Harbor) -> None:
        self._fetch(here, there)
        going = not self._tried(here, "rebase", "-q", "FETCH_HEAD")
        for _ in range(_MOST):
            if not going:
                return
            self._resolve(here)
            empty = not here.git("diff", "--cached", "--name-only")
            going = not self._tried(here, "rebase", "--skip" if empty else "--continue")

    def _fetch(self, here: Harbor, there: Harbor) -> None:
        self.back_up(here, there)
        here.git("fetch", "-q", str(there.root), "HEAD")

    def _tried(self, here: Harbor, *words: str) -> bool:
        """Whether git does it by itself, a minute after what it did last."""
        self._now_s += 60
        at = {**os.environ, "GIT_COMMITTER_DATE": f"{self._now_s} +0000"}
        command = ["git", "-c", "core.editor=true", *words]
        done = subprocess.run(command, cwd=here.root, capture_output=True, check=False, env=at)
        return done.returncode == 0

    def _resolve(self, here: Harbor) -> None:
        for name in set(here.git("diff", "--name-only", "--diff-filter=U").split("\n")) - {""}:
            listed = [one.split() for one in here.git("ls-files", "-s", "--", name).splitlines()]
            sides = [here.git("cat-file", "blob", one[1]) for one in listed if one[2] != "1"]
            path = here.root / name
            if name.endswith(".jsonl"):
                lines = path.read_text("utf-8").splitlines(keepends=True)
                text = "".join(one for one in lines if not one.startswith(MARKERS))
            elif "/memory/nova/" in name and name.endswith(".yaml") and len(sides) > 1:
                text = joined(*sides)
            else:
                text = self.chance.choice(sides)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        for closed in (here.root / CLAIMS).parent.glob("closed/*.yaml"):
            (here.root / CLAIMS / closed.name).unlink(missing_ok=True)
        here.git("add", "-A")


# What is done, and how often.
DEEDS = {
    "run": 7, "speak": 1, "edit": 3, "sort": 1, "take_back": 1, "correct": 3, "render": 2,
    "rename": 1, "back_up": 3, "squash": 2, "amend": 1, "merge": 4, "rebase": 3,
}  # fmt: skip


def joined(one: str, other: str) -> str:
    """A claim as two branches know it: closed where it is closed, seen where it was seen."""
    if ("closed_at" in one) != ("closed_at" in other):
        return one if "closed_at" in one else other

    def value(text: str, key: str) -> str:
        found = re.search(rf"(?m)^{key}: (.*)$", text)
        return found[1] if found else ""

    runs = dict.fromkeys(
        run for text in (one, other) for run in value(text, "evidence").strip("[]").split(", ")
    )
    last = max(value(one, "last_seen"), value(other, "last_seen"))
    for key, now in (
        ("evidence", f"[{', '.join(filter(None, runs))}]"),
        ("times_seen", str(len([run for run in runs if run]))),
        ("last_seen", last),
    ):
        one = re.sub(rf"(?m)^{key}: .*$", f"{key}: {now}", one)
    return one


def trials(count: int, steps: int, seed: str, folder: Path) -> tuple[Counter[str], list[str]]:
    """So many stories; what was done in them, and what the audit found."""
    done: Counter[str] = Counter()
    told: list[str] = []
    (folder / "past").mkdir()
    past = make_past(folder / "past").root
    for number in range(count):
        place = folder / f"s{number}"
        place.mkdir()
        story = Story(past, place, f"{seed} {number}")
        story.go_on(steps)
        done.update(one.partition(": ")[2] for one in story.done)
        for clone in story.clones:
            done["audits"] += 1
            found = audit(clone)["findings"]
            if found:
                done["wrong"] += 1
                wrong = [f"{one['commit']} {one['rule']}: {one['what']}" for one in found]
                told += [f"story {number} of seed {seed}, {clone.root.name}", *wrong]
                case = [*story.done, *wrong]
                save("histories", f"{seed} {number} {clone.root.name}", case, clone.root)
        shutil.rmtree(place)
    return done, told


def main(given: Sequence[str]) -> int:
    """Tell them all; 1 when the audit found something."""
    with workshop() as folder:
        done, told = trials(int(given[0]), int(given[1]), given[2], folder)
    print(f"seed {given[2]}: {dict(done)}", *told, sep="\n")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main([*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]))
