"""Rows of the logs, read once more: what is one, and that none is lost, altered or put before."""

import json
import re
from base64 import b32encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, NoReturn

from orgvault.domain.audit.finding import Report, Rule
from orgvault.domain.audit.pair import Changed, Pair
from orgvault.domain.audit.places import SEGMENTS, Spot, spot
from orgvault.domain.audit.proof import Proof

_BLANK = b"\0\r \t"
_ROW_ID = re.compile(r"[a-z][a-z0-9.-]{0,63}")
_WAKE_ID = re.compile(r"w-[0-9a-hjkmnp-tv-z]{8}")
_CROCKFORD = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789abcdefghjkmnpqrstvwxyz")
_DERIVED_BYTES = 10
_SHORT = 16  # hexadecimal digits of a hash that are kept
_NAMED = 3  # rows that a finding names, of many
_SAID = {
    Rule.ROW_DROPPED: "rows are gone",
    Rule.ROW_CHANGED: "rows read otherwise",
    Rule.SEGMENT_MOVED: "rows stand in another segment now",
    Rule.SEGMENT_SHRUNK: "rows that stand elsewhere, too, were taken out",
}


class Row(NamedTuple):
    """One row: its id, the hash of its canonical form, its values."""

    id: str
    sha: str
    value: Mapping[str, Any]


class Key(NamedTuple):
    """Which row: of which log and agent (of the segment that holds it), by its id."""

    log: str
    agent: str
    id: str


class Read(NamedTuple):
    """A segment's rows in order, and the whole lines that are none."""

    rows: list[Row]
    bad: list[bytes]


class _Twice(ValueError):
    """One key twice in a row."""


def read(content: bytes) -> Read:
    """The rows of a segment.  A torn last line, and lines of nothing but NULs, are neither."""
    *lines, last = content.split(b"\n")
    found, bad = [], []
    for line in lines:
        row = _row(line)
        if row is not None:
            found.append(row)
        elif line.strip(_BLANK):
            bad.append(line)
    tail = _row(last)  # whole but for its line end: a crash left that
    return Read([*found, tail] if tail is not None else found, bad)


def _row(line: bytes) -> Row | None:
    try:
        value = _DECODER.decode(line.strip(_BLANK).decode())
        if isinstance(value, dict) and isinstance(value.get("id"), str):
            return Row(value["id"], _canonical(value), value)
    except (ValueError, RecursionError):
        pass
    return None


