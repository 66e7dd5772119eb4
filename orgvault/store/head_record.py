"""The last history that an audit found sound, and the last it saw, kept outside the branch.

Two places, so that one alone cannot be taken away unseen: a ref, which keeps the commits from
being pruned when the branch is rewritten, and a file beside the lock, which has the counts.
"""

import json
import os
from collections.abc import Mapping

from orgvault.digests import sha256
from orgvault.store import files
from orgvault.store.vault import Vault
from orgvault.values import dataclass

_REFS = "refs/orgvault/audited/"


@dataclass(frozen=True)
class Recorded:
    """What was audited: how many rows (by log) and claims the sound commit held.

    `commits` are those that refs and file name: one, unless somebody has moved one of them, or the
    last history that was seen was not sound.
    """

    commits: tuple[str, ...]
    counts: Mapping[str, int]


class HeadRecord:
    """The record of the branch that HEAD is on, and of one vault of the repository."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        branch = vault.repository.branch()
        self._kept = branch is not None
        self.name = sha256(os.fsencode(f"{vault.prefix}\n{branch}")).hexdigest()[:16]
        self.ref = _REFS + self.name
        self._seen_ref = f"{self.ref}-seen"
        self._file = os.path.join(_folder(vault), f"{self.name}.json")

    def read(self) -> Recorded | None:
        """The record; None before the first audit.  A ref without a file has no counts.

        A HEAD that is on no branch has none: who checks out one commit after another (CI) is not
        to be told that the one before is lost.
        """
        if not self._kept:
            return None
        filed, counts = _read(self._file)
        refs = map(self._vault.repository.commit_of, (self.ref, self._seen_ref))
        commits = tuple(dict.fromkeys(one for one in (*refs, filed) if one))
        return Recorded(commits, counts) if commits else None

    def write(self, commit: str, counts: Mapping[str, int], *, sound: bool) -> None:
        """Keep what was audited of a branch; the file is on disk before the ref moves.

        What was not `sound` is kept beside what last was: neither may be lost from then on.
        """
        if not self._kept:
            return
        if sound:
            files.make_folder(os.path.dirname(self._file))
            _write(self._file, commit, counts)
        ref = self.ref if sound else self._seen_ref
        self._vault.repository.git("update-ref", "-m", "orgvault audit", ref, commit)
        if sound and self._vault.repository.commit_of(self._seen_ref):
            self._vault.repository.git("update-ref", "-d", self._seen_ref)


def rename_commits(vault: Vault, names: Mapping[str, str]) -> None:
    """Let what audits saw be known by its new name, after history was rewritten (old to new).

    The refs have moved with all others.  Without this the next audit would take it for a loss.
    """
    for name in files.names_in(_folder(vault)):
        place = os.path.join(_folder(vault), name)
        commit, counts = _read(place)
        if commit in names:
            _write(place, names[commit], counts)


def _folder(vault: Vault) -> str:
    return os.path.join(vault.private, "audited")


def _read(place: str) -> tuple[str, Mapping[str, int]]:
    """The commit and the counts of a file; empty where it says none."""
    content = files.read_bytes(place)
    try:
        data = json.loads(content) if content else {}
        counts = {str(key): int(value) for key, value in data.get("counts", {}).items()}
        return str(data.get("commit") or ""), counts
    except (ValueError, TypeError, AttributeError):
        return "", {}


def _write(place: str, commit: str, counts: Mapping[str, int]) -> None:
    data = {"v": 1, "commit": commit, "counts": dict(counts)}
    files.replace(place, json.dumps(data).encode() + b"\n")
