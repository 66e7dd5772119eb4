"""The one way in which orgvault writes a record, as something a database can compare with.

A line that is exactly so is certain to be read without a fault; a line that is not may be sound
all the same (spaces, another order of keys, times of another zone), which the strict reader says.
Derived from the same description as the reader and the schemas.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from orgvault.domain import instants
from orgvault.domain.record import Says, described
from orgvault.values import dataclass

# Numbers of more digits before the point are left to the strict reader.
DIGITS = 12
_TEXT = r'"(?:[^"\\]|\\.)*"'
_WHOLE = f"(?:0|[1-9][0-9]{{0,{DIGITS - 1}}})"
_COUNTED = f"[1-9][0-9]{{0,{DIGITS - 1}}}"
_DATE = (
    r"[12][0-9]{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
)
_INSTANT = rf'"{_DATE}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"'


_CLASS = r"\[[^\]]+\]"
_REPEATED = re.compile(rf"({_CLASS})\{{([0-9]+)\}}")
_STARTED = re.compile(rf"({_CLASS}{_CLASS})\{{0,([0-9]+)\}}")


@dataclass(frozen=True)
class Form:
    """How the JSON of a row's values looks, for values that are known to be JSON.

    `keys` are all keys in their order.  The values of `texts` are any text, or null for those
    that are `optional`; the others, joined by commas, match `pattern` (which keeps to what RE2
    knows).  `floats` are written as Python does, `5e-05` for example.  `chars` are the fewest
    and the most characters of some values that are not null.
    """

    keys: tuple[str, ...]
    texts: tuple[str, ...]
    optional: frozenset[str]
    floats: frozenset[str]
    pattern: str
    chars: dict[str, tuple[int, int]]


class _Underivable(Exception):
    """The strict reader knows rules for such a field that a pattern cannot say."""


def form(kind: type[Any]) -> Form | None:
    """How rows of a kind are written; None when only the strict reader can judge them."""
    texts, optional, floats, patterns, chars = [], set(), set(), [], {}
    try:
        for one, about in described(kind):
            known = _known(one.type)
            if known is not one.type:
                optional.add(one.name)
            if known is float:
                floats.add(one.name)
            if known is str and about == Says(about.text, max_chars=about.max_chars):
                texts.append(one.name)
            else:
                # Long counted repetitions make such a pattern slow, so lengths are told apart.
                said, fewest, most = _uncounted(about) if known is str else (about, 0, 0)
                patterns.append(_value(one.type, said))
                if most:
                    chars[one.name] = fewest, most
            limit = min(_limits(known, about), default=0)
            if limit:
                chars[one.name] = 0, limit
    except _Underivable:
        return None
    keys = tuple(one.name for one, _ in described(kind))
    return Form(
        keys, tuple(texts), frozenset(optional), frozenset(floats), ",".join(patterns), chars
    )  # fmt: skip


def _uncounted(about: Says) -> tuple[Says, int, int]:
    """The same with `+` or `*` for a count at the end, and the lengths that it stood for."""
    same = _REPEATED.fullmatch(about.pattern or "")
    if same:
        chars = int(same[2]) + 2
        return replace(about, pattern=f"{same[1]}+"), chars, chars
    started = _STARTED.fullmatch(about.pattern or "")
    if started and about.max_chars is None:
        return replace(about, pattern=f"{started[1]}*"), 0, int(started[2]) + 3
    return about, 0, 0


def _value(kind: Any, about: Says) -> str:  # noqa: ANN401 - the type of any field
    if get_origin(kind) is UnionType:
        return f"(?:null|{_value(_known(kind), about)})"
    if get_origin(kind) is tuple:
        item = get_args(kind)[0]
        if is_dataclass(item):
            raise _Underivable
        return rf"\[(?:{_value(item, about)}(?:,{_value(item, about)})*)?\]"
    if get_origin(kind) in {dict, Mapping}:
        raise _Underivable
    if is_dataclass(kind) and isinstance(kind, type):
        members = (f'"{one.name}":{_value(one.type, says)}' for one, says in described(kind))
        return r"\{" + ",".join(members) + r"\}"
    if kind is bool:
        return "(?:true|false)"
    if kind in {int, float}:
        return _number(kind, about)
    return _text(kind, about)


def _number(kind: type[Any], about: Says) -> str:
    if about.minimum is not None and about.minimum == about.maximum:
        return re.escape(f"{about.minimum:g}")
    if about.minimum == 1 and about.maximum is None and kind is int:
        return _COUNTED
    if about.maximum is not None or about.minimum not in {None, 0}:
        raise _Underivable
    sign = "-?" if about.minimum is None else ""
    return sign + _WHOLE + ("" if kind is int else r"(?:\.[0-9]+)?(?:e-[0-9]+)?")


def _text(kind: type[Any], about: Says) -> str:
    if about.normal is not None:
        if about.normal is not instants.normal:
            raise _Underivable
        return _INSTANT
    choices = about.choices or (tuple(kind) if issubclass(kind, StrEnum) else ())
    if choices:
        return "(?:" + "|".join(re.escape(json.dumps(str(one))) for one in choices) + ")"
    return _TEXT if about.pattern is None else f'"(?:{about.pattern})"'


def _limits(kind: Any, about: Says) -> list[int]:  # noqa: ANN401 - the type of any field
    """How long the JSON of a value may be for no text in it to be too long."""
    if is_dataclass(kind) and isinstance(kind, type):
        return [most for one, says in described(kind) for most in _limits(_known(one.type), says)]
    return [] if about.max_chars is None else [about.max_chars + 2]


def _known(kind: Any) -> Any:  # noqa: ANN401 - the type of any field
    """The type of a value that is not null."""
    if get_origin(kind) is not UnionType:
        return kind
    return next(one for one in get_args(kind) if one is not NoneType)
