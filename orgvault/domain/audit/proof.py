"""What the logs prove: which runs showed a claim, what was made, closed and filed."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from orgvault.domain.audit.finding import Report, Rule
from orgvault.domain.instants import days_before
from orgvault.domain.masking import SECRET

_SEEN = frozenset({"added", "repeated"})
_MADE = frozenset({"added", "superseded"})


class Proof:
    """Every reflection of a history, as far as claims and cards rest on it."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str], set[str]] = {}
        self._made: dict[tuple[str, str], set[tuple[object, object]]] = {}
        self._closed: set[tuple[str, str]] = set()
        self._latest: dict[tuple[str, str], str] = {}
        self.cards: dict[str, str] = {}  # the claim that each was filed for; empty: for none
        self.redacted = False  # a person has taken a secret out of the history

    def altered(self, sha: str, content: bytes, path: str, what: str, report: Report) -> None:
        """Say of a text that is not the one of its hash whether a redaction made it so."""
        if sha256(content).hexdigest() == sha:
            return
        if self.without_secret(content.decode(errors="replace")):
            report.note(path, f"{what}: a secret was taken out")
        else:
            report.find(Rule.TEXT_FORGED, path, what)

    def without_secret(self, words: str) -> bool:
        """Whether a redaction has put its mark in the place of a secret in these words."""
        return self.redacted and SECRET in words

    def add(self, log: str, row: Mapping[str, Any]) -> None:
        """Take in a row of a log; only some say anything."""
        if log == "reflections":
            self._reflection(row)

    def _reflection(self, row: Mapping[str, Any]) -> None:
        agent, run = str(row.get("agent")), str(row.get("run"))
        if row.get("card"):
            self.cards[str(row["card"])] = str(row.get("claim_id") or "")
        for one in _mappings(row.get("operations")):
            claim, effect = (agent, str(one.get("claim_id"))), one.get("effect")
            if effect in _SEEN:
                self._runs.setdefault(claim, set()).add(run)
                self._latest[claim] = max(self._latest.get(claim, ""), _day_after(row))
            if effect in _MADE:
                self._made.setdefault(claim, set()).add((one.get("kind"), one.get("text")))
            if effect == "closed":
                self._closed.add(claim)

    def runs(self, agent: str, claims: list[str]) -> set[str]:
        """The runs that showed any of these claims."""
        none: set[str] = set()
        return set().union(*(self._runs.get((agent, one), none) for one in claims))

    def latest(self, agent: str, claims: list[str]) -> str:
        """The last instant at which what showed any of these claims may have been settled.

        An answer is settled once the vault is free; a day is more than any command waits.
        """
        return max((self._latest.get((agent, one), "") for one in claims), default="")

    def made(self, agent: str, claim: str) -> bool:
        """Whether a reflection made this claim."""
        return (agent, claim) in self._made

    def worded(self, agent: str, claim: str, kind: str, text: str) -> bool:
        """Whether a reflection made this claim with these words, as far as its row tells them."""
        said = self._made.get((agent, claim), set())
        return any(one in {(kind, text), (None, None)} for one in said)

    def closed(self, agent: str, claim: str) -> bool:
        """Whether a reflection closed this claim for good."""
        return (agent, claim) in self._closed


def _day_after(row: Mapping[str, Any]) -> str:
    try:
        return days_before(str(row.get("at")), -1)
    except ValueError:
        return ""


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
