"""The ledger kept up to date: who shipped what, what came of it, who took it back.

What to write is found out without the vault's lock; under it only that is written whose files
still are what was read.  The rest waits for the next time.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import groupby

from orgvault.domain import ledger
from orgvault.domain.card_file import with_status
from orgvault.domain.episode import Correction, Episode
from orgvault.domain.ledger import Entry, Verdict
from orgvault.domain.ledger_file import write_entry
from orgvault.domain.patch import is_edited
from orgvault.domain.problem import Problem
from orgvault.domain.proposal import Accepted, Proposal
from orgvault.domain.proposal_state import Decided, State, decide
from orgvault.errors import NothingBefore, UnknownRevision
from orgvault.services import standing
from orgvault.services.desk import Desk, sound
from orgvault.services.proposal_faults import HistoryCutOff
from orgvault.store.cards import Stored
from orgvault.store.ledger import Ledger
from orgvault.store.proposals import Proposals, StoredProposal
from orgvault.store.vault import Change
from orgvault.values import dataclass

_COMPILED = ".agents/org/org-agents.json"
_NEXT = re.compile(rb"^next_at: (\S+)", re.MULTILINE)
_NEVER = "9999-12-31T23:59:59Z"
_IS_REVERT = "it undoes another change itself, so what to do is a person's to say"
_OFF_ROSTER = "{agent} is not on the roster"


@dataclass(frozen=True)
class Synced:
    """What a look at the ledger wrote: new entries, new measurements, changes taken back.

    `filed` are the entries for which a card was filed that asks to undo the change.
    """

    shipped: tuple[Entry, ...]
    measured: tuple[Entry, ...]
    reverted: tuple[Entry, ...]
    filed: tuple[Entry, ...]


@dataclass(frozen=True)
class _Step:
    """An entry as it should be; `text` is its file as it was read (None: there was none).

    `note` is a card to be marked shipped, `undoing` the change that a card is to ask for.
    """

    entry: Entry
    old: Entry | None
    text: str | None
    note: Stored | None = None
    undoing: Accepted | None = None


def due(desk: Desk) -> bool:
    """Whether a look could find something shipped, or has something to measure.

    With nothing open that costs the names in two folders and the dates of entries that will be
    measured again.
    """
    now = desk.clock.now().encode()
    for card_id in Ledger(desk.vault).ids():
        found = _NEXT.search(desk.vault.read(Ledger.path(card_id)) or b"")
        if found is not None and found[1] != b"null" and found[1] <= now:
            return True
    return any(one.status == State.SHIPPED for one in standing.unsettled(desk, []))


def sync(desk: Desk) -> tuple[Synced, list[Problem]]:
    """Notice what was shipped and what was taken back, and measure what is due; one commit.

    Nothing is written, and no lock taken, where there is nothing new.  Raises VaultBusy when
    there is and the vault cannot be written to, HistoryCutOff in a shallow clone.
    """
    desk.require("ledger-sync", "bring the ledger up to date")
    problems: list[Problem] = []
    now = desk.clock.now()
    if desk.vault.repository.is_shallow:
        raise HistoryCutOff
    steps = list(_steps(desk, now, problems))
    if not steps:
        return Synced((), (), (), ()), problems
    message = desk.message("ledger(roster): sync", "ledger-sync")
    written: list[tuple[_Step, Entry]] = []
    with desk.vault.change(message, desk.author, now) as change:
        for step in steps:
            entry = _written(desk, change, step, now)
            if entry is not None:
                written.append((step, entry))
        agents = sorted({entry.agent for _, entry in written})
        if len(agents) == 1:
            what = ", ".join(f"{entry.card} {_word(step, entry)}" for step, entry in written)
            change.message = desk.message(f"ledger({agents[0]}): {what}", "ledger-sync", agents[0])
    return _synced(written), problems


def _synced(written: list[tuple[_Step, Entry]]) -> Synced:
    return Synced(
        tuple(entry for step, entry in written if step.old is None),
        tuple(
            entry
            for step, entry in written
            if entry.measured_at != (step.old.measured_at if step.old else None)
        ),
        tuple(
            entry
            for step, entry in written
            if entry.reverted_at and not (step.old and step.old.reverted_at)
        ),
        tuple(entry for step, entry in written if step.undoing is not None and entry.revert_card),
    )


def _word(step: _Step, entry: Entry) -> str:
    if entry.reverted_at and not (step.old and step.old.reverted_at):
        return "reverted"
    return str(entry.verdict) if entry.verdict else "shipped"


# ── what should be written ──────────────────────────────────────────────────────────────────


def _steps(desk: Desk, now: str, problems: list[Problem]) -> Iterator[_Step]:
    kept = {one.entry.card: one for one in Ledger(desk.vault).all(problems)}
    entries = {card: one.entry for card, one in kept.items()}
    new: dict[str, tuple[StoredProposal, Stored | None]] = {}
    for one in standing.unsettled(desk, problems):
        if one.status == State.SHIPPED:
            made = _shipped(desk, one.stored.proposal, problems)
            if made is not None:
                new[made.card], entries[made.card] = (one.stored, one.card), made
    proposals = Proposals(desk.vault)
    for card, entry in sorted(entries.items()):
        stored = new[card][0] if card in new else proposals.get(card, problems)
        changed, undoing = entry, None
        if stored is not None:
            changed = _shipped_again(desk, stored.proposal, changed, problems)
            changed = _taken_back(desk, stored.proposal, changed)
            changed = _measured(desk, changed, list(entries.values()), now, problems)
            changed, undoing = _asking(desk, changed, stored)
        if card in new:
            note = new[card][1]
            marked = note if note and note.card.status != State.SHIPPED else None
            yield _Step(changed, None, None, marked, undoing)
        elif changed != entry or undoing is not None:
            yield _Step(changed, entry, kept[card].text, None, undoing)


def _shipped(desk: Desk, proposal: Proposal, problems: list[Problem]) -> Entry | None:
    """The first entry of a proposal that HEAD's values, or a person, say is shipped."""
    from orgvault.store.history import landed, landed_as

    if proposal.shipped_commit is not None:
        found = landed_as(desk.vault, proposal.shipped_commit)
    else:
        there = landed(desk.vault, proposal.path, partial(_reads, proposal, Decided(State.SHIPPED)))
        if there is None:
            return None  # HEAD moved on at this moment
        found = there
    if found.of_agent and found.at == proposal.created:
        # The proposal's own commit, to which a branch was moved: it does not say when that was.
        found = replace(found, at=desk.clock.now())
    since, until = ledger.before_shipping(found.at)
    episodes, corrected = rows(desk, proposal.agent, since, problems)
    return Entry(
        card=proposal.id, agent=proposal.agent, memory_id=proposal.memory_id,
        reverts=proposal.reverts, shipped_commit=found.commit, shipped_at=found.at,
        shipped_by=desk.masked(found.by), next_at=ledger.next_look(found.at),
        before=ledger.window(episodes, corrected, since, until),
    )  # fmt: skip


