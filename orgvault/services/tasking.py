"""The backlog: cards that people add, send back, finish and close."""

from dataclasses import replace

from orgvault.domain.card import Card
from orgvault.domain.card_file import with_status, write_card
from orgvault.domain.episode import Correction, Episode
from orgvault.domain.problem import Problem
from orgvault.domain.wake import Asked, Outcome, Reason
from orgvault.errors import AlreadySo, NoTitle, UnknownCard
from orgvault.services.desk import Desk, row, sound
from orgvault.services.waking import added
from orgvault.store.cards import Cards, Stored
from orgvault.values import dataclass


@dataclass(frozen=True)
class SentBack:
    """What a `redo` did."""

    card: Card
    correction: Correction
    wake: str


def add(desk: Desk, title: str, agent_id: str | None, body: str) -> Card:
    """Put a card of kind `task` on the backlog."""
    desk.require("task", "add a card")
    agent = desk.agent(agent_id).id if agent_id else None
    said = desk.masked(" ".join(title.split()))
    if not said:
        raise NoTitle
    card = Card(
        id=desk.new_id("t"), kind="task", status="open", title=said,
        author=desk.actor.name, agent=agent, created=desk.clock.now(),
    )  # fmt: skip
    sound(card)
    message = desk.message(f"task({agent or 'backlog'}): add {card.id}", "task-add", agent)
    with desk.vault.change(message, desk.author, card.created) as change:
        change.write(_cards(desk).path(card.id), write_card(card, desk.masked(body)))
    return card


def listed(desk: Desk, *, closed: bool) -> tuple[list[Card], list[Problem]]:
    """The cards that are still to do (with `closed`, all), newest first."""
    desk.require("task", "list the backlog")
    problems: list[Problem] = []
    cards = [stored.card for stored in _cards(desk).all(problems)]
    kept = [card for card in cards if closed or card.status in {"open", "doing"}]
    return sorted(kept, key=lambda card: (card.created, card.id), reverse=True), problems


def show(desk: Desk, card_id: str) -> Stored:
    """One card with its note."""
    desk.require("task", "read a card")
    return _stored(desk, card_id)


def redo(desk: Desk, card_id: str, why: str) -> SentBack:
    """Send a card's work back: a correction for its builder, the card open again, a wake.

    Raises AlreadySo when nobody has finished the card yet.
    """
    done = _builders_latest(desk, card_id)
    if done is None and not desk.actor.is_person:
        desk.require("redo", f"send {card_id} back", None)
    stored = _stored(desk, card_id)
    if done is None:
        raise AlreadySo(card_id, "not finished by any agent", "there is no work to send back")
    agent = desk.agent(done.agent)
    desk.require("redo", f"send {card_id} back", agent)
    correction = Correction(
        id=desk.new_row_id("x"), agent=agent.id, card=card_id, episode=done.id, run=done.run,
        why=desk.masked(why), actor=desk.actor.name, at=desk.clock.now(),
    )  # fmt: skip
    sound(correction)
    wake = added(desk, agent, Asked(Reason.TASK, card_id, why))
    message = desk.message(f"task({agent.id}): redo {card_id}", "task-redo", agent.id, done.run)
    with desk.vault.change(message, desk.author, correction.at) as change:
        change.add(row("corrections", correction))
        change.add(row("wakes", wake))
        change.write(stored.path, with_status(stored.text, "open"))
    return SentBack(replace(stored.card, status="open"), correction, wake.wake)


def set_status(desk: Desk, card_id: str, status: str) -> Card:
    """Mark a card `done` or `closed`."""
    desk.require("task", f"mark {card_id} {status}")
    stored = _stored(desk, card_id)
    if stored.card.kind == "improve":
        raise AlreadySo(card_id, "a proposal", "use `orgvault proposal close`")
    if stored.card.status == status:
        raise AlreadySo(card_id, f"already {status}", "there is nothing to do")
    message = desk.message(
        f"task({stored.card.agent or 'backlog'}): {card_id} {status}", f"task-{status}",
        stored.card.agent,
    )  # fmt: skip
    with desk.vault.change(message, desk.author, desk.clock.now()) as change:
        change.write(stored.path, with_status(stored.text, status))
    return replace(stored.card, status=status)


def _builders_latest(desk: Desk, card_id: str) -> Episode | None:
    """The latest episode that finished a card `done`; its agent is the card's builder."""
    logs = desk.vault.logs
    done = [
        episode
        for agent in logs.agents("episodes")
        if agent in desk.roster.agents
        for episode in logs.find(Episode, "episodes", agent, "card", [card_id])
        if episode.outcome is Outcome.DONE
    ]
    return max(done, key=lambda e: (e.finished_at, e.id), default=None)


def _stored(desk: Desk, card_id: str) -> Stored:
    problems: list[Problem] = []
    stored = _cards(desk).get(card_id, problems)
    if stored is None:
        raise UnknownCard(card_id, str(problems[0]) if problems else "")
    return stored


def _cards(desk: Desk) -> Cards:
    return Cards(desk.vault, desk.roster.pages_folder)
