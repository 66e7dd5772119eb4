"""The attacks in order: the number of one and the seed say all of it, on every machine."""

from random import Random

from tests.gate_attack import (
    heavy,
    hostile_diff,
    hostile_keys,
    hostile_skill,
    hostile_values,
    mutation,
)
from tests.gate_attack import honest as well_meant
from tests.gate_attack.attack import Attack

# How many of a hundred come from where.
_SHARES = (
    (17, hostile_keys.PRODUCTIONS),
    (18, hostile_values.PRODUCTIONS),
    (2, heavy.PRODUCTIONS),
    (20, hostile_diff.PRODUCTIONS),
    (14, hostile_skill.PRODUCTIONS),
    (29, mutation.MUTATIONS),
)


def hostile(seed: int | str, number: int) -> Attack:
    """The attack of that number: a production of the grammar, or a mutation."""
    lot = Random(f"hostile/{seed}/{number}")  # noqa: S311 - the same for the same seed
    weights = [share for share, _ in _SHARES]
    productions = lot.choices([made for _, made in _SHARES], weights)[0]
    return lot.choice(productions)(lot)


def honest(seed: int | str, number: int) -> Attack:
    """The well-meant change of that number; each production comes up in turn."""
    lot = Random(f"honest/{seed}/{number}")  # noqa: S311
    return well_meant.PRODUCTIONS[number % len(well_meant.PRODUCTIONS)](lot)
