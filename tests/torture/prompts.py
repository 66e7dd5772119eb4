"""Prompts of hostile sources: tags, Jinja, special tokens, bidi, embeds, in every source at once.

`python -m tests.torture.prompts [COUNT [SEED]]`: Hypothesis makes the sources, in parts with a
seed of their own; the sections of each prompt must stand in order, and no secret in any.  The
smallest failing sources are printed and kept under .torture/prompts/.
"""

import os
import sys
import traceback
from collections.abc import Sequence

from hypothesis import HealthCheck, given, seed, settings

from tests.domain.test_composing_hostile import hostile, stands_in_order
from tests.torture.scene import in_parts

DEFAULTS = ("50000", "19")
PART = 2500


def part(count: int, number: int) -> str:
    """So many prompts; the traceback of the smallest bad one."""
    os.environ.pop("CI", None)
    told = settings(
        max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    try:
        seed(number)(told(given(hostile())(stands_in_order)))()
    except Exception:  # noqa: BLE001 - whatever it is, the other parts go on
        return traceback.format_exc()
    return ""


def main(words: Sequence[str]) -> int:
    """Compose them all; 1 when one was wrong."""
    count, number = map(int, words)
    return in_parts("prompts", part, count, PART, number)


if __name__ == "__main__":
    sys.exit(main([*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]))
