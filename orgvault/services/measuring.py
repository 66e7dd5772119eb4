"""What an agent's work came to: the two numbers a shipped proposal is judged by, and the counts.

Money is summed in whole micro-dollars and time in whole milliseconds, so that the sums are the
same in whatever order, and on whatever machine, the rows are added up.
"""

from collections import Counter
from collections.abc import Iterable

from orgvault.adapters.statistics import Tables
from orgvault.domain.card import Card
from orgvault.domain.claim import ClaimKind
from orgvault.domain.instants import days_before
from orgvault.domain.operation import ACCEPTED
from orgvault.domain.problem import Problem
from orgvault.domain.reflection import Result
from orgvault.domain.wake import Outcome
from orgvault.services.desk import Desk
from orgvault.services.gathering import CORRECTIONS, EPISODES, REFLECTIONS, gather
from orgvault.store.cards import Cards
from orgvault.store.claims import ACTIVE, CLOSED, Claims
from orgvault.values import dataclass

LOGS = (EPISODES, CORRECTIONS, REFLECTIONS)
STATES = ("active", "superseded", "retired")
_ALWAYS = "-infinity"

_BY_OUTCOME = """
SELECT outcome, count(*),
  count(*) FILTER ((agent, id) IN (SELECT (agent, episode) FROM corrections)),
  count(cost_usd), sum(round(cost_usd * 1e6)::BIGINT),
  count(turns), sum(turns), max(turns),
  count(duration_s), sum(round(duration_s * 1e3)::BIGINT), max(round(duration_s * 1e3)::BIGINT)
FROM episodes WHERE finished_at >= $since::TIMESTAMPTZ GROUP BY outcome"""
_BY_RESULT = """
SELECT result, count(*), sum(calls), count(cost_usd), sum(round(cost_usd * 1e6)::BIGINT),
  count(*) FILTER (calls > 0 AND cost_usd IS NULL)
FROM reflections WHERE "at" >= $since::TIMESTAMPTZ GROUP BY result"""
_BY_VERDICT = """
SELECT operation.verdict, count(*)
FROM (
  SELECT unnest(from_json(operations, '[{"verdict": "VARCHAR"}]')) AS operation
  FROM reflections WHERE "at" >= $since::TIMESTAMPTZ
) GROUP BY ALL ORDER BY count(*) DESC, operation.verdict"""


@dataclass(frozen=True)
class Spread:
    """Figures of which some are known: how many, their sum, their mean, the largest."""

    known: int
    total: float
    mean: float | None
    largest: float | None


@dataclass(frozen=True)
class Work:
    """What episodes came to; None where nothing was finished, or nothing known."""

    episodes: int
    done: int
    corrected: int
    corrections_per_completed_card: float | None
    cost_usd: float | None
    cost_per_completed_card_usd: float | None
    unpriced: int
    outcomes: dict[str, int]
    turns: Spread
    duration_s: Spread


@dataclass(frozen=True)
class Reflected:
    """What reflections came to: rows, model calls, their cost, results, verdicts."""

    reflections: int
    calls: int
    cost_usd: float | None
    unpriced: int
    results: dict[str, int]
    accepted: int
    dropped: dict[str, int]


@dataclass(frozen=True)
class Proposed:
    """Improve cards of the agent: all, shipped, denied (closed by a person)."""

    filed: int
    shipped: int
    denied: int


@dataclass(frozen=True)
class Stats:
    """Everything `memory stats` shows; `days` None means from the beginning."""

    agent: str
    days: int | None
    work: Work
    claims: dict[str, dict[str, int]]
    reflections: Reflected
    proposals: Proposed


def stats(desk: Desk, agent_id: str, *, days: int | None) -> tuple[Stats, list[Problem]]:
    """What an agent's last days came to, with everything that could not be counted."""
    agent = desk.agent(agent_id)
    desk.require("read", f"read the memory of {agent.id}", agent)
    since = _ALWAYS if days is None else days_before(desk.clock.now(), days)
    problems: list[Problem] = []
    with Tables() as tables:
        gather(desk.vault, [agent.id], LOGS, problems, tables)
        measured = Stats(
            agent.id, days, work(tables, since), _claims(desk, agent.id, problems),
            reflected(tables, since), _proposed(desk, agent.id, since, problems),
        )  # fmt: skip
    return measured, problems


def work(tables: Tables, since: str) -> Work:
    """What the loaded episodes that finished since an instant came to."""
    rows = tables.ask(_BY_OUTCOME, since=since)
    outcomes = {str(one): 0 for one in Outcome} | {row[0]: row[1] for row in rows}
    episodes, corrected, priced = (sum(row[at] for row in rows) for at in (1, 2, 3))
    micro = sum(row[4] or 0 for row in rows) if priced else None
    done = outcomes[Outcome.DONE]
    return Work(
        episodes, done, corrected, _share(corrected, done),
        _usd(micro), None if micro is None else _share(micro, done, 1e6),
        episodes - priced, outcomes,
        _spread(((row[5], row[6], row[7]) for row in rows), 1),
        _spread(((row[8], row[9], row[10]) for row in rows), 1000),
    )  # fmt: skip


