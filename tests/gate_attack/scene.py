"""The vaults that are attacked: org.yaml in every style that people write, skills, other files.

All of it follows from one `Random`; the agent that asks is `nova`.
"""

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random

from orgvault.domain.roster import Agent, Roster
from tests.domain.gate_tree import MemoryTree, big_org

ORG = ".agents/org/org.yaml"
AGENT = "nova"
SKILLS = ".agents/skills/nova"
WORDS = [
    "tide",
    "harbor",
    "gate",
    "site",
    "build",
    "page",
    "list",
    "review",
    "card",
    "note",
    "plan",
    "lead",
    "digest",
    "fault",
    "visitor",
    "river",
    "boat",
    "bread",
    "checks",
    "reads",
    "writes",
    "names",
    "counts",
    "mends",
    "keeps",
    "finds",
    "asks",
    "measures",
    "before",
    "after",
    "every",
    "one",
    "with",
    "care",
    "and",
    "then",
    "café",
    "naïve",
    "Grüße",
    "“quoted”",
    "–",
    "100%",
    "don't",
    "it's",
    "9",
    "o'clock",
]
TEXT_KEYS = ("personality", "goal", "perspective", "style", "voice", "description")
STYLES = (
    "plain", "single", "double", "plain-long", "double-long", "single-long", "below",
    "|", "|-", "|+", ">", ">-", ">+", "|2", ">2-", "| # kept",
)  # fmt: skip
LIST_STYLES = ("block", "flush", "block-double", "block-single", "flow", "flow-long", "mixed")


def words(lot: Random, least: int = 2, most: int = 12) -> str:
    """Plain words that start with a letter: safe in every style but for their quotes."""
    chosen = [lot.choice(WORDS) for _ in range(lot.randint(least, most))]
    return f"{lot.choice(WORDS[:30]).capitalize()} {' '.join(chosen)}"


def quoted(style: str, text: str) -> str:
    """A text between quotes of that style; in no style as it stands."""
    if style == "single":
        return "'" + text.replace("'", "''") + "'"
    if style == "double":
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return text


def shown(key: str, value: str, style: str, comment: str = "") -> str:
    """The lines of a text in a block whose keys stand four blanks in."""
    tail = f"   # {comment}" if comment else ""
    name, _, kind = style.partition("-")
    if style in {"plain", "single", "double"}:
        return f"    {key}: {quoted(style, value)}{tail}\n"
    if style == "below":
        return f"    {key}:\n      {value}\n"
    lines = textwrap.wrap(value, 34, break_on_hyphens=False) or [value]
    if kind == "long":
        first, *rest = quoted(name, value).split(" ") if len(lines) == 1 else _wrapped(name, value)
        return f"    {key}: {first}\n" + "".join(f"      {one}\n" for one in rest)
    return f"    {key}: {style}\n" + "".join(f"      {one}\n" for one in lines)


def _wrapped(style: str, value: str) -> list[str]:
    return textwrap.wrap(quoted(style, value), 34, break_on_hyphens=False)


def shown_list(items: tuple[str, ...], style: str, comment: str = "") -> str:
    """The lines of `principles`."""
    tail = f"   # {comment}" if comment else ""
    if not items:
        return f"    principles: []{tail}\n"
    if style.startswith("flow"):
        inner = [quoted("double", one) for one in items]
        joined = (",\n      " if style == "flow-long" else ", ").join(inner)
        return f"    principles: [{joined}]{tail}\n"
    lead = "    - " if style == "flush" else "      - "
    forms = {"block-double": ("double",), "block-single": ("single",), "mixed": ("", "double")}
    form = forms.get(style, ("",))
    lines = [
        f"{lead}{quoted(form[at % len(form)], one)}{tail if at % 2 else ''}\n"
        for at, one in enumerate(items)
    ]
    return f"    principles:{tail}\n" + "".join(lines)


