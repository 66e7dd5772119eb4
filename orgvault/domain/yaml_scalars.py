"""What an unquoted word of YAML means to us, and which ones nobody should leave unquoted.

One dialect, the YAML 1.2 core schema (https://yaml.org/spec/1.2.2/#103-core-schema):

- nothing, `~`, `null`, `Null`, `NULL`: null
- `true`, `True`, `TRUE`, `false`, `False`, `FALSE`: true or false
- `12`, `-3`, `+4`, `0x1F`: a whole number; `1.5`, `.5`, `1e3`, `.inf`, `.nan`: a number
- everything else: text

A word that YAML 1.1 readers take for something else than we do is a **trap**: its value is its
text and it is reported, never coerced.  Traps are `yes`, `no`, `on`, `off`, `y`, `n` in any
case, `=`, dates and times, clock times and other base-60 numbers (`1:30`), octal and binary
numbers (`0o10`, `010`, `0b11`), numbers with `_`, and numbers of more than 18 digits.
"""

import re
from json import dumps

Scalar = str | int | float | bool | None
SWITCH = "true or false"

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_SWITCHES = frozenset(
    form
    for word in ("yes", "no", "on", "off", "y", "n")
    for form in (word, word.capitalize(), word.upper())
)
_INT = re.compile(r"[-+]?[0-9]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}")
_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?"
    r"(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?"
)
_ODD_NUMBER = re.compile(
    r"[-+]?(?:0[0-9_]+|0o[0-7_]+|0b[01_]+|0x[0-9a-fA-F_]*_[0-9a-fA-F_]*"
    r"|[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
    r"|(?=[^_]*_)[0-9._]+(?:[eE][-+]?[0-9]+)?)"
)
_DIGITS_KEPT = 18
_NUMERIC_START = frozenset("-+.0123456789")


def scalar(text: str, *, instants: bool = False) -> Scalar:
    """The value of an unquoted word; of a trap its text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC_START or trap(text, instants=instants):
        return text
    if _INT.fullmatch(text):
        return int(text, 16 if text.startswith("0x") else 10)
    return float(text) if _FLOAT.fullmatch(text) else text


def trap(text: str, *, instants: bool = False) -> str:
    """How else an unquoted word is read, for a sentence; empty when it is no trap.

    With `instants` whole points in time (`2026-11-20T09:14:03Z`) are plain text: the files
    that orgvault writes hold them unquoted.
    """
    if text in _SWITCHES:
        return SWITCH
    if not text or text[0] not in _NUMERIC_START:
        return "a default value" if text == "=" else ""
    if _DATE.fullmatch(text):
        return "a date"
    if _INSTANT.fullmatch(text):
        return "" if instants else "a point in time"
    if _ODD_NUMBER.fullmatch(text):
        return "a number of another base or form"
    if len(text) > _DIGITS_KEPT and (_INT.fullmatch(text) or _FLOAT.fullmatch(text)):
        return "a number, rounded"
    return ""


_PLAIN = re.compile(r"[A-Za-z](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?")
_UNSAFE = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffd-\uffff]")


def written(text: str) -> str:
    """A text as we write it: unquoted when it is an id-like word that no reader mistakes."""
    if _PLAIN.fullmatch(text) and text not in _WORDS and text not in _SWITCHES:
        return text
    return quoted(text)


def quoted(text: str) -> str:
    """A text in double quotes on one line, readable as YAML and as JSON alike."""
    return _UNSAFE.sub(lambda c: f"\\u{ord(c[0]):04x}", dumps(text, ensure_ascii=False))
