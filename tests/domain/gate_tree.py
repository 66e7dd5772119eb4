"""A vault in memory for the tests of the gate, and org.yaml files as long as they get.

tree = MemoryTree({".agents/org/org.yaml": big_org(1).encode()}, links={"skills": ".agents/skills"})
"""

import random
from collections.abc import Mapping
from difflib import unified_diff

from orgvault.domain.roster import Agent, Roster

ORG_PATH = ".agents/org/org.yaml"
BIG_LINES = 2_000
WORDS = (
    "tide harbor gate site build page link review card note plan lead digest fault visitor river "
    "boat bread checks reads writes names counts mends keeps finds asks measures"
)


class MemoryTree:
    """A `Tree` of files and links; folders are there because something stands in them."""

    def __init__(
        self, files: Mapping[str, bytes], links: Mapping[str, str | None] | None = None
    ) -> None:
        self.files = dict(files)
        self.links = dict(links or {})

    def kind(self, path: str, /) -> str:
        if path in self.links:
            return "link"
        if path in self.files:
            return "file"
        below = (*self.files, *self.links)
        return "folder" if any(one.startswith(f"{path}/") for one in below) else ""

    def read(self, path: str, /) -> bytes | None:
        return self.files.get(path)

    def real(self, path: str, /) -> str | None:
        steps = path.split("/")
        for count in range(1, len(steps) + 1):
            head = "/".join(steps[:count])
            if head in self.links:
                leads_to = self.links[head]
                if leads_to is None:
                    return None
                return self.real("/".join([leads_to, *steps[count:]]))
        return path


def make_diff(path: str, old: str, new: str, *, context: int = 3) -> bytes:
    """A unified diff as git writes one, with its marker for a missing last newline."""
    lines = unified_diff(
        _lines(old),
        _lines(new),
        f"a/{path}",
        f"b/{path}",
        n=context,
    )
    marked = (
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    return "".join(marked).encode()


def _lines(text: str) -> list[str]:
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def make_roster(
    knowledge: Mapping[str, object] | None = None,
    protected: tuple[str, ...] = (),
    pages_folder: str = "Org",
    homes: Mapping[str, str] | None = None,
) -> Roster:
    """A roster of `nova` and `atlas` with what each may call its knowledge."""
    known = knowledge or {"nova": [".agents/skills/nova/"]}
    agents = {
        name: Agent(
            id=name,
            name=name.title(),
            block={
                "knowledge": known.get(name, []),
                "home": (homes or {}).get(name, f"{pages_folder}/Home/{name}"),
            },
        )
        for name in ("nova", "atlas")
    }
    return Roster(
        guild="Harbor", owner="sam", operators=(), agents=agents, protected=protected,
        pages_folder=pages_folder,
    )  # fmt: skip


def big_org(seed: int, lines: int = BIG_LINES) -> str:
    """An org.yaml of about so many lines in every style that people write, without a fault.

    The agents are `nova`, `atlas`, `a2`, `a3` …; anchors and aliases stand between them but
    never in their prose.  Replace LF by CR LF for the form that Windows keeps.
    """
    lot = random.Random(seed)  # noqa: S311 - the same file for the same seed
    parts = [_HEAD]
    count, length = 0, _HEAD.count("\n")
    while length < lines:
        name = ("nova", "atlas")[count] if count < len(("nova", "atlas")) else f"a{count}"
        parts.append(_agent(lot, name))
        length += parts[-1].count("\n")
        count += 1
    return "".join(parts)


_HEAD = """\
# yaml-language-server: $schema=org.schema.json
# The roster. Only people edit this file.
version: 1

guild:
  name: Harbor
  about: 'A guild on a tidal river: four boats.'
  description: >-
    We repair boats, bake bread and keep a web site
    that answers the four questions.

owner: sam
operators:
  - {name: sam, role: owner, email: sam@example.org}
  - {name: kim, role: reviewer, email: kim@example.org}
timezone: Europe/Berlin           # for routines
protected: [Areas/Health/]        # added to the list
defaults:
  max_tool_calls: 40
  memory: &memory
    core_budget_tokens: 1500
    reflect: {model: cheap, min_turns: 2}   # what a run costs

agents:
"""


def _text(lot: random.Random, count: int) -> str:
    return " ".join(lot.choice(WORDS.split()) for _ in range(count))


def _prose(lot: random.Random, key: str) -> str:
    form = lot.randrange(7)
    if form == 0:
        return f"    {key}: {_text(lot, 8)}\n"
    if form == 1:
        return f'    {key}: "{_text(lot, 4)}: {_text(lot, 4)}"   # in quotes\n'
    if form == 2:
        return f"    {key}: '{_text(lot, 3)}''s {_text(lot, 3)}'\n"
    if form == 3:
        body = "".join(f"      {_text(lot, 7)}\n" for _ in range(3))
        return f"    {key}: >-\n{body}"
    if form == 4:
        body = "".join(f"      {_text(lot, 7)}.\n" for _ in range(3))
        return f"    {key}: |\n{body}\n    # what stands above is kept line by line\n"
    if form == 5:
        return f"    {key}: {_text(lot, 6)}\n      {_text(lot, 6)}\n      {_text(lot, 4)}\n"
    return f"    {key}:\n      {_text(lot, 9)}\n"


def _principles(lot: random.Random) -> str:
    form = lot.randrange(4)
    if form == 0:
        items = ", ".join(_text(lot, 4) for _ in range(3))
        return f"    principles: [{items}]  # a short list\n"
    if form == 1:
        items = "".join(f"      - {_text(lot, 6)}.   # why\n" for _ in range(3))
        return f"    principles:\n{items}    # after the list\n"
    if form == 2:
        items = "".join(f'    - "{_text(lot, 6)}."\n' for _ in range(3))
        return f"    principles:   # in quotes, not indented\n{items}"
    return f"    principles: [\"{_text(lot, 5)}\",\n      '{_text(lot, 5)}']\n"


def _agent(lot: random.Random, name: str) -> str:
    keys = ["personality", "goal", "perspective", "style", "voice"]
    kept = [key for key in keys if lot.random() < 0.8]
    prose = "".join(_prose(lot, key) for key in kept)
    memory = "*memory" if lot.random() < 0.3 else "{core_budget_tokens: 2000}"
    return f"""\
  {name}:
    name: {name.title()}
    focus: {_text(lot, 5)}
    lead: sam                       # an agent or an operator
{prose}{_principles(lot)}    description: {_text(lot, 6)}

    # what it may do
    task: "[[Org/Tasks/{name}]]"
    model: claude-sonnet-4-5
    tools: [Read, Edit, "Bash(git log:*)"]
    permission_mode: default
    wakes_per_day: {lot.randrange(1, 20)}
    capabilities: [notes, memory]
    knowledge: [.agents/skills/{name}/]
    notes:
      read: [Org/Home/{name}/**, Projects/Site.md]
    connectors: [git, calendar]
    secrets:
      - {{name: CALENDAR_TOKEN, description: Read access to the calendar}}
    client:
      command: [claude, -p]
      env: {{LANG: C.UTF-8, NO_COLOR: "1"}}
    memory: {memory}

"""
