"""One diff against one vault, with what it wants and what must come of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tests.gate_attack.diffing import make_diff
from tests.gate_attack.scene import ORG, Scene

HONEST = "honest"  # must be accepted
FLAGGED = "flagged"  # must be accepted, with a flag on the card
HOSTILE = "hostile"  # must be refused
OPEN = "open"  # either; what is accepted is looked at like anything else


@dataclass(frozen=True)
class Attack:
    """A diff, the vault it is made for, and what must come of it.

    `key`: what the refusal of a hostile one must name; empty: anything.
    """

    name: str
    intent: str
    diff: bytes
    files: Mapping[str, bytes]
    links: Mapping[str, str | None] = field(default_factory=dict)
    knowledge: tuple[str, ...] = ()
    key: str = ""

    def having(self, diff: bytes, name: str, intent: str = HOSTILE) -> "Attack":
        """The same vault with another diff."""
        return replace(self, diff=diff, name=name, intent=intent, key="")


def on_file(
    scene: Scene, path: str, old: bytes, new: bytes, how: tuple[int, str] = (3, "git"),
    *, name: str, intent: str, key: str = "",
) -> Attack:  # fmt: skip
    """An attack on one file of a vault, whose content before is given.

    `how`: the lines of context, and the form of the diff's header.
    """
    return Attack(
        name,
        intent,
        make_diff(path, old, new, *how),
        {**scene.contents(), path: old},
        scene.links,
        scene.knowledge,
        key,
    )


def on_org(scene: Scene, new: str, *, name: str, intent: str = HOSTILE, key: str = "") -> Attack:
    """An attack on org.yaml: its text afterwards, with LF."""
    old = scene.written(scene.org())
    return on_file(scene, ORG, old, scene.written(new), name=name, intent=intent, key=key)
