"""The one formula of recall: BM25 over words, plus half the weight of 4-grams within words.

Short lines live by what stands around them, so a passage also borrows from its neighbours.
BM25 is Robertson and Zaragoza's (https://doi.org/10.1561/1500000019), with k1 1.2 and b 0.4.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log
from typing import NamedTuple, Protocol, TypeAlias

from orgvault.domain.dates import dates
from orgvault.domain.stemming import stem
from orgvault.domain.words import GRAM, grams, telling, words

# What these functions give for one text; an index that was built by others is worthless.
FORMULA = 1

_K1 = 1.2
_B = 0.4
_GRAM_WEIGHT = 0.5
# The share of a neighbour's score that a line borrows; of the next but one, half of that.
_BORROWED = 0.3
# A passage of more words than a line has borrows less, in proportion: it speaks for itself.
_LINE_WORDS = 30


# A passage as the formula sees it: its key, its source (lengths are compared among the passages of
# one source), its context (those of one context stand beside each other, in the order of the
# index), and the numbers of its words and grams.
Measured: TypeAlias = tuple[int, str, str, int, int]


class Index(Protocol):
    """Passages, and which of them hold a term."""

    def passages(self) -> Sequence[Measured]:
        """All passages, in order."""

    def holding(self, term: str) -> Iterable[tuple[int, int]]:
        """The keys of the passages that hold a term, each with how often."""


class Ranked(NamedTuple):
    """A passage that fits a query."""

    key: int
    score: float


class Terms(NamedTuple):
    """How often each term occurs in a passage, and how many there are of both sorts."""

    counts: Counter[str]
    words: int
    grams: int


def terms(text: str, when: str = "") -> Terms:
    """The terms of a passage; `when` are dates that belong to it without standing in its text."""
    split = words(text)
    dated = dates(split)
    if when:
        dated = list(dict.fromkeys([*dated, *dates(words(when))]))
    whole = [*map(stem, split), *dated]
    cut = grams(split)
    return Terms(Counter([*whole, *cut]), len(whole), len(cut))


def asked(query: str) -> list[str]:
    """The terms of a query, each once."""
    split = words(query)
    told = telling(split)
    return list(dict.fromkeys([*map(stem, told), *dates(split), *grams(told)]))


def rank(query: str, index: Index) -> list[Ranked]:
    """The passages that fit a query, best first; equally good ones in the order of the index."""
    passages = index.passages()
    scores = _borrowing(passages, _scores(asked(query), passages, index))
    fits = [at for at, score in enumerate(scores) if score > 0]
    fits.sort(key=lambda at: -scores[at])
    return [Ranked(passages[at][0], scores[at]) for at in fits]


def _scores(wanted: list[str], passages: Sequence[Measured], index: Index) -> list[float]:
    """Each passage's own score."""
    scores = [0.0] * len(passages)
    places = {one[0]: at for at, one in enumerate(passages)}
    by_words, by_grams = _norms(passages)
    for term in wanted:
        held = list(index.holding(term))
        if not held:
            continue
        is_gram = term.startswith(GRAM)
        norms = by_grams if is_gram else by_words
        weight = log(1 + (len(passages) - len(held) + 0.5) / (len(held) + 0.5)) * (_K1 + 1)
        if is_gram:
            weight *= _GRAM_WEIGHT
        for key, count in held:
            at = places[key]
            scores[at] += weight * count / (count + norms[at])
    return scores


def _norms(passages: Sequence[Measured]) -> tuple[list[float], list[float]]:
    """What a count of words, and of grams, is weighed against.

    It is more in passages that are long for their source.
    """
    totals: dict[str, list[int]] = {}
    for _, source, _, words_in, grams_in in passages:
        total = totals.setdefault(source, [0, 0, 0])
        total[0] += 1
        total[1] += words_in
        total[2] += grams_in
    per_word = {source: _K1 * _B * n / max(total, 1) for source, (n, total, _) in totals.items()}
    per_gram = {source: _K1 * _B * n / max(total, 1) for source, (n, _, total) in totals.items()}
    least = _K1 * (1 - _B)
    return (
        [least + per_word[source] * count for _, source, _, count, _ in passages],
        [least + per_gram[source] * count for _, source, _, _, count in passages],
    )


def _borrowing(passages: Sequence[Measured], scores: list[float]) -> list[float]:
    """The scores with what each passage borrows from the two before it and the two after it."""
    found = scores.copy()
    for step, share in ((1, _BORROWED), (2, _BORROWED / 2)):
        for first, second in zip(range(len(scores)), range(step, len(scores)), strict=False):
            if (scores[first] or scores[second]) and passages[first][2] == passages[second][2]:
                lent = share * _LINE_WORDS
                found[first] += scores[second] * lent / max(passages[first][3], _LINE_WORDS)
                found[second] += scores[first] * lent / max(passages[second][3], _LINE_WORDS)
    return found


class Shelf:
    """An index in memory: of texts, in order, each with its dates; their keys count from 0.

    The texts are neighbours unless they are said to stand `apart`.
    """

    def __init__(self, texts: Iterable[tuple[str, str]], *, apart: bool = False) -> None:
        self._passages: list[Measured] = []
        self._held: dict[str, list[tuple[int, int]]] = {}
        for key, (text, when) in enumerate(texts):
            found = terms(text, when)
            context = str(key) if apart else ""
            self._passages.append((key, "", context, found.words, found.grams))
            for term, count in found.counts.items():
                self._held.setdefault(term, []).append((key, count))

    def passages(self) -> Sequence[Measured]:
        """All passages, in order."""
        return self._passages

    def holding(self, term: str) -> Iterable[tuple[int, int]]:
        """The keys of the passages that hold a term, each with how often."""
        return self._held.get(term, ())
