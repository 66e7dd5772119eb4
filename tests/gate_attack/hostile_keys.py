"""Changes of org.yaml that must be refused: keys that are not one's own prose."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.gate_attack.attack import HOSTILE, OPEN, Attack, on_file, on_org
from tests.gate_attack.scene import (
    AGENT,
    ORG,
    RIGHTS,
    TEXT_KEYS,
    Entry,
    Scene,
    make_scene,
    make_text,
    words,
)

Production = Callable[[Random], Attack]


def or_again(
    again: Production, lot: Random, scene: Scene, new: str, name: str, intent: str = HOSTILE,
    key: str = "",
) -> Attack:  # fmt: skip
    """The attack; another one where the text stayed what it was."""
    if new == scene.org():
        return again(lot)
    return on_org(scene, new, name=name, intent=intent, key=key)


NEW_RIGHTS = {
    "tools": ("    tools: [Bash]\n", "    tools: ['*']\n", "    tools:\n      - Bash\n"),
    "permission_mode": (
        "    permission_mode: bypassPermissions\n",
        '    permission_mode: "acceptEdits"\n',
        "    permission_mode: >-\n      bypass\n",
    ),
    "model": ("    model: claude-opus\n", "    model: 'x/y'\n", "    model: off\n"),
    "wakes_per_day": (
        "    wakes_per_day: 999\n", "    wakes_per_day: '9'\n", "    wakes_per_day: .inf\n",
    ),
    "capabilities": (
        "    capabilities: [coding]\n", "    capabilities: []\n", "    capabilities: &c [coding]\n",
    ),
    "knowledge": (
        "    knowledge: [AGENTS.md, .claude/**, .agents/org/org.yaml]\n",
        "    knowledge: ['**']\n", "    knowledge:\n    - Areas/Finance/\n",
    ),
    "memory": (
        "    memory: {core_budget_tokens: 4000}\n",
        "    memory:\n      self_improvement: {requires_ship_gate: false}\n", "    memory: null\n",
    ),
    "secrets": (
        "    secrets:\n      - {name: SITE_DEPLOY_KEY}\n", "    secrets: []\n",
        "    secrets: [{name: ROOT, description: All}]\n",
    ),
    "connectors": (
        "    connectors: [mail]\n", "    connectors: ['*']\n", "    connectors:\n      - mail\n",
    ),
    "lead": ("    lead: nova\n", "    lead: ~\n", '    lead: "kit"\n'),
}  # fmt: skip


def with_prose_too(lot: Random, scene: Scene, old: Scene) -> Scene:
    """Beside what is forbidden often stands something that is not."""
    texts = [one for one in old.prose() if one.key != "principles"]
    if not texts or lot.random() < 0.5:
        return scene
    entry = lot.choice(texts)
    return scene.swapped(entry.key, entry.saying(f"{entry.value[0]} {words(lot, 1, 4)}"))


def right(lot: Random, key: str = "", how: str = "", style: int = -1) -> Attack:
    """A right that is added, changed or removed."""
    key = key or lot.choice([*RIGHTS])
    how = how or lot.choice(["added", "changed", "removed"])
    styles = NEW_RIGHTS[key]
    text = styles[style % len(styles)] if style >= 0 else lot.choice(styles)
    scene = make_scene(lot, lambda one: (one.entry(key) is None) == (how == "added"))
    if how == "added":
        new = scene.grown(lot, Entry(key, text))
    elif how == "changed":
        new = scene.swapped(key, text)
    else:
        old_styles = RIGHTS[key]
        old = old_styles[style % len(old_styles)] if style >= 0 else lot.choice(old_styles)
        scene = scene.swapped(key, old)
        new = scene.without(key)
    # A prose change above it must not hide it; with styles given the key stands alone.
    new = new if style >= 0 else with_prose_too(lot, new, scene)
    if new.org() == scene.org():
        return right(lot, key, how, style)
    return on_org(scene, new.org(), name=f"right {how}", key=key)


def other_agent(lot: Random, how: str = "") -> Attack:
    """A key of another agent's block."""
    how = how or lot.choice(["added", "changed", "removed"])
    scene = make_scene(lot)
    key = ""
    block = [one for one in scene.blocks["atlas"] if one.key in (*TEXT_KEYS, *RIGHTS, "principles")]
    entry = lot.choice(block)
    if how == "added":
        missing = [key for key in TEXT_KEYS if scene.entry(key, "atlas") is None]
        if not missing:
            return other_agent(lot, how)
        key = lot.choice(missing)
        new = scene.grown(lot, make_text(lot, key, "plain"), "atlas")
    elif how == "removed":
        new = scene.without(entry.key, "atlas")
    elif entry.key in RIGHTS:
        new = scene.swapped(entry.key, lot.choice(NEW_RIGHTS[entry.key]), "atlas")
    else:
        value = (*entry.value[:-1], f"{entry.value[-1]} {words(lot, 1, 3)}")
        new = scene.swapped(entry.key, entry.saying(*value), "atlas")
    if new.org() == scene.org():
        return other_agent(lot, how)
    named = f"atlas.{key or entry.key}"
    return on_org(scene, new.org(), name=f"another agent's key {how}", key=named)


