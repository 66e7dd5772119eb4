"""Counting a session file of Claude Code, or what `claude -p` printed."""

from collections.abc import Mapping
from typing import Any

from orgvault.adapters.transcripts import claude_code
from orgvault.adapters.transcripts import lines as read
from orgvault.adapters.transcripts.counts import Counted, Message
from orgvault.adapters.transcripts.lines import mapping

_WORDS = 4000  # characters of the last words that are kept: a summary is one sentence of them


class ClaudeCounter:
    """Takes the lines of one file.

    Each line of a message repeats its id and its usage so far: it counts once, as its last line
    has it.  The client puts an API's error in the model's place: that is an error if the model
    says nothing after it.  `name` stands for the file in the ids of messages that have none.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._messages: dict[str, Message] = {}
        self._since: str | None = None
        self._first: str | None = None
        self._last: str | None = None
        self._said = self._said_in = self._error = ""
        self._result: Mapping[str, Any] | None = None
        self._count = 0

    def take(self, value: Mapping[str, Any]) -> None:
        """Read one line."""
        self._count += 1
        kind, message = read.kind(value), mapping(value.get("message"))
        if kind == "result":
            self._take_result(value)
        elif kind not in {"user", "assistant"} or not message:
            return
        elif value.get("isSidechain") or value.get("parent_tool_use_id"):
            if kind == "assistant":
                self._take_message(message, None, aside=True)
        elif not value.get("isMeta") and not value.get("isCompactSummary"):
            self._take_main(kind, value, message)

    def counted(self) -> Counted:
        """What the lines so far come to."""
        messages, turns, result = list(self._messages.values()), None, self._result
        if result is not None and not any(not one.aside for one in messages):
            turns = read.count(result.get("num_turns"))
            whole = claude_code.result_tokens(result)
            models = claude_code.result_models([result])
            name = f"{self._name}:result"
            model = read.name(models[0]) if models else None
            # What sub-agents took is in its totals.
            messages = [Message(name, None, model, *whole)]
            self._said_in = name
        words = self._said, self._said_in, self._error
        return Counted(tuple(messages), turns, *words, self._first, self._last)

    def _take_result(self, value: Mapping[str, Any]) -> None:
        self._result = value
        said = read.text(value.get("result")).strip()
        if not self._said:
            self._said = said[:_WORDS]
        if value.get("is_error") is True or read.kind(value, "subtype").startswith("error"):
            self._error = said[:_WORDS] or read.kind(value, "subtype") or "error"

    def _take_main(self, kind: str, value: Mapping[str, Any], message: Mapping[str, Any]) -> None:
        at = read.time(value.get("timestamp"))
        self._first = min(filter(None, (self._first, at)), default=None)
        self._last = max(filter(None, (self._last, at)), default=None)
        asked = kind == "user" and not _is_answer(message)
        self._since = at if asked or self._since is None else self._since
        if kind == "user":
            return
        if value.get("isApiErrorMessage"):
            self._error = read.text(message.get("content"))[:_WORDS] or "error"
        elif message.get("model") != "<synthetic>":  # else the client, in the model's place
            known = self._take_message(message, self._since, aside=False)
            self._since, self._error = None, ""
            said = read.text(message.get("content")).strip()
            if said:
                self._said, self._said_in = said[:_WORDS], known

    def _take_message(self, message: Mapping[str, Any], since: str | None, *, aside: bool) -> str:
        known = read.name(message.get("id")) or f"{self._name}:{self._count}"
        before = self._messages.get(known)
        tokens = claude_code.tokens_of([mapping(message.get("usage"))])
        if before is not None:
            since, aside = before.since, before.aside
            tokens = (
                before.tokens_in if tokens[0] is None else tokens[0],
                before.tokens_out if tokens[1] is None else tokens[1],
            )
        model = read.name(message.get("model"))
        self._messages[known] = Message(known, since, model, *tokens, aside)
        return known


def _is_answer(message: Mapping[str, Any]) -> bool:
    """Whether a tool speaks in the user's place."""
    return any(read.kind(one) == "tool_result" for one in read.blocks(message.get("content")))
