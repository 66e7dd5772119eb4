"""The vault: where it is, and the only way to write to it.

`record` writes rows: they are acknowledged as soon as they are spooled, whatever happens next.
`change` writes texts (and rows): computed under the lock, journalled, committed, or undone.
Either way one operation is one commit of exactly its own paths.  Whoever takes the lock first
settles what others left: a journal after a crash, rows that could not be committed at the time.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from orgvault import posix
from orgvault.digests import digest
from orgvault.errors import Detached, NotRecorded, NoVault, OrgvaultError, VaultBusy
from orgvault.git.faults import HalfWritten, OnlyRows
from orgvault.git.housekeeping import due, repack
from orgvault.git.repository import Identity
from orgvault.store import files
from orgvault.store.change import Change
from orgvault.store.commits import NOBODY, Commits, said
from orgvault.store.entry import Content, Entry, Message, Row
from orgvault.store.faults import BeingWritten, Unlockable
from orgvault.store.logs import Logs
from orgvault.store.place import ORG, Place
from orgvault.store.spool import Spool

__all__ = ["NOBODY", "ORG", "Change", "Content", "Identity", "Message", "Row", "Vault"]

LOCK_LIMIT_S = 10.0


class Vault:
    """One vault.  `root` is its folder; paths given to it are relative to that, with `/`."""

    def __init__(self, root: str) -> None:
        self.place = Place(root)
        self.root = self.place.root
        self.org = self.place.org
        self.prefix = self.place.prefix
        self.repository = self.place.repository
        self.private = self.place.private
        self.sign = False
        self.remarks: list[str] = []
        self._elsewhere: list[Row] | None = None
        self.planned: list[str] = []  # what a preview would have committed
        self._spool = Spool(self.private, self.place.name)
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

    # ── reading ─────────────────────────────────────────────────────────────────────────────

    def path(self, relative: str) -> str:
        """The place of a file of the vault."""
        return self.place.path(relative)

    def read(self, relative: str) -> bytes | None:
        """A file's content; None when there is none."""
        return self.place.read(relative)

    def names(self, folder: str) -> list[str]:
        """The names in a folder; none when there is no such folder."""
        return self.place.names(folder)

    def check(self, relative: str) -> None:
        """Raise BadFile when writing to a path would land outside the vault."""
        self.place.check(relative)

    def committed(self, relative: str) -> bytes | None:
        """What HEAD holds of a file; None when it holds none."""
        commits = self._commits(-1)
        try:
            return commits.in_head(relative)
        finally:
            commits.close()

    def blob(self, content: bytes) -> str:
        """The id that git gives a file of this content."""
        framed = b"blob %d\0" % len(content) + content
        return digest(self.repository.object_format, framed).hex()

    def ignored_by(self, relative: str) -> str:
        """The gitignore rule (file, line, pattern) that hides a path; empty when none does."""
        told = self.repository.git(
            "--no-literal-pathspecs", "check-ignore", "-v", "--no-index", "--",
            self.place.in_repository(relative), ok=(0, 1),
        )  # fmt: skip
        return told.decode(errors="replace").partition("\t")[0]

    def content_waiting(self, relative: str) -> str | None:
        """A content that is acknowledged but not yet written; None when there is none."""
        spooled = self._spooled(self.repository.branch())
        found = (one.text for entry in spooled for one in entry.contents if one.path == relative)
        return next(found, None)

    def waiting(self) -> int:
        """How many acknowledged writes are not committed yet (on any branch)."""
        return len(self._spool.names())

    # ── writing ─────────────────────────────────────────────────────────────────────────────

    def record(
        self, message: Message, author: Identity, rows: Sequence[Row], at: str,
        contents: Sequence[Content] = (),
    ) -> None:  # fmt: skip
        """Acknowledge rows and the contents they name, then commit them if the vault lets us.

        Once this returns they survive anything; `remarks` tells what keeps them from being
        committed now.  Raises Detached, ForeignRepository or NotRecorded with nothing written.
        """
        own = self._acknowledge(message, author, rows, at, contents)
        try:
            with self.locked() as lock:
                self._settle_or_say(lock, own)
        except VaultBusy as busy:
            self._remark(f"recorded, to be committed later: {busy.why}")

    def record_in_order(
        self, message: Message, author: Identity, make: Callable[[], Sequence[Row]], at: str
    ) -> None:
        """As `record`, of rows that are made from those that stand while nobody else writes.

        For numbers that must be given once.  Raises VaultBusy, too, with nothing written.
        """
        self._branch()
        with self.locked() as lock:
            own = self._acknowledge(message, author, make(), at)
            self._settle_or_say(lock, own)

    @contextmanager
    def change(
        self, message: Message, author: Identity, at: str, rows: Sequence[Row] = ()
    ) -> Iterator[Change]:
        """Write texts, with rows, as one commit.

        The rows given are acknowledged before anything else.  The body runs under the lock and
        computes from what stands there; what it writes is committed when it ends.  Raises
        Detached or VaultBusy before the body (the rows stay acknowledged), ChangedUnderneath or
        VaultBusy after it with every text as it was, NotRecorded with nothing left (OnlyRows
        when rows were given: those stay), HalfWritten when the next command finishes it.
        """
        own = self._acknowledge(message, author, rows, at) if rows else None
        self._branch()
        with self.locked() as lock:
            commits = self._commits(lock)
            try:
                try:
                    commits.settle(self._branch(), leave=own)
                    with commits.ready():
                        change = Change(self, message, rows)
                except OSError as failure:
                    why = failure.strerror or str(failure)
                    raise NotRecorded(self.place.private, why) from failure
                yield change
                entry = Entry(
                    self._branch(), self.prefix, str(change.message), (author.name, author.email),
                    at, tuple(change.rows), change.texts, (own,) if own else (),
                )  # fmt: skip
                if entry.rows or entry.texts or own:
                    commits.make(entry, rows)
            except HalfWritten:
                raise  # the journal has the rows too
            except NotRecorded as failure:
                if own is None:
                    raise
                self._settle_or_say(lock, own)
                raise OnlyRows(str(failure.__cause__)) from failure
            except Exception:  # not on ^C, which is a crash: the next command settles
                if own:
                    self._settle_or_say(lock, own)
                raise

    def put_aside(
        self, ref: str, base: str, path: str, content: bytes, message: Message, author: Identity,
        at: str,
    ) -> str:  # fmt: skip
        """Have a ref of ours name a commit: one file's new content on `base`; the commit's name.

        Nothing else changes: no branch, no index, no file.
        """
        from orgvault.domain.instants import moment
        from orgvault.git.aside import Aside, put_aside

        made = Aside(
            base, self.place.in_repository(path), content, str(message), author,
            self.repository.identity or NOBODY, int(moment(at).timestamp()),
        )  # fmt: skip
        return put_aside(self.repository, ref, made)

    def settle(self) -> None:
        """Finish what a crash left, if that can be done without waiting; for reading commands."""
        if not self._spool.has_journal() or self.repository.branch() is None:
            return
        try:
            with self.locked(limit_s=0) as lock:
                self._settle_or_say(lock, None)
        except VaultBusy:
            return

    def tidy(self) -> bool:
        """Pack git's loose objects, if about a thousand commits' worth have gathered; if it did.

        Takes up to a second, without the vault's lock: for after the answer is out.
        """
        stamp = os.path.join(self.private, "packed")
        if not due(self.repository, stamp):
            return False
        try:
            lock = self._take_lock("tidy.lock", 0)
        except OSError:
            return False  # a vault that cannot be written to is tidied elsewhere
        if lock is None:
            return False
        try:
            return repack(self.repository, stamp)
        finally:
            posix.free_lock(lock)

    # ── the lock, and what is settled under it ──────────────────────────────────────────────

    @contextmanager
    def locked(self, limit_s: float = LOCK_LIMIT_S) -> Iterator[int]:
        """The vault's lock.  Raises VaultBusy, naming who has it."""
        try:
            lock = self._take_lock("lock", limit_s)
        except OSError as failure:
            raise Unlockable(self.private, failure.strerror or str(failure)) from failure
        if lock is None:
            holder = files.read_bytes(os.path.join(self.private, "lock")) or b""
            raise BeingWritten(holder.decode(errors="replace").strip())
        try:
            # Only ever read for a message: the kernel, not this number, holds the lock.
            with suppress(OSError):
                posix.write_over(lock, f"{posix.process_name(os.getpid())} ({os.getpid()})")
            yield lock
        finally:
            posix.free_lock(lock)

    def _take_lock(self, name: str, limit_s: float) -> int | None:
        files.make_folder(self.private)
        return posix.take_lock(os.path.join(self.private, name), limit_s)

    def _settle_or_say(self, lock: int, own: str | None) -> None:
        try:
            self._commits(lock).settle(self._branch())
        except (OrgvaultError, OSError) as failure:
            if own is None or self._spool.holds(own):
                why = failure.why if isinstance(failure, VaultBusy) else said(failure)
                what = "recorded, to be" if own else "an interrupted change is to be"
                self._remark(f"{what} committed later: {why}")

    def _would_wait(self) -> None:
        """Raise what would keep a commit from being made now; changes nothing."""
        self._commits(-1).would_wait()

    def _commits(self, lock: int) -> Commits:
        return Commits(
            self.place, self._spool, self.logs, lock, sign=self.sign, remark=self._remark
        )

    def _acknowledge(
        self, message: Message, author: Identity, rows: Sequence[Row], at: str,
        contents: Sequence[Content] = (),
    ) -> str:  # fmt: skip
        self.repository.trusted()
        return self._spool.put(
            Entry(
                self._branch(), self.prefix, str(message), (author.name, author.email), at,
                tuple(rows), contents=tuple(contents),
            )
        )  # fmt: skip

    def _branch(self) -> str:
        branch = self.repository.branch()
        if branch is None:
            raise Detached
        return branch

    def _spooled(self, ref: str | None) -> list[Entry]:
        entries = self._spool.entries(self._spool.names(), [])
        return [one for one in entries.values() if (one.ref, one.prefix) == (ref, self.prefix)]

    def _spooled_rows(self) -> list[Row]:
        ref = self.repository.branch()
        spooled = [row for entry in self._spooled(ref) for row in entry.rows]
        if ref is None or self.repository.head().ref is not None:
            return spooled
        # A rebase or a bisect shows files of another commit: the branch's own rows count too.
        if self._elsewhere is None:
            self._elsewhere = self._commits(-1).rows_on(ref)
        return [*self._elsewhere, *spooled]

    def _remark(self, text: str) -> None:
        if text not in self.remarks:
            self.remarks.append(text)
