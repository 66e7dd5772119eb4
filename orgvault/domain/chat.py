"""The group chat: public messages, whom they tag, and which of them a run is shown."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from unicodedata import normalize

from orgvault.domain.ids import AGENT_ID, INSTANT, ROW_ID, RUN_ID
from orgvault.domain.instants import normal
from orgvault.domain.record import says
from orgvault.domain.roster import Roster
from orgvault.values import dataclass

LOG, STREAM = "chat", "guild"  # one stream: its segments carry the guild's name
TEXT_CHARS = 8000
PEOPLE = ("operator", "user")
RELEVANT = "relevant"
# What steers a terminal, or is no text at all: lines and tabs stay.
_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]"


@dataclass(frozen=True, kw_only=True)
class Said:
    """One row of `chat/`: a public message.

    Two clones may give one number twice; then the time decides, and the id.
    """

    v: int = says("Format version of the row.", default=1, minimum=1, maximum=1)
    id: str = says("Row id.", pattern=ROW_ID)
    seq: int = says("Its number in the chat.", minimum=1)
    at: str = says("When (UTC).", pattern=INSTANT, normal=normal)
    sent_by: str = says("Id of the agent, or name of the operator, who wrote it.", pattern=AGENT_ID)
    text: str = says("What it says.", max_chars=TEXT_CHARS)
    tags: tuple[str, ...] = says(
        "Ids of the agents it tags; `operator` and `user` are the people.",
        default=(),
        pattern=AGENT_ID,
    )
    run: str | None = says("The run that wrote it.", default=None, pattern=RUN_ID)


def clean(text: str) -> str:
    """A text as it is kept: lines end in a newline, and no control character is in it."""
    return re.sub(_CONTROL, "", re.sub(r"\r\n?|[\x85\u2028\u2029]", "\n", text)).strip()


def order(said: Said) -> tuple[int, str, str]:
    """What messages are ordered by."""
    return said.seq, said.at, said.id


def tags(text: str, roster: Roster) -> tuple[str, ...]:
    """Whom a text tags, in the order of the text: `@` and an id or a display name, as a word.

    A longer name goes before a shorter one that it begins with.
    """
    names = {one: one for one in PEOPLE}
    for agent in roster.agents.values():
        names[" ".join(_folded(agent.name).split())] = agent.id
    names |= {one: one for one in roster.agents}
    listed = "|".join(
        r"\s+".join(map(re.escape, name.split()))
        for name in sorted(names, key=lambda one: (-len(one), one))
        if name
    )
    found = re.finditer(rf"(?<![\w@])@({listed})(?!\w|-\w)", _folded(text))
    return tuple(dict.fromkeys(names[" ".join(one[1].split())] for one in found))


def history(
    said: Sequence[Said], roster: Roster, focus: str, count: int
) -> tuple[Mapping[str, Any], ...]:
    """What State shows of these messages (oldest first): the last, or the most relevant ones."""
    chosen = list(said)[-count:]
    if roster.router == RELEVANT and len(said) > count:
        chosen = _relevant(said, focus, count)
    return tuple(shown(one, roster) for one in chosen)


def shown(said: Said, roster: Roster) -> Mapping[str, Any]:
    """A message as a model sees it; an agent is called by its display name."""
    agent = roster.agents.get(said.sent_by)
    name = agent.name if agent else said.sent_by
    return {"seq": said.seq, "sentBy": name, "at": said.at, "text": said.text}


def _folded(text: str) -> str:
    """How names are compared: NFC, and without regard to case."""
    return normalize("NFC", normalize("NFC", text).casefold())


def _relevant(said: Sequence[Said], focus: str, count: int) -> list[Said]:
    """The latest message and those that fit it and the focus best, in time order."""
    from orgvault.domain.ranking import Shelf, rank

    latest = len(said) - 1
    shelf = Shelf(((one.text, one.at) for one in said), apart=True)
    ranked = [one.key for one in rank(f"{focus}\n{said[latest].text}", shelf)]
    newest = range(latest, -1, -1)  # fills up where too few fit
    keys = list(dict.fromkeys([latest, *ranked, *newest]))[:count]
    return [said[key] for key in sorted(keys)]
