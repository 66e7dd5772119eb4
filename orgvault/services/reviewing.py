"""Proposals as people review them: look, compare, deny; nothing here applies one."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from orgvault.domain.access import allowed, who_may
from orgvault.domain.card_file import closed as closed_text
from orgvault.domain.card_file import with_status
from orgvault.domain.patch import applied
from orgvault.domain.problem import Problem
from orgvault.domain.proposal import Accepted, Proposal, Refusal
from orgvault.domain.proposal_card import apply_command
from orgvault.domain.proposal_card import ref as ref_of
from orgvault.domain.proposal_file import write_proposal
from orgvault.domain.proposal_state import State
from orgvault.domain.record import plain
from orgvault.errors import AlreadySo, BadFile, NoReason, NotAllowed
from orgvault.services import standing as standings
from orgvault.services.desk import Desk, sound
from orgvault.services.proposal_faults import NoLongerApplies, NotItsCommit, UnknownProposal
from orgvault.services.standing import CLOSED, Standing
from orgvault.store.cards import Cards, Stored
from orgvault.store.history import at as past
from orgvault.store.history import changed_since, shipped_as
from orgvault.store.proposals import Proposals
from orgvault.store.vault import Identity, Message
from orgvault.store.working_tree import WorkingTree, hooks_folder
from orgvault.values import dataclass


@dataclass(frozen=True)
class Settled:
    """A proposal whose note got another status, and why."""

    id: str
    agent: str
    status: str
    why: str


@dataclass(frozen=True)
class Branch:
    """A proposal as a commit beside the branch; `commit` is empty in a preview."""

    ref: str
    commit: str
    base: str


def listed(desk: Desk, *, closed: bool) -> tuple[list[Standing], list[Problem]]:
    """The open proposals that the actor may see (with `closed`, all), newest first."""
    problems: list[Problem] = []
    found = [
        one
        for one in standings.everything(desk, problems)
        if _visible(desk, one.stored.proposal) and (closed or one.status == State.OPEN)
    ]
    found.sort(key=lambda one: (one.stored.proposal.created, one.stored.proposal.id), reverse=True)
    return found, problems if desk.actor.is_person else []


def show(desk: Desk, card_id: str) -> Standing:
    """One proposal as it stands.  An agent is told no more of what is not there than of others'."""
    problems: list[Problem] = []
    stored = Proposals(desk.vault).get(card_id, problems)
    if stored is not None and _visible(desk, stored.proposal):
        return standings.standing(desk, stored, problems)
    if not desk.actor.is_person:
        raise NotAllowed(desk.actor.name, f"look at {card_id}", who_may("list"))
    raise UnknownProposal(card_id, str(problems[0]) if problems else "")


def check(desk: Desk, diff: bytes, agent_id: str) -> Accepted | Refusal:
    """What the gate says of a diff from anywhere; nothing is written."""
    from orgvault.domain.gate import judge

    agent = desk.agent(agent_id)
    desk.require("proposal-check", f"check a diff for {agent.id}", agent)
    tree, hooks = WorkingTree(desk.vault), hooks_folder(desk.vault)
    return judge(diff, agent=agent.id, roster=desk.roster, tree=tree, hooks=hooks)


def close(desk: Desk, card_id: str, why: str) -> Standing:
    """Deny a proposal: its note is closed, with the reason."""
    desk.require("proposal-close", f"close {card_id}")
    reason = desk.masked(" ".join(why.split()))
    if not any(map(str.isalnum, reason)):
        raise NoReason(card_id)
    message = desk.message(f"proposal: close {card_id}", "proposal-close")
    with desk.vault.change(message, desk.author, desk.clock.now()) as change:
        found = show(desk, card_id)
        note, agent = _note(desk, found), found.stored.proposal.agent
        if found.status in {CLOSED, State.SHIPPED}:
            raise AlreadySo(card_id, found.status, "there is nothing to deny")
        sound(replace(note.card, status=CLOSED, reason=reason))
        subject = f"proposal({agent}): close {card_id}"
        change.message = desk.message(subject, "proposal-close", agent)
        change.write(note.path, _marked(note, partial(closed_text, reason=reason)))
    return replace(found, status=CLOSED, why=reason)


