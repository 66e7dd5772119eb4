"""Attacks as files: what the gate once answered wrongly, kept for good.

JSON, so that every byte and every odd character can be told apart; bytes that are no UTF-8 stand
as lone surrogates.
"""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from tests.gate_attack.attack import FLAGGED, HONEST, HOSTILE, Attack
from tests.gate_attack.scene import SKILLS

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).resolve().parent.parent / "data" / "gate"
# What links in a skill may lead to, and where a diff could lead unnamed.
_ALWAYS = (f"{SKILLS}/look-around.md", f"{SKILLS}/build.md")


def load(path: Path) -> Attack:
    """A saved case; its intent is `honest` or `hostile`."""
    said = json.loads(path.read_text("ascii"))
    return Attack(
        path.stem,
        said["intent"],
        _bytes(said["diff"]),
        {name: _bytes(body) for name, body in said["files"].items()},
        said["links"],
        tuple(said["knowledge"]),
        said["key"],
    )


def save(attack: Attack, faults: tuple[str, ...], folder: Path = FOLDER, name: str = "") -> Path:
    """Write a case; it is named after its kind and its content."""
    named = {
        path: body for path, body in attack.files.items()
        if path.encode() in attack.diff or path in _ALWAYS
    }  # fmt: skip
    files = named if len(named) > len(_ALWAYS) else dict(attack.files)
    intent = attack.intent if attack.intent in {HONEST, FLAGGED} else HOSTILE
    said: Mapping[str, object] = {
        "why": list(faults),
        "intent": intent,
        "key": attack.key,
        "knowledge": list(attack.knowledge),
        "links": dict(attack.links),
        "diff": _text(attack.diff),
        "files": {path: _text(body) for path, body in files.items()},
    }
    kind = "".join(char if char.isalnum() else "-" for char in attack.name)
    digest = hashlib.sha256(attack.diff).hexdigest()[:8]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name or f'{kind}-{digest}'}.json"
    path.write_text(json.dumps(said, indent=1) + "\n", "ascii")
    return path


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")
