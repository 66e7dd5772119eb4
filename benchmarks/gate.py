"""How fast the gate refuses: `gate.py`.

The vault's org.yaml has 2,000 lines, and the diff touches what no proposal may.  The reference is
one parse of that file by ruamel's C loader, which says nothing about what changed.
"""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ruamel.yaml import YAML

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.figure import Figure, in_turns, show
from orgvault.domain.gate import judge
from orgvault.domain.proposal import Accepted, Refusal
from tests.domain.gate_tree import ORG_PATH, MemoryTree, big_org, make_diff, make_roster

TURNS = 15
FORBIDDEN = {
    "a forbidden key": ("    lead: sam", "    tools: [Bash]\n    lead: sam"),
    "5,000 lists in each other": ("    lead: sam", f"    goal: {'[' * 5_000}\n    lead: sam"),
    "9,000 keys": ("    lead: sam", f"    goal: {{{'a: b, ' * 9_000}}}\n    lead: sam"),
    "aliases that grow without end": (
        "    lead: sam",
        "    b0: &b0 [x, x]\n"
        + "".join(f"    b{n}: &b{n} [*b{n - 1}, *b{n - 1}]\n" for n in range(1, 36))
        + "    lead: sam",
    ),
    "a comment": ("# what it may do", "# what it does"),
}


def figures(*, quick: bool = False) -> Iterator[Figure]:
    """Each way to be refused; `quick` takes only the usual one."""
    text = big_org(1)
    for name, (old, new) in list(FORBIDDEN.items())[: 1 if quick else None]:
        diff = make_diff(ORG_PATH, text, text.replace(old, new, 1))
        theirs, ours = in_turns(TURNS, partial(parse, text), partial(refuse, diff, text))
        lines = f"{text.count(chr(10)):,} lines"
        yield Figure(f"the gate refuses {name}, org.yaml of {lines}", theirs, ours, 3.0)


def parse(text: str) -> None:
    """One C parse."""
    YAML(typ="safe").load(text)


def refuse(diff: bytes, text: str) -> None:
    """Judge a diff that is to be refused."""
    tree = MemoryTree({ORG_PATH: text.encode()})
    found: Accepted | Refusal = judge(diff, agent="nova", roster=make_roster(), tree=tree)
    if not isinstance(found, Refusal):
        raise TypeError(found)


if __name__ == "__main__":
    show(figures(quick="--quick" in sys.argv))
