"""Words that a shell may complete: ids that the acting person or agent may use, and no others."""

from orgvault.domain.access import allowed
from orgvault.services.desk import Desk
from orgvault.store.cards import Cards
from orgvault.store.claims import ACTIVE, Claims
from orgvault.store.proposals import Proposals


def agents(desk: Desk) -> list[str]:
    """The agents whose rows the actor may read."""
    return [agent.id for agent in desk.readable()]


def actors(desk: Desk) -> list[str]:
    """Whom the actor can be with `--as`: the owner can be anybody, others are themselves."""
    if desk.actor.kind != "owner":
        return [desk.actor.name]
    return [*(one.name for one in desk.roster.operators), *sorted(desk.roster.agents)]


def claims(desk: Desk) -> list[str]:
    """The active claims, by the names of their files; nothing is read."""
    kept = Claims(desk.vault)
    return [one for name in agents(desk) for one in kept.ids(name, ACTIVE)]


def cards(desk: Desk) -> list[str]:
    """The open cards, for those who keep the backlog."""
    if not allowed(desk.actor, "task", None):
        return []
    stored = Cards(desk.vault, desk.roster.pages_folder).all([])
    return [one.card.id for one in stored if one.card.status in {"open", "doing"}]


def proposals(desk: Desk) -> list[str]:
    """The proposals of the agents that the actor may see."""
    kept, seen = Proposals(desk.vault), set(agents(desk))
    if desk.actor.is_person:
        return kept.ids()
    return [one.proposal.id for one in kept.all([]) if one.proposal.agent in seen]