def _shipped_again(desk: Desk, proposal: Proposal, entry: Entry, problems: list[Problem]) -> Entry:
    """A new entry for a change that was taken back and stands in HEAD once more."""
    if not entry.reverted_at or not _in_head(desk, proposal, State.SHIPPED):
        return entry
    again = _shipped(desk, proposal, problems)
    return again if again is not None and again.shipped_at > entry.reverted_at else entry


def _taken_back(desk: Desk, proposal: Proposal, entry: Entry) -> Entry:
    """The entry with who undid the change: every value is what it was before.

    What was undone is not measured any more.
    """
    if entry.reverted_at:
        return entry
    if not _in_head(desk, proposal, State.OPEN):
        return entry
    from orgvault.store.history import landed

    found = landed(desk.vault, proposal.path, partial(_reads, proposal, Decided(State.OPEN)))
    if found is None or found.at < entry.shipped_at:
        return entry
    return replace(
        entry, reverted_by_person=desk.masked(found.by), reverted_commit=found.commit,
        reverted_at=found.at, next_at=None,
    )  # fmt: skip


def _measured(
    desk: Desk, entry: Entry, entries: list[Entry], now: str, problems: list[Problem]
) -> Entry:
    """The entry measured, where that is due, with what else may be behind the difference."""
    if entry.next_at is None or entry.next_at > now:
        return entry
    episodes, corrected = rows(desk, entry.agent, entry.before.since, problems)
    done = ledger.measured(entry, episodes, corrected, desk.roster.ledger_margin, now)
    settings = _settings(desk, done)
    named = [
        *ledger.others_shipped(done, entries),
        *(ledger.other_models(done, episodes) or _changed("model", settings, "model")),
        *_changed("core's budget", settings, "budget", " tokens"),
    ]
    return replace(done, confounders=tuple(named))


