"""A model behind a provider: asked within the deadline, once more after a passing fault.

What a server refuses of a request (the schema above all) is left out, and it is asked again.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from math import inf

from orgvault import __version__
from orgvault.adapters.models import anthropic_wire, openai_wire
from orgvault.adapters.models.faults import UNFORESEEN, Fault
from orgvault.adapters.models.http import Client, Reply, within
from orgvault.adapters.models.providers import (
    Provider,
    address,
    is_loopback,
    key,
    key_fault,
    proxy,
    proxy_fault,
)
from orgvault.adapters.models.wire import Ask, Wire, Words, json_object, part
from orgvault.domain import proposal_prompt, reflection_prompt
from orgvault.domain.proposal_prompt import Wish
from orgvault.domain.reflection import Answer, Model, Question
from orgvault.errors import ModelFailed
from orgvault.values import dataclass

PAUSE_S = 0.5
LONGEST_PAUSE_S = 5.0
NAME_CHARS = 200  # what a row can hold
OK = 200
SERVER_ERROR = 500
_OPERATIONS = ("operations", reflection_prompt.SCHEMA)
_WIRES: Mapping[str, Wire] = {"openai": openai_wire, "anthropic": anthropic_wire}
_PASSING = frozenset({408, 409, 429})
_ABOUT_THE_REQUEST = frozenset({400, 422, 500})
# How servers speak of the schema when they refuse it: the parameters of both wires, what llama.cpp
# makes of them, and Groq's word for "it did not follow the schema".
_NAMES_THE_SCHEMA = (
    r"response_?format|json_?schema|json_?object|output_?config|output_?format|structured.?output"
    r"|\bschema\b|\bgrammar\b|json_validate_failed|json mode"
)
_SAYS = {
    400: "it refused the request",
    401: "it refused the key",
    402: "no credit is left there",
    403: "it does not allow that with this key",
    404: "it knows no such model or address",
    413: "the question is too long for it",
    422: "it refused the request",
    429: "it had too many requests, or no quota is left there",
}


@dataclass(frozen=True)
class Place:
    """Where a model is asked: base address, key ("" for none), proxy ("" for none)."""

    base: str
    key: str
    proxy: str


class Remote:
    """A model of a provider; `name` is `<provider>/<model>`.

    It remembers what its server refused of a request, so that it is not sent again.
    """

    metered = True

    def __init__(self, provider: Provider, model: str, place: Place) -> None:
        self.name = f"{provider.name}/{model}"
        self._provider = provider
        self._place = place
        self._wire = _WIRES[provider.wire]
        self._forms = list(provider.forms)
        self._ask = Ask(
            model=model,
            words=Words(),
            form=self._forms.pop(0),
            temperature=provider.temperature,
            limit=provider.limit,
            tokens_out=provider.tokens_out,
            effort=provider.effort if model == provider.cheap else "",
        )

    def answer(self, question: Question, deadline_s: float) -> Answer:
        """The model's answer to the question's prompt.

        Raises ModelFailed, with a reason that holds no key, query, header or prompt, when there
        is none within `deadline_s` seconds.
        """
        return self._within(Words(question.prompt, *_OPERATIONS), deadline_s)

    def repair(self, text: str, deadline_s: float) -> Answer:
        """An answer that could not be read, put into JSON by the model; it sees nothing else.

        Raises ModelFailed as `answer` does.
        """
        words = Words(reflection_prompt.repair_prompt(text), *_OPERATIONS)
        return self._within(words, deadline_s)

    def propose(self, wish: Wish, deadline_s: float) -> Answer:
        """The change that the model asks for.  Raises ModelFailed as `answer` does."""
        words = Words(wish.prompt, "change", proposal_prompt.SCHEMA)
        return self._within(words, deadline_s)

    def _within(self, words: Words, deadline_s: float) -> Answer:
        try:
            return within(deadline_s, lambda at: self._call(at, words), self._place.proxy)
        except Fault as fault:
            why = fault.why
        except Exception:  # noqa: BLE001 - a model's fault never is the run's
            why = UNFORESEEN
        raise ModelFailed(self.name, why)

    def _call(self, client: Client, words: Words) -> Answer:
        asked_again = False
        while True:
            try:
                reply = self._send(client, words)
            except Fault as fault:
                if asked_again or not fault.cut:
                    raise
                pause = PAUSE_S
            else:
                if reply.status == OK:
                    said = _success(reply)
                    return self._wire.answer(said, tells_cost=self._provider.tells_cost)
                if self._leaves_out(reply):
                    continue
                if asked_again or not _passes(reply):
                    raise Fault(_refusal(reply))
                pause = _pause(reply)
            client.wait(pause)
            asked_again = True

    def _send(self, client: Client, words: Words) -> Reply:
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"orgvault/{__version__}",
            **self._wire.headers(self._place.key),
        }
        body = self._wire.body(replace(self._ask, words=words))
        # The address may end with a query, which some gateways want.
        base, mark, query = self._place.base.partition("?")
        url = f"{base.rstrip('/')}{self._wire.PATH}{mark}{query}"
        return client.send("POST", url, headers, json.dumps(body).encode())

    def _leaves_out(self, reply: Reply) -> bool:
        """Whether the reply refuses a part of the request that can be left out; it then is."""
        if reply.status not in _ABOUT_THE_REQUEST:
            return False
        about, ask = _complaint(reply).lower(), self._ask
        if self._forms and re.search(_NAMES_THE_SCHEMA, about):
            self._ask = replace(ask, form=self._forms.pop(0))
        elif ask.temperature and "temperature" in about:
            self._ask = replace(ask, temperature=False)
        elif ask.effort and re.search(r"effort|thinking|reasoning", about):
            self._ask = replace(ask, effort="")
        elif ask.limit == "max_tokens" and "max_completion_tokens" in about:
            self._ask = replace(ask, limit="max_completion_tokens")
        else:
            return False
        return True


def reach(
    provider: Provider, model: str, environment: Mapping[str, str]
) -> tuple[Model | None, str]:
    """A provider's model as the environment reaches it; or None and why it cannot be asked."""
    if len(f"{provider.name}/{model}") > NAME_CHARS:
        return None, f"the model's name is longer than {NAME_CHARS} characters"
    base, why = address(provider, environment)
    if why:
        return None, why
    why = key_fault(provider, environment) or proxy_fault(base, environment)
    if why:
        return None, why
    found = key(provider, environment)
    if not found and provider.key_needed and not is_loopback(base):
        return None, f"{' or '.join(provider.keys)} is not set"
    if provider.base_variable == "OPENAI_BASE_URL" and base != provider.base:
        # Some other server: the settings are those that everyone but OpenAI takes.
        provider = replace(provider, temperature=True, limit="max_tokens")
    return Remote(provider, model, Place(base, found, proxy(base, environment))), ""


