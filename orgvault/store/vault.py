"""The vault: where it is, and the only way to write to it.

`record` writes rows: they are acknowledged as soon as they are spooled, whatever happens next.
`change` writes texts (and rows): computed under the lock, journalled, committed, or undone.
Either way one operation is one commit of exactly its own paths.  Whoever takes the lock first
settles what others left: a journal after a crash, rows that could not be committed at the time.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from orgvault import posix
from orgvault.domain.instants import moment
from orgvault.errors import (
    BadFile,
    ChangedUnderneath,
    Detached,
    GitFailed,
    InProgress,
    NotRecorded,
    NoVault,
    OrgvaultError,
    VaultBusy,
)
from orgvault.git.commit import Committer, Step
from orgvault.git.repository import Identity, Repository
from orgvault.store import files
from orgvault.store.entry import Entry, Message, Row, Text
from orgvault.store.logs import Logs
from orgvault.store.segments import Committed, Segments
from orgvault.store.spool import Spool

ORG = ".agents/org"
LOCK_LIMIT_S = 10.0
NOBODY = Identity("orgvault", "orgvault@localhost.invalid")


class Change:
    """What one operation will write; `message` may still be reworded inside the `with`."""

    def __init__(self, vault: "Vault", message: Message, rows: Sequence[Row]) -> None:
        self.message = message
        self.acknowledged = tuple(rows)
        self.rows: list[Row] = []
        self._vault = vault
        self._texts: dict[str, Text] = {}

    def read(self, path: str) -> bytes | None:
        """A file as this change leaves it so far (path relative to the vault, with `/`)."""
        text = self._texts.get(path)
        if text is None:
            return self._vault.read(path)
        return None if text.content is None else text.content.encode()

    def write(self, path: str, content: str) -> None:
        """Replace a whole file; nothing is written when it already reads so."""
        self._put(path, content)

    def remove(self, path: str) -> None:
        """Remove a file."""
        self._put(path, None)

    def add(self, row: Row) -> None:
        """Add a row that belongs to this change: recorded with its texts, or not at all."""
        self.rows.append(row)

    @property
    def texts(self) -> tuple[Text, ...]:
        """The files that will differ."""
        return tuple(text for text in self._texts.values() if text.before != text.after)

    def _put(self, path: str, content: str | None) -> None:
        known = self._texts.get(path)
        before = known.before if known else files.fingerprint(self._vault.read(path))
        after = files.fingerprint(None if content is None else content.encode())
        self._texts[path] = Text(path, before, after, content)


class Vault:
    """One vault.  `root` is its folder; paths given to it are relative to that, with `/`."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self.org = os.path.join(self.root, *ORG.split("/"))
        self.repository = Repository(self.root)
        self.sign = False
        self.remarks: list[str] = []
        inside = os.path.relpath(self.root, self.repository.top)
        self.prefix = "" if inside == os.curdir else inside.replace(os.sep, "/")
        self.private = os.path.join(self.repository.common_dir, "orgvault")
        self._spool = Spool(self.private, self.root)
        self.logs = Logs(self.org, self._spooled_rows)

    @classmethod
    def find(cls, start: str) -> "Vault":
        """The vault at `start` or above it.  Raises NoVault or NoRepository."""
        folder = os.path.abspath(start)
        while not os.path.isdir(os.path.join(folder, *ORG.split("/"))):
            above = os.path.dirname(folder)
            if above == folder:
                raise NoVault(start)
            folder = above
        return cls(folder)

    def path(self, relative: str) -> str:
        """The place of a file of the vault."""
        return os.path.join(self.root, *relative.split("/"))

    def read(self, relative: str) -> bytes | None:
        """A file's content; None when there is none."""
        return files.read_bytes(self.path(relative))

    def committed(self, relative: str) -> bytes | None:
        """What HEAD holds of a file; None when it holds none."""
        committer = Committer(self.repository, -1, self.private)
        try:
            return self._committed(committer, relative)
        finally:
            committer.objects.close()

    def waiting(self) -> int:
        """How many acknowledged writes are not committed yet (on any branch)."""
        return len(self._spool.names())

    def record(self, message: Message, author: Identity, rows: Sequence[Row], at: str) -> None:
        """Acknowledge rows, then commit them if the vault lets us.

        Once this returns the rows survive anything; `remarks` tells what keeps them from being
        committed now.  Raises Detached or NotRecorded with nothing written.
        """
        own = self._acknowledge(message, author, rows, at)
        lock = self._take_lock()
        if lock is None:
            self._remark(f"recorded, to be committed later: {self._busy().why}")
            return
        try:
            self._settle_or_say(lock, own)
        finally:
            posix.free_lock(lock)

    @contextmanager
    def change(
        self, message: Message, author: Identity, at: str, rows: Sequence[Row] = ()
    ) -> Iterator[Change]:
        """Write texts, with rows, as one commit.

        The rows given are acknowledged before anything else.  The body runs under the lock and
        computes from what stands there; what it writes is committed when it ends.  Raises
        Detached or VaultBusy before the body (the rows stay acknowledged), ChangedUnderneath or
        VaultBusy after it with every text as it was.
        """
        own = self._acknowledge(message, author, rows, at) if rows else None
        self._branch()
        lock = self._take_lock()
        if lock is None:
            raise self._busy()
        try:
            try:
                self._settle(lock, leave=own)
                with self._at_rest(lock):
                    change = Change(self, message, rows)
                yield change
                self._finish(lock, change, author, at, own)
            except BaseException:
                if own:
                    self._settle_or_say(lock, own)
                raise
        finally:
            posix.free_lock(lock)

    def settle(self) -> None:
        """Finish what a crash left, if that can be done without waiting; for reading commands."""
        if self._spool.journal() is None:
            return
        lock = self._take_lock(limit_s=0)
        if lock is not None:
            try:
                self._settle_or_say(lock, None)
            finally:
                posix.free_lock(lock)

    # ── under the lock ──────────────────────────────────────────────────────────────────────

    def _settle_or_say(self, lock: int, own: str | None) -> None:
        try:
            self._settle(lock)
        except (VaultBusy, GitFailed, OSError, ChangedUnderneath) as failure:
            if own is None or own in self._spool.names():
                why = failure.why if isinstance(failure, VaultBusy) else str(failure)
                self._remark(f"recorded, to be committed later: {why}")

    def _settle(self, lock: int, leave: str | None = None) -> None:
        """Finish the journal, then commit every spooled entry of this branch and vault, one
        commit each.  Raises what keeps it from doing so, with nothing half done."""
        ref = self._branch()
        names = [name for name in self._spool.names() if name != leave]
        entries = {name: entry for name in names if (entry := self._spool.get(name))}
        mine = {
            name: entry
            for name, entry in entries.items()
            if (entry.ref, entry.prefix) == (ref, self.prefix)
        }
        journal = self._spool.journal()
        if journal is None and not mine:
            return
        with self._at_rest(lock) as committer:
            if journal is not None and journal.ref == ref:
                self._finish_journal(committer, journal)
                mine = {name: mine[name] for name in mine if name not in journal.companions}
            if mine:
                self._commit(committer, list(mine.values()))
                self._spool.drop(list(mine))

    def _finish(
        self, lock: int, change: Change, author: Identity, at: str, own: str | None
    ) -> None:
        companions = (own,) if own else ()
        entry = Entry(
            self._branch(), self.prefix, str(change.message), (author.name, author.email), at,
            tuple(change.rows), change.texts, companions,
        )  # fmt: skip
        if not (entry.rows or entry.texts or companions):
            return
        with self._at_rest(lock) as committer:
            for text in entry.texts:
                self._check(text)
            try:
                self._spool.write_journal(entry)
            except OSError as failure:
                raise NotRecorded(self.private, failure.strerror or "") from failure
            try:
                self._apply(committer, entry, change.acknowledged)
            except (OrgvaultError, OSError) as failure:
                self._spool.drop_journal()
                if isinstance(failure, OSError):
                    raise NotRecorded(self.root, failure.strerror or "") from failure
                raise
            self._spool.drop(list(companions))
            self._spool.drop_journal()

    def _finish_journal(self, committer: Committer, entry: Entry) -> None:
        """Finish a change that a crash cut off: forward when every file is old or new, else
        back, keeping the file that somebody has edited since."""
        foreign = [t.path for t in entry.texts if self._now(t) not in {t.before, t.after}]
        if foreign:
            for text in entry.texts:
                self._put_back(committer, text)
            self._remark(
                f"an interrupted change ({entry.message.splitlines()[0]}) was given up since "
                f"{', '.join(foreign)} has been edited; the edit is kept"
            )
        else:
            rows = [
                row for name in entry.companions if (e := self._spool.get(name)) for row in e.rows
            ]
            self._apply(committer, entry, tuple(rows))
            self._spool.drop(list(entry.companions))
        self._spool.drop_journal()

    def _apply(self, committer: Committer, entry: Entry, acknowledged: Sequence[Row]) -> None:
        """Write an entry's texts and rows and commit them; undone when the commit fails."""
        old = {text.path: self.read(text.path) for text in entry.texts}
        try:
            for text in entry.texts:
                self._write(text.path, text.content)
            whole = Entry(
                entry.ref, entry.prefix, entry.message, entry.author, entry.at,
                (*acknowledged, *entry.rows), entry.texts,
            )  # fmt: skip
            self._commit(committer, [whole])
        except (OrgvaultError, OSError):
            for text in entry.texts:
                if self._now(text) == text.after:
                    before = old[text.path]
                    self._write(text.path, None if before is None else before.decode())
            raise

    def _commit(self, committer: Committer, entries: Sequence[Entry]) -> None:
        """Append the rows of entries and commit each entry; undone when it fails."""
        segments = Segments(
            self.root, self.org, self.logs, self._head_of(committer),
            max(entry.at for entry in entries)[:7],
        )  # fmt: skip
        try:
            segments.know(row for entry in entries for row in entry.rows)
            steps = [self._step(segments, entry) for entry in entries]
            segments.sync()
            landed = committer.land(
                entries[0].ref, steps, self.repository.identity or NOBODY, sign=self.sign
            )
        except (OrgvaultError, OSError):
            segments.undo()
            raise
        finally:
            self.remarks.extend(segments.remarks)
        self.remarks.extend(landed.remarks)

    def _step(self, segments: Segments, entry: Entry) -> Step:
        contents: dict[str, bytes | None] = dict(segments.append(entry.rows))
        contents.update(
            {t.path: None if t.content is None else t.content.encode() for t in entry.texts}
        )
        return Step(
            {self._in_repository(path): content for path, content in contents.items()},
            entry.message, Identity(*entry.author), int(moment(entry.at).timestamp()),
            frozenset(self._in_repository(text.path) for text in entry.texts),
        )  # fmt: skip

    @contextmanager
    def _at_rest(self, lock: int) -> Iterator[Committer]:
        """A committer, once nothing stands in the way of moving the branch."""
        self.repository.trusted()
        if operation := self.repository.operation():
            raise InProgress(operation)
        if self.repository.message_open():
            raise InProgress("a commit (its message is open in an editor)")
        committer = Committer(self.repository, lock, self.private)
        committer.wait_for_index()
        try:
            yield committer
        finally:
            committer.objects.close()

    # ── small questions ─────────────────────────────────────────────────────────────────────

    def _acknowledge(self, message: Message, author: Identity, rows: Sequence[Row], at: str) -> str:
        entry = Entry(
            self._branch(), self.prefix, str(message), (author.name, author.email), at, tuple(rows)
        )
        return self._spool.put(entry)

    def _branch(self) -> str:
        branch = self.repository.branch()
        if branch is None:
            raise Detached
        return branch

    def _take_lock(self, limit_s: float = LOCK_LIMIT_S) -> int | None:
        files.make_folder(self.private)
        path = os.path.join(self.private, "lock")
        lock = posix.take_lock(path, limit_s)
        if lock is not None:
            # Only ever read for a message: the kernel, not this number, holds the lock.
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"{posix.process_name(os.getpid())} ({os.getpid()})".encode(), 0)
        return lock

    def _busy(self) -> VaultBusy:
        holder = (files.read_bytes(os.path.join(self.private, "lock")) or b"").decode()
        return VaultBusy(f"{holder or 'another orgvault'} is writing to it", "try again")

    def _spooled_rows(self) -> list[Row]:
        ref = self.repository.branch()
        entries = [self._spool.get(name) for name in self._spool.names()]
        return [
            row
            for entry in entries
            if entry and (entry.ref, entry.prefix) == (ref, self.prefix)
            for row in entry.rows
        ]

    def _check(self, text: Text) -> None:
        if self._now(text) != text.before:
            raise ChangedUnderneath(text.path, "has been changed meanwhile")
        folder = os.path.dirname(self.path(text.path))
        while folder != self.root:
            if os.path.islink(folder):
                raise BadFile(text.path, 0, "stands behind a symbolic link", "make it a folder")
            folder = os.path.dirname(folder)
        if os.path.islink(self.path(text.path)):
            raise BadFile(text.path, 0, "is a symbolic link", "make it a file")

    def _now(self, text: Text) -> str:
        return files.fingerprint(self.read(text.path))

    def _write(self, path: str, content: str | None) -> None:
        place = self.path(path)
        if content is None:
            files.remove(place)
            if os.path.isdir(os.path.dirname(place)):
                posix.fsync_folder(os.path.dirname(place))
        else:
            files.replace(place, content.encode())

    def _put_back(self, committer: Committer, text: Text) -> None:
        if self._now(text) != text.after or text.before == text.after:
            return
        before = self._committed(committer, text.path)
        if files.fingerprint(before) == text.before:
            self._write(text.path, None if before is None else before.decode())

    def _committed(self, committer: Committer, path: str) -> bytes | None:
        objects = committer.objects
        entry = objects.entry(objects.root(self.repository.head().oid), self._in_repository(path))
        return objects.read(entry.oid) if entry else None

    def _head_of(self, committer: Committer) -> Committed:
        objects = committer.objects
        root = objects.root(self.repository.head().oid)

        def oid(path: str) -> str | None:
            entry = objects.entry(root, self._in_repository(path))
            return entry.oid if entry else None

        return Committed(oid, objects.read, lambda content: objects.hash("blob", content))

    def _in_repository(self, path: str) -> str:
        return f"{self.prefix}/{path}" if self.prefix else path

    def _remark(self, text: str) -> None:
        self.remarks.append(text)
