"""Bad vaults, one defect each and then pairs: no traceback, one sentence with the file, no harm.

`python -m tests.torture.vaults [COUNT [SEED]]`: COUNT defects; a third of them come in pairs.
`check`, `memory`, `stats`, `status`, `task list` and `wake list` run in this process over each.
Failures are saved under .torture/vaults/.
"""

import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.harbor import Harbor
from tests.torture.scene import model, save, workshop

DEFAULTS = ("600", "5")
COMMANDS = (
    ("check",), ("memory", "nova"), ("memory", "stats", "nova"), ("stats",), ("status",),
    ("task", "list", "--all"), ("wake", "list", "--all"), ("memory", "episodes", "nova"),
    ("proposal", "list", "--all"), ("ledger", "list"), ("recall", "nova", "the build"),
)  # fmt: skip
CONFLICT = b"<<<<<<< HEAD\nours: 1\n=======\ntheirs: 2\n>>>>>>> other\n"
# After these a file cannot be right, so that `check` must name it.
SURELY_BAD = frozenset({"half", "not utf-8", "conflict", "newer", "zeros", "a list", "a bomb"})

Harm = Callable[[bytes, random.Random], bytes]


def _half(content: bytes, _: random.Random) -> bytes:
    return content[: len(content) // 2].rstrip(b"\n")[:-3].rstrip(b"}")  # a row in halves, too


def _line(content: bytes, chance: random.Random, new: bytes) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    at = chance.randrange(len(lines))
    return b"".join([*lines[:at], new, *lines[at:]])


def _flipped(content: bytes, chance: random.Random) -> bytes:
    if not content:
        return b"\x07"
    at = chance.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1 :]


