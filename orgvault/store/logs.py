"""Reading the logs: segments of JSONL, with the rows that are acknowledged but not yet appended.

A log of an agent is the folder `.agents/org/<log>/<agent>/` of segments named
`<year>-<month>-<number>.<agent>.<four hex digits>.jsonl`.  The unique ending matters: git looks
for deltas among files whose paths end alike, and would otherwise keep each version whole.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from orgvault.domain import record
from orgvault.domain.problem import Problem
from orgvault.store.entry import Row

T = TypeVar("T")
SEGMENT_BYTES = 64 * 1024
ROW_BYTES = 64 * 1024
SUFFIX = ".jsonl"
SPOOLED = "(spooled)"


@dataclass(frozen=True)
class Line:
    """One row as it stands in a file: its plain form, the file (relative to the vault), line."""

    row: dict[str, Any]
    file: str
    line: int


class Unreadable(ValueError):
    """A line is no row; the text says why."""


class Logs:
    """The logs of a vault.  `spooled` gives the rows waiting in the spool."""

    def __init__(self, org: str, spooled: Callable[[], Sequence[Row]]) -> None:
        self._org = org
        self._spooled = spooled
        self._read: dict[str, tuple[tuple[int, int], bytes]] = {}

    def agents(self, log: str) -> list[str]:
        """The agents that have rows in a log."""
        found = {row.agent for row in self._spooled() if row.log == log}
        return sorted(found.union(_names(os.path.join(self._org, log))))

    def segments(self, log: str, agent: str) -> list[str]:
        """The paths of an agent's segments, oldest first."""
        folder = os.path.join(self._org, log, agent)
        return [os.path.join(folder, name) for name in _names(folder) if name.endswith(SUFFIX)]

    def content(self, path: str) -> bytes:
        """A segment's bytes, read once for as long as it does not change."""
        try:
            about = os.stat(path)
            key = (about.st_size, about.st_mtime_ns)
            known = self._read.get(path)
            if known and known[0] == key:
                return known[1]
            with open(path, "rb") as file:
                content = file.read()
        except FileNotFoundError:
            return b""
        self._read[path] = (key, content)
        return content

    def lines(self, log: str, agent: str, problems: list[Problem]) -> Iterator[Line]:
        """Every row of a log, oldest first, each id once; what cannot be read goes to
        `problems`, each with file and line, and hides no other row."""
        seen: dict[str, dict[str, Any]] = {}
        for line in self._all(log, agent, problems):
            known = seen.setdefault(str(line.row.get("id")), line.row)
            if known is line.row:
                yield line
            elif known != line.row:
                what = f"the row {line.row.get('id')} stands here again with other content"
                problems.append(Problem(line.file, line.line, what, "keep one of the two"))

    def records(self, kind: type[T], log: str, agent: str, problems: list[Problem]) -> list[T]:
        """Every row of a log as a record; rows that do not fit go to `problems`."""
        found = []
        for line in self.lines(log, agent, problems):
            one = _as_record(kind, line, problems)
            if one is not None:
                found.append(one)
        return found

    def find(self, kind: type[T], log: str, agent: str, key: str, values: Iterable[str]) -> list[T]:
        """The rows whose `key` is one of `values`; reads every byte but parses few lines."""
        wanted = set(values)
        problems: list[Problem] = []
        found: dict[str, T] = {}
        for line in self._matching(log, agent, wanted, problems):
            if line.row.get(key) in wanted:
                one = _as_record(kind, line, problems)
                if one is not None:
                    found.setdefault(str(line.row.get("id")), one)
        return list(found.values())

    def ids(self, log: str, agent: str, wanted: set[str]) -> dict[str, str]:
        """Which of the wanted row ids stand in the segments (not the spool), and in which."""
        found: dict[str, str] = {}
        for path in self.segments(log, agent):
            content = self.content(path)
            for one in _present(content, wanted - found.keys()):
                if any(line.row.get("id") == one for line in _lines_with(content, one, path)):
                    found[one] = path
        return found

    def _all(self, log: str, agent: str, problems: list[Problem]) -> Iterator[Line]:
        for path in self.segments(log, agent):
            name = self._name(path)
            for number, raw in enumerate(self.content(path).split(b"\n"), 1):
                yield from _line(raw, name, number, problems)
        for row in self._spooled():
            if (row.log, row.agent) == (log, agent):
                yield from _line(row.line.encode(), SPOOLED, 0, problems)

    def _matching(
        self, log: str, agent: str, wanted: set[str], problems: list[Problem]
    ) -> Iterator[Line]:
        for path in self.segments(log, agent):
            content = self.content(path)
            for one in _present(content, wanted):
                yield from _lines_with(content, one, self._name(path))
        for row in self._spooled():
            if (row.log, row.agent) == (log, agent):
                yield from _line(row.line.encode(), SPOOLED, 0, problems)

    def _name(self, path: str) -> str:
        return ".agents/org/" + os.path.relpath(path, self._org).replace(os.sep, "/")


