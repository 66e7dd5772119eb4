"""What accepted operations do to the claims."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgvault.domain import application, operation
from orgvault.domain.application import Applied, apply
from orgvault.domain.claim import EVIDENCE_KEPT, Claim, ClaimKind, close, new_claim, superseding
from orgvault.domain.folding import same_statement
from orgvault.domain.operation import ACCEPTED
from orgvault.domain.record import plain, read
from orgvault.domain.reflection import Verdict

EARLY, AT = "2026-11-20T09:14:03Z", "2026-11-27T16:40:51Z"
BUILD = "I lose a turn whenever I build before installing."


def hash_of(claim: Claim) -> str:
    return sha256(repr(claim).encode()).hexdigest()


def claim(number: int, text: str, by: str = "reflection") -> Claim:
    run = f"run-{number}"
    return new_claim(f"c-0000000{number}", "nova", ClaimKind.FRICTION, text, run, EARLY, by)


@dataclass
class Memory:
    """An agent's claims on paper: active and closed, and which runs stand behind each."""

    active: dict[str, Claim] = field(default_factory=dict)
    closed: dict[str, Claim] = field(default_factory=dict)
    runs: dict[str, set[str]] = field(default_factory=dict)
    ids: Callable[[], int] = field(default_factory=lambda: count(1).__next__)

    @classmethod
    def of(cls, *claims: Claim) -> "Memory":
        memory = cls()
        for one in claims:
            (memory.active if one.active else memory.closed)[one.id] = one
            memory.runs[one.id] = set(one.evidence)
        return memory

    def add(self, text: str) -> Verdict:
        return Verdict(op="add", kind="lesson", text=text, verdict=ACCEPTED)

    def update(self, old: Claim, text: str) -> Verdict:
        return self._about("update", old, text)

    def delete(self, old: Claim) -> Verdict:
        return self._about("delete", old, "")

    def _about(self, op: str, old: Claim, text: str) -> Verdict:
        return Verdict(
            op=op, text=text, verdict=ACCEPTED, claim_id=old.id, claim_sha256=hash_of(old)
        )

    def apply(self, *verdicts: Verdict, run: str = "run-9", at: str = AT) -> Applied:
        done = apply(
            verdicts,
            tuple(self.active.values()),
            tuple(self.closed.values()),
            agent="nova",
            run=run,
            at=at,
            new_id=lambda: f"c-{self.ids():08d}".replace("c-0", "c-n"),
            counted=lambda claim_id: run in self.runs.get(claim_id, set()),
            sha256_now={one.id: hash_of(one) for one in self.active.values()},
        )
        for one in done.closed:
            del self.active[one.id]
            self.closed[one.id] = one
        for one in done.changed:
            self.active[one.id] = one
        for verdict in done.verdicts:
            if verdict.claim_id and verdict.effect in {"added", "repeated"}:
                self.runs.setdefault(verdict.claim_id, set()).add(run)
            if verdict.claim_id and verdict.effect == "superseded":
                before = self.active[verdict.claim_id].supersedes
                self.runs[verdict.claim_id] = set(self.runs[before or ""])
        return done


def what(done: Applied) -> list[tuple[str, str]]:
    return [(one.verdict, one.effect) for one in done.verdicts]


# ---------------------------------------------------------------- add


def test_an_add_is_a_new_claim_with_one_run_of_evidence() -> None:
    memory = Memory()
    done = memory.apply(memory.add(BUILD))
    assert what(done) == [(ACCEPTED, "added")]
    (new,) = done.changed
    assert new == new_claim(new.id, "nova", ClaimKind.LESSON, BUILD, "run-9", AT, "reflection")
    assert done.verdicts[0].claim_id == new.id
    assert read(Claim, plain(new)) == (new, [])


def test_r4_thirty_runs_say_one_thing_and_it_is_one_claim_seen_thirty_times() -> None:
    memory = Memory()
    for number in range(30):
        for text in (BUILD, BUILD.upper().rstrip("."), f"“{BUILD}”"):
            memory.apply(memory.add(text), run=f"run-{number}")
    (one,) = memory.active.values()
    assert one.times_seen == 30
    assert one.evidence == tuple(f"run-{number}" for number in range(30))
    assert memory.closed == {}


def test_the_file_keeps_fifty_runs_and_the_count_goes_on() -> None:
    memory = Memory()
    for number in (*range(60), *range(60)):
        memory.apply(memory.add(BUILD), run=f"run-{number}")
    (one,) = memory.active.values()
    assert one.times_seen == 60
    assert len(one.evidence) == EVIDENCE_KEPT


