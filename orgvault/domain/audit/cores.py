"""core.md through history: every line of it comes from a claim that was active then."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import NamedTuple

from orgvault.domain.audit.documents import Kept, as_record, claim, seal
from orgvault.domain.audit.finding import Report, Rule
from orgvault.domain.audit.pair import Pair, Tree
from orgvault.domain.audit.places import ORG, spot
from orgvault.domain.claim import Claim
from orgvault.domain.core_memory import line, render
from orgvault.domain.roster import Roster

Masked = Callable[[str], str]

_ROOM = 1_000  # tokens: enough for a core without claims
# What a render writes around the claims; only of this form can the lines be judged.
_HEAD = "<!-- orgvault core 1: "
_AROUND = re.compile(
    r"|<!-- orgvault core 1: generated from the claims, do not edit -->"
    r"|> Left out for lack of room: \d+"
)
_TITLE = "# What "
_LINE = re.compile(r"- \(([a-z-]+), seen ([0-9]{1,9})\u00d7\) (.+)")


class Said(NamedTuple):
    """The kind and the words that a line of a core tells."""

    kind: str
    text: str


class Later(NamedTuple):
    """What claims came to say after a commit: in HEAD and on disk, and in people's hands before.

    `by_hand` and `rosters` grow as the history is walked, and are whole when the walk is over.
    """

    trees: Sequence[Tree]
    by_hand: Mapping[str, Sequence[Kept]]
    rosters: Callable[[], Sequence[Roster]]


def check(pair: Pair, later: Later, masked: Masked, report: Report) -> None:
    """Check each core.md that differs: its new lines are lines of active claims.

    Or of claims as they read `later`: a render takes a person's edit of a claim as it stands, and
    the person commits it when they like.

    Whether it is all that a render would write is looked at where it counts: in HEAD.
    """
    for one in pair.changes:
        if one.spot.kind == "core" and one.new is not None:
            core = _Core(pair, one.path, one.spot.agent, one.old or b"", later, masked)
            _check(core, one.new.decode(errors="replace"), report)


def _check(core: "_Core", text: str, report: Report) -> None:
    if not text.startswith(_HEAD):
        report.find(Rule.CORE_FOREIGN, core.path, f"it begins otherwise: {text[:60]}")
        return
    come = core.without_former(text)
    if come:  # nearly always they are lines of the claims that came with them
        come = core.without_beside(come)
    if come:
        come = core.without_standing(come)
    for found in come:
        broken = core.unsaid(found)
        if core.pair.facts.ours:
            what = f"rendered of a claim that nobody has committed: {found}"
            report.note_unless_mended(core.path, what, broken)
        else:
            report.find_unless_mended(Rule.CORE_FOREIGN, core.path, found, broken)


class _Core(NamedTuple):
    """A core.md that differs, and what its lines may rest on."""

    pair: Pair
    path: str
    agent: str
    old: bytes
    later: Later
    masked: Masked

    def without_former(self, text: str) -> list[str]:
        """The lines that were not there before, and tell something."""
        before = set(_split(self.old))
        return [
            one for one in text.splitlines() if one not in before and not _AROUND.fullmatch(one)
        ]

    def without_beside(self, come: list[str]) -> list[str]:
        """What is left without the lines of claims that have changed with the core."""
        near = {
            shown
            for one in self.pair.changes
            if one.spot.kind == "active" and one.spot.agent == self.agent
            for kept in [claim(one.new)]
            if kept is not None
            for shown in _lines(kept, self.masked)
        }
        return [one for one in come if one not in near]

    def without_standing(self, come: list[str]) -> list[str]:
        """What is left without the lines of all claims, of other parents, of former words."""
        every, there = self._standing(), list(active(self.pair.new, self.agent))
        known = every.union(*(_split(tree.read(self.path)) for tree in self.pair.others))
        come = [one for one in come if one not in known]
        come = [one for one in come if not any(said_before(kept, one) for kept in there)]
        return [one for one in come if not self._older(one)]

    def unsaid(self, found: str) -> Callable[[], bool]:
        """What tells, when the walk is over, whether no claim ever came to say a line."""
        if found.startswith(_TITLE):
            return partial(_untitled, self.later, self.agent, found)
        # Words that a claim has already, with another kind or count: a hand's doing only.
        known = _words(found) in set(map(_words, self._standing()))
        unsaid = _unsaid_by_hand if known else _unsaid
        return partial(unsaid, self.later, self.agent, found, self.masked)

    def _standing(self) -> set[str]:
        there = active(self.pair.new, self.agent)
        return {shown for kept in there for shown in _lines(kept, self.masked)}

    def _older(self, found: str) -> bool:
        """Whether a line tells what was seen more often since.

        What another branch has closed may have been seen more often on the one that told it.
        """
        told, tree, joins = _LINE.fullmatch(found), self.pair.new, self.pair.joins
        closed = _kept(tree, self.agent, "closed") if joins else ()
        return told is not None and any(
            (again := _LINE.fullmatch(shown)) is not None
            and (again[1], again[3]) == (told[1], told[3])
            and (joins or int(told[2]) <= kept.times_seen)
            for kept in (*active(tree, self.agent), *closed)
            for shown in _lines(kept, self.masked)
        )


def said_before(kept: Kept, found: str) -> Said | None:
    """What a line tells of a claim that was edited by hand, if its seal was made of that.

    A core that is not rendered since tells it as orgvault had written it.
    """
    told = _LINE.fullmatch(found)
    if told is None or kept.sealed:
        return None
    said = Said(told[1].replace("-", "_"), told[3])
    return said if seal(*said) == kept.seal and int(told[2]) <= kept.times_seen else None


def _untitled(later: Later, agent: str, found: str) -> bool:
    """Whether a title names somebody whom the agent was never called."""
    known = (roster.agents.get(agent) for roster in later.rosters())
    names = {one.name for one in known if one is not None}
    return not any(found in render(name, (), _ROOM, len).text.splitlines() for name in names)


def _unsaid(later: Later, agent: str, found: str, masked: Masked) -> bool:
    """Whether no claim came to have the words of a line, whatever its count is by now."""
    said = (shown for kept in _came(later, agent) for shown in _lines(kept, masked))
    return _words(found) not in set(map(_words, said))


def _unsaid_by_hand(later: Later, agent: str, found: str, masked: Masked) -> bool:
    """Whether no claim that was edited by hand came to read as a line does."""
    by_hand = (kept for kept in _came(later, agent) if not kept.sealed)
    return found not in {shown for kept in by_hand for shown in _lines(kept, masked)}


def _came(later: Later, agent: str) -> Iterator[Kept]:
    there = (kept for tree in later.trees for kept in active(tree, agent))
    return chain(there, later.by_hand.get(agent, ()))


def _split(content: bytes | None) -> list[str]:
    return (content or b"").decode(errors="replace").splitlines()


def _words(shown: str) -> str:
    """A line of a core without its kind and count."""
    return shown.partition("\u00d7) ")[2] or shown


def active(tree: Tree, agent: str) -> Iterator[Kept]:
    """The active claims of an agent, as its files tell them; one in closed/ is closed."""
    closed = frozenset(tree.names(f"{ORG}memory/{agent}/closed"))
    return (one for one in _kept(tree, agent, "claims", closed) if not one.closed_at)


def _kept(tree: Tree, agent: str, folder: str, but: frozenset[str] = frozenset()) -> Iterator[Kept]:
    """The readable claims in a folder of an agent's, `but` those whose files have these names."""
    for name in tree.names(f"{ORG}memory/{agent}/{folder}"):
        path = f"{ORG}memory/{agent}/{folder}/{name}"
        what = spot(path)
        if what.kind in {"active", "closed"} and name not in but:
            found = claim(tree.read(path))
            if found is not None and found.id == what.name:
                yield found


def come(before: Tree, after: Tree, agent: str, masked: Masked) -> set[str]:
    """The lines of the active claims whose files differ between two trees."""
    folder = f"{ORG}memory/{agent}/claims"
    return {
        shown
        for kept in active(after, agent)
        if before.read(f"{folder}/{kept.id}.yaml") != after.read(f"{folder}/{kept.id}.yaml")
        for shown in _lines(kept, masked)
    }


def tells(found: str) -> bool:
    """Whether a line of a core tells what a claim says."""
    return _LINE.fullmatch(found) is not None


def records(tree: Tree, agent: str, core: bytes = b"") -> list[Claim]:
    """The same as records, those that are in form.

    What was edited by hand reads as a `core` tells it, where that is how orgvault had written it.
    """
    told, found = _split(core), []
    for one in active(tree, agent):
        said = next(filter(None, (said_before(one, shown) for shown in told)), None)
        found.append(as_record(replace(one, kind=said.kind, text=said.text) if said else one))
    return [one for one in found if one is not None]


def _lines(kept: Kept, masked: Masked) -> Iterator[str]:
    record = as_record(kept)
    if record is not None:
        yield line(replace(record, text=masked(record.text))).rstrip("\n")
