"""Growing the logs: whole rows onto the newest segment, one write each; under the vault's lock.

A segment is grown only while it is what HEAD holds, or that with whole rows added (ours, from
before a crash).  One that a person or a tool has altered otherwise is left alone, and a new
segment is begun.
"""

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from orgvault.posix import O_CLOEXEC, fsync_folder
from orgvault.store import files
from orgvault.store.entry import Row
from orgvault.store.logs import ROW_BYTES, SEGMENT_BYTES, SUFFIX, Logs, Unreadable, parse

_NAME = re.compile(r"(\d{4}-\d\d)-(\d+)\.[a-z0-9-]+\.[0-9a-f]{4}\.jsonl")
TORN = ".torn-"


@dataclass(frozen=True)
class Committed:
    """What HEAD holds: the object at a path relative to the vault, its content, and how a
    content would be named as an object."""

    oid: Callable[[str], str | None]
    read: Callable[[str], bytes]
    name: Callable[[bytes], str]


class Segments:
    """Appends rows.  Make one for each time the lock is held."""

    def __init__(self, root: str, org: str, logs: Logs, committed: Committed, month: str) -> None:
        self._root = root
        self._org = org
        self._logs = logs
        self._committed = committed
        self._month = month
        self._open: dict[tuple[str, str], tuple[str, bytes]] = {}
        self._unsynced: set[str] = set()
        self._sizes: dict[str, tuple[int, int]] = {}
        self._known: dict[str, str] = {}
        self.remarks: list[str] = []

    def know(self, rows: Iterable[Row]) -> None:
        """Look once which of these rows stand in the segments already."""
        groups: dict[tuple[str, str], set[str]] = {}
        for row in rows:
            groups.setdefault((row.log, row.agent), set()).add(row.id)
        for (log, agent), ids in groups.items():
            self._known.update(
                {
                    f"{log}/{agent}/{one}": path
                    for one, path in self._logs.ids(log, agent, ids).items()
                }
            )

    def append(self, rows: Iterable[Row]) -> dict[str, bytes]:
        """Append rows that are not there yet; the content of every segment they stand in.

        Raises OSError with every row of the call still to be appended again: the torn bytes
        are in a quarantine file and the segment ends in a newline.
        """
        grown: dict[str, bytes] = {}
        for row in rows:
            key = f"{row.log}/{row.agent}/{row.id}"
            if key in self._known:
                path = self._known[key]
                current = self._open.get((row.log, row.agent))
                content = current[1] if current and current[0] == path else self._logs.content(path)
                grown[self._relative(path)] = content
                continue
            path, content = self._append(row)
            self._known[key] = path
            grown[self._relative(path)] = content
        return grown

    def sync(self) -> None:
        """Make everything appended durable."""
        for path in sorted(self._unsynced):
            descriptor = os.open(path, os.O_RDONLY | O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        for folder in sorted({os.path.dirname(path) for path in self._unsynced}):
            fsync_folder(folder)
        self._unsynced.clear()

    def undo(self) -> None:
        """Take back every row appended so far, unless somebody has written behind it."""
        for path, (before, after) in self._sizes.items():
            if os.path.exists(path) and os.path.getsize(path) == after:
                if before:
                    os.truncate(path, before)
                else:
                    files.remove(path)

    def _append(self, row: Row) -> tuple[str, bytes]:
        line = row.line.encode() + b"\n"
        if len(line) > ROW_BYTES:
            raise OSError(27, f"the row {row.id} is larger than {ROW_BYTES} bytes")
        where = (row.log, row.agent)
        if where not in self._open:
            self._open[where] = self._newest(*where)
        path, content = self._open[where]
        if content and len(content) + len(line) > SEGMENT_BYTES:
            path, content = self._fresh(*where), b""
        files.make_folder(os.path.dirname(path))
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | O_CLOEXEC, 0o644)
        try:
            written = os.write(descriptor, line)
            if written != len(line):
                raise OSError(28, "the disk is full")
        except OSError:
            self._untear(path, len(content))
            raise
        finally:
            os.close(descriptor)
        self._unsynced.add(path)
        before, _ = self._sizes.get(path, (len(content), 0))
        content += line
        self._sizes[path] = (before, len(content))
        self._open[where] = (path, content)
        return path, content

    def _newest(self, log: str, agent: str) -> tuple[str, bytes]:
        """The segment to grow and its content: the newest, or a fresh one."""
        paths = self._logs.segments(log, agent)
        if not paths or not self._of_this_month(paths[-1]):
            return self._fresh(log, agent), b""
        path = paths[-1]
        content = self._whole(path)
        if content is None or len(content) >= SEGMENT_BYTES or not self._grown(path, content):
            return self._fresh(log, agent), b""
        return path, content

    def _whole(self, path: str) -> bytes | None:
        """A segment that ends in a newline; a torn last line goes to quarantine first."""
        content = files.read_bytes(path)
        if content is None or os.path.islink(path):
            return None
        if not content or content.endswith(b"\n"):
            return content
        keep = content.rfind(b"\n") + 1
        try:
            parse(content[keep:])
        except Unreadable:
            self._untear(path, keep)
            return content[:keep]
        with open(path, "ab") as file:
            file.write(b"\n")
        self._unsynced.add(path)
        return content + b"\n"

    def _grown(self, path: str, content: bytes) -> bool:
        oid = self._committed.oid(self._relative(path))
        if oid is None or oid == self._committed.name(content):
            return True
        committed = self._committed.read(oid)
        return content.startswith(committed) and _rows(content[len(committed) :])

    def _untear(self, path: str, keep: int) -> None:
        """Cut a segment back to `keep` bytes; what stood behind goes to a quarantine file."""
        content = files.read_bytes(path) or b""
        if len(content) <= keep:
            return
        name = f"{path}{TORN}{os.urandom(4).hex()}"
        try:
            files.replace(name, content[keep:])
            self.remarks.append(
                f"{self._relative(path)} ended in a torn line: its {len(content) - keep} bytes "
                f"are in {os.path.basename(name)} beside it"
            )
        except OSError:
            self.remarks.append(
                f"{self._relative(path)} ended in {len(content) - keep} torn bytes, "
                "which were cut off (no room to keep them)"
            )
        os.truncate(path, keep)
        self._unsynced.add(path)

    def _fresh(self, log: str, agent: str) -> str:
        folder = os.path.join(self._org, log, agent)
        numbers = [
            int(found[2])
            for path in [*self._logs.segments(log, agent), *self._begun(log, agent)]
            if (found := _NAME.fullmatch(os.path.basename(path))) and found[1] == self._month
        ]
        number = max(numbers, default=0) + 1
        name = f"{self._month}-{number:04d}.{agent}.{os.urandom(2).hex()}{SUFFIX}"
        return os.path.join(folder, name)

    def _begun(self, log: str, agent: str) -> list[str]:
        current = self._open.get((log, agent))
        return [current[0]] if current else []

    def _of_this_month(self, path: str) -> bool:
        found = _NAME.fullmatch(os.path.basename(path))
        return found is not None and found[1] >= self._month

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self._root).replace(os.sep, "/")


def _rows(content: bytes) -> bool:
    for line in content.split(b"\n"):
        try:
            if line:
                parse(line)
        except Unreadable:
            return False
    return True
