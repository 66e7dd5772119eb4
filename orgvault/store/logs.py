"""Reading the logs: segments of JSONL, with the rows that are acknowledged but not yet appended.

A log is a folder `.agents/org/<log>/` (episodes and runs: one for each agent below it) of
segments named `<year>-<month>-<number>.<agent>.<four hex digits>.jsonl`.  The unique ending
matters: git looks for deltas among files whose paths end alike, and would otherwise keep each
version whole.
"""

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NoReturn, TypeVar

from orgvault.domain import record
from orgvault.domain.problem import Problem
from orgvault.store import files
from orgvault.store.entry import ROW_BYTES, Row
from orgvault.store.faults import (
    KeyTwice,
    Marker,
    NotANumber,
    NotARow,
    NotUtf8,
    RowTooLong,
    Unreadable,
)
from orgvault.store.files import read_regular
from orgvault.values import dataclass

T = TypeVar("T")
SEGMENT_BYTES = 64 * 1024
SUFFIX = ".jsonl"
LOGS = ("episodes", "runs", "wakes", "status", "corrections", "reflections", "chat")
# The logs that have a folder for each agent; the others are one folder of all agents' segments.
BY_AGENT = frozenset({"episodes", "runs"})
SPOOLED = "(spooled)"
_NEWEST = 3  # segments that are always looked at
_FEW = 16  # ids that are searched for one by one
_APPEND_S = 0.01
_MARKERS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")


@dataclass(frozen=True)
class Line:
    """One row as it stands in a file: its plain form, the file (relative to the vault), line."""

    row: dict[str, Any]
    file: str
    line: int


class Logs:
    """The logs of a vault.  `spooled` gives the rows waiting in the spool."""

    def __init__(self, org: str, spooled: Callable[[], Sequence[Row]]) -> None:
        self.org = org
        self._spooled = spooled
        self._read: dict[str, tuple[tuple[int, int], bytes]] = {}
        self._passed_over: set[str] = set()

    def agents(self, log: str) -> list[str]:
        """The agents that have rows in a log."""
        found = {row.agent for row in self._spooled() if row.log == log}
        names = files.names_in(os.path.join(self.org, log))
        if log not in BY_AGENT:
            names = [agent for name in names if (agent := agent_in(name))]
        return sorted(found.union(names))

    def spooled(self) -> Sequence[Row]:
        """The rows of all logs that wait in the spool."""
        return self._spooled()

    def segments(self, log: str, agent: str) -> list[str]:
        """The paths of an agent's segments, oldest first."""
        folder = self.folder(log, agent)
        named = [one for one in files.names_in(folder) if agent_in(one) == agent]
        paths = [os.path.join(folder, one) for one in named]
        return [path for path in paths if path not in self._passed_over]

    def pass_over_unread(self, problems: list[Problem]) -> None:
        """Leave out, from now on, segments that cannot be read (a folder, say), and name them.

        For who looks at everything: whoever has to rely on what is there is to fail instead.
        """
        for log in LOGS:
            for path in [one for agent in self.agents(log) for one in self.segments(log, agent)]:
                try:
                    self.content(path)
                except OSError as failure:
                    problems.append(files.unread(self._name(path), failure))
                    self._passed_over.add(path)

    def folder(self, log: str, agent: str) -> str:
        """Where an agent's segments stand."""
        return os.path.join(self.org, log, *([agent] if log in BY_AGENT else []))

    def content(self, path: str) -> bytes:
        """A segment's bytes, read once for as long as it does not change."""
        try:
            key = _version(path)
            known = self._read.get(path)
            if known and known[0] == key:
                return known[1]
            content = _bytes(path)
            if content and not content.endswith(b"\n"):
                time.sleep(_APPEND_S)  # a row may just be on its way; a torn one stays torn
                key, content = _version(path), _bytes(path)
        except FileNotFoundError:
            return b""
        self._read[path] = (key, content)
        return content

    def lines(self, log: str, agent: str, problems: list[Problem]) -> Iterator[Line]:
        """Every row of a log, oldest first, each id once.

        What cannot be read goes to `problems`, each with file and line, and hides no other row.
        """
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

    def recent(self, kind: type[T], log: str, agent: str) -> list[T]:
        """The rows of a log's newest segment and of the spool, those that can be read."""
        found = [
            one for row in self._waiting(log, agent) for one in _line(row.line.encode(), "", 0, [])
        ]
        for path in self.segments(log, agent)[-1:]:
            for raw in self.content(path).split(b"\n"):
                found.extend(_line(raw, path, 0, []))
        records = (_as_record(kind, line, []) for line in found)
        return [one for one in records if one is not None]

    def newest(self, kind: type[T], log: str, agent: str) -> Iterator[T]:
        """The rows of a log that fit the record, newest first; reads no more than is asked for."""
        records = (_as_record(kind, line, []) for line in self.newest_lines(log, agent))
        return (one for one in records if one is not None)

    def newest_lines(self, log: str, agent: str) -> Iterator[Line]:
        """The rows of a log that can be read, newest first, each id once.

        Spooled rows are the newest, then segment by segment from the end.
        """
        seen = set()
        spooled = [(row.line.encode(), SPOOLED) for row in self._waiting(log, agent)]
        for raw, name in chain(reversed(spooled), self._backwards(log, agent)):
            for line in _line(raw, name, 0, []):
                if line.row.get("id") not in seen:
                    seen.add(line.row.get("id"))
                    yield line

    def mention(self, log: str, agent: str, word: str) -> bool:
        """Whether a quoted word stands anywhere in an agent's rows; parses nothing."""
        needle = f'"{word}"'
        waiting = (row.line for row in self._spooled() if (row.log, row.agent) == (log, agent))
        return any(needle in line for line in waiting) or any(
            needle.encode() in self.content(path) for path in self.segments(log, agent)
        )

    def ids(self, log: str, agent: str, wanted: set[str], since_ns: int = 0) -> dict[str, str]:
        """Which of the wanted row ids stand in the segments (not the spool), and in which.

        Looks at the newest segments and at those written since `since_ns` (nanoseconds since the
        epoch): a row that was acknowledged then stands nowhere else, and the cost of a write
        does not grow with the log.
        """
        found: dict[str, str] = {}
        for back, path in enumerate(reversed(self.segments(log, agent))):
            if back >= _NEWEST and _mtime_ns(path) < since_ns:
                continue
            content = self.content(path)
            for one in _present(content, wanted - found.keys()):
                if any(line.row.get("id") == one for line in _lines_with(content, one, path)):
                    found[one] = path
        return found

    def _all(self, log: str, agent: str, problems: list[Problem]) -> Iterator[Line]:
        spooled = self._waiting(log, agent)
        for path in self.segments(log, agent):
            name = self._name(path)
            for number, raw in enumerate(self.content(path).split(b"\n"), 1):
                yield from _line(raw, name, number, problems)
        for row in spooled:
            yield from _line(row.line.encode(), SPOOLED, 0, problems)

    def _backwards(self, log: str, agent: str) -> Iterator[tuple[bytes, str]]:
        for path in reversed(self.segments(log, agent)):
            name = self._name(path)
            for raw in reversed(self.content(path).split(b"\n")):
                yield raw, name

    def _matching(
        self, log: str, agent: str, wanted: set[str], problems: list[Problem]
    ) -> Iterator[Line]:
        spooled = self._waiting(log, agent)
        for path in self.segments(log, agent):
            content = self.content(path)
            for one in _present(content, wanted):
                yield from _lines_with(content, one, self._name(path))
        for row in spooled:
            yield from _line(row.line.encode(), SPOOLED, 0, problems)

    def _waiting(self, log: str, agent: str) -> list[Row]:
        # Asked for before the segments are read: a row on its way from one to the other is then
        # seen twice (and counted once), never missed.
        return [row for row in self._spooled() if (row.log, row.agent) == (log, agent)]

    def _name(self, path: str) -> str:
        return ".agents/org/" + os.path.relpath(path, self.org).replace(os.sep, "/")


