"""Moving a branch: compare-and-swap in two steps, so that nothing can fail between them.

`git update-ref` takes the locks of the branch and of HEAD and compares (prepare); the index is
renamed while it holds them; then it moves the branch (commit).  When we die in between, it sees
the end of its input and gives its locks back.
"""

import os
import time
from types import TracebackType
from typing import Self

from orgvault.git.faults import UpdateRefFailed
from orgvault.git.repository import Repository
from orgvault.posix import age_s, fsync_folder, holders

# Taking two locks and comparing takes git milliseconds.
_ANSWER_S = 30.0
# A lock file counts as an orphan of ours only if it was made about when our commit was.
_ORPHAN_S = 30.0


class RefMove:
    """One move of a branch, as a `with`: `ask`, then `prepared`, then `finish`."""

    def __init__(self, repository: Repository, ref: str, reason: str, lock: int) -> None:
        self._repository = repository
        self._ref = ref
        self._process = repository.start(
            "-c", "core.fsync=committed,reference", "update-ref", "-m", reason, "-z", "--stdin",
            keep=[lock],
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        # Without `finish` the end of its input makes git let go of its locks.
        self._process.finish()

    def ask(self, old: str | None, new: str) -> None:
        """Have git lock the branch, if it stands at `old` (None: is not there)."""
        fields = ["start", f"update {self._ref}", new, old or "0" * len(new), "prepare", ""]
        self._send("\0".join(fields))

    def prepared(self) -> bool:
        """Whether git holds the locks; waits for its answer."""
        return self._answers("start") and self._answers("prepare")

    def finish(self) -> bool:
        """Move the branch, durably; whether git says that it did."""
        self._send("commit\0")
        done = self._answers("commit")
        folder = os.path.dirname(os.path.join(self._repository.common_dir, self._ref))
        if done and os.path.isdir(folder):
            fsync_folder(folder)
        return done

    @property
    def was_killed(self) -> bool:
        """Whether git was ended by a signal, so that its locks may stand there for good."""
        return (self._process.returncode or 0) < 0

    def failure(self) -> UpdateRefFailed:
        """What git said when it refused."""
        _, said = self._process.finish()
        return UpdateRefFailed(said.decode(errors="replace").strip())

    def _send(self, text: str) -> None:
        self._process.send(os.fsencode(text))

    def _answers(self, step: str) -> bool:
        return self._process.line(_ANSWER_S) == f"{step}: ok\n".encode()


def locks(repository: Repository, git_dir: str, ref: str) -> list[str]:
    """The lock files that stand in the way of moving a branch."""
    places = [
        os.path.join(repository.common_dir, f"{ref}.lock"),
        os.path.join(git_dir, "HEAD.lock"),
        os.path.join(repository.common_dir, "packed-refs.lock"),
    ]
    return [path for path in places if os.path.lexists(path)]


def clear_orphans(repository: Repository, git_dir: str, ref: str, oid: str, since_s: float) -> None:
    """Remove the locks that a killed `git update-ref` of ours left.

    The caller knows that no process of ours is at it any more.  A lock is an orphan of ours when
    it holds our commit or nothing, was made within half a minute of `since_s` (seconds since the
    epoch), and no process has it open.
    """
    for path in locks(repository, git_dir, ref):
        try:
            with open(path, "rb") as file:
                content = file.read(200).strip()
            made_s = os.stat(path).st_mtime
        except FileNotFoundError:
            continue
        near = abs(made_s - since_s) < _ORPHAN_S
        if near and content in {b"", oid.encode()} and not holders(path):
            _settle_down(path)


def _settle_down(path: str) -> None:
    # git keeps an empty HEAD.lock without having it open, for milliseconds: ours is older.
    while (age := age_s(path)) is not None and 0 <= age < 1:
        time.sleep(0.05)
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
