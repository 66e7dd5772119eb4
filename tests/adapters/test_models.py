"""Asking a model over HTTP: what each manner of a provider comes to, within the deadline."""

import logging
import socket
import threading
import time
import traceback
from collections.abc import Mapping

import pytest

from orgvault.adapters.models import find
from orgvault.adapters.models.faults import NONSENSE
from orgvault.adapters.models.providers import PROVIDERS
from orgvault.domain.answer import read_answer
from orgvault.domain.reflection import Answer, Model
from orgvault.domain.reflection_prompt import SCHEMA
from orgvault.errors import ModelFailed
from tests.provider import GOOD, MODES, TEXTS, Provider, question, serving

KEY = "sk-secret-1234567890abcdef"
ASKED = "what-was-asked"
WIRES = ("openai", "anthropic")
DEADLINE_S = 20.0


def model(provider: Provider, wire: str = "openai", name: str = "m", query: str = "") -> Model:
    base = {"openai": f"{provider.url}/v1", "anthropic": provider.url}[wire]
    environment = {
        f"{wire.upper()}_BASE_URL": base + query,
        f"{wire.upper()}_API_KEY": KEY,
    }
    found, why = find(f"{wire}/{name}", environment)
    assert found, why
    return found


def asked(provider: Provider, wire: str = "openai", deadline_s: float = DEADLINE_S) -> Answer:
    return model(provider, wire).answer(question(), deadline_s)


def why_not(provider: Provider, wire: str = "openai", deadline_s: float = DEADLINE_S) -> str:
    with pytest.raises(ModelFailed) as failure:
        asked(provider, wire, deadline_s)
    assert str(failure.value) == f"{wire}/m did not answer: {failure.value.why}"
    assert len(failure.value.why) <= 100
    return failure.value.why


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("mode", ["good", "fenced", "prose", "malformed", "wrong_schema"])
def test_an_answer_is_given_on_as_it_came(mode: str, wire: str) -> None:
    with serving(mode) as provider:
        answer = asked(provider, wire)
    assert answer.text == TEXTS[mode]
    assert (answer.tokens_in, answer.tokens_out, answer.cost_usd) == (1000, 50, None)
    readable = mode in {"good", "fenced", "prose"}
    assert (read_answer(answer.text) is not None) == readable
    assert len(provider.asked) == 1


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("mode", "why", "calls"),
    [
        ("empty", "its answer is empty", 1),
        ("truncated", "its answer was cut short at the limit of tokens", 1),
        ("refusal", "it refused to answer", 1),
        ("long", "its answer is longer than 32 KiB", 1),
        ("oversized", "it sent more than 1 MiB", 1),
        ("html", "it sent a web page", 1),
        ("no_json", "it sent no JSON", 1),
        ("other_form", "it sent JSON of another form", 1),
        ("error_in_200", "it failed (200)", 1),
        ("redirect", "it points to another address, which is not followed (307)", 1),
        ("400", "it refused the request (400)", 1),
        ("401", "it refused the key (401, invalid_api_key)", 1),
        ("404", "it knows no such model or address (404, model_not_found)", 1),
        ("cut", "the connection was cut", 2),
        ("500", "it failed (500, server_error)", 2),
        ("503", "it failed (503, overloaded_error)", 2),
        ("429", "it had too many requests, or no quota is left there (429, rate_limit_error)", 2),
    ],
)
def test_no_answer_has_a_short_reason(mode: str, why: str, calls: int, wire: str) -> None:
    with serving(mode) as provider:
        assert why_not(provider, wire) == why
    assert len(provider.asked) == calls


def test_a_filtered_answer_is_a_refusal() -> None:
    with serving("filtered") as provider:
        assert why_not(provider) == "it refused to answer"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("mode", ["slow", "drip", "drip_head"])
def test_the_deadline_holds_for_everything(mode: str, wire: str) -> None:
    with serving(mode) as provider:
        start = time.monotonic()
        assert why_not(provider, wire, deadline_s=1.0) == "no answer in time"
        assert time.monotonic() - start < 3


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("mode", ["500", "503", "429", "cut"])
def test_what_passes_is_asked_once_more(mode: str, wire: str) -> None:
    with serving(mode, "good") as provider:
        assert asked(provider, wire).text == GOOD
    assert len(provider.asked) == 2
    assert provider.asked[0].body == provider.asked[1].body


