"""Words that a shell may complete: ids that the acting person or agent may use, and no others."""

from orgvault.domain.access import allowed
from orgvault.services import collecting, scheduling, showing, waking
from orgvault.services.desk import Desk
from orgvault.store.cards import Cards
from orgvault.store.claims import ACTIVE, Claims
from orgvault.store.connectors import Connectors
from orgvault.store.proposals import Proposals

_RUNS = 50  # the latest: nobody looks through thousands


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


def wakes(desk: Desk) -> list[str]:
    """The open wakes of the agents that the actor may see."""
    return [one.id for one in waking.list_wakes(desk, None, closed=False)]


def runs(desk: Desk) -> list[str]:
    """The latest runs that were stored, of the agents that the actor may see."""
    return [one.run for one in showing.listed(desk, None, _RUNS)]


def collections(desk: Desk) -> list[str]:
    """The collections that the actor may read."""
    return [one.name for one in collecting.listed(desk)[0]]


def routines(desk: Desk) -> list[str]:
    """The routines that the actor may see."""
    return [one.routine.id for one in scheduling.listed(desk, None)[0]]


def connectors(desk: Desk) -> list[str]:
    """The vault's own connectors, for those who look after them."""
    return Connectors(desk.vault).names() if allowed(desk.actor, "connectors", None) else []
