"""Files of ours in YAML, read once more: by another loader than the store's, as texts and lists."""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from orgvault.domain.claim import Claim
from orgvault.domain.record import read as read_record
from orgvault.values import dataclass

_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
_SEAL_CHARS = 16
_COUNT = "[0-9]{1,9}"


def document(content: bytes) -> Mapping[str, Any] | None:
    """The mapping that a file holds, every scalar as its text; None when it holds none."""
    from ruamel.yaml.cyaml import CBaseLoader
    from ruamel.yaml.error import YAMLError

    try:
        words = content.decode()
        if "*" in words and _has_alias(CBaseLoader(words)):
            return None  # small files of aliases can stand for endless ones; ours have none
        found = CBaseLoader(words).get_single_data()
    except (YAMLError, ValueError, TypeError, RecursionError, AttributeError):
        return None
    return found if isinstance(found, dict) else None


def _has_alias(events: Any) -> bool:  # noqa: ANN401 - a parser of ruamel's, which has no types
    from ruamel.yaml.events import AliasEvent

    while events.check_event():
        if isinstance(events.get_event(), AliasEvent):
            return True
    return False


def text(found: Mapping[str, Any], key: str) -> str:
    """A scalar of a document; empty when it is not there, or null."""
    value = found.get(key)
    return value if isinstance(value, str) and value not in _NOTHING else ""


@dataclass(frozen=True)
class Kept:
    """A claim as its file tells it, in the plainest form: empty where nothing stands."""

    id: str
    agent: str
    kind: str
    text: str
    evidence: tuple[str, ...]
    times_seen: int
    first_seen: str
    last_seen: str
    written_by: str
    supersedes: str
    proposal: str
    proposed_evidence: tuple[str, ...]
    seal: str
    closed_at: str
    closed_by: str
    reason: str
    superseded_by: str

    @property
    def sealed(self) -> bool:
        """Whether kind and text are what the seal was made of."""
        return self.seal == seal(self.kind, self.text)


def seal(kind: str, words: str) -> str:
    """The seal of a claim with this kind and these words."""
    return sha256(f"{kind}\n{words}".encode()).hexdigest()[:_SEAL_CHARS]


def claim(content: bytes | None) -> Kept | None:
    """The claim in a file; None when it cannot be read as one."""
    found = document(content) if content is not None else None
    if found is None:
        return None
    count, words = found.get("times_seen"), found.get("text")
    lists = {name: found.get(name, []) for name in ("evidence", "proposed_evidence")}
    if not isinstance(count, str) or not isinstance(words, str) or not re.fullmatch(_COUNT, count):
        return None
    if not all(isinstance(one, list) for one in lists.values()):
        return None
    if not all(isinstance(run, str) for one in lists.values() for run in one):
        return None
    values: dict[str, Any] = {name: text(found, name) for name in Kept.__annotations__}
    values |= {name: tuple(one) for name, one in lists.items()}
    return Kept(**{**values, "text": words, "times_seen": int(count)})


def as_record(kept: Kept) -> Claim | None:
    """The same as the domain's record, for rendering; None when it is out of form."""
    optional = ("supersedes", "proposal", "closed_at", "closed_by", "reason", "superseded_by")
    plain: dict[str, Any] = {name: getattr(kept, name) for name in Kept.__annotations__}
    plain |= {name: plain[name] or None for name in optional}
    plain |= {name: list(plain[name]) for name in ("evidence", "proposed_evidence")}
    return read_record(Claim, plain)[0]
