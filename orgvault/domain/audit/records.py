"""Proposals, the ledger and the texts of runs: frozen, or written anew as their own data says."""

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Any

from orgvault.domain.audit.documents import document, text
from orgvault.domain.audit.finding import Report, Rule
from orgvault.domain.audit.pair import AGENTS, Changed, Facts, Pair, Tree
from orgvault.domain.audit.places import ORG
from orgvault.domain.audit.proof import Proof

# What may come to a proposal's file after it was filed.
_LATER = frozenset({"shipped_commit"})
# What changes in a ledger entry: whenever it asks to be undone, when measured, when taken back.
_ASKED = frozenset({"revert_card", "revert_refused"})
_MEASURED = frozenset({
    "after", "margin", "corrections", "cost", "verdict", "measured_at", "next_at", "confounders",
})  # fmt: skip
_TAKEN_BACK = frozenset({"reverted_by_person", "reverted_commit", "reverted_at", "next_at"})


def check(pair: Pair, proof: Proof, report: Report) -> None:
    """Check the proposals, ledger entries and texts that differ."""
    for one in pair.changes:
        # What another parent never had, a merge has not taken from it.
        if one.old == one.new or (one.new is not None and pair.taken(one.path, one.new)):
            continue
        _by_hand_of_agent(pair, one, report)
        if one.spot.kind in {"proposal", "diff"}:
            _proposal(pair, one, proof, report)
        elif one.spot.kind == "entry":
            _entry(pair, one, proof, report)
        elif one.spot.kind == "text":
            _text(pair, one, proof, report)


_OF_AGENT = {
    "proposal": Rule.PROPOSAL_CHANGED, "diff": Rule.PROPOSAL_CHANGED,
    "entry": Rule.LEDGER_CHANGED,
}  # fmt: skip


def _by_hand_of_agent(pair: Pair, one: Changed, report: Report) -> None:
    """Only commands write these, and none of theirs is an agent's own commit."""
    own = pair.by_agent_alone
    if own and one.spot.kind in _OF_AGENT and one.new is not None:
        report.find(_OF_AGENT[one.spot.kind], one.path, "in a commit of an agent's own")
    elif own and one.spot.kind == "text" and one.new is None:
        report.find(Rule.TEXT_DELETED, one.path, "in a commit of an agent's own")


def _proposal(pair: Pair, one: Changed, proof: Proof, report: Report) -> None:
    if one.new is None:
        report.find(Rule.PROPOSAL_DELETED, one.path, f"{one.spot.name} is gone")
        return
    record = f"{ORG}proposals/{one.spot.name}.yaml"
    filed = document(pair.new.read(record) or b"")
    if one.spot.kind == "diff":
        if one.old is not None:
            report.find(Rule.PROPOSAL_CHANGED, one.path, "the diff reads otherwise")
        elif filed is not None and text(filed, "diff_sha256") != sha256(one.new).hexdigest():
            report.find(Rule.PROPOSAL_CHANGED, one.path, "not the diff whose hash was filed")
        return
    if filed is None:
        report.note(one.path, "not readable as a proposal: `orgvault check`")
        return
    old = document(one.old) if one.old is not None else None
    if old is not None:
        for key in sorted({*old, *filed} - _LATER):
            if old.get(key) != filed.get(key):
                report.find(Rule.PROPOSAL_CHANGED, one.path, f"{key} reads otherwise")
    elif one.old is None:
        what = f"{one.spot.name} for {text(filed, 'path')}"
        report.find_unless_mended(
            Rule.PROPOSAL_UNPROVEN, one.path, what, lambda: one.spot.name not in proof.cards
        )


def _entry(pair: Pair, one: Changed, proof: Proof, report: Report) -> None:
    if one.new is None:
        if pair.facts.by_agent:
            report.find(Rule.LEDGER_CHANGED, one.path, "an agent took it out")
        else:
            report.note(one.path, f"taken out by {pair.facts.hand}, to be measured anew")
        return
    new = document(one.new)
    if new is None:
        report.note(one.path, "not readable as an entry: `orgvault check`")
        return
    if pair.new.read(f"{ORG}proposals/{one.spot.name}.yaml") is None:
        report.find(Rule.LEDGER_UNPROVEN, one.path, f"no proposal {one.spot.name}")
    if card := text(new, "revert_card"):
        proof.cards.setdefault(card, "")  # the ledger files what undoes a change
    old = document(one.old) if one.old is not None else None
    if old is not None:
        _measured(one.path, old, new, report)


def _measured(path: str, old: Mapping[str, Any], new: Mapping[str, Any], report: Report) -> None:
    """An entry's values change when it is measured anew, taken back, or shipped once more."""
    back = text(old, "reverted_at")
    if back and text(new, "shipped_at") > back and old.get("card") == new.get("card"):
        return  # an entry of its own: what was taken back stands in HEAD again
    free = set(_ASKED)
    if text(old, "measured_at") < text(new, "measured_at"):
        free |= _MEASURED
    if not back and text(new, "reverted_at"):
        free |= _TAKEN_BACK
    for key in sorted({*old, *new} - free):
        if old.get(key) != new.get(key):
            report.find(Rule.LEDGER_CHANGED, path, f"{key} reads otherwise")


def _text(pair: Pair, one: Changed, proof: Proof, report: Report) -> None:
    if one.new is not None:
        what = "it holds something else than its name says"
        proof.altered(one.spot.name, one.new, one.path, what, report)
    elif not any(roster.keep_run_days for roster in pair.rosters):
        report.find(Rule.TEXT_DELETED, one.path, "a text of a run is gone")


# ── what people edit ────────────────────────────────────────────────────────────────────────


def check_persons(pair: Pair, head: Tree, report: Report) -> None:
    """No agent edits what is people's, but for a proposal of its own that a person has shipped.

    `head` has the proposals: one that is picked or merged stands on a commit before its own record.
    """
    if not pair.facts.by_agent:
        return
    for one in pair.changes:
        if pair.merge and pair.taken(one.path, one.new):
            continue
        if one.spot.kind == "compiled":
            report.find(Rule.COMPILED_BY_AGENT, one.path, f"by {pair.facts.email}")
        elif one.spot.kind in {"source", "person"} and not _ships(pair.facts, head, one):
            report.find(Rule.PERSONS_FILE, one.path, f"edited by {pair.facts.email}")


def _ships(facts: Facts, head: Tree, one: Changed) -> bool:
    """Whether a commit is a proposal's own, as filed: a person has merged or picked it."""
    if facts.committer_email.endswith(AGENTS):
        return False
    for card in facts.trailers.get("Proposal", ()):
        filed = document(head.read(f"{ORG}proposals/{card}.yaml") or b"")
        diff = head.read(f"{ORG}proposals/{card}.diff")
        if filed is None or diff is None or one.old is None or one.new is None:
            continue
        right = text(filed, "diff_sha256") == sha256(diff).hexdigest()
        right = right and ORG + "org.yaml" == one.path == text(filed, "path")
        if right and list(_lines(one.old, one.new)) == list(_said(diff)):
            return True
    return False


def _lines(old: bytes, new: bytes) -> Iterator[tuple[str, bytes]]:
    """The lines that were taken out and put in, in order."""
    was, now = old.splitlines(), new.splitlines()
    for tag, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from (("-", line) for line in was[a:b])
            yield from (("+", line) for line in now[c:d])


def _said(diff: bytes) -> Iterator[tuple[str, bytes]]:
    body = False
    for line in diff.splitlines():
        if line.startswith(b"@@"):
            body = True
        elif body and line[:1] in {b"-", b"+"}:
            yield line[:1].decode(), line[1:]
