"""Wakes: asking an agent to run, and what a run says of itself."""

from dataclasses import replace

from orgvault.domain import wake as wakes
from orgvault.domain.roster import Agent
from orgvault.domain.wake import Asked, Reason, Status, Wake, WakeEvent
from orgvault.errors import UnknownCard, WhoseRun
from orgvault.services.desk import Desk, row, sound


def add_wake(desk: Desk, agent_id: str, reason: Reason, card: str | None, note: str) -> str:
    """Ask that an agent run; the id of the wake.  Raises UnknownCard for a card that is not there.

    In the middle of a merge or a rebase the backlog may show another commit's cards: the wake is
    a row, which waits for its branch, and so its card is taken as given.
    """
    agent = desk.agent(agent_id)
    desk.require("wake", f"wake {agent.id}", agent)
    event = added(desk, agent, Asked(reason, card, note))
    if card is not None and not _has_card(desk, card):
        raise UnknownCard(card, "")
    message = desk.message(f"wake({agent.id}): {reason}", "wake-add", agent.id)
    desk.vault.record(message, desk.author, [row("wakes", event)], event.at)
    return event.wake


def added(desk: Desk, agent: Agent, asked: Asked) -> WakeEvent:
    """The event of a new wake, still to be recorded.  Raises BadValue."""
    asked = replace(asked, note=desk.masked(asked.note))
    event = wakes.opened(desk.new_id("w"), agent.id, asked, desk.clock.now(), desk.actor.name)
    sound(event)
    return event


def _has_card(desk: Desk, card: str) -> bool:
    """Whether a card's note is there; one that its owner is just editing need not be readable."""
    from orgvault.store.cards import Cards

    cards = Cards(desk.vault, desk.roster.pages_folder)
    known = f"{card}.md" in desk.vault.names(cards.folder)
    return known or desk.vault.repository.operation() is not None


def list_wakes(desk: Desk, agent_id: str | None, *, closed: bool) -> list[Wake]:
    """The open wakes (with `closed`, all) that the actor may see, oldest first."""
    if agent_id is not None:
        agent = desk.agent(agent_id)
        desk.require("read", f"read {agent.id}'s wakes", agent)
        agents = [agent]
    else:
        agents = desk.readable()
    found = [
        wake
        for agent in agents
        for wake in wakes.wakes(desk.vault.logs.records(WakeEvent, "wakes", agent.id, []))
        if closed or wake.open
    ]
    return sorted(found, key=lambda wake: (wake.added_at, wake.id))


def running(desk: Desk, listed: list[Wake]) -> dict[str, str]:
    """The open wakes that a living run has taken, by id, each with that run."""
    from orgvault.store.run_locks import RunLocks  # only for a list that somebody looks at

    locks = RunLocks(desk.vault.private)
    taken = {one.id: one.taken_by_run for one in listed if one.open and one.taken_by_run}
    return {wake: run for wake, run in taken.items() if locks.is_held(run)}


def post(
    desk: Desk, agent_id: str | None, run: str, text: str, outcome: str | None, card: str | None
) -> Status:
    """Record what a run says of itself.  An agent posts as itself."""
    name = agent_id or (None if desk.actor.is_person else desk.actor.name)
    if name is None:
        raise WhoseRun
    agent = desk.agent(name)
    desk.require("post", f"post for {agent.id}", agent)
    status = Status(
        id=desk.new_row_id("s"), agent=agent.id, run=run, at=desk.clock.now(),
        text=desk.masked(text), card=card, outcome=outcome,
    )  # fmt: skip
    sound(status)
    said = f"status({agent.id}): {outcome or 'posted'}, {run}"
    message = desk.message(said, "post", agent.id, run)
    desk.vault.record(message, desk.author, [row("status", status)], status.at)
    return status
