"""Claims: one first-person statement each, closed rather than deleted, sealed as written."""

from dataclasses import replace
from enum import StrEnum

from orgvault.digests import sha256
from orgvault.domain.ids import AGENT_ID, CARD_ID, CLAIM_ID, INSTANT, RUN_ID
from orgvault.domain.instants import normal
from orgvault.domain.record import says
from orgvault.values import dataclass

EVIDENCE_KEPT = 50
TEXT_CHARS = 400
BY_REFLECTION = "reflection"
BY_HAND = "hand"


class ClaimKind(StrEnum):
    """What sort of statement a claim is."""

    LESSON = "lesson"
    ANTI_PATTERN = "anti_pattern"
    PREFERENCE = "preference"
    FRICTION = "friction"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One file under `memory/<agent>/claims/`, or under `closed/` once it is closed."""

    version: int = says("Format version of the file.", default=1, minimum=1, maximum=1)
    id: str = says("The claim's id; the file is named after it.", pattern=CLAIM_ID)
    agent: str = says("Whose memory it is.", pattern=AGENT_ID)
    kind: ClaimKind = says("lesson, anti_pattern, preference or friction.")
    text: str = says("One first-person statement on one line.", max_chars=4000)
    evidence: tuple[str, ...] = says("The latest 50 runs that produced it.", pattern=RUN_ID)
    times_seen: int = says("Number of distinct runs that produced it.", minimum=0)
    first_seen: str = says("When it was first seen (UTC).", pattern=INSTANT, normal=normal)
    last_seen: str = says("When it was last seen (UTC).", pattern=INSTANT, normal=normal)
    written_by: str = says("reflection, or the operator or lead who wrote it.", max_chars=100)
    supersedes: str | None = says("The claim it replaced.", default=None, pattern=CLAIM_ID)
    proposal: str | None = says("The card it became, once proposed.", default=None, pattern=CARD_ID)
    proposed_evidence: tuple[str, ...] = says(
        "The evidence at that time.", default=(), pattern=RUN_ID
    )
    seal: str = says(
        "Hash of kind and text as orgvault wrote them; none: written by hand.",
        default="",
        pattern=r"(?:[0-9a-f]{16})?",
    )
    closed_at: str | None = says(
        "When it was closed (UTC).", default=None, pattern=INSTANT, normal=normal
    )
    closed_by: str | None = says("Who closed it.", default=None, max_chars=100)
    reason: str | None = says("Why it was closed.", default=None, max_chars=4000)
    superseded_by: str | None = says("The claim that replaced it.", default=None, pattern=CLAIM_ID)

    @property
    def active(self) -> bool:
        """Whether it has not been closed."""
        return self.closed_at is None

    @property
    def edited_by_hand(self) -> bool:
        """Whether kind or text are no longer what orgvault wrote."""
        return self.seal != seal(self.kind, self.text)

    @property
    def author(self) -> str:
        """Who stands behind its words: `hand` when the file was edited by hand."""
        return BY_HAND if self.edited_by_hand else self.written_by


def seal(kind: ClaimKind, text: str) -> str:
    """The hash that tells whether a claim still reads as orgvault wrote it."""
    return sha256(f"{kind}\n{text}".encode()).hexdigest()[:16]


def new_claim(
    claim_id: str, agent: str, kind: ClaimKind, text: str, run: str, at: str, by: str
) -> Claim:
    """A first sighting: one run of evidence."""
    return Claim(
        id=claim_id, agent=agent, kind=kind, text=text, evidence=(run,), times_seen=1,
        first_seen=at, last_seen=at, written_by=by, seal=seal(kind, text),
    )  # fmt: skip


def seen_again(claim: Claim, run: str, at: str, *, counted: bool) -> Claim:
    """The claim with one more run of evidence; unchanged when that run is counted already.

    The file keeps the latest 50 runs, so `counted` says whether an older run than those
    already stands behind the claim (the reflections log knows).
    """
    if run in claim.evidence or counted:
        return claim
    return replace(
        claim,
        evidence=(*claim.evidence, run)[-EVIDENCE_KEPT:],
        times_seen=claim.times_seen + 1,
        last_seen=max(claim.last_seen, at),
    )


def superseding(claim: Claim, claim_id: str, text: str, by: str, at: str) -> Claim:
    """A rewording: it inherits kind, evidence, count, first-seen date and proposal."""
    return replace(
        claim, id=claim_id, text=text, seal=seal(claim.kind, text), written_by=by,
        supersedes=claim.id, last_seen=max(claim.last_seen, at),
    )  # fmt: skip


def close(claim: Claim, by: str, reason: str, at: str, successor: str | None = None) -> Claim:
    """The claim closed: superseded when there is a successor, retired otherwise."""
    return replace(claim, closed_at=at, closed_by=by, reason=reason, superseded_by=successor)


def order(claim: Claim) -> tuple[int, str, str]:
    """Sort key of views and of core memory: most seen, then latest, then id."""
    return (-claim.times_seen, _descending(claim.last_seen), claim.id)


def _descending(text: str) -> str:
    return "".join(chr(0x10FFFF - ord(c)) for c in text)
