"""The roster: the guild, its people, its agents, and the limits that no setting may pass."""

from dataclasses import field
from typing import Any

from orgvault.domain.ids import AGENT_ID
from orgvault.domain.record import says
from orgvault.values import dataclass

# The engine's limits (no configuration reaches them).
CORE_BUDGET_TOKENS = (100, 4000)
REPEAT_THRESHOLD_MIN = 2
TARGETS = ("own_prompt", "own_skills")
TIERS = ("core", "episodic", "semantic")
CAPABILITIES = ("notes", "scripts", "browser", "coding", "memory", "memory_write")
BUILTIN_PROTECTED = (".git/", ".env*", "CURRENT/", "Areas/Finance/")


@dataclass(frozen=True, kw_only=True)
class ReflectSettings:
    """`memory.reflect`: whether and how a finished run is reflected on."""

    enabled: bool = says("Whether a finished run is reflected on.", default=True)
    trigger: tuple[str, ...] = says(
        "Which events reflect.",
        default=("wake_done", "chat_end"),
        choices=("wake_done", "chat_end"),
    )
    model: str = says(
        "off, cheap, or <provider>/<model>.",
        default="cheap",
        pattern=r"off|cheap|[a-z0-9][a-z0-9_-]*/\S+",
        max_chars=200,
    )
    min_turns: int = says("Runs with fewer turns are not reflected on.", default=2, minimum=0)


@dataclass(frozen=True, kw_only=True)
class SelfImprovementSettings:
    """`memory.self_improvement`: whether and when an agent may ask for a change."""

    enabled: bool = says("Whether the agent may propose a change to itself.", default=True)
    max_proposals_per_week: int = says("Cards in any 7 days.", default=1, minimum=0, maximum=100)
    repeat_threshold: int = says(
        "Runs that must have shown a claim.", default=2, minimum=REPEAT_THRESHOLD_MIN
    )
    targets: tuple[str, ...] = says("What may be proposed.", default=TARGETS, choices=TARGETS)
    requires_ship_gate: bool = says("Always true: a person applies a change.", default=True)


@dataclass(frozen=True, kw_only=True)
class MemorySettings:
    """The `memory:` block, merged key by key from the engine's defaults."""

    tiers: tuple[str, ...] = says("Which tiers are on.", default=TIERS, choices=TIERS)
    core_budget_tokens: int = says(
        "Tokens of core.md.",
        default=1500,
        minimum=CORE_BUDGET_TOKENS[0],
        maximum=CORE_BUDGET_TOKENS[1],
    )
    reflect: ReflectSettings = says("Reflection.", default=ReflectSettings())
    self_improvement: SelfImprovementSettings = says(
        "Self-improvement.", default=SelfImprovementSettings()
    )


@dataclass(frozen=True, kw_only=True)
class Operator:
    """A person with a role."""

    name: str = says("Short name.", pattern=AGENT_ID)
    role: str = says("owner or reviewer.", choices=("owner", "reviewer"))
    email: str | None = says("The address of their git identity.", default=None, max_chars=200)


@dataclass(frozen=True, kw_only=True)
class Agent:
    """One bot of the roster with everything resolved, as org-agents.json holds it.

    Only what the engine itself asks for is a field here; the rest of the block (persona,
    tools, client, …) stands in `block`.
    """

    id: str
    name: str
    lead: str | None = None
    focus: str | None = None
    memory: MemorySettings = field(default_factory=MemorySettings)
    memory_fault: str = ""
    block: dict[str, Any] = field(default_factory=dict)

    @property
    def secrets(self) -> frozenset[str]:
        """The names of the secrets that are bound to it."""
        return frozenset(one["name"] for one in self.block.get("secrets") or ())


@dataclass(frozen=True, kw_only=True)
class Roster:
    """The compiled org.yaml."""

    guild: str
    owner: str
    operators: tuple[Operator, ...]
    agents: dict[str, Agent]
    protected: tuple[str, ...]
    pages_folder: str = "Org"
    sign_commits: bool = False
    ledger_margin: float = 0.10
    about: str = ""
    description: str = ""
    timezone: str = "UTC"
    router: str = "recent"  # which messages of the group chat a run sees
    keep_run_days: int | None = None  # None: the texts of runs stay for ever
    source_sha256: str = ""
