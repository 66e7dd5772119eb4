"""The ledger: what a shipped proposal did to the two numbers, measured before and after.

A number is compared as a ratio, after / before, with an interval (`intervals`) that holds the
true one, chance aside.  It got *worse* when all of the interval is above 1 + margin, it is *not
worse* when all of it is below, and otherwise nobody can say.  Two windows of few cards seldom say
anything, and a change that does nothing is hard to tell from one that does a tenth of harm: most
of those end as `not_enough_evidence`.

Either number alone can ask for undoing, so each has an interval of 0.975: both hold with 0.95
(Bonferroni).  A change is looked at up to seven times as well, and each look is another chance to
be misled; `benchmarks/ledger.py` prints how often all of them together are.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from enum import StrEnum

from orgvault.domain.episode import Episode
from orgvault.domain.ids import AGENT_ID, CARD_ID, CLAIM_ID, INSTANT
from orgvault.domain.instants import days_before, normal
from orgvault.domain.record import says
from orgvault.domain.wake import Outcome
from orgvault.values import dataclass

WINDOW_DAYS = 14
AGAIN_DAYS = 7
LAST_DAYS = 56
FEWEST = 5  # completed cards in a window
LEVEL = 0.975
CONFOUNDER_CHARS = 500
# With no case among n the share is below 3 / n, with a confidence of 0.95 (Hanley, Lippman-Hand: If
# nothing goes wrong, is everything all right?, JAMA 249, 1983).
_RULE_OF_THREE = 3


class Verdict(StrEnum):
    """What the two windows say of a change."""

    KEEP = "keep"
    REVERT = "revert"
    NOT_ENOUGH_EVIDENCE = "not_enough_evidence"


@dataclass(frozen=True, kw_only=True)
class Window:
    """What an agent's episodes that finished in some weeks came to, in the words of the stats."""

    since: str = says("Its first instant (UTC).", pattern=INSTANT, normal=normal)
    until: str = says("The instant that ends it (UTC).", pattern=INSTANT, normal=normal)
    episodes: int = says("Finished runs.", minimum=0)
    done: int = says("Those that finished done: completed cards.", minimum=0)
    corrected: int = says("Those whose work was sent back.", minimum=0)
    cost_usd: float | None = says("Their known costs together; null: none is known.", minimum=0)
    priced: int = says("Those whose cost is known.", minimum=0)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """How a number changed, after / before: 1 is no change, 1.1 a tenth more."""

    observed: float | None = says("As it was observed; null: nothing before.", minimum=0)
    low: float = says("The lower bound of its interval.", minimum=0)
    high: float = says("The upper bound.", minimum=0)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """`ledger/<card>.yaml`: the measurement of one shipped proposal."""

    version: int = says("Format version of the file.", default=1, minimum=1, maximum=1)
    card: str = says("The proposal's card; the file is named after it.", pattern=CARD_ID)
    agent: str = says("Whose change it is.", pattern=AGENT_ID)
    memory_id: str | None = says("The claim it answers.", default=None, pattern=CLAIM_ID)
    reverts: str | None = says("The card that it undoes.", default=None, pattern=CARD_ID)
    shipped_commit: str = says("The commit that brought it.", pattern=r"[0-9a-f]{40,64}")
    shipped_at: str = says("When that was (UTC).", pattern=INSTANT, normal=normal)
    shipped_by: str = says("Who made that commit.", max_chars=200)
    before: Window = says("The two weeks up to shipping, as known when that was noticed.")
    after: Window | None = says("The weeks since, as far as they were measured.", default=None)
    margin: float | None = says(
        "How much worse a number may get, as a share.", default=None, minimum=0, maximum=1
    )
    corrections: Compared | None = says("Corrections per completed card.", default=None)
    cost: Compared | None = says("Cost per completed card; null: not known.", default=None)
    verdict: Verdict | None = says(
        "keep, revert or not_enough_evidence; null: not measured yet.", default=None
    )
    measured_at: str | None = says(
        "When it was measured last (UTC).", default=None, pattern=INSTANT, normal=normal
    )
    next_at: str | None = says(
        "When it is measured next (UTC); null: never again.",
        default=None,
        pattern=INSTANT,
        normal=normal,
    )
    confounders: tuple[str, ...] = says(
        "What else may be behind the difference.", default=(), max_chars=CONFOUNDER_CHARS
    )
    revert_card: str | None = says("The card that asks to undo it.", default=None, pattern=CARD_ID)
    revert_refused: str | None = says(
        "Why a verdict of revert filed no such card.", default=None, max_chars=1000
    )
    reverted_by_person: str | None = says("Who undid it.", default=None, max_chars=200)
    reverted_commit: str | None = says(
        "The commit that did.", default=None, pattern=r"[0-9a-f]{40,64}"
    )
    reverted_at: str | None = says(
        "When that was (UTC).", default=None, pattern=INSTANT, normal=normal
    )