def test_a_repeat_counts_a_persons_claim_and_changes_no_word_of_it() -> None:
    owners = claim(1, BUILD, "sam")
    memory = Memory.of(owners)
    done = memory.apply(memory.add("i lose a turn whenever I build before  installing"))
    assert what(done) == [(ACCEPTED, "repeated")]
    assert done.changed == (
        replace(owners, evidence=("run-1", "run-9"), times_seen=2, last_seen=AT),
    )


def test_r17_words_of_a_retired_claim_are_recorded_and_not_resurrected() -> None:
    retired = close(claim(1, BUILD), "sam", "not so", EARLY)
    memory = Memory.of(retired)
    done = memory.apply(memory.add(BUILD.upper()))
    assert what(done) == [(application.RETIRED, "nothing")]
    assert done.verdicts[0].claim_id == retired.id
    assert (done.changed, done.closed) == ((), ())


def test_what_the_owner_corrected_does_not_come_back() -> None:
    old = claim(1, BUILD)
    new = superseding(old, "c-00000002", "I lose a turn when I build too early.", "sam", EARLY)
    memory = Memory.of(close(old, "sam", "corrected", EARLY, new.id), new)
    done = memory.apply(memory.add(BUILD))
    assert what(done) == [(ACCEPTED, "repeated")]
    assert done.verdicts[0].claim_id == new.id
    assert [(one.text, one.times_seen) for one in done.changed] == [(new.text, 2)]


def test_first_words_repeat_the_end_of_a_chain_unless_that_was_retired() -> None:
    first = claim(1, BUILD)
    second = superseding(first, "c-00000002", "I build early.", "sam", EARLY)
    third = superseding(second, "c-00000003", "I build too early.", "sam", EARLY)
    gone = (
        close(first, "sam", "corrected", EARLY, second.id),
        close(second, "sam", "corrected", EARLY, third.id),
    )
    memory = Memory.of(*gone, third)
    assert what(memory.apply(memory.add(BUILD))) == [(ACCEPTED, "repeated")]
    assert memory.active[third.id].evidence == ("run-1", "run-9")
    assert what(memory.apply(memory.add(BUILD))) == [(ACCEPTED, "nothing")]

    ended = Memory.of(*gone, close(third, "sam", "no", EARLY))
    assert what(ended.apply(ended.add(BUILD))) == [(application.REPLACED, "nothing")]

    for broken in (Memory.of(*gone), Memory.of(*gone, replace(third, supersedes=None))):
        assert what(broken.apply(broken.add(BUILD))) == [(ACCEPTED, "added")]


def test_r7_the_same_claim_twice_is_one_claim() -> None:
    memory = Memory()
    done = memory.apply(memory.add(BUILD), memory.add(BUILD.lower()))
    assert what(done) == [(ACCEPTED, "added"), (operation.SECOND_OPERATION, "nothing")]
    assert len(done.changed) == 1


# ---------------------------------------------------------------- update


def test_r8_the_old_claim_closes_and_its_successor_opens_together() -> None:
    old = replace(
        claim(1, "I deploy on Monday"),
        evidence=("run-1", "run-2"),
        times_seen=7,
        proposal="imp-00000001",
        proposed_evidence=("run-1", "run-2"),
    )
    memory = Memory.of(old)
    done = memory.apply(replace(memory.update(old, "I deploy on Friday"), why="The day changed."))
    assert what(done) == [(ACCEPTED, "superseded")]
    (new,), (closed,) = done.changed, done.closed
    assert (closed.superseded_by, closed.reason, closed.closed_at) == (
        new.id,
        "The day changed.",
        AT,
    )
    assert (new.supersedes, new.text, new.last_seen) == (old.id, "I deploy on Friday", AT)
    for name in ("kind", "evidence", "times_seen", "first_seen", "proposal", "proposed_evidence"):
        assert getattr(new, name) == getattr(old, name)
    assert not new.edited_by_hand
    assert done.verdicts[0].claim_id == new.id


def test_equal_text_is_a_repeat() -> None:
    old = claim(1, BUILD)
    memory = Memory.of(old)
    done = memory.apply(memory.update(old, BUILD.upper()))
    assert what(done) == [(ACCEPTED, "repeated")]
    assert (done.changed[0].text, done.changed[0].times_seen, done.closed) == (BUILD, 2, ())


@pytest.mark.parametrize("by", ["sam", "ada", "hand"])
def test_a_persons_words_are_never_reworded_or_closed(by: str) -> None:
    owners = claim(1, BUILD, by)
    memory = Memory.of(owners)
    for verdict in (memory.update(owners, "I build."), memory.delete(owners)):
        assert what(memory.apply(verdict)) == [(operation.NOT_ITS_OWN, "nothing")]
    assert memory.active == {owners.id: owners}


