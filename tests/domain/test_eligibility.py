"""Whether a claim may become a proposal: each reason, and what takes it away."""

from dataclasses import replace

import pytest

from orgvault.domain.claim import Claim, ClaimKind, close, new_claim, seen_again
from orgvault.domain.eligibility import Filed, Reason, refusal, refusal_of_change
from orgvault.domain.proposal import Accepted, Edit, Proposal, Target
from orgvault.domain.roster import Agent, MemorySettings, SelfImprovementSettings

AT = "2026-11-20T09:00:00Z"
NOW = "2026-11-27T09:00:00Z"
CARD = "imp-00000001"


def agent(**settings: object) -> Agent:
    return Agent(
        id="nova", name="Nova",
        memory=MemorySettings(self_improvement=SelfImprovementSettings(**settings)),  # type: ignore[arg-type]
    )  # fmt: skip


def claim(runs: int = 2, kind: ClaimKind = ClaimKind.FRICTION) -> Claim:
    made = new_claim("c-00000001", "nova", kind, "I lose a turn.", "run-0", AT, "reflection")
    for number in range(1, runs):
        made = seen_again(made, f"run-{number}", AT, counted=False)
    return made


def proposed(one: Claim) -> Claim:
    """The claim as filing left it."""
    return replace(one, proposal=CARD, proposed_evidence=one.evidence)


EDIT = Edit(key="goal", before=("a",), after=("b",))


def filed(
    status: str = "open", *, card: str = CARD, created: str = AT, of: str = "nova",
    claim_id: str | None = "c-00000001", edits: tuple[Edit, ...] = (EDIT,),
) -> Filed:  # fmt: skip
    proposal = Proposal(
        id=card, agent=of, memory_id=claim_id, target=Target.OWN_PROMPT,
        path=".agents/org/org.yaml", edits=edits, base="0" * 40, base_blob="0" * 40,
        diff_sha256="0" * 64, created=created, expires="2026-12-20T09:00:00Z",
        reverts=None if claim_id else "imp-00000009",
    )  # fmt: skip
    return Filed(proposal, status)


def test_a_friction_or_an_anti_pattern_seen_often_enough_is_eligible() -> None:
    assert refusal(agent(), claim(), (), NOW) is None
    assert refusal(agent(), claim(kind=ClaimKind.ANTI_PATTERN), (), NOW) is None
    assert refusal(agent(repeat_threshold=5), claim(5), (), NOW) is None


@pytest.mark.parametrize(
    ("who", "what", "why"),
    [
        (agent(), claim(kind=ClaimKind.LESSON), Reason.KIND),
        (agent(), claim(kind=ClaimKind.PREFERENCE), Reason.KIND),
        (agent(), close(claim(), "sam", "done", NOW), Reason.CLOSED),
        (agent(), claim(1), Reason.SEEN_TOO_FEW),
        (agent(repeat_threshold=5), claim(4), Reason.SEEN_TOO_FEW),
        (agent(enabled=False), claim(), Reason.DISABLED),
        (agent(targets=()), claim(), Reason.NO_TARGET),
        (replace(agent(), memory_fault="bad"), claim(), Reason.BLOCK_INVALID),
        (replace(agent(), memory=MemorySettings(tiers=("core", "episodic"))), claim(),
         Reason.TIER_OFF),
        (agent(max_proposals_per_week=0), claim(), Reason.WEEK_IS_FULL),
    ],
)  # fmt: skip
def test_what_the_settings_and_the_claim_itself_forbid(
    who: Agent, what: Claim, why: Reason
) -> None:
    assert refusal(who, what, (), NOW) is why


def test_one_open_card_at_a_time() -> None:
    assert refusal(agent(), proposed(claim()), [filed()], NOW) is Reason.OPEN_CARD
    # Also where the claim's file does not say so: a merge took the older one.
    assert refusal(agent(), claim(), [filed()], NOW) is Reason.OPEN_CARD
    # And where it was reworded since: the new claim has the card of the old one.
    reworded = replace(proposed(claim()), id="c-00000002", supersedes="c-00000001")
    assert refusal(agent(), reworded, [filed()], NOW) is Reason.OPEN_CARD


def test_denied_stays_denied_until_another_run_shows_it() -> None:
    denied = proposed(claim(3))
    assert refusal(agent(), denied, [filed("closed")], NOW) is Reason.DENIED
    assert refusal(agent(), denied, (), NOW) is Reason.DENIED  # its files are gone
    fewer = replace(denied, evidence=denied.evidence[1:])
    assert refusal(agent(), fewer, [filed("closed")], NOW) is Reason.DENIED
    again = seen_again(denied, "run-9", NOW, counted=False)
    assert refusal(agent(), again, [filed("closed")], NOW) is None


@pytest.mark.parametrize("status", ["withdrawn", "shipped"])
def test_withdrawn_or_shipped_is_no_denial(status: str) -> None:
    assert refusal(agent(), proposed(claim()), [filed(status)], NOW) is None


def test_the_week_is_the_last_seven_days_to_the_second() -> None:
    just = filed("closed", created="2026-11-20T09:00:01Z", claim_id="c-00000007")
    old = filed("closed", created="2026-11-20T09:00:00Z", claim_id="c-00000007")
    theirs = filed("closed", created=NOW, of="atlas", claim_id="c-00000007")
    undoing = filed("open", created=NOW, claim_id=None, card="imp-00000008")
    assert refusal(agent(), claim(), [just], NOW) is Reason.WEEK_IS_FULL
    assert refusal(agent(max_proposals_per_week=2), claim(), [just], NOW) is None
    assert refusal(agent(), claim(), [old, theirs, undoing], NOW) is None


@pytest.mark.parametrize(
    ("sunday", "monday"),
    [
        ("2026-11-22T23:00:00Z", "2026-11-23T01:00:00Z"),
        ("2028-12-31T23:00:00Z", "2029-01-01T01:00:00Z"),  # another week, month and year
    ],
)
def test_time_03_a_new_week_or_year_does_not_let_a_second_one_through(
    sunday: str, monday: str
) -> None:
    earlier = filed("closed", created=sunday, claim_id="c-00000007")
    assert refusal(agent(), claim(), [earlier], monday) is Reason.WEEK_IS_FULL


def accepted(*edits: Edit, path: str = ".agents/org/org.yaml") -> Accepted:
    return Accepted(Target.OWN_PROMPT, path, edits, b"a", b"b", b"", (), 1, 1)


def test_the_same_images_are_not_proposed_twice() -> None:
    other = Edit(key="goal", before=("a",), after=("c",))
    before = [filed("withdrawn")]
    assert refusal_of_change(agent(), accepted(EDIT), before, dirty=False) is Reason.SAME_IMAGES
    assert refusal_of_change(agent(), accepted(other), before, dirty=False) is None
    assert refusal_of_change(agent(), accepted(EDIT, path="b"), before, dirty=False) is None
    theirs = [filed("withdrawn", of="atlas")]
    assert refusal_of_change(agent(), accepted(EDIT), theirs, dirty=False) is None


def test_the_target_must_be_enabled_and_its_file_committed() -> None:
    assert refusal_of_change(agent(), accepted(EDIT), (), dirty=True) is Reason.DIRTY
    skills = agent(targets=("own_skills",))
    assert refusal_of_change(skills, accepted(EDIT), (), dirty=False) is Reason.TARGET_OFF


def test_each_reason_reads_as_a_sentence() -> None:
    assert all(len(reason) > 15 and "\n" not in reason for reason in Reason)
    assert len(set(Reason)) == len(Reason)
