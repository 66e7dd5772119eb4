"""From entries to commits, under the vault's lock: what is new, and what others left unfinished.

Texts are journalled, then written; rows are appended; both are committed, or taken back.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from orgvault.domain.instants import moment
from orgvault.errors import BadFile, BadValue, ChangedUnderneath, NotRecorded, OrgvaultError
from orgvault.git.commit import Committer, Step
from orgvault.git.faults import HalfWritten, Moved
from orgvault.git.objects import FOLDER, Objects, TreeEntry
from orgvault.git.repository import Identity
from orgvault.store import files
from orgvault.store.entry import Entry, Row, Text
from orgvault.store.faults import Edited, Unreadable
from orgvault.store.logs import LOGS, Logs, agent_in, parse
from orgvault.store.place import ORG, Place
from orgvault.store.segments import Segments
from orgvault.store.spool import Spool, written_ns

NOBODY = Identity("orgvault", "orgvault@localhost.invalid")
_TRIES = 3
# Entries committed under one index refresh: bounds the memory that a large backlog takes.
_BATCH = 250
# A row is appended after it was spooled, by clocks that may be this much apart.
_CLOCK_NS = 60 * 10**9
_NONE: Mapping[str, str | None] = {}


class Commits:
    """The writing half of a vault.  Make one each time the vault's lock is taken."""

    def __init__(
        self, place: Place, spool: Spool, logs: Logs, lock: int, *, sign: bool,
        remark: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._place = place
        self._spool = spool
        self._logs = logs
        self._sign = sign
        self._remark = remark
        self._committer = Committer(place.repository, place.private, lock)

    @contextmanager
    def ready(self) -> Iterator["Commits"]:
        """Once nothing stands in the way of moving the branch.  Raises VaultBusy."""
        self._committer.at_rest()
        try:
            yield self
        finally:
            self._committer.objects.close()

    def close(self) -> None:
        """End what reading has started, outside `ready`."""
        self._committer.objects.close()

    def would_wait(self) -> None:
        """Raise what `ready` would raise; changes nothing."""
        self._committer.would_wait()

    def would_refuse(self, texts: Sequence[Text]) -> None:
        """Raise what committing these texts would raise; changes nothing."""
        self._check(texts)
        whole = self._place.in_repository
        self._committer.would_refuse({whole(text.path): text.will_be for text in texts})

    def settle(self, ref: str, leave: str | None = None) -> None:
        """Finish the journal, then commit every spooled entry of this branch and vault.

        Each entry is one commit; `leave` names one that is kept for later.  Raises what keeps it
        from doing so, with nothing half done.
        """
        names = [name for name in self._spool.names() if name != leave]
        if not names and not self._spool.has_journal():
            return
        with self.ready():  # before anything is read: thousands may wait for a merge to end
            self._settle(ref, names)

    def _settle(self, ref: str, names: Sequence[str]) -> None:
        unreadable: list[str] = []
        mine = {
            name: entry
            for name, entry in self._spool.entries(names, unreadable).items()
            if (entry.ref, entry.prefix) == (ref, self._place.prefix)
        }
        journal = self._spool.journal(unreadable)
        for path in unreadable:
            self._remark(f"{path} cannot be read, or is of a newer orgvault: it is left as it is")
        if journal is None and not mine:
            return
        self._spool.sweep()
        if journal is not None and self._finish(journal, ref):
            mine = {name: mine[name] for name in mine if name not in journal.companions}
        self._drain(mine)

    def make(self, entry: Entry, acknowledged: Sequence[Row]) -> None:
        """Journal, write and commit a change; its companions hold the rows `acknowledged`.

        Raises what prevents it, with every text as it was and its rows taken back; HalfWritten
        when a text could not be put back.
        """
        with self.ready():
            self._check(entry.texts)
            try:
                self._spool.write_journal(entry)
            except OSError as failure:
                self._spool.drop_journal()  # its name stands already if only the last step failed
                raise NotRecorded(self._place.private, said(failure)) from failure
            held = frozenset(filter(self._committed, entry.texts))
            try:
                self._apply(entry, acknowledged, self._spool.journalled_ns(), held)
            except (OrgvaultError, OSError) as failure:
                # What HEAD held from the start, nobody has committed meanwhile.
                if held < set(entry.texts) and all(map(self._committed, entry.texts)):
                    self._leave_rows(entry, failure)
                    return
                self._give_up(entry, failure)
                if isinstance(failure, OSError):
                    raise NotRecorded(self._place.root, said(failure)) from failure
                raise
            self._spool.drop(entry.companions)
            self._spool.drop_journal()

    def in_head(self, path: str) -> bytes | None:
        """What HEAD holds of a file of the vault; None when it holds none."""
        objects = self._committer.objects
        oid = self._oid_in_head(path)
        return objects.read(oid) if oid else None

    def rows_on(self, ref: str) -> list[Row]:
        """The rows of a branch's own logs, for when the working tree shows another commit."""
        objects = self._committer.objects
        try:
            root = objects.root(self._place.repository.commit_of(ref))
            org = objects.entry(root, self._place.in_repository(ORG))
            found: list[Row] = []
            for log in LOGS:
                entry = objects.entry(org.oid, log) if org else None
                for agent, oid in _segments(objects, entry):
                    found += _rows(log, agent, objects.read(oid))
            return found
        finally:
            objects.close()

    # ── rows ────────────────────────────────────────────────────────────────────────────────

    def _drain(self, entries: Mapping[str, Entry]) -> None:
        """Commit spooled entries, many in one go; if one cannot be, each by itself."""
        names = list(entries)
        for first in range(0, len(names), _BATCH):
            self._drain_batch({name: entries[name] for name in names[first : first + _BATCH]})

    def _drain_batch(self, entries: Mapping[str, Entry]) -> None:
        try:
            self._commit(list(entries.values()), min(map(written_ns, entries)))
            self._spool.drop(entries)
        except BadFile as failure:
            if len(entries) == 1:
                self._remark(f"recorded, to be committed later: {failure}")
                return
            for name, entry in entries.items():
                self._drain_batch({name: entry})

    def _commit(self, entries: Sequence[Entry], since_ns: int) -> None:
        """Append the rows of entries and commit each entry; taken back when it fails."""
        tries: list[Segments] = []
        placed: list[str] = []
        heads = {t.path: self._oid_in_head(t.path) for entry in entries for t in entry.texts}
        try:
            for entry in entries:
                self._place_contents(entry, placed)
            self._place.settle(placed)
            while True:
                tries.append(
                    Segments(self._place, self._logs, self.in_head, max(e.at for e in entries)[:7])
                )
                try:
                    return self._land(entries, tries[-1], heads, since_ns - _CLOCK_NS)
                except Moved:
                    # The rows stand in the segments: the next try finds them there.
                    if len(tries) == _TRIES:
                        raise
        except (OrgvaultError, OSError):
            for segments in reversed(tries):
                segments.undo()
            self._take_away(placed)
            raise
        finally:
            for segments in tries:
                for remark in segments.remarks:
                    self._remark(remark)

    def _place_contents(self, entry: Entry, placed: list[str]) -> None:
        """Write an entry's contents where they are missing; `placed` gets those paths."""
        for content in entry.contents:
            self._place.check(content.path)
            if self._place.read(content.path) is None:
                placed.append(content.path)
                self._place.write(content.path, content.text.encode(), settle=False)

    def _take_away(self, placed: Sequence[str]) -> None:
        """Remove contents that were just written, unless somebody has committed them."""
        for path in placed:
            if self._oid_in_head(path) is None:
                files.remove_durably(self._place.path(path))

    def _land(
        self, entries: Sequence[Entry], segments: Segments, heads: Mapping[str, str | None],
        since_ns: int,
    ) -> None:  # fmt: skip
        segments.know((row for entry in entries for row in entry.rows), since_ns)
        steps = [self._step(segments, entry, heads) for entry in entries]
        segments.sync()
        identity = self._place.repository.identity or NOBODY
        landed = self._committer.land(entries[0].ref, steps, identity, sign=self._sign)
        for remark in landed.remarks:
            self._remark(remark)

    def _step(self, segments: Segments, entry: Entry, heads: Mapping[str, str | None]) -> Step:
        contents: dict[str, bytes | None] = dict(segments.append(entry.rows))
        contents.update({one.path: one.text.encode() for one in entry.contents})
        contents.update({text.path: text.will_be for text in entry.texts})
        whole = self._place.in_repository
        return Step(
            {whole(path): content for path, content in contents.items()},
            entry.message, Identity(*entry.author), int(moment(entry.at).timestamp()),
            {whole(text.path): heads[text.path] for text in entry.texts},
        )  # fmt: skip

    # ── texts ───────────────────────────────────────────────────────────────────────────────

    def _apply(
        self, entry: Entry, acknowledged: Sequence[Row], since_ns: int,
        held: frozenset[Text] = frozenset(),
    ) -> None:  # fmt: skip
        """Write an entry's texts and rows and commit them; taken back when it fails.

        `held` are the texts that HEAD holds already as they are to be.
        """
        kept: dict[str, str | None] = {}
        try:
            for text in entry.texts:
                now = self._now(text)
                if now not in {text.before, text.after}:
                    raise Edited(text.path)
                if now != text.after:
                    kept[text.path] = files.keep(self._place.path(text.path), self._place.scratch)
                self._place.write(text.path, text.will_be, settle=False)
            self._place.settle(text.path for text in entry.texts)
            self._commit([replace(entry, rows=(*acknowledged, *entry.rows))], since_ns)
        except (OrgvaultError, OSError):
            self._put_back(entry.texts, kept, held)
            raise
        finally:
            for former in filter(None, kept.values()):
                files.remove(former)

    def _finish(self, entry: Entry, ref: str) -> bool:
        """Finish a change that a crash cut off; whether its rows are committed with it.

        Forward when every file is old or new; else back, keeping what somebody has edited since.
        """
        if all(self._committed(text) for text in entry.texts) and entry.texts:
            self._spool.drop_journal()
            return False  # the companions, if they are still there, are found to be committed
        foreign = [t.path for t in entry.texts if self._now(t) not in {t.before, t.after}]
        why = f"{', '.join(foreign)} was edited meanwhile" if foreign else ""
        if entry.ref != ref:
            why = f"it belongs to {entry.ref.removeprefix('refs/heads/')}"
        if not why:
            companions = self._spool.entries(entry.companions, []).values()
            rows = [row for companion in companions for row in companion.rows]
            try:
                self._apply(entry, rows, self._spool.journalled_ns())
                self._spool.drop(entry.companions)
            except (ChangedUnderneath, BadFile) as failure:
                why = str(failure)
        if why:
            self._put_back(entry.texts)
            self._remark(f"an interrupted change ({entry.subject}) was given up: {why}")
        self._spool.drop_journal()
        return not why

    def _leave_rows(self, entry: Entry, failure: Exception) -> None:
        """Another tool has committed the texts of a change, so that only its rows are to follow."""
        if entry.rows:
            self._spool.put(replace(entry, texts=(), companions=()))
        self._spool.drop_journal()
        self._remark(f"another tool committed the files; their rows follow later: {said(failure)}")

    def _give_up(self, entry: Entry, failure: Exception) -> None:
        """Forget a change that failed.

        HalfWritten when a text could not be put back: whoever comes next finishes the change.
        """
        written = [text.path for text in entry.texts if self._now(text) == text.after]
        if written:
            raise HalfWritten(written, said(failure)) from failure
        self._spool.drop_journal()

    def _put_back(
        self, texts: Sequence[Text], kept: Mapping[str, str | None] = _NONE,
        held: frozenset[Text] = frozenset(),
    ) -> None:  # fmt: skip
        """Restore texts that read as we have written them, unless HEAD has come to hold them so.

        From the files that were `kept`, which takes no room.  Raises OSError after the last.
        """
        failures = []
        for text in texts:
            try:
                come = text not in held and self._committed(text)
                if self._now(text) != text.after or come:
                    continue
                if former := kept.get(text.path):
                    files.put_back(former, self._place.path(text.path))
                else:
                    self._place.write(text.path, text.was)
            except OSError as failure:
                failures.append(failure)
        if failures:
            raise failures[0]

    def _check(self, texts: Sequence[Text]) -> None:
        for text in texts:
            self._place.check(text.path)
            if self._now(text) != text.before:
                raise Edited(text.path)

    def _committed(self, text: Text) -> bool:
        """Whether HEAD holds a text as it is to be."""
        return files.fingerprint(self.in_head(text.path)) == text.after

    def _now(self, text: Text) -> str:
        return files.fingerprint(self._place.read(text.path))

    def _oid_in_head(self, path: str) -> str | None:
        objects = self._committer.objects
        root = objects.root(self._place.repository.head().oid)
        entry = objects.entry(root, self._place.in_repository(path))
        return entry.oid if entry else None


def said(failure: Exception) -> str:
    """What a failure says, in words."""
    return getattr(failure, "strerror", None) or str(failure)


def _segments(objects: Objects, folder: TreeEntry | None) -> Iterator[tuple[str, str]]:
    """The segments in a log's folder and those below it: whose, and their objects."""
    for name, entry in objects.tree(folder.oid).items() if folder else ():
        if entry.mode == FOLDER:
            yield from _segments(objects, entry)
        elif agent := agent_in(os.fsdecode(name)):
            yield agent, entry.oid


def _rows(log: str, agent: str, content: bytes) -> Iterator[Row]:
    for raw in content.split(b"\n"):
        try:
            yield Row(log, agent, str(parse(raw)["id"]), raw.decode())
        except (Unreadable, KeyError, BadValue):
            continue  # what is wrong in a log is said when it is checked out
