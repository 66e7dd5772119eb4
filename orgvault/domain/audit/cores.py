"""core.md through history: every line of it comes from a claim that was active then."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from orgvault.domain.audit.documents import Kept, as_record, claim
from orgvault.domain.audit.finding import Report, Rule
from orgvault.domain.audit.pair import Changed, Pair, Tree
from orgvault.domain.audit.places import ORG, spot
from orgvault.domain.claim import Claim
from orgvault.domain.core_memory import line

# What a render writes around the claims; only of this form can the lines be judged.
_HEAD = "<!-- orgvault core 1: "
_AROUND = re.compile(
    r"|<!-- orgvault core 1: generated from the claims, do not edit -->"
    r"|# What [^\n]{1,100} has learned|> Left out for lack of room: \d+"
)


class Later(NamedTuple):
    """What claims came to say after a commit: in HEAD and on disk, and in people's hands before.

    `by_hand` grows as the history is walked, and is whole when the walk is over.
    """

    trees: Sequence[Tree]
    by_hand: Mapping[str, Sequence[Kept]]


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
        every = {
            shown for kept in active(pair.new, one.spot.agent) for shown in _lines(kept, masked)
        }
        others = "\n".join(
            (tree.read(one.path) or b"").decode(errors="replace") for tree in pair.others
        ).splitlines()
        known = set(map(_words, every))
        for found in come:
            if found in every or found in others:
                continue
            # Words that a claim has already, with another kind or count: a hand's doing only.
            unsaid = _unsaid_by_hand if _words(found) in known else _unsaid
            report.find_unless_mended(
                Rule.CORE_FOREIGN, one.path, found,
                partial(unsaid, later, one.spot.agent, found, masked),
            )  # fmt: skip


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
    folder = f"{ORG}memory/{agent}"
    closed = set(tree.names(f"{folder}/closed"))
    for name in tree.names(f"{folder}/claims"):
        path = f"{folder}/claims/{name}"
        what = spot(path)
        if what.kind == "active" and name not in closed:
            found = claim(tree.read(path))
            if found is not None and found.id == what.name and not found.closed_at:
                yield found


def records(tree: Tree, agent: str) -> list[Claim]:
    """The same as records, those that are in form."""
    found = (as_record(one) for one in active(tree, agent))
    return [one for one in found if one is not None]


def _lines(kept: Kept, masked: Callable[[str], str]) -> Iterator[str]:
    record = as_record(kept)
    if record is not None:
        from dataclasses import replace

        yield line(replace(record, text=masked(record.text))).rstrip("\n")
