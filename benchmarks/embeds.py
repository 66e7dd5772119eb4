"""How fast embeds are expanded, and the names of a vault known: `embeds.py [--quick]`.

Each figure is that of whole processes, in turns, beside its reference in the same run.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.figure import Figure, seconds, show
from tests.vaults import Home, make_vault

TURNS = 15
TASK = "Org/Tasks/nova.md"
PARAGRAPH = "Some words of a [[note {0}]] about the site, *as people write* them ([more](x.md)).\n"
NOTE = (
    "---\ntags: [site]\n---\n# Note {0}\n\n"
    + PARAGRAPH * 6
    + "\n## Open\n\n- one\n- two ^id{0}\n\n"
)
INTRICATE = "Costs <b>nothing</b>: ![[note 900]]\n"
START = "from orgvault.store.vault import Vault; import click; v = Vault.find('.'); "
# As every command that will write does first.
ASK = "v.repository.ask_settings(); "
READ = START + ASK + "v.repository.settings; [open(p, 'rb').read().decode() for p in sys.argv[1:]]"
EXPAND = (
    START
    + ASK
    + (
        "from orgvault.domain.embeds import expand; "
        "from orgvault.store.note_index import NoteIndex; "
        "from orgvault.store.note_reader import NoteReader; "
        "t = open(sys.argv[1]).read(); "
        "d = expand(t, sys.argv[1], NoteIndex(v.place), NoteReader(v.place), lambda p: ''); "
        "assert len(d.embeds) == int(sys.argv[2]) and not d.markers, d"
    )
)
KNOW = START + (
    "from orgvault.store.note_index import NoteIndex; assert NoteIndex(v.place).named('note 7.md')"
)
WALK = START + "sum(len(f) for _, _, f in os.walk('.'))"


@contextmanager
def vault_of(notes: int) -> Iterator[Home]:
    """A vault of so many notes in folders of a hundred, two seconds old."""
    with tempfile.TemporaryDirectory(prefix="orgvault-bench-") as folder:
        home = make_vault(Path(folder) / "v")
        for number in range(notes):
            place = home.root / f"area {number // 1000}/topic {number // 100}"
            place.mkdir(parents=True, exist_ok=True)
            (place / f"note {number}.md").write_text(NOTE.format(number))
        time.sleep(2.1)
        yield home


def process(home: Home, script: str, *words: str) -> float:
    """Seconds that a script takes in the vault, start and end included."""
    python = [sys.executable, "-c", f"import sys, os; {script}", *words]
    root = str(Path(__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": root}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return seconds(partial(subprocess.run, python, cwd=home.root, env=environment, check=True))


def in_turns(home: Home, *scripts: tuple[str, ...]) -> list[float]:
    """The median of each script, measured one after the other."""
    for script in scripts:
        process(home, *script)
    times = [[process(home, *script) for script in scripts] for _ in range(TURNS)]
    return [median(column) for column in zip(*times, strict=True)]


def expanding(home: Home) -> Iterator[Figure]:
    """Twelve embeds against reading the thirteen notes, both with the start of a command."""
    numbers = [n * 811 for n in range(12)]
    links = [f"note {n}" for n in numbers]
    links[3] += "#Open"
    links[7] += "#Open"
    home.write(TASK, "Keep the site well.\n\n" + "".join(f"- ![[{one}]]\n" for one in links))
    paths = [f"area {n // 1000}/topic {n // 100}/note {n}.md" for n in numbers]
    for name, parsed in (
        ("12 embeds, 10,000 notes", False),
        ("the same, one read by the parser", True),
    ):
        if parsed:
            (home.root / paths[0]).write_text(NOTE.format(0) + INTRICATE)
            time.sleep(2.1)
        count = str(12 + parsed)
        read, ours = in_turns(home, (READ, TASK, *paths), (EXPAND, TASK, count))
        yield Figure(f"{name}, against reading the 13 notes", read, ours)


def knowing(home: Home) -> Iterator[Figure]:
    """The names of 50,000 notes: from the kept index, and made anew, against walking the vault."""
    walk, ours = in_turns(home, (WALK,), (KNOW,))
    yield Figure("names of 50,000 notes, kept, against a walk", walk, ours)

    kept = home.git_dir / "orgvault/notes"
    anew = []
    for _ in range(TURNS):
        shutil.rmtree(kept, ignore_errors=True)
        anew.append(process(home, KNOW))
    yield Figure("names of 50,000 notes, made anew, against a walk", walk, median(anew))


def figures(*, quick: bool = False) -> Iterator[Figure]:
    """All figures; `quick` leaves the large vault out."""
    with vault_of(10_000) as home:
        yield from expanding(home)
    if not quick:
        with vault_of(50_000) as home:
            yield from knowing(home)


if __name__ == "__main__":
    show(figures(quick="--quick" in sys.argv))
