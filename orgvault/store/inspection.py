"""Questions about the repository that only `doctor` asks: objects, locks, attributes, hooks."""

import os
import stat
from collections.abc import Iterator

from orgvault.errors import GitFailed
from orgvault.git.refs import locks as ref_locks
from orgvault.posix import age_s, holders, process_name
from orgvault.store import files
from orgvault.store.vault import ORG, Vault
from orgvault.values import dataclass

FSCK_LIMIT_S = 600.0
# By the sort of file: what stands under what name, and what git must not do to it.
SAMPLES = (f"{ORG}/org.yaml", f"{ORG}/episodes/x/2026-01-0001.x.0000.jsonl")
_UNSET = ("text", "filter", "ident", "working-tree-encoding")
_HARMLESS = {"unset", "unspecified"}
_TOKEN = b'"orgvault"'


@dataclass(frozen=True)
class Lock:
    """A lock file of git: its path, age in seconds, who has it open, whether it is an orgvault's.

    `mark` is what tells this file from a later one of the same name.
    """

    path: str
    age_s: float
    held_by: tuple[str, ...]
    ours: bool
    mark: tuple[int, int, int]


class Inspection:
    """The repository around a vault, looked at and not changed (but for `remove`)."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._repository = vault.repository

    def version(self) -> str:
        """What git says of its version."""
        return self._repository.git("version").decode(errors="replace")

    def fsck(self) -> str:
        """What `git fsck` says of objects that are missing or cannot be read.

        Every object that a ref, the index or HEAD's log needs is looked for; contents of files
        are not read.  Raises TooSlow.
        """
        words = ("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
        process = self._repository.start(*words, apart=True)
        told, said = process.finish(b"", FSCK_LIMIT_S, name="git fsck")
        if not process.returncode:
            return ""
        return (told + said).decode(errors="replace") or f"it ended with {process.returncode}"

    def hooks(self) -> tuple[str, list[str]]:
        """The folder of the person's hooks, and the hooks in it that git would run."""
        own = self._repository.hooks_path
        folder = os.path.join(self._repository.top, own) if own else ""
        folder = folder or os.path.join(self._repository.common_dir, "hooks")
        return folder, [
            name for name in files.names_seen_in(folder) if _runs(os.path.join(folder, name))
        ]

    def locks(self) -> list[Lock]:
        """The lock files that keep git from working here."""
        own, shared = self._repository.git_dir, self._repository.common_dir
        ref = self._repository.branch() or "HEAD"
        paths = [os.path.join(own, "index.lock"), *ref_locks(self._repository, own, ref)]
        paths += [os.path.join(shared, name) for name in ("config.lock", "shallow.lock")]
        paths += _below(os.path.join(shared, "refs"), ".lock")
        found = (_lock(path) for path in dict.fromkeys(paths))
        return [one for one in found if one is not None]

    def git_at_work(self) -> str | None:
        """The name of a git that works in this repository; empty: none; None: cannot be told.

        git may hold a lock without having it open, while it waits for an editor.
        """
        try:
            pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        except OSError:
            return None
        for pid in pids:
            if (name := process_name(pid)).startswith("git") and self._is_here(pid):
                return f"{name} ({pid})"
        return ""

    def remove(self, lock: Lock) -> bool:
        """Remove a lock if it is still the very file that was looked at; whether it was."""
        now = _lock(lock.path)
        if now is None or now.mark != lock.mark or now.held_by:
            return False
        files.remove_durably(lock.path)
        return True

    def altered_by_git(self) -> list[str]:
        """Which attributes would have git alter files of ours, as `path: attribute=value`."""
        names = [self._vault.place.in_repository(path) for path in SAMPLES]
        told = self._repository.git("check-attr", "-z", *_UNSET, "--", *names)
        fields = told.decode(errors="replace").split("\0")[:-1]
        triples = zip(fields[0::3], fields[1::3], fields[2::3], strict=True)
        return [
            f"{path}: {attribute}={value}"
            for path, attribute, value in triples
            if value not in _HARMLESS or (attribute == "text" and value != "unset")
        ]

    def union_merged(self) -> bool:
        """Whether rows of two branches are kept side by side when they are merged."""
        name = self._vault.place.in_repository(SAMPLES[1])
        told = self._repository.git("check-attr", "-z", "merge", "--", name)
        return told.split(b"\0")[2:3] == [b"union"]

    def hides_scratch(self) -> bool:
        """Whether git is told not to see what a crash may leave behind among our files."""
        names = (f"{ORG}/.orgvault-tmp-1", f"{ORG}/episodes/x/y.jsonl.torn-1")
        return all(self._vault.ignored_by(name) for name in names)

    def settings(self) -> dict[str, str]:
        """The settings of git that matter here; none where git cannot be asked."""
        try:
            return self._repository.settings
        except GitFailed:
            return {}

    def known(self, ref: str) -> bool:
        """Whether a branch has a commit."""
        return self._repository.commit_of(ref) is not None

    def _is_here(self, pid: int) -> bool:
        try:
            place = os.readlink(f"/proc/{pid}/cwd")
        except OSError:
            return False
        tops = (self._repository.top, self._repository.common_dir)
        return any(f"{place}{os.sep}".startswith(top + os.sep) for top in tops)


def _lock(path: str) -> Lock | None:
    try:
        about = os.lstat(path)
    except OSError:
        return None
    try:
        content = files.read_bytes(path) or b""
    except OSError:
        content = b""
    mark = (about.st_dev, about.st_ino, about.st_mtime_ns)
    ours = content.startswith(b"{") and _TOKEN in content[:200]
    return Lock(path, age_s(path) or 0.0, tuple(holders(path)), ours, mark)


def _below(folder: str, ending: str) -> Iterator[str]:
    for above, _, names in os.walk(folder):
        yield from (os.path.join(above, name) for name in names if name.endswith(ending))


def _runs(path: str) -> bool:
    if path.endswith(".sample"):
        return False
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and bool(mode & 0o111)
