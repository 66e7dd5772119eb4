"""The spool and the journal, in the git common folder: what a crash must not lose.

A spool entry is one fsynced file; from then on its rows are acknowledged.  The journal is one
entry with texts, for one working tree; whoever comes next finishes it.
"""

import os
import time
from collections.abc import Iterable

from orgvault.digests import sha256
from orgvault.errors import NotRecorded
from orgvault.posix import age_s
from orgvault.store import files
from orgvault.store.entry import Entry, decode

_LEFTOVER_S = 3600.0


class Spool:
    """The spool of a repository; `tree` names the working tree and vault of the journal."""

    def __init__(self, private: str, tree: str) -> None:
        self._folder = os.path.join(private, "spool")
        self._scratch = os.path.join(private, "tmp")
        name = sha256(os.fsencode(tree)).hexdigest()[:16]
        self._journal = os.path.join(private, "journal", f"{name}.json")
        self._count = 0

    def put(self, entry: Entry) -> str:
        """Acknowledge an entry's rows; the name of its file.  Raises NotRecorded."""
        self._count += 1
        # The time orders entries, and says which segments may hold their rows already.
        now_ns = time.time_ns()
        name = f"{now_ns:020d}-{os.getpid()}-{self._count}-{os.urandom(3).hex()}.json"
        try:
            files.replace(os.path.join(self._folder, name), entry.encode(), self._scratch)
        except OSError as failure:
            files.remove(os.path.join(self._folder, name))  # if only the last step failed
            raise NotRecorded(self._folder, failure.strerror or str(failure)) from failure
        return name

    def names(self) -> list[str]:
        """The names of the spooled entries, oldest first."""
        return [name for name in files.names_in(self._folder) if name.endswith(".json")]

    def holds(self, name: str) -> bool:
        """Whether an entry is still spooled."""
        return os.path.exists(os.path.join(self._folder, name))

    def entries(self, names: Iterable[str], unreadable: list[str]) -> dict[str, Entry]:
        """Spooled entries by name, oldest first, without those that another process has settled.

        The paths of files that are none of ours, or of a newer orgvault, go to `unreadable`.
        """
        found = {}
        for name in names:
            path = os.path.join(self._folder, name)
            content = files.read_bytes(path)
            entry = content and decode(content)
            if entry:
                found[name] = entry
            elif content is not None:
                unreadable.append(path)
        return found

    def drop(self, names: Iterable[str]) -> None:
        """Forget entries whose rows are committed.

        Not durably: one that a power failure brings back finds its rows committed by their ids.
        """
        for name in names:
            files.remove(os.path.join(self._folder, name))

    def write_journal(self, entry: Entry) -> None:
        """Make a change's texts durable before any is written.  Raises OSError."""
        if os.path.exists(self._journal):  # unreadable, or it would have been finished
            os.replace(self._journal, f"{self._journal}.unreadable")
        files.replace(self._journal, entry.encode(), self._scratch)

    def has_journal(self) -> bool:
        """Whether a change was under way here."""
        return os.path.exists(self._journal)

    def journal(self, unreadable: list[str]) -> Entry | None:
        """The change that was under way here, if one was; its path when it cannot be read."""
        content = files.read_bytes(self._journal)
        entry = decode(content) if content is not None else None
        if entry is None and content is not None:
            unreadable.append(self._journal)
        return entry

    def journalled_ns(self) -> int:
        """When the journal was written."""
        return os.stat(self._journal).st_mtime_ns

    def drop_journal(self) -> None:
        """Forget the journal: its change is committed, or was given up."""
        if self.has_journal():
            files.remove_durably(self._journal)

    def sweep(self) -> None:
        """Remove what killed processes have left half-written an hour ago or more."""
        try:
            names = os.listdir(self._scratch)
        except FileNotFoundError:
            return
        for name in names:
            path = os.path.join(self._scratch, name)
            if (age_s(path) or 0.0) > _LEFTOVER_S:
                files.remove(path)


def written_ns(name: str) -> int:
    """When an entry was spooled, in nanoseconds since the epoch, by its name."""
    head = name.partition("-")[0]
    return int(head) if head.isdigit() else 0
