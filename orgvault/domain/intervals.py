"""Between what bounds a number of the ledger changed, as far as chance lets anybody say.

Both functions give the ratio after / before with the two bounds of a central interval: 1 is no
change, 1.1 is a tenth more.  Pure, bounded in time, and the same on every machine: whole numbers
are summed, chance comes from a seed through `random.random`, whose sequence Python promises to
keep, and what is given back is rounded to three digits, of which the last ones of a float are
no part.
"""

from collections.abc import Callable, Sequence
from math import asin, cos, log, pi, sin, sqrt
from math import exp as e_to

from orgvault.digests import sha256
from orgvault.values import dataclass

DIGITS = 3
MOST = 1000.0  # a ratio beyond is written as this one; its inverse is 0.001
_CELLS = 400  # of the grid on which the integral is taken
_WIDE = 9.0  # standard deviations of the posterior that the grid spans, to either side
_STEPS = 26  # of the bisection: more than three digits between 0.001 and 1000
_DRAWS = 1000
_UNITS = 200  # more episodes than these are drawn in groups
_COUNT_BITS = 32  # below them the count of a sum of (amount, count)


@dataclass(frozen=True)
class Ratio:
    """After / before: the bounds between which it lies, and the ratio as it was observed.

    `observed` is None where there was nothing before.
    """

    observed: float | None
    low: float
    high: float


def of_shares(before: tuple[int, int], after: tuple[int, int], level: float) -> Ratio:
    """How a share changed; each side is (how many, of how many), level is 0.95 for example.

    Bayesian: each share has the posterior Beta(k + 1/2, n - k + 1/2) of Jeffreys's prior, the two
    are independent, and the distribution of their ratio is integrated on a grid.  Such intervals
    hold their level for small counts as well (Brown, Cai, DasGupta: Interval estimation for a
    binomial proportion, Statistical Science 16, 2001, for one share).
    """
    first, second = _Posterior(*before), _Posterior(*after)

    def bound(probability: float) -> float:
        low, high = -log(MOST), log(MOST)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            below = first.mean_of(second.below, e_to(middle))
            low, high = (middle, high) if below < probability else (low, middle)
        return e_to((low + high) / 2)

    tail = (1 - level) / 2
    return Ratio(
        _ratio(before[0] * after[1], after[0] * before[1]),
        round(bound(tail), DIGITS), round(bound(1 - tail), DIGITS),
    )  # fmt: skip


def of_means(
    before: Sequence[tuple[int, int]], after: Sequence[tuple[int, int]], seed: str, level: float
) -> Ratio:
    """How an amount for each counted thing changed: sum of amounts / sum of counts.

    Each side is one (amount, count) for each episode, in whole numbers.  A bootstrap: episodes
    are drawn with replacement, and the interval is that between percentiles, widened for small
    samples (the expanded percentile interval of Hesterberg: What teachers should know about the
    bootstrap, The American Statistician 69, 2015, section 5.2).  Very many episodes are drawn in
    groups, for bounded time: their order must say nothing (by row id, for example).
    """
    sides = [_units(before), _units(after)]
    sums = [_drawn(side, f"{seed}/{name}") for side, name in zip(sides, "ba", strict=True)]
    found = sorted(_of_means(one, other) for one, other in zip(*sums, strict=True))
    tail = int(_tail(min(map(len, sides)), level) * _DRAWS)
    whole = _pair(sum(sides[0])), _pair(sum(sides[1]))
    (was, old), (now, new) = whole
    return Ratio(
        _ratio(was * new, now * old),
        round(found[tail], DIGITS), round(found[_DRAWS - 1 - tail], DIGITS),
    )  # fmt: skip


class _Posterior:
    """What is believed of a share, on a grid of angles: sin² of the angle is the share.

    On that scale the density is finite everywhere, and about equally wide for every share.
    """

    def __init__(self, hits: int, tries: int) -> None:
        middle = asin(sqrt((hits + 0.5) / (tries + 1)))
        reach = _WIDE / (2 * sqrt(tries + 1))
        self._low = max(0.0, middle - reach)
        self._step = (min(pi / 2, middle + reach) - self._low) / _CELLS
        angles = [self._low + (at + 0.5) * self._step for at in range(_CELLS)]
        logs = [2 * hits * log(sin(one)) + 2 * (tries - hits) * log(cos(one)) for one in angles]
        most = max(logs)
        weights = [e_to(one - most) for one in logs]
        total = sum(weights)
        self._shares = [sin(one) ** 2 for one in angles]
        self._weights = [one / total for one in weights]
        self._before = [0.0]
        for one in self._weights:
            self._before.append(self._before[-1] + one)

    def below(self, share: float) -> float:
        """The probability that it is below some share."""
        if share >= 1:
            return 1.0
        at = (asin(sqrt(share)) - self._low) / self._step
        if at <= 0 or at >= _CELLS:
            return float(at > 0)
        cell = int(at)
        return self._before[cell] + (at - cell) * self._weights[cell]

    def mean_of(self, below: Callable[[float], float], factor: float) -> float:
        """The mean of what `below` gives for this share times a factor."""
        pairs = zip(self._shares, self._weights, strict=True)
        return sum(weight * below(share * factor) for share, weight in pairs)


def _units(side: Sequence[tuple[int, int]]) -> list[int]:
    """Amount and count as one number each, of neighbours together where they are many."""
    group = -(-len(side) // _UNITS)
    packed = [(amount << _COUNT_BITS) + count for amount, count in side]
    return [sum(packed[at : at + group]) for at in range(0, len(packed), group)]


def _pair(packed: int) -> tuple[int, int]:
    return packed >> _COUNT_BITS, packed & ((1 << _COUNT_BITS) - 1)


def _drawn(units: list[int], seed: str) -> list[int]:
    """The sums of as many units as there are, drawn with replacement, again and again."""
    from random import Random

    number = int.from_bytes(sha256(seed.encode()).digest()[:8], "big")
    chance = Random(number).random  # noqa: S311 - to be the same every time
    size = len(units)
    return [sum([units[int(chance() * size)] for _ in range(size)]) for _ in range(_DRAWS)]


def _of_means(before: int, after: int) -> float:
    (was, old), (now, new) = _pair(before), _pair(after)
    found = _ratio(was * new, now * old)
    return MOST if found is None else found


def _ratio(before: int, after: int) -> float | None:
    """After / before, within bounds; nothing to nothing is no change."""
    if not before:
        return None if after else 1.0
    return round(min(after / before, MOST), DIGITS)


def _tail(size: int, level: float) -> float:
    """The probability of each tail, smaller for few units."""
    from statistics import NormalDist

    normal = NormalDist()
    return normal.cdf(-sqrt(size / (size - 1)) * _student(-normal.inv_cdf((1 - level) / 2), size))


def _student(z: float, size: int) -> float:
    """The quantile of Student's t for a normal one, with size - 1 degrees of freedom.

    Three terms of Cornish and Fisher's expansion (Abramowitz and Stegun, 26.7.5): from 4 degrees
    on it is right to 0.01.
    """
    free = size - 1
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / free + second / free**2 + third / free**3
