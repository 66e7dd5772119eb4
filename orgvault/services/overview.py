"""The state of a vault at a glance: the queue, what waits, what was seen last."""

from orgvault.domain.episode import Episode
from orgvault.domain.instants import day
from orgvault.domain.reflection import Reflection
from orgvault.services.desk import Desk
from orgvault.services.waking import list_wakes
from orgvault.store.cards import Cards
from orgvault.values import dataclass


@dataclass(frozen=True)
class AgentLine:
    """One agent: open wakes, claims in its memory, its last episode."""

    agent: str
    open_wakes: int
    claims: int
    last_run: str | None
    last_outcome: str | None
    finished_at: str | None


@dataclass(frozen=True)
class Overview:
    """The queue, the backlog, the day's model calls, and what could not be committed yet."""

    actor: str
    agents: tuple[AgentLine, ...]
    open_cards: int | None
    open_proposals: int | None
    model_calls_today: int
    waiting: int
    operation: str | None


def overview(desk: Desk) -> Overview:
    """The state of the vault, as far as the actor may see it."""
    vault, logs = desk.vault, desk.vault.logs
    wakes = list_wakes(desk, None, closed=False)
    agents, calls, today = [], 0, day(desk.clock.now())
    for agent in desk.readable():
        recent = logs.recent(Episode, "episodes", agent.id)
        last = max(recent, key=lambda one: one.finished_at, default=None)
        calls += sum(
            one.calls
            for one in logs.records(Reflection, "reflections", agent.id, [])
            if day(one.at) == today
        )
        claims = vault.names(f".agents/org/memory/{agent.id}/claims")
        agents.append(
            AgentLine(
                agent.id,
                sum(wake.agent == agent.id for wake in wakes),
                sum(name.endswith(".yaml") for name in claims),
                last.run if last else None,
                last.outcome if last else None,
                last.finished_at if last else None,
            )
        )
    cards = [c.card for c in Cards(vault, desk.roster.pages_folder).all([])]
    still = [card for card in cards if card.status in {"open", "doing"}]
    sees_all = desk.actor.is_person
    return Overview(
        desk.actor.name,
        tuple(agents),
        sum(card.kind != "improve" for card in still) if sees_all else None,
        sum(card.kind == "improve" for card in still) if sees_all else None,
        calls,
        vault.waiting(),
        vault.repository.operation(),
    )
