"""The written form of a record as a pattern: what matches is certain to be read without a fault.

The strict reader takes a tenth of a millisecond a row, a pattern a fortieth of that.  It knows
one spelling only (keys in their order, no spaces, instants in UTC), the one that orgvault
writes; a row spelt otherwise may be sound all the same, which the strict reader then says.
Derived from the same description as the reader and the schemas.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from orgvault.domain import instants
from orgvault.domain.record import Says, described

# A number of more digits before the point is left to the strict reader.
DIGITS = 12
_NEVER = "(?!)"
_PLAIN = r'[^"\\\x00-\x1f]'
_ESCAPED = r'\\["\\/bfnrt]|\\u00(?:0[1-9a-f]|1[0-9a-f])'
_WHOLE = f"(?:0|[1-9][0-9]{{0,{DIGITS - 1}}}+)"
_DATE = (
    r"[12][0-9]{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
)
_INSTANT = rf'"{_DATE}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"'


def lines(kind: type[Any]) -> str:
    """A pattern for whole texts of lines that are rows of this kind, as orgvault writes them."""
    row = _record(kind)
    return rf"(?:(?>{row})\n)*+(?>{row})?"


def _record(kind: type[Any]) -> str:
    members = (f'"{one.name}":{_value(one.type, about)}' for one, about in described(kind))
    return r"\{" + ",".join(members) + r"\}"


def _value(kind: Any, about: Says) -> str:  # noqa: ANN401 - the type of any field
    if get_origin(kind) is UnionType:
        known = next(one for one in get_args(kind) if one is not NoneType)
        either = "null|" if NoneType in get_args(kind) else ""
        return f"(?:{either}{_value(known, about)})"
    if get_origin(kind) is tuple:
        item = _value(get_args(kind)[0], about)
        return rf"\[(?:{item}(?:,{item})*+)?\]"
    if get_origin(kind) in {dict, Mapping}:
        return _NEVER
    if is_dataclass(kind) and isinstance(kind, type):
        return _record(kind)
    if kind is bool:
        return "(?:true|false)"
    if kind in {int, float}:
        return _number(kind, about)
    return _text(kind, about)


def _number(kind: type[Any], about: Says) -> str:
    if about.minimum is not None and about.minimum == about.maximum:
        return re.escape(f"{about.minimum:g}")
    if about.maximum is not None or about.minimum not in {None, 0}:
        return _NEVER
    sign = "-?" if about.minimum is None else ""
    return sign + _WHOLE + ("" if kind is int else r"(?:\.[0-9]++)?(?:e-[0-9]{1,2}+)?")


def _text(kind: type[Any], about: Says) -> str:
    if about.normal is not None:
        return _INSTANT if about.normal is instants.normal else _NEVER
    choices = about.choices or (tuple(kind) if issubclass(kind, StrEnum) else ())
    if choices:
        return "(?:" + "|".join(re.escape(json.dumps(str(one))) for one in choices) + ")"
    times = "*+" if about.max_chars is None else f"{{0,{about.max_chars}}}+"
    if about.pattern is not None:
        return f'(?={_quoted(_PLAIN, times)})"(?:{about.pattern})"'
    # Most texts have nothing to escape, and are then matched in one sweep.
    return f"(?:{_quoted(_PLAIN, times)}|{_quoted(f'(?:{_PLAIN}|{_ESCAPED})', times)})"


def _quoted(character: str, times: str) -> str:
    return f'"{character}{times}"'
