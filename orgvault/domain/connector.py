"""Connectors: outside systems that may each add one State key and one Guidelines paragraph."""

from collections.abc import Iterable, Mapping, Sequence

from orgvault.domain.forms import CONNECTOR, PROSE, VARIABLE
from orgvault.domain.problem import Problem
from orgvault.domain.record import says
from orgvault.domain.snapshot import CORE_KEYS
from orgvault.values import dataclass


@dataclass(frozen=True, kw_only=True)
class StateKey:
    """What a connector adds to State."""

    key: str = says("The key in State.", pattern=CONNECTOR)
    intro: str = says("The sentence that explains the key.", pattern=PROSE, max_chars=2000)
    command: tuple[str, ...] = says(
        "The program that gives the value, and its arguments; no shell.",
        pattern=r"[^\x00]+", max_chars=1000,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Guidance:
    """What a connector adds to the Guidelines."""

    guidance: str = says("One paragraph.", default="", max_chars=8000)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """`connectors/<name>/connector.yaml`, or what a package brings under that name."""

    version: int = says("Format version of the file.", default=1, minimum=1, maximum=1)
    title: str = says("What people call it.", pattern=PROSE, max_chars=200)
    state: StateKey = says("The key that it adds to State.")
    prompt: Guidance = says("What it adds to the Guidelines.", default=Guidance())
    tools: tuple[str, ...] = says(
        "Tools of the client that go with it.", default=(), pattern=r"\S+", max_chars=200
    )
    login: tuple[str, ...] = says(
        "Secrets that must be set for it, and bound to the agent.", default=(), pattern=VARIABLE
    )


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """`connectors/catalog.yaml`."""

    version: int = says("Format version of the file.", default=1, minimum=1, maximum=1)
    order: tuple[str, ...] = says(
        "Names of connectors, as they follow each other in a prompt.", default=(), pattern=CONNECTOR
    )


@dataclass(frozen=True, kw_only=True)
class Connector:
    """A connector that is known: what it says of itself, and where it comes from.

    `path` is its manifest in the vault, empty for one that a package brings; `source` is that
    path, or the name of the package; `blob` is git's name for the manifest's content; `folder`
    is its folder on this machine, empty for a package's.
    """

    name: str
    manifest: Manifest
    source: str
    blob: str
    path: str = ""
    folder: str = ""

    @property
    def key(self) -> str:
        """Its key in State."""
        return self.manifest.state.key

    @property
    def intro(self) -> str:
        """The sentence that explains the key."""
        return self.manifest.state.intro

    @property
    def guidance(self) -> str:
        """Its paragraph in the Guidelines; empty when it has none."""
        return self.manifest.prompt.guidance


def in_order(names: Iterable[str], catalog: Sequence[str]) -> list[str]:
    """Names in the order of the catalog; those that it does not name come after it, by name."""
    places = {name: place for place, name in reversed(list(enumerate(catalog)))}
    return sorted(set(names), key=lambda name: (places.get(name, len(places)), name))


def refused(connectors: Iterable[Connector], lines: Mapping[str, int]) -> dict[str, Problem]:
    """Why connectors may not be used, by name: the State key is not theirs to have.

    `connectors` stand in their order; `lines` has where each one's key is written.
    """
    found: dict[str, Problem] = {}
    owners: dict[str, str] = {}
    for one in connectors:
        line = lines.get(one.name, 0)
        if one.key in CORE_KEYS:
            what = f"state.key: `{one.key}` is a key of State's own"
            found[one.name] = Problem(one.source, line, what, "give it another key")
        elif (owner := owners.setdefault(one.key, one.name)) != one.name:
            what = f"state.key: `{one.key}` is taken by the connector {owner}"
            found[one.name] = Problem(one.source, line, what, "give it another key")
    return found


def missing_login(login: Iterable[str], bound: Iterable[str], is_set: Iterable[str]) -> list[str]:
    """What keeps a login from being connected, one clause for each secret; empty when it is."""
    bound, is_set = frozenset(bound), frozenset(is_set)
    return [
        f"{name} is not set" if name in bound else f"{name} is not bound to the agent"
        for name in login
        if name not in bound or name not in is_set
    ]
