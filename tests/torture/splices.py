"""Random edits in a row on a long org.yaml of every style.

`python -m tests.torture.splices [N [SEED]]`.  Each is spliced in, read again, diffed, and judged by
the gate: nothing but the lines of that value may differ.  Prints what was done; ends with a
traceback at the first wrong file.
"""

import sys
import time
from collections import Counter
from random import Random
from typing import NamedTuple

from orgvault.domain.gate import judge
from orgvault.domain.org import FILE
from orgvault.domain.patch import unified
from orgvault.domain.proposal import LIST, PROSE, Refusal
from orgvault.domain.roster import Agent, Roster
from orgvault.domain.splice import Unspliced, prose, swapped, with_value
from orgvault.domain.yaml_tree import compose
from tests.domain.gate_tree import MemoryTree

DEFAULTS = ("800", "21")
AGENTS = 100  # some 2,000 lines
WORDS = [
    "careful", "dry", "curious", "slow", "before", "every", "build", "I", "check", "the", "feed:",
    "twice,", "it's", "no", "“joke”", "#1", "note", "-", "done", "&", "dusted", "50%", "yes", "no",
    "null", "café", "安装", "依赖", "don't", "say", '"so"', "a\\b", "{x}", "[y]", "*bold*", "9:30",
]  # fmt: skip
BLOCKS = ("|", "|-", "|+", ">", ">-", ">+", "|2-", ">1")
PLAIN = ("", "'", '"')


def words(chance: Random, least: int = 2, most: int = 30) -> str:
    """Some words; plain ones more often than others."""
    plain = WORDS[:8]
    return " ".join(
        chance.choice(plain if chance.random() < 0.8 else WORDS)
        for _ in range(chance.randint(least, most))
    )


def big_org(seed: int, agents: int) -> str:
    """An org.yaml with that many agents whose prose is written in every style that YAML has."""
    chance = Random(seed)  # noqa: S311 - the same for the same seed
    text = (
        "# The roster\nversion: 1\nguild: {name: Harbor}\nowner: sam\n"
        "defaults:\n  memory: &usual {core_budget_tokens: 1500}\nagents:\n"
        "  kim: {memory: *usual, tools: [Read]}\n"
    )
    for number in range(agents):
        text += _agent(chance, f"agent-{number}")
    if compose(text, "").problems:
        raise AssertionError(compose(text, "").problems[0])
    return text.replace("\n", "\r\n") if chance.random() < 0.3 else text


def _agent(chance: Random, name: str) -> str:
    keys = [key for key in PROSE if chance.random() < 0.8]
    chance.shuffle(keys)
    if chance.random() < 0.1:
        inner = ", ".join(f"{key}: {_flow(chance, key)}" for key in keys)
        return f"  {name}: {{tools: [Read], {inner}}}   # short\n"
    lines = [f"  {name}:   # an agent\n", "    name: One\n", "    tools: [Read, Edit]  # both\n"]
    for key in keys:
        lines.append("    # about it\n" * (chance.random() < 0.2))
        lines.append(_list(chance) if key == LIST else _value(chance, key))
        lines.append("\n" * (chance.random() < 0.2))
    return "".join(lines) + "    wakes_per_day: 3\n"


def _value(chance: Random, key: str) -> str:
    style = chance.choice((*BLOCKS, *PLAIN, *PLAIN, "many", "none"))
    comment = chance.choice(("", "", "   # said once"))
    if style == "none":
        return f"    {key}:{comment}\n"
    if style == "many":
        first, second = _quote(chance, "\n"), "\n      "
        return f"    {key}: {first.replace('@', second)}{comment}\n"
    if style in PLAIN:
        return f"    {key}: {_quote(chance, style)}{comment}\n"
    indent = "      " if "1" not in style else "     "
    body: list[str] = []
    for _ in range(chance.randint(1, 6)):
        body.append(indent + chance.choice(("", "", "", " ")) * bool(body) + words(chance, 2, 16))
        body += [""] * (chance.random() < 0.2)
    rest = "\n".join(body)
    return f"    {key}: {style}{comment}\n{rest}\n"


def _quote(chance: Random, style: str) -> str:
    said = words(chance)
    if style == "'":
        return "'" + said.replace("'", "''") + "'"
    if style == '"':
        return '"' + said.replace("\\", "\\\\").replace('"', '\\"') + '"'
    plain = " ".join(one for one in said.split(" ") if one.isalpha()) or "words"
    half = len(plain) // 2
    return f"I {plain[:half].strip()}@{plain[half:].strip()}x" if style == "\n" else f"I {plain}"


def _flow(chance: Random, key: str) -> str:
    if key == LIST:
        return "[" + ", ".join(_quote(chance, chance.choice(("'", '"'))) for _ in range(2)) + "]"
    return _quote(chance, chance.choice(PLAIN))