def test_the_second_try_waits_as_long_as_it_is_told() -> None:
    with serving("429", "good", retry_after="1") as provider:
        start = time.monotonic()
        assert asked(provider).text == GOOD
        assert time.monotonic() - start >= 1


@pytest.mark.parametrize(("told", "deadline_s"), [("6", DEADLINE_S), ("3600", DEADLINE_S)])
def test_who_asks_for_a_long_wait_is_not_asked_again(told: str, deadline_s: float) -> None:
    with serving("429", "good", retry_after=told) as provider:
        assert "(429, rate_limit_error)" in why_not(provider, deadline_s=deadline_s)
    assert len(provider.asked) == 1


def test_a_wait_that_would_pass_the_deadline_ends_at_once() -> None:
    with serving("429", "good", retry_after="4") as provider:
        start = time.monotonic()
        assert why_not(provider, deadline_s=3.0) == "no answer in time"
        assert time.monotonic() - start < 2
    assert len(provider.asked) == 1


@pytest.mark.parametrize("mode", ["400_schema", "422_schema"])
def test_without_a_schema_and_without_json_mode_the_prompt_alone_asks(mode: str) -> None:
    with serving(mode) as provider:
        one = model(provider)
        assert one.answer(question(), DEADLINE_S).text == GOOD
        formats = [body.body.get("response_format", {}).get("type") for body in provider.asked]
        assert formats == ["json_schema", "json_object", None]
        one.answer(question(), DEADLINE_S)
        assert len(provider.asked) == 4  # what was refused once is not sent again


def test_a_server_that_knows_json_mode_only() -> None:
    with serving("500_schema") as provider:
        assert asked(provider).text == GOOD
    formats = [body.body["response_format"]["type"] for body in provider.asked]
    assert formats == ["json_schema", "json_object"]


def test_the_other_wire_has_no_json_mode() -> None:
    with serving("400_schema") as provider:
        assert asked(provider, "anthropic").text == GOOD
    assert ["output_config" in one.body for one in provider.asked] == [True, False]


def test_stepping_down_and_the_second_try_go_together() -> None:
    with serving("500", "400_schema") as provider:
        assert asked(provider).text == GOOD
    assert len(provider.asked) == 4


@pytest.mark.parametrize(
    ("mode", "gone", "instead"),
    [("400_temperature", "temperature", ""), ("400_limit", "max_tokens", "max_completion_tokens")],
)
def test_other_parameters_that_are_refused_are_left_out(mode: str, gone: str, instead: str) -> None:
    with serving(mode) as provider:
        assert asked(provider).text == GOOD
    first, second = (one.body for one in provider.asked)
    assert gone in first
    assert second == {k: v for k, v in first.items() if k != gone} | (
        {instead: first[gone]} if instead else {}
    )


def test_effort_that_is_refused_is_left_out() -> None:
    with serving("400_effort") as provider:
        cheap = PROVIDERS["openai"].cheap
        assert model(provider, name=cheap).answer(question(), DEADLINE_S).text == GOOD
    assert [one.body.get("reasoning_effort") for one in provider.asked] == ["low", None]


def test_chat_completions_are_asked_as_they_are_documented() -> None:
    with serving() as provider:
        model(provider, query="?version=1").answer(question("Tell."), DEADLINE_S)
    (request,) = provider.asked
    assert request.path == "/v1/chat/completions?version=1"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["user-agent"].startswith("orgvault/")
    assert request.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Tell."}],
        "stream": False,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "operations", "strict": True, "schema": SCHEMA},
        },
        "temperature": 0,
        "max_tokens": 8000,
    }


def test_messages_are_asked_as_they_are_documented() -> None:
    with serving() as provider:
        model(provider, "anthropic", "claude-haiku-5-5").answer(question("Tell."), DEADLINE_S)
    (request,) = provider.asked
    assert request.path == "/v1/messages"
    assert request.headers["x-api-key"] == KEY
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.body == {
        "model": "claude-haiku-5-5",
        "max_tokens": 8000,
        "messages": [{"role": "user", "content": "Tell."}],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}, "effort": "low"},
    }


