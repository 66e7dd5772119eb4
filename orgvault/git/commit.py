"""Writing commits of exactly our paths, in an order that survives a crash at any point.

objects → `index.lock` with our token → state, HEAD and index entries checked again → the new
index renamed over `index` while the lock is held → `git update-ref` as compare-and-swap → unlink
the lock.  The index moves before the ref: whatever the person commits after a crash in between
contains our paths, and never undoes them.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orgvault.errors import ChangedUnderneath, GitFailed, InProgress, LockHeld
from orgvault.git.objects import FILE, FOLDER, Objects, Tree, TreeEntry
from orgvault.git.repository import Head, Identity, Repository
from orgvault.posix import O_CLOEXEC, age_s, fsync_folder, holders

TOKEN = "orgvault"
LOCK_WAIT_S = 1.0
SIGN_LIMIT_S = 20.0


class Moved(Exception):  # noqa: N818 - a signal between two functions, never shown
    """HEAD is no longer what the commit was built on."""


@dataclass(frozen=True)
class Step:
    """One commit to make: the content of each of its paths (None: the path goes), its words.

    Paths are relative to the working tree's top, with `/`.  `texts` are the paths whose entry in
    the person's index must still be HEAD's.
    """

    paths: Mapping[str, bytes | None]
    message: str
    author: Identity
    at_s: int
    texts: frozenset[str] = frozenset()


@dataclass
class Landed:
    """What was committed, oldest first (fewer than asked when HEAD already held the content)."""

    commits: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


class Committer:
    """Makes commits on HEAD's branch; the caller holds the vault's lock (`lock` is its
    descriptor, which children inherit so that the lock outlives us as long as they do)."""

    def __init__(self, repository: Repository, lock: int, scratch: str) -> None:
        self._repository = repository
        self._lock = lock
        self._scratch = scratch
        self._index_lock = os.path.join(repository.git_dir, "index.lock")
        self.objects = Objects(repository)

    def wait_for_index(self) -> None:
        """Clear what a dead orgvault left, then wait for the index to be free.

        Raises LockHeld after a second.
        """
        deadline = time.monotonic() + LOCK_WAIT_S
        while os.path.exists(self._index_lock):
            if self._clear_ours():
                continue
            if time.monotonic() > deadline:
                raise self._held(self._index_lock)
            time.sleep(0.02)

    def land(self, ref: str, steps: Sequence[Step], committer: Identity, *, sign: bool) -> Landed:
        """Commit the steps on `ref`, one commit each, under one index refresh.

        A step whose content HEAD already has is left out: another tool committed it first.
        Raises LockHeld, ChangedUnderneath (a text's path is staged with other content), or
        GitFailed.
        """
        for last in (False, True):
            try:
                return self._land(ref, steps, committer, sign=sign)
            except Moved:
                if last:
                    raise GitFailed("git update-ref", f"{ref} keeps moving") from None
        raise AssertionError

    def _land(self, ref: str, steps: Sequence[Step], committer: Identity, *, sign: bool) -> Landed:
        head = self._repository.head()
        if head.ref != ref:
            raise Moved
        landed = Landed()
        entries = self._build(head, steps, committer, landed, sign=sign)
        if not landed.commits:
            return landed
        self.objects.sync()
        self._take_index(f"{TOKEN} {os.getpid()} {ref} {landed.commits[-1]}\n")
        try:
            if self._repository.head() != head:
                raise Moved
            if operation := self._repository.operation():
                raise InProgress(operation)
            self._check_index(head, steps)
            self._write_index(entries)
            self._move(ref, head.oid, landed.commits[-1], steps[-1].message)
        finally:
            os.unlink(self._index_lock)
        return landed

    def _build(
        self, head: Head, steps: Sequence[Step], committer: Identity, landed: Landed, *, sign: bool
    ) -> dict[str, TreeEntry | None]:
        root = self.objects.root(head.oid)
        parent = head.oid
        entries: dict[str, TreeEntry | None] = {}
        for step in steps:
            wanted = {
                path: None
                if content is None
                else TreeEntry(FILE, self.objects.write("blob", content))
                for path, content in step.paths.items()
            }
            new_root = self._tree(root, _nested(wanted))
            if new_root is None or new_root == root:
                continue
            root = new_root
            commit = self._commit(root, parent, step, committer, landed, sign=sign)
            landed.commits.append(commit)
            parent = commit
            entries.update(wanted)
        return entries

    def _tree(self, oid: str | None, wanted: "Nested") -> str | None:
        """The tree with the wanted changes; None when nothing is left in it."""
        entries: Tree = self.objects.tree(oid) if oid else {}
        for name, want in wanted.items():
            if not isinstance(want, dict):
                if want is None:
                    entries.pop(name, None)
                elif name not in entries or entries[name].oid != want.oid:
                    entries[name] = want
                continue
            below = entries.get(name)
            made = self._tree(below.oid if below and below.mode == FOLDER else None, want)
            if made is None:
                entries.pop(name, None)
            else:
                entries[name] = TreeEntry(FOLDER, made)
        return self.objects.write_tree(entries) if entries else None

    def _commit(
        self, tree: str, parent: str | None, step: Step, committer: Identity, landed: Landed,
        *, sign: bool,
    ) -> str:  # fmt: skip
        if sign:
            signed = self._signed(tree, parent, step, committer)
            if signed:
                return signed
            landed.remarks.append("the commit could not be signed, so it is unsigned")
        when = f"{step.at_s} +0000"
        lines = [f"tree {tree}"]
        lines += [f"parent {parent}"] if parent else []
        lines += [
            f"author {_written(step.author)} {when}",
            f"committer {_written(committer)} {when}",
        ]
        return self.objects.write("commit", "\n".join([*lines, "", step.message]).encode())

    def _signed(self, tree: str, parent: str | None, step: Step, committer: Identity) -> str | None:
        self.objects.sync()
        when = f"{step.at_s} +0000"
        env = {
            "GIT_AUTHOR_NAME": step.author.name, "GIT_AUTHOR_EMAIL": step.author.email,
            "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_NAME": committer.name,
            "GIT_COMMITTER_EMAIL": committer.email, "GIT_COMMITTER_DATE": when,
            "GPG_TTY": "", "SSH_ASKPASS_REQUIRE": "never",
        }  # fmt: skip
        parents = ["-p", parent] if parent else []
        try:
            told = self._repository.git(
                "commit-tree", "-S", tree, *parents, "-F", "-", stdin=step.message.encode(),
                env=env, limit_s=SIGN_LIMIT_S,
            )  # fmt: skip
        except (GitFailed, subprocess.TimeoutExpired):
            return None
        return told.decode().strip()

    def _take_index(self, token: str) -> None:
        deadline = time.monotonic() + LOCK_WAIT_S
        while True:
            try:
                descriptor = os.open(
                    self._index_lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | O_CLOEXEC, 0o644
                )
            except FileExistsError:
                if not self._clear_ours() and time.monotonic() > deadline:
                    raise self._held(self._index_lock) from None
                time.sleep(0.005)
                continue
            os.write(descriptor, token.encode())
            os.close(descriptor)
            return

    def _check_index(self, head: Head, steps: Sequence[Step]) -> None:
        texts = sorted({path for step in steps for path in step.texts})
        if not texts:
            return
        root = self.objects.root(head.oid)
        told = self._repository.git("ls-files", "-s", "-z", "--", *texts)
        staged = {}
        for line in told.split(b"\0")[:-1]:
            about, _, path = line.partition(b"\t")
            staged[os.fsdecode(path)] = about.split()[1].decode()
        ours = {
            path: None if content is None else self.objects.hash("blob", content)
            for step in steps
            for path, content in step.paths.items()
        }
        for path in texts:
            entry = self.objects.entry(root, path)
            if staged.get(path) not in {entry.oid if entry else None, ours[path]}:
                raise ChangedUnderneath(path, "is staged with other content")

    def _write_index(self, entries: Mapping[str, TreeEntry | None]) -> None:
        index = os.path.join(self._repository.git_dir, "index")
        copy = os.path.join(self._scratch, f"index.{os.getpid()}")
        try:
            shutil.copyfile(index, copy)
            shutil.copymode(index, copy)
        except FileNotFoundError:
            _unlink(copy)
        none = (
            "0" * len(next(entry.oid for entry in entries.values() if entry))
            if any(entries.values())
            else "0" * 40
        )
        lines = [
            b"%s %s\t%s\0"
            % (
                (entry.mode if entry else "0").encode(),
                (entry.oid if entry else none).encode(),
                os.fsencode(path),
            )
            for path, entry in entries.items()
        ]
        env = {"GIT_INDEX_FILE": copy}
        try:
            self._repository.git(
                "update-index", "--add", "--remove", "-z", "--index-info", stdin=b"".join(lines), env=env,
                keep=[self._lock],
            )  # fmt: skip
            with open(copy, "rb") as file:
                os.fsync(file.fileno())
            os.replace(copy, index)
        finally:
            _unlink(copy)
        fsync_folder(self._repository.git_dir)

    def _move(self, ref: str, old: str | None, new: str, message: str) -> None:
        subject = message.partition("\n")[0]
        expected = old or "0" * len(new)
        try:
            self._repository.git(
                "-c", "core.fsync=committed,reference", "update-ref", "-m", subject, "--",
                ref, new, expected, keep=[self._lock],
            )  # fmt: skip
        except GitFailed as failure:
            if self._repository.head().oid != old:
                raise Moved from None
            held = self._ref_lock(ref)
            raise self._held(held) if held else failure from None
        folder = os.path.dirname(os.path.join(self._repository.common_dir, ref))
        if os.path.isdir(folder):
            fsync_folder(folder)

    def _clear_ours(self) -> bool:
        """Remove `index.lock` if an orgvault left it: we hold the vault's lock, so it is dead.

        A ref lock that its `git update-ref` left goes first: it holds the commit that the token
        names, or nothing yet.
        """
        try:
            with open(self._index_lock, "rb") as file:
                token = file.read(400).decode(errors="replace").split()
        except FileNotFoundError:
            return True
        if len(token) != 4 or token[0] != TOKEN:
            return False
        _, _, ref, oid = token
        for path in (
            os.path.join(self._repository.common_dir, f"{ref}.lock"),
            os.path.join(self._repository.git_dir, "HEAD.lock"),
        ):
            try:
                with open(path, "rb") as file:
                    content = file.read(200).strip()
            except FileNotFoundError:
                continue
            if content in {b"", oid.encode()} and not holders(path):
                _unlink(path)
        _unlink(self._index_lock)
        return True

    def _ref_lock(self, ref: str) -> str | None:
        for path in (
            os.path.join(self._repository.common_dir, f"{ref}.lock"),
            os.path.join(self._repository.git_dir, "HEAD.lock"),
            os.path.join(self._repository.common_dir, "packed-refs.lock"),
        ):
            if os.path.exists(path):
                return path
        return None

    def _held(self, path: str) -> LockHeld:
        return LockHeld(path, _age(age_s(path) or 0.0), holders(path))


Nested = dict[bytes, "TreeEntry | None | Nested"]


def _nested(wanted: Mapping[str, TreeEntry | None]) -> Nested:
    """`a/b → entry` as `{a: {b: entry}}`."""
    root: Nested = {}
    for path, entry in wanted.items():
        *folders, name = os.fsencode(path).split(b"/")
        at = root
        for folder in folders:
            below = at.setdefault(folder, {})
            if not isinstance(below, dict):
                raise GitFailed("commit", f"{path} stands below a file")
            at = below
        at[name] = entry
    return root


def _written(who: Identity) -> str:
    clean = {ord(c): None for c in "<>\n\0"}
    return f"{who.name.translate(clean).strip()} <{who.email.translate(clean).strip()}>"


def _age(seconds: float) -> str:
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'' if count == 1 else 's'}"
    return f"{max(0, int(seconds))} seconds"


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
