"""What can go wrong between orgvault and git, each with its own sentence."""

from collections.abc import Sequence

from orgvault.errors import ChangedUnderneath, GitFailed, InProgress, OrgvaultError, VaultBusy


class ObjectMissing(GitFailed):
    """The repository lacks an object that it refers to."""

    def __init__(self, oid: str) -> None:
        super().__init__(f"git cat-file {oid}", "the object is missing or damaged: run `git fsck`")


class InitFailed(GitFailed):
    """git could not make a repository."""

    def __init__(self, said: str) -> None:
        super().__init__("git init", said)


class UpdateRefFailed(GitFailed):
    """git refused to move a branch, for no reason that we know."""

    def __init__(self, said: str) -> None:
        super().__init__("git update-ref", said)


class NoSpawn(OrgvaultError):
    """The system has no `posix_spawn`: Windows."""

    def __init__(self) -> None:
        super().__init__("git cannot be started from here on this system: run orgvault in WSL")


class TooSlow(GitFailed):
    """A child of git passed its limit, in seconds, and was ended with all it had started."""

    def __init__(self, command: str, limit_s: float) -> None:
        super().__init__(command, f"it did not end within {limit_s:g} seconds")


class PathConflict(GitFailed):
    """A path to be written stands below what is a file, or is a folder, elsewhere in the commit."""

    def __init__(self, path: str) -> None:
        super().__init__("commit", f"{path} would have to be a file and a folder at once")


class Moved(VaultBusy):
    """HEAD is no longer what the commit was built on: its branch, or its commit."""

    def __init__(self, ref: str) -> None:
        branch = ref.removeprefix("refs/heads/")
        super().__init__(f"another program is moving HEAD or the branch {branch}", "try again")


class MessageOpen(InProgress):
    """The person is writing a commit message: their commit would die if the branch moved."""

    def __init__(self) -> None:
        VaultBusy.__init__(
            self,
            "a commit message seems to be open in an editor, or a commit was given up less than a "
            "minute ago",
            "finish that commit, or try again in a minute",
        )


class HalfWritten(OrgvaultError):
    """A change failed, and a text that it had written could not be put back."""

    def __init__(self, paths: Sequence[str], why: str) -> None:
        super().__init__(
            f"the change could not be committed ({why}), and {', '.join(paths)} could not be put "
            "back: make room or mend the disk; the next command finishes the change, so do not "
            "run this one again"
        )


class OnlyRows(OrgvaultError):
    """A change failed whose rows were acknowledged before it: they stay, and nothing else does."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"its rows are recorded, the rest could not be written ({why}): make room or mend the "
            "disk"
        )


class StagedOtherwise(ChangedUnderneath):
    """The person has staged a text with other content."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "is staged with other content")


class CommittedOtherwise(ChangedUnderneath):
    """Somebody has committed other content for a text since it was read."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "has been committed with other content meanwhile")
