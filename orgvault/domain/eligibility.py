"""Whether a claim may become a proposal now; each reason against it is a sentence."""

from collections.abc import Sequence
from enum import StrEnum

from orgvault.domain.claim import Claim, ClaimKind
from orgvault.domain.instants import days_before
from orgvault.domain.proposal import Accepted, Edit, Proposal, Target
from orgvault.domain.roster import Agent
from orgvault.values import dataclass

KINDS = frozenset({ClaimKind.FRICTION, ClaimKind.ANTI_PATTERN})
WEEK_DAYS = 7
OPEN = "open"
DENIED = "closed"


class Reason(StrEnum):
    """Why a claim is not eligible."""

    BLOCK_INVALID = "the agent's memory block is invalid: run `orgvault check`"
    DISABLED = "self-improvement is disabled for this agent"
    TIER_OFF = "the semantic tier is off for this agent, so that no claim counts"
    NO_TARGET = "no target of self-improvement is enabled for this agent"
    TARGET_OFF = "this target of self-improvement is not enabled for this agent"
    KIND = "only a friction or an anti-pattern asks for a change"
    CLOSED = "the claim is closed"
    SEEN_TOO_FEW = "the claim was not seen in enough runs yet (`repeat_threshold`)"
    OPEN_CARD = "the claim has an open card already"
    DENIED = "its last card was closed unshipped, and no further run has shown it since"
    WEEK_IS_FULL = "the agent has filed as many proposals in the last 7 days as it may"
    SAME_IMAGES = "the same change was proposed before"
    DIRTY = "the file has changes that are not committed: commit them first"


@dataclass(frozen=True)
class Filed:
    """A proposal that was filed, and the status of its card (`closed` when the note is gone)."""

    proposal: Proposal
    status: str


def refusal(agent: Agent, claim: Claim, filed: Sequence[Filed], now: str) -> Reason | None:
    """Why no change may be asked for because of a claim; None when one may.

    `filed` are all proposals, of any agent; `now` is an instant.
    """
    settings = agent.memory.self_improvement
    cards = {one.proposal.id: one for one in filed}
    last = cards.get(claim.proposal or "")
    rules = (
        (bool(agent.memory_fault), Reason.BLOCK_INVALID),
        (not settings.enabled, Reason.DISABLED),
        ("semantic" not in agent.memory.tiers, Reason.TIER_OFF),
        (not settings.targets, Reason.NO_TARGET),
        (not claim.active, Reason.CLOSED),
        (claim.kind not in KINDS, Reason.KIND),
        (claim.times_seen < settings.repeat_threshold, Reason.SEEN_TOO_FEW),
        (_has_open(claim, last, filed), Reason.OPEN_CARD),
        (_is_denied(claim, last) and not _is_fresh(claim), Reason.DENIED),
        (_in_last_week(agent, filed, now) >= settings.max_proposals_per_week, Reason.WEEK_IS_FULL),
    )
    return next((reason for holds, reason in rules if holds), None)


def refusal_of_change(
    agent: Agent, accepted: Accepted, filed: Sequence[Filed], *, dirty: bool
) -> Reason | None:
    """Why a change that passed the gate is not filed all the same; None when it is.

    `dirty`: its file differs from HEAD.
    """
    if accepted.target not in agent.memory.self_improvement.targets:
        return Reason.TARGET_OFF
    if dirty:
        return Reason.DIRTY
    images = _images(accepted.target, accepted.path, accepted.edits)
    own = (one.proposal for one in filed if one.proposal.agent == agent.id)
    before = (_images(one.target, one.path, one.edits) for one in own if one.reverts is None)
    return Reason.SAME_IMAGES if images in before else None


def _has_open(claim: Claim, last: Filed | None, filed: Sequence[Filed]) -> bool:
    """Whether a card of the claim is open, also one that its file does not name (a merge)."""
    if last is not None and last.status == OPEN:
        return True
    return any(one.status == OPEN and one.proposal.memory_id == claim.id for one in filed)


def _is_denied(claim: Claim, last: Filed | None) -> bool:
    """Whether its last card was denied; one of which nothing is left counts as denied."""
    return claim.proposal is not None and (last is None or last.status == DENIED)


def _is_fresh(claim: Claim) -> bool:
    """Whether a run has shown the claim that did not stand behind its last proposal."""
    return not set(claim.evidence) <= set(claim.proposed_evidence)


def _in_last_week(agent: Agent, filed: Sequence[Filed], now: str) -> int:
    since = days_before(now, WEEK_DAYS)
    return sum(
        one.proposal.agent == agent.id
        and one.proposal.reverts is None
        and one.proposal.created > since
        for one in filed
    )


def _images(
    target: Target, path: str, edits: Sequence[Edit]
) -> tuple[Target, str, frozenset[Edit]]:
    return target, path, frozenset(edits)
