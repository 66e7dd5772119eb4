"""Text as recall compares it: folded, split into words, and cut into 4-grams.

Any language: accents, case and compatibility forms are folded; scripts that are written without
spaces (Chinese, Japanese, Korean, Thai and their neighbours) are split into pairs of characters.
"""

import re
from collections.abc import Iterable
from functools import cache
from unicodedata import category, decimal, normalize

GRAM = "#"
_EDGE = "_"
_GRAM_CHARS = 4
_PAIR = 2

# Marks that only say how a letter sounds; those of Indic, Thai and Japanese script are letters.
_ACCENTS = (
    (0x300, 0x36F), (0x591, 0x5C7), (0x610, 0x61A), (0x640, 0x640), (0x64B, 0x65F),
    (0x670, 0x670), (0x6D6, 0x6ED), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF),
    (0xFE20, 0xFE2F),
)  # fmt: skip
# Letters that Unicode does not decompose, and the variants that Arabic and Persian writers mix.
_SAME = str.maketrans("ıłøđ\u0649\u06cc\u0629\u06a9", "ilod\u064a\u064a\u0647\u0643")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)

# The words of English that hold a sentence together; asked about, they say nothing.
_STOP_WORDS = """
    a about above after again against all am an and any are as at be because been before being
    below between both but by can could d did do does doing don down during each few for from
    further had has have having he her here hers herself him himself his how i if in into is it
    its itself just ll m me more most my myself no nor not now of off on once only or other our
    ours ourselves out over own re s same she should so some such t than that the their theirs
    them themselves then there these they this those through to too under until up ve very was we
    were what when where which while who whom why will with would you your yours yourself
    yourselves
"""
_STOP = frozenset(_STOP_WORDS.split())


class _Letters(dict[int, int | str | None]):
    """What becomes of a character: kept, dropped, or a space; remembered for the next time."""

    def __missing__(self, code: int) -> int | str | None:
        char = chr(code)
        kind = category(char)
        found: int | str | None = " "
        if kind == "Cf" or any(first <= code <= last for first, last in _ACCENTS):
            found = None
        elif kind == "Nd":
            found = str(decimal(char))
        elif kind[0] in "LMN":
            found = _SAME.get(code, code)
        self[code] = found
        return found


_LETTERS = _Letters()


def words(text: str) -> list[str]:
    """The words of a text, folded; of what is written without spaces, each pair of characters."""
    folded = text.casefold()
    if not folded.isascii():
        folded = normalize("NFKD", folded).casefold()
    folded = folded.translate(_LETTERS)
    if folded.isascii():
        return folded.split()
    found = []
    for word in normalize("NFC", folded).split():
        if word.isascii():
            found.append(word)
        else:
            found.extend(_pieces(word))
    return found


def grams(split: Iterable[str]) -> list[str]:
    """The 4-grams within words, their edges marked; each begins with `#`, which no word does.

    Of a pair of unspaced characters, the two characters.
    """
    found: list[str] = []
    for word in split:
        if len(word) <= _PAIR and not word.isascii() and _unspaced().fullmatch(word):
            found.extend(GRAM + char for char in word)
            continue
        edged = f"{_EDGE}{word}{_EDGE}"
        last = max(len(edged) - _GRAM_CHARS, 0)
        found.extend(GRAM + edged[at : at + _GRAM_CHARS] for at in range(last + 1))
    return found


def telling(split: list[str]) -> list[str]:
    """A query's words without those that say nothing; all of them when nothing else is left."""
    return [word for word in split if word not in _STOP] or split


def _pieces(word: str) -> list[str]:
    found: list[str] = []
    for piece in _unspaced().split(word):
        if not piece:
            continue
        if len(piece) > 1 and _unspaced().fullmatch(piece):
            found.extend(piece[at : at + _PAIR] for at in range(len(piece) - 1))
        else:
            found.append(piece)
    return found


@cache
def _unspaced() -> "re.Pattern[str]":
    return re.compile(f"([{_UNSPACED}]+)")
