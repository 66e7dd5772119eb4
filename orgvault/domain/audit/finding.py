"""What an audit says: findings, each by the name of its rule, and notes of what was legal."""

from collections.abc import Callable
from enum import StrEnum

from orgvault.domain.problem import on_one_line
from orgvault.values import dataclass


class Rule(StrEnum):
    """The rules that a history of a vault keeps; a finding names the one that is broken."""

    SHALLOW = "history-cut-off"
    GRAFTED = "history-grafted"
    REPLACED = "history-replaced"
    REWRITTEN = "history-lost"
    ALTERED = "object-altered"
    MODE = "mode-changed"
    LINK = "link"
    SUBMODULE = "submodule"
    ROW_DROPPED = "row-dropped"
    ROW_CHANGED = "row-changed"
    ROW_REORDERED = "row-reordered"
    ROW_TWICE = "row-twice"
    ROW_FORGED = "row-forged"
    ROW_MISFILED = "row-misfiled"
    ROW_UNREADABLE = "row-unreadable"
    SEGMENT_SHRUNK = "segment-shrunk"
    SEGMENT_MOVED = "segment-moved"
    WAKE_CLOSED_TWICE = "wake-closed-twice"
    CLAIM_DELETED = "claim-deleted"
    CLAIM_MOVED = "claim-moved"
    CLAIM_REOPENED = "claim-reopened"
    CLAIM_FROZEN = "closed-claim-changed"
    CLAIM_REWRITTEN = "claim-rewritten"
    CLAIM_UNPROVEN = "claim-unproven"
    CLOSE_UNPROVEN = "closing-unproven"
    HAND_OF_AGENT = "claim-edited-by-agent"
    SEAL_FORGED = "seal-forged"
    COUNT_UNPROVEN = "count-unproven"
    COUNT_LOWERED = "count-lowered"
    EVIDENCE_UNPROVEN = "evidence-unproven"
    EVIDENCE_DROPPED = "evidence-dropped"
    CHAIN_BROKEN = "chain-broken"
    CORE_FOREIGN = "core-foreign-line"
    CORE_WRONG = "core-not-rendered"
    COMPILED_WRONG = "roster-not-compiled"
    COMPILED_BY_AGENT = "roster-written-by-agent"
    PERSONS_FILE = "persons-file-by-agent"
    NOT_ALLOWED = "actor-not-allowed"
    POSING = "actor-posing"
    PROPOSAL_CHANGED = "proposal-changed"
    PROPOSAL_DELETED = "proposal-deleted"
    PROPOSAL_UNPROVEN = "proposal-unproven"
    LEDGER_CHANGED = "ledger-changed"
    LEDGER_UNPROVEN = "ledger-unproven"
    TEXT_FORGED = "text-forged"
    TEXT_DELETED = "text-deleted"
    TEXT_MISSING = "text-missing"


