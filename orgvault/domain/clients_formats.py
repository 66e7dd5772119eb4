"""A composed prompt as a client takes it: one text, or the messages of a provider's API."""

from collections.abc import Callable
from json import dumps

from orgvault.domain.prompt import Composed


def as_text(composed: Composed) -> str:
    """The system message, an empty line, and the message after it, if there is one."""
    after = [composed.opening.text] if composed.opening is not None else []
    return "\n\n".join([composed.system, *after])


def as_messages(composed: Composed) -> str:
    """All messages as a list of `{role, content}`, in JSON."""
    return _json([_message("system", composed.system), *_after(composed)])


def as_anthropic(composed: Composed) -> str:
    """As the Messages API of Anthropic takes it: `system` stands apart."""
    return _json({"system": composed.system, "messages": _after(composed)})


def as_openai(composed: Composed) -> str:
    """As the Chat Completions API of OpenAI takes it."""
    return _json({"messages": [_message("system", composed.system), *_after(composed)]})


FORMATS: dict[str, Callable[[Composed], str]] = {
    "text": as_text,
    "messages": as_messages,
    "anthropic": as_anthropic,
    "openai": as_openai,
}


def _after(composed: Composed) -> list[dict[str, str]]:
    return [_message("user", composed.opening.text)] if composed.opening is not None else []


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _json(value: object) -> str:
    return dumps(value, ensure_ascii=False, indent=2)
