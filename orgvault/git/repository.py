"""One working tree of a git repository: where it is, what state it is in, what HEAD says.

Questions that files answer are read from the files (a child of git costs milliseconds); the
rest goes through `Repository.git`, which runs git with a clean environment and no hook.
"""

import os
import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from orgvault.errors import ForeignRepository, GitFailed, NoRepository
from orgvault.git.child import Child
from orgvault.git.faults import InitFailed
from orgvault.posix import age_s, named_by_a_process, owned_by_another
from orgvault.values import dataclass

# What a child of git may inherit of git's own variables: where its configuration is.
_INHERITED = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM")
_GIT = (
    "git", "-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false",
    "--literal-pathspecs",
)  # fmt: skip
_SETTINGS = r"^(user\.(name|email)|core\.(autocrlf|hookspath)|commit\.gpgsign|extensions\..*)$"
# State files of an unfinished operation, in a working tree's git folder.
_OPERATIONS = (
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    (os.path.join("rebase-apply", "applying"), "`git am`"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("sequencer", "a cherry-pick or revert"),
    ("BISECT_LOG", "a bisect"),
)
MESSAGE_OPEN_S = 15 * 60
MESSAGE_LEFT_S = 60


@dataclass(frozen=True)
class Head:
    """What HEAD points at: a branch (None: detached) and its commit (None: unborn)."""

    ref: str | None
    oid: str | None


@dataclass(frozen=True)
class Identity:
    """Name and address as git writes them."""

    name: str
    email: str


class Repository:
    """The working tree that contains a folder.

    `top` is its root, `git_dir` its own git folder, `common_dir` the one all worktrees share.
    Raises NoRepository when there is none.
    """

    def __init__(self, folder: str) -> None:
        self.top, self.git_dir = _find(os.path.realpath(folder))
        self.common_dir = _common(self.git_dir)
        places = (self.top, os.path.join(self.top, ".git"), self.git_dir)
        self._trusted = not any(map(owned_by_another, places))
        self._asked: Child | None = None

    def git(
        self,
        *args: str,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        keep: Sequence[int] = (),
        ok: Sequence[int] = (0,),
        limit_s: float | None = None,
    ) -> bytes:
        """Run git in the working tree and return its output.

        No hook runs and no pathspec is magic.  `keep` are descriptors that the child inherits;
        `ok` are exit codes that are no failure; after `limit_s` it is ended with all that it
        has started.  Raises GitFailed or ForeignRepository.
        """
        process = self.start(*args, env=env, keep=keep, apart=limit_s is not None)
        return self.end(process, stdin=stdin or b"", ok=ok, limit_s=limit_s)

    def end(
        self, process: Child, *, stdin: bytes = b"", ok: Sequence[int] = (0,),
        limit_s: float | None = None,
    ) -> bytes:  # fmt: skip
        """Feed a process of `start` and wait for its output; as `git`."""
        name = " ".join(["git", *process.words[len(_GIT) + 2 : len(_GIT) + 4]])
        told, said = process.finish(stdin, limit_s, name=name)
        if process.returncode and b"dubious ownership" in said:  # 128, as for what is not there
            raise ForeignRepository(self.top)
        if process.returncode in ok:
            return told
        raise GitFailed(name, said.decode(errors="replace").strip())

    def start(
        self, *args: str, env: Mapping[str, str] | None = None, keep: Sequence[int] = (),
        apart: bool = False,
    ) -> Child:  # fmt: skip
        """Start git in the working tree with three pipes; `apart`: as leader of a group."""
        words = [*_GIT, "-C", self.top, *args]
        return Child(words, self._environment(env), keep=keep, apart=apart)

    @property
    def is_shallow(self) -> bool:
        """Whether the history was cut off when it was cloned."""
        return os.path.exists(os.path.join(self.common_dir, "shallow"))

    def trusted(self) -> None:
        """Raise ForeignRepository when git would refuse to work here."""
        if not self._trusted:
            self.git("rev-parse", "--git-dir")
            self._trusted = True

    def ask_settings(self) -> None:
        """Have git begin to look `settings` up, for who is going to need them."""
        self._asked = self._asked or self.start("config", "-z", "--get-regexp", _SETTINGS)

    @cached_property
    def settings(self) -> dict[str, str]:
        """The few settings we ask for, by lower-case name; the last value of each."""
        asked = self._asked or self.start("config", "-z", "--get-regexp", _SETTINGS)
        told = self.end(asked, ok=(0, 1))
        pairs = (line.partition("\n") for line in told.decode(errors="replace").split("\0") if line)
        return {name.lower(): value for name, _, value in pairs}

    @property
    def identity(self) -> Identity | None:
        """The person's git identity; None where none is set."""
        name, email = self.settings.get("user.name"), self.settings.get("user.email")
        return Identity(name or email or "", email or "") if name or email else None

    @property
    def hooks_path(self) -> str:
        """The folder of core.hooksPath as it is set (`~` resolved); empty when it is not."""
        asked = ("config", "-z", "--type=path", "--get-all", "core.hooksPath")
        values = self.git(*asked, ok=(0, 1)).decode(errors="surrogateescape").split("\0")[:-1]
        return values[-2] if len(values) > 1 else ""  # the last one is what we run git with

    @property
    def object_format(self) -> str:
        """`sha1` or `sha256`."""
        return self.settings.get("extensions.objectformat", "sha1").lower()

    def head(self) -> Head:
        """HEAD as it is now."""
        text = _read(os.path.join(self.git_dir, "HEAD")).strip()
        if not text.startswith("ref: "):
            return Head(None, text or None)
        ref = text[5:].strip()
        if ref == "refs/heads/.invalid":  # the reftable format keeps refs elsewhere
            return self._head_from_git()
        return Head(ref, self.commit_of(ref))

    def operation(self) -> str | None:
        """The operation in progress (`a merge`, …), or None when the tree is at rest."""
        for name, said in _OPERATIONS:
            if os.path.exists(os.path.join(self.git_dir, name)):
                return said
        return None

    def branch(self) -> str | None:
        """The branch that work here belongs to: HEAD's, or that of a rebase or bisect under way.

        None when HEAD is detached for any other reason.
        """
        ref = self.head().ref
        if ref:
            return ref
        for folder in ("rebase-merge", "rebase-apply"):
            name = _read(os.path.join(self.git_dir, folder, "head-name")).strip()
            if name.startswith("refs/"):
                return name
        start = _read(os.path.join(self.git_dir, "BISECT_START")).strip()
        if start and not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", start):
            return start if start.startswith("refs/") else f"refs/heads/{start}"
        return None

    def message_open(self) -> bool:
        """Whether a commit message seems to be open in the person's editor.

        A commit that was begun dies when the ref moves under it, so the ref must stay where it
        is meanwhile.  A message counts as forgotten after 15 minutes; or after one, if no process
        has it open: a commit that is given up leaves its message behind.
        """
        message = os.path.join(self.git_dir, "COMMIT_EDITMSG")
        age, edited = age_s(message), _mtime(message)
        if age is None or edited is None or age > MESSAGE_OPEN_S:
            return False
        moved = _mtime(os.path.join(self.git_dir, "logs", "HEAD"))
        if moved is None:  # a repository that keeps no reflog, or one without a commit
            ref = self.head().ref or "HEAD"
            places = (ref, "packed-refs", os.path.join("reftable", "tables.list"))
            times = (_mtime(os.path.join(self.common_dir, place)) for place in places)
            moved = max((time for time in times if time is not None), default=None)
        if moved is not None and edited <= moved:
            return False
        return age < MESSAGE_LEFT_S or named_by_a_process(message) is not False

    def _environment(self, extra: Mapping[str, str] | None) -> dict[str, str]:
        env = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("GIT_") or key in _INHERITED
        }
        env.update(
            LC_ALL="C", GIT_OPTIONAL_LOCKS="0", GIT_TERMINAL_PROMPT="0", GIT_NO_REPLACE_OBJECTS="1"
        )
        env.update(extra or {})
        return env

    def commit_of(self, ref: str) -> str | None:
        """The commit that a branch stands at; None when there is none."""
        for _ in range(5):  # a branch may stand for another one
            told = _read(os.path.join(self.common_dir, ref)).strip()
            if not told.startswith("ref: "):
                return told or self._packed(ref)
            ref = told[5:].strip()
        return None

    def default_branch(self) -> str:
        """The branch that work starts from: the remote's, `main` or `master`, else HEAD's."""
        remote = "refs/remotes/origin/"
        told = _read(os.path.join(self.common_dir, remote, "HEAD")).strip()
        if told.startswith(f"ref: {remote}"):
            return told[len(f"ref: {remote}") :]
        for name in ("main", "master"):
            if self.commit_of(f"refs/heads/{name}"):
                return name
        return (self.head().ref or "").removeprefix("refs/heads/")

    def _packed(self, ref: str) -> str | None:
        ending = f" {ref}"
        for line in _read(os.path.join(self.common_dir, "packed-refs")).splitlines():
            if line.endswith(ending) and not line.startswith(("#", "^")):
                return line[: -len(ending)]
        return None

    def _head_from_git(self) -> Head:
        ref = self.git("symbolic-ref", "-q", "HEAD", ok=(0, 1)).decode().strip()
        oid = self.git("rev-parse", "-q", "--verify", "HEAD", ok=(0, 1)).decode().strip()
        return Head(ref or None, oid or None)


def make_repository(folder: str) -> None:
    """`git init` in a folder, with the branch that the person's git would choose."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _INHERITED}
    words = ["git", "-C", folder, "init", "--quiet"]
    made = Child(words, {**env, "LC_ALL": "C"}, keep=(), apart=False)
    _, said = made.finish()
    if made.returncode:
        raise InitFailed(said.decode(errors="replace").strip())


def _find(start: str) -> tuple[str, str]:
    folder = start
    while True:
        found = os.path.join(folder, ".git")
        if os.path.isdir(found) and os.path.exists(os.path.join(found, "HEAD")):
            return folder, found
        if os.path.isfile(found):
            pointer = _read(found).strip().removeprefix("gitdir:").strip()
            return folder, os.path.realpath(os.path.join(folder, pointer))
        above = os.path.dirname(folder)
        if above == folder:
            raise NoRepository(start)
        folder = above


def _common(git_dir: str) -> str:
    told = _read(os.path.join(git_dir, "commondir")).strip()
    return os.path.realpath(os.path.join(git_dir, told)) if told else git_dir


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""


def _mtime(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return None
