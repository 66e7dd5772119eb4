"""The past of a repository, by GitPython: only reading commands come here, its import is slow."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from orgvault.errors import NothingBefore, UnknownRevision
from orgvault.git.repository import Repository

if TYPE_CHECKING:
    from git import Commit


class PastCommit(NamedTuple):
    """One commit: its name, when it was committed, its author's name, its subject."""

    name: str
    at: datetime
    author: str
    subject: str


class Snapshot:
    """The files of a commit; paths are relative to the working tree's top, with `/`."""

    def __init__(self, commit: "Commit") -> None:
        self._commit = commit

    def read(self, path: str) -> bytes | None:
        """A file's content; None when there was none."""
        found = self._find(path)
        if found is None or found.type != "blob":
            return None
        content: bytes = found.data_stream.read()
        return content

    def names(self, folder: str) -> list[str]:
        """The names in a folder, sorted."""
        found = self._find(folder)
        if found is None or found.type != "tree":
            return []
        return sorted(str(one.name) for one in found)

    def _find(self, path: str) -> Any:  # noqa: ANN401 - a Blob, Tree or Submodule of GitPython
        try:
            return self._commit.tree / path
        except KeyError:
            return None


def snapshot(repository: Repository, revision: str) -> Snapshot:
    """The files at a revision.  Raises UnknownRevision."""
    from git import GitCommandError

    # rev-parse itself decides what a name means; nothing that begins with a dash is an option.
    repo = _open(repository)
    try:
        name = repo.git.rev_parse(
            "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        )
    except GitCommandError:
        raise UnknownRevision(revision) from None
    return Snapshot(repo.commit(name))


def last_before(repository: Repository, moment: str) -> str:
    """The name of the newest commit on HEAD's branch at a moment.  Raises UnknownRevision."""
    told = repository.git("rev-list", "-1", f"--before={moment}", "HEAD", "--", ok=(0, 128))
    if not told.strip():
        raise NothingBefore(moment)
    return told.decode().strip()


def touching(repository: Repository, paths: list[str]) -> list[PastCommit]:
    """The commits of HEAD's history that changed any of the paths, oldest first."""
    head = repository.head().oid
    if head is None:
        return []
    found = [
        PastCommit(one.hexsha, one.committed_datetime, str(one.author.name), str(one.summary))
        for one in _open(repository).iter_commits(head, paths=paths)
    ]
    return found[::-1]


def _open(repository: Repository) -> Any:  # noqa: ANN401 - a Repo of GitPython
    from git import Repo

    return Repo(repository.top)
