"""The past of a repository, by GitPython: only reading commands come here, its import is slow."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from orgvault.errors import NothingBefore, UnknownRevision
from orgvault.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

    from git import Commit


class PastCommit(NamedTuple):
    """One commit: its name, when and by whom it was committed, its author, its subject."""

    name: str
    at: datetime
    author: str
    subject: str
    email: str
    committer: str


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


def before_words(repository: Repository, path: str, words: str) -> Snapshot | None:
    """The files just before the oldest commit of HEAD's history that brought words into a file.

    None when no commit did, or when history begins with it.
    """
    told = repository.git("log", "--format=%H", f"-S{words}", "HEAD", "--", path, ok=(0, 128))
    if not told.strip():
        return None
    try:
        return snapshot(repository, f"{told.split()[-1].decode()}^")
    except UnknownRevision:
        return None


def in_history(repository: Repository, revision: str) -> str:
    """The name of a commit of HEAD's history.  Raises UnknownRevision for any other."""
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    name = repository.git(*asked, ok=(0, 1, 128)).decode().strip()
    asked = ("rev-list", "-1", name, "^HEAD", "--")
    if not name or repository.git(*asked, ok=(0, 128)).strip() or repository.head().oid is None:
        raise UnknownRevision(revision)
    return name


def changes(repository: Repository, base: str, commit: str, path: str) -> bool:
    """Whether a commit behind which `base` stands differs in a file from its first parent."""
    apart = repository.git("rev-list", "-1", base, f"^{commit}", "--", ok=(0, 128)).strip()
    if apart or base == commit:
        return False
    told = repository.git("diff", "--name-only", f"{commit}^", commit, "--", path, ok=(0, 128))
    return bool(told.strip())


def newest_changes(repository: Repository, path: str) -> "Iterator[tuple[PastCommit, Snapshot]]":
    """The commits of HEAD's own line that changed a file, newest first, each with its files.

    That line goes from each commit to its first parent: a merge is one commit on it, the one
    that brought its branch's changes here.  Read as they are asked for.
    """
    head = repository.head().oid
    if head is None:
        return
    for one in _open(repository).iter_commits(head, paths=f":(literal){path}", first_parent=True):
        yield _past(one), Snapshot(one)


def reached(repository: Repository, name: str) -> PastCommit:
    """The commit of HEAD's own line that brought a commit of its history there, maybe itself."""
    since = f"{name}..HEAD"
    after = set(repository.git("rev-list", "--ancestry-path", since, "--").split())
    line = repository.git("rev-list", "--first-parent", since, "--").split()
    found = [one for one in line if one in after]
    repo = _open(repository)
    if not found:
        return _past(repo.commit(name))
    oldest = repo.commit(found[-1].decode())
    is_on_line = oldest.parents[0].hexsha == name
    return _past(oldest.parents[0] if is_on_line else oldest)


def past_contents(repository: Repository, revision: str, path: str) -> "Iterator[bytes]":
    """The contents that a file had in a commit's history, newest first."""
    asked = ("log", "--full-history", "--diff-filter=AM", "--format=%H", revision, "--", path)
    for name in repository.git(*asked, ok=(0, 128)).decode().split():
        content = snapshot(repository, name).read(path)
        if content is not None:
            yield content


def touching(repository: Repository, paths: list[str]) -> list[PastCommit]:
    """The commits of HEAD's history that changed any of the paths, oldest first."""
    head = repository.head().oid
    if head is None:
        return []
    found = [_past(one) for one in _open(repository).iter_commits(head, paths=paths)]
    return found[::-1]


def _past(one: "Commit") -> PastCommit:
    return PastCommit(
        one.hexsha, one.committed_datetime, str(one.author.name), str(one.summary),
        str(one.author.email), str(one.committer.name),
    )  # fmt: skip


def _open(repository: Repository) -> Any:  # noqa: ANN401 - a Repo of GitPython
    from git import Repo

    repository.trusted()
    return Repo(repository.top)