@pytest.mark.parametrize("wire", WIRES)
def test_a_repair_shows_the_answer_and_nothing_else(wire: str) -> None:
    with serving("malformed", "good") as provider:
        one = model(provider, wire)
        first = one.answer(question(ASKED), DEADLINE_S)
        repaired = one.repair(first.text, DEADLINE_S)
    assert repaired is not None
    assert repaired.text == GOOD
    shown = provider.asked[1].body["messages"][0]["content"]
    assert TEXTS["malformed"] in shown
    assert ASKED not in shown


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("mode", [*MODES, "nobody"])
def test_no_key_query_or_prompt_is_told(
    mode: str, wire: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving("good" if mode == "nobody" else mode) as provider:
        if mode == "nobody":
            provider.url = "http://127.0.0.1:9"
        one = model(provider, wire, query="?token=hidden-query")
        try:
            one.answer(question(ASKED), 0.5)
        except ModelFailed as failure:
            told = "".join(traceback.format_exception(failure)) + repr(failure.__dict__)
        else:
            told = ""
    for secret in (KEY, "sk-secret", "hidden-query", ASKED):
        assert secret not in told
        assert secret not in caplog.text.replace("?token=hidden-query HTTP", "")


@pytest.mark.parametrize("unfit", ["\nx", "ключ", "\udce9"])
def test_a_key_that_cannot_be_sent_is_named_by_its_variable_and_not_told(unfit: str) -> None:
    with serving() as provider:
        environment = {"OPENAI_BASE_URL": provider.url, "OPENAI_API_KEY": f"{KEY}{unfit}"}
        found, why = find("openai/m", environment)
        assert (found, provider.requests) == (None, [])
    assert why.startswith("OPENAI_API_KEY holds characters that no key has")
    assert KEY not in why


@pytest.mark.parametrize(
    "answered",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nabc\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    ],
)
def test_broken_http_is_told_in_words(answered: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(answered)

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        found = find("openai/m", {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY})[0]
        assert found
        with pytest.raises(ModelFailed) as failure:
            found.answer(question(), DEADLINE_S)
        thread.join()
    assert failure.value.why == NONSENSE


@pytest.mark.parametrize("asked", ["9" * 20, "Wed, 21 Oct 2099 07:28:00 GMT", "soon", "6"])
def test_who_asks_for_a_later_time_is_not_asked_again(asked: str) -> None:
    with serving("429", "good", retry_after=asked) as provider:
        found = find("openai/m", {"OPENAI_BASE_URL": provider.url, "OPENAI_API_KEY": KEY})[0]
        assert found
        with pytest.raises(ModelFailed):
            found.answer(question(), DEADLINE_S)
        assert len(provider.asked) == 1


@pytest.mark.parametrize("name", ["openai/" + "m" * 200, "openai/" + "m" * 900_000])
def test_a_models_name_that_no_row_can_hold_is_not_asked(name: str) -> None:
    found, why = find(name, {"OPENAI_API_KEY": KEY})
    assert (found, why) == (None, "the model's name is longer than 200 characters")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({}, (None, None)),
        ({"prompt_tokens": True, "completion_tokens": -1}, (None, None)),
        ({"prompt_tokens": "12", "completion_tokens": 10**40}, (None, None)),
        ({"prompt_tokens": 0, "completion_tokens": 7}, (0, 7)),
    ],
)
def test_counts_that_are_none_stay_unknown(
    usage: Mapping[str, object], expected: tuple[int | None, int | None]
) -> None:
    from orgvault.adapters.models import openai_wire

    said = {"choices": [{"message": {"content": "[]"}}], "usage": usage}
    answer = openai_wire.answer(said, tells_cost=True)
    assert (answer.tokens_in, answer.tokens_out) == expected


@pytest.mark.parametrize(
    ("cost", "expected"),
    [(0.0012, 0.0012), (0, 0.0), (None, None), (-1, None), ("1", None), (float("nan"), None)],
)
def test_a_cost_is_what_the_provider_says(cost: object, expected: float | None) -> None:
    from orgvault.adapters.models import openai_wire

    said = {"choices": [{"message": {"content": "[]"}}], "usage": {"cost": cost}}
    assert openai_wire.answer(said, tells_cost=True).cost_usd == expected
    assert openai_wire.answer(said, tells_cost=False).cost_usd is None
