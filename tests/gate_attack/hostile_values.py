"""Changes of org.yaml that must be refused: values, readings and bytes beside the values."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.gate_attack.attack import HOSTILE, OPEN, Attack, on_file, on_org
from tests.gate_attack.hostile_keys import NEW_RIGHTS, or_again
from tests.gate_attack.scene import (
    AGENT,
    ORG,
    RIGHTS,
    TEXT_KEYS,
    Entry,
    make_list,
    make_scene,
    make_text,
    shown,
    words,
)

Production = Callable[[Random], Attack]
# What ends a line for some reader and not for another one.
BREAKS = ("\r", "\x85", "\u2028", "\u2029", "\v", "\f", "\x1c", "\x1d", "\x1e", "\0", "\r\r")


HIDDEN = (
    "\u202e", "\u2066", "\u200b", "\u200f", "\u2060", "\ufeff", "\u00ad", "\u034f", "\u115f",
    "\u3164", "\U000e0041", "\u2800", "\x07", "\x1b[2J", "\x7f", "\ufff9",
)  # fmt: skip


SECRETS = (
    "AKIA" + "IOSFODNN7EXAMPLQ", "ghp_" + "Ab3dE6gH1jK2mN5pQ8sT0vW7xY4zCcDdEeFf",
    "sk-ant-" + "api03-Zq8rT2vX5yB1nM4kJ7hG0fD3sA6wE9uI2oP5lK8jH1gF4dS7aQ",
    "xoxb-" + "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
)  # fmt: skip


def dedent(lot: Random) -> Attack:
    """A line that falls out of a block scalar, or of a long plain one."""
    key = lot.choice([*RIGHTS])
    scene = make_scene(lot, lambda one: one.entry(key) is None and bool(one.prose()))
    entry = lot.choice(scene.prose())
    if entry.key != "principles" and lot.random() < 0.7:
        style = lot.choice(["|", "|-", "|+", ">", ">-", "|2", "below", "plain-long"])
        entry = make_text(lot, entry.key, style)
        scene = scene.swapped(entry.key, entry)
    lines = entry.text.splitlines(keepends=True)
    added = lot.choice(NEW_RIGHTS[key])
    after = lot.choice(["", "", f"      {words(lot)}\n", "\n"])
    at = len(lines) if entry.style in {"below", "plain-long"} else lot.randint(1, len(lines))
    lines[at:at] = [added, after]
    new = scene.swapped(entry.key, "".join(lines))
    # In the middle, what follows may make the whole unreadable before a key is seen.
    named = key if at == len(lines) - 2 and after in {"", "\n"} else ""
    # Between quotes it is text, however it looks.
    within = at < len(lines) - 2 and entry.style.startswith(("single", "double", "flow"))
    intent = OPEN if within else HOSTILE
    return on_org(scene, new.org(), name="dedent", key=named, intent=intent)


def line_break(lot: Random) -> Attack:
    """A key behind something that only some take for the end of a line."""
    scene = make_scene(lot, lambda one: bool(one.prose()))
    entry = lot.choice(scene.prose())
    added = lot.choice(NEW_RIGHTS[lot.choice([*RIGHTS])]).rstrip("\n").split("\n")[0]
    smuggled = f"{lot.choice(BREAKS)}{added}"
    lines = entry.text.splitlines(keepends=True)
    at = lot.randrange(len(lines))
    body, end = lines[at].rstrip("\n"), "\n"
    cut = lot.choice([len(body), lot.randint(0, len(body))])
    lines[at] = body[:cut] + smuggled + body[cut:] + end
    new = scene.swapped(entry.key, "".join(lines))
    return on_org(scene, new.org(), name="a break that is none")


def hidden(lot: Random) -> Attack:
    """Invisible and bidirectional characters, as they are or as escapes."""
    scene = make_scene(lot)
    key = lot.choice(TEXT_KEYS)
    entry = make_text(lot, key, lot.choice(["plain", "double", "|", ">-"]))
    scene = scene.swapped(key, entry) if scene.entry(key) else scene.grown(lot, entry)
    char = lot.choice(HIDDEN)
    if entry.style == "double" and lot.random() < 0.5:
        code = ord(char[0])
        escape = f"\\U{code:08x}" if code > 0xFFFF else f"\\u{code:04x}"
        text = entry.text.replace('"\n', f' {escape}b"\n').replace('"   #', f' {escape}b"   #')
    else:
        text = entry.text.replace(" ", f" a{char}b ", 9).replace(f" a{char}b ", " ", 4)
        if char not in text:
            text = entry.saying(f"{entry.value[0]} a{char}b").text
    return or_again(hidden, lot, scene, scene.swapped(key, text).org(), "hidden character")


def secret(lot: Random) -> Attack:
    scene = make_scene(lot, lambda one: one.entry("principles") is not None)
    entry = scene.entry("principles")
    assert entry is not None
    said = f"Deploy with {lot.choice(SECRETS)} then"
    return on_org(
        scene, scene.swapped("principles", entry.saying(*entry.value, said)).org(), name="secret"
    )


def anchor(lot: Random) -> Attack:
    """Anchors, aliases and tags that come, go or move."""
    scene = make_scene(lot)
    key = lot.choice(TEXT_KEYS)
    before, after = lot.choice(
        [
            ("Plain words", "&g Plain words"), ("&g Plain words", "Plain words"),
            ("&g Plain words", "&h Plain words"), ("&g Plain words", "&g Other words"),
            ("Plain words", "!!str Plain words"), ("!!str Plain words", "Plain words"),
            ("Plain words", "! Plain words"), ("Plain words", "!own Plain words"),
            ("Plain words", "!!python/object/apply:os.system [id]"),
            ("Plain words", "!!binary UGxhaW4="), ("Plain words", "!<tag:x,1:y> Plain words"),
            ("Plain words", "*memory"), ("Plain words", "&memory Plain words"),
            ("!!str Plain words", "!!str Other words"), ("Plain words", "!!int '3'"),
            ("Plain words", "&g\n      Plain words"), ("Plain words", "!!null ''"),
        ]
    )  # fmt: skip
    stands = Entry(key, f"    {key}: {before}\n")
    scene = scene.swapped(key, stands) if scene.entry(key) else scene.grown(lot, stands)
    uses = before.startswith("&g")
    intent = HOSTILE
    if uses and after == "&g Other words":
        if lot.random() < 0.6:
            other = Entry("goal", "    goal: *g\n")
            scene = scene.swapped("goal", other, "atlas") if scene.entry("goal", "atlas") else (
                scene.with_block((*scene.blocks["atlas"], other), "atlas")
            )  # fmt: skip
        else:
            intent = OPEN
    new = scene.swapped(key, f"    {key}: {after}\n")
    return or_again(anchor, lot, scene, new.org(), "anchor, alias or tag", intent)


VALUES = (
    "{tools: [Bash]}", "[a, b]", "[]", "{}", "3", "-1", "1.5", ".inf", ".nan", "0x1F", "0o17",
    "1e3", "null", "~", "", "true", "False", "2026-01-01", "2026-01-01T00:00:00Z", "!!str",
    "*memory", "''", '""', "' '", "\n      tools: [Bash]", "\n      - a", "\n    - a", "a: b",
    "x\n      tools: [Bash]", "|\n", ">-\n", "'a' b", '"a" b', "@a", "`a", "%a", "- a", "? a",
    "&a", "&a\n", "!", "[a", "{a", "a]: b", "yes", "no", "on", "1_000", "012", "1:30", "=", "<<",
    '"\\x"', '"\\ud800"', '"\\0"', '"\\e[2J"', '"\\N"', '"\\L"', '"\\P"', '"\\x0d"',
    '"\\b"', '"\\uFEFF"', '"\\uFFFE"', '"\\U00110000"', "|9\n      x", "|0\n      x",
    "|-+\n      x",
    "|1\n     x", "> #x\n      x", "|#x\n      x", "'x\n\n\n      y", "x\n    y", "x\n   y",
)  # fmt: skip


# Text for the reader that counts, whatever it is for older ones; or what a list may hold.
MAYBE = {
    "|1\n     x",
    '"\\uFFFE"',
    "yes",
    "no",
    "on",
    "1_000",
    "012",
    "1:30",
    "=",
    "<<",
    "> #x\n      x",
    "'x\n\n\n      y",
}


def value(lot: Random) -> Attack:
    """A value that is no text any more."""
    scene = make_scene(lot, lambda one: bool(one.prose()))
    keys = [one for one in scene.prose() if one.key != "principles"]
    entry = lot.choice(keys or scene.prose())
    said = lot.choice(VALUES)
    is_list = entry.key == "principles"
    intent = OPEN if said in MAYBE or (is_list and said.strip()[:1] in {"[", "-"}) else HOSTILE
    new = scene.swapped(entry.key, f"    {entry.key}: {said}\n")
    return on_org(scene, new.org(), name="value", intent=intent)


ITEMS = (
    "- tools: [Bash]", "- [a]", "- {a: b}", "- 3", "- null", "- ~", "-", "- true", "- 2026-01-01",
    "- &a x", "- *memory", "- !!str x", "- - a", "- ? a", "- '': x", "- a: b", "- |\n", "- ''",
    "- !x y", '- "\\0"', "- 1.0", "- <<: *memory", "- 'a'b", '- "a', "- 'a",
)  # fmt: skip


def one_reader(lot: Random) -> Attack:
    """Spellings that libyaml reads and the round trip does not: only the last rule sees them."""
    scene = make_scene(lot)
    key = lot.choice(TEXT_KEYS)
    mark = lot.choice(["|", ">", "|-", ">-", "|+", ">+", "|2", ">2-"])
    entry = make_text(lot, key)
    scene = scene.swapped(key, entry) if scene.entry(key) else scene.grown(lot, entry)
    new = scene.swapped(key, f"    {key}: {mark}#x\n      {words(lot)}\n")
    return on_org(scene, new.org(), name="one reader")


def item(lot: Random) -> Attack:
    """An item of `principles` that is no text; or a list that becomes something else."""
    scene = make_scene(lot)
    entry = make_list(lot, lot.choice(["block", "flush", "block-double"]))
    scene = scene.swapped("principles", entry) if scene.entry("principles") else (
        scene.grown(lot, entry)
    )  # fmt: skip
    lead = "    " if entry.style == "flush" else "      "
    if lot.random() < 0.7:
        lines = entry.text.splitlines(keepends=True)
        lines.insert(lot.randint(1, len(lines)), f"{lead}{lot.choice(ITEMS)}\n")
        text = "".join(lines)
    else:
        text = lot.choice(
            ["    principles: One\n", "    principles: {a: b}\n", "    principles:\n",
             "    principles: |\n      - One\n", "    principles: *memory\n",
             "    principles: !!set {a, b}\n", "    principles: !!omap [a: b]\n",
             "    principles:\n      a: b\n", "    principles: null\n", "    principles: ''\n",
             "    principles: [a, [b]]\n", "    principles: [a: b]\n", "    principles: [a, ~]\n",
             "    principles: [? a, b]\n", "    principles: [*memory, a]\n"]
        )  # fmt: skip
    return on_org(scene, scene.swapped("principles", text).org(), name="item")


def marker(lot: Random) -> Attack:
    """Documents, directives, marks of byte order."""
    scene = make_scene(lot)
    text = scene.org()
    mark = lot.choice(
        ["---\n", "...\n", "--- !!map\n", "%YAML 1.1\n---\n", "%YAML 1.2\n---\n", "---\n---\n",
         "%TAG ! tag:x,1:\n---\n", "\ufeff", "...\n---\nagents: {nova: {tools: [Bash]}}\n",
         "--- # x\n", "%FOO\n---\n", "---\t\n", "\ufeff---\n"]
    )  # fmt: skip
    lines = text.splitlines(keepends=True)
    at = lot.choice([0, 0, len(lines), lot.randrange(len(lines))])
    lines.insert(at, mark)
    return on_org(scene, "".join(lines), name="document marker")


def tabs(lot: Random) -> Attack:
    scene = make_scene(lot)
    new = scene.grown(
        lot, lot.choice(["\ttools: [Bash]\n", "   \tmodel: x\n", "    \ttools: [Bash]\n",
                         "    model:\tx\ty\n", "\t# x\n", "\t\n"])
    )  # fmt: skip
    return on_org(scene, new.org(), name="tabs")


def swallowed(lot: Random) -> Attack:
    """A quote, bracket or block that opens in one's prose and takes in the keys below it."""
    scene = make_scene(lot, lambda one: len(one.prose()) > 0)
    entry = lot.choice(scene.prose())
    lines = scene.org().splitlines(keepends=True)
    block_at = lines.index(f"  {AGENT}:\n")
    start = next(
        at for at in range(block_at, len(lines)) if lines[at].startswith(f"    {entry.key}:")
    )
    end = min(len(lines), start + lot.randint(2, 9))
    opening, closing = lot.choice(
        [('"', '"'), ("'", "'"), ("[", "]"), ("{", "}"), ("|", ""), (">-", ""), ("|4", ""),
         ("|1", ""), ('"a', '": x'), ("# ", ""), ('"', "")]
    )  # fmt: skip
    lines[start] = f"    {entry.key}: {opening}x\n" if opening.isalpha() or '"' in opening else (
        f"    {entry.key}: {opening}\n"
    )  # fmt: skip
    if closing:
        lines.insert(end, f"      {closing}\n")
    if lot.random() < 0.3:
        lines[start + 1 : end] = [f"  {one}" for one in lines[start + 1 : end]]
    # It may come to no more than a change of this one value.
    return or_again(swallowed, lot, scene, "".join(lines), "swallowed keys", OPEN)


