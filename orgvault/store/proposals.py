"""Proposals: beside each card its `<id>.yaml` and the byte-exact `<id>.diff`."""

import re

from orgvault.digests import sha256
from orgvault.domain.ids import CARD_ID
from orgvault.domain.problem import Problem
from orgvault.domain.proposal import Proposal
from orgvault.domain.proposal_file import read_proposal
from orgvault.store.claims import Tree
from orgvault.store.files import content_of, text_of
from orgvault.store.open_proposals import FOLDER, RECORD, is_record
from orgvault.values import dataclass

_DIFF = ".diff"


@dataclass(frozen=True)
class StoredProposal:
    """A proposal with its diff, and the path (relative to the vault) and text of its file."""

    proposal: Proposal
    diff: bytes
    path: str
    text: str


class Proposals:
    """The proposals of a vault, of a change of it, or of its past."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @staticmethod
    def path(card_id: str) -> str:
        """Where the file of a proposal stands."""
        return f"{FOLDER}/{card_id}{RECORD}"

    @staticmethod
    def diff_path(card_id: str) -> str:
        """Where the diff of a proposal stands."""
        return f"{FOLDER}/{card_id}{_DIFF}"

    def ids(self) -> list[str]:
        """The ids of all proposals by the names of their files, sorted; nothing is read."""
        return [name.removesuffix(RECORD) for name in self._tree.names(FOLDER) if is_record(name)]

    def all(self, problems: list[Problem]) -> list[StoredProposal]:
        """Every proposal, by id; what is none goes to `problems`."""
        names = self._tree.names(FOLDER)
        for name in names:
            record = name.removesuffix(_DIFF) + RECORD
            is_diff = name.endswith(_DIFF) and is_record(record)
            if not is_record(name) and not (is_diff and record in names):
                what = _ALONE if is_diff else _FOREIGN
                problems.append(Problem(f"{FOLDER}/{name}", 0, *what))
        found = (self.get(card_id, problems) for card_id in self.ids())
        return [one for one in found if one is not None]

    def get(self, card_id: str, problems: list[Problem]) -> StoredProposal | None:
        """One proposal; None when there is none of that id, or it cannot be relied on."""
        if not re.fullmatch(CARD_ID, card_id):
            return None
        path = self.path(card_id)
        text = text_of(self._tree.read, path, problems, "restore it from git")
        if text is None:
            return None
        proposal, faults = read_proposal(text, path)
        problems.extend(faults)
        if proposal is None:
            return None
        if proposal.id != card_id:
            what = f"the file holds {proposal.id}, which belongs elsewhere"
            problems.append(Problem(path, 0, what, f"name it {proposal.id}{RECORD}, or remove it"))
            return None
        diff = content_of(self._tree.read, self.diff_path(card_id), problems)
        if diff is None or sha256(diff).hexdigest() != proposal.diff_sha256:
            what = "missing" if diff is None else "not the diff that was filed: its hash differs"
            problems.append(Problem(self.diff_path(card_id), 0, what, "restore it from git"))
            return None
        return StoredProposal(proposal, diff, path, text)


_FOREIGN = ("not the name of a proposal, so it is not loaded", "a sync tool's copy? remove it")
_ALONE = (
    "the record of this diff is gone",
    "restore the file of the same name with .yaml from git",
)