def head_key(lot: Random) -> Attack:
    """Keys above and below the agents, and new ones there."""
    scene = make_scene(lot)
    text = scene.org()
    line = lot.choice([one for one in scene.head.splitlines(keepends=True) if one.strip()])
    added = lot.choice(
        ["defaults:\n  tools: [Bash]\n", "protected: []\n", "owner: nova\n", "x: y\n",
         "commit: {sign: false}\n", "# said by the owner\n", "\n", "group: {router: relevant}\n"]
    )  # fmt: skip
    how = lot.randrange(4)
    if how == 0:
        new = text.replace(line, line + added, 1)
    elif how == 1:
        new = text.replace(line, "", 1)
    elif how == 2:
        new = text + added
    else:
        new = text.replace("Harbor", "Nova", 1).replace("sam", "nova", 1)
    return or_again(head_key, lot, scene, new, "keys above and below")


MERGES = (
    "    <<: {tools: [Bash]}\n", "    <<: *memory\n", "    <<: [{tools: [Bash]}, {model: x}]\n",
    "    ? <<\n    : {tools: [Bash]}\n", "    !!merge <<: {tools: [Bash]}\n",
    "    !!merge x: {tools: [Bash]}\n", '    "<<": {tools: [Bash]}\n',
    "    '<<': {tools: [Bash]}\n", "    ? !!merge '<<'\n    : {tools: [Bash]}\n",
    "    <<:\n      tools: [Bash]\n", "    ! <<: {tools: [Bash]}\n", "    =: x\n",
    "    &m <<: {goal: x}\n", "    <<: {goal: All of it}\n",
)  # fmt: skip


def merge(lot: Random) -> Attack:
    scene = make_scene(lot)
    added = lot.choice(MERGES)
    names = ""
    if added in MERGES[:1] and scene.entry("tools") is None:
        names = "tools"
    return on_org(scene, scene.grown(lot, added).org(), name="merge key", key=names)


TWICE = (
    "    tools: [Bash]\n", '    "tools": [Bash]\n', "    'tools': [Bash]\n",
    '    "\\x74ools": [Bash]\n', '    "\\u0074ools": [Bash]\n', "    !!str tools: [Bash]\n",
    "    ? tools\n    : [Bash]\n", "    &a tools: [Bash]\n", "    ! tools: [Bash]\n",
    '    ? "to\\\n      ols"\n    : [Bash]\n', "    ? >-\n      tools\n    : [Bash]\n",
    "    !<tag:yaml.org,2002:str> tools: [Bash]\n", "    tools : [Bash]\n", "    tools:\n",
    '    "\\U00000074ools": [Bash]\n', "    ? |-\n      tools\n    : [Bash]\n",
)  # fmt: skip


