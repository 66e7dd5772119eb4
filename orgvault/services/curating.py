"""An agent's memory as people look at it and correct it."""

from orgvault.domain import claim as rules
from orgvault.domain.claim import Claim
from orgvault.domain.core_memory import Core
from orgvault.domain.episode import Correction, Episode
from orgvault.domain.instants import days_before
from orgvault.domain.problem import Problem
from orgvault.domain.roster import Agent
from orgvault.domain.statement import text_fault
from orgvault.errors import (
    AlreadySo,
    AmbiguousClaim,
    BadClaimText,
    NoReason,
    NotAllowed,
    Stale,
    UnknownClaim,
)
from orgvault.services.desk import Desk, sound
from orgvault.services.keeping import core, keep, write_core
from orgvault.store.claims import ACTIVE, CLOSED, Claims, Tree
from orgvault.values import dataclass


@dataclass(frozen=True)
class Seen:
    """An episode as it is shown: with whether a reviewer sent its work back."""

    episode: Episode
    corrected: bool


def claims(desk: Desk, agent_id: str, *, closed: bool, at: str | None = None) -> list[Claim]:
    """An agent's active claims, most seen first; with `closed` also those that are closed.

    `at` is a revision or a date: the memory as it was then.
    """
    agent = _readable(desk, agent_id)
    tree: Tree = desk.vault
    if at is not None:
        from orgvault.store.history import at as past

        tree = past(desk.vault, at)
    kept = Claims(tree)
    found = [one.claim for one in kept.active(agent.id)]
    found.sort(key=rules.order)
    if closed:
        gone = [one.claim for one in kept.closed(agent.id)]
        found += sorted(gone, key=lambda claim: (claim.closed_at or "", claim.id), reverse=True)
    return found


def episodes(
    desk: Desk, agent_id: str, *, days: int | None, outcome: str | None
) -> tuple[list[Seen], list[Problem]]:
    """An agent's episodes, oldest first, with the lines that could not be read."""
    agent = _readable(desk, agent_id)
    problems: list[Problem] = []
    logs = desk.vault.logs
    since = days_before(desk.clock.now(), days) if days is not None else ""
    sent_back = {c.episode for c in logs.records(Correction, "corrections", agent.id, problems)}
    seen = [
        Seen(one, one.id in sent_back)
        for one in logs.records(Episode, "episodes", agent.id, problems)
        if one.finished_at >= since and outcome in {None, one.outcome}
    ]
    return sorted(seen, key=lambda one: one.episode.finished_at), problems


def edit(desk: Desk, given: str, text: str) -> tuple[Claim, Claim]:
    """Correct a claim: it is closed and a new one supersedes it; (closed, new)."""
    agent, claim_id = find(desk, given)
    desk.require("correct", f"edit {claim_id}", agent)
    words = desk.masked(" ".join(text.split()))
    fault = ""
    if not desk.actor.is_person:
        fault = text_fault(words, desk.others(agent), desk.roster.protected)
    if not words or fault:
        raise BadClaimText(words, fault)
    message = desk.message(f"memory({agent.id}): edit {claim_id}", "memory-edit", agent.id)
    now = desk.clock.now()
    with desk.vault.change(message, desk.author, now) as change:
        old = _active(Claims(change), agent, claim_id)
        if old.text == words:
            raise AlreadySo(claim_id, "in these words already", "there is nothing to change")
        new = rules.superseding(old, desk.new_id("c"), words, desk.actor.name, now)
        sound(new)
        gone = rules.close(old, desk.actor.name, "edited", now, new.id)
        keep(desk, change, agent, [new], [gone])
    return gone, new


def retire(desk: Desk, given: str, why: str) -> Claim:
    """Close a claim with a reason."""
    agent, claim_id = find(desk, given)
    desk.require("correct", f"retire {claim_id}", agent)
    reason = desk.masked(" ".join(why.split()))
    if not reason:
        raise NoReason(claim_id)
    message = desk.message(f"memory({agent.id}): retire {claim_id}", "memory-retire", agent.id)
    now = desk.clock.now()
    with desk.vault.change(message, desk.author, now) as change:
        old = _active(Claims(change), agent, claim_id)
        gone = rules.close(old, desk.actor.name, reason, now)
        sound(gone)
        keep(desk, change, agent, [], [gone])
    return gone


def render(desk: Desk, agent_id: str) -> Core:
    """Write core.md from the claims; the core as it is now."""
    agent = desk.agent(agent_id)
    desk.require("render", f"render the core of {agent.id}", agent)
    message = desk.message(f"memory({agent.id}): render core.md", "memory-render", agent.id)
    with desk.vault.change(message, desk.author, desk.clock.now()) as change:
        active = [one.claim for one in Claims(change).active(agent.id)]
        write_core(desk, change, agent, active)
    return core(desk, agent, active)


def check_core(desk: Desk, agent_id: str) -> None:
    """Raise Stale when core.md is not what the claims render to."""
    agent = _readable(desk, agent_id)
    kept = Claims(desk.vault)
    path = kept.core_path(agent.id)
    written = desk.vault.read(path)
    active = [one.claim for one in kept.active(agent.id)]
    if "core" not in agent.memory.tiers or (written is None and not active):
        return
    if written != core(desk, agent, active).text.encode():
        raise Stale(path, "its claims", f"orgvault memory render {agent.id}")


def find(desk: Desk, given: str) -> tuple[Agent, str]:
    """Whose claim an id (or a unique beginning of it) is.

    Raises AmbiguousClaim or UnknownClaim; for an agent NotAllowed, whether there is no such claim
    or it is another's.
    """
    start = given if given.startswith("c-") else f"c-{given}"
    if start == "c-":  # an empty variable is no unique beginning
        raise UnknownClaim(given)
    kept = Claims(desk.vault)
    fits = {
        claim_id: agent
        for agent in desk.readable()
        for folder in (ACTIVE, CLOSED)
        for claim_id in kept.ids(agent.id, folder)
        if claim_id.startswith(start)
    }
    if start in fits:
        return fits[start], start
    if len(fits) > 1:
        raise AmbiguousClaim(given, sorted(fits))
    if not fits:
        if not desk.actor.is_person:
            raise NotAllowed(desk.actor.name, f"reach {given}", "the owner or the agent's lead")
        raise UnknownClaim(given)
    claim_id, agent = fits.popitem()
    return agent, claim_id


def _readable(desk: Desk, agent_id: str) -> Agent:
    agent = desk.agent(agent_id)
    desk.require("read", f"read the memory of {agent.id}", agent)
    return agent


def _active(kept: Claims, agent: Agent, claim_id: str) -> Claim:
    for one in kept.active(agent.id):
        if one.claim.id == claim_id:
            return one.claim
    gone = next((one.claim for one in kept.closed(agent.id) if one.claim.id == claim_id), None)
    if gone is not None and gone.superseded_by:
        raise AlreadySo(claim_id, f"superseded by {gone.superseded_by}", "correct that one")
    raise AlreadySo(claim_id, "closed", "a closed claim stays as it is")
