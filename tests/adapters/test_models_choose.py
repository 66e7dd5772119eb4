"""Which model a name means, and how an environment reaches it."""

import re
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from orgvault.adapters.models import choose, find
from orgvault.adapters.models.cheap import PROBE_S
from orgvault.adapters.models.extractive import Extractive
from orgvault.adapters.models.providers import (
    PROVIDERS,
    address,
    is_loopback,
    ollama_address,
    proxy,
)
from tests.provider import GOOD, question, serving

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "models.md"
# Nobody listens there: port 9 is "discard", which no machine serves any more.
NOBODY = {"OLLAMA_HOST": "127.0.0.1:9"}
KEYED = {name: f"key-of-{name}" for one in PROVIDERS.values() for name in one.keys}
LLAMA = {"name": "llama4:8b", "details": {"family": "llama"}, "capabilities": ["completion"]}


def name_of(environment: Mapping[str, str], name: str = "cheap") -> str | None:
    found = choose(name, environment)
    return found.name if found else None


def test_the_model_that_is_none() -> None:
    found = choose("builtin/extractive", {})
    assert isinstance(found, Extractive)
    assert not found.metered


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("acme/gpt", "unknown provider acme"),
        ("builtin/other", "unknown provider builtin"),
        ("off", "unknown provider off"),
        ("", "unknown provider without a name"),
        ("x" * 300, f"unknown provider {'x' * 40}"),
        ("openai", "openai is a provider: say which model, openai/<model>"),
        ("openai/", "openai is a provider: say which model, openai/<model>"),
        ("openai/m", "OPENAI_API_KEY is not set"),
        ("gemini/m", "GEMINI_API_KEY or GOOGLE_API_KEY is not set"),
    ],
)
def test_no_model_has_a_reason(name: str, why: str) -> None:
    assert find(name, {}) == (None, why)
    assert len(why) <= 150


@pytest.mark.parametrize("base", ["ftp://x", "nowhere", "http://", "http://[::1", "http://x:99999"])
def test_an_address_that_is_none(base: str) -> None:
    given = {"OPENAI_BASE_URL": base, "OPENAI_API_KEY": "k"}
    assert find("openai/m", given) == (None, "OPENAI_BASE_URL is no http address")


@pytest.mark.parametrize("provider", list(PROVIDERS))
def test_every_provider_is_asked_at_its_address_with_its_key(provider: str) -> None:
    with serving() as server:
        row = PROVIDERS[provider]
        path = re.sub("^https?://[^/]+", "", row.base)
        here = replace(row, base=f"{server.url}{path}", base_variable="")
        found, why = find(f"{provider}/maker/model:1", KEYED, {provider: here})
        assert found, why
        assert found.metered
        assert found.name == f"{provider}/maker/model:1"
        answer = found.answer(question(), 20)
    assert answer.text == GOOD
    assert answer.cost_usd == (0.01 if provider == "openrouter" else None)
    (request,) = server.asked
    assert request.body["model"] == "maker/model:1"
    wire = {"anthropic": "/v1/messages"}.get(provider, f"{path}/chat/completions")
    assert request.path == wire
    sent = request.headers.get("x-api-key") or request.headers["authorization"].split()[1]
    assert sent == f"key-of-{row.keys[0]}"


def test_this_machine_needs_no_key() -> None:
    with serving() as server:
        found = choose("openai/local", {"OPENAI_BASE_URL": f"{server.url}/v1/"})
        assert found
        found.answer(question(), 20)
    (request,) = server.asked
    assert request.path == "/v1/chat/completions"
    assert "authorization" not in request.headers


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", "http://127.0.0.1:11434/v1"),
        ("127.0.0.1", "http://127.0.0.1:11434/v1"),
        ("box", "http://box:11434/v1"),
        ("box:8080", "http://box:8080/v1"),
        (":8080", "http://127.0.0.1:8080/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),  # noqa: S104 - what a server listens on
        ("0.0.0.0:1234", "http://127.0.0.1:1234/v1"),
        ("::1", "http://[::1]:11434/v1"),
        ("[::1]", "http://[::1]:11434/v1"),
        ("[::1]:80", "http://[::1]:80/v1"),
        ("[::]:80", "http://127.0.0.1:80/v1"),
        ("http://box", "http://box:80/v1"),
        ("http://box:11434/", "http://box:11434/v1"),
        ("https://box", "https://box:443/v1"),
        ("https://box/ollama/", "https://box:443/ollama/v1"),
        ("http://box:1/v1", "http://box:1/v1"),
        ("box:port", "http://box:11434/v1"),
        ("ollama.com", "https://ollama.com:443/v1"),
        (' "box:8080" ', "http://box:8080/v1"),
    ],
)
def test_ollama_host_in_all_its_forms(given: str, expected: str) -> None:
    assert ollama_address(given) == expected
    assert address(PROVIDERS["ollama"], {"OLLAMA_HOST": given}) == (expected, "")


@pytest.mark.parametrize(
    ("base", "here"),
    [
        ("http://localhost:1/v1", True),
        ("http://a.localhost/v1", True),
        ("http://127.8.9.1/v1", True),
        ("http://[::1]:5/v1", True),
        ("http://localhost.example.org/v1", False),
        ("https://api.openai.com/v1", False),
        ("http://10.0.0.1/v1", False),
    ],
)
def test_what_this_machine_is(base: str, here: bool) -> None:  # noqa: FBT001
    assert is_loopback(base) == here


PROXIED = {"HTTPS_PROXY": "http://p:3128", "http_proxy": "p2:80"}


