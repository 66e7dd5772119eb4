"""Judging what a model asked of the claims: each operation by itself, the first fault wins."""

from collections.abc import Mapping, Sequence
from dataclasses import field

from orgvault.domain.answer import RawOperation
from orgvault.domain.claim import BY_REFLECTION, Claim, ClaimKind
from orgvault.domain.evidence import QUOTE_CHARS, Sources, about, only_read, quote_length, sources
from orgvault.domain.folding import fold, same_statement
from orgvault.domain.masking import mask
from orgvault.domain.reflection import Question, Verdict
from orgvault.domain.statement import Fault, grant_fault, statement_fault
from orgvault.values import dataclass

AT_MOST = 5
STARTS_CHARS = 10
LONGEST_QUOTE = 120
ACCEPTED = "accepted"

# Why an operation was dropped: fixed sentences, since the stats count by them.
TOO_MANY = "more than five operations"
NOT_AN_OPERATION = "not an operation: add, update, delete or none"
NOT_A_KIND = "not a kind: lesson, anti_pattern, preference or friction"
NO_SUCH_CLAIM = "the claim's number is not in the list"
OTHER_CLAIM = "the first words are not that claim's"
SHORT_QUOTE = "the evidence is shorter than 12 characters"
LONG_QUOTE = "the evidence is longer than 120 characters"
NO_QUOTE = "the evidence does not stand in the run"
TOLD_TO_REMEMBER = "the evidence is an order to remember something"
OFF_SUBJECT = "the evidence is about something else than the claim"
ONLY_READ = "an address or a command that was only read in a tool's result"
SECOND_DELETE = "a second delete in one run"
NOT_ITS_OWN = "the claim was written by a person"
PREFERENCE_READ = "a preference needs more than a tool's result"
SECOND_OPERATION = "a second operation on one claim"
TWICE = "the same claim twice in one answer"

_LIMITS = {"op": 40, "claim_starts": 1000, "kind": 40, "text": 4000, "why": 4000, "evidence": 2000}


def judge(
    operations: Sequence[RawOperation],
    question: Question,
    *,
    others: Mapping[str, str],
    protected: tuple[str, ...],
    sha256: Mapping[str, str],
) -> tuple[Verdict, ...]:
    """One verdict for each operation, in order: `accepted`, or why it was dropped.

    `others` are the ids of all other agents with their display names; `protected` the vault's
    protected places beside the built-in ones; `sha256` the hash of each shown claim's file as
    the model saw it, by claim id.  Secrets are masked in every verdict.
    """
    case = _Case(question, others, protected, sources(question))
    verdicts = []
    for at, operation in enumerate(operations):
        fault = case.fault(operation) if at < AT_MOST else TOO_MANY
        if not fault:
            case.accepted.append(operation)
        verdicts.append(_verdict(operation, fault or ACCEPTED, case.concerned(operation), sha256))
    return tuple(verdicts)


@dataclass(frozen=True)
class _Case:
    """What one answer is judged by, and the operations accepted so far."""

    question: Question
    others: Mapping[str, str]
    protected: tuple[str, ...]
    said: Sources
    accepted: list[RawOperation] = field(default_factory=list)

    def fault(self, one: RawOperation) -> str:
        """The first fault of an operation in the order of the table of checks; empty for none."""
        if one.op == "none":
            return ""
        return (
            _form_fault(one)
            or self._target_fault(one)
            or self._evidence_fault(one)
            or self._text_fault(one)
            or self._right_fault(one)
            or self._grant_fault(one)
            or self._twice_fault(one)
        )

    def target(self, one: RawOperation) -> Claim | None:
        """The claim that an update or a delete is about; None for a number outside the list."""
        if one.op not in {"update", "delete"} or one.claim is None:
            return None
        listed = 1 <= one.claim <= len(self.question.claims)
        return self.question.claims[one.claim - 1] if listed else None

    def concerned(self, one: RawOperation) -> Claim | None:
        """The listed claim that an operation would touch, an add by saying it again included."""
        return self._repeated(one) if one.op == "add" else self.target(one)

    def _repeated(self, one: RawOperation) -> Claim | None:
        """The listed claim that the operation merely says again: its words are judged already."""
        if one.op == "delete":
            return None
        target = self.target(one)
        known = (target,) if target else self.question.claims
        return next((claim for claim in known if same_statement(claim.text, one.text)), None)

    def _target_fault(self, one: RawOperation) -> str:
        if one.op == "add":
            return ""
        target = self.target(one)
        if target is None:
            return NO_SUCH_CLAIM
        given, text = fold(one.claim_starts).strip(" '.").rstrip(), fold(target.text)
        whole = same_statement(one.claim_starts, target.text)
        long_enough = len(given) >= STARTS_CHARS and text.strip("'").startswith(given)
        return "" if whole or long_enough else OTHER_CLAIM

    def _evidence_fault(self, one: RawOperation) -> str:
        if quote_length(one.evidence) < QUOTE_CHARS:
            return SHORT_QUOTE
        if len(one.evidence.strip()) > LONGEST_QUOTE:
            return LONG_QUOTE
        if not self.said.hold(one.evidence):
            return NO_QUOTE
        if self.said.ordered(one.evidence):
            return TOLD_TO_REMEMBER
        target = self.target(one)
        if one.op == "delete" and target and not about(one.evidence, target.text):
            return OFF_SUBJECT
        return ""

    def _text_fault(self, one: RawOperation) -> str:
        if one.op == "delete":
            return ""
        if self._repeated(one):
            return Fault.MASKED if mask(one.text)[1] else ""
        if only_read(one.text, self.said):
            return ONLY_READ
        return statement_fault(one.text, self.others, self.protected)

    def _right_fault(self, one: RawOperation) -> str:
        if one.op == "delete" and any(other.op == "delete" for other in self.accepted):
            return SECOND_DELETE
        target = self.target(one)
        if target and target.author != BY_REFLECTION and not self._repeated(one):
            return NOT_ITS_OWN
        return ""

    def _grant_fault(self, one: RawOperation) -> str:
        if one.op == "delete":
            return ""
        known = self._repeated(one)
        if known is None and (fault := grant_fault(one.text)):
            return fault
        claim = self.concerned(one)
        preference = (claim.kind if claim else one.kind) == ClaimKind.PREFERENCE
        return PREFERENCE_READ if preference and not self.said.own(one.evidence) else ""

    def _twice_fault(self, one: RawOperation) -> str:
        touched = self.concerned(one)
        for other in self.accepted:
            if touched and touched == self.concerned(other):
                return SECOND_OPERATION
            if "delete" not in {one.op, other.op} and same_statement(one.text, other.text):
                return TWICE
        return ""


def _form_fault(one: RawOperation) -> str:
    if one.op not in {"add", "update", "delete"}:
        return NOT_AN_OPERATION
    return NOT_A_KIND if one.op == "add" and one.kind not in set(ClaimKind) else ""


def _verdict(
    one: RawOperation, verdict: str, claim: Claim | None, sha256: Mapping[str, str]
) -> Verdict:
    # Masked before it is cut: half a secret is recognised by nobody.
    kept = {name: mask(getattr(one, name))[0][:limit] for name, limit in _LIMITS.items()}
    return Verdict(
        **kept,
        claim=one.claim,
        verdict=verdict,
        claim_id=claim.id if claim else None,
        claim_sha256=sha256.get(claim.id) if claim else None,
    )
