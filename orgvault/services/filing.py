"""Filing a proposal: what passed the gate becomes a card that a person applies or closes."""

from collections.abc import Sequence
from dataclasses import replace

from orgvault.digests import sha256
from orgvault.domain.card_file import write_card
from orgvault.domain.claim import Claim
from orgvault.domain.claim_file import updated_claim_text
from orgvault.domain.episode import Episode
from orgvault.domain.instants import days_before
from orgvault.domain.patch import unified
from orgvault.domain.proposal import Accepted, Proposal
from orgvault.domain.proposal_card import body, card
from orgvault.domain.proposal_file import write_proposal
from orgvault.domain.roster import Agent
from orgvault.errors import AlreadySo
from orgvault.services.desk import Desk, sound
from orgvault.store.cards import Cards
from orgvault.store.claims import Claims
from orgvault.store.proposals import Proposals
from orgvault.store.vault import Change

EXPIRY_DAYS = 30


def file_proposal(  # noqa: PLR0913, PLR0917 - whatever a card is made of
    desk: Desk,
    change: Change,
    agent: Agent,
    claim: Claim | None,
    accepted: Accepted,
    rationale: str,
    evidence: Sequence[Episode],
    base: str,
    base_blob: str,
    at: str,
    *,
    reverts: str | None = None,
) -> Proposal:
    """Write the card, `<id>.yaml` and `<id>.diff` of a proposal into a change that is open.

    The only place where a card with a diff is made: it takes what the gate accepted.  With a
    `claim` that claim's file says what it became; with `reverts`, the id of the card that it
    undoes, the card is of kind `revert`.  `base` is the commit and `base_blob` git's id of the
    file that the diff was made on.  Raises AlreadySo when the claim is no longer active.
    """
    diff = unified(accepted.path, accepted.old, accepted.new)
    runs = claim.evidence if claim else tuple(dict.fromkeys(one.run for one in evidence))
    proposal = Proposal(
        id=desk.new_id("imp"), agent=agent.id, memory_id=claim.id if claim else None,
        reverts=reverts, target=accepted.target, path=accepted.path, edits=accepted.edits,
        base=base, base_blob=base_blob, diff_sha256=sha256(diff).hexdigest(),
        flags=accepted.flags, evidence=runs, created=at, expires=days_before(at, -EXPIRY_DAYS),
    )  # fmt: skip
    sound(proposal)
    words = desk.masked(rationale)
    shown = [replace(one, summary=desk.masked(one.summary)) for one in evidence]
    note = card(proposal, agent.name)
    sound(note)
    text = write_card(note, body(proposal, words, shown, diff, desk.vault.prefix))
    change.write(Cards(desk.vault, desk.roster.pages_folder).path(proposal.id), text)
    change.write(Proposals.path(proposal.id), write_proposal(proposal))
    change.write(Proposals.diff_path(proposal.id), diff.decode())
    if claim is not None:
        _mark(change, claim, proposal.id)
    return proposal


def _mark(change: Change, claim: Claim, card_id: str) -> None:
    """Say in a claim's file which card it became, and on what evidence."""
    for stored in Claims(change).active(claim.agent):
        if stored.claim.id == claim.id:
            evidence = stored.claim.evidence
            marked = replace(stored.claim, proposal=card_id, proposed_evidence=evidence)
            change.write(stored.path, updated_claim_text(stored.text, marked))
            return
    raise AlreadySo(claim.id, "closed", "a closed claim asks for nothing any more")
