"""State: what the world looks like when a run is created, as JSON that can do no harm."""

import json
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

from orgvault.domain import intros
from orgvault.domain.harmless import Harmless
from orgvault.domain.instants import day
from orgvault.values import dataclass

CORE_KEYS = frozenset(
    {
        "utc_date",
        "max_tool_calls",
        "group",
        "collections",
        "scripts",
        "environment",
        "repositories",
        "utc_now",
    }
)
COLLECTIONS_MAX = 50
# Of what a connector gives: JSON may be nested as deep as it is long.
DEPTH_MAX = 32
TOO_DEEP = "…"
_GROUP = ("about", "description", "members", "operators", "history")
# Not strftime's, which speaks the language of the person's system.
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class ConnectorKey:
    """What a connector adds: its key, its sentence in the intro, and the value it gave."""

    key: str
    intro: str
    value: Any


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Everything that State may hold; what is empty is left out."""

    utc_now: str
    max_tool_calls: int
    about: str = ""
    description: str = ""
    members: tuple[Mapping[str, str], ...] = ()
    operators: tuple[Mapping[str, str], ...] = ()
    history: tuple[Mapping[str, Any], ...] = ()
    collections: tuple[Mapping[str, Any], ...] = ()
    scripts: tuple[Mapping[str, Any], ...] = ()
    environment: tuple[Mapping[str, str], ...] = ()
    repositories: tuple[Mapping[str, str], ...] = ()
    connectors: tuple[ConnectorKey, ...] = ()


def state_section(snapshot: Snapshot, tools: Sequence[str], harmless: Harmless) -> str:
    """The text of the section State: its intro, and the snapshot."""
    group = _present(snapshot, _GROUP)
    lists = _present(snapshot, ("collections", "scripts", "environment", "repositories"))
    connectors = [one for one in snapshot.connectors if one.key not in CORE_KEYS]
    keys = {
        "utc_date": _day(snapshot.utc_now),
        "max_tool_calls": snapshot.max_tool_calls,
        **({"group": group} if group else {}),
        **lists,
        **{one.key: one.value for one in connectors},
        "utc_now": snapshot.utc_now,
    }
    sentences = filter(None, (" ".join(one.intro.split()) for one in connectors))
    named = ["utc_date", "max_tool_calls", *group, *lists, "utc_now"]
    intro = intros.state(named, list(map(harmless.block, sentences)), tools)
    return f"{intro}\n\nState:\n{_json(keys, harmless)}"


def harmless_json(value: object, masked: Callable[[str], str]) -> tuple[str, int]:
    """A value as indented JSON in which no text is a secret or a tag, and how many tags were."""
    harmless = Harmless(masked)
    return _json(value, harmless), harmless.count


def _json(value: object, harmless: Harmless) -> str:
    """A value as indented JSON.

    Each text is masked before it is written, so that no escape can hide what is masked; `<` is
    written as its escape.
    """
    text = json.dumps(_cleaned(value, harmless, DEPTH_MAX), ensure_ascii=False, indent=2)
    return text.replace("<", "\\u003c")


def _cleaned(value: object, harmless: Harmless, depth: int) -> object:
    if isinstance(value, str):
        return harmless.text(value)
    if isinstance(value, float) and not isfinite(value):
        return str(value)  # JSON has no such number
    if not isinstance(value, Mapping | list | tuple):
        return value
    if depth == 0:
        return TOO_DEEP
    if isinstance(value, Mapping):
        return {
            harmless.text(str(key)): _cleaned(item, harmless, depth - 1)
            for key, item in value.items()
        }
    return [_cleaned(item, harmless, depth - 1) for item in value]


def _present(snapshot: Snapshot, names: Sequence[str]) -> dict[str, Any]:
    """The keys of these names that hold anything, in order."""
    found = {name: getattr(snapshot, name) for name in names}
    return {name: _capped(name, value) for name, value in found.items() if value}


def _capped(name: str, value: Any) -> Any:  # noqa: ANN401 - what JSON can hold
    if name != "collections" or len(value) <= COLLECTIONS_MAX:
        return value
    return (*value[:COLLECTIONS_MAX], {"truncated": True})


def _day(utc_now: str) -> str:
    """The UTC day of an instant with its weekday: `Friday, 2026-11-20`."""
    at = day(utc_now)
    return f"{_WEEKDAYS[at.weekday()]}, {at.isoformat()}"
