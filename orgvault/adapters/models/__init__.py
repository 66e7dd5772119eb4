"""Models that answer a reflection's question, each behind `orgvault.domain.reflection.Model`.

A model's name is `builtin/extractive`, `cheap`, or `<provider>/<model>`, split at the first slash
only: `openrouter/google/gemma-4` is the model `google/gemma-4` of the provider openrouter.
"""

from collections.abc import Mapping

from orgvault.adapters.models.providers import PROVIDERS, Provider
from orgvault.domain.reflection import Model

EXTRACTIVE = "builtin/extractive"
CHEAP = "cheap"


def choose(name: str, environment: Mapping[str, str]) -> Model | None:
    """The model of a name, as this environment reaches it; None when there is none."""
    return find(name, environment)[0]


def find(
    name: str, environment: Mapping[str, str], providers: Mapping[str, Provider] = PROVIDERS
) -> tuple[Model | None, str]:
    """The model of a name; or None and why there is none, in at most 150 characters.

    Only `cheap` asks anything of the network: whether an Ollama answers, for half a second.
    """
    if name == EXTRACTIVE:
        from orgvault.adapters.models.extractive import Extractive

        return Extractive(), ""
    if name == CHEAP:
        from orgvault.adapters.models.cheap import cheap

        return cheap(environment, providers)
    provider, _, model = name.partition("/")
    if provider not in providers:
        return None, f"unknown provider {provider[:40] or 'without a name'}"
    if not model:
        return None, f"{provider} is a provider: say which model, {provider}/<model>"
    from orgvault.adapters.models.remote import reach

    return reach(providers[provider], model, environment)
