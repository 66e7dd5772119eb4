"""Rules 1 and 2 of the gate: what a diff must be, and applying it without any tolerance.

The reading is our own and strict: what git writes for a change of one text file, and nothing
else.  unidiff then reads the same bytes and must have seen the same; it comes second because it
is lenient, and slow on lines that are made to be.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

from orgvault.domain.gate.refused import Refused
from orgvault.domain.proposal import Rule
from orgvault.domain.yaml_tree import CHARACTERS_MAX

DIFF_BYTES_MAX = 64 * 1024
CHANGED_LINES_MAX = 40
_MARKER = "\\ No newline at end of file"
_HUNK = re.compile(
    r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@(?: .*)?"
)
_INDEX = re.compile(r"index [0-9a-f]{4,64}\.\.[0-9a-f]{4,64}(?: 100(?:644|755))?")
_OLD_NAME, _NEW_NAME = (
    re.compile(mark + r' ("[^\t]*"|[^"\t][^\t]*)(?:\t[0-9:.+ -]*)?') for mark in ("---", r"\+\+\+")
)
# What git writes above the hunks of a change that is more than one of content.
_NOT_CONTENT = {
    "rename ": "renames a file",
    "similarity index": "renames or copies a file",
    "dissimilarity index": "rewrites a file",
    "copy ": "copies a file",
    "old mode": "changes the mode of a file",
    "new mode": "changes the mode of a file",
    "new file mode": "creates a file",
    "deleted file mode": "deletes a file",
    "Binary file": "changes a binary file",
    "GIT binary patch": "changes a binary file",
}
_SECOND_FILE = ("diff ", "--- ", "+++ ", "Index: ", "index ", *_NOT_CONTENT)


class Line(NamedTuple):
    """A line of a hunk: its mark (` `, `-` or `+`), and its text with the newline it has."""

    mark: str
    text: str


class Hunk(NamedTuple):
    """Lines that stand together; `old_at` and `new_at` count lines of the file from 0."""

    old_at: int
    new_at: int
    lines: tuple[Line, ...]

    def side(self, mark: str) -> list[str]:
        """The texts before (`-`) or after (`+`), with the context."""
        return [line.text for line in self.lines if line.mark in {" ", mark}]

    def changed(self, mark: str) -> Iterator[tuple[int, str]]:
        """(line number from 1, text without newline) of what is added (`+`) or removed (`-`)."""
        at = self.new_at if mark == "+" else self.old_at
        for line in self.lines:
            if line.mark == mark:
                yield at + 1, line.text.removesuffix("\n")
            at += line.mark in {" ", mark}


class Diff(NamedTuple):
    """A diff of one file; `has_crlf` when all of its own lines end with CR LF."""

    path: str
    hunks: tuple[Hunk, ...]
    has_crlf: bool

    def changed(self, mark: str) -> list[tuple[int, str]]:
        """`Hunk.changed` of all hunks."""
        return [one for hunk in self.hunks for one in hunk.changed(mark)]


class Applied(NamedTuple):
    """The texts before and after, with LF line ends whatever the file has."""

    old: str
    new: str
    diff: Diff
    has_crlf: bool

    def written(self) -> bytes:
        """The file's bytes after the change, with its own line ends."""
        return (self.new.replace("\n", "\r\n") if self.has_crlf else self.new).encode()


def read_diff(diff: bytes) -> Diff:
    """The one file and the hunks of a diff; raises Refused."""
    if len(diff) > DIFF_BYTES_MAX:
        _refuse(f"it has {len(diff):,} bytes, at most {DIFF_BYTES_MAX:,} are read")
    try:
        text = diff.decode()
    except UnicodeDecodeError:
        _refuse("it is not UTF-8 text")
    lines = text.split("\n")
    has_crlf = len(lines) > 1 and all(line.endswith("\r") for line in lines[:-1])
    if has_crlf:
        lines = [line.removesuffix("\r") for line in lines]
    begin = next((at for at, line in enumerate(lines) if _HUNK.fullmatch(line)), None)
    if begin is None:
        _refuse("it has no hunks")
    if lines.pop():
        _refuse("its last line does not end")
    path = _path(lines[:begin])
    changed = sum(line[:1] in {"+", "-"} for line in lines[begin:])
    if changed > CHANGED_LINES_MAX:
        why = f"it changes {changed} lines, at most {CHANGED_LINES_MAX} are one small change"
        raise Refused(Rule.SIZE, why)
    hunks = tuple(_hunks(lines, begin))
    if not all(any(line.mark != " " for line in hunk.lines) for hunk in hunks):
        _refuse("a hunk of it changes nothing")  # to git it is corrupt
    _second_opinion(lines, hunks)
    return Diff(path, hunks, has_crlf)


