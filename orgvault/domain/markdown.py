"""The structure of a Markdown text as Obsidian sees it: the one module that knows a parser.

The parser tells no positions inside a line.  So each place that might be looked for gets a mark
of characters that the text does not have, and what the parser makes of the text tells by its
marks where in the text it stands.  The text itself is never written anew.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, cast

from orgvault.values import dataclass

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_PLACES = re.compile(r"!\[\[|!\[|%%")
_LINE_END = re.compile(r"\r\n?|\n")
# Deeper than people write; the parser looks no further.
_NESTING = 40
# Where something can begin inside a line.
_BEGINNINGS = re.compile(r"!\[|%%|[`$\\\[\]]|<[A-Za-z/!?]")
# Characters that are looked through for the ends of links and HTML in one text: one of nothing
# but brackets would otherwise take minutes.  Beyond it brackets are just brackets.
_EFFORT = 2_000_000
# Longer words than these name no file.
_LINK_CHARS = 2000


@dataclass(frozen=True)
class Image:
    """`![…](target)`, from `start` to `end`."""

    start: int
    end: int
    target: str


@dataclass(frozen=True)
class Block:
    """A block: its kind, how it is nested, from which line up to which (from 0)."""

    kind: str
    above: tuple[str, ...]
    first: int
    last: int
    level: int  # of a heading
    text: str


@dataclass(frozen=True)
class Structure:
    """What was found: places as offsets of characters."""

    wikis: tuple[int, ...]  # where each `![[` begins that opens an embed
    images: tuple[Image, ...]
    comments: tuple[tuple[int, int], ...]
    blocks: tuple[Block, ...]
    lines: tuple[int, ...]  # where each line begins, and the end


@lru_cache(maxsize=4)
def structure(text: str) -> Structure:
    """The structure of a text that has no properties."""
    return _Reading(text).structure()


def line_starts(text: str) -> tuple[int, ...]:
    """Where each line begins, and the end of the text."""
    starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
    return (*starts, len(text))


class _Reading:
    """One text being read; the parser's rules say here what they meet."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._places = [found.span() for found in _PLACES.finditer(text)]
        self._sign = next(char for char in map(chr, range(0xE000, 0xF8FF)) if char not in text)
        self.mark = re.compile(f"{self._sign}(\\d+){self._sign}")
        self._wikis: list[int] = []
        self._images: list[Image] = []
        self._comments: list[tuple[int, int]] = []

    def structure(self) -> Structure:
        ends = [end for _, end in self._places]
        pieces = map(self._text.__getitem__, map(slice, [0, *ends], [*ends, None]))
        marks = accumulate(ends, lambda number, _: number + 1, initial=0)
        marked = "".join(
            f"{piece}{self._sign}{number}{self._sign}" if number < len(ends) else piece
            for piece, number in zip(pieces, marks, strict=True)
        )
        env: dict[str, Any] = {
            "reading": self, "sums_until": _last_sum(marked), "effort": _EFFORT,
        }  # fmt: skip
        blocks = tuple(_blocks(_parser().parse(marked, env), self.mark))
        return Structure(
            tuple(self._wikis),
            tuple(self._images),
            tuple(self._comments),
            blocks,
            line_starts(self._text),
        )

    def wiki(self, number: int) -> None:
        self._wikis.append(self._places[number][0])

    def image(self, written: str, target: str) -> None:
        found = cast("re.Match[str]", self.mark.search(written))  # after each `![`
        start = self._places[int(found[1])][0]
        plain = self.mark.sub("", written)
        if (end := self._end(start, plain)) is not None:
            self._images.append(Image(start, end, self.mark.sub("", target)))

    def comment(self, opens: int, closes: int | None) -> None:
        end = len(self._text) if closes is None else self._places[closes][1]
        self._comments.append((self._places[opens][0], end))

    def _end(self, at: int, plain: str) -> int | None:
        """Where a piece ends in the text; in a table a bar is written with a backslash."""
        for char in plain:
            if char == "|" and self._text.startswith("\\|", at):
                at += 1
            elif not self._text.startswith(char, at):
                return None
            at += 1
        return at


def _blocks(tokens: "list[Token]", mark: re.Pattern[str]) -> Iterator[Block]:
    above: list[str] = []
    for at, token in enumerate(tokens):
        if token.nesting < 0:
            above.pop()
            continue
        if token.map and token.type != "inline":
            inside = tokens[at + 1] if at + 1 < len(tokens) else token
            text = inside.content if inside.type == "inline" else ""
            level = int(token.tag[1]) if token.type == "heading_open" else 0
            kind = token.type.removesuffix("_open")
            first, last = token.map
            yield Block(kind, tuple(above), first, last, level, mark.sub("", text))
        if token.nesting > 0:
            above.append(token.type.removesuffix("_open"))


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.dollarmath.index import math_block_dollar

    class Parser(MarkdownIt):
        """Takes the target of an image as it is written."""

        def normalizeLink(self, url: str) -> str:  # noqa: N802 - the parser's own name
            return url

        def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802
            return True

    parser = Parser("commonmark", {"maxNesting": _NESTING}).enable("table")
    # `[^1]: …` is a footnote, and nothing that we look for needs the others.
    parser.disable(["reference", "newline", "emphasis", "entity"])
    dollarmath_plugin(
        parser, allow_labels=False, allow_space=False, allow_digits=False, double_inline=True
    )
    sums = math_block_dollar(allow_labels=False, allow_blank_lines=True)

    def sum_block(state: "StateBlock", first: int, last: int, silent: bool) -> bool:  # noqa: FBT001
        return first <= state.env["sums_until"] and sums(state, first, last, silent)

    parser.block.ruler.at("math_block", sum_block)
    parser.block.ruler.before(
        "fence", "comment", _comment_block, {"alt": ["paragraph", "blockquote", "list"]}
    )
    parser.inline.ruler.before("image", "wiki", _wiki)
    parser.inline.ruler.before("image", "comment", _comment)
    parser.inline.ruler.at("text", _text)
    parser.inline.ruler.at("image", _image)
    parser.inline.ruler.at("link", _link)
    parser.inline.ruler.at("html_inline", _html)
    return parser


