"""core.md through history: every line of it comes from a claim that was active then."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import NamedTuple

from orgvault.domain.audit.documents import Kept, as_record, claim, seal
from orgvault.domain.audit.finding import Report, Rule
from orgvault.domain.audit.pair import Changed, Pair, Tree
from orgvault.domain.audit.places import ORG, spot
from orgvault.domain.claim import Claim
from orgvault.domain.core_memory import line, render
from orgvault.domain.roster import Roster

# What a render writes around the claims; only of this form can the lines be judged.
_ROOM = 1_000
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


def check(pair: Pair, later: Later, masked: Callable[[str], str], report: Report) -> None:
    """Check each core.md that differs: its new lines are lines of active claims.

    Or of claims as they read `later`: a render takes a person's edit of a claim as it stands, and
    the person commits it when they like.

    Whether it is all that a render would write is looked at where it counts: in HEAD.
    """
    for one in pair.changes:
        if one.spot.kind == "core" and one.new is not None:
            _check(pair, one, later, masked, report)


def _check(
    pair: Pair, one: Changed, later: Later, masked: Callable[[str], str], report: Report
) -> None:
    text = (one.new or b"").decode(errors="replace")
    if not text.startswith(_HEAD):
        report.find(Rule.CORE_FOREIGN, one.path, f"it begins otherwise: {text[:60]}")
        return
    before = set((one.old or b"").decode(errors="replace").splitlines())
    come = [
        found for found in text.splitlines() if found not in before and not _AROUND.fullmatch(found)
    ]
    if come:
        near = {
            shown
            for other in pair.changes
            if other.spot.kind == "active" and other.spot.agent == one.spot.agent
            for kept in [claim(other.new)]
            if kept is not None
            for shown in _lines(kept, masked)
        }
        come = [found for found in come if found not in near]
    if come:
        there = list(active(pair.new, one.spot.agent))
        if pair.joins:
            come = [
                found for found in come if not _elsewhere(pair.new, one.spot.agent, found, masked)
            ]
        every = {shown for kept in there for shown in _lines(kept, masked)}
        others = "\n".join(
            (tree.read(one.path) or b"").decode(errors="replace") for tree in pair.others
        ).splitlines()
        known = set(map(_words, every))
        for found in come:
            if found in every or found in others or any(said_before(kept, found) for kept in there):
                continue
            if found.startswith(_TITLE):
                broken = partial(_untitled, later, one.spot.agent, found)
            else:
                # Words that a claim has already, with another kind or count: a hand's doing only.
                unsaid = _unsaid_by_hand if _words(found) in known else _unsaid
                broken = partial(unsaid, later, one.spot.agent, found, masked)
            if pair.facts.ours:
                what = f"rendered of a claim that nobody has committed: {found}"
                report.note_unless_mended(one.path, what, broken)
            else:
                report.find_unless_mended(Rule.CORE_FOREIGN, one.path, found, broken)


def said_before(kept: Kept, found: str) -> Said | None:
    """What a line tells of a claim that was edited by hand, if its seal was made of that.

    A core that is not rendered since tells it as orgvault had written it.
    """
    told = _LINE.fullmatch(found)
    if told is None or kept.sealed:
        return None
    said = Said(told[1].replace("-", "_"), told[3])
    return said if seal(*said) == kept.seal and int(told[2]) <= kept.times_seen else None


def _elsewhere(tree: Tree, agent: str, found: str, masked: Callable[[str], str]) -> bool:
    """Whether a line tells what another branch has closed, or seen more often, by now."""
    told = _LINE.fullmatch(found)
    return told is not None and any(
        _words(shown) == _words(found) and int(told[2]) <= kept.times_seen
        for kept in (*active(tree, agent), *_kept(tree, agent, "closed"))
        for shown in _lines(kept, masked)
    )


def _untitled(later: Later, agent: str, found: str) -> bool:
    """Whether a title names somebody whom the agent was never called."""
    known = (roster.agents.get(agent) for roster in later.rosters())
    names = {one.name for one in known if one is not None}
    return not any(found in render(name, (), _ROOM, len).text.splitlines() for name in names)


def _unsaid(later: Later, agent: str, found: str, masked: Callable[[str], str]) -> bool:
    """Whether no claim came to have the words of a line, whatever its count is by now."""
    said = (shown for kept in _came(later, agent) for shown in _lines(kept, masked))
    return _words(found) not in set(map(_words, said))


def _unsaid_by_hand(later: Later, agent: str, found: str, masked: Callable[[str], str]) -> bool:
    """Whether no claim that was edited by hand came to read as a line does."""
    by_hand = (kept for kept in _came(later, agent) if not kept.sealed)
    return found not in {shown for kept in by_hand for shown in _lines(kept, masked)}


def _came(later: Later, agent: str) -> Iterator[Kept]:
    there = (kept for tree in later.trees for kept in active(tree, agent))
    return chain(there, later.by_hand.get(agent, ()))


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


def records(tree: Tree, agent: str, core: bytes = b"") -> list[Claim]:
    """The same as records, those that are in form.

    What was edited by hand reads as a `core` tells it, where that is how orgvault had written it.
    """
    told = core.decode(errors="replace").splitlines()
    found = []
    for one in active(tree, agent):
        said = next(filter(None, (said_before(one, shown) for shown in told)), None)
        found.append(as_record(replace(one, kind=said.kind, text=said.text) if said else one))
    return [one for one in found if one is not None]


def _lines(kept: Kept, masked: Callable[[str], str]) -> Iterator[str]:
    record = as_record(kept)
    if record is not None:
        yield line(replace(record, text=masked(record.text))).rstrip("\n")
