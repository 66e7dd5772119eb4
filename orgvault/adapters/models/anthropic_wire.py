"""Anthropic's messages.

https://platform.claude.com/docs/en/api/messages/create
https://platform.claude.com/docs/en/build-with-claude/structured-outputs
"""

from collections.abc import Mapping

from orgvault.adapters.models.faults import OTHER_FORM, REFUSED, TRUNCATED, Fault
from orgvault.adapters.models.providers import SCHEMA
from orgvault.adapters.models.wire import Ask, part, text_of, tokens, whole
from orgvault.domain.reflection import Answer

PATH = "/v1/messages"
VERSION = "2023-06-01"


def headers(key: str) -> dict[str, str]:
    """The key, if there is one, and the version of the wire."""
    return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}


def body(ask: Ask) -> dict[str, object]:
    """One message of the user's; the limit on tokens written cannot be left out here."""
    sent: dict[str, object] = {
        "model": ask.model,
        "max_tokens": ask.tokens_out,
        "messages": [{"role": "user", "content": ask.words.prompt}],
    }
    output: dict[str, object] = {}
    if ask.form == SCHEMA:
        output["format"] = {"type": "json_schema", "schema": ask.words.schema}
    if ask.effort:
        output["effort"] = ask.effort
    if output:
        sent["output_config"] = output
    if ask.temperature:
        sent["temperature"] = 0
    return sent


def answer(said: Mapping[str, object], *, tells_cost: bool) -> Answer:
    """The text blocks.  Raises Fault when they were cut short, refused or are empty."""
    del tells_cost  # it never does
    match part(said, "stop_reason"):
        case "max_tokens" | "model_context_window_exceeded":
            raise Fault(TRUNCATED)
        case "refusal":
            raise Fault(REFUSED)
    if not isinstance(part(said, "content"), list):
        raise Fault(OTHER_FORM)
    usage = part(said, "usage")
    # What was read from a cache or written into one was read all the same.
    read = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    counts = [count for name in read if (count := tokens(part(usage, name))) is not None]
    return Answer(
        text=whole(text_of(part(said, "content"))),
        tokens_in=sum(counts) if tokens(part(usage, "input_tokens")) is not None else None,
        tokens_out=tokens(part(usage, "output_tokens")),
    )
