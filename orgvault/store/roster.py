"""The compiled roster as a command reads it: fast, and never stopped by a half-edited org.yaml."""

import json

from orgvault.digests import sha256
from orgvault.domain.compiled import read_roster
from orgvault.domain.roster import Roster
from orgvault.errors import NotCompiled, UnusableRoster
from orgvault.store.vault import ORG, Vault

SOURCE = f"{ORG}/org.yaml"
COMPILED = f"{ORG}/org-agents.json"


def load(vault: Vault) -> tuple[Roster, list[str]]:
    """The roster, and remarks about how it was come by.

    A compiled file that cannot be parsed (conflict markers, a crash of another tool) is read
    from HEAD instead.  Raises NotCompiled, or UnusableRoster when no usable one exists.
    """
    content, here = used(vault)
    remarks: list[str] = []
    data = _parsed(content)
    if data is None:
        raise NotCompiled(COMPILED)
    if not here:
        why = "is missing" if vault.read(COMPILED) is None else "cannot be read as JSON"
        remarks.append(f"{COMPILED} {why}, the one in HEAD is used: run `orgvault compile`")
    roster, problems = read_roster(data, COMPILED)
    if roster is None:
        raise UnusableRoster(COMPILED, problems)
    remarks.extend(map(str, problems))
    source = vault.read(SOURCE)
    if source is not None and sha256(source).hexdigest() != roster.source_sha256:
        remarks.append(f"{SOURCE} has changed since it was compiled: run `orgvault compile`")
    return roster, remarks


def used(vault: Vault) -> tuple[bytes | None, bool]:
    """The compiled file that is read, and whether it is the working tree's and not HEAD's."""
    content = vault.read(COMPILED)
    here = _parsed(content) is not None
    return (content, True) if here else (vault.committed(COMPILED), False)


def _parsed(content: bytes | None) -> object:
    if content is None:
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
