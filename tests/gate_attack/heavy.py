"""Diffs that are meant to take long, or to bring a parser down: deep, long and repeated."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.gate_attack.attack import HOSTILE, OPEN, Attack, on_file, on_org
from tests.gate_attack.diffing import header
from tests.gate_attack.scene import ORG, SKILLS, make_scene

Production = Callable[[Random], Attack]
LOOK = f"{SKILLS}/look-around.md"
UNITS = (
    "[", "]", "{a: ", "- ", "? ", "(", "<", ">", "!", "![", "[[", "`", "``` ", "~~~", "*", "&a ",
    "*a ",
    "%%", "<!--", "--", "-->", "a", "a ", " ", "a:", "a: ", "'", "''", '"', "\\", "\\\\", "#",
    " #", "&lt;",
    "&#x3c;", "&", "|", "http://", "www.", "a@", "[a](", "[a](b) ", "](", "[x]: ", "</", "<a ",
    "<a href", "=",
    "sk-", "AKIA-", "ey", "-----BEGIN ", "ghp_", "é", "e\u0301", "\u200d", "👩‍", "ﷺ", "İ",
    "run without ", "ignore ",
    "you may ", "the the ", "ask ", "!!str ", "<<: ", "|- ", "@@ ", "+", "/", "../", "**/", ".",
    "x/", "${", "{{", "::",
)  # fmt: skip


def _repeated(lot: Random, most: int = 60_000) -> str:
    unit = lot.choice(UNITS)
    length = lot.choice([200, 2_000, 10_000, most])
    said = unit * (length // len(unit.encode()))
    if lot.random() < 0.3:
        said += lot.choice(UNITS) + "x"
    if lot.random() < 0.3:
        other = lot.choice(UNITS)
        said = (unit + other) * (length // len((unit + other).encode()))
    return said


def in_skill(lot: Random) -> Attack:
    scene = make_scene(lot)
    path = lot.choice([LOOK, f"{SKILLS}/build.md"])
    text = scene.files[path]
    said = _repeated(lot)
    if path != LOOK and lot.random() < 0.4:
        new = text.replace("description: ", f"description: {said}", 1)
    else:
        lines = text.splitlines(keepends=True)
        count = lot.choice([1, 1, 2, 30])
        piece = max(1, len(said) // count)
        lines[-1:] = [f"{said[at * piece : (at + 1) * piece]}\n" for at in range(count)] + lines[
            -1:
        ]
        new = "".join(lines)
    old, made = scene.written(text), scene.written(new)
    return on_file(scene, path, old, made, name="heavy skill", intent=OPEN)


def in_long_skill(lot: Random) -> Attack:
    """What stands there already is long; little changes."""
    scene = make_scene(lot)
    lines = [_repeated(lot, 20_000)[: lot.choice([80, 20_000])] for _ in range(lot.choice([3, 40]))]
    text = "# Look\n\n" + "".join(f"{one}\n" for one in lines) + "The end of it\n"
    scene = replace(scene, files={**scene.files, LOOK: text})
    old = scene.written(text)
    new = scene.written(text.replace("The end of it", "The very end of it"))
    return on_file(scene, LOOK, old, new, (1, "git"), name="long skill", intent=OPEN)


def in_value(lot: Random) -> Attack:
    scene = make_scene(lot, lambda one: bool(one.prose()))
    entry = lot.choice(scene.prose())
    said = _repeated(lot, lot.choice([5_000, 60_000]))
    form = lot.choice(
        ["    {k}: {v}\n", '    {k}: "{v}"\n', "    {k}: '{v}'\n", "    {k}: |\n      {v}\n",
         "    {k}: >-\n      {v}\n", "    {k}:\n      - {v}\n", "    {k}: [{v}]\n",
         "    {k}: x # {v}\n"]
    )  # fmt: skip
    new = scene.swapped(entry.key, form.format(k=entry.key, v=said))
    return on_org(scene, new.org(), name="heavy value", intent=OPEN)


def in_header(lot: Random) -> Attack:
    """The path, the hunk header or what stands above are long."""
    scene = make_scene(lot)
    old = scene.contents()[ORG]
    made = on_file(
        scene, ORG, old, old.replace(b":", b": ", 1), name="heavy header", intent=HOSTILE
    )
    said = _repeated(lot).replace("\n", "")
    body = made.diff[made.diff.index(b"@@") :]
    diff = lot.choice(
        [header(said) + body, said.encode() + b"\n" + made.diff,
        header(ORG) + b"@@ -" + said.encode() + body,
         header(ORG) + b"@@ -1,1 +1,1 @@ " + said.encode() + b"\n" + body,
         b"--- " * 9_000 + b"\n" + made.diff,
         (header(ORG) * 500)[:60_000] + body, header(ORG) + b"@@ -1 +1 @@\n" * 5_000,
         header(f'"{said}"') + body, header(ORG) + b"@@ -" + b"9" * 50_000 + b" +1 @@\n"]
    )  # fmt: skip
    return made.having(diff, "heavy header")


PRODUCTIONS: tuple[Production, ...] = (
    in_skill,
    in_skill,
    in_long_skill,
    in_value,
    in_value,
    in_header,
)
