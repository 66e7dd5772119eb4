"""Claims: one file each, under `memory/<agent>/claims/` while active, `closed/` afterwards."""

from typing import Protocol

from orgvault.domain.claim import Claim
from orgvault.domain.claim_file import read_claim
from orgvault.domain.ids import is_claim_id
from orgvault.domain.problem import Problem
from orgvault.errors import UnreadableMemory
from orgvault.store.files import fingerprint, unread
from orgvault.store.vault import ORG
from orgvault.values import dataclass

ACTIVE = "claims"
CLOSED = "closed"


@dataclass(frozen=True)
class Stored:
    """A claim with its file: path relative to the vault, text, and the text's sha256."""

    claim: Claim
    path: str
    text: str
    sha256: str


class Tree(Protocol):
    """Files by path: a vault, or a change of it that is under way."""

    def read(self, path: str, /) -> bytes | None:
        """A file's content; None when there is none."""

    def names(self, folder: str, /) -> list[str]:
        """The names in a folder, sorted."""


class Claims:
    """The claims of a vault, or of a vault as a change leaves it."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @staticmethod
    def path(agent: str, claim_id: str, folder: str = ACTIVE) -> str:
        """Where the file of a claim stands."""
        return f"{ORG}/memory/{agent}/{folder}/{claim_id}.yaml"

    @staticmethod
    def core_path(agent: str) -> str:
        """Where the core memory of an agent stands."""
        return f"{ORG}/memory/{agent}/core.md"

    @staticmethod
    def notebook_path(agent: str) -> str:
        """Where the hand-written notebook of an agent stands."""
        return f"{ORG}/memory/{agent}.md"

    def active(self, agent: str) -> list[Stored]:
        """An agent's active claims, by id.

        One that carries its closing, or stands in `closed/` too, is closed: `check` reports it.
        Raises UnreadableMemory when one cannot be read: never a shorter list.
        """
        gone = set(self.ids(agent, CLOSED))
        return [
            one
            for one in self._sound(agent, ACTIVE)
            if one.claim.active and one.claim.id not in gone
        ]

    def closed(self, agent: str) -> list[Stored]:
        """An agent's closed claims, by id.  Raises UnreadableMemory when one cannot be read."""
        known = self._sound(agent, CLOSED)
        ids = {one.claim.id for one in known}
        here = (one for one in self._sound(agent, ACTIVE) if not one.claim.active)
        return sorted(
            [*known, *(one for one in here if one.claim.id not in ids)], key=lambda s: s.claim.id
        )

    def ids(self, agent: str, folder: str) -> list[str]:
        """The ids in a folder, by the names of their files."""
        names = (name.removesuffix(".yaml") for name in self._names(agent, folder))
        return [name for name in names if is_claim_id(name)]

    def load(self, agent: str, folder: str, problems: list[Problem]) -> list[Stored]:
        """The claims of a folder; what is none goes to `problems`."""
        found = [
            stored
            for name in self._names(agent, folder)
            if (stored := self._read(agent, folder, name, problems)) is not None
        ]
        gone = set(self.ids(agent, CLOSED)) if folder == ACTIVE else set()
        problems.extend(
            Problem(one.path, 0, "it stands in closed/ too, so the claim is closed", "remove one")
            for one in found
            if one.claim.id in gone
        )
        return found

    def _sound(self, agent: str, folder: str) -> list[Stored]:
        problems: list[Problem] = []
        found = []
        for name in self._names(agent, folder):
            # A sync tool's copy of a claim is no claim: `check` reports it.
            if is_claim_id(name.removesuffix(".yaml")):
                stored = self._read(agent, folder, name, problems)
                if stored is not None:
                    found.append(stored)
        if problems:
            raise UnreadableMemory(agent, problems)
        return found

    def _names(self, agent: str, folder: str) -> list[str]:
        names = self._tree.names(f"{ORG}/memory/{agent}/{folder}")
        return [name for name in names if name.endswith(".yaml")]

    def _read(self, agent: str, folder: str, name: str, problems: list[Problem]) -> Stored | None:
        path = f"{ORG}/memory/{agent}/{folder}/{name}"
        try:
            content = self._tree.read(path)
        except OSError as failure:
            problems.append(unread(path, failure))
            return None
        if content is None:
            return None
        try:
            text = content.decode()
        except UnicodeDecodeError:
            problems.append(Problem(path, 0, "the file is not UTF-8", "restore it from git"))
            return None
        claim, faults = read_claim(text, path)
        if claim is None:
            problems.extend(faults)
            return None
        if name != f"{claim.id}.yaml" or claim.agent != agent:
            what = f"the file holds {claim.id} of {claim.agent}, which belongs elsewhere"
            do = f"move it to memory/{claim.agent}/{folder}/{claim.id}.yaml, or mend its keys"
            problems.append(Problem(path, 0, what, do))
            return None
        return Stored(claim, path, text, fingerprint(content))
