"""The ledger in a real vault: however a person ships a change, and whatever comes of it."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.ledger import episode
from orgvault.domain.episode import Correction
from orgvault.domain.instants import days_before
from orgvault.domain.ledger import Entry, Verdict
from orgvault.domain.patch import unified
from orgvault.domain.proposal import Accepted, Proposal
from orgvault.domain.splice import with_value
from orgvault.errors import NotAllowed
from orgvault.services import ledgering, reviewing
from orgvault.services.desk import Desk, row
from orgvault.services.ledgering import Synced
from orgvault.services.proposal_faults import HistoryCutOff
from orgvault.store.ledger import Ledger
from tests.harbor import Harbor, make_harbor
from tests.proposals import (
    GOAL,
    NEW_GOAL,
    ORG_YAML,
    SKILL,
    change_of_goal,
    change_of_lines,
    commit,
    desk,
    filed,
)

STEP = "2. Run `make build`."
BEGUN = "2025-12-01T09:00:00Z"  # before anything that the fixture vault's agents did
FILED = "2026-03-14T09:00:00Z"
SHIPPED = "2026-03-16T09:00:00Z"


def at(harbor: Harbor, days: float) -> Desk:
    """The owner's desk so many days after shipping."""
    return desk(harbor, at=days_before(SHIPPED, -days))


def sync(harbor: Harbor, days: float = 0) -> Synced:
    """A look at the ledger so many days after shipping; nothing may be wrong."""
    synced, problems = ledgering.sync(at(harbor, days))
    assert problems == []
    return synced


def entry(harbor: Harbor, proposal: Proposal) -> Entry:
    """The entry of a proposal as its file says."""
    stored = Ledger(desk(harbor).vault).get(proposal.id, [])
    assert stored is not None
    return stored.entry