# ── rules; each is asked what stands at `state.pos`, and when not `silent` says what it met ──


def _text(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001 - as the parser calls it
    begins = _BEGINNINGS.search(state.src, state.pos, state.posMax)
    end = begins.start() if begins else state.posMax
    if end == state.pos:
        return False
    if not silent:
        state.append_pending(state.src[state.pos : end])
    state.pos = end
    return True


def _wiki(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001
    if not state.src.startswith("![[", state.pos) or _last(state.src, "]]") < state.pos:
        return False
    reading: _Reading = state.env["reading"]
    opened = reading.mark.match(state.src, state.pos + 3)
    end = wiki_end(state.src, opened.end() if opened else state.pos, state.posMax)
    if opened is None or end is None:
        return False
    if not silent:
        reading.wiki(int(opened[1]))
    state.pos = end
    return True


def wiki_end(text: str, begin: int, limit: int) -> int | None:
    """Where a wikilink ends whose words begin at `begin`; None when it is none.

    It is closed by the first `]]` of its line, or, where a footnote is meant (`[[N#[^1]]]`), by
    the next `]`, and no other one opens in it.
    """
    end = text.find("]]", begin, min(limit, begin + _LINK_CHARS))
    words = text[begin:end] if end >= 0 else ""
    if not words.strip() or "[[" in words or "\n" in words or "\r" in words:
        return None
    footnote = "#[^" in words and text.startswith("]", end + 2) and end + 2 < limit
    return end + 3 if footnote else end + 2


def _comment(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001
    if not state.src.startswith("%%", state.pos):
        return False
    reading: _Reading = state.env["reading"]
    marks = _comment_marks(reading, state.src, state.pos, state.posMax)
    if len(marks) < 2:  # noqa: PLR2004 - one that opens and one that closes
        return False
    if not silent:
        reading.comment(int(marks[0][1]), int(marks[1][1]))
    state.pos = marks[1].end()
    return True


def _comment_marks(reading: _Reading, text: str, begin: int, limit: int) -> list[re.Match[str]]:
    """The marks after the `%%` at `begin` and after the next one; each `%%` has one."""
    return list(islice(re.compile(f"%%{reading.mark.pattern}").finditer(text, begin, limit), 2))


def _comment_block(state: "StateBlock", first: int, last: int, silent: bool) -> bool:  # noqa: FBT001
    """`%%` at a line's start whose end is on a later line; without an end all that follows."""
    begin, end = state.bMarks[first] + state.tShift[first], state.eMarks[first]
    if state.is_code_block(first) or not state.src.startswith("%%", begin):
        return False
    reading: _Reading = state.env["reading"]
    opened = reading.mark.match(state.src, begin + 2)
    if opened is None or len(_comment_marks(reading, state.src, begin, end)) > 1:
        return False
    found, line = _closing(state, reading, first, last)
    if found is None and (state.level or state.blkIndent):
        return False
    if not silent:
        reading.comment(int(opened[1]), int(found[1]) if found else None)
        state.line = line + 1
        rest = state.src[found.end() : state.eMarks[line]].strip() if found else ""
        state.push("comment", "", 0).map = [first, state.line]
        if rest:
            token = state.push("inline", "", 0)
            token.content, token.map, token.children = rest, [line, state.line], []
    return True


def _closing(
    state: "StateBlock", reading: _Reading, first: int, last: int
) -> tuple[re.Match[str] | None, int]:
    for line in range(first + 1, last):
        begin, end = state.bMarks[line] + state.tShift[line], state.eMarks[line]
        if begin < end and state.sCount[line] < state.blkIndent:
            break
        at = state.src.find("%%", begin, end)
        if at >= 0 and (found := reading.mark.match(state.src, at + 2)):
            return found, line
    return None, last - 1


def _image(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001
    from markdown_it.rules_inline import image

    begin = state.pos
    if not (state.src.startswith("![", begin) and _may_end(state, "](") and image(state, silent)):
        return False
    if not silent:
        target = str(state.tokens[-1].attrs["src"])
        state.env["reading"].image(state.src[begin : state.pos], target)
    return True


def _link(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001
    from markdown_it.rules_inline import link

    return state.src.startswith("[", state.pos) and _may_end(state, "](") and link(state, silent)


def _may_end(state: "StateInline", by: str) -> bool:
    """Whether what begins here can still end, and its end may be looked for."""
    left = _last(state.src, by) - state.pos
    if left < 0:
        return False
    state.env["effort"] -= left
    return bool(state.env["effort"] > 0)


@lru_cache(maxsize=16)
def _last(text: str, what: str) -> int:
    return text.rfind(what)


_HTML_ENDS = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>", "<!": ">"}


def _html(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001
    """HTML in a line, looked for only where its end stands."""
    from markdown_it.rules_inline import html_inline

    for begin, end in _HTML_ENDS.items():
        if state.src.startswith(begin, state.pos):
            return _may_end(state, end) and html_inline(state, silent)
    return html_inline(state, silent)


def _last_sum(text: str) -> int:
    """The last line that could end a `$$` block; a block that begins later has no end."""
    lines = _LINE_END.split(text)
    return max((at for at, line in enumerate(lines) if line.rstrip().endswith("$$")), default=-1)