def encode(row: object) -> str:
    """A record as the one line that a log holds.  Raises ValueError over 64 KiB or for NaN."""
    text = json.dumps(record.plain(row), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    line = text.encode(errors="replace")  # a model's half of a surrogate pair is no character
    if len(line) >= ROW_BYTES:
        raise RowTooLong(len(line) + 1, ROW_BYTES)
    return line.decode()


def parse(raw: bytes) -> dict[str, object]:
    """The row that a line holds.  Raises Unreadable."""
    try:
        row = json.loads(raw.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise NotUtf8 from None
    except Unreadable:
        raise
    except (ValueError, RecursionError):
        raise (Marker if raw.startswith(_MARKERS) else NotARow) from None
    if not isinstance(row, dict):
        raise NotARow
    if b"\\ud" in raw.lower():
        _whole_characters(row)
    return row


def _whole_characters(row: dict[str, object]) -> None:
    """Refuse half of a surrogate pair, which cannot be printed."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise NotUtf8 from None


def _line(raw: bytes, file: str, number: int, problems: list[Problem]) -> Iterator[Line]:
    row = raw.strip(b"\0\r \t")
    if len(row) != len(raw) and b"\0" in raw:
        zeros = raw.count(b"\0")
        problems.append(Problem(file, number, f"{zeros} NUL bytes", "restore the file from git"))
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
    if len(wanted) <= _FEW:
        return [one for one in wanted if b'"%s"' % one.encode() in content]
    # Many at once (a backfill): one pass over all quoted words instead of one per value.
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
        raise KeyTwice
    return found


def _no_constant(name: str) -> NoReturn:
    raise NotANumber(name)


def agent_in(name: str) -> str:
    """Whose segment a file is, by its name; empty when it is none."""
    parts = name.split(".")
    whole = len(parts) > len(("number", "agent", "suffix")) and parts[0]
    return parts[1] if name.endswith(SUFFIX) and whole else ""


def _version(path: str) -> tuple[int, int]:
    about = os.stat(path)
    return about.st_size, about.st_mtime_ns


def _mtime_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except FileNotFoundError:
        return 0


def _bytes(path: str) -> bytes:
    return read_regular(path)