@dataclass(frozen=True)
class Entry:
    """A key of an agent's block, with the lines that show it; no key: a comment or a blank."""

    key: str
    text: str
    value: tuple[str, ...] = ()
    style: str = ""
    comment: str = ""

    def saying(self, *value: str) -> "Entry":
        """The same key in the same style with another value."""
        if self.key == "principles":
            return replace(self, value=value, text=shown_list(value, self.style, self.comment))
        text = shown(self.key, value[0], self.style, self.comment)
        return replace(self, value=value, text=text)


@dataclass(frozen=True)
class Scene:
    """One vault: the parts of its org.yaml, its other files and links, and how its lines end."""

    head: str
    blocks: Mapping[str, tuple[Entry, ...]]
    tail: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str | None] = field(default_factory=dict)
    ends: str = "\n"
    is_closed: bool = True
    knowledge: tuple[str, ...] = (f"{SKILLS}/",)

    def org(self) -> str:
        """The text of org.yaml, with LF."""
        blocks = (
            f"  {name}:\n" + "".join(one.text for one in block)
            for name, block in self.blocks.items()
        )
        return self.head + "".join(blocks) + self.tail

    def entry(self, key: str, agent: str = AGENT) -> Entry | None:
        """The entry of a key in an agent's block."""
        return next((one for one in self.blocks[agent] if one.key == key), None)

    def prose(self) -> list[Entry]:
        """The entries of the asking agent that a proposal may change."""
        return [one for one in self.blocks[AGENT] if one.key in (*TEXT_KEYS, "principles")]

    def with_block(self, block: tuple[Entry, ...], agent: str = AGENT) -> "Scene":
        """The same vault with another block of an agent."""
        return replace(self, blocks={**self.blocks, agent: block})

    def swapped(self, key: str, new: Entry | str, agent: str = AGENT) -> "Scene":
        """The same vault with an entry, or its text, in the place of the one of that key."""
        block = tuple(
            (new if isinstance(new, Entry) else replace(one, text=new)) if one.key == key else one
            for one in self.blocks[agent]
        )
        return self.with_block(block, agent)

    def grown(self, lot: Random, new: Entry | str, agent: str = AGENT) -> "Scene":
        """The same vault with an entry more, somewhere below the first key of the block."""
        entry = new if isinstance(new, Entry) else Entry("", new)
        block = list(self.blocks[agent])
        keys = [at for at, one in enumerate(block) if one.key]
        block.insert(lot.choice(keys) + 1, entry)
        return self.with_block(tuple(block), agent)

    def without(self, key: str, agent: str = AGENT) -> "Scene":
        """The same vault without that key."""
        return self.with_block(tuple(one for one in self.blocks[agent] if one.key != key), agent)

    def written(self, text: str) -> bytes:
        """A text as the vault's files hold it: their line ends, and their last one."""
        if not self.is_closed:
            text = text.rstrip("\n")
        return text.replace("\n", self.ends).encode("utf-8", "surrogateescape")

    def contents(self, org: str | None = None) -> dict[str, bytes]:
        """Every file by its path."""
        rest = {path: self.written(text) for path, text in self.files.items()}
        return {ORG: self.written(self.org() if org is None else org), **rest}


def make_roster(knowledge: tuple[str, ...]) -> Roster:
    """The roster that goes with every scene."""
    known = {"nova": list(knowledge), "atlas": [".agents/skills/atlas/"], "kit": []}
    agents = {
        name: Agent(
            id=name,
            name=name.title(),
            block={"knowledge": places, "home": f"Org/Home/{name}"},
        )
        for name, places in known.items()
    }
    return Roster(
        guild="Harbor", owner="sam", operators=(), agents=agents, protected=("Areas/Health/",)
    )


def make_tree(files: Mapping[str, bytes], links: Mapping[str, str | None]) -> MemoryTree:
    """The tree that the gate looks at."""
    return MemoryTree(files, links)


