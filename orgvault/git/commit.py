"""Writing commits of exactly our paths, in an order that survives a crash at any point.

objects → `index.lock` with our token → state, HEAD and index entries checked again, the branch
locked by git → the new index renamed over `index` → the branch moved → the locks freed.  The
index moves before the branch: whatever the person commits after a crash in between contains our
paths, and never undoes them.
"""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import field

from orgvault.errors import GitFailed, InProgress, OrgvaultError
from orgvault.git import refs
from orgvault.git.faults import (
    CommittedOtherwise,
    MessageOpen,
    Moved,
    PathConflict,
    StagedOtherwise,
    UpdateRefFailed,
)
from orgvault.git.index import Index, NextIndex, held
from orgvault.git.objects import FILE, FOLDER, Objects, Tree, TreeEntry
from orgvault.git.refs import RefMove
from orgvault.git.repository import Head, Identity, Repository
from orgvault.values import dataclass

SIGN_LIMIT_S = 5.0
MESSAGE_WAIT_S = 0.2  # `git commit -m` writes its message too, for milliseconds


@dataclass(frozen=True)
class Step:
    """One commit to make: the content of each of its paths (None: the path goes), its words.

    Paths are relative to the working tree's top, with `/`.  `texts` are the paths that HEAD and
    the person's index must hold as they did when the step was computed: the object of each (None:
    none), or what the step writes.
    """

    paths: Mapping[str, bytes | None]
    message: str
    author: Identity
    at_s: int
    texts: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Landed:
    """What was committed, oldest first (fewer than asked when HEAD already held the content)."""

    commits: Sequence[str]
    remarks: Sequence[str]


class Committer:
    """Makes commits on HEAD's branch.

    The caller holds the vault's lock; `lock` is its descriptor, which children inherit so that
    the lock outlives us as long as they do.
    """

    def __init__(self, repository: Repository, private: str, lock: int) -> None:
        self._repository = repository
        self._lock = lock
        self._index = Index(repository, private, lock)
        self.objects = Objects(repository)

    def at_rest(self) -> None:
        """Raise what stands in the way of moving the branch.

        That is ForeignRepository, InProgress, or LockHeld (after a second).
        """
        self._repository.trusted()
        self._not_in_progress(patience_s=MESSAGE_WAIT_S)
        self._index.wait()

    def would_wait(self) -> None:
        """As `at_rest`, for a preview: nothing is cleared away."""
        self._repository.trusted()
        self._not_in_progress(patience_s=MESSAGE_WAIT_S)
        self._index.would_wait()

    def would_refuse(self, texts: Mapping[str, bytes | None]) -> None:
        """Raise StagedOtherwise when a commit of these texts would; nothing is written."""
        try:
            step = Step(texts, "", Identity("", ""), 0, dict.fromkeys(texts))
            self._not_staged(self._repository.head(), [step])
        finally:
            self.objects.close()

    def land(self, ref: str, steps: Sequence[Step], committer: Identity, *, sign: bool) -> Landed:
        """Commit the steps on `ref`, one commit each, under one index refresh.

        A step whose content HEAD already has is left out: another tool committed it first.
        Raises Moved (nothing is done: compute the steps again), LockHeld, InProgress,
        ChangedUnderneath, or GitFailed.
        """
        head = self._repository.head()
        if head.ref != ref:
            raise Moved(ref)
        chain = _Chain(self._repository, self.objects, committer, sign=sign)
        for step in steps:
            self._unchanged(head, step)
        entries = chain.build(head, steps)
        landed = Landed(chain.commits, chain.remarks)
        if landed.commits:
            subject = steps[-1].message.partition("\n")[0]
            with (
                RefMove(self._repository, ref, subject, self._lock) as move,
                self._index.next(entries) as coming,
            ):
                self.objects.sync()  # while git is at work
                with self._index.held(ref, landed.commits[-1]):
                    self._move(move, head, landed.commits[-1], steps, coming)
        else:
            self._not_staged(head, steps)
        return landed

    def _move(
        self, move: RefMove, head: Head, new: str, steps: Sequence[Step],
        coming: NextIndex,
    ) -> None:  # fmt: skip
        ref = head.ref or ""
        self._not_in_progress()
        move.ask(head.oid, new)
        texts = {path for step in steps for path in step.texts}
        doubtful = self._index.unlike({path: self._in_head(head, path) for path in sorted(texts)})
        listing = self._index.start_listing(doubtful)
        place = coming.made()
        staged = self._index.listed(listing)
        for step in steps:
            self._staged_alike(head, step, doubtful, staged)
        if not move.prepared():
            raise self._refusal(move, head, new)
        # From here on git keeps HEAD and the branch where they are.
        if self._repository.head() != head:
            raise Moved(ref)
        with self._index.replaced(place):
            if not move.finish() and self._repository.head().oid != new:
                raise self._failure(move, ref, new)

    def _not_in_progress(self, patience_s: float = 0.0) -> None:
        if operation := self._repository.operation():
            raise InProgress(operation)
        deadline = time.monotonic() + patience_s
        while self._repository.message_open():
            if time.monotonic() >= deadline:
                raise MessageOpen
            time.sleep(0.01)

    def _unchanged(self, head: Head, step: Step) -> None:
        for path, before in step.texts.items():
            if self._in_head(head, path) not in {before, self._wanted(step, path)}:
                raise CommittedOtherwise(path)

    def _not_staged(self, head: Head, steps: Sequence[Step]) -> None:
        """Raise StagedOtherwise where the person's index is about to commit something else."""
        texts = {path for step in steps for path in step.texts}
        doubtful = self._index.unlike({path: self._in_head(head, path) for path in sorted(texts)})
        staged = self._index.listed(self._index.start_listing(doubtful))
        for step in steps:
            self._staged_alike(head, step, doubtful, staged)

    def _staged_alike(
        self, head: Head, step: Step, doubtful: Sequence[str], staged: Mapping[str, str]
    ) -> None:
        for path in step.texts.keys() & set(doubtful):
            if staged.get(path) not in {self._in_head(head, path), self._wanted(step, path)}:
                raise StagedOtherwise(path)

    def _in_head(self, head: Head, path: str) -> str | None:
        entry = self.objects.entry(self.objects.root(head.oid), path)
        return entry.oid if entry else None

    def _wanted(self, step: Step, path: str) -> str | None:
        content = step.paths[path]
        return None if content is None else self.objects.hash("blob", content)

    def _failure(self, move: RefMove, ref: str, new: str) -> UpdateRefFailed:
        """Why git has not moved the branch; of one that was killed no lock is left."""
        failure = move.failure()
        if move.was_killed:
            self._index.clear_orphans(ref, new)
        return failure

    def _refusal(self, move: RefMove, head: Head, new: str) -> OrgvaultError:
        failure = self._failure(move, head.ref or "", new)
        if self._repository.head() != head:
            return Moved(head.ref or "")
        for path in refs.locks(self._repository, self._repository.git_dir, head.ref or ""):
            return held(path)
        return failure