def apply_diff(diff: Diff, content: bytes) -> Applied:
    """The file before and after; raises Refused where a line is not where the diff says."""
    try:
        old = content.decode()
    except UnicodeDecodeError:
        _refuse("the file is not UTF-8 text")
    if "\0" in old or len(old) > CHARACTERS_MAX:
        _refuse(f"the file is not a text of at most {CHARACTERS_MAX:,} characters")
    has_crlf = "\r\n" in old
    if has_crlf:
        old, diff = _as_lf(old, diff)
    elif diff.has_crlf:
        _refuse("its lines end with CR LF, those of the file do not")
    after = _lines_after(_kept_ends(old), diff.hunks)
    new = "".join(after)
    if not new or new.endswith("\n") != old.endswith("\n") or _kept_ends(new) != after:
        _refuse("it does not keep the end of the file", len(after))
    if new == old:
        _refuse("it changes nothing")
    return Applied(old, new, diff, has_crlf)


def _lines_after(lines: Sequence[str], hunks: Sequence[Hunk]) -> list[str]:
    """The lines with each hunk exactly where it says; neither fuzz nor offset."""
    after: list[str] = []
    at = 0
    for hunk in hunks:
        before = hunk.side("-")
        end = hunk.old_at + len(before)
        if hunk.old_at < at:
            _refuse("its hunks overlap, or are not in order", hunk.old_at + 1)
        if lines[hunk.old_at : end] != before:
            _refuse("its lines are not those of the file", _first_other(lines, hunk))
        if hunk.lines[-1].mark != " " and end < len(lines):
            _refuse("a hunk ends without a line of context", end)
        after += lines[at : hunk.old_at]
        if hunk.new_at != len(after):
            _refuse("a hunk's numbers of old and new lines do not agree", hunk.old_at + 1)
        after += hunk.side("+")
        at = end
    return [*after, *lines[at:]]


def _refuse(why: str, line: int = 0) -> NoReturn:
    raise Refused(Rule.SHAPE, why, "", line)


def _path(header: Sequence[str]) -> str:
    """The path of the one file, from what stands above the first hunk."""
    for line in header:
        for start, what in _NOT_CONTENT.items():
            if line.startswith(start):
                _refuse(f"it {what}; only the lines of one file may change")
    *above, first, second = header if len(header) > 1 else ("", "")
    old, new = _OLD_NAME.fullmatch(first), _NEW_NAME.fullmatch(second)
    if old is None or new is None:
        _refuse("two lines `--- a/<path>` and `+++ b/<path>` must stand above its hunks")
    expected = [f"diff --git {old[1]} {new[1]}", *filter(_INDEX.fullmatch, above[-1:])]
    if above not in (expected, expected[1:]):
        _refuse(f"`{above[0][:60]}` is no part of a diff of one file")
    before, after = _unquoted(old[1]), _unquoted(new[1])
    if "/dev/null" in {before, after}:
        _refuse("it creates or deletes a file")
    if not before.startswith("a/") or not after.startswith("b/"):
        _refuse("its two names must begin with `a/` and `b/`")
    if before[2:] != after[2:]:
        _refuse("it moves a file")
    return before[2:]


_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


def _unquoted(name: str) -> str:
    """A file name as git writes it in quotes (https://git-scm.com/docs/git-config, quotePath)."""
    if not name.startswith('"'):
        return name

    def byte(found: re.Match[bytes]) -> bytes:
        said = found[1].decode()
        return bytes([_ESCAPES[said] if said in _ESCAPES else int(said, 8)])

    inside = name[1:-1].encode()
    if not re.fullmatch(rb'(?:[^"\\]|\\(?:[0-3][0-7]{2}|[abtnvfr"\\]))*', inside):
        _refuse("a file's name is quoted in no way that git knows")
    try:
        return re.sub(rb'\\([0-3][0-7]{2}|[abtnvfr"\\])', byte, inside).decode()
    except UnicodeDecodeError:
        _refuse("a file's name is not UTF-8")


