"""Who may do what to whom: the one function that decides, for every verb."""

from collections.abc import Mapping

from orgvault.domain.roster import Agent
from orgvault.values import dataclass


@dataclass(frozen=True)
class Actor:
    """Who is acting: the owner, another operator, or an agent."""

    kind: str  # "owner", "operator" or "agent"
    name: str

    @property
    def is_person(self) -> bool:
        """Whether a person acts."""
        return self.kind != "agent"


# Each verb names the columns that may: owner, operator, lead, self (agent A itself), other (another
# agent).  `lead` counts for an agent or an operator alike.  docs/reference/access.md shows it.
TABLE: dict[str, frozenset[str]] = {
    verb: frozenset(may.split())
    for verb, may in {
        "read": "owner operator lead self",
        "list": "owner operator lead self",
        "correct": "owner lead",
        "dispatch": "owner",
        "redo": "owner operator lead",
        "task": "owner operator",
        "proposal-close": "owner operator",
        "post": "owner operator self",
        "roster": "owner operator lead self other",
        "shape": "owner",
    }.items()
}
_SAID = {
    "owner": "the owner",
    "operator": "an operator",
    "lead": "the agent's lead",
    "self": "the agent itself",
    "other": "any agent",
}


def allowed(actor: Actor, verb: str, agent: Agent | None) -> bool:
    """Whether `actor` may do `verb` to `agent`; a verb not in the table is the owner's."""
    return bool(_columns(actor, agent) & TABLE.get(verb, frozenset({"owner"})))


def may_use(actor: Actor, verb: str, access: Mapping[str, str]) -> bool:
    """Whether `actor` may `read` or `write` the records of a collection with these grants.

    People may; an agent as it is granted, and what may write may read.
    """
    granted = access.get(actor.name)
    return actor.is_person or granted == "write" or (granted == "read" and verb == "read")


def who_may(verb: str) -> str:
    """Who may do a verb, for the refusal's sentence."""
    may = TABLE.get(verb, frozenset({"owner"}))
    return ", ".join(text for column, text in _SAID.items() if column in may)


def _columns(actor: Actor, agent: Agent | None) -> set[str]:
    columns = {actor.kind} if actor.is_person else set()
    if not actor.is_person:
        columns.add("self" if agent is not None and agent.id == actor.name else "other")
    if agent is not None and agent.lead == actor.name:
        columns.add("lead")
    return columns