def reflected(tables: Tables, since: str) -> Reflected:
    """What the loaded reflections since an instant came to."""
    rows = tables.ask(_BY_RESULT, since=since)
    results = {str(one): 0 for one in Result} | {row[0]: row[1] for row in rows}
    verdicts = dict(tables.ask(_BY_VERDICT, since=since))
    priced = sum(row[3] for row in rows)
    return Reflected(
        sum(row[1] for row in rows), sum(row[2] for row in rows),
        _usd(sum(row[4] or 0 for row in rows) if priced else None),
        sum(row[5] for row in rows), results, verdicts.pop(ACCEPTED, 0), verdicts,
    )  # fmt: skip


def describe(measured: Stats) -> str:
    """The figures as a person reads them, one a line."""
    did, learned, asked = measured.work, measured.reflections, measured.proposals
    when = "from the beginning" if measured.days is None else f"the last {measured.days} days"
    lines = [
        ("corrections per completed card", _shown(did.corrections_per_completed_card),
         f"{did.corrected} corrected / {did.done} done"),
        ("cost per completed card", _money(did.cost_per_completed_card_usd),
         f"{_money(did.cost_usd)} / {did.done} done, {did.unpriced} unpriced"),
        ("episodes", str(did.episodes), _counts(did.outcomes)),
        ("turns", *_spoken(did.turns, "")),
        ("duration", *_spoken(did.duration_s, " s")),
        *((f"claims: {kind}", str(sum(states.values())), _counts(states))
          for kind, states in measured.claims.items()),
        ("reflections", str(learned.reflections), _counts(learned.results)),
        ("model calls", str(learned.calls),
         f"{_money(learned.cost_usd)}, {learned.unpriced} unpriced"),
        ("operations", str(learned.accepted + sum(learned.dropped.values())),
         f"{learned.accepted} accepted, {sum(learned.dropped.values())} dropped"),
        *((f"  {reason}", str(count), "") for reason, count in learned.dropped.items()),
        ("proposals", str(asked.filed), f"{asked.shipped} shipped, {asked.denied} denied"),
    ]  # fmt: skip
    wide = max(len(name) for name, _, _ in lines[:6])
    high = max(len(figure) for _, figure, _ in lines)
    rows = [f"{name:<{wide}}  {figure:>{high}}  {more}".rstrip() for name, figure, more in lines]
    return "\n".join([f"{measured.agent}, {when}", *rows])


def _claims(desk: Desk, agent: str, problems: list[Problem]) -> dict[str, dict[str, int]]:
    kept = Claims(desk.vault)
    found: Counter[tuple[str, str]] = Counter()
    for folder in (ACTIVE, CLOSED):
        for one in kept.load(agent, folder, problems):
            gone = "superseded" if one.claim.superseded_by else "retired"
            found[one.claim.kind, "active" if one.claim.active else gone] += 1
    return {str(kind): {state: found[kind, state] for state in STATES} for kind in ClaimKind}


def _proposed(desk: Desk, agent: str, since: str, problems: list[Problem]) -> Proposed:
    kept = Cards(desk.vault, desk.roster.pages_folder)
    ids = [name.removesuffix(".md") for name in desk.vault.names(kept.folder)]
    found = [kept.get(one, problems) for one in ids if one.startswith("imp-")]
    cards = [one.card for one in found if one is not None and _counts_for(one.card, agent, since)]
    told = Counter(card.status for card in cards)
    return Proposed(len(cards), told["shipped"], told["closed"])


def _counts_for(card: Card, agent: str, since: str) -> bool:
    recent = since == _ALWAYS or card.created >= since
    return card.kind == "improve" and card.agent == agent and recent


def _share(part: int, whole: int, unit: float = 1) -> float | None:
    return round(part / whole / unit, 6) if whole else None


def _usd(micro: int | None) -> float | None:
    return None if micro is None else micro / 1e6


def _spread(rows: Iterable[tuple[int, int | None, int | None]], unit: int) -> Spread:
    given = [row for row in rows if row[0]]
    known = sum(row[0] for row in given)
    total = sum(row[1] or 0 for row in given)
    largest = max((row[2] or 0 for row in given), default=None)
    if unit == 1:
        return Spread(known, total, _share(total, known), largest)
    return Spread(
        known, total / unit, _share(total, known, unit), None if largest is None else largest / unit
    )


def _counts(counted: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counted.items() if count)


def _spoken(figures: Spread, unit: str) -> tuple[str, str]:
    if figures.mean is None or figures.largest is None:
        return "n/a", "none known"
    more = (
        f"{figures.total:g}{unit} in all, at most {figures.largest:g}{unit}, {figures.known} known"
    )
    return f"{figures.mean:.1f}{unit}", f"on average, {more}"


def _shown(share: float | None) -> str:
    return "n/a" if share is None else f"{share:.2f}"


def _money(usd: float | None) -> str:
    return "n/a" if usd is None else f"${usd:.4f}"
