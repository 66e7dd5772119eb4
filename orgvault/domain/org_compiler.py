"""From org.yaml to org-agents.json: every problem in one go, or everything resolved."""

from collections.abc import Mapping
from hashlib import sha256
from json import dumps
from typing import Any

from orgvault.domain.compiled import FORMAT as COMPILED_FORMAT
from orgvault.domain.compiled import display_name, read_memory
from orgvault.domain.format_version import newer_format
from orgvault.domain.org import FILE, FORMAT, OrgAgent, OrgFile
from orgvault.domain.org_agents import CompiledAgent, CompiledNotes, CompiledOrg
from orgvault.domain.org_rules import broken_rules, in_dot_folder
from orgvault.domain.problem import Problem
from orgvault.domain.record import plain
from orgvault.domain.roster import Operator
from orgvault.domain.yaml_record import problems_of, read_document
from orgvault.domain.yaml_tree import compose


def compile_org(text: str, version: str) -> tuple[dict[str, Any] | None, tuple[Problem, ...]]:
    """The compiled form of an org.yaml, as org-agents.json holds it.

    `text` is the file's bytes as UTF-8, line ends and all (their hash is kept); `version` is
    that of the compiler.  A dict and no problems, or None and every problem with its line.
    Pure: the same text and version give the same dict.
    """
    document = compose(text, FILE)
    if newer := newer_format(document.value, FORMAT, FILE, document.line_of(("version",))):
        return None, newer
    org, found = read_document(OrgFile, document)
    broken = problems_of(OrgFile, broken_rules(document.value), document)
    if org is None or broken:
        return None, tuple(sorted({*found, *broken}))
    written = document.value if isinstance(document.value, dict) else {}
    return plain(_resolved(org, written, text, version)), ()


def encode_compiled(compiled: Mapping[str, Any]) -> str:
    """The text of org-agents.json: sorted, stable, one value a line, for people's diffs."""
    return dumps(compiled, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def merged(base: object, over: object) -> object:
    """`over` laid on `base` key by key; anything but a mapping replaces what was there."""
    if not isinstance(base, Mapping) or not isinstance(over, Mapping):
        return over
    laid = {key: merged(base.get(key), value) for key, value in over.items()}
    return {**base, **laid}


def _resolved(org: OrgFile, written: Mapping[str, Any], text: str, version: str) -> CompiledOrg:
    shared = written.get("defaults", {}).get("memory", {})
    blocks = written.get("agents") or {}
    agents = [
        _agent(block.id or key, block, org, merged(shared, blocks[key].get("memory", {})))
        for key, block in (org.agents or {}).items()
    ]
    return CompiledOrg(
        version=COMPILED_FORMAT,
        compiler=version,
        source_sha256=sha256(text.encode()).hexdigest(),
        guild=org.guild,
        owner=org.owner,
        operators=tuple(
            Operator(name=one.name, role=one.role, email=one.email or None) for one in org.operators
        ),
        timezone=org.timezone,
        protected=org.protected,
        pages=org.pages,
        commit=org.commit,
        group=org.group,
        runs=org.runs,
        ledger=org.ledger,
        agents={agent.id: agent for agent in agents},
    )


def _agent(agent_id: str, block: OrgAgent, org: OrgFile, memory: object) -> CompiledAgent:
    folder = org.pages.folder.rstrip("/")
    home = (block.home or f"{folder}/Home/{agent_id}").rstrip("/")
    return CompiledAgent(
        id=agent_id,
        name=block.name or display_name(agent_id),
        focus=block.focus or None,
        lead=block.lead or None,
        home=home,
        description=block.description or None,
        personality=block.personality or None,
        goal=block.goal or None,
        perspective=block.perspective or None,
        style=block.style or None,
        voice=block.voice or None,
        principles=block.principles,
        task=block.task or f"[[{folder}/Tasks/{agent_id}]]",
        model=block.model or None,
        tools=block.tools,
        permission_mode=block.permission_mode,
        wakes_per_day=block.wakes_per_day,
        max_tool_calls=block.max_tool_calls or org.defaults.max_tool_calls,
        listen=block.listen,
        capabilities=block.capabilities,
        knowledge=block.knowledge,
        notes=_notes(block, home, f"{folder}/Guild"),
        connectors=block.connectors,
        secrets=block.secrets,
        repositories=block.repositories,
        client=block.client,
        memory=read_memory(memory)[0],  # each part was found valid, and limits are per key
    )


def _notes(block: OrgAgent, home: str, guild: str) -> CompiledNotes:
    own = (f"{home}/**", f"{guild}/**")
    visible = tuple(path for path in block.knowledge if not in_dot_folder(path))
    read, write = block.notes.read, block.notes.write
    return CompiledNotes(
        read=(*own, *visible) if read is None else read, write=own if write is None else write
    )