def shipped(desk: Desk, card_id: str, revision: str) -> Proposal:
    """Record that a person shipped a proposal in words of their own, with a commit of HEAD's.

    The ledger measures from that commit.  Raises UnknownRevision, and NotItsCommit for one that
    did not change the proposal's file after the proposal was made.
    """
    desk.require("proposal-close", f"say that {card_id} is shipped")
    wanted = show(desk, card_id).stored.proposal
    commit = shipped_as(desk.vault, revision)
    if not changed_since(desk.vault, wanted.base, commit, wanted.path):
        raise NotItsCommit(card_id, commit, wanted.path)
    message = desk.message(f"proposal: {card_id} shipped", "proposal-shipped")
    with desk.vault.change(message, desk.author, desk.clock.now()) as change:
        found = show(desk, card_id)
        note, old = _note(desk, found), found.stored.proposal
        if found.settled and found.status == State.SHIPPED:
            do = "take its entry out of the ledger's folder in a commit of yours to measure anew"
            raise AlreadySo(card_id, "in the ledger already", do)
        if found.status == State.SHIPPED and old.shipped_commit in {None, commit}:
            raise AlreadySo(card_id, "shipped", "there is nothing to record")
        if found.status == CLOSED:
            raise AlreadySo(card_id, CLOSED, "write `status: open` in its note first")
        proposal = replace(old, shipped_commit=commit)
        subject = f"proposal({old.agent}): {card_id} shipped"
        change.message = desk.message(subject, "proposal-shipped", old.agent)
        change.write(found.stored.path, write_proposal(proposal))
        change.write(note.path, _marked(note, partial(with_status, status=State.SHIPPED)))
    return proposal


def sync(desk: Desk) -> list[Settled]:
    """Write into each note what HEAD says of its proposal by now; one commit, or none.

    Where no proposal is open that costs a listing and no parsing.  Raises VaultBusy when there
    is something to write and the vault cannot be written to.
    """
    desk.require("proposal-sync", "write down how proposals stand")
    if not _due(desk):
        return []
    message = desk.message("proposal(roster): sync", "proposal-sync")
    settled = []
    with desk.vault.change(message, desk.author, desk.clock.now()) as change:
        for one, path, text in _due(desk):  # once more, under the lock
            change.write(path, text)
            proposal = one.stored.proposal
            settled.append(Settled(proposal.id, proposal.agent, one.status, one.why))
        agents = sorted({one.agent for one in settled})
        if len(agents) == 1:
            subject = f"proposal({agents[0]}): {', '.join(f'{s.id} {s.status}' for s in settled)}"
            change.message = desk.message(subject, "proposal-sync", agents[0])
    return settled


def branch(desk: Desk, found: Standing) -> Branch:
    """Make the commit with a proposal's diff on its base, under a ref of its own.

    Raises NoLongerApplies when that commit does not hold the file as the diff has it.
    """
    proposal = found.stored.proposal
    desk.require("proposal-close", f"make a commit of {proposal.id}")
    base = past(desk.vault, proposal.base).read(proposal.path)
    new = applied(found.stored.diff, base) if base is not None else None
    if new is None:
        raise NoLongerApplies(proposal.id, proposal.base)
    title = found.card.card.title if found.card else proposal.id
    # None of our own trailers: picked or merged, it is the commit of a person.
    message = Message(title, {"Proposal": proposal.id})
    author = Identity(proposal.agent, f"{proposal.agent}@agents.invalid")
    ref = ref_of(proposal.id)
    commit = desk.vault.put_aside(
        ref, proposal.base, proposal.path, new, message, author, proposal.created
    )
    return Branch(ref, commit, proposal.base)


