# ruff: noqa: RUF001 - look-alikes are what this is about
"""Bringing text into the form in which it is compared: one place for every comparison."""

import re
from functools import lru_cache
from unicodedata import category, normalize

_QUOTES = dict.fromkeys(map(ord, '"`´‘’‚‛“”„‟«»‹›「」『』′″'), "'")
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−⸺⸻"), "-")
_MARKS = _QUOTES | _DASHES
_JOINERS = dict.fromkeys(map(ord, "\u200c\u200d"))
# Cyrillic letters that look like Latin ones (https://www.unicode.org/reports/tr39/).
_LOOK_ALIKES = str.maketrans("аеорсухіјѕһԁԛԝѵ", "aeopcyxijshdqwv")
# Small ones look alike as large ones, too, and some only then.
_POSING = (
    _LOOK_ALIKES
    | {ord(chr(one).upper()): chr(to).upper() for one, to in _LOOK_ALIKES.items()}
    | str.maketrans("ВКМНТ", "BKMHT")
)

_BRACKETS = "<＜﹤‹〈〈⟨❮❰˂ᐸ《"
_SECTIONS = "guidelines|task|state|memory|embed|capability|system|think"
# One way only to take the blanks, or a long run of them would take for ever.
_TAG = rf"[{_BRACKETS}](?=\s*(?:/\s*)?([^\W\d_]+))"


def fold(text: str) -> str:
    """NFKC, case-folded, quotes and dashes as one each, runs of white space as one space."""
    text = normalize("NFKC", normalize("NFKC", text).casefold()).translate(_MARKS)
    return " ".join(re.sub(r"-{2,}", "-", text).split())


def plain_words(text: str) -> tuple[str, ...]:
    """The folded text without joiners and accents; also as it looks if Cyrillic poses as Latin."""
    folded = fold(text)
    if not folded.isascii():
        apart = normalize("NFKD", folded.translate(_JOINERS))
        folded = normalize("NFC", "".join(c for c in apart if category(c) != "Mn"))
    seen = posing(folded)
    return (folded,) if seen == folded else (folded, seen)


def posing(text: str) -> str:
    """The text as it looks when Cyrillic letters pose as Latin ones; its case is kept."""
    return text if text.isascii() else text.translate(_POSING)


def letters(text: str) -> str:
    """Only the letters and digits, NFKC and case-folded: how a text reads however it is set.

    Spaces of any kind, Markdown marks, quotes and punctuation make no difference; nor does an
    escaped line end.
    """
    text = re.sub(r"\\+[nrt]", " ", text)
    return re.sub(r"[\W_]+", "", normalize("NFKC", normalize("NFKC", text).casefold()))


def same_statement(one: str, other: str) -> bool:
    """Whether two claims' texts say the same in the same words.

    Compared NFKC, case-folded, with white space, quotes, dashes and letters that look alike
    folded, without the punctuation at the end and quotes around.  Nothing else: likeness of words
    never decides.
    """
    return one == other or statement_key(one) == statement_key(other)


@lru_cache(maxsize=2048)
def statement_key(text: str) -> str:
    """What `same_statement` compares: equal keys, equal statements."""
    folded = posing(fold(text))
    return folded.lstrip("' ").rstrip(" .!。．｡।۔'") or folded


def has_tag(text: str) -> bool:
    """Whether something would open or close a section of a prompt, look-alikes included."""
    return bool(tags(text))


def tags(text: str) -> list[re.Match[str]]:
    """The bracket of everything that would open or close a section; group 1 is its word."""
    return [found for found in re.finditer(_TAG, text) if _is_tag(found)]


def neutral_tags(text: str) -> str:
    """The text with each bracket that would open or close a section as `&lt;`."""
    return re.sub(_TAG, lambda found: "&lt;" if _is_tag(found) else found[0], text)


def _is_tag(found: re.Match[str]) -> bool:
    word = "".join(normalize("NFKC", found[1]).casefold().translate(_JOINERS).split())
    return re.fullmatch(_SECTIONS, word.translate(_LOOK_ALIKES)) is not None
