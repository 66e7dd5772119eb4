"""org-agents.json as the compiler writes it: org.yaml with everything resolved.

`compiled.read_roster` is the quick reader of what every command needs; this is the complete
list, for the compiler and the schema.
"""

from orgvault.domain.compiled import FORMAT
from orgvault.domain.forms import CONNECTOR, ONE_LINE, PROSE, RELATIVE_PATH
from orgvault.domain.ids import AGENT_ID, SHA256
from orgvault.domain.org import (
    OrgClient,
    OrgCommit,
    OrgGroup,
    OrgGuild,
    OrgLedger,
    OrgPages,
    OrgRepository,
    OrgRuns,
    OrgSecret,
)
from orgvault.domain.record import says
from orgvault.domain.roster import CAPABILITIES, MemorySettings, Operator
from orgvault.values import dataclass


@dataclass(frozen=True, kw_only=True)
class CompiledNotes:
    """`notes` of a compiled agent: path patterns in the vault."""

    read: tuple[str, ...] = says("Notes it may read.", pattern=RELATIVE_PATH)
    write: tuple[str, ...] = says("Notes it may write.", pattern=RELATIVE_PATH)


@dataclass(frozen=True, kw_only=True)
class CompiledAgent:
    """One agent, resolved; null stands for a text that org.yaml does not give."""

    id: str = says("The agent's id, and the key it stands under.", pattern=AGENT_ID)
    name: str = says("The display name.", pattern=ONE_LINE, max_chars=100)
    focus: str | None = says("One line on what it does.", pattern=ONE_LINE, max_chars=500)
    lead: str | None = says("The agent or operator who leads it.", pattern=AGENT_ID)
    home: str = says("Folder of its own notes.", pattern=RELATIVE_PATH)
    description: str | None = says("Prose: what it is.", pattern=PROSE)
    personality: str | None = says("Prose: its character.", pattern=PROSE)
    goal: str | None = says("Prose: what it works towards.", pattern=PROSE)
    perspective: str | None = says("Prose: how it looks at things.", pattern=PROSE)
    style: str | None = says("Prose: how it works.", pattern=PROSE)
    voice: str | None = says("Prose: how it speaks.", pattern=PROSE)
    principles: tuple[str, ...] = says("Rules it keeps.", pattern=PROSE)
    task: str = says("The standing purpose: text or [[note]].", pattern=PROSE)
    model: str | None = says("The client's model; null: the client's own.", pattern=ONE_LINE)
    tools: tuple[str, ...] = says("Tools of the client.", pattern=ONE_LINE)
    permission_mode: str = says("The client's mode.", pattern=ONE_LINE)
    wakes_per_day: int | None = says("Runs in a day; null for no limit.", minimum=0)
    max_tool_calls: int = says("Tool calls of a run.", minimum=1, maximum=100_000)
    listen: bool = says("Whether every message of the group chat wakes it.")
    capabilities: tuple[str, ...] = says("What it may be offered.", choices=CAPABILITIES)
    knowledge: tuple[str, ...] = says("Its skill files and folders.", pattern=RELATIVE_PATH)
    notes: CompiledNotes = says("Which notes it may read and write.")
    connectors: tuple[str, ...] = says("Outside systems it uses.", pattern=CONNECTOR)
    secrets: tuple[OrgSecret, ...] = says("Secrets it is given, by name.")
    repositories: tuple[OrgRepository, ...] = says("Repositories it works in.")
    client: OrgClient = says("The program that runs it.")
    memory: MemorySettings = says("Engine's defaults, org.yaml's and its own, merged.")


@dataclass(frozen=True, kw_only=True)
class CompiledOrg:
    """The whole of org-agents.json."""

    version: int = says("Format version of the file.", minimum=1, maximum=FORMAT)
    compiler: str = says("Version of the orgvault that wrote it.", max_chars=100)
    source_sha256: str = says("SHA-256 of org.yaml's bytes.", pattern=SHA256)
    guild: OrgGuild = says("The roster as a group.")
    owner: str = says("Name of the operator whose vault it is.", pattern=AGENT_ID)
    operators: tuple[Operator, ...] = says("The people, the owner among them.")
    timezone: str = says("Time zone of routines and days.", pattern=ONE_LINE)
    protected: tuple[str, ...] = says("Paths beside the built-in ones.", pattern=RELATIVE_PATH)
    pages: OrgPages = says("What people look at.")
    commit: OrgCommit = says("How orgvault commits.")
    group: OrgGroup = says("The group chat.")
    runs: OrgRuns = says("Stored runs.")
    ledger: OrgLedger = says("The measurement of proposals.")
    agents: dict[str, CompiledAgent] = says("The agents by id.", key_pattern=AGENT_ID)