def _hunks(lines: Sequence[str], at: int) -> Iterator[Hunk]:
    while at < len(lines):
        header = _HUNK.fullmatch(lines[at])
        if header is None:
            if lines[at].startswith(_SECOND_FILE):
                _refuse("it is about more than one file; a proposal changes one")
            _refuse(f"line {at + 1} of the diff is more than the hunk above it promises")
        begin, (old, new) = at + 1, _counts(header)
        at = _body_end(lines, begin, old, new)
        body = tuple(_body(lines[begin:at]))
        # Of a side without lines the header names the line above.
        yield Hunk(int(header[1]) - (old > 0), int(header[3]) - (new > 0), body)


def _counts(header: re.Match[str]) -> tuple[int, int]:
    return int(header[2] or 1), int(header[4] or 1)


def _body_end(lines: Sequence[str], begin: int, old: int, new: int) -> int:
    """Where the body of a hunk ends that has so many lines before and after."""
    at = begin
    while old > 0 or new > 0:
        mark = (lines[at][:1] or " ") if at < len(lines) else ""
        if mark not in {" ", "-", "+", "\\"}:
            _refuse(f"line {begin} of the diff promises more lines than follow")
        old -= mark in {" ", "-"}
        new -= mark in {" ", "+"}
        at += 1
    if old or new:
        _refuse(f"line {begin} of the diff promises other numbers of lines than follow")
    return at + (at < len(lines) and lines[at].startswith("\\"))


def _body(lines: Sequence[str]) -> Iterator[Line]:
    for at, line in enumerate(lines):
        if line.startswith("\\"):
            if line != _MARKER or not at or lines[at - 1].startswith("\\"):
                _refuse("`\\` begins no line but the one that says a last line has no end")
            continue
        is_cut = lines[at + 1 : at + 2] == [_MARKER]
        # An editor may have taken the blank of an empty line of context; git allows it.
        yield Line(line[:1] or " ", line[1:] if is_cut else f"{line[1:]}\n")


def _second_opinion(lines: Sequence[str], hunks: Sequence[Hunk]) -> None:
    """Read the same lines with unidiff: it must see one changed file and our counts."""
    from unidiff.patch import PatchSet

    patch = PatchSet(f"{line}\n" for line in lines)
    seen = [
        (one.is_modified_file and not one.is_rename and not one.is_binary_file, len(one))
        for one in patch
    ]
    ours = [sum(line.mark == mark for hunk in hunks for line in hunk.lines) for mark in "+-"]
    if seen != [(True, len(hunks))] or [patch.added, patch.removed] != ours:
        _refuse("unidiff reads it in another way")


def _as_lf(text: str, diff: Diff) -> tuple[str, Diff]:
    """A CR LF file and the diff of it, both with LF."""
    if text.count("\n") != text.count("\r\n"):
        line = next(at for at, one in enumerate(text.split("\n"), 1) if not one.endswith("\r"))
        _refuse("the file's lines end with LF and with CR LF: make them one first", line)
    ended = [line.text for hunk in diff.hunks for line in hunk.lines if line.text.endswith("\n")]
    if ended and all(text.endswith("\r\n") for text in ended):
        hunks = tuple(
            hunk._replace(
                lines=tuple(Line(one.mark, one.text.replace("\r\n", "\n")) for one in hunk.lines)
            )
            for hunk in diff.hunks
        )
        diff = diff._replace(hunks=hunks)
    return text.replace("\r\n", "\n"), diff


def _kept_ends(text: str) -> list[str]:
    """The lines with their newlines; only LF ends a line."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _first_other(lines: Sequence[str], hunk: Hunk) -> int:
    """The line, from 1, on which a file first differs from what a hunk says."""
    said = hunk.side("-")
    same = (lines[hunk.old_at + n : hunk.old_at + n + 1] == [text] for n, text in enumerate(said))
    return hunk.old_at + next(n for n, one in enumerate(same) if not one) + 1
