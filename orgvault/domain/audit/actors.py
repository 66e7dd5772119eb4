"""Who acted, by the words of a commit and of rows, against the access table."""

from collections.abc import Sequence

from orgvault.domain.access import Actor, allowed, who_may
from orgvault.domain.audit.finding import Report, Rule
from orgvault.domain.audit.pair import Facts
from orgvault.domain.audit.rows import Key, Row
from orgvault.domain.roster import Agent, Roster

# The verb that each operation of a commit needs.  One that is not here may be done by several.
_VERBS = {
    "compile": "dispatch",
    "wake-done": "dispatch",
    "reflect": "dispatch",
    "import": "dispatch",
    "run-start": "dispatch",
    "run-sweep": "dispatch",
    "wake-take": "dispatch",
    "chat-post": "post",
    "wake-add": "wake",
    "propose": "propose",
    "post": "post",
    "memory-edit": "correct",
    "memory-retire": "correct",
    "memory-render": "render",
    "task-add": "task",
    "task-done": "task",
    "task-closed": "task",
    "task-redo": "redo",
    "proposal-close": "proposal-close",
    "proposal-shipped": "proposal-close",
    "proposal-sync": "proposal-sync",
    "ledger-sync": "ledger-sync",
}


def may(name: str, verb: str, agent: str, rosters: Sequence[Roster]) -> bool:
    """Whether somebody of this name may do a verb to an agent, by one of the rosters.

    True where there is no roster to ask.
    """
    return not rosters or any(_may(name, verb, agent, one) for one in rosters)


def _may(name: str, verb: str, agent: str, roster: Roster) -> bool:
    if name == roster.owner:
        kind = "owner"
    elif any(one.name == name for one in roster.operators):
        kind = "operator"
    elif name in roster.agents:
        kind = "agent"
    else:
        return False
    known = roster.agents.get(agent) if agent else None
    whose = known or (Agent(id=agent, name=agent) if agent else None)
    return allowed(Actor(kind, name), verb, whose)


def check_commit(facts: Facts, rosters: Sequence[Roster], report: Report) -> None:
    """Whether the actor that a commit names may do what it says, and is who made it."""
    named = [facts.trailers.get(f"Orgvault-{key}", ()) for key in ("Op", "Actor", "Agent")]
    if len(named[0]) != 1 or len(named[1]) != 1:
        return  # somebody's own commit, or several of ours in one
    op, actor = named[0][0], named[1][0]
    agent = named[2][0] if named[2] else ""
    verb = _VERBS.get(op)
    if (op, actor) == ("compile", "owner"):
        return  # where no roster stood yet that could name the owner
    if verb and not may(actor, verb, agent, rosters):
        report.find(Rule.NOT_ALLOWED, "", f"{op} by {actor}; may: {who_may(verb)}")
    person = rosters and all(actor not in one.agents for one in rosters)
    if person and facts.by_agent:
        report.find(Rule.POSING, "", f"{op} as {actor}, but the author is {facts.email}")


def check_row(path: str, key: Key, row: Row, rosters: Sequence[Roster], report: Report) -> None:
    """Whether the actor that a row names may have written it."""
    verb = ""
    if key.log == "corrections":
        verb = "redo"
    elif (key.log == "wakes" and row.value.get("event") in {"taken", "closed"}) or (
        key.log == "runs" and "actor" in row.value
    ):
        verb = "dispatch"
    elif key.log == "chat":
        verb = "post"
    actor = str(row.value.get("sent_by" if key.log == "chat" else "actor"))
    agent = actor if key.log == "chat" else key.agent
    if verb and not may(actor, verb, agent, rosters):
        what = f"{row.id} is {actor}'s; may: {who_may(verb)}"
        report.find(Rule.NOT_ALLOWED, path, what)
