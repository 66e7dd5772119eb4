"""What the session formats have in common: JSON objects a line, texts, counts and times."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from orgvault.domain.instants import normal

_MOST = 10**12 - 1  # beyond it nothing is counted (domain.written.DIGITS)
_ID_CHARS = 200
_TERMINAL = r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])"
_CONTROL = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]"


@dataclass(frozen=True)
class Line:
    """A JSON object and the number, from 1, of the line it stands on."""

    number: int
    value: Mapping[str, Any]


def read_lines(data: bytes, *, cut_short: bool = False) -> tuple[list[Line], tuple[int, ...]]:
    """The JSON objects of a file, and the numbers of the lines that hold none.

    Objects may also stand in lists, and a file that is one JSON value over many lines is read as
    if it were on line 1.  With `cut_short` the last line is incomplete.
    """
    found: list[Line] = []
    skipped: list[int] = []
    raw = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, one in enumerate(raw, 1):
        values = [] if cut_short and number == len(raw) else objects(one)
        found += [Line(number, value) for value in values]
        if not values and (one.strip() or (cut_short and number == len(raw))):
            skipped.append(number)
    if not found and not cut_short and data.lstrip()[:1] in {b"{", b"["}:
        found = [Line(1, value) for value in objects(data)]
        skipped = [] if found else skipped
    return found, tuple(skipped)


def objects(raw: bytes) -> list[Mapping[str, Any]]:
    """The JSON objects of one line: one, a list of them, or none."""
    if not raw.strip():
        return []
    try:
        value = json.loads(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return []
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]


def mapping(value: object) -> Mapping[str, Any]:
    """The value when it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def kind(value: Mapping[str, Any], key: str = "type") -> str:
    """What a mapping says it is; "" when that is no text."""
    told = value.get(key)
    return told if isinstance(told, str) else ""


def blocks(value: object) -> list[Mapping[str, Any]]:
    """A message's content as a list of blocks, also when it is a mere string."""
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    if isinstance(value, list):
        return [
            {"type": "text", "text": one} if isinstance(one, str) else mapping(one) for one in value
        ]
    return []


def text(value: object) -> str:
    """The text of a content, string or blocks; pictures are named in brackets."""
    if isinstance(value, str):
        return clean(value)
    told = [
        one["text"] if isinstance(one.get("text"), str) else "[image]"
        for one in blocks(value)
        if isinstance(one.get("text"), str) or "image" in str(one.get("type", ""))[:20]
    ]
    return clean("\n".join(told))


def clean(value: str) -> str:
    """Text that any file can hold: no lone surrogates, terminal colours or control characters."""
    value = value.encode("utf-8", "replace").decode()
    value = value.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(_CONTROL, "", re.sub(_TERMINAL, "", value))


def one_line(value: object) -> str:
    """Arguments as one line of JSON, a string as it is."""
    if isinstance(value, str):
        return clean(value)
    try:
        return clean(json.dumps(value, ensure_ascii=False))
    except (ValueError, RecursionError):
        return ""


def name(value: object) -> str | None:
    """An id or a model's name: a string of 1 to 200 characters on one line."""
    told = clean(value).strip() if isinstance(value, str) else ""
    return told if 0 < len(told) <= _ID_CHARS and "\n" not in told else None


def count(value: object) -> int | None:
    """A whole number from 0."""
    return value if type(value) is int and 0 <= value <= _MOST else None


def total(values: Iterable[object]) -> int | None:
    """The sum of those that are counts; None when none is."""
    counts = [found for one in values if (found := count(one)) is not None]
    return count(sum(counts)) if counts else None


def time(value: object) -> str | None:
    """An RFC 3339 time as a UTC instant; None when it is none."""
    try:
        return normal(value) if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None


def span(values: Iterable[object]) -> tuple[str | None, str | None]:
    """The first and the last of some RFC 3339 times, as UTC instants."""
    times = [found for one in values if (found := time(one)) is not None]
    return (min(times), max(times)) if times else (None, None)
