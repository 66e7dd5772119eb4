"""`memory why`: from a line in a prompt to everything behind it."""

import re

from orgvault.domain.claim import Claim
from orgvault.domain.core_memory import line
from orgvault.domain.episode import Episode
from orgvault.domain.reflection import Reflection
from orgvault.domain.roster import Agent
from orgvault.errors import UnknownClaim
from orgvault.services.curating import find
from orgvault.services.desk import Desk
from orgvault.store.claims import ACTIVE, CLOSED, Claims
from orgvault.store.history import Touched, touched
from orgvault.values import dataclass

_ID = re.compile(r"(?:c-)?[0-9a-z]{1,8}")


@dataclass(frozen=True)
class Sighting:
    """One operation that stands behind a claim, with the run that gave the evidence."""

    at: str
    run: str
    op: str
    effect: str
    claim: str
    quote: str
    model: str | None
    reflection: str
    episode: str | None
    summary: str | None


@dataclass(frozen=True)
class Trace:
    """A claim, the claims it replaced (newest first), and what produced them."""

    claim: Claim
    lineage: tuple[Claim, ...]
    sightings: tuple[Sighting, ...]
    commits: tuple[Touched, ...]


def why(desk: Desk, given: str) -> Trace:
    """Everything behind a claim, named by its id or by a line of core.md."""
    agent, claim_id = _meant(desk, given)
    kept = Claims(desk.vault)
    every = {one.claim.id: one.claim for one in (*kept.closed(agent.id), *kept.active(agent.id))}
    claim = every[claim_id]
    lineage, at = [], claim
    while at.supersedes in every and every[at.supersedes] not in lineage:
        at = every[at.supersedes]
        lineage.append(at)
    ids = {claim.id, *(one.id for one in lineage)}
    paths = [kept.path(agent.id, one, folder) for one in sorted(ids) for folder in (ACTIVE, CLOSED)]
    return Trace(
        claim,
        tuple(lineage),
        tuple(_sightings(desk, agent, ids)),
        tuple(touched(desk.vault, paths)),
    )


def describe(trace: Trace) -> str:
    """A trace as a person reads it; whatever somebody wrote stands on one line."""
    claim = trace.claim
    state = "active" if claim.active else f"closed {claim.closed_at} by {claim.closed_by}"
    lines = [
        f"{claim.id} ({claim.kind}, seen {claim.times_seen}×, {state})",
        f"  {_flat(claim.text)}",
        f"  written by {claim.author}, first seen {claim.first_seen}, last {claim.last_seen}",
        f"  evidence: {', '.join(claim.evidence)}",
    ]
    if claim.reason:
        lines.append(f"  closed: {_flat(claim.reason)}")
    if claim.proposal:
        lines.append(f"  became the card {claim.proposal}")
    lines += [f"replaced {one.id}: {_flat(one.text)}" for one in trace.lineage]
    for one in trace.sightings:
        lines.append(f"{one.at} {one.run}: {one.effect} by {one.op} ({one.model})")
        lines.append(f"  saw: {_flat(one.quote)}")
        lines += [f"  {_flat(one.summary)}"] if one.summary else []
    lines += [f"{one.commit} {one.at} {one.author}: {one.subject}" for one in trace.commits]
    return "\n".join(lines)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _meant(desk: Desk, given: str) -> tuple[Agent, str]:
    if _ID.fullmatch(given.strip()):
        return find(desk, given.strip())
    words = _plain(given)
    kept = Claims(desk.vault)
    for agent in desk.readable():
        for one in (*kept.active(agent.id), *kept.closed(agent.id)):
            if words in {_plain(one.claim.text), _plain(line(one.claim))}:
                return agent, one.claim.id
    raise UnknownClaim(given)


def _plain(shown: str) -> str:
    """A line without the mark of a list item, in one spelling."""
    return " ".join(shown.strip().removeprefix("- ").split()).casefold()


def _sightings(desk: Desk, agent: Agent, ids: set[str]) -> list[Sighting]:
    logs = desk.vault.logs
    found = []
    for row in logs.records(Reflection, "reflections", agent.id, []):
        for one in row.operations:
            if one.claim_id not in ids or one.effect == "nothing":
                continue
            episodes = logs.find(Episode, "episodes", agent.id, "run", [row.run])
            episode = episodes[0] if episodes else None
            found.append(
                Sighting(
                    row.at, row.run, one.op, one.effect, one.claim_id, one.evidence, row.model,
                    row.id, episode.id if episode else None, episode.summary if episode else None,
                )
            )  # fmt: skip
    return found