def comments(lot: Random) -> Attack:
    """Comments that come, go and change where no value changes."""
    scene = make_scene(lot)
    lines = scene.org().splitlines(keepends=True)
    block_at = lines.index(f"  {AGENT}:\n")
    commented = [at for at in range(len(lines)) if " # " in lines[at] and ": |" not in lines[at]]
    how = lot.randrange(4)
    if how == 0 and commented:
        at = lot.choice(commented)
        lines[at] = lines[at].split(" # ")[0].rstrip() + "\n"
    elif how == 1 and commented:
        at = lot.choice(commented)
        lines[at] = lines[at].rstrip("\n") + " (reviewed)\n"
    elif how == 2:
        lines.insert(block_at, "# The gate is off for nova\n")
    else:
        keyed = [
            at for at in range(block_at, min(len(lines), block_at + 40))
            if lines[at].startswith("    name:") or lines[at].startswith("    tools: [Read, Edit]")
        ]  # fmt: skip
        at = lot.choice(keyed)
        lines[at] = lines[at].rstrip("\n") + "  # may be widened\n"
    return or_again(comments, lot, scene, "".join(lines), "comments")


def blanks(lot: Random) -> Attack:
    """Blank lines, blanks at the ends of lines, another indentation: outside of any value."""
    scene = make_scene(lot)
    text = scene.org()
    lines = text.splitlines(keepends=True)
    names = [at for at, line in enumerate(lines) if line.startswith("    name:")]
    at = lot.choice(names)
    how = lot.randrange(4)
    if how == 0:
        lines[at] = lines[at].rstrip("\n") + "  \n"
    elif how == 1:
        lines.insert(at, "\n")
    elif how == 2:
        lines[at] = lines[at].replace(": ", ":  ", 1)
    else:
        lines[0] = lines[0].rstrip("\n") + " \n"
    return on_org(scene, "".join(lines), name="blanks")


