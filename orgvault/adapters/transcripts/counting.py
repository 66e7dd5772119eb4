"""What a session file counts: its messages with their tokens, read line by line.

Which messages count for which session is for the caller to say: files repeat what other files hold.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Protocol

from orgvault.adapters.transcripts import lines as read
from orgvault.adapters.transcripts.claude_counter import ClaudeCounter
from orgvault.adapters.transcripts.codex_counter import CodexCounter
from orgvault.adapters.transcripts.counts import Counted, Fault
from orgvault.adapters.transcripts.stored import (
    KNOWS,
    LINE_BYTES,
    no_session,
    raw_lines,
    unreadable,
)
from orgvault.values import dataclass


class _Counter(Protocol):
    def take(self, value: Mapping[str, Any]) -> None:
        """Read one line."""

    def counted(self) -> Counted:
        """What the lines so far come to."""


@dataclass(frozen=True)
class Reading:
    """A file that was read: its sha256 and what it counts, or why it is no session."""

    sha256: str
    counted: Counted | None
    fault: Fault | None = None
    skipped_lines: int = 0


def count(path: str, client: str) -> Reading:
    """Read a session file of a client from its first line to its last."""
    counter: _Counter = ClaudeCounter(path) if client == "claude-code" else CodexCounter(path)
    digest = sha256()
    ours = skipped = 0
    try:
        with open(path, "rb") as file:
            for raw in raw_lines(file):
                digest.update(raw)
                values = read.objects(raw) if len(raw) < LINE_BYTES else []
                skipped += not values and bool(raw.strip())
                for value in values:
                    ours += KNOWS[client](value)
                    counter.take(value)
    except (OSError, ValueError) as failure:
        return Reading("", None, unreadable(failure))
    if not ours:
        return Reading(digest.hexdigest(), None, no_session(client, ()))
    return Reading(digest.hexdigest(), counter.counted(), skipped_lines=skipped)