def summary(found: Standing) -> dict[str, Any]:
    """A proposal as the commands answer it: its record, how it stands, and its title."""
    title = found.card.card.title if found.card else None
    standing = {"status": found.status, "why": found.why, "title": title}
    return {**plain(found.stored.proposal), **standing}


def line(found: Standing) -> tuple[str, ...]:
    """A proposal as a row of the list."""
    one = found.stored.proposal
    keys = ", ".join(dict.fromkeys(edit.key for edit in one.edits))
    note = found.why or ("; ".join(one.flags) if one.flags else "")
    return (one.id, one.agent, found.status, one.created, one.path, keys, note)


def describe(desk: Desk, found: Standing, diff: str, made: Branch | None) -> str:
    """A proposal as a person reads it; `diff` as it is to be shown."""
    one = found.stored.proposal
    state = f"{found.status}: {found.why}" if found.why else found.status
    lines = [
        f"{one.id} of {one.agent} ({state})",
        f"  {found.card.card.title if found.card else 'its note is not there'}",
        f"  filed {one.created}, expires {one.expires}, made on {one.base[:10]}",
        *([f"  answers {one.memory_id}"] if one.memory_id else []),
        *([f"  undoes {one.reverts}"] if one.reverts else []),
        *([f"  evidence: {', '.join(one.evidence)}"] if one.evidence else []),
        *(f"  look twice: {flag}" for flag in one.flags),
        "",
        diff.rstrip("\n"),
    ]
    if found.status == State.OPEN:
        lines += ["", f"apply it:  {apply_command(one, desk.vault.prefix)}"]
        lines += [f"close it:  orgvault proposal close {one.id} 'why not'"]
    if made is not None:
        lines += ["", made.ref, f"compare:   git diff HEAD...{made.ref}"]
        lines += [f"take it:   git cherry-pick {made.ref}"]
    return "\n".join(lines)


def judged(accepted: Accepted) -> dict[str, Any]:
    """What the gate accepted, as the command answers it."""
    return {
        "accepted": True, "target": str(accepted.target), "path": accepted.path,
        "edits": plain(accepted.edits), "flags": list(accepted.flags), "added": accepted.added,
        "removed": accepted.removed,
    }  # fmt: skip


def _due(desk: Desk) -> list[tuple[Standing, str, str]]:
    """The proposals whose notes say otherwise than HEAD, with path and new text of each note."""
    found = []
    for one in standings.unsettled(desk, []):
        note, status = one.card, one.status
        if note is None or status in {State.OPEN, note.card.status}:
            continue
        try:
            text = _marked(note, partial(with_status, status=status))
        except BadFile as fault:
            desk.vault.remarks.append(str(fault))
        else:
            found.append((one, note.path, text))
    return found


def _marked(note: Stored, mark: Callable[[str], str]) -> str:
    """A note's text with another status.  Raises BadFile when it is in no form for that."""
    try:
        return mark(note.text)
    except ValueError:
        what = "its status cannot be replaced where it stands"
        raise BadFile(note.path, 0, what, "write `status: open` on a line of its own") from None


def _visible(desk: Desk, proposal: Proposal) -> bool:
    """Whether the actor may see it; of an agent that is gone from the roster only people may."""
    agent = desk.roster.agents.get(proposal.agent)
    return desk.actor.is_person if agent is None else allowed(desk.actor, "list", agent)


def _note(desk: Desk, found: Standing) -> Stored:
    """The note of a proposal.  Raises BadFile or AlreadySo where there is none to write to."""
    if found.card is not None:
        return found.card
    card_id, problems = found.stored.proposal.id, list[Problem]()
    Cards(desk.vault, desk.roster.pages_folder).get(card_id, problems)
    if problems:
        raise BadFile(problems[0].file, problems[0].line, problems[0].what, problems[0].do)
    raise AlreadySo(card_id, "without a note", "restore it from git first")