def test_a_rewording_makes_no_second_claim_with_one_text() -> None:
    one, other = claim(1, "I deploy on Monday"), claim(2, "I deploy on Friday")
    retired = close(claim(3, "I deploy daily"), "sam", "no", EARLY)
    memory = Memory.of(one, other, retired)
    assert what(memory.apply(memory.update(one, other.text))) == [(application.KNOWN, "nothing")]
    assert what(memory.apply(memory.update(one, retired.text))) == [
        (application.RETIRED, "nothing")
    ]
    assert len(memory.active) == 2


def test_r11_nearly_alike_is_not_the_same() -> None:
    memory = Memory.of(claim(1, "I deploy on Monday"))
    done = memory.apply(memory.add("I deploy on Friday"))
    assert what(done) == [(ACCEPTED, "added")]
    assert len(memory.active) == 2


# ---------------------------------------------------------------- delete


def test_a_delete_closes_with_its_reason() -> None:
    old = claim(1, BUILD)
    memory = Memory.of(old)
    done = memory.apply(replace(memory.delete(old), why="The build installs by itself."))
    assert what(done) == [(ACCEPTED, "closed")]
    assert done.closed == (close(old, "reflection", "The build installs by itself.", AT),)
    assert done.changed == ()


def test_r9_at_most_one_delete() -> None:
    one, other, third = claim(1, "I deploy."), claim(2, "I build."), claim(3, "I test.")
    memory = Memory.of(one, other, third)
    done = memory.apply(
        memory.update(third, "I test twice."), memory.delete(one), memory.delete(other)
    )
    assert [effect for _, effect in what(done)] == ["superseded", "closed", "nothing"]
    assert done.verdicts[2].verdict == operation.SECOND_DELETE


# ---------------------------------------------------------------- several, stale, dropped


def test_r10_of_two_operations_on_one_claim_the_first_wins() -> None:
    old = claim(1, "I deploy on Monday")
    for second in ("update", "delete", "repeat"):
        memory = Memory.of(old)
        later = {
            "update": memory.update(old, "I deploy on Sunday"),
            "delete": memory.delete(old),
            "repeat": memory.update(old, old.text),
        }[second]
        done = memory.apply(memory.update(old, "I deploy on Friday"), later)
        assert what(done) == [(ACCEPTED, "superseded"), (operation.SECOND_OPERATION, "nothing")]
        assert len(memory.active) == 1


def test_r10_after_a_repeat_the_claim_is_neither_reworded_nor_closed_in_the_same_run() -> None:
    old = claim(1, "I deploy on Monday")
    for later in (Memory().update(old, "I deploy on Friday"), Memory().delete(old)):
        memory = Memory.of(old)
        done = memory.apply(memory.add(old.text), later)
        assert what(done) == [(ACCEPTED, "repeated"), (operation.SECOND_OPERATION, "nothing")]
        assert (done.closed, len(memory.active)) == ((), 1)


def test_of_two_closed_claims_with_one_text_the_retired_one_is_told() -> None:
    replaced = close(claim(1, BUILD), "reflection", "reworded", EARLY, "c-00000009")
    retired = close(claim(2, BUILD), "sam", "no", EARLY)
    for closed in ((replaced, retired), (retired, replaced)):
        done = Memory.of(*closed).apply(Memory().add(BUILD))
        assert (done.verdicts[0].verdict, done.verdicts[0].claim_id) == (
            application.RETIRED, retired.id,
        )  # fmt: skip


def test_of_two_active_claims_with_one_text_the_most_seen_is_repeated() -> None:
    rare, often = claim(1, BUILD), replace(claim(2, BUILD), times_seen=5)
    for active in ((rare, often), (often, rare)):
        done = Memory.of(*active).apply(Memory().add(BUILD))
        assert [one.id for one in done.changed] == [often.id]


def test_a_claim_that_changed_while_the_model_thought_is_left_alone() -> None:
    seen = claim(1, BUILD)
    memory = Memory.of(replace(seen, text="I lose two turns whenever I build too early."))
    for verdict in (
        memory.update(seen, "I build."), memory.update(seen, BUILD), memory.delete(seen)
    ):  # fmt: skip
        done = memory.apply(verdict)
        assert what(done) == [(application.STALE, "nothing")]
        assert (done.changed, done.closed) == ((), ())


def test_an_add_that_repeated_a_claim_is_stale_once_that_says_something_else() -> None:
    seen = claim(1, "You must never trust the build.", "sam")
    memory = Memory.of(replace(seen, text="I trust the build."))
    repeat = replace(memory.add(seen.text), claim_id=seen.id, claim_sha256=hash_of(seen))
    assert what(memory.apply(repeat)) == [(application.STALE, "nothing")]
    memory = Memory.of(replace(seen, times_seen=5))
    assert what(memory.apply(repeat)) == [(ACCEPTED, "repeated")]


