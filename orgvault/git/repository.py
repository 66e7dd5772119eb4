"""One working tree of a git repository: where it is, what state it is in, what HEAD says.

Questions that files answer are read from the files (a child of git costs milliseconds); the
rest goes through `Repository.git`, which runs git with a clean environment and no hook.
"""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from orgvault.errors import ForeignRepository, GitFailed, NoRepository
from orgvault.posix import age_s, owned_by_another

# What a child of git may inherit of git's own variables: where its configuration is.
_INHERITED = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM")
# State files of an unfinished operation, in a working tree's git folder.
_OPERATIONS = (
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("sequencer", "a cherry-pick or revert"),
    ("BISECT_LOG", "a bisect"),
)
MESSAGE_OPEN_S = 15 * 60


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
        self._trusted = not owned_by_another(self.top)

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
        `ok` are exit codes that are no failure.  Raises GitFailed, ForeignRepository, or
        subprocess.TimeoutExpired.
        """
        command = ["git", "-c", f"core.hooksPath={os.devnull}", "--literal-pathspecs", *args]
        done = subprocess.run(
            command, cwd=self.top, input=stdin, env=self._environment(env), pass_fds=keep,
            stdin=subprocess.DEVNULL if stdin is None else None, capture_output=True,
            check=False, timeout=limit_s,
        )  # fmt: skip
        if done.returncode in ok:
            return done.stdout
        said = done.stderr.decode(errors="replace").strip()
        if "dubious ownership" in said:
            raise ForeignRepository(self.top)
        raise GitFailed("git " + " ".join(args[:2]), said)

    def trusted(self) -> None:
        """Raise ForeignRepository when git would refuse to work here."""
        if not self._trusted:
            self.git("rev-parse", "--git-dir")
            self._trusted = True

    def cat_file(self) -> "subprocess.Popen[bytes]":
        """A `git cat-file --batch` process, for reading packed objects."""
        return subprocess.Popen(
            ["git", "cat-file", "--batch"], cwd=self.top, env=self._environment(None),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    @cached_property
    def settings(self) -> dict[str, str]:
        """The few settings we ask for, by lower-case name; the last value of each."""
        asked = r"^(user\.(name|email)|commit\.gpgsign|core\.(autocrlf|hookspath)|extensions\.objectformat)$"
        told = self.git("config", "-z", "--get-regexp", asked, ok=(0, 1))
        pairs = (line.partition("\n") for line in told.decode(errors="replace").split("\0") if line)
        return {name.lower(): value for name, _, value in pairs}

    @property
    def identity(self) -> Identity | None:
        """The person's git identity; None where none is set."""
        name, email = self.settings.get("user.name"), self.settings.get("user.email")
        return Identity(name or email or "", email or "") if name or email else None

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
        return Head(ref, self._loose(ref) or self._packed(ref))

    def operation(self) -> str | None:
        """The operation in progress (`a merge`, …), or None when the tree is at rest."""
        for name, said in _OPERATIONS:
            if os.path.exists(os.path.join(self.git_dir, name)):
                return said
        return None

    def branch(self) -> str | None:
        """The branch that work here belongs to: HEAD's, or the one that a rebase or a bisect
        will return to; None when HEAD is detached for any other reason."""
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
        is meanwhile; after 15 minutes the message counts as forgotten.
        """
        message = os.path.join(self.git_dir, "COMMIT_EDITMSG")
        age = age_s(message)
        if age is None or age > MESSAGE_OPEN_S:
            return False
        moved = _mtime(os.path.join(self.git_dir, "logs", "HEAD"))
        edited = _mtime(message)
        return moved is None or (edited is not None and edited > moved)

    def _environment(self, extra: Mapping[str, str] | None) -> dict[str, str]:
        env = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("GIT_") or key in _INHERITED
        }
        env.update(LC_ALL="C", GIT_OPTIONAL_LOCKS="0", GIT_TERMINAL_PROMPT="0")
        env.update(extra or {})
        return env

    def _loose(self, ref: str) -> str | None:
        return _read(os.path.join(self.common_dir, ref)).strip() or None

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
