"""The ledger as people read it: the entries, and one of them in words."""

from orgvault.domain.access import allowed, who_may
from orgvault.domain.ledger import Compared, Entry, Window, in_words
from orgvault.domain.problem import Problem
from orgvault.errors import NotAllowed, OrgvaultError
from orgvault.services.desk import Desk
from orgvault.services.ledgering import Synced
from orgvault.store.ledger import Ledger

REVERTED = "reverted_by_person"
COLUMNS = (
    "card", "agent", "shipped", "by", "verdict", "corrections", "cost", "next", "to undo it",
)  # fmt: skip


class UnknownEntry(OrgvaultError):
    """The ledger has no entry of that card, or it cannot be relied on."""

    def __init__(self, given: str, why: str) -> None:
        super().__init__(f"no ledger entry `{given}`: {why or 'see `orgvault ledger list`'}")


def listed(desk: Desk) -> tuple[list[Entry], list[Problem]]:
    """The entries that the actor may see, latest shipped first."""
    problems: list[Problem] = []
    found = [one.entry for one in Ledger(desk.vault).all(problems) if _visible(desk, one.entry)]
    found.sort(key=lambda one: (one.shipped_at, one.card), reverse=True)
    return found, problems if desk.actor.is_person else []


def show(desk: Desk, card_id: str) -> Entry:
    """One entry.  An agent is told no more of what is not there than of others'."""
    problems: list[Problem] = []
    stored = Ledger(desk.vault).get(card_id, problems)
    if stored is not None and _visible(desk, stored.entry):
        return stored.entry
    if not desk.actor.is_person:
        raise NotAllowed(desk.actor.name, f"look at {card_id}", who_may("list"))
    raise UnknownEntry(card_id, str(problems[0]) if problems else "")


def told(synced: Synced) -> str:
    """What a look wrote, one thing a line."""
    lines = [f"{one.card}: shipped {one.shipped_at} by {one.shipped_by}" for one in synced.shipped]
    lines += [f"{one.card}: {one.verdict}" for one in synced.measured]
    lines += [
        f"{one.card}: taken back {one.reverted_at} by {one.reverted_by_person}"
        for one in synced.reverted
    ]
    lines += [f"{one.revert_card}: asks to undo {one.card}" for one in synced.filed]
    return "\n".join(lines or ["Nothing new."])


def line(entry: Entry) -> tuple[str, ...]:
    """An entry as a row of the list."""
    return (
        entry.card, entry.agent, entry.shipped_at[:10], entry.shipped_by, state(entry),
        _times(entry.corrections), _times(entry.cost),
        entry.next_at[:10] if entry.next_at else "", entry.revert_card or "",
    )  # fmt: skip


def state(entry: Entry) -> str:
    """How an entry stands, in one word."""
    if entry.reverted_at:
        return REVERTED
    return str(entry.verdict) if entry.verdict else "waiting"


def describe(entry: Entry) -> str:
    """An entry as a person reads it."""
    lines = [
        f"{entry.card} of {entry.agent}: {state(entry)}",
        f"  shipped {entry.shipped_at} by {entry.shipped_by} ({entry.shipped_commit[:10]})",
        *([f"  answers {entry.memory_id}"] if entry.memory_id else []),
        *([f"  undoes {entry.reverts}"] if entry.reverts else []),
        _window("before", entry.before),
        *([_window("after", entry.after)] if entry.after else []),
    ]
    if entry.verdict is not None:
        lines += [
            _compared("corrections per completed card", entry.corrections),
            _compared("cost per completed card", entry.cost),
            f"  margin ×{1 + (entry.margin or 0):g}, measured {entry.measured_at}",
        ]
    lines += [f"  beside it: {one}" for one in entry.confounders]
    if entry.next_at:
        lines.append(f"  is measured {'again ' if entry.verdict else ''}on {entry.next_at[:10]}")
    if entry.revert_card:
        lines.append(f"  to undo it: orgvault proposal show {entry.revert_card}")
    if entry.revert_refused:
        lines.append(f"  no card to undo it was filed: {entry.revert_refused}")
    if entry.reverted_at:
        by, commit = entry.reverted_by_person, entry.reverted_commit or ""
        lines.append(f"  taken back {entry.reverted_at} by {by} ({commit[:10]})")
    return "\n".join(lines)


def _visible(desk: Desk, entry: Entry) -> bool:
    """Whether the actor may see it; of an agent that is gone from the roster only people may."""
    agent = desk.roster.agents.get(entry.agent)
    return desk.actor.is_person if agent is None else allowed(desk.actor, "list", agent)


def _window(name: str, one: Window) -> str:
    cost = "cost unknown" if one.cost_usd is None else f"${one.cost_usd:.4f}"
    return (
        f"  {name}: {one.since[:10]} to {one.until[:10]}, {one.done} done of {one.episodes} "
        f"episodes, {one.corrected} corrected, {cost}, {one.priced} priced"
    )


def _compared(name: str, one: Compared | None) -> str:
    return f"  {name}: {'cannot be compared' if one is None else in_words(one)}"


def _times(one: Compared | None) -> str:
    return "" if one is None else f"×{one.low:.2f}–{one.high:.2f}"
