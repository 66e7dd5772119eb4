"""Typed records: one frozen dataclass per file format, read strictly, described once.

A record class is a frozen dataclass whose fields carry a sentence and limits (`says(...)`).
From that one description come the strict reader (`read`), the plain form that is written
(`plain`) and, in `domain/schema.py`, the JSON Schema.  Reading never coerces: a string is not
a number, `true` is not 1, NaN is nothing.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass
from enum import StrEnum
from math import isfinite
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin

from orgvault.values import dataclass

T = TypeVar("T")
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Says:
    """What one field holds, for people and for the reader.

    `pattern` is matched against the whole string (or against each key of a mapping, as
    `key_pattern`); `minimum` and `maximum` are inclusive; `max_chars` counts characters;
    `choices` are the only strings allowed; `normal` brings an accepted string into its one
    written form.
    """

    text: str
    pattern: str | None = None
    key_pattern: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    max_chars: int | None = None
    choices: tuple[str, ...] = ()
    normal: Callable[[str], str] | None = None


@dataclass(frozen=True)
class Violation:
    """One thing wrong in a record: where (keys and indexes from its root), what, what to do.

    `at_key` is true when the key itself is wrong rather than the value under it.
    """

    path: Path
    what: str
    do: str = ""
    at_key: bool = False


def says(text: str, *, default: Any = MISSING, **limits: Any) -> Any:
    """Describe a record's field; with a `default` the key may be absent from the file."""
    metadata = {"says": Says(text, **limits)}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def described(record: type[Any]) -> Iterator[tuple[Field[Any], Says]]:
    """Each field of a record class with its description, in written order."""
    for one in fields(record):
        yield one, one.metadata["says"]


def optional(one: Field[Any]) -> bool:
    """Whether the key of this field may be absent."""
    return one.default is not MISSING or one.default_factory is not MISSING


def read(record: type[T], value: object) -> tuple[T | None, list[Violation]]:
    """Read a plain value (from JSON or YAML) as a record.

    Returns the record and no violations, or None and **every** violation found.
    """
    found: list[Violation] = []
    result = _record(record, value, (), found)
    return (None, found) if found else (result, [])


def plain(value: object) -> Any:
    """The plain form of a record: dicts, lists and scalars, fields in declared order."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value


def unsound(record: object) -> list[Violation]:
    """What would be refused if this record were read back from its written form."""
    return read(type(record), plain(record))[1]


def _record(record: type[T], value: object, path: Path, found: list[Violation]) -> T | None:
    if not isinstance(value, Mapping):
        found.append(Violation(path, f"expected a mapping, found {_shown(value)}"))
        return None
    before = len(found)
    known = {one.name: (one, about) for one, about in described(record)}
    found.extend(_unknown_key(key, known, path) for key in value if key not in known)
    given: dict[str, Any] = {}
    for name, (one, about) in known.items():
        if name in value:
            given[name] = _value(one.type, about, value[name], (*path, name), found)
        elif not optional(one):
            found.append(Violation(path, f"the key `{name}` is missing", f"add it: {about.text}"))
    return record(**given) if len(found) == before else None


def _unknown_key(key: object, known: Mapping[str, object], path: Path) -> Violation:
    if not isinstance(key, str):
        return _not_text(key, path)
    from difflib import get_close_matches

    near = get_close_matches(key, known, n=1)
    hint = f"did you mean `{near[0]}`?" if near else "known keys: " + ", ".join(known)
    return Violation((*path, key), f"unknown key `{key}`", hint, at_key=True)


def _not_text(key: object, path: Path) -> Violation:
    what = f"the key {_shown(key)} is not text"
    return Violation((*path, str(key)), what, "quote it", at_key=True)


def _value(kind: Any, about: Says, value: object, path: Path, found: list[Violation]) -> Any:
    if kind is Any:  # what a record leaves to others to judge
        return value
    if get_origin(kind) is UnionType:
        if value is None and NoneType in get_args(kind):
            return None
        kind = next(one for one in get_args(kind) if one is not NoneType)
    origin = get_origin(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        return _record(kind, value, path, found)
    if origin is tuple:
        return _list(get_args(kind)[0], about, value, path, found)
    if origin in {dict, Mapping}:
        return _mapping(get_args(kind)[1], about, value, path, found)
    return _scalar(kind, about, value, path, found)


def _list(kind: Any, about: Says, value: object, path: Path, found: list[Violation]) -> Any:
    if not isinstance(value, list | tuple):
        found.append(Violation(path, f"expected a list, found {_shown(value)}"))
        return None
    return tuple(
        _value(kind, about, item, (*path, index), found) for index, item in enumerate(value)
    )


def _mapping(kind: Any, about: Says, value: object, path: Path, found: list[Violation]) -> Any:
    if not isinstance(value, Mapping):
        found.append(Violation(path, f"expected a mapping, found {_shown(value)}"))
        return None
    for key in value:
        if not isinstance(key, str):
            found.append(_not_text(key, path))
        elif about.key_pattern and not re.fullmatch(about.key_pattern, key):
            what = f"the key `{key}` does not match {about.key_pattern}"
            found.append(Violation((*path, key), what, "rename it", at_key=True))
    return {key: _value(kind, about, item, (*path, str(key)), found) for key, item in value.items()}


def _scalar(kind: Any, about: Says, value: object, path: Path, found: list[Violation]) -> Any:
    if kind is float and type(value) is int and abs(value) < _EXACT:
        value = float(value)
    wanted = str if isinstance(kind, type) and issubclass(kind, str) else kind
    if type(value) is not wanted:
        found.append(Violation(path, f"expected {_NAMES[wanted]}, found {_shown(value)}"))
        return None
    problem = _outside(kind, about, value)
    if problem:
        found.append(Violation(path, problem))
        return None
    if isinstance(value, str):
        return _normal(kind, about, value, path, found)
    return value


def _normal(kind: Any, about: Says, value: str, path: Path, found: list[Violation]) -> Any:
    try:
        return kind(about.normal(value) if about.normal else value)
    except (ValueError, OverflowError):  # the 30th of February, the year 0
        found.append(Violation(path, f"{_shown(value)} is not possible"))
        return None


def _outside(kind: Any, about: Says, value: Any) -> str:
    if isinstance(value, str):
        choices = about.choices or (tuple(kind) if issubclass(kind, StrEnum) else ())
        if choices and value not in choices:
            return f"`{value}` is not one of {', '.join(choices)}"
        if about.pattern and not re.fullmatch(about.pattern, value):
            return f"{_shown(value)} does not match {about.pattern}"
        if about.max_chars is not None and len(value) > about.max_chars:
            return f"{len(value)} characters, at most {about.max_chars} are allowed"
        return ""
    if isinstance(value, bool):
        return ""
    if isinstance(value, float) and not isfinite(value):
        return f"{value} is not a finite number"
    if about.minimum is not None and value < about.minimum:
        return f"{value} is below the limit of {about.minimum:g}"
    if about.maximum is not None and value > about.maximum:
        return f"{value} is above the limit of {about.maximum:g}"
    return ""


def _shown(value: object) -> str:
    names = {dict: "a mapping", list: "a list", tuple: "a list", NoneType: "nothing (null)"}
    if type(value) in names:
        return names[type(value)]
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 1] + "…"


_SHOWN_CHARS = 60
_EXACT = 2**53  # whole numbers below are floats without loss
_NAMES: dict[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}
