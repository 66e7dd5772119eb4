"""`init`: what a vault needs before its first agent, writing only what is missing."""

import re
from dataclasses import field
from pathlib import PurePath

from orgvault.domain.capability_parts import TEMPLATE
from orgvault.domain.ids import agent_id_fault
from orgvault.domain.org_compiler import compile_org, encode_compiled
from orgvault.errors import BadAgentId, NotCompilable, PathsIgnored
from orgvault.services.desk import Clock
from orgvault.store.entry import Message
from orgvault.store.roster import COMPILED, SOURCE
from orgvault.store.vault import NOBODY, ORG, Vault
from orgvault.values import dataclass

# Byte for byte as written, whatever the person's line-end settings and filters; rows of two
# branches are kept side by side.
ATTRIBUTES = """\
# Written by orgvault: its files stay byte for byte as they are.
* -text -filter -ident -working-tree-encoding
*.jsonl merge=union
"""
IGNORED = """\
# Written by orgvault: what a crash may leave behind.
.orgvault-tmp-*
*.torn-*
"""
DEFAULT_AGENT = "ada"
SCHEMA = f"{ORG}/org.schema.json"
MAKE = "org.mk"
STARTER = """\
# yaml-language-server: $schema=org.schema.json
# Who lives in this vault.  After an edit: `orgvault compile`.
version: 1
guild: {{name: {guild}}}
owner: {owner}
operators:
  - {{name: {owner}, role: owner{email}}}
timezone: UTC
# protected: [Areas/Health/]     # places that no agent may touch, beside the built-in ones
defaults:
  memory:
    # builtin/extractive needs no model and sends nothing anywhere.  A language model finds more:
    # cheap (a local Ollama, or the first provider that has a key), or <provider>/<model>.
    reflect: {{model: builtin/extractive}}
agents:
  {agent}:
    focus: Says in one line what this agent is for
    capabilities: [notes, memory]
"""


@dataclass(frozen=True)
class SetUp:
    """What `init` found and made; paths are relative to the vault."""

    root: str
    repository_made: bool
    written: tuple[str, ...]
    kept: tuple[str, ...]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Packaged:
    """Files that a new vault is given: org.yaml's JSON Schema, for editors, and system.md.

    `make` is org.mk, for those who want it.
    """

    schema: str
    template: str
    make: str | None = None


def init(
    vault: Vault, clock: Clock, version: str, agent: str, *, packaged: Packaged, made: bool
) -> SetUp:
    """Write what is missing, as one commit.  Raises PathsIgnored when git would never see it."""
    fault = agent_id_fault(agent)
    if fault:
        raise BadAgentId(fault)
    ignored = vault.ignored_by(SOURCE)
    if ignored:
        raise PathsIgnored(ignored, f"{ORG}/")
    wanted = {
        f"{ORG}/.gitattributes": ATTRIBUTES,
        f"{ORG}/.gitignore": IGNORED,
        SCHEMA: packaged.schema,
        TEMPLATE: packaged.template,
        SOURCE: _starter(vault, agent),
    }
    if packaged.make is not None:
        wanted[MAKE] = packaged.make
    source = vault.read(SOURCE)
    text = wanted[SOURCE] if source is None else source.decode(errors="replace")
    compiled, problems = compile_org(text, version)
    if compiled is not None:
        wanted[COMPILED] = encode_compiled(compiled)
    elif source is None:
        raise NotCompilable(SOURCE, problems)
    kept = tuple(path for path in wanted if vault.read(path) is not None)
    written = tuple(path for path in wanted if path not in kept)
    if written:
        message = Message("org(vault): init", {"Orgvault-Op": "init", "Orgvault-Version": version})
        author = vault.repository.identity or NOBODY
        with vault.change(message, author, clock.now()) as change:
            for path in written:
                change.write(path, wanted[path])
    notes = list(map(str, problems))
    if (
        SOURCE in kept
        and compiled is not None
        and agent not in (*compiled["agents"], DEFAULT_AGENT)
    ):
        notes.append(f"{SOURCE} is there already, so {agent} was not added: edit it")
    return SetUp(vault.root, made, written, kept, notes)


def _starter(vault: Vault, agent: str) -> str:
    identity = vault.repository.identity
    owner = _short_name(identity.name if identity else "")
    email = f", email: {_quoted(identity.email)}" if identity and identity.email else ""
    return STARTER.format(
        guild=_quoted(PurePath(vault.root).name or "Vault"),
        owner=owner if owner != agent else f"{owner}-owner",
        email=email, agent=agent,
    )  # fmt: skip


def _short_name(name: str) -> str:
    """An operator's name from a git identity: its first word in plain small letters."""
    import unicodedata

    plain = unicodedata.normalize("NFKD", name.strip().partition(" ")[0])
    letters = re.sub(r"[^a-z0-9]", "", plain.casefold())
    return letters[:32] if letters and not agent_id_fault(letters) else "owner"


def _quoted(text: str) -> str:
    from json import dumps

    return dumps(text, ensure_ascii=False)
