"""How fast a large memory is searched, rendered and checked: `memory.py [--quick]`.

Every figure but one is of whole processes, in turns, beside its reference in the same run.
"""

import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.cold import ORGVAULT, command, environment
from benchmarks.figure import Figure, in_turns, show
from benchmarks.transaction import WORDS
from orgvault.domain.claim import ClaimKind, new_claim
from orgvault.domain.claim_file import write_claim
from orgvault.domain.ids import derived_id
from tests.vaults import AT, Home, make_vault

CLAIMS = 1_000
SECTIONS = 500
TURNS = 15
LATER = "2026-11-21T09:14:03Z"
FOLDER = ".agents/org/memory/nova/claims"
CLICK_AND_SQLITE = (sys.executable, "-c", "import click, sqlite3")
PARSE = """\
import os, sys
from ruamel.yaml import YAML
loader = YAML(typ="safe")
for one in os.scandir(sys.argv[1]):
    with open(one.path, encoding="utf-8") as file:
        loader.load(file.read())
"""
ENCODE = """\
import sys
from orgvault.adapters.tokens import TokenCounter
counter = TokenCounter({})
counter.count(sys.argv[1])
assert counter.name == "cl100k_base"
"""
RENDER = """\
import sys
from orgvault.cli.main import main
assert main(["memory", "render", "nova"]) == 0
print(sum(name.partition(".")[0].startswith("tiktoken") for name in sys.modules))
"""
ORG = """\
version: 1
guild: {name: Harbor}
owner: sam
operators: [{name: sam, role: owner}]
agents:
  nova:
    memory: {core_budget_tokens: 4000}
"""


@contextmanager
def vault_of(claims: int) -> Iterator[Home]:
    """A vault whose agent has so many claims, and the largest core memory that may be asked for."""
    chance = random.Random(1)  # noqa: S311 - the same words each time
    with tempfile.TemporaryDirectory(prefix="orgvault-bench-") as folder:
        home = make_vault(Path(folder) / "v")
        command(home, ORGVAULT, "init", "--quiet")
        home.write(".agents/org/org.yaml", ORG)
        command(home, ORGVAULT, "compile", "--quiet")
        for number in range(claims):
            words = f"{' '.join(chance.choices(WORDS, k=14))} in case {number}."
            put(home, derived_id("c", str(number))[:10], words)
        command(home, ORGVAULT, "memory", "render", "nova", "--quiet")
        yield home


def put(home: Home, name: str, words: str, at: str = AT) -> None:
    """Write a claim, as a hand edit would."""
    claim = new_claim(name, "nova", ClaimKind.LESSON, words, "run-0", at, "reflection")
    home.write(f"{FOLDER}/{name}.yaml", write_claim(claim))


def recalling(home: Home) -> Iterator[Figure]:
    """Recall with an index that is there, against importing what it needs at least."""
    chance = random.Random(2)  # noqa: S311 - the same words each time
    sections = (
        f"## Note {number}\n\n{' '.join(chance.choices(WORDS, k=40))}.\n\n"
        for number in range(SECTIONS)
    )
    home.write(".agents/org/memory/nova.md", "# Notebook\n\n" + "".join(sections))
    ask = partial(command, home, ORGVAULT, "recall", "nova", "links of the feed in case 77")
    ask()
    theirs, ours = in_turns(TURNS, partial(command, home, *CLICK_AND_SQLITE), ask)
    name = f"recall over {CLAIMS:,} claims and {SECTIONS} sections, against importing"
    yield Figure(name, theirs, ours, 2.0)


def rendering(home: Home) -> Iterator[Figure]:
    """core.md after one claim changed: by words that were counted before, and by new ones."""
    name = derived_id("c", "7")[:10]
    known, numbers = "I look at the links before I begin.", count()

    def render(words: str) -> int:
        put(home, name, words, LATER)  # the newest stands first
        return int(output(home, RENDER).split()[-1])

    render(known)
    render("something else")
    cached, new = render(known), render("never said before")
    yield Figure(
        f"core.md of {CLAIMS:,} claims: encoder's modules, counts cached or not", new, cached, 0.0,
        unit="modules",
    )  # fmt: skip
    theirs, ours = in_turns(
        TURNS,
        lambda: output(home, ENCODE, "I look at the tide before I begin."),
        lambda: render(f"I look at the tide before turn {next(numbers)}."),
    )
    yield Figure("the same, one claim new, against encoding that claim", theirs, ours)
    theirs, ours = in_turns(
        TURNS,
        lambda: output(home, ENCODE, "I look at the tide before I begin."),
        lambda: render(known if next(numbers) % 2 else "something else"),
    )
    yield Figure("the same, its count cached, against encoding that claim", theirs, ours)


def checking(claims: int, turns: int) -> Figure:
    """The check of a whole vault, against one C parse of its claims."""
    with vault_of(claims) as home:
        parse = partial(command, home, sys.executable, "-c", PARSE, FOLDER)
        theirs, ours = in_turns(turns, parse, partial(command, home, ORGVAULT, "check"))
    return Figure(f"check of {claims:,} claims, against one C parse of them", theirs, ours, 2.0)


def output(home: Home, script: str, *words: str) -> str:
    """What a script prints in the vault."""
    return subprocess.run(
        [sys.executable, "-c", script, *words], cwd=home.root, env=environment(), check=True,
        capture_output=True, text=True,
    ).stdout  # fmt: skip


def figures(*, quick: bool = False) -> Iterator[Figure]:
    """All figures; `quick` checks fewer claims."""
    with vault_of(CLAIMS) as home:
        yield from recalling(home)
        yield from rendering(home)
    yield checking(1_000 if quick else 10_000, 3)


if __name__ == "__main__":
    show(figures(quick="--quick" in sys.argv))