class _Chain:
    """Commits on top of each other, as objects."""

    def __init__(
        self, repository: Repository, objects: Objects, committer: Identity, *, sign: bool
    ) -> None:
        self._repository = repository
        self._objects = objects
        self._committer = committer
        self._sign = sign
        self.commits: list[str] = []
        self.remarks: list[str] = []

    def build(self, head: Head, steps: Sequence[Step]) -> dict[str, TreeEntry | None]:
        """Write the commits; what they change in the index, by path."""
        root = self._objects.root(head.oid)
        parent = head.oid
        entries: dict[str, TreeEntry | None] = {}
        for step in steps:
            wanted = {
                path: self._blob(content, entries.get(path)) for path, content in step.paths.items()
            }
            new_root = self._tree(root, _nested(wanted))
            if new_root is None or new_root == root:
                continue
            root = new_root
            parent = self._commit(root, parent, step)
            self.commits.append(parent)
            entries.update(wanted)
        return entries

    def _blob(self, content: bytes | None, before: TreeEntry | None) -> TreeEntry | None:
        """A file's entry; `before` is the one of an earlier step of the chain."""
        if content is None:
            return None
        grown = before and content.startswith(self._objects.read(before.oid))
        base = before.oid if before and grown else None
        return TreeEntry(FILE, self._objects.write("blob", content, base))

    def _tree(self, oid: str | None, wanted: "Nested") -> str | None:
        """The tree with the wanted changes; None when nothing is left in it."""
        entries: Tree = self._objects.tree(oid) if oid else {}
        for name, want in wanted.items():
            there = entries.get(name)
            if isinstance(want, dict):
                below = self._tree(there.oid if there and there.mode == FOLDER else None, want)
                made = TreeEntry(FOLDER, below) if below else None
            else:  # a file keeps its mode
                made = want and (there if there and there.oid == want.oid else want)
            if made is None:
                entries.pop(name, None)
            else:
                entries[name] = made
        return self._objects.write_tree(entries) if entries else None

    def _commit(self, tree: str, parent: str | None, step: Step) -> str:
        if self._sign:
            try:
                return self._signed(tree, parent, step)
            except GitFailed as failure:
                self._sign = False
                self.remarks.append(f"not signed: {failure}")
        when = f"{step.at_s} +0000"
        lines = [f"tree {tree}"]
        lines += [f"parent {parent}"] if parent else []
        lines += [f"author {_written(step.author)} {when}"]
        lines += [f"committer {_written(self._committer)} {when}"]
        return self._objects.write("commit", _bytes("\n".join([*lines, "", step.message])))

    def _signed(self, tree: str, parent: str | None, step: Step) -> str:
        self._objects.sync()
        when = f"{step.at_s} +0000"
        env = {
            "GIT_AUTHOR_NAME": step.author.name, "GIT_AUTHOR_EMAIL": step.author.email,
            "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_NAME": self._committer.name,
            "GIT_COMMITTER_EMAIL": self._committer.email, "GIT_COMMITTER_DATE": when,
            "GPG_TTY": "", "SSH_ASKPASS_REQUIRE": "never",
        }  # fmt: skip
        told = self._repository.git(
            "-c", "core.fsync=loose-object", "commit-tree", "-S", tree,
            *(["-p", parent] if parent else []), "-F", "-",
            stdin=_bytes(step.message), env=env, limit_s=SIGN_LIMIT_S,
        )  # fmt: skip
        return told.decode().strip()


Nested = dict[bytes, "TreeEntry | Nested | None"]


def _nested(wanted: Mapping[str, TreeEntry | None]) -> Nested:
    """`a/b → entry` as `{a: {b: entry}}`."""
    root: Nested = {}
    for path, entry in wanted.items():
        *folders, name = os.fsencode(path).split(b"/")
        at = root
        for folder in folders:
            below = at.setdefault(folder, {})
            if not isinstance(below, dict):
                raise PathConflict(path)
            at = below
        if isinstance(at.get(name), dict):
            raise PathConflict(path)
        at[name] = entry
    return root


def _written(who: Identity) -> str:
    clean = {ord(c): None for c in "<>\n\0"}
    return f"{who.name.translate(clean).strip()} <{who.email.translate(clean).strip()}>"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