@dataclass(frozen=True)
class Judged:
    """A verdict with how the two numbers changed; None for one that cannot be told."""

    verdict: Verdict
    corrections: Compared | None
    cost: Compared | None


# ── windows ─────────────────────────────────────────────────────────────────────────────────


def before_shipping(shipped_at: str) -> tuple[str, str]:
    """The bounds of the window before."""
    return days_before(shipped_at, WINDOW_DAYS), shipped_at


def next_look(shipped_at: str, done: str | None = None) -> str | None:
    """When a change is looked at next, if a look covered it until `done`; None: never again."""
    if done is None:
        return days_before(shipped_at, -WINDOW_DAYS)
    if done >= days_before(shipped_at, -LAST_DAYS):
        return None
    return days_before(done, -AGAIN_DAYS)


def within(episodes: Sequence[Episode], since: str, until: str) -> list[Episode]:
    """Those that finished from one instant on and before another, by row id."""
    found = [one for one in episodes if since <= one.finished_at < until]
    return sorted(found, key=lambda one: one.id)


def window(
    episodes: Sequence[Episode], corrected: Collection[str], since: str, until: str
) -> Window:
    """What the episodes of a window come to; `corrected` holds ids of episodes."""
    own = within(episodes, since, until)
    costs = [cost for one in own if (cost := _micro(one)) is not None]
    return Window(
        since=since, until=until, episodes=len(own), done=sum(map(_is_done, own)),
        corrected=sum(one.id in corrected for one in own),
        cost_usd=sum(costs) / 1e6 if costs else None, priced=len(costs),
    )  # fmt: skip


def _is_done(one: Episode) -> bool:
    return one.outcome is Outcome.DONE


def _micro(one: Episode) -> int | None:
    return None if one.cost_usd is None else round(one.cost_usd * 1e6)


def measured(
    entry: Entry, episodes: Sequence[Episode], corrected: Collection[str], margin: float, now: str
) -> Entry:
    """The entry with every look that is due taken, one after the other until a verdict stands.

    So it does not matter how often anybody looks.  `episodes` and `corrected` are what is known
    now.  The entry itself when nothing is due.
    """
    while entry.next_at is not None and entry.next_at <= now:
        until = entry.next_at
        after = window(episodes, corrected, entry.shipped_at, until)
        judged = judge(entry.card, entry.before, after, episodes, margin)
        told = judged.verdict is not Verdict.NOT_ENOUGH_EVIDENCE
        entry = replace(
            entry, after=after, margin=margin, corrections=judged.corrections, cost=judged.cost,
            verdict=judged.verdict, measured_at=now,
            next_at=None if told else next_look(entry.shipped_at, until),
        )  # fmt: skip
    return entry


def in_words(one: Compared) -> str:
    """How a number changed, as a person reads it."""
    seen = "" if one.observed is None else f"×{one.observed:g}, "
    return f"{seen}between ×{one.low:g} and ×{one.high:g}"


# ── what else may be behind a difference ────────────────────────────────────────────────────