def endings(lot: Random) -> Attack:
    """Line ends and the last newline do not stay what they were."""
    scene = make_scene(lot, lambda one: one.entry("goal") is not None)
    goal = scene.entry("goal")
    assert goal is not None
    new = scene.swapped("goal", shown("goal", words(lot), "plain"))
    old_bytes, new_bytes = (one.contents()[ORG] for one in (scene, new))
    how = lot.randrange(5)
    if how == 0:
        new_bytes = new_bytes.rstrip(b"\r\n") if scene.is_closed else new_bytes + b"\n"
    elif how == 1:
        line = new_bytes.split(b"\n")[lot.randrange(5)]
        other = line[:-1] if line.endswith(b"\r") else line + b"\r"
        new_bytes = new_bytes.replace(line + b"\n", other + b"\n", 1)
    elif how == 2:
        new_bytes = b"\xef\xbb\xbf" + new_bytes
    elif how == 3:
        new_bytes += b"\n"
    else:
        new_bytes = replace(new, ends="\n" if scene.ends == "\r\n" else "\r\n").contents()[ORG]
    if new_bytes == old_bytes:
        return endings(lot)
    return on_file(scene, ORG, old_bytes, new_bytes, name="line ends", intent=HOSTILE)


def encoded(lot: Random) -> Attack:
    """Bytes that are no UTF-8, or another encoding."""
    scene = make_scene(lot, lambda one: one.entry("goal") is not None)
    old = scene.contents()[ORG]
    text = scene.swapped("goal", shown("goal", "Aa", "plain")).org()
    bad = lot.choice(
        [
            b"\xff\xfe",
            b"\x80",
            b"\xc0\xae",
            b"\xed\xa0\x80",
            b"\xf4\x90\x80\x80",
            b"\0",
            b"\xe2\x80",
        ]
    )
    new = scene.written(text).replace(b"goal: Aa", b"goal: A" + bad + b"a")
    if lot.random() < 0.2:
        new = text.encode("utf-16")
    return on_file(scene, ORG, old, new, name="other bytes", intent=HOSTILE)


PRODUCTIONS: tuple[Production, ...] = (
    dedent, dedent, line_break, one_reader, hidden, secret, anchor, value, value, item, marker,
    tabs, swallowed, comments, blanks, endings, encoded,
)  # fmt: skip
