"""What may stand in the columns of a collection: values checked, and read from a person's words."""

import re
from collections.abc import Mapping
from datetime import date
from difflib import get_close_matches
from math import isfinite

from orgvault.domain.collection import Collection, Column, Scalar
from orgvault.domain.record import Violation

TEXT_CHARS = 8000
DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_LINK = r"\[\[[^\[\]\x00-\x1f\x7f]+\]\]|https?://[^\s\x00-\x1f\x7f]+"
_WHOLE = r"[-+]?[0-9]{1,18}"
_NUMBER = r"[-+]?(?:[0-9]{1,300}(?:\.[0-9]{0,300})?|\.[0-9]{1,300})(?:[eE][-+]?[0-9]{1,3})?"
_EXACT = 2**53  # beyond it, programs that read JSON round
_DIGITS = 18  # of a number as it is written; a longer one is rounded by some readers of YAML


def parsed(column: Column, word: str) -> Scalar:
    """What a word of the command line stands for in a column; the word itself where it is unfit."""
    text = word.strip()
    if column.type == "integer" and re.fullmatch(_WHOLE, text):
        return int(text)
    if column.type == "number" and re.fullmatch(_NUMBER, text):
        return int(text) if re.fullmatch(_WHOLE, text) else float(text)
    if column.type == "boolean" and text.casefold() in {"true", "false"}:
        return text.casefold() == "true"
    return word if column.type == "text" else text


def in_order(shape: Collection, values: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The values in the order of the columns."""
    return {one.name: values[one.name] for one in shape.columns if one.name in values}


def faults(shape: Collection, values: Mapping[str, object]) -> list[Violation]:
    """Everything wrong in the values of a record; each path is the column's name."""
    found = [_unknown(name, shape) for name in values if shape.column(name) is None]
    for column in shape.columns:
        if column.name in values:
            what, do = _fault(column, values[column.name])
            if what:
                found.append(Violation((column.name,), what, do))
        elif column.required:
            found.append(Violation((), f"`{column.name}` is missing", f"give {_wanted(column)}"))
    return found


def did_you_mean(name: str, shape: Collection) -> str:
    """What to write in place of a column that is not there."""
    names = [one.name for one in shape.columns]
    near = get_close_matches(name, names, n=1)
    return f"did you mean `{near[0]}`?" if near else f"its columns are {', '.join(names)}"


def _unknown(name: str, shape: Collection) -> Violation:
    what = f"{shape.name} has no column `{name}`"
    return Violation((name,), what, did_you_mean(name, shape), at_key=True)


def _fault(column: Column, value: object) -> tuple[str, str]:
    """What is wrong with a value of a column, and what to do; twice empty when it fits."""
    if not _fits(column, value):
        return f"{_said(value)} is not {_wanted(column)}", _remedy(column, value)
    if isinstance(value, str) and len(value) > TEXT_CHARS:
        return f"{len(value)} characters, at most {TEXT_CHARS} are allowed", "shorten it"
    if isinstance(value, str) and column.required and not value.strip():
        return "it is empty and required", f"give {_wanted(column)}"
    return "", ""


def _fits(column: Column, value: object) -> bool:
    kind = column.type
    if kind == "boolean":
        return isinstance(value, bool)
    if kind in {"integer", "number"}:
        return _is_number(value, whole=kind == "integer")
    if not isinstance(value, str):
        return False
    if kind == "date":
        return _is_day(value)
    if kind == "choice":
        return value in column.choices
    return kind != "link" or re.fullmatch(_LINK, value) is not None


def _is_number(value: object, *, whole: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if isinstance(value, int):
        return abs(value) <= _EXACT
    return not whole and isfinite(value) and len(str(value)) <= _DIGITS


def _is_day(text: str) -> bool:
    try:
        return re.fullmatch(DATE, text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _wanted(column: Column) -> str:
    if column.type == "choice":
        return f"one of {', '.join(column.choices)}"
    return _WANTED[column.type]


def _remedy(column: Column, value: object) -> str:
    if column.type == "choice" and isinstance(value, str):
        near = get_close_matches(value, column.choices, n=1)
        return f"did you mean `{near[0]}`?" if near else "choose one of them"
    return "put it in quotes" if column.type == "text" else "correct it"


def _said(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a mapping"
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"


_SHOWN_CHARS = 60
_WANTED = {
    "text": "a text",
    "integer": "a whole number",
    "number": "a number of up to 15 digits",
    "boolean": "true or false",
    "date": "a day like 2026-12-31",
    "link": "a link like [[Note]] or https://example.org",
}