def _asking(desk: Desk, entry: Entry, stored: StoredProposal) -> tuple[Entry, Accepted | None]:
    """What a verdict of `revert` asks for, while nobody has filed or done that."""
    if entry.verdict is not Verdict.REVERT or entry.revert_card or entry.reverted_at:
        return entry, None
    if entry.reverts is not None:
        return replace(entry, revert_refused=_IS_REVERT), None
    if entry.agent not in desk.roster.agents:
        return replace(entry, revert_refused=_OFF_ROSTER.format(agent=entry.agent)), None
    from orgvault.services.undoing import reverse

    made = reverse(desk, entry, stored.proposal, stored.diff)
    if isinstance(made, str):
        return replace(entry, revert_refused=made), None
    return replace(entry, revert_refused=None), made


def _settings(desk: Desk, entry: Entry) -> list[dict[str, str]]:
    """The agent's model and budget when the windows began, at shipping, and when they ended.

    As the compiled roster had them; what cannot be found out is left out.
    """
    if entry.after is None:
        return []
    from orgvault.store.history import at

    found = []
    for when in (entry.before.since, entry.shipped_commit, entry.after.until):
        try:
            block = json.loads(at(desk.vault, when).read(_COMPILED) or b"")["agents"][entry.agent]
            budget, model = block["memory"]["core_budget_tokens"], block["model"]
        except (NothingBefore, UnknownRevision, ValueError, KeyError, TypeError):
            continue
        found.append({"budget": str(budget), "model": desk.masked(str(model or "none named"))})
    return found


def _changed(name: str, settings: list[dict[str, str]], key: str, unit: str = "") -> list[str]:
    """The sentence of a setting that was not the same all the time; none where it was."""
    values = [one for one, _ in groupby(found[key] for found in settings)]
    return (
        [f"the {name} changed: {', then '.join(values)}{unit}"[: ledger.CONFOUNDER_CHARS]]
        if values[1:]
        else []
    )


def _reads(proposal: Proposal, wanted: Decided, content: bytes | None) -> bool:
    """Whether a file's content says just this of a proposal: nothing else is looked at."""
    bare = replace(proposal, shipped_commit=None, expires=_NEVER)
    return decide(bare, content, content, bare.created) == wanted


def _in_head(desk: Desk, proposal: Proposal, state: State) -> bool:
    """Whether HEAD says just this of a proposal, and nobody is editing the file."""
    head = desk.vault.committed(proposal.path)
    edited = is_edited(head, desk.vault.read(proposal.path))
    return not edited and _reads(proposal, Decided(state), head)


def rows(
    desk: Desk, agent: str, since: str, problems: list[Problem]
) -> tuple[list[Episode], set[str]]:
    """An agent's episodes since an instant (and some before), and those that were corrected."""
    from orgvault.store.months import LogsSince

    logs = LogsSince(desk.vault.logs, since)
    episodes = logs.records(Episode, "episodes", agent, problems)
    corrections = logs.records(Correction, "corrections", agent, problems)
    return episodes, {one.episode for one in corrections}


# ── writing ─────────────────────────────────────────────────────────────────────────────────


def _written(desk: Desk, change: Change, step: _Step, now: str) -> Entry | None:
    """The entry as it was written; None where its file is no longer what was read."""
    entry = step.entry
    path = Ledger.path(entry.card)
    stands = change.read(path)
    if stands != (None if step.text is None else step.text.encode()):
        return None
    if step.undoing is not None:
        entry = replace(entry, revert_card=_filed(desk, change, step.entry, step.undoing, now))
    sound(entry)
    change.write(path, write_entry(entry))
    if step.note is not None and change.read(step.note.path) == step.note.text.encode():
        change.write(step.note.path, with_status(step.note.text, State.SHIPPED))
    return entry


def _filed(desk: Desk, change: Change, entry: Entry, undoing: Accepted, now: str) -> str | None:
    """File the card that asks to undo a change; None where its file changed meanwhile."""
    from orgvault.services.filing import file_proposal
    from orgvault.services.undoing import rationale

    base = desk.vault.repository.head().oid
    head = desk.vault.committed(undoing.path)
    if base is None or head is None or change.read(undoing.path) != undoing.old:
        return None
    filed = file_proposal(
        desk, change, desk.agent(entry.agent), None, undoing, rationale(entry), (), base,
        desk.vault.blob(head), now, reverts=entry.card,
    )  # fmt: skip
    return filed.id
