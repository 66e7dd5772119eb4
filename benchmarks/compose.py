"""How fast a prompt is composed: `compose.py`.

Each figure is that of whole processes, in turns, beside its reference in the same run: the start of
a command and the plain reading of what is embedded.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.cold import ORGVAULT, command
from benchmarks.embeds import TASK, in_turns, vault_of
from benchmarks.figure import Figure, show
from tests.vaults import Home

# By the number of notes: what is aimed at, where something is.
AIMS = {10_000: 1.5, 50_000: None}
ORG = """\
version: 1
guild: {name: Harbor}
owner: sam
operators: [{name: sam, role: owner}]
agents:
  nova:
    capabilities: [notes, memory, memory_write]
    notes: {read: ["**"]}
"""
START = (
    "from orgvault.cli import main, options, output, wiring; import click; "
    "click.Context(main.cli).__enter__(); d = wiring.desk(writes=True); "
)
READ = START + "d.vault.repository.settings; [open(p, 'rb').read().decode() for p in sys.argv[1:]]"
COMPOSE = START + (
    "from orgvault.services.composing import Origin, prepare; "
    "p = prepare(d, 'nova', Origin(), 'run-00000000', None); "
    "assert len(p.task_source.embeds) == 12 and not p.task_source.markers, p.task_source"
)


def set_up(home: Home) -> None:
    """Make the vault one that prompts can be composed in."""
    command(home, ORGVAULT, "init")
    home.write(".agents/org/org.yaml", ORG)
    command(home, ORGVAULT, "compile", "--quiet")
    home.write(".agents/org/memory/nova.md", "# Notebook\n\nWhat I keep.\n" * 40)


def figures(*, quick: bool = False) -> Iterator[Figure]:
    """A prompt with twelve embeds, in a small vault too when there is time."""
    for notes in [*AIMS][:1] if quick else AIMS:
        with vault_of(notes) as home:
            set_up(home)
            numbers = [n * (notes // 13) for n in range(12)]
            embeds = "".join(f"- ![[note {n}]]\n" for n in numbers)
            home.write(TASK, f"Keep the site well.\n\n{embeds}")
            time.sleep(2.1)
            paths = [f"area {n // 1000}/topic {n // 100}/note {n}.md" for n in numbers]
            read, ours = in_turns(home, (READ, TASK, *paths), (COMPOSE,))
            name = f"compose with 12 embeds, {notes:,} notes"
            yield Figure(f"{name}, against reading the 13", read, ours, AIMS[notes])


if __name__ == "__main__":
    show(figures(quick="--quick" in sys.argv))