LINKS = {"Org/skills": SKILLS, f"{SKILLS}/linked.md": "Projects/Site.md"}
HEADS = (
    (
        "# The roster. Only people edit it.\nversion: 1\n\nguild:\n  name: Harbor\n"
        "  about: 'A guild: four boats'\n\nowner: sam   # a person\noperators:\n"
        "  - {name: sam, role: owner}\nprotected: [Areas/Health/]\ndefaults:\n  max_tool_calls: 4\n"
        "  memory: &memory\n    core_budget_tokens: 1500   # what a run costs\n\nagents:\n"
    ),
    "version: 1\nguild: {name: Harbor, description: Boats and bread}\nowner: sam\nagents:\n",
    (
        "version: 1\nguild:\n  name: Harbor\n  description: >-\n    We mend boats\n    and bake.\n"
        "owner: sam\n# below: the agents\nagents:\n"
    ),
)
RIGHTS: Mapping[str, tuple[str, ...]] = {
    "tools": (
        "    tools: [Read, Edit]\n",
        "    tools:\n      - Read\n      - 'Bash(git log:*)'   # nothing else\n",
        '    tools: ["Read", Grep]   # few\n',
    ),
    "permission_mode": ("    permission_mode: default\n", '    permission_mode: "plan"\n'),
    "model": ("    model: claude-sonnet-4-5\n", "    model: 'gpt-5-codex'   # cheap\n"),
    "wakes_per_day": ("    wakes_per_day: 8\n", "    wakes_per_day: 0x10\n"),
    "capabilities": ("    capabilities: [notes, memory]\n", "    capabilities:\n    - notes\n"),
    "knowledge": (
        "    knowledge: [.agents/skills/nova/]\n",
        "    knowledge:\n      - .agents/skills/nova/\n",
    ),
    "memory": (
        "    memory: {core_budget_tokens: 2000}\n",
        "    memory:\n      self_improvement:\n        repeat_threshold: 2   # least\n",
    ),
    "secrets": (
        "    secrets:\n      - {name: CALENDAR_TOKEN, description: Read access}\n",
        "    secrets:\n    - name: SITE_KEY\n      description: May publish\n",
    ),
    "connectors": ("    connectors: [git, calendar]\n", "    connectors: []\n"),
    "lead": ("    lead: sam   # a person\n", "    lead: atlas\n"),
}
OTHERS = (
    ("client", "    client:\n      command: [claude, -p]\n      env: {LANG: C.UTF-8}\n"),
    ("notes", "    notes:\n      read: [Org/Home/nova/**]\n"),
    ("task", '    task: "[[Org/Tasks/nova]]"\n'),
    ("", "    # what it may do\n"),
    ("", "\n"),
    ("listen", "    listen: true\n"),
)


def make_scene(lot: Random, wanted: Callable[["Scene"], bool] | None = None) -> Scene:
    """A vault; with `wanted`, one of those that it holds for."""
    while True:
        scene = _scene(lot)
        if wanted is None or wanted(scene):
            return scene


def _scene(lot: Random) -> Scene:
    if lot.random() < 0.004:
        return _long_scene(lot)
    names = [AGENT, "atlas", *(["kit"] if lot.random() < 0.3 else [])]
    lot.shuffle(names)
    head = lot.choice(HEADS)
    blocks = {name: _block(lot, name) for name in names}
    tail = lot.choice(
        ["", "", "\n# the end\n", "group: {router: recent}\n", "ledger:\n  margin: 0.1\n"]
    )
    return Scene(
        head,
        blocks,
        tail,
        files=make_skills(lot),
        links=LINKS,
        ends="\r\n" if lot.random() < 0.12 else "\n",
        is_closed=lot.random() < 0.9,
    )


def _long_scene(lot: Random) -> Scene:
    """Two thousand lines, with the asking agent somewhere among them."""
    text = big_org(lot.randrange(1_000_000))
    head, _, rest = text.partition("  nova:\n")
    _, _, tail = rest.partition("  atlas:\n")
    blocks = {AGENT: _block(lot, AGENT), "atlas": _block(lot, "atlas")}
    below = tail[tail.index("\n  a2:\n") + 1 :]
    return Scene(head, blocks, below, files=make_skills(lot), links=LINKS)


