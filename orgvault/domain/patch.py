"""Unified diffs of one file, as git writes them: made from two contents, and put on a third."""

import re

_NO_NEWLINE = b"\\ No newline at end of file\n"
# What git quotes in a path: control characters, quotes and backslashes.
_QUOTED = re.compile(r'[\x00-\x1f"\\\x7f]')


def unified(path: str, old: bytes, new: bytes) -> bytes:
    """The diff from one content to another, both with their own line ends; empty when alike.

    `git apply` takes it where the working file is `old`, whatever core.autocrlf says: for that a
    file with CRLF needs a diff with CRLF.
    """
    from difflib import unified_diff

    was, will_be = ([raw.decode("latin-1") for raw in _split(one)] for one in (old, new))
    found = [one.encode("latin-1") for one in unified_diff(was, will_be)][2:]
    if not found:
        return b""
    before, after = _named(f"a/{path}"), _named(f"b/{path}")
    tab = "\t" if " " in path and not before.startswith('"') else ""  # as git ends such a name
    head = f"diff --git {before} {after}\n--- {before}{tab}\n+++ {after}{tab}\n"
    body = (one if one.endswith(b"\n") else one + b"\n" + _NO_NEWLINE for one in found)
    return b"".join([head.encode(), *body])


def applied(diff: bytes, old: bytes) -> bytes | None:
    """A content with a diff put on it, in the line ends of the content.

    Strict: None unless every line of every hunk stands just where the hunk says.
    """
    from orgvault.domain.gate.diffs import apply_diff, read_diff
    from orgvault.domain.gate.refused import Refused

    if b"\r\n" not in old:  # git may hold with LF what stands in the working tree with CRLF
        diff = diff.replace(b"\r\n", b"\n")
    try:
        return apply_diff(read_diff(diff), old).written()
    except Refused:
        return None


def _split(content: bytes) -> list[bytes]:
    """Lines with their ends; only a line feed ends one."""
    *lines, last = content.split(b"\n")
    return [*(line + b"\n" for line in lines), *([last] if last else [])]


def _named(path: str) -> str:
    if not _QUOTED.search(path):
        return path
    return '"' + _QUOTED.sub(lambda c: f"\\{ord(c[0]):03o}", path) + '"'


def as_lf(content: bytes) -> bytes:
    """A content without regard to its line ends, which git may convert."""
    return content.replace(b"\r\n", b"\n")


def is_edited(one: bytes | None, other: bytes | None) -> bool:
    """Whether two contents (None: no file) differ in more than their line ends."""
    if one is None or other is None:
        return one is not other
    return as_lf(one) != as_lf(other)