def _success(reply: Reply) -> Mapping[str, object]:
    said = json_object(reply.body, reply.kind)
    if part(said, "error") and not part(said, "choices"):
        raise Fault(_refusal(reply))
    return said


def _passes(reply: Reply) -> bool:
    passing = reply.status in _PASSING or reply.status >= SERVER_ERROR
    return passing and _pause(reply) <= LONGEST_PAUSE_S


def _pause(reply: Reply) -> float:
    """How many seconds the server asks to wait: half a second when it does not say.

    A date, or what else is no number of seconds, is later than we wait.
    """
    given = reply.retry_after.strip()
    if not given:
        return PAUSE_S
    return float(given) if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", given) else inf


def _refusal(reply: Reply) -> str:
    """What a refusal means, with its status and, if it has one, the provider's code for it."""
    status = reply.status
    known = "it failed" if status >= SERVER_ERROR or status == OK else "it did not answer"
    if status // 100 == 3:  # noqa: PLR2004 - redirects
        known = "it points to another address, which is not followed"
    error = part(_loose(reply), "error")
    codes = (part(error, name) for name in ("code", "type"))
    code = next((c for c in codes if isinstance(c, str) and re.fullmatch("[a-z_]{3,40}", c)), "")
    return f"{_SAYS.get(status, known)} ({status}{', ' + code if code else ''})"


def _complaint(reply: Reply) -> str:
    """What a refused request is refused for: the parameter if it is named, else the sentence."""
    said = _loose(reply)
    error = part(said, "error")
    if isinstance(named := part(error, "param"), str) and named:
        return named
    if isinstance(sentence := part(error, "message"), str):
        return f"{sentence} {part(error, 'code') or ''}"
    details = part(said, "detail")
    if isinstance(details, list):  # of FastAPI: the input, which may be the whole request, is left
        return json.dumps([[part(one, "loc"), part(one, "msg")] for one in details])
    return reply.body[:4000].decode(errors="replace")


def _loose(reply: Reply) -> object:
    try:
        return json_object(reply.body, reply.kind)
    except Fault:
        return None