def twice(lot: Random) -> Attack:
    """A key that stands there already, in every disguise; prose keys too."""
    key = lot.choice(["tools", "tools", "goal", "principles", "model", "name", "id"])
    scene = make_scene(lot, lambda one: one.entry(key) is not None)
    entry = scene.entry(key)
    assert entry is not None
    added = lot.choice(TWICE).replace("74ools", f"{ord(key[0]):x}{key[1:]}")
    added = added.replace("tools", key).replace(
        '"to\\\n      ols"', f'"{key[:2]}\\\n      {key[2:]}"'
    )
    text = entry.text + added if lot.random() < 0.5 else added + entry.text
    return on_org(scene, scene.swapped(key, text).org(), name="key twice", key="")


COMPLEX = (
    "    ? [a, b]\n    : x\n", "    ? {tools: x}\n    : y\n", "    [tools]: x\n", "    {a: b}: c\n",
    "    ? tools\n", "    ?\n", "    : x\n", "    ? - tools\n    : - Bash\n", "    *memory : x\n",
    "    ? *memory\n    : x\n", "    ~: x\n", "    null: x\n", "    3: x\n", "    true: x\n",
    "    '': x\n", "    Goal: x\n", "    goal : x\n", "    góal: x\n", "    gоal: x\n",
    "    description2: x\n", "    GOAL: x\n", "    goal\u00a0: x\n", '    "goal ": x\n',
)  # fmt: skip


def odd_key(lot: Random) -> Attack:
    scene = make_scene(lot).without("goal")
    added = lot.choice(COMPLEX)
    # `goal :` is another spelling of an allowed key, no other key.
    intent = OPEN if added == "    goal : x\n" else HOSTILE
    return on_org(scene, scene.grown(lot, added).org(), name="odd key", intent=intent)


def renamed(lot: Random) -> Attack:
    """Agents that come, go, are renamed or stand there twice."""
    scene = make_scene(lot)
    text = scene.org()
    block = "".join(one.text for one in scene.blocks[AGENT])
    new = lot.choice(
        [
            text.replace(f"  {AGENT}:\n", "  nova2:\n", 1),
            text.replace(f"  {AGENT}:\n", '  "nova":\n', 1),
            text.replace(f"  {AGENT}:\n", f"  {AGENT}: &n\n", 1),
            text.replace(f"  {AGENT}:\n", f"  {AGENT}: !!map\n", 1),
            text.replace(f"  {AGENT}:\n", f"  ? {AGENT}\n  :\n", 1),
            text.replace(f"  {AGENT}:\n", f"  {AGENT}:   # mine\n", 1),
            text.replace(f"  {AGENT}:\n", f"  {AGENT}:\n    name: X\n", 1),
            text.replace(f"  {AGENT}:\n", f"  {AGENT}:\n    id: atlas\n", 1),
            text.replace("  atlas:\n", f"  atlas:\n    id: {AGENT}\n", 1),
            text.replace(f"  {AGENT}:\n", f"  {AGENT}: {{goal: All}}\n  old:\n", 1),
            text.replace("agents:\n", f"agents:\n  {AGENT}: {{goal: All, tools: [Bash]}}\n", 1),
            text.replace("agents:\n", "agents:\n  mole: {goal: All}\n", 1),
            text.replace("agents:\n", '"agents":\n', 1),
            text.replace("agents:\n", "agents: {nova: {goal: All}}\nold:\n", 1),
            text + "agents:\n  nova: {goal: All}\n",
            text.replace(block, "", 1),
            text.replace(block, block + block, 1),
            text.replace(f"  {AGENT}:\n", f"  {AGENT}: |\n", 1),
            text.replace("agents:\n", "agents: |\n", 1),
            text.replace("name: Nova", "name: Atlas", 1),
            text.replace("agents:\n", "agents: !!omap\n", 1),
        ]
    )
    return or_again(renamed, lot, scene, new, "agents")


def deeper(lot: Random) -> Attack:
    """The names of prose keys at other depths."""
    scene = make_scene(lot).without("memory").without("secrets")
    before, after = lot.choice(
        [
            ("    secrets:\n      - {name: X, description: Read access}\n",
             "    secrets:\n      - {name: X, description: All access}\n"),
            ("    memory:\n      goal: a\n", "    memory:\n      goal: b\n"),
            ("    memory: {style: a}\n", "    memory: {style: b}\n"),
            ("    secrets:\n      - name: X\n        description: a\n",
             "    secrets:\n      - name: X\n        description: b\n"),
            ("    memory:\n      agents:\n        nova:\n          goal: a\n",
             "    memory:\n      agents:\n        nova:\n          goal: b\n"),
        ]
    )  # fmt: skip
    entry = Entry("memory", before)
    scene = scene.grown(lot, entry)
    return on_org(scene, scene.swapped("memory", after).org(), name="prose keys elsewhere")