MEANS: dict[Rule, str] = {
    Rule.SHALLOW: "what came before cannot be looked at: `git fetch --unshallow`",
    Rule.GRAFTED: "git tells another history than was made: remove info/grafts",
    Rule.REPLACED: "git reads another object in its place: `git replace -d`",
    Rule.REWRITTEN: "history was rewritten and lost it: restore it from the commit that is named",
    Rule.ALTERED: "its bytes are not those that were committed: `git fsck`, restore from a copy",
    Rule.MODE: "the engine writes plain files only",
    Rule.LINK: "a link can lead out of the vault; the engine makes none",
    Rule.SUBMODULE: "another repository stands where files of ours belong",
    Rule.ROW_DROPPED: "what was acknowledged is gone: restore it from the parent",
    Rule.ROW_CHANGED: "a row is never altered once it stands: restore it from the parent",
    Rule.ROW_REORDERED: "rows are only ever appended",
    Rule.ROW_TWICE: "one id, two contents: one of them is not what was recorded",
    Rule.ROW_FORGED: "no command of ours gives such a row that id",
    Rule.ROW_MISFILED: "a row of one agent in the log of another",
    Rule.ROW_UNREADABLE: "a whole line that is no row; the engine writes none",
    Rule.SEGMENT_SHRUNK: "a segment only grows",
    Rule.SEGMENT_MOVED: "only a claim is ever moved, to closed/",
    Rule.WAKE_CLOSED_TWICE: "a wake is closed by one run only",
    Rule.CLAIM_DELETED: "claims are closed, never deleted: restore its file",
    Rule.CLAIM_MOVED: "a claim stays with its agent",
    Rule.CLAIM_REOPENED: "a claim closes once",
    Rule.CLAIM_FROZEN: "a closed claim stays as it is",
    Rule.CLAIM_REWRITTEN: "neither a command nor a person's edit of its words changes that",
    Rule.CLAIM_UNPROVEN: "no reflection in the log made it, and its seal says one did",
    Rule.CLOSE_UNPROVEN: "no reflection in the log closed it",
    Rule.HAND_OF_AGENT: "only a person may edit a claim by hand",
    Rule.SEAL_FORGED: "it hides that the claim was edited by hand",
    Rule.COUNT_UNPROVEN: "the log knows fewer runs that showed it",
    Rule.COUNT_LOWERED: "a count only grows",
    Rule.EVIDENCE_UNPROVEN: "no reflection in the log says that this run showed it",
    Rule.EVIDENCE_DROPPED: "evidence only grows",
    Rule.CHAIN_BROKEN: "a claim and the one that replaced it name each other",
    Rule.CORE_FOREIGN: "an agent was told what none of its claims says",
    Rule.CORE_WRONG: "not what the claims render to: `orgvault memory render`",
    Rule.COMPILED_WRONG: "not what org.yaml compiles to: `orgvault compile`",
    Rule.COMPILED_BY_AGENT: "only the owner compiles the roster",
    Rule.PERSONS_FILE: "only people edit it",
    Rule.NOT_ALLOWED: "the access table does not let them",
    Rule.POSING: "an agent's commit in a person's name",
    Rule.PROPOSAL_CHANGED: "what was proposed stays as it was filed",
    Rule.PROPOSAL_DELETED: "proposals are closed, never deleted",
    Rule.PROPOSAL_UNPROVEN: "no reflection and no ledger entry filed it",
    Rule.LEDGER_CHANGED: "a measurement was altered without measuring anew",
    Rule.LEDGER_UNPROVEN: "there is no proposal that it measures",
    Rule.TEXT_FORGED: "its name is not the hash of what it holds",
    Rule.TEXT_DELETED: "the texts of runs stay, as long as runs.keep_days is not set",
    Rule.TEXT_MISSING: "a run names a text that was never stored",
}


@dataclass(frozen=True)
class Finding:
    """One breach: of which rule, in which commit (short; empty: the repository), where, what."""

    rule: Rule
    commit: str
    path: str
    what: str
    means: str

    def __str__(self) -> str:
        return _placed(self.commit, self.path, f"{self.rule}: {self.what} ({self.means})")


@dataclass(frozen=True)
class Note:
    """Something legal that a person may want to see."""

    commit: str
    path: str
    what: str

    def __str__(self) -> str:
        return _placed(self.commit, self.path, self.what)


class Report:
    """Collects findings and notes; what is seen against both parents of a merge counts once."""

    def __init__(self) -> None:
        self._findings: dict[Finding, None] = {}
        self._notes: dict[Note, None] = {}
        self._open: dict[Finding | Note, Callable[[], bool]] = {}
        self.commit = ""

    def find(self, rule: Rule, path: str, what: str) -> None:
        """Say that a rule is broken in the commit that is looked at."""
        self._findings[Finding(rule, self.commit, path, _line(what), MEANS[rule])] = None

    def find_unless_mended(
        self, rule: Rule, path: str, what: str, broken: Callable[[], bool]
    ) -> None:
        """The same, if it is still `broken` at the end.

        A backup tool commits what it finds, also in the middle of a change of ours, whose other
        files then follow with our own commit.
        """
        self._open[Finding(rule, self.commit, path, _line(what), MEANS[rule])] = broken

    def note_unless_mended(self, path: str, what: str, broken: Callable[[], bool]) -> None:
        """The same, of something legal."""
        self._open[Note(self.commit, path, _line(what))] = broken

    def settle(self) -> None:
        """Decide what was left open."""
        for one, broken in self._open.items():
            if broken():
                if isinstance(one, Finding):
                    self._findings[one] = None
                else:
                    self._notes[one] = None
        self._open.clear()

    def note(self, path: str, what: str) -> None:
        """Say what a person may want to see."""
        self._notes[Note(self.commit, path, _line(what))] = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding, in the order of the history."""
        return tuple(self._findings)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Every note, in the order of the history."""
        return tuple(self._notes)


def _placed(commit: str, path: str, what: str) -> str:
    """What is said, after where: of the repository as a whole no place is told."""
    where = " ".join(filter(None, (commit, on_one_line(path))))
    return f"{where}: {what}" if where else what


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _WIDE else f"{flat[: _WIDE - 1]}…"


_WIDE = 200
