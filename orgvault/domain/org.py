"""org.yaml as the owner writes it: the complete list of its keys, each with its default.

`memory` blocks may be partial: they are merged key by key when org.yaml is compiled, so the
defaults shown here are the engine's.
"""

from orgvault.domain.forms import CONNECTOR, EMAIL, ONE_LINE, PROSE, RELATIVE_PATH, VARIABLE
from orgvault.domain.ids import AGENT_ID
from orgvault.domain.record import says
from orgvault.domain.roster import CAPABILITIES, MemorySettings
from orgvault.values import dataclass

FILE = ".agents/org/org.yaml"
FORMAT = 1
ROUTERS = ("recent", "relevant")
MAX_TOOL_CALLS = 40


@dataclass(frozen=True, kw_only=True)
class OrgGuild:
    """`guild`: the roster as a group."""

    name: str = says("Name of the guild.", pattern=ONE_LINE, max_chars=100)
    about: str = says("One line about it.", default="", max_chars=500)
    description: str = says("A longer description.", default="", max_chars=8000)


@dataclass(frozen=True, kw_only=True)
class OrgOperator:
    """One entry of `operators`: a person with a role."""

    name: str = says("Short name, an id like an agent's.", pattern=AGENT_ID)
    role: str = says(
        "owner (exactly one has it) or reviewer.", default="reviewer", choices=("owner", "reviewer")
    )
    email: str = says(
        "The address of their git identity, by which they are known.",
        default="",
        pattern=EMAIL,
        max_chars=200,
    )


@dataclass(frozen=True, kw_only=True)
class OrgPages:
    """`pages`: what people look at in Obsidian."""

    folder: str = says(
        "The visible folder of the pages.", default="Org", pattern=RELATIVE_PATH, max_chars=200
    )
    claims: bool = says("Whether each claim gets a page.", default=False)


@dataclass(frozen=True, kw_only=True)
class OrgCommit:
    """`commit`: how orgvault commits."""

    sign: bool = says("Whether its commits are signed with the person's key.", default=False)


@dataclass(frozen=True, kw_only=True)
class OrgGroup:
    """`group`: the group chat."""

    router: str = says(
        "Which messages State shows: the last 10, or the 10 most relevant of the last 40.",
        default="recent",
        choices=ROUTERS,
    )


@dataclass(frozen=True, kw_only=True)
class OrgRuns:
    """`runs`: stored runs."""

    keep_days: int | None = says(
        "Days after which a run's texts leave the working tree; null for never.",
        default=None,
        minimum=1,
    )


@dataclass(frozen=True, kw_only=True)
class OrgLedger:
    """`ledger`: the measurement of shipped proposals."""

    margin: float = says(
        "How much worse a number may get, as a share.", default=0.10, minimum=0, maximum=1
    )


@dataclass(frozen=True, kw_only=True)
class OrgDefaults:
    """`defaults`: what an agent's block inherits."""

    max_tool_calls: int = says(
        "Tool calls that a run may make.", default=MAX_TOOL_CALLS, minimum=1, maximum=100_000
    )
    memory: MemorySettings = says(
        "Memory settings; a key that is missing has the engine's default.", default=MemorySettings()
    )


@dataclass(frozen=True, kw_only=True)
class OrgNotes:
    """`notes` of an agent: path patterns in the vault."""

    read: tuple[str, ...] | None = says(
        "Notes it may read; default: its home, the guild's, its knowledge outside dot-folders.",
        default=None,
        pattern=RELATIVE_PATH,
        max_chars=500,
    )
    write: tuple[str, ...] | None = says(
        "Notes it may write; default: its home and the guild's notes.",
        default=None,
        pattern=RELATIVE_PATH,
        max_chars=500,
    )


@dataclass(frozen=True, kw_only=True)
class OrgSecret:
    """One entry of an agent's `secrets`: a name, never a value."""

    name: str = says("The environment variable that holds it.", pattern=VARIABLE)
    description: str = says("What it is for.", default="", max_chars=500)


@dataclass(frozen=True, kw_only=True)
class OrgRepository:
    """One entry of an agent's `repositories`."""

    name: str = says("Short name.", pattern=ONE_LINE, max_chars=100)
    path: str = says(
        "Its working tree; `~` is the person's home.", pattern=ONE_LINE, max_chars=1000
    )


@dataclass(frozen=True, kw_only=True)
class OrgClient:
    """`client` of an agent: the program that runs it."""

    command: tuple[str, ...] = says(
        "The command and its arguments; it reads the prompt on stdin.", default=(), pattern=PROSE
    )
    env: dict[str, str] = says(
        "Variables that are set for it; secrets do not belong here.",
        default={},
        key_pattern=VARIABLE,
    )


