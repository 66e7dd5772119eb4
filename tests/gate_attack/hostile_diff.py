"""Diffs that are not what git writes for a change of one file of the agent's own."""

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.gate_attack.attack import HOSTILE, OPEN, Attack, on_file
from tests.gate_attack.diffing import MARKER, header, hunks, make_diff, split
from tests.gate_attack.honest import changed_text, honest, skill_step_changed
from tests.gate_attack.scene import ORG, SKILLS, make_scene, words

Production = Callable[[Random], Attack]


def lying_header(lot: Random) -> Attack:
    """The numbers of a hunk say something else than its lines."""
    attack = honest(lot)
    found = [*re.finditer(rb"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", attack.diff)]
    match = lot.choice(found)
    numbers = [int(one) for one in match.groups()]
    at = lot.randrange(4)
    numbers[at] = lot.choice(
        [numbers[at] + lot.choice([1, -1, 2, 3, 50]), 0, 999999999, 10**20, numbers[at] + 1]
    )
    said = "@@ -{},{} +{},{} @@".format(*numbers)
    said = said.replace("--", "-")
    diff = attack.diff[: match.start()] + said.encode() + attack.diff[match.end() :]
    intent = OPEN if diff == attack.diff else HOSTILE
    return attack.having(diff, "lying hunk header", intent)


def odd_header(lot: Random) -> Attack:
    """Hunk headers that some tool reads and git does not write."""
    attack = honest(lot)
    match = re.search(rb"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", attack.diff)
    assert match is not None
    a, b, c, d = (one.decode() for one in match.groups())
    said = lot.choice(
        ["@@ ... @@", "@@", "@@ @@", "", f"@@ -{a} +{c} @@", f"@@ -{a},{b} +{c},{d}",
         f"@@ -{a},{b} +{c},{d} @", f"@@@ -{a},{b} -{a},{b} +{c},{d} @@@",
         f"@@ -{a},-{b} +{c},{d} @@",
         f"@@ +{c},{d} -{a},{b} @@", f"*** {a},{b} ****", f"{a}c{c}", f"@@ -{a}, {b} +{c},{d} @@",
         f"@@  -{a},{b} +{c},{d} @@", f"@@ -{a}.0,{b} +{c},{d} @@", f"@@ -0x{a},{b} +{c},{d} @@",
         f"@@ -١,{b} +{c},{d} @@", f"@@ -{a},{b} +{c},{d} @@@@ -1 +1 @@",
         f"## -{a},{b} +{c},{d} ##"]
    )  # fmt: skip
    diff = attack.diff[: match.start()] + said.encode() + attack.diff[match.end() :]
    return attack.having(diff, "odd hunk header")


def invented_context(lot: Random) -> Attack:
    """Context that is not there, or only nearly, or somewhere else."""
    attack = changed_text(lot)
    lines = attack.diff.split(b"\n")
    begin = next(at for at, line in enumerate(lines) if line.startswith(b"@@"))
    kept = [
        at for at in range(begin + 1, len(lines))
        if lines[at][:1] in {b" ", b"-"} and len(lines[at]) > 2
    ]  # fmt: skip
    at = lot.choice(kept)
    line = lines[at]
    lines[at] = lot.choice(
        [line + b"x", line + b" ", line[:1] + b" " + line[1:], line.replace(b"a", b"A") + b".",
         line.rstrip() + b"\t", line[:1] + line[2:], line.replace(b" ", b"  "), line[:1] + b"x: y"]
    )  # fmt: skip
    if lines[at] == line:
        return invented_context(lot)
    return attack.having(b"\n".join(lines), "invented context")


def shifted(lot: Random) -> Attack:
    """A hunk that stands some lines off: GNU patch would find its place."""
    attack = changed_text(lot)
    by = lot.choice([1, -1, 2, 7])
    found = re.search(rb"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", attack.diff)
    assert found is not None
    a, b, c, d = (int(one) for one in found.groups())
    if a + by < 1 or c + by < 1:
        return shifted(lot)
    said = f"@@ -{a + by},{b} +{c + by},{d} @@".encode()
    return attack.having(attack.diff.replace(found[0], said, 1), "shifted hunk")


