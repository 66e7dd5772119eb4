"""The providers: which wire each speaks, where it is, which key it wants, how it takes a schema.

Addresses, keys and models as their own pages said in November 2026; docs/reference/models.md says
it for people, and a test compares the two.
"""

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from orgvault.values import dataclass

# How an answer's form is asked for: the schema itself, "JSON of any form", or by the prompt alone.
SCHEMA, OBJECT, PROMPT = "json_schema", "json_object", "prompt"
OLLAMA_PORT = 11434


@dataclass(frozen=True, kw_only=True)
class Provider:
    """One provider, or any server of its kind.

    `wire` is `openai` (chat completions) or `anthropic` (messages).  `base` is the address that
    the wire's path is added to, and `base_variable` the variable that holds another one.  The
    first of `keys` that is set is the key.  `forms` are the ways of asking for JSON, the
    strictest first.  `cheap` is the model of `cheap`, asked for `effort` of reasoning.  `limit`
    is what the wire's limit on tokens written is called there, `tokens_out` the limit.  Its
    answers hold a cost in US dollars if `tells_cost`.
    """

    name: str
    wire: str = "openai"
    base: str
    base_variable: str = ""
    keys: tuple[str, ...]
    key_needed: bool = True
    forms: tuple[str, ...] = (SCHEMA, OBJECT, PROMPT)
    temperature: bool = True
    limit: str = "max_tokens"
    tokens_out: int = 8000
    cheap: str = ""
    effort: str = ""
    tells_cost: bool = False


_ALL = (
    Provider(
        name="ollama",
        base=f"http://127.0.0.1:{OLLAMA_PORT}/v1",
        base_variable="OLLAMA_HOST",
        keys=("OLLAMA_API_KEY",),  # for ollama.com only
        key_needed=False,
    ),
    Provider(
        name="openai",
        base="https://api.openai.com/v1",
        base_variable="OPENAI_BASE_URL",
        keys=("OPENAI_API_KEY",),
        temperature=False,  # its models take the default only
        limit="max_completion_tokens",
        cheap="gpt-6-luna",
        effort="low",
    ),
    Provider(
        name="anthropic",
        wire="anthropic",
        base="https://api.anthropic.com",
        base_variable="ANTHROPIC_BASE_URL",
        keys=("ANTHROPIC_API_KEY",),
        forms=(SCHEMA, PROMPT),
        temperature=False,  # refused since Claude Haiku 5.5
        cheap="claude-haiku-5-5",
        effort="low",
    ),
    Provider(
        name="gemini",
        base="https://generativelanguage.googleapis.com/v1beta/openai",
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        cheap="gemini-3.5-flash-lite",
    ),
    Provider(
        name="openrouter",
        base="https://openrouter.ai/api/v1",
        keys=("OPENROUTER_API_KEY",),
        cheap="openai/gpt-6-luna",
        effort="low",
        tells_cost=True,
    ),
    Provider(
        name="mistral",
        base="https://api.mistral.ai/v1",
        keys=("MISTRAL_API_KEY",),
        cheap="mistral-small-latest",
    ),
    Provider(
        name="groq",
        base="https://api.groq.com/openai/v1",
        keys=("GROQ_API_KEY",),
        tokens_out=4000,  # what may be written counts against its free plan's 8,000 a minute
        cheap="openai/gpt-oss-20b",
        effort="low",
    ),
)
# In the order in which `cheap` tries them.
PROVIDERS: Mapping[str, Provider] = {one.name: one for one in _ALL}


def address(provider: Provider, environment: Mapping[str, str]) -> tuple[str, str]:
    """The base address, without a slash at its end; "" and why when it is none."""
    variable = provider.base_variable
    given = environment.get(variable, "").strip() if variable else ""
    if variable == "OLLAMA_HOST":
        given = ollama_address(given) if given else ""
    base = (given or provider.base).rstrip("/")
    return (base, "") if _is_http(base) else ("", f"{variable} is no http address")


def _is_http(address: str) -> bool:
    try:
        parts = urlsplit(address)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return sound and address.isprintable() and " " not in address


def key(provider: Provider, environment: Mapping[str, str]) -> str:
    """The key: the first variable of the provider that holds one; "" when none does."""
    return environment.get(_key_variable(provider, environment), "").strip()


def key_fault(provider: Provider, environment: Mapping[str, str]) -> str:
    """Why the key cannot be sent; "" when it can, or there is none."""
    found = key(provider, environment)
    if found.isascii() and found.isprintable():
        return ""
    variable = _key_variable(provider, environment)
    return f"{variable} holds characters that no key has (a line break, or letters beyond ASCII)"


def _key_variable(provider: Provider, environment: Mapping[str, str]) -> str:
    return next((name for name in provider.keys if environment.get(name, "").strip()), "")


def ollama_address(given: str) -> str:
    """What OLLAMA_HOST means, as ollama/envconfig reads it, with the `/v1` of its OpenAI face.

    `host`, `host:port`, `:port`, an IPv6 address with or without brackets, `http://…` (port 80),
    `https://…` (port 443); a server's "any address" (0.0.0.0, ::) is this machine.
    """
    given = given.strip().strip("\"'").strip()
    if given == "ollama.com":
        given = "https://ollama.com"
    scheme, found, rest = given.partition("://")
    if not found:
        scheme, rest = "http", given
    rest, _, path = rest.partition("/")
    default = {"http": 80, "https": 443}.get(scheme, OLLAMA_PORT) if found else OLLAMA_PORT
    if rest.count(":") > 1 and not rest.startswith("["):
        rest = f"[{rest}]"
    host, port = _host_and_port(rest, default)
    if host in {"", "0.0.0.0", "::"}:  # noqa: S104 - where a server listens, not where we do
        host = "127.0.0.1"
    host = f"[{host}]" if ":" in host else host
    path = f"/{path.strip('/')}" if path.strip("/") else ""
    return f"{scheme}://{host}:{port}{path.removesuffix('/v1')}/v1"


def is_loopback(base: str) -> bool:
    """Whether an address is this machine, so that no key is needed and no proxy is asked."""
    host = (urlsplit(base).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def proxy(base: str, environment: Mapping[str, str]) -> str:
    """The proxy that the usual variables name for an address; "" for none.

    This machine is always reached directly, as is what NO_PROXY lists.
    """
    parts = urlsplit(base)
    host = parts.hostname or ""
    if is_loopback(base):
        return ""
    for entry in _variable("no_proxy", environment).split(","):
        name = entry.strip().lower().lstrip(".")
        if name and (name in {"*", host} or host.endswith(f".{name}")):
            return ""
    found = environment.get(_proxy_variable(base, environment), "").strip()
    return found if "://" in found or not found else f"http://{found}"


def proxy_fault(base: str, environment: Mapping[str, str]) -> str:
    """Why the proxy for an address cannot be asked; "" when it can, or there is none."""
    found = proxy(base, environment)
    if not found or _is_http(found):
        return ""
    return f"{_proxy_variable(base, environment)} names no http proxy"


def _proxy_variable(base: str, environment: Mapping[str, str]) -> str:
    names = (f"{urlsplit(base).scheme}_proxy", "all_proxy")
    known = (name for one in names for name in (one, one.upper()))
    return next((name for name in known if environment.get(name, "").strip()), "")


def _variable(name: str, environment: Mapping[str, str]) -> str:
    return (environment.get(name) or environment.get(name.upper(), "")).strip()


def _host_and_port(given: str, default: int) -> tuple[str, int]:
    parts = urlsplit(f"//{given}")
    try:
        port = parts.port
    except ValueError:
        port = None
    return parts.hostname or "", default if port is None else port