def others_shipped(entry: Entry, entries: Sequence[Entry]) -> list[str]:
    """Other changes of the agent that came, or were taken back, within the two windows."""
    until = entry.after.until if entry.after else entry.shipped_at
    found = []
    for one in entries:
        if one.agent != entry.agent or one.card == entry.card:
            continue
        for what, at in (("shipped", one.shipped_at), ("taken back", one.reverted_at)):
            if at is not None and entry.before.since <= at < until:
                found.append(f"{one.card} was {what} on {at[:10]}")
    return sorted(found)


def other_models(entry: Entry, episodes: Sequence[Episode]) -> list[str]:
    """Whether other models ran after shipping than before; runs of no known model say nothing."""
    if entry.after is None:
        return []
    before, after = (
        sorted({one.model for one in within(episodes, side.since, side.until) if one.model})
        for side in (entry.before, entry.after)
    )
    if not before or not after or before == after:
        return []
    return [_bounded(f"the model changed: {', '.join(before)}, then {', '.join(after)}")]


def _bounded(text: str) -> str:
    return text if len(text) <= CONFOUNDER_CHARS else text[: CONFOUNDER_CHARS - 1] + "…"


# ── the verdict ─────────────────────────────────────────────────────────────────────────────


class _Says(StrEnum):
    """What one number says."""

    WORSE = "worse"
    NOT_WORSE = "not worse"
    NOTHING = "nothing"


def judge(
    card: str, before: Window, after: Window, episodes: Sequence[Episode], margin: float
) -> Judged:
    """Compare two windows; `episodes` are at least those that finished in them.

    Costs are compared among the episodes whose cost is known.  Where it is known of none, in
    either window, corrections alone decide.  The card's id is the seed.
    """
    if min(before.done, after.done) < FEWEST:
        return Judged(Verdict.NOT_ENOUGH_EVIDENCE, None, None)
    corrections = _corrections(before, after)
    cost = _cost(card, before, after, episodes)
    said = [_said(corrections, margin)]
    if not (before.corrected or after.corrected) and _rare(min(before.done, after.done), margin):
        said = [_Says.NOT_WORSE]
    if before.priced or after.priced:
        said.append(_said(cost, margin))
    if _Says.WORSE in said:
        return Judged(Verdict.REVERT, corrections, cost)
    keep = set(said) == {_Says.NOT_WORSE}
    verdict = Verdict.KEEP if keep else Verdict.NOT_ENOUGH_EVIDENCE
    return Judged(verdict, corrections, cost)


def _corrections(before: Window, after: Window) -> Compared:
    from orgvault.domain.intervals import of_shares

    # `task redo` sends back what was done: more corrections than that come from rows by hand.
    sides = [(min(one.corrected, one.done), one.done) for one in (before, after)]
    found = of_shares(sides[0], sides[1], LEVEL)
    return Compared(observed=found.observed, low=found.low, high=found.high)


def _cost(card: str, before: Window, after: Window, episodes: Sequence[Episode]) -> Compared | None:
    sides = [
        [
            (cost, int(_is_done(one)))
            for one in within(episodes, window.since, window.until)
            if (cost := _micro(one)) is not None
        ]
        for window in (before, after)
    ]
    if min(sum(done for _, done in side) for side in sides) < FEWEST:
        return None
    from orgvault.domain.intervals import of_means

    found = of_means(sides[0], sides[1], card, LEVEL)
    return Compared(observed=found.observed, low=found.low, high=found.high)


def _said(change: Compared | None, margin: float) -> _Says:
    if change is None:
        return _Says.NOTHING
    if change.low > 1 + margin:
        return _Says.WORSE
    return _Says.NOT_WORSE if change.high <= 1 + margin else _Says.NOTHING


def _rare(done: int, margin: float) -> bool:
    """Whether no correction among so many cards means that fewer than the margin need one.

    Work that is never sent back has no ratio, and is not worse for that.
    """
    return done * margin >= _RULE_OF_THREE
