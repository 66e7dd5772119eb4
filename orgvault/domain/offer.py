"""Which tools a run offers, by what its agent is capable of and what has started it."""

from collections.abc import Sequence

from orgvault.domain.roster import Agent
from orgvault.domain.run import SCHEDULE

MEMORY = ("memory_recall", "memory_list", "memory_episodes")
MEMORY_WRITE = "memory_write"
NOTES = ("note_find", "note_get", "note_write", "note_delete")
RECORDS = ("record_list", "record_search", "record_get", "record_write", "record_delete")
SCRIPTS = ("script_list", "script_get", "script_write", "script_run", "script_delete")
ROUTINES = (
    "schedule_create",
    "schedule_list",
    "schedule_get",
    "schedule_update",
    "schedule_pause",
    "schedule_delete",
)
ALWAYS = ("group_post", "group_read", "status_post", "report_issue")
BUILT_IN = frozenset((*MEMORY, MEMORY_WRITE, *NOTES, *RECORDS, *SCRIPTS, *ROUTINES, *ALWAYS))


def capable(agent: Agent) -> frozenset[str]:
    """What an agent may be offered, as org.yaml says."""
    return frozenset(agent.block.get("capabilities") or ())


def offered(
    agent: Agent, origin: str, *, reads_collections: bool, own_tools: Sequence[str] = ()
) -> tuple[str, ...]:
    """The names of the tools that a run offers.

    `origin` is what starts the run; `own_tools` are the agent's scripts that declare parameters,
    each a tool of its own name.
    """
    can = capable(agent)
    found: list[str] = []
    if "memory" in can:
        found += MEMORY
        if MEMORY_WRITE in can:
            found.append(MEMORY_WRITE)
    if "notes" in can:
        found += NOTES
    if reads_collections:
        found += RECORDS
    if "scripts" in can:
        found += SCRIPTS
        found += (name for name in own_tools if name not in BUILT_IN)
    if origin != SCHEDULE:
        found += ROUTINES
    return (*found, *ALWAYS)


def parts_held(agent: Agent, tools: Sequence[str]) -> frozenset[str]:
    """The capability parts of system.md that are kept for a run that offers these tools."""
    can = capable(agent)
    held = {
        "notes": NOTES[0] in tools,
        "scripts": SCRIPTS[0] in tools,
        "browser": "browser" in can,
        "coding": "coding" in can,
        "no_coding": "coding" not in can,
        "memory": "memory" in can,
        "no_memory": "memory" not in can,
        "memory_write": MEMORY_WRITE in tools,
    }
    return frozenset(name for name, holds in held.items() if holds)
