"""`cheap`: a local Ollama with a chat model, else the first provider whose key is set."""

import re
from collections.abc import Mapping

from orgvault.adapters.models.http import Client, within
from orgvault.adapters.models.providers import Provider, address, key, proxy
from orgvault.adapters.models.remote import OK, reach
from orgvault.adapters.models.wire import json_object, part
from orgvault.domain.reflection import Model

PROBE_S = 0.5
# Of models that turn text into numbers.  Older Ollamas do not tell what a model can do.
_EMBEDS = (
    r"embed|(?:^|[/_-])(?:bge|gte|e5|minilm|all-minilm|paraphrase|rerank\w*)(?:[_:-]|$)|-minilm"
)


def cheap(
    environment: Mapping[str, str], providers: Mapping[str, Provider]
) -> tuple[Model | None, str]:
    """The cheap model; or None and why there is none."""
    model = chat_model(providers["ollama"], environment) if "ollama" in providers else ""
    if model:
        return reach(providers["ollama"], model, environment)
    known = [one for one in providers.values() if one.cheap]
    for provider in known:
        if key(provider, environment):
            return reach(provider, provider.cheap, environment)
    return None, f"no Ollama with a chat model answers, and no key of {_names(known)} is set"


def chat_model(ollama: Provider, environment: Mapping[str, str]) -> str:
    """The first chat model that Ollama lists (the latest that was installed) and runs itself.

    "" when there is none, or when Ollama does not answer within half a second.  A model that
    Ollama passes on to its cloud is not local, and is not chosen here.
    """
    base, why = address(ollama, environment)
    if why:
        return ""
    url = f"{base.removesuffix('/v1')}/api/tags"
    token = key(ollama, environment)
    headers = {"Authorization": f"Bearer {token}"} if token else {}

    def listed(client: Client) -> object:
        reply = client.send("GET", url, headers)
        return part(json_object(reply.body, reply.kind), "models") if reply.status == OK else None

    try:
        models = within(PROBE_S, listed, proxy(base, environment))
    except Exception:  # noqa: BLE001 - whatever it is, it is no Ollama
        return ""
    rows = models if isinstance(models, list) else []
    return next((name for one in rows if (name := _chat_name(one))), "")


def _chat_name(row: object) -> str:
    """The name of a listed model that can chat on that machine; "" for another."""
    name = part(row, "name") or part(row, "model")
    if not isinstance(name, str) or not name:
        return ""
    if part(row, "remote_host") or part(row, "remote_model") or name.endswith(("-cloud", ":cloud")):
        return ""
    abilities = part(row, "capabilities")
    if isinstance(abilities, list) and abilities:
        return name if "completion" in abilities else ""
    families = part(part(row, "details"), "families")
    family = part(part(row, "details"), "family")
    kin = [*(families if isinstance(families, list) else []), family]
    if any(isinstance(one, str) and "bert" in one for one in kin):
        return ""
    return "" if re.search(_EMBEDS, name.lower()) else name


def _names(providers: list[Provider]) -> str:
    return ", ".join(one.name for one in providers)
