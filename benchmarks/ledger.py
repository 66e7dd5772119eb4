"""How often the ledger is right: three years of made-up episodes with planted effects.

An agent ships a proposal every ten weeks; for eight weeks its corrections and costs are
multiplied by what was planted, then all is as before.  `ledger.py [AGENTS]` prints a row for each
effect and amount of work: how often each verdict was given, and how often that was right.  A row
is *clear* where the planted effect is so far from the margin, in standard errors of the last
look, that this one should tell it in 99 of 100; there the verdict must be right in 95 of 100.
"""

import random
import sys
from collections import Counter
from collections.abc import Iterator
from math import log, sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from orgvault.domain.episode import Episode
from orgvault.domain.instants import days_before
from orgvault.domain.ledger import (
    FEWEST,
    LAST_DAYS,
    WINDOW_DAYS,
    Entry,
    Verdict,
    before_shipping,
    measured,
    next_look,
    window,
)
from orgvault.domain.wake import Outcome, Reason
from orgvault.values import dataclass

BEGIN = "2023-01-02T00:00:00Z"
CYCLE_DAYS = WINDOW_DAYS + LAST_DAYS
CYCLES = 3 * 365 // CYCLE_DAYS
MARGIN = 0.1
SHARE = 0.3  # of completed cards that are sent back
SPREAD = 0.8  # standard deviation of the cost of an episode, as a share of its mean
DONE = 0.85  # of episodes
PRICED = 0.9
AGENTS = 6
SEED = "ledger"
_CLEAR = 2.24 + 2.33  # what the interval takes, and what chance may take away
_KEEP, _REVERT, _OPEN = Verdict.KEEP, Verdict.REVERT, Verdict.NOT_ENOUGH_EVIDENCE


@dataclass(frozen=True)
class Effect:
    """What a proposal does: both numbers are multiplied."""

    name: str
    corrections: float
    cost: float


EFFECTS = (
    Effect("much better", 0.15, 0.45),
    Effect("better", 0.4, 0.7),
    Effect("fewer corrections only", 0.3, 1),
    Effect("none", 1, 1),
    Effect("worse by the margin", 1 + MARGIN, 1 + MARGIN),
    Effect("more corrections", 2.2, 1),
    Effect("dearer", 1, 1.7),
    Effect("worse", 2.2, 1.6),
)
PER_WEEK = (1.5, 6, 20, 60)  # completed cards


@dataclass(frozen=True)
class Result:
    """How many verdicts of each kind one effect got with so much work."""

    effect: Effect
    per_week: float
    verdicts: Counter[Verdict]

    @property
    def right(self) -> frozenset[Verdict]:
        """The verdicts that are right; where it is not clear, to say so is."""
        most = max(self.effect.corrections, self.effect.cost)
        told = _REVERT if most > 1 + MARGIN else _KEEP
        return frozenset({told} if self.clear else {told, _OPEN})

    @property
    def clear(self) -> bool:
        """Whether the last look should tell the effect."""
        most = max(distances(self.effect, self.per_week))
        return abs(most) >= _CLEAR and self.per_week * WINDOW_DAYS / 7 > FEWEST

    @property
    def share(self) -> float:
        """How often the verdict was right."""
        return sum(self.verdicts[one] for one in self.right) / self.verdicts.total()


def distances(effect: Effect, per_week: float) -> tuple[float, float]:
    """How far each number is beyond the margin at the last look, in standard errors."""
    cards = [per_week * WINDOW_DAYS / 7, per_week * LAST_DAYS / 7]
    shares = [SHARE, SHARE * effect.corrections]
    corrections = sqrt(
        sum((1 - share) / (share * n) for share, n in zip(shares, cards, strict=True))
    )
    cost = sqrt(sum((SPREAD**2 + 1 - DONE) / (n * PRICED) for n in cards))
    bar = log(1 + MARGIN)
    return (log(effect.corrections) - bar) / corrections, (log(effect.cost) - bar) / cost


