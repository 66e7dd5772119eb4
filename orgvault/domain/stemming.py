# ruff: noqa: RUF001 - endings of Russian look like Latin letters
"""A folded word without its inflection: English endings, or those of Russian and its neighbours.

Rough on purpose.  It only has to bring most forms of a word together; where it fails, the 4-grams
of the words still meet.
"""

_STEM_MIN = 3
_VOWELS = frozenset("aeiouy")
_SIBILANTS = ("sses", "shes", "ches", "xes", "zes")
# As the folded text has them: й is и there.
_CYRILLIC = """
    иями ями ами ого его ому ему ыми ими ыи ии ои еи ая яя ое ее ые ие ую юю ых их ым им ом ем
    ов ев ам ям ах ях ою ею а я о е ы и у ю ь
"""
_CYRILLIC_ENDINGS = frozenset(_CYRILLIC.split())
_LONGEST = 4


def stem(word: str) -> str:
    """The word's stem; the word itself when its script is neither Latin nor Cyrillic."""
    if word.isascii():
        return _english(word) if len(word) > _STEM_MIN and word.isalpha() else word
    if "\u0400" <= word[-1] <= "\u04ff":
        for chars in range(min(_LONGEST, len(word) - _STEM_MIN), 0, -1):
            if word[-chars:] in _CYRILLIC_ENDINGS:
                return word[:-chars]
    return word


def _english(word: str) -> str:
    word = _without_participle(_singular(word))
    if len(word) > _STEM_MIN and word.endswith("e"):
        word = word[:-1]
    if len(word) > _STEM_MIN and word.endswith("y"):
        word = word[:-1] + "i"
    return word


def _singular(word: str) -> str:
    if word.endswith(_SIBILANTS) or (word.endswith("ies") and len(word) > _STEM_MIN + 1):
        return word[:-2]
    if word.endswith("s") and word[-2] not in "usi":
        return word[:-1]
    return word


def _without_participle(word: str) -> str:
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= _STEM_MIN and not _VOWELS.isdisjoint(rest):
            doubled = len(rest) > _STEM_MIN and rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled else rest
    return word[:-2] if word.endswith("ly") and len(word) > _STEM_MIN + 2 else word
