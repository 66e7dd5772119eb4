"""What both wires have in common: what is asked, and how an answer's parts are read."""

from collections.abc import Mapping
from dataclasses import field
from json import JSONDecodeError, loads
from math import isfinite
from typing import Protocol

from orgvault.adapters.models.faults import (
    EMPTY,
    NO_JSON,
    OTHER_FORM,
    TOO_LONG,
    WEB_PAGE,
    Fault,
)
from orgvault.domain.reflection import Answer
from orgvault.values import dataclass

# More than any five operations need; a row of the log holds 64 KiB.
ANSWER_BYTES = 32 * 1024
_LARGEST = 2**53


@dataclass(frozen=True)
class Words:
    """What is asked: the whole text, and the schema of the answer under a short name."""

    prompt: str = ""
    name: str = ""
    schema: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One request in a wire's own words: what is empty is not asked for.

    `form` is how JSON is asked for; `limit` the name of the wire's limit on tokens written, and
    `tokens_out` the limit; `effort` how much reasoning is wanted.
    """

    model: str
    words: Words
    form: str
    temperature: bool
    limit: str
    tokens_out: int
    effort: str


class Wire(Protocol):
    """A way of asking over HTTP."""

    PATH: str

    def headers(self, key: str) -> dict[str, str]:
        """The headers that carry the key, which may be empty."""

    def body(self, ask: Ask) -> dict[str, object]:
        """What is sent, to be written as JSON."""

    def answer(self, said: Mapping[str, object], *, tells_cost: bool) -> Answer:
        """The answer in what was received.  Raises Fault when there is none."""


def json_object(body: bytes, kind: str) -> Mapping[str, object]:
    """The JSON object of a body.  Raises Fault when it is none."""
    try:
        value = loads(body)
    except (JSONDecodeError, UnicodeDecodeError, ValueError, RecursionError):
        page = "html" in kind.lower() or body.lstrip()[:1] == b"<"
        raise Fault(WEB_PAGE if page else NO_JSON) from None
    if not isinstance(value, dict):
        raise Fault(OTHER_FORM)
    return value


def part(value: object, name: str | int) -> object:
    """A member of a JSON object or list; None when there is none."""
    if isinstance(value, dict):
        return value.get(name)
    if isinstance(value, list) and isinstance(name, int) and name < len(value):
        return value[name]
    return None


def text_of(content: object) -> str:
    """The text of a message: a string, or the text blocks of a list, without any thinking."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part(one, "text") for one in content if part(one, "type") == "text")
    return "".join(one for one in texts if isinstance(one, str))


def whole(text: str) -> str:
    """The text as an answer may hold it.  Raises Fault when it is empty or too long.

    Halves of surrogate pairs, which no file can hold, are put together or left out.
    """
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    if not text.strip():
        raise Fault(EMPTY)
    if len(text.encode()) > ANSWER_BYTES:
        raise Fault(TOO_LONG)
    return text


def tokens(value: object) -> int | None:
    """A count of tokens; None when it is no count."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < _LARGEST else None


def dollars(value: object) -> float | None:
    """An amount; None when it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) and 0 <= value < _LARGEST else None