def status(harbor: Harbor, card: str) -> str:
    """The status in a card's note."""
    text = (harbor.root / f"Org/Backlog/{card}.md").read_text("utf-8")
    found = re.search(r"^status: (\w+)$", text, re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.fixture
def harbor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harbor:
    """A copy of the fixture vault, committed long ago."""
    dated(monkeypatch, BEGUN)
    return make_harbor(tmp_path)


@pytest.fixture
def proposal(harbor: Harbor, monkeypatch: pytest.MonkeyPatch) -> Proposal:
    """A proposal of another goal for nova; what git commits from here on is dated."""
    days_ago = (_seconds(desk(harbor).clock.now()) - _seconds(FILED)) / 86400
    made = filed(harbor, days_ago=days_ago)
    dated(monkeypatch, SHIPPED)
    return made


def dated(monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    """Have git date the person's commits so."""
    monkeypatch.setenv("GIT_COMMITTER_DATE", when)
    monkeypatch.setenv("GIT_AUTHOR_DATE", when)


def _seconds(instant: str) -> float:
    from orgvault.domain.instants import moment

    return moment(instant).timestamp()


def apply(harbor: Harbor, proposal: Proposal) -> None:
    """Put the diff on the working tree as the card says."""
    harbor.git("apply", f".agents/org/proposals/{proposal.id}.diff")


# ── however it is shipped ───────────────────────────────────────────────────────────────────


def as_is(harbor: Harbor, proposal: Proposal) -> str:
    apply(harbor, proposal)
    return commit(harbor, "Take nova's goal")


def squashed(harbor: Harbor, proposal: Proposal) -> str:
    harbor.git("checkout", "-q", "-b", "work")
    commit_of_a_note(harbor, "one")
    as_is(harbor, proposal)
    commit_of_a_note(harbor, "two")
    harbor.git("checkout", "-q", "main")
    harbor.git("merge", "-q", "--squash", "work")
    harbor.git("commit", "-q", "-m", "A week's work")
    return head(harbor)


def re_indented_by_hand(harbor: Harbor, proposal: Proposal) -> str:
    del proposal
    path = harbor.root / ORG_YAML
    text = path.read_text("utf-8")
    line = re.search(rf"^ *goal: .*{re.escape(GOAL)}.*$", text, re.MULTILINE)
    assert line is not None
    words = NEW_GOAL.split()
    folded = f"    goal: >-\n        {' '.join(words[:5])}\n        {' '.join(words[5:])}"
    path.write_text(text.replace(line[0], folded), "utf-8")
    return commit(harbor, "In my own layout")


def merged(harbor: Harbor, proposal: Proposal) -> str:
    harbor.git("checkout", "-q", "-b", "work")
    as_is(harbor, proposal)
    harbor.git("checkout", "-q", "main")
    commit_of_a_note(harbor, "meanwhile")
    harbor.git("merge", "-q", "--no-ff", "-m", "Merge work", "work")
    return head(harbor)


def cherry_picked(harbor: Harbor, proposal: Proposal) -> str:
    found = reviewing.show(desk(harbor), proposal.id)
    made = reviewing.branch(desk(harbor), found)
    commit_of_a_note(harbor, "meanwhile")
    harbor.git("cherry-pick", made.ref)
    return head(harbor)


def merged_from_the_ref(harbor: Harbor, proposal: Proposal) -> str:
    found = reviewing.show(desk(harbor), proposal.id)
    made = reviewing.branch(desk(harbor), found)
    harbor.git("merge", "-q", "--no-ff", "-m", "Take it", made.ref)
    return head(harbor)


def with_more(harbor: Harbor, proposal: Proposal) -> str:
    apply(harbor, proposal)
    path = harbor.root / ORG_YAML
    path.write_text(path.read_text("utf-8") + "# mine\n", "utf-8")
    found = commit(harbor, "Several things")
    path.write_text(path.read_text("utf-8") + "# more\n", "utf-8")
    commit(harbor, "And more")
    return found


def commit_of_a_note(harbor: Harbor, name: str) -> None:
    (harbor.root / f"{name}.md").write_text(name, "utf-8")
    harbor.git("add", f"{name}.md")
    harbor.git("commit", "-q", "-m", name)


def head(harbor: Harbor) -> str:
    return harbor.git("rev-parse", "HEAD").strip()


WAYS = [as_is, squashed, re_indented_by_hand, merged, cherry_picked, merged_from_the_ref, with_more]


@pytest.mark.parametrize("ship", WAYS, ids=lambda way: way.__name__)
def test_diff_12_shipped_is_noticed(
    harbor: Harbor, proposal: Proposal, ship: Callable[[Harbor, Proposal], str]
) -> None:
    assert sync(harbor) == Synced((), (), (), ())
    shipped = ship(harbor, proposal)
    before = harbor.git("rev-list", "--count", "HEAD")
    assert ledgering.due(at(harbor, 1))
    (made,) = sync(harbor, 1).shipped
    assert (made.shipped_commit, made.shipped_by) == (shipped, "Sam")
    assert made.shipped_at == SHIPPED
    assert (made.before.since, made.before.until) == (days_before(SHIPPED, 14), SHIPPED)
    assert (made.next_at, made.verdict) == (days_before(SHIPPED, -14), None)
    assert entry(harbor, proposal) == made
    assert status(harbor, proposal.id) == "shipped"
    assert int(harbor.git("rev-list", "--count", "HEAD")) == int(before) + 1
    assert harbor.subjects(1) == [f"ledger(nova): {proposal.id} shipped"]
    # Once more writes nothing.
    now = head(harbor)
    assert sync(harbor, 2) == Synced((), (), (), ())
    assert not ledgering.due(at(harbor, 2))
    assert head(harbor) == now
    assert harbor.git("status", "--porcelain") == ""


def test_in_two_commits_it_is_shipped_with_the_second(
    harbor: Harbor, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = (harbor.root / ORG_YAML).read_text("utf-8")
    voice = re.search(r"^ *voice: (.*)$", old[old.index(GOAL) :], re.MULTILINE)
    assert voice is not None
    whole = change_of_goal(old.encode())
    new = whole.new.decode().replace(voice[0], voice[0].replace(voice[1], "Brief."), 1)
    more = type(whole.edits[0])(key="voice", before=(voice[1],), after=("Brief.",))
    both = replace(whole, edits=(*whole.edits, more), new=new.encode())
    made = filed(harbor, both, days_ago=1)
    path = harbor.root / ORG_YAML
    dated(monkeypatch, days_before(SHIPPED, 3))
    path.write_bytes(whole.new)
    commit(harbor, "Half of it")
    assert sync(harbor) == Synced((), (), (), ())
    dated(monkeypatch, SHIPPED)
    path.write_text(new, "utf-8")
    second = commit(harbor, "The other half")
    sync(harbor)
    assert entry(harbor, made).shipped_commit == second
    assert entry(harbor, made).shipped_at == SHIPPED


def test_lines_of_a_skill_count_as_lines(harbor: Harbor, monkeypatch: pytest.MonkeyPatch) -> None:
    path = harbor.root / SKILL
    after = (STEP, "   I install before that.")
    made = filed(harbor, change_of_lines(SKILL, path.read_bytes(), (STEP,), after), days_ago=1)
    dated(monkeypatch, SHIPPED)
    apply(harbor, made)
    shipped = commit(harbor, "A habit", SKILL)
    sync(harbor, 1)
    assert entry(harbor, made).shipped_commit == shipped


def test_in_other_words_by_the_persons_word(harbor: Harbor, proposal: Proposal) -> None:
    path = harbor.root / ORG_YAML
    path.write_text(path.read_text("utf-8").replace(GOAL, "In words of mine."), "utf-8")
    other = commit(harbor, "My words")
    commit_of_a_note(harbor, "later")
    reviewing.shipped(desk(harbor), proposal.id, other)
    sync(harbor, 1)
    assert entry(harbor, proposal).shipped_commit == other
    assert entry(harbor, proposal).shipped_at == SHIPPED
    assert not entry(harbor, proposal).reverted_at


def test_what_was_on_a_branch_counts_from_the_merge(
    harbor: Harbor, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    dated(monkeypatch, days_before(SHIPPED, 5))
    harbor.git("checkout", "-q", "-b", "work")
    path = harbor.root / ORG_YAML
    path.write_text(path.read_text("utf-8").replace(GOAL, "In words of mine."), "utf-8")
    other = commit(harbor, "My words")
    commit_of_a_note(harbor, "deeper")
    harbor.git("checkout", "-q", "main")
    dated(monkeypatch, SHIPPED)
    harbor.git("merge", "-q", "--no-ff", "-m", "Merge work", "work")
    reviewing.shipped(desk(harbor), proposal.id, other)
    sync(harbor, 1)
    assert entry(harbor, proposal).shipped_commit == other
    assert entry(harbor, proposal).shipped_at == SHIPPED


def test_what_is_not_committed_is_left_alone(harbor: Harbor, proposal: Proposal) -> None:
    apply(harbor, proposal)
    assert sync(harbor, 1) == Synced((), (), (), ())
    assert status(harbor, proposal.id) == "open"


def test_a_persons_word_shipped_waits_for_the_ledger(harbor: Harbor, proposal: Proposal) -> None:
    note = harbor.root / f"Org/Backlog/{proposal.id}.md"
    note.write_text(note.read_text("utf-8").replace("status: open", "status: shipped"), "utf-8")
    assert sync(harbor, 1) == Synced((), (), (), ())
    as_is(harbor, proposal)
    assert len(sync(harbor, 1).shipped) == 1


def test_only_the_owner_brings_it_up_to_date(harbor: Harbor) -> None:
    from orgvault.domain.access import Actor

    for actor in (Actor("operator", "kim"), Actor("agent", "nova")):
        with pytest.raises(NotAllowed):
            ledgering.sync(desk(harbor, actor))


# ── what comes of it ────────────────────────────────────────────────────────────────────────


def work(
    harbor: Harbor, days: tuple[float, float], done: int, corrected: int, cost: float,
    model: str = "large-5",
) -> None:  # fmt: skip
    """Record episodes of nova between two days after shipping, and send some back."""
    first, last = days
    chance = random.Random(f"{days} {done} {corrected}")  # noqa: S311 - the same every time
    rows = []
    for number in range(done):
        name = f"run-{first:g}-{number}"
        day = first + (last - first) * (number + 0.5) / done
        spent = cost * chance.uniform(0.7, 1.3)
        one = replace(
            episode(f"e-{number}-{abs(first):g}{'b' if first < 0 else 'a'}",
                    days_before(SHIPPED, -day), done=True, cost=spent),
            run=name, model=model,
        )  # fmt: skip
        rows.append(row("episodes", one))
        if number < corrected:
            back = Correction(
                id=f"x-{one.id}", agent="nova", card="t-8h3w6r1d", episode=one.id, run=name,
                why="No.", actor="kim", at=one.finished_at,
            )  # fmt: skip
            rows.append(row("corrections", back))
    here = desk(harbor)
    here.vault.record(
        here.message("test: work", "test"), here.author, rows, days_before(SHIPPED, -last)
    )


def test_better_is_kept_after_two_weeks(harbor: Harbor, proposal: Proposal) -> None:
    work(harbor, (-14, 0), 60, 30, 1.0)
    as_is(harbor, proposal)
    sync(harbor)
    work(harbor, (0, 14), 60, 3, 0.5)
    assert not ledgering.due(at(harbor, 13.9))
    assert sync(harbor, 13.9) == Synced((), (), (), ())
    assert ledgering.due(at(harbor, 14))
    (made,) = sync(harbor, 14).measured
    assert (made.verdict, made.next_at) == (Verdict.KEEP, None)
    assert made.after is not None
    assert (made.before.done, made.before.corrected) == (60, 30)
    assert (made.after.done, made.after.corrected, made.after.priced) == (60, 3, 60)
    assert made.confounders == ()
    assert harbor.subjects(1) == [f"ledger(nova): {proposal.id} keep"]
    assert sync(harbor, 60) == Synced((), (), (), ())
    assert not ledgering.due(at(harbor, 60))


def test_worse_files_one_card_that_asks_to_undo_it(harbor: Harbor, proposal: Proposal) -> None:
    old = (harbor.root / ORG_YAML).read_bytes()
    work(harbor, (-14, 0), 60, 5, 1.0)
    as_is(harbor, proposal)
    shipped = (harbor.root / ORG_YAML).read_bytes()
    work(harbor, (0, 14), 60, 40, 1.0)
    synced = sync(harbor, 15)
    (made,) = synced.filed
    assert made.verdict is Verdict.REVERT
    assert made.revert_card is not None
    assert (harbor.root / ORG_YAML).read_bytes() == shipped
    found = reviewing.show(desk(harbor), made.revert_card)
    assert found.card is not None
    assert (found.card.card.kind, found.card.card.status) == ("revert", "open")
    assert (found.stored.proposal.reverts, found.stored.proposal.memory_id) == (proposal.id, None)
    assert sync(harbor, 16) == Synced((), (), (), ())
    apply(harbor, found.stored.proposal)
    assert (harbor.root / ORG_YAML).read_bytes() == old
    # Shipping that card is a person's undoing of the change.
    undone = commit(harbor, "Undo it")
    synced = sync(harbor, 17)
    assert [one.card for one in synced.shipped] == [made.revert_card]
    assert [one.card for one in synced.reverted] == [proposal.id]
    assert entry(harbor, proposal).reverted_commit == undone
    assert sync(harbor, 18) == Synced((), (), (), ())


def test_a_value_that_was_laid_out_by_hand_is_put_back_as_a_value(
    harbor: Harbor, proposal: Proposal
) -> None:
    work(harbor, (-14, 0), 60, 5, 1.0)
    re_indented_by_hand(harbor, proposal)
    work(harbor, (0, 14), 60, 40, 1.0)
    (made,) = sync(harbor, 15).filed
    assert made.revert_card is not None
    found = reviewing.show(desk(harbor), made.revert_card)
    (edit,) = found.stored.proposal.edits
    assert (edit.key, edit.before, edit.after) == ("goal", (NEW_GOAL,), (GOAL,))


def test_what_was_shipped_in_other_words_is_put_back_too(
    harbor: Harbor, proposal: Proposal
) -> None:
    work(harbor, (-14, 0), 60, 5, 1.0)
    path = harbor.root / ORG_YAML
    path.write_text(path.read_text("utf-8").replace(GOAL, "In words of mine."), "utf-8")
    reviewing.shipped(desk(harbor), proposal.id, commit(harbor, "My words"))
    work(harbor, (0, 14), 60, 40, 1.0)
    (made,) = sync(harbor, 15).filed
    assert made.revert_card is not None
    (edit,) = reviewing.show(desk(harbor), made.revert_card).stored.proposal.edits
    assert (edit.before, edit.after) == (("In words of mine.",), (GOAL,))


def test_what_was_shipped_in_a_commit_that_is_gone_is_not_put_back(
    harbor: Harbor, proposal: Proposal
) -> None:
    """History was rewritten since: nobody can tell any more how the values read once shipped."""
    work(harbor, (-14, 0), 60, 5, 1.0)
    re_indented_by_hand(harbor, proposal)
    sync(harbor)
    path = harbor.root / f".agents/org/ledger/{proposal.id}.yaml"
    told = path.read_text("utf-8")
    path.write_text(re.sub(r"shipped_commit: .*", f'shipped_commit: "{"0" * 40}"', told), "utf-8")
    work(harbor, (0, 14), 60, 40, 1.0)
    synced = sync(harbor, 15)
    assert synced.filed == ()
    assert [one.verdict for one in synced.measured] == [Verdict.REVERT]
    assert entry(harbor, proposal).revert_refused


def test_a_key_that_was_added_is_taken_out_again_wherever_it_stands_by_then(
    harbor: Harbor, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = harbor.root / ORG_YAML
    text = path.read_text("utf-8")
    voice = re.search(r"^ *voice: .*\n", text[text.index(GOAL) :], re.MULTILINE)
    assert voice is not None
    old = text.replace(voice[0], "", 1)
    path.write_text(old, "utf-8")
    commit(harbor, "No voice")
    new = with_value(old, "nova", "voice", ("Plain.",))
    assert isinstance(new, str)
    diff = unified(ORG_YAML, old.encode(), new.encode())
    accepted = reviewing.check(desk(harbor), diff, "nova")
    assert isinstance(accepted, Accepted)
    made = filed(harbor, accepted, days_ago=1)
    dated(monkeypatch, SHIPPED)
    work(harbor, (-14, 0), 60, 5, 1.0)
    apply(harbor, made)
    commit(harbor, "Take it")
    sync(harbor)
    path.write_text("# above\n" + path.read_text("utf-8"), "utf-8")
    commit(harbor, "A line above")
    work(harbor, (0, 14), 60, 40, 1.0)
    (told,) = sync(harbor, 15).filed
    assert told.revert_card is not None
    back = reviewing.show(desk(harbor), told.revert_card).stored.proposal
    (edit,) = back.edits
    assert (edit.key, edit.before, edit.after) == ("voice", ("Plain.",), None)
    apply(harbor, back)
    assert path.read_text("utf-8") == "# above\n" + old


def test_a_revert_that_makes_it_worse_files_no_further_card(
    harbor: Harbor, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(harbor, (-14, 0), 60, 5, 1.0)
    as_is(harbor, proposal)
    work(harbor, (0, 14), 60, 40, 1.0)
    (made,) = sync(harbor, 14).filed
    assert made.revert_card is not None
    dated(monkeypatch, days_before(SHIPPED, -15))
    harbor.git("apply", f".agents/org/proposals/{made.revert_card}.diff")
    commit(harbor, "Undo it")
    sync(harbor, 15)
    work(harbor, (15, 29), 60, 59, 1.0)
    (told,) = sync(harbor, 29).measured
    assert (told.card, told.verdict, told.revert_card) == (made.revert_card, "revert", None)
    assert told.revert_refused
    assert sync(harbor, 30) == Synced((), (), (), ())


def test_what_reads_otherwise_by_now_is_said_and_no_card_is_filed(
    harbor: Harbor, proposal: Proposal
) -> None:
    work(harbor, (-14, 0), 60, 5, 1.0)
    as_is(harbor, proposal)
    sync(harbor)
    work(harbor, (0, 14), 60, 40, 1.0)
    path = harbor.root / ORG_YAML
    path.write_text(path.read_text("utf-8").replace(NEW_GOAL, "Something else again."), "utf-8")
    assert sync(harbor, 15).filed == ()
    assert "not committed" in (entry(harbor, proposal).revert_refused or "")
    commit(harbor, "Other words")
    assert sync(harbor, 15).filed == ()
    assert (
        "otherwise" in (entry(harbor, proposal).revert_refused or "")
        or entry(harbor, proposal).revert_card
    )


def test_too_little_is_measured_again_each_week_up_to_eight(
    harbor: Harbor, proposal: Proposal
) -> None:
    work(harbor, (-14, 0), 6, 2, 1.0)
    as_is(harbor, proposal)
    sync(harbor)
    work(harbor, (0, 14), 4, 1, 1.0)
    for weeks in range(2, 9):
        (made,) = sync(harbor, 7 * weeks).measured
        assert made.after is not None
        assert made.after.until == days_before(SHIPPED, -7 * weeks)
        assert (made.verdict, made.corrections) == (Verdict.NOT_ENOUGH_EVIDENCE, None)
        assert made.next_at == (days_before(SHIPPED, -7 * (weeks + 1)) if weeks < 8 else None)
        assert sync(harbor, 7 * weeks + 1) == Synced((), (), (), ())
    assert sync(harbor, 100) == Synced((), (), (), ())


def test_more_work_brings_a_verdict_at_three_weeks(harbor: Harbor, proposal: Proposal) -> None:
    work(harbor, (-14, 0), 60, 5, 1.0)
    as_is(harbor, proposal)
    work(harbor, (0, 14), 4, 4, 1.0)
    assert sync(harbor, 14).measured[0].verdict is Verdict.NOT_ENOUGH_EVIDENCE
    work(harbor, (14, 21), 40, 36, 1.0)
    assert sync(harbor, 21).measured[0].verdict is Verdict.REVERT


def test_one_late_look_says_what_a_look_each_week_says(harbor: Harbor, proposal: Proposal) -> None:
    work(harbor, (-14, 0), 60, 5, 1.0)
    as_is(harbor, proposal)
    sync(harbor)
    work(harbor, (0, 14), 4, 4, 1.0)
    work(harbor, (14, 21), 40, 36, 1.0)
    work(harbor, (21, 50), 400, 0, 0.1)
    (made,) = sync(harbor, 50).measured
    assert made.verdict is Verdict.REVERT
    assert made.after is not None
    assert made.after.until == days_before(SHIPPED, -21)


def test_confounders_are_named(
    harbor: Harbor, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(harbor, (-14, 0), 60, 30, 1.0)
    as_is(harbor, proposal)
    sync(harbor)
    dated(monkeypatch, days_before(SHIPPED, -3))
    path = harbor.root / SKILL
    old = path.read_bytes()
    change = change_of_lines(SKILL, old, (STEP,), (STEP, "   I ask first."))
    other = filed(harbor, change, days_ago=1)
    apply(harbor, other)
    commit(harbor, "Another", SKILL)
    text = (harbor.root / ORG_YAML).read_text("utf-8")
    compiled = harbor.root / ".agents/org/org-agents.json"
    budget = re.findall(r'"core_budget_tokens": (\d+)', compiled.read_text("utf-8"))
    compiled.write_text(
        compiled.read_text("utf-8").replace(
            f'"core_budget_tokens": {budget[-1]}', '"core_budget_tokens": 777'
        ),
        "utf-8",
    )
    assert text
    commit(harbor, "A smaller core", ".agents/org/org-agents.json")
    work(harbor, (0, 14), 60, 3, 0.5, model="small-1")
    made = next(one for one in sync(harbor, 14).measured if one.card == proposal.id)
    assert made.confounders == (
        f"{other.id} was shipped on 2026-03-19",
        "the model changed: large-5, then small-1",
        f"the core's budget changed: {budget[-1]}, then 777 tokens",
    )


def test_another_model_in_the_roster_is_named_where_runs_tell_of_none(
    harbor: Harbor, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(harbor, (-14, 0), 20, 5, 1.0)
    as_is(harbor, proposal)
    dated(monkeypatch, days_before(SHIPPED, -1))
    compiled = harbor.root / ".agents/org/org-agents.json"
    data = json.loads(compiled.read_text("utf-8"))
    was = data["agents"]["nova"]["model"]
    data["agents"]["nova"]["model"] = "vast-9"
    compiled.write_text(json.dumps(data), "utf-8")
    commit(harbor, "Another model", ".agents/org/org-agents.json")
    (made,) = sync(harbor, 14).measured
    assert made.confounders == (f"the model changed: {was or 'none named'}, then vast-9",)


def test_a_person_takes_it_back(
    harbor: Harbor, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_is(harbor, proposal)
    sync(harbor)
    dated(monkeypatch, days_before(SHIPPED, -4))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Kim")
    harbor.git("revert", "--no-edit", "HEAD~1")
    (made,) = sync(harbor, 5).reverted
    assert (made.reverted_by_person, made.reverted_at) == ("Kim", days_before(SHIPPED, -4))
    assert made.reverted_commit == head_before_ledger(harbor)
    assert (made.verdict, made.next_at) == (None, None)
    assert harbor.subjects(1) == [f"ledger(nova): {proposal.id} reverted"]
    assert sync(harbor, 60) == Synced((), (), (), ())


def head_before_ledger(harbor: Harbor) -> str:
    return harbor.git("rev-parse", "HEAD~1").strip()


def test_the_same_twice(harbor: Harbor, proposal: Proposal) -> None:
    work(harbor, (-14, 0), 40, 12, 1.0)
    as_is(harbor, proposal)
    work(harbor, (0, 14), 40, 9, 0.9)
    sync(harbor, 15)
    path = harbor.root / Ledger.path(proposal.id)
    first = path.read_bytes()
    harbor.git("reset", "-q", "--hard", "HEAD~1")
    sync(harbor, 15)
    assert path.read_bytes() == first


def test_a_million_episodes_ago_is_not_read(harbor: Harbor, proposal: Proposal) -> None:
    old = harbor.root / ".agents/org/episodes/nova/2025-01-1.nova.0000.jsonl"
    old.write_text("not a row\n", "utf-8")
    as_is(harbor, proposal)
    assert sync(harbor, 1).shipped  # `sync` asserts that no problem was met


def test_a_branch_moved_to_the_proposals_own_commit_counts_from_its_notice(
    harbor: Harbor, proposal: Proposal
) -> None:
    found = reviewing.show(desk(harbor), proposal.id)
    made = reviewing.branch(desk(harbor), found)
    harbor.git("rebase", "-q", "--onto", made.ref, found.stored.proposal.base)
    sync(harbor, 1)
    assert entry(harbor, proposal).shipped_commit == harbor.git("rev-parse", made.ref).strip()
    assert entry(harbor, proposal).shipped_at == days_before(SHIPPED, -1)
    assert entry(harbor, proposal).shipped_by == "Sam"


def test_what_is_shipped_again_is_measured_anew(
    harbor: Harbor, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_is(harbor, proposal)
    sync(harbor)
    dated(monkeypatch, days_before(SHIPPED, -4))
    harbor.git("revert", "--no-edit", "HEAD~1")
    sync(harbor, 5)
    dated(monkeypatch, days_before(SHIPPED, -6))
    again = as_is(harbor, proposal)
    sync(harbor, 7)
    made = entry(harbor, proposal)
    assert (made.shipped_commit, made.reverted_at) == (again, None)
    assert made.next_at == days_before(SHIPPED, -20)
    assert sync(harbor, 8) == Synced((), (), (), ())


def test_a_shallow_clone_cannot_say_who_shipped_what(
    harbor: Harbor, proposal: Proposal, tmp_path: Path
) -> None:
    as_is(harbor, proposal)
    clone = tmp_path / "shallow"
    harbor.git("clone", "-q", "--depth", "1", f"file://{harbor.root}", str(clone))
    shallow = Harbor(clone)
    with pytest.raises(HistoryCutOff, match="--unshallow"):
        ledgering.sync(desk(shallow))
    assert not (clone / Ledger.path(proposal.id)).exists()