def _canonical(value: Mapping[str, Any]) -> str:
    """The hash of a row whatever the order of its keys and the way it is written."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice
    return found


def _never(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_never)


# ── one commit against one parent ───────────────────────────────────────────────────────────


class Known:
    """Every row that has been looked at, with the hashes it was seen with."""

    def __init__(self) -> None:
        self._hashes: dict[Key, list[int]] = {}

    def __len__(self) -> int:
        return len(self._hashes)

    def hashes(self, key: Key) -> list[int]:
        """The hashes of a row so far, shortened."""
        return self._hashes.get(key, [])

    def restored(self, key: Key, shas: Iterable[str]) -> bool:
        """Whether a row has again the content that it was first seen with."""
        return int(next(iter(shas))[:_SHORT], 16) in self.hashes(key)[:1]

    def add(self, key: Key, sha: str) -> bool:
        """Take a row in; whether it is new, or has another content than ever before."""
        short = int(sha[:_SHORT], 16)
        seen = self._hashes.setdefault(key, [])
        if short in seen:
            return False
        seen.append(short)
        return True


def check(pair: Pair, known: Known, report: Report) -> Iterator[tuple[str, Key, Row]]:
    """Check the segments of a pair; every row that was never seen before, with its path.

    Rows have to be taken from the iterator for the rest to be checked.
    """
    moved: dict[Key, list[tuple[str, str]]] = {}  # what came: hash and path
    gone: list[tuple[str, Key, Row]] = []
    come: list[tuple[str, Key, Row]] = []
    changed: set[Key] = set()
    for one in pair.changes:
        if one.spot.kind not in SEGMENTS:
            continue
        for key, row in _grown(one, pair, known, report, gone, changed):
            come.append((one.path, key, row))
            moved.setdefault(key, []).append((row.sha, one.path))
    _lost(pair, gone, moved, report)
    for path, key, row in come:
        before = known.hashes(key)
        if known.add(key, row.sha):
            if before and key not in changed:
                _twice(path, key, row, report)
            yield path, key, row


def _grown(
    one: Changed, pair: Pair, known: Known, report: Report, gone: list[tuple[str, Key, Row]],
    changed: set[Key],
) -> Iterator[tuple[Key, Row]]:  # fmt: skip
    """The rows that a segment has gained; those it lost go to `gone`."""
    old, new = one.old or b"", one.new or b""

    def key(row: Row) -> Key:
        return Key(one.spot.log, one.spot.agent, row.id)

    if new.startswith(old) and (not old or old.endswith(b"\n")):
        added = read(new[len(old) :])
        _unreadable(one.path, added.bad, report)
        yield from ((key(row), row) for row in added.rows)
        return
    was, now = read(old), read(new)
    _unreadable(one.path, (Counter(now.bad) - Counter(was.bad)).elements(), report)
    there: dict[str, set[str]] = {}
    for row in now.rows:
        there.setdefault(row.id, set()).add(row.sha)
    altered: list[str] = []
    for row in was.rows:
        if row.id not in there:
            gone.append((one.path, key(row), row))
        elif row.sha not in there[row.id] and not known.restored(key(row), there[row.id]):
            altered.append(row.id)
    if altered:
        changed.update(Key(one.spot.log, one.spot.agent, row_id) for row_id in altered)
        report.find(Rule.ROW_CHANGED, one.path, f"{_SAID[Rule.ROW_CHANGED]}: {_some(altered)}")
    if not pair.merge:
        _order(one.path, was.rows, now.rows, report)
    before = {(row.id, row.sha) for row in was.rows}
    yield from ((key(row), row) for row in now.rows if (row.id, row.sha) not in before)


def _unreadable(path: str, lines: Iterable[bytes], report: Report) -> None:
    for line in lines:
        start = line[:40].decode(errors="replace")
        report.find(Rule.ROW_UNREADABLE, path, f"a line that is no row: {start}")


def _order(path: str, was: Sequence[Row], now: Sequence[Row], report: Report) -> None:
    """Say when rows changed places, or others came to stand before them."""
    place: dict[str, int] = {}
    for at, row in enumerate(now):
        place.setdefault(row.id, at)
    stays = list(dict.fromkeys(row.id for row in was if row.id in place))
    places = [place[one] for one in stays]
    if places != sorted(places):
        report.find(Rule.ROW_REORDERED, path, "rows stand in another order than before")
    elif places and places[-1] >= len(places):
        report.note(path, "rows came to stand before older ones, as a squashed merge leaves them")


def _lost(
    pair: Pair,
    gone: Sequence[tuple[str, Key, Row]],
    moved: Mapping[Key, list[tuple[str, str]]],
    report: Report,
) -> None:
    if not gone:
        return
    elsewhere: dict[tuple[str, str], dict[str, set[str]]] = {}
    lost: dict[tuple[Rule, str], list[str]] = {}
    for path, key, row in gone:
        where = (key.log, key.agent)
        if any(sha == row.sha for sha, _ in moved.get(key, [])):
            rule = Rule.SEGMENT_MOVED
        else:
            if where not in elsewhere:
                elsewhere[where] = everything(pair, *where)
            hashes = elsewhere[where].get(row.id)
            there = hashes is not None and row.sha in hashes
            rule = Rule.SEGMENT_SHRUNK if there else Rule.ROW_CHANGED
            rule = Rule.ROW_DROPPED if hashes is None else rule
        lost.setdefault((rule, path), []).append(row.id)
    for (rule, path), ids in lost.items():
        report.find(rule, path, f"{_SAID[rule]}: {_some(ids)}")


def _some(ids: Sequence[str]) -> str:
    named = ", ".join(ids[:_NAMED])
    return named if len(ids) <= _NAMED else f"{named} and {len(ids) - _NAMED} more"


def everything(pair: Pair, log: str, agent: str) -> dict[str, set[str]]:
    """The hashes of every row of a log in the child, by id."""
    found: dict[str, set[str]] = {}
    folder = f".agents/org/{log}" + (f"/{agent}" if log in {"episodes", "runs"} else "")
    for name in pair.new.names(folder):
        path = f"{folder}/{name}"
        what = spot(path)
        if what.kind in SEGMENTS and what.agent == agent:
            for row in read(pair.new.read(path) or b"").rows:
                found.setdefault(row.id, set()).add(row.sha)
    return found


def _twice(path: str, key: Key, row: Row, report: Report) -> None:
    if key.log == "wakes" and row.value.get("event") == "closed":
        what = f"{row.value.get('wake')} was closed by another run before {row.value.get('run')}"
        report.find(Rule.WAKE_CLOSED_TWICE, path, what)
    else:
        report.find(Rule.ROW_TWICE, path, f"the row {row.id} stands with two contents")


# ── what a row must be, to be one of ours ───────────────────────────────────────────────────


def check_form(path: str, where: Spot, row: Row, report: Report) -> None:
    """Whether a row could have been written by a command: its agent, and its id."""
    value = row.value
    if value.get("agent") != where.agent and where.log != "chat":  # one log for all who speak
        what = f"{row.id} is of {value.get('agent')}, in the log of {where.agent}"
        report.find(Rule.ROW_MISFILED, path, what)
    wanted = _id_of(where.log, value)
    if not _ROW_ID.fullmatch(row.id) or (wanted and row.id != wanted):
        report.find(Rule.ROW_FORGED, path, f"{row.id} is not the id of such a row")


def _id_of(log: str, value: Mapping[str, Any]) -> str:
    """The id that a row must have; empty for one whose id is by chance."""
    agent, run = str(value.get("agent")), str(value.get("run"))
    if log == "episodes":
        return derived("e", agent, run)
    if log == "runs":
        if value.get("kind") == "manifest":
            return derived("n", agent, run)
        return derived("o", agent, run, str(value.get("index")))
    if log == "wakes":
        wake = str(value.get("wake"))
        if value.get("event") == "taken":
            return derived("k", wake, run)
        # Wakes of another queue are not ours to name.
        return f"{wake}.{value.get('event')}" if _WAKE_ID.fullmatch(wake) else ""
    return ""


def texts(path: str, row: Row, proof: Proof, report: Report) -> Iterator[str]:
    """The hashes of the texts that a row of a run names and does not hold itself."""
    found = row.value.get("texts")
    for one in found if isinstance(found, list) else []:
        named = one.get("sha256") if isinstance(one, dict) else None
        if not isinstance(named, str):
            continue
        inline = one.get("text")
        if not isinstance(inline, str):
            yield named
        else:
            what = f"a text of {row.id} is not the one it names"
            proof.altered(named, inline.encode(errors="replace"), path, what, report)


def derived(prefix: str, *parts: str) -> str:
    """The id that a run gives its rows: 16 characters of Crockford's base 32."""
    digest = sha256("\n".join(parts).encode()).digest()[:_DERIVED_BYTES]
    return f"{prefix}-{b32encode(digest).decode().translate(_CROCKFORD)}"
