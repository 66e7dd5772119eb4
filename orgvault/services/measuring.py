"""What an agent's work came to: the two numbers a shipped proposal is judged by, and the counts.

Money is summed in whole micro-dollars and time in whole milliseconds, so that the sums are the
same in whatever order, and on whatever machine, the rows are added up.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

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

_Row = tuple[Any, ...]
LOGS = (EPISODES, CORRECTIONS, REFLECTIONS)
STATES = ("active", "superseded", "retired")
_ALWAYS = "-infinity"

_BY_OUTCOME = """
SELECT agent, outcome, count(*),
  count(*) FILTER ((agent, id) IN (SELECT (agent, episode) FROM corrections)),
  count(cost_usd), sum(round(cost_usd * 1e6)::BIGINT),
  count(turns), sum(turns), max(turns),
  count(duration_s), sum(round(duration_s * 1e3)::BIGINT), max(round(duration_s * 1e3)::BIGINT)
FROM episodes WHERE finished_at >= $since::TIMESTAMPTZ GROUP BY agent, outcome"""
_BY_RESULT = """
SELECT agent, result, count(*) FILTER (asked = 'memory'), sum(calls), count(cost_usd),
  sum(round(cost_usd * 1e6)::BIGINT), count(*) FILTER (calls > 0 AND cost_usd IS NULL)
FROM reflections WHERE "at" >= $since::TIMESTAMPTZ GROUP BY agent, result"""
_BY_VERDICT = """
SELECT agent, operation.verdict, count(*)
FROM (
  SELECT agent, unnest(from_json(operations, '[{"verdict": "VARCHAR"}]')) AS operation
  FROM reflections WHERE "at" >= $since::TIMESTAMPTZ
) GROUP BY ALL"""


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
    """Everything `memory stats` shows; `days` None means from the beginning.

    `agent` is None where it is the sum of several.
    """

    agent: str | None
    days: int | None
    work: Work
    claims: dict[str, dict[str, int]]
    reflections: Reflected
    proposals: Proposed


@dataclass(frozen=True)
class RosterStats:
    """The same of every agent that the actor may read, and of all of them together."""

    days: int | None
    agents: tuple[Stats, ...]
    total: Stats


def stats(desk: Desk, agent_id: str, *, days: int | None) -> tuple[Stats, list[Problem]]:
    """What an agent's last days came to, with everything that could not be counted."""
    agent = desk.agent(agent_id)
    desk.require("read", f"read the memory of {agent.id}", agent)
    problems: list[Problem] = []
    return _measured(desk, [agent.id], days, problems).agents[0], problems


def roster(desk: Desk, *, days: int | None) -> tuple[RosterStats, list[Problem]]:
    """What the last days of every agent that the actor may read came to."""
    problems: list[Problem] = []
    agents = [agent.id for agent in desk.readable()]
    return _measured(desk, agents, days, problems), problems


def since(desk: Desk, days: int | None) -> str:
    """The instant from which the last days count."""
    return _ALWAYS if days is None else days_before(desk.clock.now(), days)


def work(tables: Tables, since: str) -> Work:
    """What the loaded episodes that finished since an instant came to, of all agents together."""
    return _work(tables.ask(_BY_OUTCOME, since=since))


def _measured(
    desk: Desk, agents: list[str], days: int | None, problems: list[Problem]
) -> RosterStats:
    begin = since(desk, days)
    with Tables() as tables:
        gather(desk.vault, agents, LOGS, problems, tables)
        outcomes, results, verdicts = (
            tables.ask(question, since=begin) for question in (_BY_OUTCOME, _BY_RESULT, _BY_VERDICT)
        )
    claims = {agent: _claims(desk, agent, problems) for agent in agents}
    cards = _proposals(desk, begin, problems)

    def of(*some: str) -> Stats:
        own, learned, judged = (
            [row for row in rows if row[0] in some] for rows in (outcomes, results, verdicts)
        )
        kept = sum((claims[agent] for agent in some), Counter[tuple[str, str]]())
        return Stats(
            None, days, _work(own),
            {str(kind): {state: kept[kind, state] for state in STATES} for kind in ClaimKind},
            _reflected(learned, judged),
            _proposed([card for card in cards if card.agent in some]),
        )  # fmt: skip

    return RosterStats(days, tuple(replace(of(one), agent=one) for one in agents), of(*agents))


def _work(rows: list[_Row]) -> Work:
    """What episodes came to, from rows of `_BY_OUTCOME`."""
    outcomes = {str(one): 0 for one in Outcome}
    for row in rows:
        outcomes[row[1]] += row[2]
    episodes, corrected, priced = (sum(row[at] for row in rows) for at in (2, 3, 4))
    micro = sum(row[5] or 0 for row in rows) if priced else None
    done = outcomes[Outcome.DONE]
    return Work(
        episodes, done, corrected, _share(corrected, done),
        _usd(micro), None if micro is None else _share(micro, done, 1e6),
        episodes - priced, outcomes,
        _spread(((row[6], row[7], row[8]) for row in rows), 1),
        _spread(((row[9], row[10], row[11]) for row in rows), 1000),
    )  # fmt: skip


def _reflected(rows: list[_Row], judged: list[_Row]) -> Reflected:
    """What reflections came to, from rows of `_BY_RESULT` and `_BY_VERDICT`."""
    results = {str(one): 0 for one in Result}
    for row in rows:
        results[row[1]] += row[2]
    verdicts = sum((Counter({row[1]: row[2]}) for row in judged), Counter[str]())
    accepted = verdicts.pop(ACCEPTED, 0)
    priced = sum(row[4] for row in rows)
    return Reflected(
        sum(row[2] for row in rows), sum(row[3] for row in rows),
        _usd(sum(row[5] or 0 for row in rows) if priced else None),
        sum(row[6] for row in rows), results, accepted,
        dict(sorted(verdicts.items(), key=lambda one: (-one[1], one[0]))),
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
    return "\n".join([f"{measured.agent or 'all agents'}, {when}", *rows])


def _claims(desk: Desk, agent: str, problems: list[Problem]) -> Counter[tuple[str, str]]:
    """How many claims of an agent there are of each kind and state."""
    kept = Claims(desk.vault)
    found: Counter[tuple[str, str]] = Counter()
    for folder in (ACTIVE, CLOSED):
        for one in kept.load(agent, folder, problems):
            gone = "superseded" if one.claim.superseded_by else "retired"
            found[one.claim.kind, "active" if one.claim.active else gone] += 1
    return found


def _proposals(desk: Desk, since: str, problems: list[Problem]) -> list[Card]:
    """The improve cards since an instant; an agent is told no fault of what may be another's."""
    kept = Cards(desk.vault, desk.roster.pages_folder)
    faults: list[Problem] = []
    ids = [name.removesuffix(".md") for name in desk.vault.names(kept.folder)]
    found = [kept.get(one, faults) for one in ids if one.startswith("imp-")]
    problems.extend(faults if desk.actor.is_person else ())
    cards = [one.card for one in found if one is not None and one.card.kind == "improve"]
    return [card for card in cards if since == _ALWAYS or card.created >= since]


def _proposed(cards: list[Card]) -> Proposed:
    told = Counter(card.status for card in cards)
    return Proposed(len(cards), told["shipped"], told["closed"])


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