def more_lines(lot: Random) -> Attack:
    """Lines below what a hunk promises (DIFF-01), or fewer (DIFF-02)."""
    attack = changed_text(lot)
    if lot.random() < 0.5:
        extra = b"".join(b"+    x: y\n" for _ in range(lot.choice([1, 2, 30, 100])))
        return attack.having(attack.diff + extra, "more than promised")
    lines = attack.diff.splitlines(keepends=True)
    return attack.having(b"".join(lines[: -lot.randint(1, 2)]), "less than promised")


def too_many(lot: Random) -> Attack:
    """41 changed lines, or many more, or 64 KiB and one."""
    path = f"{SKILLS}/look-around.md"
    scene = make_scene(lot)
    old = scene.contents()[path]
    end = scene.ends.encode()
    count = lot.choice([41, 41, 60, 400])
    if lot.random() < 0.3:
        new = old.replace(b"\n", b"\n" + b"x" * (65 * 1024) + end, 1)
    else:
        new = old.replace(b"\n", b"\n" + b"".join(b"- one" + end for _ in range(count)), 1)
    return on_file(scene, path, old, new, name="too many lines", intent=HOSTILE)


def not_a_diff(lot: Random) -> Attack:
    """Prose, fences, other formats, nothing at all, bytes at random (DIFF-04, DIFF-05)."""
    attack = changed_text(lot)
    diff = attack.diff
    body = diff[diff.index(b"@@") :]
    shown = lot.choice(
        [b"", b"\n", b"I suggest to say it in another way.\n", b"+++ b/f\n", b"--- a/f\n",
         b"```diff\n" + diff + b"```\n", b"Here it is:\n\n" + diff, diff + b"\nThat is all.\n",
         diff + b"-- \n2.39.5\n\n", body, b"+++ b/.agents/org/org.yaml\n" + body,
         b"--- a/.agents/org/org.yaml\n" + body, diff[: diff.index(b"@@")],
         b"From 0123 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n---\n" + diff, diff + b"\n",
         b"\n" + diff, b"\xef\xbb\xbf" + diff, diff.decode().encode("utf-16"),
         diff.decode().encode("utf-16-le"), diff.replace(b"\n", b"\r"), diff.rstrip(b"\n"),
         diff + b"\0", lot.randbytes(lot.randint(1, 300)), diff * 2, diff + body,
         diff.replace(b"\n", b"\n\n"), b"@@ -1 +1 @@\n-a\n+b\n", b"\0" * 9,
         diff.replace(b"+++", b"***"),
         b'{"path": "x", "find": "a", "replace": "b"}', diff.replace(b"---", b"+++", 1),
         diff.replace(b"\n+", b"\n>").replace(b"\n-", b"\n<"), b"\x1b[31m" + diff]
    )  # fmt: skip
    return attack.having(shown, "no diff of one file")


def path_of(lot: Random, attack: Attack, path: str) -> bytes:
    """The same diff with another path in its header."""
    body = attack.diff[attack.diff.index(b"@@") :]
    return header(path, lot.choice(["git", "plain"])) + body


SPELLINGS = (
    "../{p}", "./{p}", "/{p}", "//{p}", "x/../{p}", ".//{p}", "{p}/", "{p} ", "{p}.", " {p}",
    "~/{p}", "C:/{p}", "C:{p}", "\\{p}", "{p}\0",  "{p}\n", "{p}:x", "{p}::$DATA", "{p}/.",
    "a/{p}", "b/{p}", "file://{p}", "{p}\u200b", "\u202e{p}", "{p}%00", "./../{p}",
    ".agents/../{p}",
)  # fmt: skip


def spelling(lot: Random) -> Attack:
    """The right file by a path that is not the plain one."""
    attack = lot.choice([changed_text, skill_step_changed])(lot)
    path = ORG if ORG.encode() in attack.diff else f"{SKILLS}/build.md"
    said = lot.choice(
        [
            lot.choice(SPELLINGS).format(p=path), path.upper(), path.replace("/", "\\"),
            path.replace("/", "//", 1), path.replace("agents", "Agents"),
            path.replace("org.yaml", "ORG.yaml").replace("build", "Build"),
            path.replace("a", "\uff41", 1), path.replace(".", "\uff0e", 1), path.replace("/",
            "/./", 1),
            path.replace("/", "\u2215", 1), path.replace("o", "о", 1).replace("b", "Ь", 1),
            path.replace("i", "ı").replace("org/", "org/x/../"), path[:-1], path + "x",
            path.replace("nova", "NOVA").replace("org.yaml", "org.yml"),
        ]
    )  # fmt: skip
    if said == path:
        return spelling(lot)
    return attack.having(path_of(lot, attack, said), "spelling of a path")


