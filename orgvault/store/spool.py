"""The spool and the journal, in the git common folder: what a crash must not lose.

A spool entry is one fsynced file; from then on its rows are acknowledged.  The journal is one
entry with texts, for one working tree; whoever comes next finishes it.
"""

import os
import time
from hashlib import sha256

from orgvault.errors import NotRecorded
from orgvault.posix import fsync_folder
from orgvault.store import files
from orgvault.store.entry import Entry, decode


class Spool:
    """The spool of a repository; `tree` names the working tree and vault of the journal."""

    def __init__(self, folder: str, tree: str) -> None:
        self._folder = os.path.join(folder, "spool")
        self._journal = os.path.join(
            folder, "journal", sha256(os.fsencode(tree)).hexdigest()[:16] + ".json"
        )
        self._count = 0

    def put(self, entry: Entry) -> str:
        """Acknowledge an entry's rows; the name of its file.  Raises NotRecorded."""
        self._count += 1
        # The time only orders entries; ties and clocks that step back do no harm.
        name = f"{time.time_ns():020d}-{os.getpid()}-{self._count}-{os.urandom(3).hex()}.json"  # noqa: TID251
        try:
            files.replace(os.path.join(self._folder, name), entry.encode())
        except OSError as failure:
            raise NotRecorded(self._folder, failure.strerror or str(failure)) from failure
        return name

    def names(self) -> list[str]:
        """The names of the spooled entries, oldest first."""
        try:
            return sorted(
                name
                for name in os.listdir(self._folder)
                if name.endswith(".json") and not name.startswith(files.SCRATCH)
            )
        except FileNotFoundError:
            return []

    def get(self, name: str) -> Entry | None:
        """A spooled entry; None when another process has settled it or it cannot be read."""
        content = files.read_bytes(os.path.join(self._folder, name))
        return None if content is None else decode(content)

    def drop(self, names: list[str]) -> None:
        """Forget entries whose rows are committed."""
        for name in names:
            files.remove(os.path.join(self._folder, name))
        if names:
            fsync_folder(self._folder)

    def write_journal(self, entry: Entry) -> None:
        """Make a change's texts durable before any is written.  Raises OSError."""
        files.replace(self._journal, entry.encode())

    def journal(self) -> Entry | None:
        """The change that was under way here, if one was."""
        content = files.read_bytes(self._journal)
        return None if content is None else decode(content)

    def drop_journal(self) -> None:
        """Forget the journal: its change is committed, or was given up."""
        if os.path.exists(self._journal):
            files.remove(self._journal)
            fsync_folder(os.path.dirname(self._journal))
