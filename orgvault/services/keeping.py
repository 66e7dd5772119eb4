"""Keeping claims: what a change of an agent's memory writes, and the core block after it."""

from collections.abc import Sequence
from dataclasses import replace

from orgvault.domain.claim import Claim
from orgvault.domain.claim_file import close_claim_text, updated_claim_text, write_claim
from orgvault.domain.core_memory import Core, render
from orgvault.domain.roster import Agent
from orgvault.services.desk import Desk
from orgvault.store.claims import CLOSED, Claims
from orgvault.store.vault import Change


def keep(
    desk: Desk, change: Change, agent: Agent, written: Sequence[Claim], closed: Sequence[Claim]
) -> None:
    """Write new and changed claims, move closed ones, and render core.md again."""
    claims = Claims(change)
    before = {stored.claim.id: stored for stored in claims.active(agent.id)}
    after = {claim_id: stored.claim for claim_id, stored in before.items()}
    for claim in written:
        after[claim.id] = claim
        if claim.active:
            old = before.get(claim.id)
            text = updated_claim_text(old.text, claim) if old else write_claim(claim)
            change.write(claims.path(agent.id, claim.id), text)
    for claim in closed:
        stored = before[claim.id]
        change.remove(stored.path)
        change.write(claims.path(agent.id, claim.id, CLOSED), close_claim_text(stored.text, claim))
        del after[claim.id]
    write_core(desk, change, agent, list(after.values()))


def write_core(desk: Desk, change: Change, agent: Agent, active: Sequence[Claim]) -> None:
    """Render core.md from the active claims; an agent without the core tier has none."""
    path = Claims.core_path(agent.id)
    if "core" in agent.memory.tiers:
        change.write(path, core(desk, agent, active).text)
    elif change.read(path) is not None:
        change.remove(path)


def core(desk: Desk, agent: Agent, active: Sequence[Claim]) -> Core:
    """The core memory of an agent: same claims, same bytes, and no secret of a hand edit."""
    claims = [replace(one, text=desk.masked(one.text)) for one in active]
    return render(agent.name, claims, agent.memory.core_budget_tokens, desk.count_tokens)
