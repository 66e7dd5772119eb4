"""Cards of the backlog: one Markdown note each, flat frontmatter, body free text."""

import re

from orgvault.domain.ids import AGENT_ID, CARD_ID, CLAIM_ID, INSTANT
from orgvault.domain.instants import normal
from orgvault.domain.proposal import Target
from orgvault.domain.record import says
from orgvault.values import dataclass

KINDS = ("task", "improve", "revert", "tooling")
TASK_STATUSES = ("open", "doing", "done", "closed")
IMPROVE_STATUSES = ("open", "shipped", "closed", "withdrawn")


@dataclass(frozen=True, kw_only=True)
class Card:
    """The frontmatter of `<pages folder>/Backlog/<id>.md`."""

    version: int = says("Format version of the note.", default=1, minimum=1, maximum=1)
    id: str = says("The card's id; the note is named after it.", pattern=CARD_ID)
    kind: str = says("task, improve, revert or tooling.", choices=KINDS)
    status: str = says(
        "open, doing, done, closed; of a proposal open, shipped, closed, withdrawn.",
        choices=tuple(dict.fromkeys((*TASK_STATUSES, *IMPROVE_STATUSES))),
    )
    title: str = says("One line.", max_chars=300)
    author: str = says("Who asked for it.", max_chars=100)
    assignee: str = says("Who is to do it; empty for nobody.", default="", max_chars=100)
    agent: str | None = says("The agent it is for or from.", default=None, pattern=AGENT_ID)
    created: str = says("When (UTC).", pattern=INSTANT, normal=normal)
    memory_id: str | None = says(
        "Of a proposal: the claim that it answers.", default=None, pattern=CLAIM_ID
    )
    target: Target | None = says("Of a proposal: own_prompt or own_skills.", default=None)
    expires: str | None = says(
        "Of a proposal: when it is withdrawn unless shipped (UTC).",
        default=None, pattern=INSTANT, normal=normal,
    )  # fmt: skip
    flags: tuple[str, ...] | None = says(
        "Of a proposal: what a person should look at twice.", default=None
    )
    reason: str | None = says("Of a proposal: why it was closed.", default=None, max_chars=2000)


_STATUS = re.compile(
    rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?:(?!---[ \t]*\r?$).*\n)*?status:[ \t]*[\"']?(\w+)",
    re.MULTILINE,
)


def said_status(note: bytes) -> str:
    """The status that a note names, in small letters, or empty; whatever else it holds.

    Without a YAML reader, so that it costs nothing to ask, and so that a key which cannot be
    read does not take a person's word away.
    """
    found = _STATUS.match(note)
    return found[1].decode(errors="replace").casefold() if found else ""
