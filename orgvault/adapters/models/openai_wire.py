"""OpenAI's chat completions, which most other servers speak as well.

https://developers.openai.com/api/reference/resources/chat/subresources/completions
"""

from collections.abc import Mapping

from orgvault.adapters.models.faults import BROKE_OFF, OTHER_FORM, REFUSED, TRUNCATED, Fault
from orgvault.adapters.models.providers import OBJECT, SCHEMA
from orgvault.adapters.models.wire import Ask, dollars, part, text_of, tokens, whole
from orgvault.domain.reflection import Answer

PATH = "/chat/completions"


def headers(key: str) -> dict[str, str]:
    """The key as a bearer token; nothing without one."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def body(ask: Ask) -> dict[str, object]:
    """One message of the user's, not streamed."""
    sent: dict[str, object] = {
        "model": ask.model,
        "messages": [{"role": "user", "content": ask.words.prompt}],
        "stream": False,
    }
    if ask.form == SCHEMA:
        schema = {"name": ask.words.name, "strict": True, "schema": ask.words.schema}
        sent["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif ask.form == OBJECT:
        sent["response_format"] = {"type": "json_object"}
    if ask.temperature:
        sent["temperature"] = 0
    if ask.limit:
        sent[ask.limit] = ask.tokens_out
    if ask.effort:
        sent["reasoning_effort"] = ask.effort
    return sent


def answer(said: Mapping[str, object], *, tells_cost: bool) -> Answer:
    """The first choice's text.  Raises Fault when it was cut short, refused or is empty."""
    choice = part(part(said, "choices"), 0)
    message = part(choice, "message")
    match part(choice, "finish_reason"):
        case "length" | "model_length":
            raise Fault(TRUNCATED)
        case "content_filter":
            raise Fault(REFUSED)
        case "error":
            raise Fault(BROKE_OFF)
    if part(message, "refusal"):
        raise Fault(REFUSED)
    if message is None:
        raise Fault(OTHER_FORM)
    usage = part(said, "usage")
    return Answer(
        text=whole(text_of(part(message, "content"))),
        tokens_in=tokens(part(usage, "prompt_tokens")),
        tokens_out=tokens(part(usage, "completion_tokens")),
        cost_usd=dollars(part(usage, "cost")) if tells_cost else None,
    )