def results(agents: int = AGENTS, per_week: tuple[float, ...] = PER_WEEK) -> Iterator[Result]:
    """Every effect with every amount of work."""
    for work in per_week:
        for effect in EFFECTS:
            yield Result(effect, work, Counter(verdicts(effect, work, agents)))


def verdicts(effect: Effect, per_week: float, agents: int) -> Iterator[Verdict]:
    """The last verdict on every proposal that the agents shipped in three years."""
    for agent in range(agents):
        chance = random.Random(f"{SEED} {effect.name} {per_week} {agent}")  # noqa: S311 - made up
        for cycle in range(CYCLES):
            begin = days_before(BEGIN, -CYCLE_DAYS * cycle)
            yield verdict(
                *cycle_of(effect, per_week, begin, chance), begin, f"{agent:04}{cycle:04}"
            )


def verdict(episodes: list[Episode], corrected: set[str], begin: str, number: str) -> Verdict:
    """What the ledger says in the end of the proposal that was shipped two weeks after `begin`."""
    shipped = days_before(begin, -WINDOW_DAYS)
    entry = Entry(
        card=f"imp-{number}", agent="nova", shipped_commit="0" * 40, shipped_at=shipped,
        shipped_by="Sam", before=window(episodes, corrected, *before_shipping(shipped)),
        next_at=next_look(shipped),
    )  # fmt: skip
    last = days_before(shipped, -LAST_DAYS)
    told = measured(entry, episodes, corrected, MARGIN, last).verdict
    assert told is not None  # noqa: S101 - every look is due by then
    return told


def cycle_of(
    effect: Effect, per_week: float, begin: str, chance: random.Random
) -> tuple[list[Episode], set[str]]:
    """The episodes of the weeks around a proposal, and the ids of those that were sent back."""
    number = round(per_week / DONE * CYCLE_DAYS / 7)
    sigma = sqrt(log(1 + SPREAD**2))
    episodes, corrected = [], set()
    for at in range(number):
        day = chance.random() * CYCLE_DAYS
        shipped = day >= WINDOW_DAYS
        share = SHARE * (effect.corrections if shipped else 1)
        cost = chance.lognormvariate(-(sigma**2) / 2, sigma) * (effect.cost if shipped else 1)
        done, back, priced = (chance.random() < one for one in (DONE, share, PRICED))
        one = episode(f"e-{at}", days_before(begin, -day), done=done, cost=cost if priced else None)
        episodes.append(one)
        if done and back:
            corrected.add(one.id)
    return episodes, corrected


def episode(name: str, finished_at: str, *, done: bool, cost: float | None) -> Episode:
    """One episode of which only what the ledger looks at is said."""
    return Episode(
        id=name, agent="nova", run=name, wakes=(), reason=Reason.TASK, card=None,
        outcome=Outcome.DONE if done else Outcome.BLOCKED, exit_code=0, turns=None,
        cost_usd=None if cost is None else round(cost, 6), duration_s=None, tokens_in=None,
        tokens_out=None, model="large-5", summary="", log=None, transcript=None,
        prompt_sha256=None, core_sha256=None, client=None, session=None, session_cost_usd=None,
        reflect_skipped=None, started_at=None, finished_at=finished_at,
    )  # fmt: skip


def main() -> int:
    """Print the table; 1 when a clear row is right less often than it should be."""
    agents = int(sys.argv[1]) if len(sys.argv) > 1 else AGENTS
    print(f"seed {SEED!r}, {agents} agents, {agents * CYCLES} proposals a row, margin {MARGIN:g}")
    print(f"{'planted':<23} cards/week   keep revert   open  right")
    wrong = 0
    for one in results(agents):
        shares = [one.verdicts[kind] / one.verdicts.total() for kind in (_KEEP, _REVERT, _OPEN)]
        told = " ".join(f"{share:6.1%}" for share in shares)
        mark = " clear" if one.clear else ""
        print(
            f"{one.effect.name:<23} {one.per_week:>10g} {told} {one.share:6.1%}{mark}", flush=True
        )
        wrong += one.clear and one.share < 0.95
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