def shared(lot: Random) -> Attack:
    """The agent's own value, list or block is another agent's too, by an alias or a merge."""
    scene = make_scene(lot)
    entry = make_text(lot, "goal", "plain")
    scene = scene.swapped("goal", entry) if scene.entry("goal") else scene.grown(lot, entry)
    said = entry.saying(f"{entry.value[0]} {words(lot, 1, 3)}").text
    text = scene.org()
    item = "      - &p One\n      - Two\n"
    old = lot.choice(
        [
            text.replace(f"  {AGENT}:\n", f"  {AGENT}: &n\n", 1) + "  mole: *n\n",
            text.replace(f"  {AGENT}:\n", f"  {AGENT}: &n\n", 1) + "  mole:\n    <<: *n\n",
            text.replace(f"  {AGENT}:\n", f"  {AGENT}: &n\n", 1) + "  mole:\n    <<: [*n]\n",
            text.replace("agents:\n", "agents: &all\n", 1) + "old: *all\n",
            text.replace(entry.text, entry.text.replace("goal: ", "goal: &g "), 1) + "x: *g\n",
            text.replace(entry.text, entry.text.replace("goal: ", "goal: &g "), 1) + "*g : y\n",
            text.replace(entry.text, f"    principles:\n{item}{entry.text}", 1) + "x: [*p]\n",
        ]
    )  # fmt: skip
    if scene.tail or ("&p" in old and scene.entry("principles")):
        return shared(lot)
    after = old.replace(entry.text, said, 1)
    if "&g" in old:
        after = old.replace(
            entry.text.replace("goal: ", "goal: &g "), said.replace("goal: ", "goal: &g "), 1
        )
    if "&p" in old:
        after = old.replace("- &p One", "- &p Three", 1)
    old_bytes, new_bytes = scene.written(old), scene.written(after)
    if old_bytes == new_bytes:
        return shared(lot)
    return on_file(scene, ORG, old_bytes, new_bytes, name="shared value", intent=HOSTILE)


def other_id(lot: Random) -> Attack:
    """A block under the agent's name that is another agent's: the `id` inside counts."""
    scene = make_scene(lot)
    entry = make_text(lot, "goal", "plain")
    blocks = {
        AGENT: (Entry("id", "    id: kit\n"), entry),
        "builder": (Entry("id", f"    id: {AGENT}\n"), Entry("name", "    name: Nova\n")),
    }
    if lot.random() < 0.5:
        blocks = dict(reversed(blocks.items()))
    scene = replace(scene, blocks=blocks)
    new = scene.swapped("goal", entry.saying(f"{entry.value[0]} {words(lot, 1, 3)}"))
    return on_org(scene, new.org(), name="another id")


def rearranged(lot: Random) -> Attack:
    """Keys in another order, prose for rights and rights for prose."""
    scene = make_scene(lot, lambda one: one.entry("goal") is not None)
    block = list(scene.blocks[AGENT])
    keyed = [at for at, one in enumerate(block) if one.key]
    if lot.random() < 0.5:
        here, there = lot.sample(keyed, 2)
        block[here], block[there] = block[there], block[here]
        new = scene.with_block(tuple(block)).org()
        return or_again(rearranged, lot, scene, new, "moved keys")
    key = lot.choice([*RIGHTS, "title", "Goal"])
    goal = scene.entry("goal")
    assert goal is not None
    new = scene.swapped("goal", goal.text.replace("goal", key, 1)).org()
    return or_again(rearranged, lot, scene, new, "prose that becomes another key")


PRODUCTIONS: tuple[Production, ...] = (
    right, right, right, other_agent, other_agent, head_key, merge, twice, odd_key, renamed,
    deeper, shared, other_id, rearranged,
)  # fmt: skip