@pytest.mark.parametrize(
    ("base", "more", "expected"),
    [
        ("https://api.openai.com/v1", {}, "http://p:3128"),
        ("http://box.lan/v1", {}, "http://p2:80"),
        ("http://127.0.0.1:11434/v1", {}, ""),
        ("http://localhost/v1", {}, ""),
        ("https://box.lan/v1", {"NO_PROXY": "x, .lan"}, ""),
        ("https://box.lan/v1", {"no_proxy": "*"}, ""),
        ("https://xlan/v1", {"no_proxy": "lan"}, "http://p:3128"),
        ("https://box.lan/v1", {"https_proxy": "socks5://s"}, "socks5://s"),
    ],
)
def test_proxies_are_the_usual_ones_and_never_for_this_machine(
    base: str, more: Mapping[str, str], expected: str
) -> None:
    assert proxy(base, {**PROXIED, **more}) == expected


def test_a_proxy_is_asked_for_the_whole_address() -> None:
    with serving() as server:
        given = {
            "OPENAI_BASE_URL": "http://models.example.org/v1",
            "OPENAI_API_KEY": "k",
            "HTTP_PROXY": server.url.replace("//", "//me:pass@"),
        }
        found = choose("openai/m", given)
        assert found
        assert found.answer(question(), 20).text == GOOD
    (request,) = server.asked
    assert request.path == "http://models.example.org/v1/chat/completions"
    assert request.headers["proxy-authorization"] == "Basic bWU6cGFzcw=="


def test_a_proxy_of_an_unknown_kind() -> None:
    for variable, given in (
        ("HTTPS_PROXY", "socks5://me:pass@s"),
        ("https_proxy", "not a proxy"),
        ("all_proxy", "http://127.0.0.1:abc"),
    ):
        found, why = find("openai/m", {"OPENAI_API_KEY": "k", variable: given})
        assert (found, why) == (None, f"{variable} names no http proxy")


# ── cheap ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "passed_over",
    [
        {"name": "nomic-embed-text:latest", "details": {"family": "nomic-bert"}},
        {"name": "embeddinggemma:latest", "details": {"family": "gemma3"}},
        {"name": "bge-m3:latest", "details": {"families": ["bert"]}},
        {"name": "all-minilm:33m", "details": {}},
        {"name": "qwen4-reranker", "capabilities": ["embedding"]},
        {"name": "gpt-oss:120b-cloud", "capabilities": ["completion"]},
        {"name": "glm-5:latest", "remote_host": "https://ollama.com:443"},
        {"name": ""},
        {},
    ],
)
def test_cheap_is_the_first_chat_model_of_a_local_ollama(passed_over: Mapping[str, object]) -> None:
    with serving(models=[passed_over, LLAMA, {"name": "other"}]) as server:
        assert name_of(KEYED | {"OLLAMA_HOST": server.url}) == "ollama/llama4:8b"
    with serving(models=[passed_over]) as server:
        assert name_of(KEYED | {"OLLAMA_HOST": server.url}) == "openai/gpt-6-luna"


def test_an_old_ollama_tells_less_of_its_models() -> None:
    with serving(models=[{"model": "mistral:7b"}]) as server:
        environment = {"OLLAMA_HOST": server.url.removeprefix("http://")}
        found = choose("cheap", environment)
        assert found
        assert found.name == "ollama/mistral:7b"
        assert found.answer(question(), 20).text == GOOD
    (request,) = server.asked
    assert request.path == "/v1/chat/completions"
    assert request.body["model"] == "mistral:7b"


@pytest.mark.parametrize("mode", ["slow", "drip"])
def test_an_ollama_that_does_not_answer_at_once_is_none(mode: str) -> None:
    with serving(mode, models=[LLAMA]) as server:
        start = time.monotonic()
        assert name_of({"OLLAMA_HOST": server.url}) is None
        assert time.monotonic() - start < PROBE_S + 2


def test_cheap_tries_the_providers_in_the_documented_order() -> None:
    left = dict(KEYED)
    found = []
    while name := name_of(left | NOBODY):
        found.append(name)
        for variable in PROVIDERS[name.partition("/")[0]].keys:
            left.pop(variable, None)
    rows = re.findall(
        r"^\| `(\w+)` \|.*\| `([^`|]+)` \|", DOCUMENT.read_text("utf-8"), re.MULTILINE
    )
    assert found == [f"{provider}/{model}" for provider, model in rows]
    why = "no Ollama with a chat model answers, and no key of "
    assert find("cheap", left | NOBODY) == (None, f"{why}{', '.join(list(PROVIDERS)[1:])} is set")


@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_key_is_none(value: str) -> None:
    assert name_of(NOBODY | {"OPENAI_API_KEY": value, "MISTRAL_API_KEY": "k"}) == (
        "mistral/mistral-small-latest"
    )


def test_the_document_names_every_address_and_variable() -> None:
    told = DOCUMENT.read_text("utf-8")
    for one in PROVIDERS.values():
        for word in (one.base.removesuffix("/v1"), one.base_variable, *one.keys, one.cheap):
            assert word in told


def test_nothing_of_http_is_imported_before_a_call() -> None:
    script = (
        "import sys\n"
        "from orgvault.adapters.models import choose\n"
        "assert choose('openai/m', {'OPENAI_API_KEY': 'k'}).name == 'openai/m'\n"
        "assert choose('anthropic/m', {}) is None\n"
        "heavy = ('urllib3', 'http', 'ssl', 'socket', 'requests', 'urllib.request')\n"
        "loaded = [one for one in heavy if one in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
