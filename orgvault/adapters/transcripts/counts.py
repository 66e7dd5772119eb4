"""The records of counting: what one message took, what one file holds, why it holds nothing."""

from typing import NamedTuple

from orgvault.values import dataclass


class Fault(NamedTuple):
    """Why a file gives nothing: one of a few words, and the same said of this file."""

    reason: str
    why: str


class Message(NamedTuple):
    """One answer of the model.

    `aside` is a sub-agent's.  `since` is when it was asked for: what the user said before it, or
    else what came after the message before; None where nothing is timed.
    """

    id: str
    since: str | None
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    aside: bool = False


@dataclass(frozen=True)
class Counted:
    """What one file holds, in its order.

    `turns` is what the file itself says, or None: then each message is one.  `said` are the
    agent's last words and `said_in` the message they stand in.  `error` is set when the file ends
    in one.
    """

    messages: tuple[Message, ...]
    turns: int | None
    said: str
    said_in: str
    error: str
    started_at: str | None
    finished_at: str | None
