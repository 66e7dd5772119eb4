"""One client session as orgvault reads it, whatever client wrote it."""

from orgvault.values import dataclass


@dataclass(frozen=True)
class Said:
    """A message: `by` is `user` or `assistant`."""

    by: str
    text: str


@dataclass(frozen=True)
class ToolCall:
    """A tool call with its result.

    `input` is what a person would recognise the call by: the command of a shell tool, else its
    arguments as one line of JSON.  `failed` is what the client itself recorded: an error flag,
    or a non-zero exit code.
    """

    tool: str
    input: str
    result: str
    failed: bool


Item = Said | ToolCall


@dataclass(frozen=True)
class Session:
    """A session's main conversation in order, and what the client counted.

    Unknown numbers are None, never 0.  `turns` counts the assistant's messages (distinct
    message ids).  `skipped_lines` are lines that could not be read.
    """

    client: str
    session: str | None
    model: str | None
    turns: int | None
    tokens_in: int | None
    tokens_out: int | None
    started_at: str | None
    finished_at: str | None
    items: tuple[Item, ...]
    skipped_lines: tuple[int, ...] = ()


EMPTY = Session("none", None, None, None, None, None, None, None, ())
