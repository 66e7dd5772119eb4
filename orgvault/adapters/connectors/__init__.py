"""Connectors that Python packages bring: entry points of the group `orgvault.connectors`.

Each names a mapping with the keys of `connector.yaml`.  Our own two are found in the same way.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from orgvault.values import dataclass

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "orgvault.connectors"
_WHY_CHARS = 200


@dataclass(frozen=True)
class Packaged:
    """What a package brings under a name: the object that it names, or why there is none."""

    name: str
    source: str  # "<package> (<module>:<object>)"
    value: object
    fault: str = ""


def names() -> list[str]:
    """The names that packages bring, sorted; nothing of theirs is imported."""
    return sorted({one.name for one in _entry_points()})


def load(name: str) -> Packaged | None:
    """What a package brings under a name; None when none does.  Imports the package's module.

    Of two packages that bring the same name neither is taken: chance would decide.
    """
    found = [one for one in _entry_points() if one.name == name]
    if not found:
        return None
    sources = sorted({_source(one) for one in found})
    if len(sources) > 1:
        return Packaged(name, sources[0], None, f"{' and '.join(sources)} bring the same name")
    try:
        return Packaged(name, sources[0], found[0].load())
    except (Exception, SystemExit) as failure:  # noqa: BLE001 - a stranger's module may do anything
        why = " ".join(f"{type(failure).__name__}: {failure}".split())[:_WHY_CHARS]
        return Packaged(name, sources[0], None, f"cannot be imported ({why})")


def _entry_points() -> Iterator["EntryPoint"]:
    from importlib.metadata import entry_points

    yield from entry_points(group=GROUP)


def _source(one: "EntryPoint") -> str:
    package = one.dist.name if one.dist is not None else "a package"
    return f"{package} ({one.value})"
