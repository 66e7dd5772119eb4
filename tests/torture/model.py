"""Commands and faults at random against a plain dict that knows what should be there.

`python -m tests.torture.model [EXAMPLES [STEPS [SEED]]]`.  Hypothesis chooses commands of the
command line, a person's acts (a commit, a dirty file, a merge begun and aborted, a stale lock) and
crashes (what a killed write leaves: a spooled entry); after each step a reading command must say
what the dict says.  The shortest failing story is printed.
"""

import os
import shutil
import sys
import traceback
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.harbor import Harbor, make_harbor
from tests.torture import invariants
from tests.torture.scene import in_parts, workshop
from tests.vaults import AT, NOVA, message, row

DEFAULTS = ("5000", "50", "17")
PART = 50
AT_ONCE = 3  # for each core
AGENTS = st.sampled_from(("nova", "juno", "atlas"))
WORDS = st.sampled_from((
    "I test before I build.", "I read the log first.", "I ask when a date is missing.",
    "I keep every change small.",
))  # fmt: skip
LOCK = ".git/index.lock"


class Story(RuleBasedStateMachine):
    """A vault, and what should be in it."""

    place: Path  # of all stories; set before they are run
    made = 0

    def __init__(self) -> None:
        super().__init__()
        self.wakes: dict[str, tuple[str, str]] = {}  # open ones: agent, reason
        self.episodes: dict[str, set[str]] = {}
        self.cards: dict[str, str] = {}
        self.claims: dict[str, str] = {}
        self.busy = ""
        self.count = self.steps = 0
        self.questions = (self._wakes_as_known, self._cards_as_known, self._claims_as_known)

    @initialize()
    def begin(self) -> None:
        """A fresh copy of a vault with its first state read."""
        Story.made += 1
        root = self.place / f"s{Story.made}"
        shutil.copytree(self.place / "model/harbor", root, symlinks=True)
        self.harbor = Harbor(root)
        self.harbor.git("status")
        told = self.harbor.json("wake", "list")["wakes"]
        self.wakes = {one["id"]: (one["agent"], one["reason"]) for one in told}
        self.episodes = {agent: self._runs(agent) for agent in ("nova", "juno", "atlas")}
        told = self.harbor.json("task", "list", "--all")["cards"]
        self.cards = {one["id"]: one["status"] for one in told}
        self.claims = {one["id"]: one["text"] for one in self.harbor.claims("nova")}
        self.seen = invariants.see(root)

    def _runs(self, agent: str) -> set[str]:
        told = self.harbor.json("memory", "episodes", agent)["episodes"]
        runs = [one["episode"]["run"] for one in told]
        assert len(runs) == len(set(runs))
        return set(runs)

    def _text(self, *words: str) -> Any:  # noqa: ANN401 - what the command answers
        """Run a command that writes texts: None when it is rightly put off."""
        told = self.harbor.run(*words, "--json", code=None)
        if self.busy and told.code == 75:
            return None
        assert told.code == 0, (words, told, self.busy)
        return told.json

    @rule(agent=AGENTS)
    def add_wake(self, agent: str) -> None:
        """Rows are always taken on."""
        made = self.harbor.json("wake", "add", agent, "--reason", "task")
        self.wakes[made["wake"]] = (agent, "task")

    @precondition(lambda self: self.wakes)
    @rule(data=st.data(), turns=st.integers(0, 9))
    def finish(self, data: st.DataObject, turns: int) -> None:
        """A run is recorded, even when the repository is busy."""
        wake = data.draw(st.sampled_from(sorted(self.wakes)))
        agent, self.count = self.wakes[wake][0], self.count + 1
        run = f"run-story-{self.count}"
        words = ("wake-done", wake, "--run", run, "--turns", str(turns))
        self.harbor.run(*words, "--agent", agent)
        self.harbor.run(*words, "--agent", agent)  # said twice is recorded once
        del self.wakes[wake]
        self.episodes[agent].add(run)

    @rule(title=WORDS)
    def add_card(self, title: str) -> None:
        """A card is a text."""
        if made := self._text("task", "add", title):
            self.cards[made["id"]] = made["status"]

    @precondition(lambda self: self.cards)
    @rule(data=st.data(), verb=st.sampled_from(("done", "close")))
    def mark(self, data: st.DataObject, verb: str) -> None:
        """A card changes its status."""
        over = {"done": "done", "close": "closed"}[verb]
        card = data.draw(st.sampled_from(sorted(self.cards)))
        if self.cards[card] == over:
            assert self.harbor.run("task", verb, card, code=None).code in {1, 75}
        elif made := self._text("task", verb, card):
            self.cards[card] = made["status"]

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), text=WORDS)
    def edit(self, data: st.DataObject, text: str) -> None:
        """A claim is superseded by another."""
        claim = data.draw(st.sampled_from(sorted(self.claims)))
        told = self.harbor.run("memory", "edit", claim, text, "--json", code=None)
        if told.code == 0:
            del self.claims[claim]
            self.claims = {one["id"]: one["text"] for one in self.harbor.claims("nova")}
            assert text in self.claims.values()
        else:  # said already, or busy
            assert told.code in {1, 2, 75}, told
            assert told.code != 75 or self.busy

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def retire(self, data: st.DataObject) -> None:
        """A claim is closed."""
        claim = data.draw(st.sampled_from(sorted(self.claims)))
        if self._text("memory", "retire", claim, "It is over."):
            del self.claims[claim]

    @precondition(lambda self: not self.busy)
    @rule()
    def persons_commit(self) -> None:
        """The person commits all there is."""
        (self.harbor.root / "Daily/story.md").write_text(f"{self.count}\n")
        self.harbor.git("add", "-A")
        self.harbor.git("commit", "-q", "--allow-empty", "-m", "Mine")
        self.seen = invariants.see(self.harbor.root)

    @precondition(lambda self: not self.busy)
    @rule(what=st.sampled_from(("cherry-pick", LOCK)))
    def get_busy(self, what: str) -> None:
        """The repository is in the middle of something."""
        if what == LOCK:
            (self.harbor.root / LOCK).touch()
        else:
            head = self.harbor.git("rev-parse", "HEAD").strip()
            (self.harbor.root / ".git/CHERRY_PICK_HEAD").write_text(f"{head}\n")
        self.busy = what

    @precondition(lambda self: self.busy)
    @rule()
    def be_done(self) -> None:
        """The person finishes that."""
        name = LOCK if self.busy == LOCK else ".git/CHERRY_PICK_HEAD"
        (self.harbor.root / name).unlink()
        self.busy = ""

    @rule(agent=AGENTS)
    def crash(self, agent: str) -> None:
        """A writer that was killed once its row was acknowledged."""
        from orgvault.store.entry import Entry
        from orgvault.store.vault import Vault

        vault, self.count = Vault(str(self.harbor.root)), self.count + 1
        made = row(agent, f"s-crash-{self.count}", log="crashed")
        entry = Entry(
            "refs/heads/main", "", str(message("wake(x): crashed")), (NOVA.name, NOVA.email), AT,
            (made,),
        )  # fmt: skip
        vault._spool.put(entry)  # noqa: SLF001 - exactly what a kill leaves

    @invariant()
    def said_as_known(self) -> None:
        """What the reading commands say is what the dict holds: one of them after each step."""
        if not hasattr(self, "harbor"):
            return
        self.steps += 1
        self.questions[self.steps % len(self.questions)]()

    def _wakes_as_known(self) -> None:
        told = self.harbor.json("wake", "list")["wakes"]
        assert {one["id"] for one in told} == set(self.wakes)

    def _cards_as_known(self) -> None:
        told = self.harbor.json("task", "list", "--all")["cards"]
        assert {one["id"]: one["status"] for one in told} == self.cards

    def _claims_as_known(self) -> None:
        assert {one["id"]: one["text"] for one in self.harbor.claims("nova")} == self.claims

    def teardown(self) -> None:
        """Everything holds once the person is done and one more command has run."""
        if not hasattr(self, "harbor"):
            return
        if self.busy:
            self.be_done()
        for ask in self.questions:
            ask()
        self.add_wake("juno")
        for agent, runs in self.episodes.items():
            assert self._runs(agent) == runs
        assert invariants.broken(self.harbor.root, self.seen, set()) == []
        shutil.rmtree(self.harbor.root)