def _block(lot: Random, name: str) -> tuple[Entry, ...]:
    rights = [key for key in RIGHTS if lot.random() < 0.75]
    parts = [[Entry(key, lot.choice(RIGHTS[key]))] for key in rights]
    parts += [[Entry(key, text)] for key, text in OTHERS if lot.random() < 0.5]
    lot.shuffle(parts)
    keys = [key for key in TEXT_KEYS if lot.random() < 0.75]
    prose = [make_text(lot, key) for key in keys or ["goal"]]
    if lot.random() < 0.75:
        prose.insert(lot.randrange(len(prose) + 1), make_list(lot))
    at = lot.randrange(len(parts) + 1)
    body = [one for part in parts[:at] for one in part]
    body += prose + [one for part in parts[at:] for one in part]
    first = [Entry("id", f"    id: {name}\n")] if lot.random() < 0.2 else []
    return (*first, Entry("name", f"    name: {name.title()}\n"), *body)


def make_text(lot: Random, key: str, style: str = "") -> Entry:
    """A prose key in some style."""
    style = style or lot.choice(STYLES)
    value = words(lot, 2, 16)
    takes_comment = style in {"plain", "single", "double"} and lot.random() < 0.3
    comment = "said in spring" if takes_comment else ""
    return Entry(key, shown(key, value, style, comment), (value,), style, comment)


def make_list(lot: Random, style: str = "") -> Entry:
    """`principles` in some style."""
    style = style or lot.choice(LIST_STYLES)
    items = tuple(words(lot, 2, 6) for _ in range(lot.randint(1, 4)))
    comment = "why" if lot.random() < 0.25 else ""
    return Entry("principles", shown_list(items, style, comment), items, style, comment)


def make_skills(lot: Random) -> dict[str, str]:
    """Skills of two agents, and files that no agent may touch."""
    body = "".join(f"{at}. {words(lot, 4, 9)}.\n" for at in range(1, lot.randint(4, 9)))
    extra = lot.choice(
        ["", "\nSee [[look-around]] and [the list](look-around.md).\n", "\n```sh\nmake\n```\n"]
    )
    about = lot.choice(
        ["Build the site", "'Build: the site'", '"Build it"', ">-\n  Build the\n  site"]
    )
    first = f"---\nname: build\ndescription: {about}\nallowed-tools: [Read, Bash]\n---\n"
    return {
        f"{SKILLS}/build.md": f"{first}# Build\n\n{body}{extra}\nIf it stops, read the last.\n",
        f"{SKILLS}/look-around.md": f"# Look around\n\n{body}",
        f"{SKILLS}/deep/Über uns.md": f"# Über uns\n\n{body}\n- one\n- two\n",
        ".agents/skills/atlas/plan.md": f"# Plan\n\n{body}",
        "Projects/Site.md": f"# Site\n\n{body}",
        "AGENTS.md": f"# Rules\n\n{body}",
        f"{SKILLS}/CLAUDE.md": f"# Rules\n\n{body}",
        ".claude/settings.md": f"# Settings\n\n{body}",
        ".agents/guard.md": f"# Guard\n\n{body}",
        ".agents/hooks/pre.md": f"# Hook\n\n{body}",
        ".agents/org/memory/nova.md": f"# Notebook\n\n{body}",
        ".agents/org/org-agents.json": '{"agents": {"nova": {}}}\n',
        "Areas/Health/me.md": f"# Me\n\n{body}",
        "Areas/Finance/bank.md": f"# Bank\n\n{body}",
        "CURRENT/now.md": f"# Now\n\n{body}",
        ".git/config": f"[core]\n{body}",
        ".env.md": f"A=1\n{body}",
        ".github/ci.md": f"# CI\n\n{body}",
        ".obsidian/app.md": f"# App\n\n{body}",
    }
