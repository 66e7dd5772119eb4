"""Diffs as git and other tools write them, from two contents; shares nothing with orgvault."""

from dataclasses import dataclass
from difflib import SequenceMatcher

MARKER = b"\\ No newline at end of file\n"


@dataclass(frozen=True)
class Piece:
    """One hunk: first lines (from 1) and counts on both sides, and its lines with their marks."""

    old: tuple[int, int]
    new: tuple[int, int]
    lines: tuple[bytes, ...]

    def text(self) -> bytes:
        head = f"@@ -{self.old[0]},{self.old[1]} +{self.new[0]},{self.new[1]} @@\n"
        return head.encode() + b"".join(self.lines)


def header(path: str, form: str = "git") -> bytes:
    """What stands above the hunks: `git`, `index` (with the blobs' names), `plain` or `quoted`.

    `quoted` is how git writes a name that is not ASCII, unless core.quotePath is off.
    """
    tab = "\t" if " " in path else ""
    old, new = f"a/{path}", f"b/{path}"
    if form == "quoted" and not path.isascii():
        raw = path.encode("utf-8", "surrogateescape")
        said = "".join(chr(byte) if byte < 128 else f"\\{byte:03o}" for byte in raw)
        old, new, tab = f'"a/{said}"', f'"b/{said}"', ""
    names = f"--- {old}{tab}\n+++ {new}{tab}\n"
    above = "" if form == "plain" else f"diff --git {old} {new}\n"
    above += "index 0123456..89abcde 100644\n" if form == "index" else ""
    return (above + names).encode("utf-8", "surrogateescape")


def split(content: bytes) -> list[bytes]:
    """Lines with their ends; only LF ends one."""
    parts = content.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def hunks(old: bytes, new: bytes, context: int = 3) -> list[Piece]:
    """The hunks between two contents."""
    before, after = split(old), split(new)
    same = next(
        (at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]),
        min(len(before), len(after)),
    )
    cut = max(0, same - context)  # difflib is slow on long files
    found = []
    matcher = SequenceMatcher(None, before[cut:], after[cut:], autojunk=False)
    for group in matcher.get_grouped_opcodes(context):
        start, stop = group[0][1] + cut, group[-1][2] + cut
        new_start, new_stop = group[0][3] + cut, group[-1][4] + cut
        lines: list[bytes] = []
        for op, at, end, new_at, new_end in group:
            if op == "equal":
                lines += [b" " + one for one in before[at + cut : end + cut]]
                continue
            lines += [b"-" + one for one in before[at + cut : end + cut]]
            lines += [b"+" + one for one in after[new_at + cut : new_end + cut]]
        ended = tuple(one if one.endswith(b"\n") else one + b"\n" + MARKER for one in lines)
        found.append(Piece(_range(start, stop), _range(new_start, new_stop), ended))
    return found


def make_diff(path: str, old: bytes, new: bytes, context: int = 3, form: str = "git") -> bytes:
    """The whole diff; only a header when nothing differs."""
    return header(path, form) + b"".join(one.text() for one in hunks(old, new, context))


def _range(start: int, stop: int) -> tuple[int, int]:
    return (start + (stop > start), stop - start)
