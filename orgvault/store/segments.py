"""Growing the logs: whole rows onto the newest segment, one write each; under the vault's lock.

A segment is grown only while it is what HEAD holds, or that with whole rows added (ours, from
before a crash).  One that a person or a tool has altered otherwise is left alone, and a new
segment is begun.
"""

import os
import re
from collections.abc import Callable, Iterable

from orgvault.posix import O_CLOEXEC, fsync_files, fsync_folders
from orgvault.store import files
from orgvault.store.entry import Row
from orgvault.store.faults import ShortWrite, Unreadable
from orgvault.store.logs import SEGMENT_BYTES, SUFFIX, Logs, parse
from orgvault.store.place import Place
from orgvault.values import dataclass

_NAME = re.compile(r"(\d{4}-\d\d)-(\d+)\.[a-z0-9-]+\.[0-9a-f]{4}\.jsonl")
TORN = ".torn-"


@dataclass(frozen=True)
class Growth:
    """What one segment held before we appended, and holds since."""

    before: bytes
    after: bytes


class Segments:
    """Appends rows.  Make one for each attempt at a commit.

    `committed` gives what HEAD holds at a path relative to the vault.
    """

    def __init__(
        self, place: Place, logs: Logs, committed: Callable[[str], bytes | None], month: str
    ) -> None:
        self._place = place
        self._logs = logs
        self._committed = committed
        self._month = month
        self._open: dict[tuple[str, str], tuple[str, bytes]] = {}
        self._standing: dict[str, bytes | None] = {}
        self._unsynced: set[str] = set()
        self._grown: dict[str, Growth] = {}
        self._known: dict[str, str] = {}
        self.remarks: list[str] = []

    def know(self, rows: Iterable[Row], since_ns: int) -> None:
        """Look once which of these rows, acknowledged since then, stand in segments already."""
        groups: dict[tuple[str, str], set[str]] = {}
        for row in rows:
            groups.setdefault((row.log, row.agent), set()).add(row.id)
        for (log, agent), ids in groups.items():
            found = self._logs.ids(log, agent, ids, since_ns)
            self._known.update({f"{log}/{agent}/{one}": path for one, path in found.items()})

    def append(self, rows: Iterable[Row]) -> dict[str, bytes]:
        """Append rows that are not there yet; the content of every segment they stand in.

        Raises OSError or Linked with every row of the call still to be appended again: the torn
        bytes are in a quarantine file and the segment ends in a newline.
        """
        grown: dict[str, bytes] = {}
        for row in rows:
            key = f"{row.log}/{row.agent}/{row.id}"
            path = self._known.get(key)
            content = self._with_row(row, path) if path else None
            if path is None or content is None:
                path, content = self._append(row)
                self._known[key] = path
            grown[self._relative(path)] = content
        return grown

    def sync(self) -> None:
        """Make everything appended durable."""
        fsync_files(sorted(self._unsynced))
        fsync_folders(sorted({os.path.dirname(path) for path in self._unsynced}))
        self._unsynced.clear()

    def undo(self) -> None:
        """Take back what was appended where nobody has written or committed since."""
        for path, growth in self._grown.items():
            # Rows that another tool has committed meanwhile must stay: taking them out of the
            # file would have the person's next commit take them out of HEAD.
            committed = self._committed(self._relative(path)) or b""
            if files.read_bytes(path) != growth.after or not growth.before.startswith(committed):
                continue
            if growth.before:
                os.truncate(path, len(growth.before))
            else:
                files.remove(path)

    def _with_row(self, row: Row, path: str) -> bytes | None:
        """A segment in which a row stands already, as it is to be committed.

        None if the person has altered it, so that the row must be written elsewhere.
        """
        current = self._open.get((row.log, row.agent))
        if current and current[0] == path:
            return current[1]
        if path not in self._standing:
            content = self._whole(path)
            if content is not None and not self._extends_head(path, content):
                committed = self._committed(self._relative(path))
                content = committed if committed and f'"{row.id}"'.encode() in committed else None
            self._standing[path] = content
        return self._standing[path]

    def _append(self, row: Row) -> tuple[str, bytes]:
        line = row.line.encode() + b"\n"
        where = (row.log, row.agent)
        if where not in self._open:
            self._open[where] = self._newest(*where)
        path, content = self._open[where]
        if content and len(content) + len(line) > SEGMENT_BYTES:
            path, content = self._fresh(*where), b""
        files.make_folder(os.path.dirname(path))
        self._write(path, content, line)
        self._unsynced.add(path)
        before = self._grown[path].before if path in self._grown else content
        content += line
        self._grown[path] = Growth(before, content)
        self._open[where] = (path, content)
        return path, content

    def _write(self, path: str, content: bytes, line: bytes) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | O_CLOEXEC, 0o644)
        try:
            if os.write(descriptor, line) != len(line):
                raise ShortWrite
        except OSError:
            self._untear(path, len(content))
            if not content:
                files.remove(path)
            raise
        finally:
            os.close(descriptor)

    def _newest(self, log: str, agent: str) -> tuple[str, bytes]:
        """The segment to grow and its content: the newest, or a fresh one."""
        path = next(filter(_month, reversed(self._logs.segments(log, agent))), "")
        if _month(path) < self._month:
            return self._fresh(log, agent), b""
        self._place.check(self._relative(path))
        content = self._whole(path)
        if (
            content is None
            or len(content) >= SEGMENT_BYTES
            or not self._extends_head(path, content)
        ):
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

    def _extends_head(self, path: str, content: bytes) -> bool:
        committed = self._committed(self._relative(path))
        if committed is None:
            return _all_rows(content)
        return content.startswith(committed) and _all_rows(content[len(committed) :])

    def _untear(self, path: str, keep: int) -> None:
        """Cut a segment back to `keep` bytes; what stood behind goes to a quarantine file."""
        content = files.read_bytes(path) or b""
        if len(content) <= keep:
            return
        name = f"{path}{TORN}{os.urandom(4).hex()}"
        torn = f"{self._relative(path)} ended in {len(content) - keep} torn bytes"
        try:
            files.replace(name, content[keep:])
            self.remarks.append(f"{torn}: they are in {os.path.basename(name)} beside it")
        except OSError:
            self.remarks.append(f"{torn}: they were cut off, with no room to keep them")
        os.truncate(path, keep)
        self._unsynced.add(path)

    def _fresh(self, log: str, agent: str) -> str:
        folder = self._logs.folder(log, agent)
        self._place.check(self._relative(folder))
        current = self._open.get((log, agent))
        begun = [current[0]] if current else []
        numbers = [
            int(found[2])
            for path in [*self._logs.segments(log, agent), *begun]
            if (found := _NAME.fullmatch(os.path.basename(path))) and found[1] == self._month
        ]
        number = max(numbers, default=0) + 1
        name = f"{self._month}-{number:04d}.{agent}.{os.urandom(2).hex()}{SUFFIX}"
        return os.path.join(folder, name)

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self._place.root).replace(os.sep, "/")


def _month(path: str) -> str:
    """The month of a segment, by its name; empty for a file that is not named as one."""
    found = _NAME.fullmatch(os.path.basename(path))
    return found[1] if found else ""


def _all_rows(content: bytes) -> bool:
    for line in content.split(b"\n"):
        try:
            if line:
                parse(line)
        except Unreadable:
            return False
    return True
