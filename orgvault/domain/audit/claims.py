"""Claims from commit to commit: each lives on, closes once, is frozen then, and is proven."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from orgvault.domain.audit.actors import may
from orgvault.domain.audit.documents import Kept, claim, document, text
from orgvault.domain.audit.finding import Report, Rule
from orgvault.domain.audit.pair import Pair, Tree
from orgvault.domain.audit.places import ORG, claim_path
from orgvault.domain.audit.proof import Proof

REFLECTION = "reflection"
_LISTED = 50  # runs that a claim's file lists, the latest
_FIXED = ("id", "agent", "first_seen", "written_by", "supersedes")


class _State(NamedTuple):
    """The file of a claim in one tree: where it counts, and what it holds."""

    folder: str  # "claims", "closed", or "" when there is none
    path: str
    content: bytes | None
    twice: bool = False  # it stands among the active ones, too


class Claims:
    """The rules of claims over a whole history; remembers what was last readable of each."""

    def __init__(self, proof: Proof, report: Report, head: Tree) -> None:
        self._proof = proof
        self._report = report
        self._head = head
        self._readable: dict[tuple[str, str], Kept] = {}
        self._gone: set[tuple[str, str]] = set()
        self._closed_since: set[tuple[str, str]] = set()
        self.by_hand: dict[str, list[Kept]] = {}  # by agent: what people have made claims say

    def check(self, pair: Pair) -> None:
        """Check every claim that differs between a commit and one of its parents."""
        for agent, name in _touched(pair):
            old, new = _states(pair, agent, name)
            if not new.folder:
                if old.folder:
                    self._lost(pair, agent, name, old)
            elif not old.folder and (agent, name) in self._gone:
                self._came_back(pair, new, agent, name)
            elif not old.folder:
                self._born(pair, new, agent, name)
            elif old.folder == "closed":
                self._frozen(pair, old, new)
            else:
                self._lived(pair, old, new, agent, name)

    def _lost(self, pair: Pair, agent: str, name: str, old: _State) -> None:
        moved = [
            one.spot.agent
            for one in pair.changes
            if one.spot.name == name and one.spot.agent != agent and one.new is not None
        ]
        if moved:
            self._report.find(Rule.CLAIM_MOVED, old.path, f"{name} stands with {moved[0]} now")
            return
        # A claim that is being closed is for a moment in neither folder.
        key = (agent, name)
        self._gone.add(key)
        kept = claim(old.content)
        if kept is not None:
            self._readable[key] = kept
        what = f"{name}, which stood in {old.folder}/, is gone"
        self._report.find_unless_mended(
            Rule.CLAIM_DELETED, old.path, what,
            lambda: old.folder == "closed" or key not in self._closed_since,
        )  # fmt: skip

    def _came_back(self, pair: Pair, state: _State, agent: str, name: str) -> None:
        self._gone.discard((agent, name))
        if state.folder == "closed":
            self._closed_since.add((agent, name))
        self._lived(pair, _State("claims", state.path, None), state, agent, name)

    def _frozen(self, pair: Pair, old: _State, new: _State) -> None:
        if new.folder != "closed":
            self._report.find(Rule.CLAIM_REOPENED, new.path, "a closed claim is active again")
            return
        if old.content != new.content and not pair.taken(new.path, new.content):
            was, now = claim(old.content), claim(new.content)
            if pair.joins and was and now:
                # Another branch, which did not know that it was closed, saw, edited or closed it.
                again = _closing(was) != _closing(now)
                self._words(pair, was, now, new.path)
                self._growth(pair, was, now, new.path, apart=again)
                if again:
                    self._report.note(new.path, "it was closed otherwise on another branch")
                    self._closed(pair, now, new.path)
            else:
                self._report.find(Rule.CLAIM_FROZEN, new.path, "a closed claim reads otherwise")
        if new.twice and not old.twice:
            if pair.joins:
                self._report.note(new.path, "it stands among the active claims, too")
            else:
                self._report.find(Rule.CLAIM_REOPENED, new.path, "a closed claim is active, too")

    def _read(self, state: _State, agent: str, name: str) -> Kept | None:
        """What a file says; where it cannot be read, None, and what it said before stays."""
        found = claim(state.content)
        if found is None or found.id != name or found.agent != agent:
            what = "no claim of that name" if found else "not readable as a claim"
            self._report.note(state.path, f"{what}: `orgvault check`")
            return None
        return found

    # ── a claim that is there for the first time ────────────────────────────────────────────

    def _born(self, pair: Pair, state: _State, agent: str, name: str) -> None:
        new = self._read(state, agent, name)
        if new is None:
            return
        self._readable[agent, name] = new
        self._seen(new)
        self._closed_in_its_place(pair, None, new, state)
        if new.sealed or self._proof.without_secret(new.text):
            self._made(pair, new, state.path)
        elif pair.facts.by_agent and not pair.merge:
            self._report.find(Rule.HAND_OF_AGENT, state.path, f"{name} was written by hand")
        else:
            self._report.note(state.path, f"{name} was written or edited by hand: {new.text}")
        former = self._former(pair, new, state.path)
        if former is not None:
            # Another branch may have replaced what this one had gone on to see.
            self._growth(pair, former, new, state.path, apart=pair.joins)
        else:
            self._shown(pair, new, set(), state.path)
            known = len(self._proof.runs(agent, self._line(pair, new)))
            if new.times_seen > known + (not new.sealed):
                what = f"seen {new.times_seen}×, by {known} known runs"
                self._report.find(Rule.COUNT_UNPROVEN, state.path, what)
        if state.folder == "closed":
            self._closed(pair, new, state.path)

    def _made(self, pair: Pair, new: Kept, path: str) -> None:
        if new.written_by == REFLECTION:
            if not self._proof.made(new.agent, new.id):
                self._report.find(Rule.CLAIM_UNPROVEN, path, f"{new.id}: {new.text}")
            elif not self._proof.worded(new.agent, new.id, new.kind, new.text):
                what = f"no reflection said: ({new.kind}) {new.text}"
                self._report.find(Rule.CLAIM_UNPROVEN, path, what)
        elif not new.supersedes:
            self._report.find(Rule.CLAIM_UNPROVEN, path, f"no command adds one: {new.text}")
        elif not may(new.written_by, "correct", new.agent, pair.rosters):
            self._report.find(Rule.NOT_ALLOWED, path, f"{new.id} was written by {new.written_by}")

    def _former(self, pair: Pair, new: Kept, path: str) -> Kept | None:
        """The claim that this one replaced."""
        if not new.supersedes:
            return None
        former = _find(pair.new, new.agent, new.supersedes)
        if former is None:
            what = f"it replaced {new.supersedes}, which is not there"
            self._report.find_unless_mended(
                Rule.CHAIN_BROKEN, path, what,
                lambda: _find(self._head, new.agent, new.supersedes) is None,
            )  # fmt: skip
        elif former.superseded_by != new.id and not pair.joins:

            def broken() -> bool:
                now = _find(self._head, former.agent, former.id)
                return now is None or now.superseded_by != new.id

            what = f"it replaced {former.id}, which does not say so"
            self._report.find_unless_mended(Rule.CHAIN_BROKEN, path, what, broken)
        return former

    # ── a claim that was active ─────────────────────────────────────────────────────────────

    def _lived(self, pair: Pair, was: _State, state: _State, agent: str, name: str) -> None:
        new = self._read(state, agent, name)
        old = claim(was.content) or self._readable.get((agent, name))
        if new is None:
            if old is not None:
                self._readable.setdefault((agent, name), old)
            if pair.facts.by_agent and not pair.merge:
                self._report.find(Rule.HAND_OF_AGENT, state.path, "it cannot be read any more")
            elif name.encode() not in (state.content or b""):
                self._report.find_unless_mended(
                    Rule.CLAIM_DELETED, state.path, f"its file does not hold {name} any more",
                    partial(self._unheld, agent, name),
                )  # fmt: skip
            return
        self._readable[agent, name] = new
        self._seen(new)
        if old is None:
            return
        self._closed_in_its_place(pair, old, new, state)
        if not pair.taken(state.path, state.content):
            self._words(pair, old, new, state.path)
        self._growth(pair, old, new, state.path, apart=_closed_apart(pair, old, new))
        if state.folder == "closed":
            self._closed(pair, new, state.path)

    def _unheld(self, agent: str, name: str) -> bool:
        """Whether HEAD has no file that holds a claim of that id where it belongs."""
        found = _find(self._head, agent, name)
        return found is None or found.id != name

    def _words(self, pair: Pair, old: Kept, new: Kept, path: str) -> None:
        for one in _FIXED:
            if getattr(old, one) != getattr(new, one):
                what = f"{one} is {getattr(new, one)}, and was {getattr(old, one)}"
                self._report.find(Rule.CLAIM_REWRITTEN, path, what)
        if not _closed_apart(pair, old, new):
            self._dates_and_card(pair, old, new, path)
        edited = (old.kind, old.text) != (new.kind, new.text)
        if new.seal != old.seal and new.seal:
            self._report.find(Rule.SEAL_FORGED, path, "its seal was made anew")
        elif edited and pair.facts.by_agent and not pair.merge and not _passed_on(pair, old, new):
            self._report.find(Rule.HAND_OF_AGENT, path, f"{old.text} → {new.text}")
        elif edited:
            self._report.note(path, f"edited by hand by {pair.facts.hand}: {old.text} → {new.text}")

    def _dates_and_card(self, pair: Pair, old: Kept, new: Kept, path: str) -> None:
        if new.last_seen != old.last_seen:
            if set(new.evidence) <= set(old.evidence):
                self._report.find(Rule.CLAIM_REWRITTEN, path, "last_seen moved without a run")
            elif new.last_seen > self._proof.latest(new.agent, self._line(pair, new)):
                what = f"last_seen is {new.last_seen}, long after any run that showed it"
                self._report.find(Rule.CLAIM_REWRITTEN, path, what)
        if new.proposal != old.proposal and not self._filed(pair, new):
            self._report.find(Rule.CLAIM_REWRITTEN, path, f"proposal is {new.proposal or 'none'}")
        elif new.proposal == old.proposal and new.proposed_evidence != old.proposed_evidence:
            self._report.find(Rule.CLAIM_REWRITTEN, path, "proposed_evidence without a proposal")

    def _filed(self, pair: Pair, new: Kept) -> bool:
        """Whether the card that a claim names was filed for it, or one that it replaced."""
        about = self._proof.cards.get(new.proposal)
        if about is None:
            filed = document(pair.new.read(f"{ORG}proposals/{new.proposal}.yaml") or b"")
            about = text(filed, "memory_id") if filed is not None else ""
        return about in self._line(pair, new)

    def _growth(self, pair: Pair, old: Kept, new: Kept, path: str, *, apart: bool) -> None:
        """Evidence and counts only grow, but where another branch had closed it (`apart`)."""
        less = self._less if apart else self._report.find
        known = set(old.evidence)
        dropped = known - set(new.evidence)
        if dropped and len(new.evidence) < _LISTED:
            less(Rule.EVIDENCE_DROPPED, path, f"no longer shown by {', '.join(sorted(dropped))}")
        self._shown(pair, new, known, path)
        more = new.times_seen - old.times_seen
        if more < 0:
            less(Rule.COUNT_LOWERED, path, f"seen {new.times_seen}×, and was {old.times_seen}×")
        fresh = set(new.evidence) - known
        if more > 0 and len(fresh) >= _LISTED:
            fresh = self._proof.runs(new.agent, self._line(pair, new)) - known
        if more > len(fresh):
            what = f"seen {more}× more, by {len(fresh)} new runs"
            self._report.find(Rule.COUNT_UNPROVEN, path, what)

    def _less(self, rule: Rule, path: str, what: str) -> None:
        self._report.note(path, f"{rule}: {what}; it was closed on another branch")

    def _shown(self, pair: Pair, new: Kept, known: set[str], path: str) -> None:
        """Every run that came to the evidence is one that a reflection has said it of."""
        come = [one for one in dict.fromkeys(new.evidence) if one not in known]
        if come:
            proven = self._proof.runs(new.agent, self._line(pair, new))
            for one in come:
                if one not in proven:
                    self._report.find(
                        Rule.EVIDENCE_UNPROVEN, path, f"{one} is no run that showed it"
                    )

    def _line(self, pair: Pair, new: Kept) -> list[str]:
        """The claim and those it replaced, one after the other."""
        found = [new.id]
        at: Kept | None = new
        while at is not None and at.supersedes and at.supersedes not in found:
            found.append(at.supersedes)
            at = _find(pair.new, new.agent, at.supersedes)
        return found

    def _seen(self, new: Kept) -> None:
        if not new.sealed:
            self.by_hand.setdefault(new.agent, []).append(new)

    def _closed_in_its_place(self, pair: Pair, old: Kept | None, new: Kept, state: _State) -> None:
        """A claim that says that it is closed, and stands among the active ones: no command does.

        It counts for nothing any more, and is not frozen.
        """
        if state.folder == "closed" or not new.closed_at or (old is not None and old.closed_at):
            return

        def still() -> bool:
            now = claim(self._head.read(state.path))
            return now is not None and bool(now.closed_at)

        what = f"{new.id} was closed by hand by {pair.facts.hand}, and is not in closed/"
        self._report.find_unless_mended(Rule.CLOSE_UNPROVEN, state.path, what, still)

    # ── a claim that is closed ──────────────────────────────────────────────────────────────

    def _closed(self, pair: Pair, new: Kept, path: str) -> None:
        if not new.closed_at or not new.closed_by:
            self._report.find(Rule.CLOSE_UNPROVEN, path, "it does not say who closed it, and when")
        elif new.closed_by != REFLECTION:
            if not may(new.closed_by, "correct", new.agent, pair.rosters):
                self._report.find(Rule.NOT_ALLOWED, path, f"closed by {new.closed_by}")
        elif not (
            self._proof.made(new.agent, new.superseded_by)
            if new.superseded_by
            else self._proof.closed(new.agent, new.id)
        ):
            self._report.find(Rule.CLOSE_UNPROVEN, path, f"closed as: {new.reason}")
        if new.superseded_by:
            what = f"{new.superseded_by}, which replaced it, does not say so"
            heir = _find(pair.new, new.agent, new.superseded_by)
            if heir is None or heir.supersedes != new.id:
                self._report.find_unless_mended(
                    Rule.CHAIN_BROKEN, path, what, lambda: self._unled(new)
                )

    def _unled(self, gone: Kept) -> bool:
        """Whether HEAD has no claim that says that it replaced this one."""
        heir = _find(self._head, gone.agent, gone.superseded_by)
        return heir is None or heir.supersedes != gone.id


def _closing(kept: Kept) -> tuple[str, str, str, str]:
    return kept.closed_at, kept.closed_by, kept.reason, kept.superseded_by


def _closed_apart(pair: Pair, old: Kept, new: Kept) -> bool:
    """Whether a claim that one branch has closed comes to another, which had gone on with it."""
    return pair.joins and not old.closed_at and bool(new.closed_at)


def _passed_on(pair: Pair, old: Kept, new: Kept) -> bool:
    """Whether a command of ours has closed a claim, or seen it again, as it stood on disk.

    What a person had edited there, and not committed, then comes with that command's commit.
    """
    done = (new.closed_at and not old.closed_at) or set(new.evidence) - set(old.evidence)
    return bool(done) and not pair.by_agent_alone


def _touched(pair: Pair) -> Iterator[tuple[str, str]]:
    spots = (one.spot for one in pair.changes if one.spot.kind in {"active", "closed"})
    yield from dict.fromkeys((one.agent, one.name) for one in spots)


def _states(pair: Pair, agent: str, name: str) -> tuple[_State, _State]:
    """The claim in the parent and in the child; the trees are asked only for what may differ."""
    active, closed = (claim_path(agent, name, one) for one in ("claims", "closed"))
    changed = {one.path: one for one in pair.changes if one.path in {active, closed}}
    at_active, at_closed = changed.get(active), changed.get(closed)
    if at_active and not at_closed and at_active.old and at_active.new:
        return _State("claims", active, at_active.old), _State("claims", active, at_active.new)
    a_old, a_new = (
        (at_active.old, at_active.new)
        if at_active
        else (pair.old.read(active), pair.new.read(active))
    )
    c_old, c_new = (
        (at_closed.old, at_closed.new)
        if at_closed
        else (pair.old.read(closed), pair.new.read(closed))
    )
    return _state(active, a_old, closed, c_old), _state(active, a_new, closed, c_new)


def _state(active: str, a: bytes | None, closed: str, c: bytes | None) -> _State:
    if c is not None:
        return _State("closed", closed, c, twice=a is not None)
    return _State("claims", active, a) if a is not None else _State("", active, None)


def _find(tree: Tree, agent: str, name: str) -> Kept | None:
    """A claim, closed or active."""
    for folder in ("closed", "claims"):
        found = claim(tree.read(claim_path(agent, name, folder)))
        if found is not None:
            return found
    return None