def stories(folder: Path, examples: int, steps: int, number: int | None = None) -> None:
    """Run so many stories of so many steps; raises what the shortest bad one raises."""
    (folder / "model").mkdir()
    make_harbor(folder / "model")
    Story.place = folder
    told = settings(
        max_examples=examples, stateful_step_count=steps, deadline=None, database=None,
        suppress_health_check=list(HealthCheck), print_blob=False,
        phases=(Phase.generate, Phase.shrink), derandomize=number is None,
    )  # fmt: skip
    machine = Story if number is None else seed(number)(Story)
    run_state_machine_as_test(machine, settings=told)


def part(steps: int, examples: int, number: int) -> str:
    """So many stories; the traceback of the shortest bad one."""
    os.environ.pop("CI", None)
    with workshop() as folder:
        try:
            stories(folder, examples, steps, number)
        except Exception:  # noqa: BLE001 - whatever it is, the other parts go on
            return traceback.format_exc()
    return ""


def main(given: Sequence[str]) -> int:
    """Run the stories; 1 when one was bad."""
    examples, steps, number = map(int, given)
    at_once = AT_ONCE * (os.cpu_count() or 1)  # they mostly wait for a lock that is in the way
    return in_parts("model", partial(part, steps), examples, PART, number, at_once)


if __name__ == "__main__":
    sys.exit(main([*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]))
