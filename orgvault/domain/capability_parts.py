"""The capability parts of system.md: each is kept, without its tags, or dropped.

`<capability name="notes">…</capability>`, the tags on lines of their own or within one.  Parts do
not stand inside each other.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from orgvault.domain.problem import Problem
from orgvault.errors import BrokenTemplate

TEMPLATE = ".agents/org/prompts/system.md"
PARTS = (
    "notes",
    "scripts",
    "browser",
    "coding",
    "no_coding",
    "memory",
    "no_memory",
    "memory_write",
)
# Anything that looks like the tag: what is not of its exact form is a mistake, never text.
_TAG = re.compile(r"<\s*(/?)\s*capability\b[^<>]*>?", re.IGNORECASE)
_OPENING = re.compile(r'<capability name="([^"<>]+)">')
_CLOSING = "</capability>"
# What a dropped part leaves behind.
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


class _Tag(NamedTuple):
    start: int
    end: int
    name: str  # empty for a closing one


def resolve(template: str, held: frozenset[str], file: str) -> str:
    """The template with the parts of `held`, and without the others.

    Raises BrokenTemplate with everything that is wrong.
    """
    text, found = _resolved(template, held, file)
    if found:
        raise BrokenTemplate(found)
    return text


def problems(template: str, file: str) -> tuple[Problem, ...]:
    """Everything that is wrong with a template's parts."""
    return tuple(_resolved(template, frozenset(), file)[1])


def _resolved(template: str, held: frozenset[str], file: str) -> tuple[str, list[Problem]]:
    found: list[Problem] = []
    pieces: list[str] = []
    done = 0
    opened: _Tag | None = None
    for tag in _tags(template, file, found):
        if opened is None and tag.name:
            pieces.append(template[done : tag.start])
            opened = tag
        elif opened is not None and not tag.name:
            if opened.name in held:
                pieces.append(template[opened.end : tag.start])
            opened = None
            done = tag.end
        else:
            what = "a part inside another one" if tag.name else "no part is open here"
            do = "close the first one before it" if tag.name else "take the tag out"
            found.append(Problem(file, _line(template, tag.start), what, do))
    if opened is not None:
        what = f'the part "{opened.name}" is never closed'
        found.append(Problem(file, _line(template, opened.start), what, f"add {_CLOSING}"))
    pieces.append(template[done:])
    return _BLANK_LINES.sub("\n\n", "".join(pieces)), found


def _tags(template: str, file: str, found: list[Problem]) -> Iterator[_Tag]:
    for match in _TAG.finditer(template):
        opening = _OPENING.fullmatch(match[0])
        if match[0] == _CLOSING:
            yield _Tag(match.start(), match.end(), "")
        elif opening is None:
            do = f'write <capability name="notes">, and {_CLOSING} after the part'
            what = f"not a capability tag as it is written: {match[0][:60]}"
            found.append(Problem(file, _line(template, match.start()), what, do))
        elif opening[1] not in PARTS:
            what = f'no capability part is called "{opening[1]}"'
            found.append(Problem(file, _line(template, match.start()), what, _near(opening[1])))
            yield _Tag(match.start(), match.end(), opening[1])
        else:
            yield _Tag(match.start(), match.end(), opening[1])


def _near(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, PARTS, n=1)
    return f'did you mean "{near[0]}"?' if near else f"known parts: {', '.join(PARTS)}"


def _line(template: str, at: int) -> int:
    return template.count("\n", 0, at) + 1