PROTECTED = (
    "AGENTS.md", f"{SKILLS}/CLAUDE.md", ".claude/settings.md", ".agents/guard.md",
    ".agents/hooks/pre.md", ".agents/org/memory/nova.md", ".agents/org/org-agents.json",
    "Areas/Health/me.md", "Areas/Finance/bank.md", "CURRENT/now.md", ".git/config", ".env.md",
    ".github/ci.md", ".obsidian/app.md", "Projects/Site.md", ".agents/skills/atlas/plan.md",
)  # fmt: skip
KNOWLEDGE: tuple[tuple[str, ...], ...] = (
    (f"{SKILLS}/",), (f"{SKILLS}/", "AGENTS.md", ".claude/**", ORG), ("**",), ("*",), ("/",), (".",
    ),
    ("**/*.md",), ("..",), (".agents/",), (".agents/**/*.md", "Areas/**"), ("./",), ("",),
)  # fmt: skip


def protected(lot: Random) -> Attack:
    """A file that no proposal may touch, whatever `knowledge` says (SMUG-08)."""
    scene = make_scene(lot)
    path = lot.choice(PROTECTED)
    knowledge = lot.choice(KNOWLEDGE)
    is_own = path == "Projects/Site.md" or path.startswith(".agents/skills/atlas")
    if is_own:  # with `**` it is in the agent's knowledge, and not protected
        knowledge = KNOWLEDGE[0]
    scene = replace(scene, knowledge=knowledge)
    old = scene.contents()[path]
    new = old.replace(b" ", b" more ", 1)
    if b" " not in old:
        new = b"x" + old
    attack = on_file(scene, path, old, new, name="protected file", intent=HOSTILE)
    if lot.random() < 0.3:
        other = lot.choice([path.lower(), path.upper(), path.title(), path.replace("A", "Á"),
                            path.replace("s", "ſ")])  # fmt: skip
        attack = replace(attack, diff=path_of(lot, attack, other))
    return attack


def linked(lot: Random) -> Attack:
    """A link at the end of a path, or on its way."""
    scene = make_scene(lot)
    target, path = lot.choice(
        [("Projects/Site.md", f"{SKILLS}/linked.md"), (f"{SKILLS}/build.md", "Org/skills/build.md")]
    )
    old = scene.contents()[target]
    new = old.replace(b"\n", b" and more\n", 1)
    made = on_file(scene, target, old, new, name="through a link", intent=HOSTILE)
    knowledge = lot.choice([scene.knowledge, ("Org/skills/",), (f"{SKILLS}/", "Org/")])
    return replace(made, diff=make_diff(path, old, new), knowledge=knowledge)


def two_files(lot: Random) -> Attack:
    """Two files in one diff (DIFF-11), in every order and disguise."""
    attack = lot.choice([changed_text, skill_step_changed])(lot)
    path = lot.choice(["AGENTS.md", f"{SKILLS}/look-around.md", ".claude/settings.md"])
    old = attack.files[path]
    other = make_diff(path, old, old.replace(b"\n", b" x\n", 1), 3, lot.choice(["git", "plain"]))
    glue = lot.choice([b"", b"\n", b"diff --git a/x b/x\n", b"Index: x\n======\n"])
    parts = [attack.diff, glue, other]
    return attack.having(b"".join(parts if lot.random() < 0.6 else parts[::-1]), "two files")


HEADS = (
    "old mode 100644\nnew mode 100755\n", "new file mode 100644\n", "deleted file mode 100644\n",
    "similarity index 90%\nrename from {p}\nrename to AGENTS.md\n",
    "rename from {p}\nrename to {p}\n",
    "similarity index 100%\ncopy from {p}\ncopy to AGENTS.md\n", "dissimilarity index 90%\n",
    "GIT binary patch\nliteral 3\nKcmZQzU|?WlU|?WiU;qFB0ssI2\n\n", "new mode 120000\n",
    "index 0000000..1234567 120000\n", "index 1234567..1234567 160000\n", "Binary files differ\n",
    "index 1234567..0000000\n", "Binary files a/{p} and b/{p} differ\n", "old mode 120000\n",
    "Subproject commit 0123456789012345678901234567890123456789\n", "new file mode 120000\n",
)  # fmt: skip