def _typed(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    keyed = [n for n, one in enumerate(lines) if b": " in one]
    if not keyed:
        return content + b"? [\n"
    at = chance.choice(keyed)
    value = chance.choice(
        (b"[]", b"{a: 1}", b"-1", b"~", b"yes", b"2026-13-45", b"1e999", b"!!x y")
    )
    lines[at] = lines[at].split(b": ", 1)[0] + b": " + value + b"\n"
    return b"".join(lines)


HARMS: dict[str, Harm] = {
    "empty": lambda _, __: b"",
    "half": _half,
    "not utf-8": lambda content, chance: _line(content, chance, b"\xff\xfe\x80\n"),
    "zeros": lambda content, _: b"\0" * max(8, len(content)),
    "conflict": lambda content, chance: _line(content, chance, CONFLICT),
    "a flipped bit": _flipped,
    "another type": _typed,
    "a key twice": lambda content, chance: content + _any_line(content, chance),
    "a line gone": lambda content, chance: content.replace(_any_line(content, chance), b"", 1),
    "an unknown key": lambda content, _: content + b"\nsurprise: 1\n",
    "newer": lambda content, _: content.replace(b"version: 1", b"version: 99").replace(
        b'"v":1', b'"v":99').replace(b'"version": 1', b'"version": 99'),
    "crlf": lambda content, _: content.replace(b"\n", b"\r\n"),
    "a mark": lambda content, _: b"\xef\xbb\xbf" + content,
    "tabs": lambda content, _: content.replace(b"  ", b"\t"),
    "a list": lambda _, __: b"[1, [2, {a: [3]}]]\n",
    "a bomb": lambda _, __: b"a: &a [x,x]\n" + b"".join(
        b"%c: &%c [*%c,*%c,*%c,*%c]\n" % (n + 1, n + 1, n, n, n, n) for n in range(97, 115)),
    "deep": lambda _, __: b"[" * 5000 + b"]" * 5000,
    "long": lambda content, _: content + b"x" * 300_000 + b"\n",
    "surrogates": lambda content, chance: _line(content, chance, b'{"id":"\\ud800","v":1}\n'),
}  # fmt: skip


def _any_line(content: bytes, chance: random.Random) -> bytes:
    return chance.choice(content.splitlines(keepends=True) or [b"\n"])


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _elsewhere(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/passwd")


def _copied(path: Path) -> None:
    shutil.copy(path, path.with_name(f"{path.stem} (conflicted copy){path.suffix}"))


PLACES: dict[str, Callable[[Path], None]] = {
    "is a folder": _folder,
    "is a link to itself": _loop,
    "is a link elsewhere": _elsewhere,
    "is gone": Path.unlink,
    "has a conflict copy": _copied,
}


@dataclass(frozen=True)
class Defect:
    """What is done to a file of the vault."""

    path: str
    how: str

    def make(self, root: Path, chance: random.Random) -> None:
        """Do it."""
        place = root / self.path
        if self.how in PLACES:
            PLACES[self.how](place)
        else:
            place.write_bytes(HARMS[self.how](place.read_bytes(), chance))


def targets(root: Path) -> list[str]:
    """The files of the vault that orgvault reads."""
    found = [
        path.relative_to(root).as_posix()
        for folder in (".agents/org", "Org/Backlog", ".agents/skills")
        for path in sorted((root / folder).rglob("*"))
        if path.is_file() and path.name != "org.schema.json"
    ]
    return [one for one in found if not one.endswith((".gitkeep",))]


def tried(harbor: Harbor, defects: Sequence[Defect]) -> tuple[str, list[str]]:
    """What the commands say of the defects, and what was wrong with that."""
    before = _tree(harbor.root)
    wrong = []
    said = ""
    for words in COMMANDS:
        told = harbor.run(*words, code=None, ORGVAULT_DEBUG="")
        text = told.out + told.err
        said += text if words == ("check",) else told.err
        if "Traceback" in text or "this is a bug" in text:
            wrong.append(f"{' '.join(words)}: {told.err[-500:]}")
        elif told.code and not told.err.strip() and words != ("check",):
            wrong.append(f"{' '.join(words)} ended with {told.code} and said nothing")
    if _tree(harbor.root) != before:
        wrong.append("reading commands changed files")
    named = all(Path(one.path).name in said for one in defects)
    wrong += [
        f"nothing names {one.path}, which is {one.how}"
        for one in defects
        if one.how in SURELY_BAD
        and one.path.endswith((".yaml", ".json", ".jsonl"))
        and Path(one.path).name not in said
    ]
    return "named" if named else "not named", wrong


def _tree(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink() and ".git" not in path.relative_to(root).parts
    }


def trials(count: int, seed: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """So many bad vaults; counts, and what was wrong."""
    chance = random.Random(seed)  # noqa: S311 - to be repeated
    (folder / "model").mkdir()
    good = model(folder / "model").root
    paths, hows = targets(good), [*HARMS, *PLACES]
    done: Counter[str] = Counter()
    told: list[str] = []
    for number in range(count):
        pair = number >= count * 2 // 3
        chosen = chance.sample(paths, 2 if pair else 1)
        defects = [Defect(path, chance.choice(hows)) for path in chosen]
        root = folder / f"v{number}"
        shutil.copytree(good, root, symlinks=True)
        for one in defects:
            one.make(root, chance)
        outcome, wrong = tried(Harbor(root), defects)
        done[outcome] += 1
        if wrong:
            done["wrong"] += 1
            what = "; ".join(f"{one.path} {one.how}" for one in defects)
            told += [f"{number}, seed {seed}: {what}", *(f"    {one}" for one in wrong)]
            save("vaults", f"{seed} {number}", [what, *wrong], root)
        shutil.rmtree(root)
    return done, told


def main(given: Sequence[str]) -> int:
    """Try them all; 1 when something was wrong."""
    with workshop() as folder:
        done, told = trials(int(given[0]), int(given[1]), folder)
    print(f"seed {given[1]}: {dict(done)}", *told, sep="\n")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main([*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]))