def test_a_claim_that_was_closed_while_the_model_thought_stays_closed() -> None:
    seen = claim(1, BUILD)
    memory = Memory.of(close(seen, "sam", "no", EARLY))
    assert what(memory.apply(memory.update(seen, "I build."))) == [(application.STALE, "nothing")]


def test_what_was_dropped_or_asks_for_nothing_does_nothing() -> None:
    memory = Memory.of(claim(1, BUILD))
    dropped = replace(memory.add("I rush."), verdict="grants a permission")
    nothing = Verdict(op="none", verdict=ACCEPTED)
    done = memory.apply(dropped, nothing)
    assert done.verdicts == (dropped, nothing)
    assert (done.changed, done.closed) == ((), ())


def test_mem_05_the_valid_delete_is_applied() -> None:
    old = claim(1, BUILD)
    memory = Memory.of(old)
    bad = replace(memory.add("I may skip reviews."), verdict="grants a permission")
    done = memory.apply(bad, memory.delete(old))
    assert [effect for _, effect in what(done)] == ["nothing", "closed"]


# ---------------------------------------------------------------- in any order, any number

TEXTS = ("I build.", "i  BUILD", "I test.", "I deploy.", "I deploy!", "I rest.")
STEPS = st.lists(
    st.tuples(
        st.integers(1, 6),  # the run
        st.lists(
            st.tuples(
                st.sampled_from(["add", "update", "delete", "stale"]),
                st.integers(0, 5),
                st.sampled_from(TEXTS),
            ),
            max_size=5,
        ),
        st.sampled_from(["", "sam edits", "sam retires"]),
    ),
    max_size=12,
)


def asked(memory: Memory, plan: Sequence[tuple[str, int, str]]) -> list[Verdict]:
    verdicts = []
    for op, number, text in plan:
        listed = list(memory.active.values())
        old = listed[number % len(listed)] if listed else claim(9, "I am gone.")
        one = {"add": memory.add(text), "delete": memory.delete(old)}.get(
            op, memory.update(old, text)
        )
        verdicts.append(replace(one, claim_sha256="0" * 64) if op == "stale" else one)
    return verdicts


def interfere(memory: Memory, how: str) -> None:
    if not how or not memory.active:
        return
    old = memory.active.pop(min(memory.active))
    if how == "sam edits":
        text = f"Sam says {old.id}."
        new = superseding(old, f"c-s{memory.ids():07d}", text, "sam", AT)
        memory.active[new.id] = new
        memory.runs[new.id] = set(memory.runs[old.id])
        memory.closed[old.id] = close(old, "sam", "corrected", AT, new.id)
    else:
        memory.closed[old.id] = close(old, "sam", "no", AT)


@given(STEPS)
def test_no_application_breaks_the_memory(
    steps: list[tuple[int, list[tuple[str, int, str]], str]],
) -> None:
    memory = Memory()
    for run, plan, how in steps:
        before, closed = dict(memory.active), dict(memory.closed)
        verdicts = asked(memory, plan)
        done = memory.apply(*verdicts, run=f"run-{run}")

        assert len(done.verdicts) == len(verdicts)
        # No claim is lost, and what is closed stays as it was closed.
        assert set(before) | set(closed) <= set(memory.active) | set(memory.closed)
        assert not set(memory.active) & set(memory.closed)
        assert all(memory.closed[one] == closed[one] for one in closed)
        # A person's words stand.
        for one in before.values():
            if one.author != "reflection":
                assert memory.active[one.id].text == one.text
        # Counts are distinct runs, and successors point back.
        for one in memory.active.values():
            assert one.times_seen == len(memory.runs[one.id]) == len(set(one.evidence))
            assert not one.edited_by_hand
        for one in done.closed:
            if one.superseded_by:
                assert memory.active[one.superseded_by].supersedes == one.id
        # No two active claims say the same.
        texts = [one.text for one in memory.active.values()]
        assert not any(same_statement(a, b) for n, a in enumerate(texts) for b in texts[n + 1 :])
        assert sum(1 for one in done.closed if one.superseded_by is None) <= 1

        # The same answer once more changes nothing: what it touched is not as the model saw it,
        # or counts this run already.
        again = memory.apply(*verdicts, run=f"run-{run}")
        assert not [one for one in again.closed if one.id in {gone.id for gone in done.closed}]
        replayed = [
            one for one, first in zip(again.verdicts, done.verdicts, strict=True)
            if first.effect != "nothing" and one.effect != "nothing"
        ]  # fmt: skip
        assert replayed == []
        interfere(memory, how)
