"""What accepted operations do to the claims: in one step, and the same however often it is done."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from orgvault.domain.claim import (
    BY_REFLECTION,
    Claim,
    ClaimKind,
    close,
    new_claim,
    order,
    seen_again,
    superseding,
)
from orgvault.domain.folding import statement_key
from orgvault.domain.operation import ACCEPTED, NOT_ITS_OWN, SECOND_DELETE, SECOND_OPERATION
from orgvault.domain.reflection import Verdict
from orgvault.values import dataclass

STALE = "stale"
RETIRED = "equal to a retired claim"
REPLACED = "equal to a claim whose successor was retired"
KNOWN = "equal to another active claim"
# What only the claims at the moment of applying show, not the answer that was judged before.
FOUND_IN_APPLYING = frozenset({STALE, RETIRED, REPLACED, KNOWN, SECOND_OPERATION})


@dataclass(frozen=True)
class Applied:
    """What an application did.

    `verdicts` are the final ones, in order, with effects and claim ids; `changed` the active
    claims that are new or have changed, `closed` those that were active before.  Both are to be
    written together, or neither.
    """

    verdicts: tuple[Verdict, ...]
    changed: tuple[Claim, ...]
    closed: tuple[Claim, ...]


def apply(  # noqa: PLR0913 - each is one fact about the application, passed by name
    verdicts: Sequence[Verdict],
    active: Sequence[Claim],
    closed: Sequence[Claim],
    *,
    agent: str,
    run: str,
    at: str,
    new_id: Callable[[], str],
    counted: Callable[[str], bool],
    sha256_now: Mapping[str, str],
) -> Applied:
    """Apply the accepted verdicts to an agent's claims as they stand now.

    `counted(claim_id)` says whether `run` stands behind that claim already, although its file no
    longer lists it (it keeps 50 runs); `sha256_now` are the hashes of the active claims' files.
    A claim that is not as the model saw it is left alone, its operation is `stale`.
    """
    work = _Work(agent, run, at, new_id, counted, sha256_now)
    # The most seen last, so that it is the one that a repeat finds (merges can make equal ones).
    for claim in sorted(active, key=order, reverse=True):
        work.active[claim.id] = claim
        work.by_text[statement_key(claim.text)] = claim.id
    for claim in closed:
        work.bury(claim)
    before = dict(work.active)
    settled = tuple(work.settle(one) for one in verdicts)
    changed = tuple(one for one in work.active.values() if one is not before.get(one.id))
    return Applied(settled, changed, tuple(work.closed_now))


@dataclass(frozen=True)
class _Work:
    """The claims while one answer's verdicts are settled, one after the other.

    `active` and `gone` are by id; `by_text` (ids) and `closed` by what `same_statement` compares.
    """

    agent: str
    run: str
    at: str
    new_id: Callable[[], str]
    counted: Callable[[str], bool]
    sha256_now: Mapping[str, str]
    active: dict[str, Claim] = field(default_factory=dict)
    by_text: dict[str, str] = field(default_factory=dict)
    closed: dict[str, list[Claim]] = field(default_factory=dict)
    gone: dict[str, Claim] = field(default_factory=dict)
    closed_now: list[Claim] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)

    def bury(self, claim: Claim) -> None:
        self.closed.setdefault(statement_key(claim.text), []).append(claim)
        self.gone[claim.id] = claim

    def _retired(self, key: str) -> Claim | None:
        """A retired claim with that text: it was refused, whatever else was closed with it."""
        return next((one for one in self.closed.get(key, ()) if not one.superseded_by), None)

    def _heir(self, claim: Claim) -> Claim | None:
        """The end of a superseded claim's chain, active or retired; None where it is broken."""
        passed = {claim.id}
        while claim.superseded_by:
            heir = self.active.get(claim.superseded_by) or self.gone.get(claim.superseded_by)
            if heir is None or heir.supersedes != claim.id or heir.id in passed:
                return None
            passed.add(heir.id)
            claim = heir
        return claim

    def settle(self, one: Verdict) -> Verdict:
        if one.verdict != ACCEPTED or one.op == "none":
            return one
        if one.op == "add":
            return self._add(one)
        claim = self.active.get(one.claim_id or "")
        if claim is None or self.sha256_now.get(claim.id) != one.claim_sha256:
            changed = one.claim_id not in self.touched
            return replace(one, verdict=STALE if changed else SECOND_OPERATION)
        if claim.id in self.touched:
            return replace(one, verdict=SECOND_OPERATION)
        if one.op == "delete":
            return self._delete(one, claim)
        if statement_key(one.text) == statement_key(claim.text):
            return self._repeat(one, claim)
        return self._reword(one, claim)

    def _add(self, one: Verdict) -> Verdict:
        key = statement_key(one.text)
        known = self.active.get(self.by_text.get(key, ""))
        if known is not None:
            if known.id in self.touched:
                return replace(one, verdict=SECOND_OPERATION, claim_id=known.id)
            return self._repeat(one, known)
        retired = self._retired(key)
        if retired is not None:
            return replace(one, verdict=RETIRED, claim_id=retired.id)
        if one.claim_id is None:
            heirs = [(claim, self._heir(claim)) for claim in self.closed.get(key, ())]
            for _, heir in heirs:
                if heir is not None and heir.active:
                    if heir.id in self.touched:
                        return replace(one, verdict=SECOND_OPERATION, claim_id=heir.id)
                    return self._repeat(one, heir)
            for claim, heir in heirs:
                if heir is not None:
                    return replace(one, verdict=REPLACED, claim_id=claim.id)
        else:  # it repeated a claim that no longer says so
            return replace(one, verdict=STALE)
        claim = new_claim(
            self.new_id(), self.agent, ClaimKind(one.kind), one.text, self.run, self.at,
            BY_REFLECTION,
        )  # fmt: skip
        self._keep(claim)
        return replace(one, claim_id=claim.id, effect="added")

    def _repeat(self, one: Verdict, claim: Claim) -> Verdict:
        again = seen_again(claim, self.run, self.at, counted=self.counted(claim.id))
        self._keep(again)
        effect = "nothing" if again is claim else "repeated"
        return replace(one, claim_id=claim.id, effect=effect)

    def _reword(self, one: Verdict, claim: Claim) -> Verdict:
        if claim.author != BY_REFLECTION:
            return replace(one, verdict=NOT_ITS_OWN)
        key = statement_key(one.text)
        if key in self.by_text:
            return replace(one, verdict=KNOWN)
        if self._retired(key) is not None:
            return replace(one, verdict=RETIRED)
        successor = superseding(claim, self.new_id(), one.text, BY_REFLECTION, self.at)
        self._close(claim, one.why or "reworded", successor.id)
        self._keep(successor)
        return replace(one, claim_id=successor.id, effect="superseded")

    def _delete(self, one: Verdict, claim: Claim) -> Verdict:
        if claim.author != BY_REFLECTION:
            return replace(one, verdict=NOT_ITS_OWN)
        if any(done.superseded_by is None for done in self.closed_now):
            return replace(one, verdict=SECOND_DELETE)
        self._close(claim, one.why or "it no longer holds", None)
        return replace(one, effect="closed")

    def _keep(self, claim: Claim) -> None:
        self.active[claim.id] = claim
        self.by_text[statement_key(claim.text)] = claim.id
        self.touched.add(claim.id)

    def _close(self, claim: Claim, reason: str, successor: str | None) -> None:
        del self.active[claim.id]
        self.by_text.pop(statement_key(claim.text), None)
        done = close(claim, BY_REFLECTION, reason, self.at, successor)
        self.closed_now.append(done)
        self.bury(done)
        self.touched.add(claim.id)
