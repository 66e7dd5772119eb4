"""The group chat: posting a message, which wakes those it is for, and reading what was said."""

from collections.abc import Sequence
from dataclasses import replace

from orgvault.domain import chat
from orgvault.domain.card import Card
from orgvault.domain.card_file import write_card
from orgvault.domain.chat import PEOPLE, STREAM, Said
from orgvault.domain.roster import Agent
from orgvault.domain.wake import Asked, Reason, WakeEvent
from orgvault.errors import OrgvaultError, VaultBusy
from orgvault.services.desk import Desk, row, sound
from orgvault.services.run_faults import NothingSaid
from orgvault.services.waking import added
from orgvault.store.cards import Cards
from orgvault.store.chat import Chat
from orgvault.store.entry import Row
from orgvault.store.logs import encode
from orgvault.values import dataclass

_TITLE_CHARS = 100


@dataclass(frozen=True)
class Posted:
    """A message with the wakes it asked for and the card it made for people.

    As JSON: `said` (the row), `wakes` (rows), `card` (an id or null), `remarks`.
    """

    said: Said
    wakes: tuple[WakeEvent, ...]
    card: str | None
    remarks: tuple[str, ...] = ()


def post(desk: Desk, text: str, run: str | None = None) -> Posted:
    """Post a message.  The agents it tags are woken, and those that listen; people get a card.

    Raises NothingSaid, BadValue, or VaultBusy with nothing written: a number is given once.
    """
    author = desk.actor.name
    own = _self(desk)
    desk.require("post", "post in the group chat", own)
    words = desk.masked(chat.clean(text))
    if not words:
        raise NothingSaid
    at = desk.clock.now()
    draft = Said(
        id=desk.new_row_id("m"), seq=1, at=at, sent_by=author, text=words, run=run,
        tags=chat.tags(words, desk.roster),
    )  # fmt: skip
    sound(draft)
    made: list[tuple[Said, tuple[WakeEvent, ...]]] = []

    def rows() -> Sequence[Row]:
        said = replace(draft, seq=Chat(desk.vault).next_seq())
        wakes = tuple(_wakes(desk, said))
        made[:] = [(said, wakes)]
        line = Row(chat.LOG, STREAM, said.id, encode(said))
        return [line, *(row("wakes", one) for one in wakes)]

    message = desk.message(f"chat({author}): post", "chat-post", own.id if own else None, run or "")
    desk.vault.record_in_order(message, desk.author, rows, at)
    said, wakes = made[0]
    card, remarks = _card_for_people(desk, said)
    return Posted(said, wakes, card, remarks)


def listed(desk: Desk, count: int) -> list[tuple[Said, str]]:
    """The newest messages, oldest first, each with the name of who wrote it."""
    desk.require("roster", "read the group chat", _self(desk))
    said = Chat(desk.vault).latest(count)
    return [(one, str(chat.shown(one, desk.roster)["sentBy"])) for one in said]


def _self(desk: Desk) -> Agent | None:
    return None if desk.actor.is_person else desk.roster.agents.get(desk.actor.name)


def _wakes(desk: Desk, said: Said) -> list[WakeEvent]:
    found = []
    for agent in desk.roster.agents.values():
        if agent.id == said.sent_by:
            continue
        tagged = agent.id in said.tags
        if tagged or agent.block.get("listen"):
            reason = Reason.MENTION if tagged else Reason.CHAT
            found.append(added(desk, agent, Asked(reason, chat_seq=said.seq)))
    return found


def _card_for_people(desk: Desk, said: Said) -> tuple[str | None, tuple[str, ...]]:
    """The card that `@operator` or `@user` makes; the message stands even if it cannot be made."""
    if not set(PEOPLE).intersection(said.tags):
        return None, ()
    first = " ".join(said.text.partition("\n")[0].split())
    title = first if len(first) <= _TITLE_CHARS else f"{first[: _TITLE_CHARS - 1]}…"
    card = Card(
        id=desk.new_id("t"), kind="task", status="open", title=title, author=said.sent_by,
        agent=None, created=said.at,
    )  # fmt: skip
    body = f"{said.text}\n\nMessage {said.seq} of the group chat, by {said.sent_by}.\n"
    message = desk.message(f"task(backlog): add {card.id}", "chat-card")
    try:
        with desk.vault.change(message, desk.author, said.at) as change:
            path = Cards(desk.vault, desk.roster.pages_folder).path(card.id)
            change.write(path, write_card(card, body))
    except OrgvaultError as failure:  # whoever is told that it failed would post once more
        why = failure.why if isinstance(failure, VaultBusy) else str(failure)
        told = f"message {said.seq} stands, but its card could not be made: {why}"
        return None, (f"{told}; `orgvault task add` makes one later",)
    return card.id, ()
