"""Proposals filed in a real vault, with what the gate would have accepted made by hand."""

import os
from datetime import UTC, datetime

from orgvault.domain.access import Actor
from orgvault.domain.claim import Claim
from orgvault.domain.episode import Episode
from orgvault.domain.instants import days_before, instant
from orgvault.domain.proposal import BODY, Accepted, Edit, Proposal, Target
from orgvault.services.desk import Desk
from orgvault.services.filing import file_proposal
from orgvault.store.claims import Claims
from orgvault.store.roster import load
from orgvault.store.vault import Vault
from tests.harbor import Harbor

ORG_YAML = ".agents/org/org.yaml"
SKILL = ".agents/skills/nova/build-site.md"
GOAL = "A site that builds on any machine, and that nobody has to think about."
NEW_GOAL = "A site that builds on any machine, from one command."
RATIONALE = "I lost a turn three times. I want to install before I build."


class Stopped:
    """A clock that stands still, at the present unless it is told another time."""

    def __init__(self, at: str = "") -> None:
        self._at = at or instant(datetime.now(UTC))

    def now(self) -> str:
        return self._at

    def monotonic(self) -> float:
        return 0.0


def desk(harbor: Harbor, actor: Actor | None = None, at: str = "") -> Desk:
    """The owner's desk in a vault."""
    vault = Vault(str(harbor.root))
    who = actor or Actor("owner", "sam")
    return Desk(vault, load(vault)[0], who, Stopped(at), os.urandom, "0", len)


def change_of_goal(old: bytes, new: str = NEW_GOAL) -> Accepted:
    """A change of nova's goal in the fixture's org.yaml, in whatever line ends that has."""
    assert old.count(GOAL.encode()) == 1
    edit = Edit(key="goal", before=(GOAL,), after=(new,))
    will_be = old.replace(GOAL.encode(), new.encode())
    return Accepted(Target.OWN_PROMPT, ORG_YAML, (edit,), old, will_be, b"", (), 1, 1)


def change_of_lines(
    path: str, old: bytes, before: tuple[str, ...], after: tuple[str, ...]
) -> Accepted:
    """A change of lines in a skill file that uses LF."""
    was, will_be = ("".join(f"{line}\n" for line in lines).encode() for lines in (before, after))
    assert old.count(was) == 1
    edit = Edit(key=BODY, before=before, after=after)
    new = old.replace(was, will_be)
    return Accepted(Target.OWN_SKILLS, path, (edit,), old, new, b"", (), len(after), len(before))


def filed(
    harbor: Harbor,
    accepted: Accepted | None = None,
    *,
    agent: str = "nova",
    rationale: str = RATIONALE,
    days_ago: float = 0,
    claim: Claim | None = None,
    reverts: str | None = None,
    root: str = "",
) -> Proposal:
    """A proposal as the engine files it; without `accepted`, another goal for nova."""
    at = desk(harbor)
    when = days_before(at.clock.now(), days_ago)
    accepted = accepted or change_of_goal((harbor.root / ORG_YAML).read_bytes())
    base = harbor.git("rev-parse", "HEAD").strip()
    blob = harbor.git("rev-parse", f"HEAD:{root}{accepted.path}").strip()
    with at.vault.change(at.message("proposal(nova): file", "propose"), at.author, when) as change:
        return file_proposal(
            at, change, at.agent(agent), claim, accepted, rationale, episodes(at, agent), base,
            blob, when, reverts=reverts,
        )  # fmt: skip


def episodes(at: Desk, agent: str) -> list[Episode]:
    """The latest two episodes of an agent."""
    return at.vault.logs.records(Episode, "episodes", agent, [])[-2:]


def a_claim(harbor: Harbor, agent: str = "nova") -> Claim:
    """One of an agent's active claims."""
    return Claims(desk(harbor).vault).active(agent)[0].claim


def commit(harbor: Harbor, message: str, *paths: str) -> str:
    """Commit files as the owner does; the commit's name."""
    harbor.git("commit", "-q", "-m", message, "--", *(paths or (ORG_YAML,)))
    return harbor.git("rev-parse", "HEAD").strip()