def _list(chance: Random) -> str:
    kind = chance.choice(("block", "block", "zero", "flow", "lines", "empty", "none"))
    if kind in {"empty", "none"}:
        return f"    principles:{' []' * (kind == 'empty')}   # none yet\n"
    items = [_quote(chance, chance.choice(PLAIN)) for _ in range(chance.randint(1, 4))]
    if kind == "flow":
        return f"    principles: [{', '.join(items)}]  # few\n"
    if kind == "lines":
        return "    principles: [\n      " + ",\n      ".join(items) + "\n    ]\n"
    lead = "    " if kind == "zero" else "      "
    said = [f"{lead}- {one}{chance.choice(('', '  # so'))}\n" for one in items]
    if chance.random() < 0.3:
        first, second = words(chance, 3, 9), words(chance, 3, 9)
        said.append(f"{lead}- >-\n{lead}    {first}\n{lead}    {second}\n")
    if chance.random() < 0.3:
        said.insert(1, f"{lead}# and also\n")
    return "    principles:\n" + "".join(said)


class Edit(NamedTuple):
    """A random edit: whose, which value, and what it becomes."""

    agent: str
    key: str
    wanted: tuple[str, ...]


def random_edit(chance: Random, text: str, agents: int) -> Edit | None:
    """A change as a model might ask for it, or of the whole value."""
    agent = f"agent-{chance.randrange(agents)}"
    values = prose(text, agent)
    if isinstance(values, Unspliced):
        raise AssertionError(agent, values)  # noqa: TRY004 - it is a finding
    key = chance.choice(PROSE)
    old = values.get(key, ())
    kind = chance.random()
    if old and kind < 0.6:
        item = chance.choice(old)
        start = chance.randrange(len(item))
        find = item[start : start + chance.randint(1, 40)]
        asked = swapped(values, key, find, words(chance, 1, 12))
        return None if isinstance(asked, Unspliced) else Edit(agent, *asked)
    if key == LIST:
        made = list(old)
        if made and kind < 0.75:
            made.pop(chance.randrange(len(made)))
        else:
            made.insert(chance.randint(0, len(made)), words(chance))
        return Edit(agent, key, tuple(made))
    return Edit(agent, key, (words(chance),))


def check(before: str, after: str, edit: Edit) -> int:
    """How many lines the diff has; AssertionError when anything but that value differs."""
    old, new = compose(before, ""), compose(after, "")
    if new.problems:
        raise AssertionError(edit, new.problems)
    values = prose(after, edit.agent)
    got = () if isinstance(values, Unspliced) else values.get(edit.key, ())
    if got != edit.wanted:
        raise AssertionError(edit, got)
    agents_old, agents_new = old.value["agents"], new.value["agents"]  # type: ignore[index]
    agents_old[edit.agent].pop(edit.key, None)
    agents_new[edit.agent].pop(edit.key, None)
    if old.value != new.value:
        raise AssertionError(edit)
    if ("\r\n" in before) and "\n" in after.replace("\r\n", ""):
        raise AssertionError(edit, "line ends")
    diff = unified("org.yaml", before.encode(), after.encode()).decode()
    changed = [line for line in diff.splitlines()[3:] if line[:1] in "+-"]
    place = old.line_of(("agents", edit.agent)), diff.split("@@")[1]
    if diff.count("@@") != 2 and edit.key != LIST:
        raise AssertionError(edit, place, diff)
    gone = [line for line in changed if "#" in line and line[0] == "-"]
    kept = "\n".join(line for line in changed if line[0] == "+")
    for line in gone:
        comment = line[line.rfind("   #") :] if "   #" in line else ""
        if comment.strip() in {"# said once", "# an agent", "# short"} and comment not in kept:
            raise AssertionError(edit, line, diff)
    return len(changed)


def judged(before: str, after: str, edit: Edit) -> str:
    """Why the gate refuses an edit; empty when it takes it for exactly that edit."""
    one = Agent(id=edit.agent, name=edit.agent)
    roster = Roster(guild="", owner="sam", operators=(), agents={one.id: one}, protected=())
    diff = unified(FILE, before.encode(), after.encode())
    told = judge(diff, agent=edit.agent, roster=roster, tree=MemoryTree({FILE: before.encode()}))
    if isinstance(told, Refusal):
        return told.why
    if told.new != after.encode():
        raise AssertionError(edit, "the gate sees another file")
    if [(each.key, each.after) for each in told.edits] != [(edit.key, edit.wanted)]:
        raise AssertionError(edit, told.edits)
    return ""


def run(count: int, seed: int, agents: int = AGENTS) -> Counter[str]:
    """That many edits in a row; what became of them."""
    chance, text = Random(seed), big_org(seed, agents)  # noqa: S311
    done: Counter[str] = Counter()
    while done["edits"] < count:
        edit = random_edit(chance, text, agents)
        if edit is None:
            continue
        began = time.perf_counter()
        new = with_value(text, edit.agent, edit.key, edit.wanted)
        done["ms"] += int(1000 * (time.perf_counter() - began))
        if isinstance(new, Unspliced):
            done["refused"] += 1
            done[f"refused: {new.why}"] += 1
            continue
        done["lines"] += check(text, new, edit)
        why = judged(text, new, edit)
        if why:
            done["refused by the gate"] += 1
            done[f"by the gate: {why}"] += 1
            continue
        done["edits"] += 1
        text = new
    return done


if __name__ == "__main__":
    given = [*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]
    for what, number in sorted(run(int(given[0]), int(given[1])).items()):
        print(f"{number:8} {what}")
