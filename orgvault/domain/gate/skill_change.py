"""Rule 5 of the gate: of a skill file the body may change, and the frontmatter's description.

Nothing that is more than text may come: an embed, a part or tag of a prompt, a comment, a
script, a query, or a link out of the agent's knowledge.  The whole new text is judged against
the whole old one, so that no two halves can be joined.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from html import unescape
from typing import NamedTuple
from unicodedata import normalize

from orgvault.domain.folding import tags
from orgvault.domain.gate.diffs import Applied
from orgvault.domain.gate.refused import Refused
from orgvault.domain.gate.trees import Change, Comparison, Side
from orgvault.domain.proposal import BODY, Edit, Rule
from orgvault.domain.yaml_tree import compose

# So that any answer comes within a fifth of a second.
CHARACTERS_MAX = 100_000
_DESCRIPTION = Comparison(Rule.SKILL, (), ("description",))
_FRONTMATTER = re.compile(r"\A\ufeff?---[ \t]*\n(?P<keys>(?:.*\n)*?)---[ \t]*(?:\n|\Z)")
_BEGINS_LIKE_ONE = re.compile(r"[\ufeff\s]*---[ \t]*(?:\n|\Z)")
_FIRST_LINE = 2  # of the keys, below the opening `---`


class Found(NamedTuple):
    """Something that is more than text: what it is, its own words, and where a link leads.

    The words begin with the backslashes before it: what is escaped is another thing.
    """

    what: str
    words: str
    target: str = ""


def skill_edits(applied: Applied, leads_inside: Callable[[str, bool], bool]) -> list[Edit]:
    """What changes in a skill file; raises Refused.

    `leads_inside` says of a link's target whether it is a file of the agent's knowledge; its
    second argument is whether the target counts from the vault's root, as in `[[…]]`.
    """
    longest = max(len(applied.old), len(applied.new))
    if longest > CHARACTERS_MAX:
        why = f"it has {longest:,} characters, at most {CHARACTERS_MAX:,} are looked through"
        raise Refused(Rule.SKILL, why)
    changes, begin = _frontmatter_changes(applied)
    for change in changes:
        if change.new is None:
            raise Refused(Rule.SKILL, f"it takes `{change.key}` out", change.key, change.line)
    edits = [change.edit() for change in changes]
    # The values too: quotes in YAML can write any character.
    values = (("\n".join(one.before or ()), "\n".join(one.after or ())) for one in edits)
    for old, new in ((applied.old, applied.new), *values):
        _only_text(old, new, applied, leads_inside)
    for hunk in applied.diff.hunks:
        if any(line > begin for mark in "+-" for line, _ in hunk.changed(mark)):
            before, after = (
                tuple(text.removesuffix("\n") for text in hunk.side(mark)) for mark in "-+"
            )
            edits.append(Edit(key=BODY, before=before, after=after))
    return edits


def _frontmatter_changes(applied: Applied) -> tuple[list[Change], int]:
    """What changes in the frontmatter, and how many lines it has at least."""
    old, new = (_FRONTMATTER.match(text) for text in (applied.old, applied.new))
    for match, text in ((old, applied.old), (new, applied.new)):
        if match is None and _BEGINS_LIKE_ONE.match(text):
            raise Refused(Rule.SKILL, "its frontmatter does not stand at the top, or has no end")
    if old is None or new is None:
        if old is not new:
            raise Refused(Rule.SKILL, "it adds a frontmatter, or takes it away", "", 1)
        return [], 0
    begin = min(one[0].count("\n") for one in (old, new))
    if old[0] == new[0]:
        return [], begin
    sides = [
        Side(one["keys"], compose(one["keys"], "", first_line=_FIRST_LINE), _FIRST_LINE)
        for one in (old, new)
    ]
    for side in sides:
        if side.document.root is None:
            line = next((one.line for one in side.document.problems), _FIRST_LINE)
            raise Refused(Rule.SKILL, "its frontmatter cannot be read as YAML", "", line)
    changes = _DESCRIPTION.changes(*sides)
    if applied.old[: old.start("keys")] != applied.new[: new.start("keys")] or (
        old[0][old.end("keys") :] != new[0][new.end("keys") :]
    ):
        raise Refused(Rule.SKILL, "it changes the marks around the frontmatter", "", 1)
    return changes, begin


def _only_text(
    before: str, after: str, applied: Applied, leads_inside: Callable[[str, bool], bool]
) -> None:
    for view in (str, _without_code, _without_indented):
        old, new = (_plain(view(text)) for text in (before, after))
        more = Counter(_found(new)) - Counter(_found(old))
        for one in [*more, *(Counter(_comments(old)) - Counter(_comments(new)))]:
            if one.what != _LINK or not leads_inside(one.target, _FROM_ROOT in one.target):
                line = _line_of(one, applied)
                words = (one.target if one.what == _LINK else one.words)[:60]
                raise Refused(Rule.SKILL, f"it adds {one.what}: `{words}`", "", line)


_LINK = "a link out of the agent's knowledge"
_COMMENT = "a comment, or takes the end of one away"
_SCRIPT = "a script or a query"
_FROM_ROOT = "[["
_ELEMENTS = (
    "script|style|iframe|frame|frameset|object|embed|applet|portal|template|img|image|svg|math"
    "|video|audio|source|track|picture|link|meta|base|form|a|area"
)
_QUERIES = (
    "dataview(?:js)?|query|tasks|templater|js-engine|bases?|meta-bind[\\w-]*|button"
    "|dynamic-embed|embed|run-\\w+"
)
_COMMENT_MARKS = re.compile(r"<!(?:--)?|--!?>|%%")
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (what, re.compile(pattern, re.IGNORECASE))
    for what, pattern in (
        ("an embed", r"!\[\[?[^\[\]]{0,80}\]?"),
        (_SCRIPT, rf"</?(?:{_ELEMENTS})(?![\w-])|<[?%]"),
        (_SCRIPT, r"</?[a-z][^<>]{0,500}?[\s/\"'](?:on\w{1,30}|src|href|style|action)\s?="),
        (_SCRIPT, r"(?:java|vb|live)script\s?:|\bdata:\s?\w{1,30}/"),
        (
            _SCRIPT,
            rf"(?:(?<!`)`{{3,}}+|(?<!~)~{{3,}}+)\s?\{{?[.\s]?(?:{_QUERIES})\b|`\s?\$?=[^`]{{0,80}}",
        ),
    )
)
_URL = re.compile(
    r"(?<![a-z])[a-z][a-z0-9+.-]{0,30}://[^\s<>)\]]*|\bwww\.\w[^\s<>)\]]*"
    r"|(?<![a-z])(?:mailto|obsidian|file|tel|sms|blob|ssh|git):[^\s<>)\]]+"
    r"|<[^\s<>@]{1,64}@[^\s<>@]{1,255}>",
    re.IGNORECASE,
)
_WIKI = re.compile(r"\[\[[^\[\]\n]*")
_TARGET = r"\s?(?:<([^<>\n]*)>?|([^\s()<>]*))"
_INLINE = re.compile(rf"\]\({_TARGET}")
_WHOLE_INLINE = re.compile(rf"\[[^\[\]]*\]\({_TARGET}")
# With what follows: `[x](…)` puts no definition of x to use.
_LABEL = re.compile(r"\[([^\[\]]{1,999})\](\(?)")
_DEFINITION = re.compile(
    rf"^(?:[ >]|[-*+] |[0-9]{{1,9}}[.)] )*+\[([^\[\]]{{1,999}})\]:{_TARGET}", re.MULTILINE
)


def _found(text: str) -> Iterator[Found]:
    """Everything in a text that is more than text, each as often as it stands there."""
    yield from (Found("a section tag", f"{_escapes(tag)}<{tag[1]}") for tag in tags(text))
    yield from _comments(text)
    for what, pattern in _PATTERNS:
        yield from (Found(what, _escapes(match) + match[0]) for match in pattern.finditer(text))
    for pattern in (_URL, _WIKI):
        yield from (
            Found(_LINK, _escapes(match) + match[0], match[0]) for match in pattern.finditer(text)
        )
    for pattern in (_INLINE, _WHOLE_INLINE):
        for match in pattern.finditer(text):
            target = match[1] or match[2] or ""
            yield Found(_LINK, f"{_escapes(match)}{match[0][0]}{target}", target)
    defined = {
        " ".join(match[1].casefold().split()): match[2] or match[3] or ""
        for match in _DEFINITION.finditer(text)
        if not match[1].startswith("^")  # a footnote
    }
    yield from (Found(_LINK, target, target) for target in defined.values())
    for match in _LABEL.finditer(text) if defined else ():
        label = " ".join(match[1].casefold().split())
        if label in defined:
            target = defined[label]
            yield Found(_LINK, f"{_escapes(match)}{target}{match[2]}", target)


def _escapes(match: re.Match[str]) -> str:
    """The backslashes before what was found."""
    begin = match.start()
    while begin and match.string[begin - 1] == "\\":
        begin -= 1
    return match.string[begin : match.start()]


def _comments(text: str) -> Iterator[Found]:
    """The marks of comments; `-->` is an arrow where nothing begins one."""
    ends = "<!" in text
    marks = (match[0] for match in _COMMENT_MARKS.finditer(text))
    return (Found(_COMMENT, mark) for mark in marks if ends or not mark.endswith(">"))


def _plain(text: str) -> str:
    """The text as a reader sees it: entities and look-alikes resolved, line by line."""
    return "\n".join(map(_plain_line, text.split("\n")))


def _plain_line(line: str) -> str:
    if not line.isascii() or "&" in line:
        line = normalize("NFKC", unescape(line))
        line = "".join(char for char in line if char not in _WITHOUT_WIDTH)
    return re.sub(r"\s+", " ", line)


_WITHOUT_WIDTH = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_FENCE = re.compile(r"[ >\t]*+(?:[-*+]\s|\d++[.)]\s)?[ \t]*+(`{3,}|~{3,})(.*)")
_INDENTED = re.compile(r" {4}| {0,3}\t")
_INLINE_CODE = re.compile(r"(?<!`)(`++)[^`\n]++\1(?!`)")


def _without_code(text: str) -> str:
    """The text with its fenced and inline code taken out, each line in its place."""
    lines, fence = [], ""
    for line in text.split("\n"):
        mark = _FENCE.fullmatch(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence) and not mark[2].strip()
            fence = "" if closes else fence
            lines.append("")
        elif mark is not None and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
            lines.append("")
        else:
            lines.append(_INLINE_CODE.sub("", line))
    return "\n".join(lines)


def _without_indented(text: str) -> str:
    """The text also without the lines that stand as code by their indentation."""
    lines = _without_code(text).split("\n")
    return "\n".join("" if _INDENTED.match(line) else line for line in lines)


def _line_of(found: Found, applied: Applied) -> int:
    """The first changed line that holds the words; else the first changed line."""
    changed = applied.diff.changed("+") or applied.diff.changed("-")
    holding = (line for line, text in changed if found.words in _plain(text))
    return next(holding, changed[0][0])
