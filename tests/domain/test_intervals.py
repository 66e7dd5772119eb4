"""The intervals of the ledger: known cases, coverage, and the same figures everywhere."""

import random
from time import perf_counter

import pytest

from orgvault.domain.intervals import MOST, Ratio, of_means, of_shares

LEVEL = 0.95


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        # The bounds were found by drawing a million pairs from the two posteriors.
        ((18, 60), (9, 60), Ratio(0.5, 0.236, 0.993)),
        ((300, 1000), (290, 1000), Ratio(0.967, 0.844, 1.107)),
        ((5, 5), (5, 5), Ratio(1.0, 0.662, 1.512)),
        ((1, 3000), (3, 4000), Ratio(2.25, 0.298, 25.6)),
    ],
)
def test_shares_are_compared_as_by_drawing(
    before: tuple[int, int], after: tuple[int, int], wanted: Ratio
) -> None:
    found = of_shares(before, after, LEVEL)
    assert found.observed == wanted.observed
    assert found.low == pytest.approx(wanted.low, rel=0.01)
    assert found.high == pytest.approx(wanted.high, rel=0.01)


def test_nothing_is_no_trap() -> None:
    for before, after in [((0, 5), (0, 5)), ((0, 0), (0, 0)), ((0, 5), (5, 5)), ((5, 5), (0, 5))]:
        found = of_shares(before, after, LEVEL)
        assert 0 <= found.low < found.high <= MOST
    assert of_shares((0, 5), (1, 5), LEVEL).observed is None
    assert of_shares((0, 5), (0, 9), LEVEL).observed == 1
    free = [(0, 1)] * 8
    assert of_means(free, free, "imp-0", LEVEL) == Ratio(1.0, 1.0, 1.0)
    assert of_means(free, [(9, 1)] * 8, "imp-0", LEVEL) == Ratio(None, MOST, MOST)
    assert of_means([(9, 1)] * 8, free, "imp-0", LEVEL) == Ratio(0.0, 0.0, 0.0)


def test_turned_round_it_is_the_inverse() -> None:
    there, back = of_shares((7, 40), (20, 50), LEVEL), of_shares((20, 50), (7, 40), LEVEL)
    assert there.low == pytest.approx(1 / back.high, rel=0.01)
    assert there.high == pytest.approx(1 / back.low, rel=0.01)


def test_the_same_on_every_machine() -> None:
    # Written down once: a change of Python, of the processor or of a library must not show.
    costs = [((number * 7919) % 1000 + 1, int(number % 4 > 0)) for number in range(40)]
    dearer = [(2 * cost, done) for cost, done in costs]
    assert of_means(costs, dearer, "imp-7f3k2q9d", LEVEL) == EXPECTED_MEANS
    assert of_means(costs, dearer, "imp-00000000", LEVEL) != EXPECTED_MEANS
    assert of_shares((12, 40), (9, 41), LEVEL) == EXPECTED_SHARES


EXPECTED_MEANS = Ratio(2.0, 1.462, 2.911)
EXPECTED_SHARES = Ratio(0.732, 0.339, 1.526)


def test_many_episodes_take_bounded_time() -> None:
    chance = random.Random("many")  # noqa: S311 - made-up data, the same every time
    many = [(chance.getrandbits(20), 1) for _ in range(200_000)]
    began = perf_counter()
    found = of_means(many, many, "imp-0", LEVEL)
    assert perf_counter() - began < 5
    assert found.low < 1 < found.high


@pytest.mark.parametrize("size", [8, 40])
def test_the_interval_of_means_holds_what_it_says(size: int) -> None:
    chance = random.Random(f"means {size}")  # noqa: S311 - made-up data, the same every time
    tries, missed = 150, 0
    for number in range(tries):
        sides = [
            [(int(1e6 * chance.lognormvariate(0, 0.7)), 1) for _ in range(size)] for _ in range(2)
        ]
        found = of_means(sides[0], sides[1], f"imp-{number}", LEVEL)
        missed += not found.low <= 1 <= found.high
    assert missed <= 0.09 * tries


@pytest.mark.parametrize(("size", "share"), [(8, 0.3), (40, 0.1), (40, 0.3)])
def test_the_interval_of_shares_holds_what_it_says(size: int, share: float) -> None:
    chance = random.Random(f"shares {size}")  # noqa: S311 - made-up data, the same every time
    tries, missed = 200, 0
    for _ in range(tries):
        hits = [sum(chance.random() < share for _ in range(size)) for _ in range(2)]
        found = of_shares((hits[0], size), (hits[1], size), LEVEL)
        missed += not found.low <= 1 <= found.high
    assert missed <= 0.09 * tries
