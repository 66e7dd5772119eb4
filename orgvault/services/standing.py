"""How each proposal stands: what its note says, where that counts, else what HEAD says."""

from orgvault.domain.card import said_status
from orgvault.domain.problem import Problem
from orgvault.domain.proposal_state import State, decide
from orgvault.services.desk import Desk
from orgvault.store.cards import Cards, Stored
from orgvault.store.open_proposals import LEDGER, OVER, maybe_open
from orgvault.store.proposals import Proposals, StoredProposal
from orgvault.values import dataclass

CLOSED = "closed"


@dataclass(frozen=True)
class Standing:
    """A proposal with its note (None: deleted, or not readable) and how it stands.

    `status` is `open`, `shipped`, `closed` or `withdrawn`; `why` a few words, or empty; `settled`
    whether the note or the ledger says so, and not only HEAD.
    """

    stored: StoredProposal
    card: Stored | None
    status: str
    why: str = ""
    settled: bool = False


def everything(desk: Desk, problems: list[Problem]) -> list[Standing]:
    """Every proposal, by id."""
    at = _Standings(desk, problems)
    return [at.of(stored) for stored in Proposals(desk.vault).all(problems)]


def unsettled(desk: Desk, problems: list[Problem]) -> list[Standing]:
    """The proposals that no note and no ledger entry has settled, whatever HEAD says of them.

    Where there is none, no file is parsed.
    """
    ids = maybe_open(desk.vault, desk.roster.pages_folder)
    if not ids:
        return []
    at = _Standings(desk, problems)
    kept = Proposals(desk.vault)
    found = (kept.get(card_id, problems) for card_id in ids)
    standings = [at.of(stored) for stored in found if stored is not None]
    return [one for one in standings if not one.settled]


def standing(desk: Desk, stored: StoredProposal, problems: list[Problem]) -> Standing:
    """How one proposal stands.

    Shipped once the ledger has an entry.  Else a note that was deleted is a no, and of one that
    is there only the status counts: `closed` and `withdrawn` as they are.  For any other word,
    a person's `shipped` too, HEAD decides.
    """
    return _Standings(desk, problems).of(stored)


class _Standings:
    """One look at the backlog, the ledger and HEAD; each file of HEAD is read once."""

    def __init__(self, desk: Desk, problems: list[Problem]) -> None:
        self._desk = desk
        self._problems = problems
        self._cards = Cards(desk.vault, desk.roster.pages_folder)
        self._entries = frozenset(desk.vault.names(LEDGER))
        self._now = desk.clock.now()
        self._files: dict[str, tuple[bytes | None, bytes | None]] = {}

    def of(self, stored: StoredProposal) -> Standing:
        card_id = stored.proposal.id
        note = self._cards.get(card_id, self._problems)
        if f"{card_id}.yaml" in self._entries:
            return Standing(stored, note, State.SHIPPED, settled=True)
        said = self._said(self._cards.path(card_id))
        if said is None:
            return Standing(stored, None, CLOSED, "its note was deleted", settled=True)
        if said in OVER:
            reason = note.card.reason if note else None
            return Standing(stored, note, said, reason or "", settled=True)
        head, working = self._contents(stored.proposal.path)
        decided = decide(stored.proposal, head, working, self._now)
        return Standing(stored, note, decided.state, decided.why)

    def _said(self, path: str) -> str | None:
        """The status that a note names; None where there is no note."""
        try:
            content = self._desk.vault.read(path)
        except OSError:
            return ""  # something is there, and who reads the note says what
        return None if content is None else said_status(content)

    def _contents(self, path: str) -> tuple[bytes | None, bytes | None]:
        if path not in self._files:
            vault = self._desk.vault
            self._files[path] = vault.committed(path), vault.read(path)
        return self._files[path]
