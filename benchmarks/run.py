"""Measure, print one table, and write it as JSON: `run.py [--quick] [figures.json]`."""

import json
import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import cold, stats, transaction
from benchmarks.transaction import Figure

HEAD = f"{'operation':<56} {'reference':>12} {'ours':>12} {'ratio':>8}  {'aim':<7} met"


def show(figures: Iterable[Figure]) -> list[dict[str, object]]:
    """Print each figure as it comes; all of them in plain form."""
    print(HEAD)
    rows: list[dict[str, object]] = []
    for one in figures:
        aim = f"{'>=' if one.at_least else '<='} {one.aim:g}"
        met = "yes" if one.met else "no"
        times = f"{one.reference:>12.4g} {one.ours:>12.4g} {one.ratio:>8.2f}"
        print(f"{one.name:<56} {times}  {aim:<7} {met}", flush=True)
        rows.append(
            {"name": one.name, "reference": one.reference, "ours": one.ours, "ratio": one.ratio,
             "aim": aim, "met": one.met}
        )  # fmt: skip
    return rows


def main(words: list[str]) -> None:
    """Measure everything."""
    quick = "--quick" in words
    rows = show(chain(*(part.figures(quick=quick) for part in (cold, transaction, stats))))
    for word in words:
        if not word.startswith("-"):
            Path(word).write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