def more_than_content(lot: Random) -> Attack:
    """Renames, copies, modes, creations, deletions, binary patches."""
    attack = changed_text(lot)
    body = attack.diff[attack.diff.index(b"@@") :]
    above = f"diff --git a/{ORG} b/{ORG}\n" + lot.choice(HEADS).format(p=ORG)
    names = lot.choice(
        [f"--- a/{ORG}\n+++ b/{ORG}\n", f"--- /dev/null\n+++ b/{ORG}\n",
        f"--- a/{ORG}\n+++ /dev/null\n",
         "", f"--- a/{ORG}\n+++ b/AGENTS.md\n"]
    )  # fmt: skip
    tail = lot.choice([body, body, b""])
    # The names of blobs say nothing to git either, unless it has to look for them.
    intent = OPEN if above.endswith(("..0000000\n", "..1234567 160000\n")) and tail else HOSTILE
    return attack.having((above + names).encode() + tail, "more than content", intent)


def other_names(lot: Random) -> Attack:
    """The names in the header do not agree, or are none."""
    attack = changed_text(lot)
    body = attack.diff[attack.diff.index(b"@@") :]
    p = ORG
    said = lot.choice(
        [f"--- a/{p}\n+++ b/AGENTS.md\n", f"--- a/AGENTS.md\n+++ b/{p}\n", f"--- {p}\n+++ {p}\n",
         f"--- /dev/null\n+++ b/{p}\n", f"--- a/{p}\n+++ /dev/null\n", f"--- b/{p}\n+++ a/{p}\n",
         f"--- a/{p}\n+++ b/{p}\n--- a/{p}\n+++ b/{p}\n", f"+++ b/{p}\n--- a/{p}\n",
         f"diff --git a/AGENTS.md b/AGENTS.md\n--- a/{p}\n+++ b/{p}\n",
         f"diff --git a/{p} b/AGENTS.md\n--- a/{p}\n+++ b/{p}\n", f"--- i/{p}\n+++ w/{p}\n",
         f"--- a/{p}\n\n+++ b/{p}\n", f"---a/{p}\n+++b/{p}\n", f"--- a/{p}x\n+++ b/{p}\n",
         f'--- "a/{p}\n+++ "b/{p}\n', f'--- "a/\\056{p}"\n+++ "b/\\056{p}"\n',
         '--- "a/AGENTS\\056md"\n+++ "b/AGENTS\\056md"\n', f'--- "a/{p}\\000"\n+++ "b/{p}\\000"\n',
         f'--- "a/\\x2e{p[1:]}"\n+++ "b/\\x2e{p[1:]}"\n', f'--- "a/\\777{p}"\n+++ "b/\\777{p}"\n',
         f"--- a/{p}\tAGENTS.md\n+++ b/{p}\tAGENTS.md\n", f"--- a/{p} b/{p}\n+++ a/{p} b/{p}\n",
         f"diff --cc {p}\n--- a/{p}\n+++ b/{p}\n", f"--- a//{p}\n+++ b//{p}\n",
         f"--- a/a/{p}\n+++ b/b/{p}\n", "--- \n+++ \n", "--- a/\n+++ b/\n",
         f"--- a\\{p}\n+++ b\\{p}\n"]
    )  # fmt: skip
    intent = OPEN if "\t" in said else HOSTILE
    return attack.having(said.encode() + body, "names in the header", intent)