@dataclass(frozen=True, kw_only=True)
class OrgAgent:
    """One block under `agents`."""

    id: str = says("The agent's id; default: the block's key.", default="", pattern=AGENT_ID)
    name: str = says(
        "The display name; default: the id in title case.",
        default="",
        pattern=ONE_LINE,
        max_chars=100,
    )
    focus: str = says("One line on what it does.", default="", pattern=ONE_LINE, max_chars=500)
    lead: str = says(
        "The agent or operator who may correct its memory beside the owner.",
        default="",
        pattern=AGENT_ID,
    )
    home: str = says(
        "Folder of its own notes; default: <pages folder>/Home/<id>.",
        default="",
        pattern=RELATIVE_PATH,
        max_chars=500,
    )
    description: str = says("Prose: what it is.", default="", pattern=PROSE)
    personality: str = says("Prose: its character.", default="", pattern=PROSE)
    goal: str = says("Prose: what it works towards.", default="", pattern=PROSE)
    perspective: str = says("Prose: how it looks at things.", default="", pattern=PROSE)
    style: str = says("Prose: how it works.", default="", pattern=PROSE)
    voice: str = says("Prose: how it speaks.", default="", pattern=PROSE)
    principles: tuple[str, ...] = says("Rules it keeps, one text each.", default=(), pattern=PROSE)
    task: str = says(
        "The standing purpose: text or [[note]]; default: [[<pages folder>/Tasks/<id>]].",
        default="",
        pattern=PROSE,
    )
    model: str = says(
        "The client's model; default: the client's own.", default="", pattern=ONE_LINE
    )
    tools: tuple[str, ...] = says("Tools of the client.", default=(), pattern=ONE_LINE)
    permission_mode: str = says("The client's mode.", default="default", pattern=ONE_LINE)
    wakes_per_day: int | None = says(
        "Runs that the dispatcher starts in a day; null for no limit.", default=None, minimum=0
    )
    max_tool_calls: int | None = says(
        "Tool calls of a run; default: defaults.max_tool_calls.",
        default=None,
        minimum=1,
        maximum=100_000,
    )
    listen: bool = says("Whether every message of the group chat wakes it.", default=False)
    capabilities: tuple[str, ...] = says(
        "What it may be offered.", default=("memory",), choices=CAPABILITIES
    )
    knowledge: tuple[str, ...] = says(
        "Files and folders of its skills.", default=(), pattern=RELATIVE_PATH, max_chars=500
    )
    notes: OrgNotes = says("Which notes it may read and write.", default=OrgNotes())
    connectors: tuple[str, ...] = says("Outside systems it uses.", default=(), pattern=CONNECTOR)
    secrets: tuple[OrgSecret, ...] = says("Secrets it is given, by name.", default=())
    repositories: tuple[OrgRepository, ...] = says("Repositories it works in.", default=())
    client: OrgClient = says("The program that runs it.", default=OrgClient())
    memory: MemorySettings = says(
        "Its own memory settings, laid over defaults.memory key by key.", default=MemorySettings()
    )


@dataclass(frozen=True, kw_only=True)
class OrgFile:
    """The whole of org.yaml.  A text that may be absent is empty here, and never null."""

    version: int = says("Format version of the file.", default=FORMAT, minimum=1, maximum=FORMAT)
    guild: OrgGuild = says("The roster as a group.")
    owner: str = says("Name of the operator whose vault it is.", pattern=AGENT_ID)
    operators: tuple[OrgOperator, ...] = says("The people, the owner among them.")
    timezone: str = says(
        "Time zone of routines and days, like Europe/Berlin.", default="UTC", pattern=ONE_LINE
    )
    protected: tuple[str, ...] = says(
        "Paths that no agent may touch, beside the built-in ones.",
        default=(),
        pattern=RELATIVE_PATH,
        max_chars=500,
    )
    pages: OrgPages = says("What people look at.", default=OrgPages())
    commit: OrgCommit = says("How orgvault commits.", default=OrgCommit())
    group: OrgGroup = says("The group chat.", default=OrgGroup())
    runs: OrgRuns = says("Stored runs.", default=OrgRuns())
    ledger: OrgLedger = says("The measurement of proposals.", default=OrgLedger())
    defaults: OrgDefaults = says("What agents inherit.", default=OrgDefaults())
    agents: dict[str, OrgAgent] | None = says("The agents, each under its key.", default={})
