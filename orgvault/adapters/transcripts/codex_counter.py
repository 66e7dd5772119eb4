"""Counting a rollout of Codex, or what `codex exec --json` printed.

The file of a forked session, and of some sub-agents, begins with all that its parent's holds,
token counts too.  It was written there in one go when the fork was made, with the times of then or
with the old ones: what follows the head without a second's pause is the parent's.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from orgvault.adapters.transcripts import codex
from orgvault.adapters.transcripts import lines as read
from orgvault.adapters.transcripts.codex import Reader
from orgvault.adapters.transcripts.counts import Counted, Message
from orgvault.adapters.transcripts.lines import mapping
from orgvault.domain.instants import moment
from orgvault.domain.transcript import Said

_PAUSE = timedelta(seconds=1)
_WORDS = 4000
_FAILED = frozenset({"turn.failed", "error"})

_Tokens = tuple[int | None, int | None]


class CodexCounter:
    """Takes the lines of one file.  Token counts are cumulative, for the session as a whole.

    `name` stands for the file in the id of its message when the session has none.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._reader = Reader()
        self._head: Mapping[str, Any] | None = None
        self._copied_until: datetime | None = None
        self._parents: _Tokens = (None, None)
        self._first: str | None = None
        self._last: str | None = None
        self._error = ""
        self._turns = 0

    def take(self, value: Mapping[str, Any]) -> None:
        """Read one line."""
        about = codex.head(value)
        if about and self._head is None:
            self._head = about
            if codex.parent(about):
                self._copied_until = _moment(value) or _moment(about)
        elif self._is_copied(value):
            self._parents = _totals(value) or self._parents
            if read.kind(value) == "turn_context":  # the session's own comes as soon
                self._reader.take(value)
            return
        elif about:
            return  # a parent's head
        at = read.time(value.get("timestamp"))
        self._first = min(filter(None, (self._first, at)), default=None)
        self._last = max(filter(None, (self._last, at)), default=None)
        self._reader.take(value)
        self._take_error(value)

    def counted(self) -> Counted:
        """What the lines so far come to: one message with the session's own tokens."""
        reader = self._reader
        items = reader.items or reader.events
        words = [one.text for one in items if isinstance(one, Said) and one.by == "assistant"]
        known = reader.session or self._name
        tokens = self._own_tokens()
        whole = Message(known, self._first, reader.model, *tokens)
        messages = (whole,) if reader.turns or tokens != (None, None) else ()
        said = words[-1][:_WORDS] if words else ""
        return Counted(messages, reader.turns, said, known, self._error, self._first, self._last)

    def _is_copied(self, value: Mapping[str, Any]) -> bool:
        """Whether a line was written with the head, when the session was forked."""
        if self._copied_until is None:
            return False
        at = _moment(value)
        if at is not None and at - self._copied_until >= _PAUSE:
            self._copied_until = None
            return False
        self._copied_until = max(self._copied_until, at or self._copied_until)
        return True

    def _own_tokens(self) -> _Tokens:
        whole, before = self._reader.tokens, self._parents
        return _less(whole[0], before[0]), _less(whole[1], before[1])

    def _take_error(self, value: Mapping[str, Any]) -> None:
        body = mapping(value.get("payload")) if read.kind(value) == "event_msg" else value
        if read.kind(body) in _FAILED:
            told = mapping(body.get("error")).get("message", body.get("message"))
            self._error = read.text(told)[:_WORDS] or "error"
        elif self._reader.turns != self._turns:
            self._error = ""
        self._turns = self._reader.turns


def _moment(value: Mapping[str, Any]) -> datetime | None:
    try:
        return moment(str(value.get("timestamp")))
    except (ValueError, OverflowError):
        return None


def _totals(value: Mapping[str, Any]) -> _Tokens | None:
    counting = Reader()
    counting.take(value)
    return None if counting.tokens == (None, None) else counting.tokens


def _less(whole: int | None, before: int | None) -> int | None:
    """The difference; the whole where the counting began anew."""
    if whole is None or before is None or before > whole:
        return whole
    return whole - before