def order(lot: Random) -> Attack:
    """Hunks that overlap, repeat, stand in the wrong order or change nothing."""
    scene = make_scene(lot, lambda one: one.entry("goal") is not None)
    goal = scene.entry("goal")
    assert goal is not None
    old = scene.contents()[ORG]
    new = scene.swapped("goal", goal.saying(f"{goal.value[0]} {words(lot)}")).contents()[ORG]
    other = old.replace(b"version: 1", b"version: 1 ", 1)
    parts = [one.text() for one in hunks(old, new)]
    both = [one.text() for one in hunks(old, other)]
    lines = split(old)
    same = b"@@ -1,3 +1,3 @@\n" + b"".join(b" " + line for line in lines[:3])
    chosen = lot.choice(
        [[*parts, *parts], [*parts, *both], [same, *parts], [*parts, same], [same],
         [b"@@ -0,0 +1 @@\n+x: y\n", *parts], [*parts, b"@@ -1,0 +1,0 @@\n"],
         [b"@@ -0,0 +0,0 @@\n"],
         [b"@@ -1,1 +1,1 @@\n-" + lines[0] + b"+" + lines[0]], [*parts,
         b"@@ -9999,0 +9999,1 @@\n+x: y\n"]]
    )  # fmt: skip
    made = on_file(scene, ORG, old, new, name="order of hunks", intent=HOSTILE)
    # A hunk that changes nothing harms nobody, beside one that does.
    intent = OPEN if same in chosen and len(chosen) > 1 else HOSTILE
    return made.having(header(ORG) + b"".join(chosen), made.name, intent)


def markers(lot: Random) -> Attack:
    r"""`\ No newline at end of file` where it is not so."""
    attack = changed_text(lot)
    lines = attack.diff.splitlines(keepends=True)
    begin = next(at for at, line in enumerate(lines) if line.startswith(b"@@"))
    at = lot.randint(begin + 1, len(lines))
    mark = lot.choice(
        [MARKER, MARKER, b"\\\n", b"\\ No newline\n", MARKER * 2, b"\\ x: y\n", MARKER.strip(),
         b"\\No newline at end of file\n"]
    )  # fmt: skip
    return attack.having(b"".join([*lines[:at], mark, *lines[at:]]), "no newline", OPEN)


def context_free(lot: Random) -> Attack:
    """Hunks without context: git refuses them as well, unless it is told otherwise."""
    scene = make_scene(lot, lambda one: one.entry("goal") is not None)
    goal = scene.entry("goal")
    assert goal is not None
    new = scene.swapped("goal", goal.saying(f"{goal.value[0]} {words(lot)}"))
    old_bytes, new_bytes = scene.contents()[ORG], new.contents()[ORG]
    return on_file(scene, ORG, old_bytes, new_bytes, (0, "git"), name="no context", intent=OPEN)


def quoted_path(lot: Random) -> Attack:
    """A path as git quotes it: an umlaut, an escape where none is needed."""
    path = f"{SKILLS}/deep/Über uns.md"
    scene = make_scene(lot)
    old = scene.contents()[path]
    new = old.replace(b"- two", b"- two and three", 1)
    made = on_file(scene, path, old, new, name="quoted path", intent=OPEN)
    raw = path.encode()
    said = lot.choice(
        ["".join(chr(b) if b < 128 else f"\\{b:03o}" for b in raw),
         "".join(f"\\{b:03o}" for b in raw), path, path.replace("Ü", "U\u0308")]
    )  # fmt: skip
    head = f'--- "a/{said}"\n+++ "b/{said}"\n'.encode()
    return replace(made, diff=head + made.diff[made.diff.index(b"@@") :])


def new_file(lot: Random) -> Attack:
    """A file that is not there yet."""
    scene = make_scene(lot)
    path = lot.choice([f"{SKILLS}/new.md", ".claude/new.md", f"{SKILLS}/a/b.md", SKILLS, ".agents"])
    body = b"@@ -0,0 +1,2 @@\n+# New\n+Text\n"
    names = lot.choice(
        [f"--- /dev/null\n+++ b/{path}\n", f"--- a/{path}\n+++ b/{path}\n",
         f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"]
    )  # fmt: skip
    made = on_file(scene, ORG, scene.contents()[ORG], b"x", name="new file", intent=HOSTILE)
    return replace(made, diff=names.encode() + body)


PRODUCTIONS: tuple[Production, ...] = (
    lying_header, odd_header, invented_context, shifted, more_lines, too_many, not_a_diff, spelling,
    spelling, protected, protected, linked, two_files, more_than_content, other_names, order,
    markers,    context_free, quoted_path, new_file,
)  # fmt: skip
