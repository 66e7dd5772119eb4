"""Measure, and print one table: `run.py [--quick] [--part NAME] [--json FILE] [--page FILE]`.

`--json` keeps the figures; of the parts that are not measured now, those of last time stay in the
file, so that a part can be measured alone.  `--page` writes what the file then holds as Markdown.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import (
    audit,
    cold,
    compose,
    embeds,
    gate,
    housekeeping,
    memory,
    runs,
    stats,
    transaction,
)
from benchmarks.figure import Figure, figure_of, show
from benchmarks.speed_page import page

# By name: what a part is about, and what measures it.
PARTS: dict[str, tuple[str, Callable[..., Iterator[Figure]]]] = {
    "cold": ("Whole commands", cold.figures),
    "transaction": ("Writing", transaction.figures),
    "housekeeping": ("Years of writing", housekeeping.figures),
    "memory": ("Memory", memory.figures),
    "gate": ("The gate", gate.figures),
    "compose": ("Composing a prompt", compose.figures),
    "embeds": ("Embeds and the names of notes", embeds.figures),
    "runs": ("Stored runs", runs.figures),
    "audit": ("Audit", audit.figures),
    "stats": ("Statistics", stats.figures),
}


def main() -> None:
    """Measure everything, or some parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part")
    parser.add_argument("--json", type=Path, help="keep the figures here")
    parser.add_argument("--page", type=Path, help="write them here as Markdown")
    options = parser.parse_args()
    parts = known(options.json)
    about = machine(quick=options.quick)  # the load before: later it is our own
    for name in options.part or PARTS:
        heading, figures = PARTS[name]
        print(f"\n{heading}")
        found = show(figures(quick=options.quick))
        parts[name] = {"heading": heading, **about, "figures": [one.plain() for one in found]}
        keep(options.json, parts)
    if options.page:
        ordered = [parts[name] for name in PARTS if name in parts]
        text = page([(one, [figure_of(row) for row in one["figures"]]) for one in ordered])
        options.page.write_text(text, encoding="utf-8")


def known(path: Path | None) -> dict[str, dict[str, Any]]:
    """The parts that were measured before."""
    if path is None or not path.exists():
        return {}
    found: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def keep(path: Path | None, parts: dict[str, dict[str, Any]]) -> None:
    """Write the parts, each as soon as it is measured."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(parts, indent=2) + "\n", encoding="utf-8")


def machine(*, quick: bool) -> dict[str, object]:
    """What must be known of the machine to judge a figure, and nothing that names it."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout
    return {
        "date": str(datetime.now(UTC).date()),
        "quick": quick,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "system": f"{platform.system()} on {platform.machine()}",
        "python": platform.python_version(),
        "git": git.split()[2],
    }


if __name__ == "__main__":
    main()