def encode(row: object) -> str:
    """A record as the one line that a log holds.  Raises ValueError over 64 KiB or for NaN."""
    line = json.dumps(record.plain(row), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    size = len(line.encode()) + 1
    if size > ROW_BYTES:
        raise ValueError(f"a row of {size} bytes, at most {ROW_BYTES} fit")
    return line


def parse(raw: bytes) -> dict[str, Any]:
    """The row that a line holds.  Raises Unreadable with the reason."""
    try:
        row = json.loads(raw.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise Unreadable("not UTF-8") from None
    except Unreadable:
        raise
    except (ValueError, RecursionError):
        if raw.startswith((b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")):
            raise Unreadable("a conflict marker") from None
        raise Unreadable("not a row of JSON") from None
    if not isinstance(row, dict):
        raise Unreadable("not a JSON object")
    return row


def _line(raw: bytes, file: str, number: int, problems: list[Problem]) -> Iterator[Line]:
    row = raw.strip(b"\0\r \t")
    if len(row) != len(raw) and b"\0" in raw:
        zeros = raw.count(b"\0")
        problems.append(Problem(file, number, f"{zeros} NUL bytes", "run `orgvault doctor`"))
    if not row:
        return
    try:
        yield Line(parse(row), file, number)
    except Unreadable as fault:
        problems.append(Problem(file, number, f"this line is {fault}", "mend or remove the line"))


def _lines_with(content: bytes, value: str, file: str) -> Iterator[Line]:
    needle = b'"%s"' % value.encode()
    at = content.find(needle)
    while at >= 0:
        start = content.rfind(b"\n", 0, at) + 1
        end = content.find(b"\n", at)
        end = len(content) if end < 0 else end
        number = content.count(b"\n", 0, start) + 1
        yield from _line(content[start:end], file, number, [])
        at = content.find(needle, end)


def _present(content: bytes, wanted: set[str]) -> list[str]:
    if len(wanted) <= 16:
        return [one for one in wanted if b'"%s"' % one.encode() in content]
    # Many at once (a backfill): one pass over all quoted words instead of one per value.
    import re

    return sorted(wanted.intersection(m.decode() for m in re.findall(rb'"([\w.:-]+)"', content)))


def _as_record(kind: type[T], line: Line, problems: list[Problem]) -> T | None:
    version = line.row.get("v", 1)
    if isinstance(version, int) and version > 1:
        what = f"this row has format version {version}, written by a newer orgvault"
        problems.append(Problem(line.file, line.line, what, "update orgvault"))
        return None
    one, faults = record.read(kind, line.row)
    for fault in faults:
        key = ".".join(map(str, fault.path)) or "row"
        do = fault.do or "mend the line"
        problems.append(Problem(line.file, line.line, f"{key}: {fault.what}", do))
    return one


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unreadable("a row with the same key twice")
    return found


def _no_constant(name: str) -> Any:
    raise Unreadable(f"a row with {name}")


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
