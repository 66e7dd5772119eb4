"""core.md and org-agents.json in HEAD: what the claims render to, and what org.yaml compiles to."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256

from orgvault.domain.audit.cores import records
from orgvault.domain.audit.pair import Tree
from orgvault.domain.compiled import read_roster
from orgvault.domain.core_memory import render
from orgvault.domain.org_compiler import compile_org, encode_compiled
from orgvault.domain.roster import Agent, Roster
from orgvault.values import dataclass


@dataclass(frozen=True)
class Means:
    """How a core is rendered here: tokens counted, secrets masked; and by which orgvault."""

    count: Callable[[str], int]
    masked: Callable[[str], str]
    version: str


def core(tree: Tree, agent: Agent, means: Means, before: bytes = b"") -> bytes:
    """What the claims of an agent in a tree render to, or did `before` they were edited by hand."""
    found = records(tree, agent.id, before)
    claims = [replace(one, text=means.masked(one.text)) for one in found]
    budget = agent.memory.core_budget_tokens
    return render(agent.name, claims, budget, means.count).text.encode()


def roster(compiled: bytes | None) -> Roster | None:
    """The roster that a compiled file holds; None when it holds none."""
    found = _mapping(compiled)
    return None if found is None else read_roster(found, "")[0]


def source_of(compiled: bytes | None) -> str:
    """The sha256 of the org.yaml that a compiled file says it was made of; empty for none."""
    found = _mapping(compiled)
    return str(found.get("source_sha256", "")) if found is not None else ""


# What people name themselves: there a key more is a word of theirs, not another version's.
_OPEN = frozenset({"client", "env"})


def compiles_to(source: bytes, compiled: bytes, means: Means) -> bool:
    """Whether an org.yaml compiles to a file.

    One that another version of orgvault has compiled may have keys that ours has not, and lack
    such as say nothing; what both have must be the same, and so must be who is on the roster.
    """
    found = _mapping(compiled)
    if found is None or sha256(source).hexdigest() != found.get("source_sha256"):
        return False
    version = str(found.get("compiler", ""))
    made, _ = compile_org(source.decode(errors="replace"), version)
    if made is None:
        return False
    if encode_compiled(made).encode() == compiled:
        return True
    return version != means.version and _agrees(made, found)


def _agrees(made: object, found: object) -> bool:
    if not (isinstance(made, Mapping) and isinstance(found, Mapping)):
        return made == found
    if any(not _says_nothing(made[key]) for key in made.keys() - found.keys()):
        return False
    if any(made.get(key) != found.get(key) for key in _OPEN & (made.keys() | found.keys())):
        return False
    if _agents(made) != _agents(found):
        return False
    return all(_agrees(made[key], found[key]) for key in made.keys() & found.keys())


def _says_nothing(value: object) -> bool:
    """Whether a reader takes a missing key for the same: a switch or a limit says much."""
    return value is None or value in ("", {})


def _agents(value: Mapping[str, object]) -> set[str]:
    found = value.get("agents")
    return set(found) if isinstance(found, Mapping) else set()


def _mapping(content: bytes | None) -> Mapping[str, object] | None:
    try:
        found = json.loads(content) if content is not None else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
