"""Where a text embeds something: `![[note]]` and `![…](note.md)`, each by its place in the text."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from orgvault.domain.markdown import structure, wiki_end
from orgvault.values import dataclass

_PROPERTIES = re.compile(
    r"\ufeff?---[ \t]*(?:\r\n?|\n)(?:(?s:.*?)(?:\r\n?|\n))??---[ \t]*(?:\r\n?|\n|\Z)"
)
# A fence at a line's very start is one whatever stands before it; so is what closes it.
_FENCE = re.compile(
    r"(?ms)^(?:(`{3,})[^`\n]*|(~{3,})[^\n]*)(?:\n.*?(?:^ {0,3}(?:\1`*|\2~*)[ \t]*\r?$|\Z)|\Z)"
)
_CODE = re.compile(r"`[^`\n]+`")
# What keeps an opening `![` from telling by itself where an embed is: anywhere, and in the same
# paragraph (up to the next blank line).
_INTRICATE = re.compile(r"[`\0]|%%|\$\$|~~~|(?m:^[ \t>*+\-.)0-9]*<)")
_INTRICATE_BESIDE = re.compile(r"[<$\\]")
_BLANK = re.compile(r"\n[ \t>\r]*\n")
_LONE_RETURN = re.compile(r"\r(?!\n)")
_INDENTED = re.compile(r"\t| {4}|(?:(?:[>*+-]|\d{1,9}[.)]) *){8}")
_TABLE_RULE = " \t\r>*+-|:.)0123456789"  # and what can stand before it
_PLAIN_LINK = re.compile(r"!?\[[^\[\]!\r\n]*\]\([^\s\x00-\x20\x7f()\[\]!&]*\)")
_BAR = re.compile(r"\\?\|")
_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_ANY_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")


@dataclass(frozen=True)
class Embed:
    """An embed from `start` to `end`: of which `path` (empty: this note), and which part of it."""

    start: int
    end: int
    path: str
    subpath: str

    @property
    def target(self) -> str:
        """What is embedded, as a link writes it."""
        return f"{self.path}#{self.subpath}" if self.subpath else self.path


@dataclass(frozen=True)
class Found:
    """The embeds and the `%%comments%%` of a text, in order; its properties end at `body`."""

    embeds: tuple[Embed, ...]
    comments: tuple[tuple[int, int], ...]
    body: int


class _Span(NamedTuple):
    start: int
    end: int
    kind: str  # "wiki", "image" or "comment"
    words: str


def properties_end(text: str) -> int:
    """Where the properties (frontmatter) end; a byte-order mark before them does not matter."""
    found = _PROPERTIES.match(text)
    return found.end() if found else len(text) - len(text.removeprefix("\ufeff"))


@lru_cache(maxsize=16)
def find(text: str) -> Found:
    """The embeds of a Markdown text, but not what is code, HTML, a sum, a comment or escaped.

    A text of which that can be told line by line is read without the parser, with the same answer.
    """
    begin = properties_end(text)
    body = text[begin:]
    if not _holds_any(body):
        return Found((), (), begin)
    plain = plain_text(body)
    return _found(_spans(body) if plain is None else _plain_spans(plain), begin)


def needs_parser(text: str) -> bool:
    """Whether `find` has to ask the parser about a text, which takes a second for 200,000 of it."""
    body = text[properties_end(text) :]
    return _holds_any(body) and plain_text(body) is None


def find_by_parser(text: str) -> Found:
    """What `find` gives, always by the parser."""
    begin = properties_end(text)
    return _found(_spans(text[begin:]), begin)


def _holds_any(body: str) -> bool:
    return "![" in body or "%%" in body


@lru_cache(maxsize=16)
def plain_text(body: str) -> str | None:
    """A text without properties, of the same length, with its code blotted out.

    None where something can be in it that only the parser can tell: HTML, sums, comments, escapes,
    code but for fences at a line's start and pairs of single backticks in a line without embeds;
    embeds that are indented or cut by a table's bars; links with anything but words in them.
    """
    if _LONE_RETURN.search(body):
        return None
    if "```" in body or "~~~" in body:
        body = _FENCE.sub(lambda found: "\n" * len(found[0]), body)
    if "`" in body:
        lines = (line for line in body.split("\n") if "`" in line)
        if "``" in body or any("![" in _CODE.sub("", line) for line in lines):
            return None
        body = _CODE.sub(lambda found: "x" * len(found[0]), body)
    return body if _is_plain(body) else None


def _is_plain(body: str) -> bool:
    if _INTRICATE.search(body):
        return False
    if _INTRICATE_BESIDE.search(body):
        beside = (one for one in _BLANK.split(body) if "![" in one)
        if any(map(_INTRICATE_BESIDE.search, beside)):
            return False
    barred = False
    at = body.find("![")
    while at >= 0:
        begin, end = body.rfind("\n", 0, at) + 1, body.find("\n", at)
        end = len(body) if end < 0 else end
        if _INDENTED.search(body, begin, at):
            return False
        barred = barred or "|" in body[begin:end]
        at = body.find("![", end)
    if barred and any("-" in one and not one.strip(_TABLE_RULE) for one in body.split("\n")):
        return False
    return "](" not in body or "](" not in _PLAIN_LINK.sub("", body)


def _plain_spans(body: str) -> Iterator[_Span]:
    at = body.find("![")
    while at >= 0:
        end = wiki_end(body, at + 3, len(body)) if body.startswith("[", at + 2) else None
        if end is not None:
            yield _wiki(body, at)
        elif (image := _PLAIN_LINK.match(body, at)) is not None:
            end = image.end()
            yield _Span(at, end, "image", image[0].partition("](")[2][:-1])
        at = body.find("![", end or at + 2)


def _spans(body: str) -> list[_Span]:
    known = structure(body)
    found = [_wiki(body, start) for start in known.wikis]
    found += [_Span(one.start, one.end, "image", one.target) for one in known.images]
    found += [_Span(start, end, "comment", "") for start, end in known.comments]
    return sorted(found)


def _wiki(body: str, start: int) -> _Span:
    end = wiki_end(body, start + 3, len(body)) or start + 3
    return _Span(start, end, "wiki", body[start + 3 : end - 2])


def _found(spans: Iterable[_Span], begin: int) -> Found:
    embeds, comments = [], []
    done = 0
    for span in spans:
        if span.start < done:  # inside the words of another one
            continue
        done = span.end
        if span.kind == "comment":
            comments.append((begin + span.start, begin + span.end))
        elif target := _target(span):
            embeds.append(Embed(begin + span.start, begin + span.end, *target))
    return Found(tuple(embeds), tuple(comments), begin)


def _target(span: _Span) -> tuple[str, str] | None:
    """Path and subpath; None for an address and for nothing at all."""
    words = span.words
    if span.kind == "wiki":
        words = _BAR.split(words, maxsplit=1)[0]
    elif _ANY_ADDRESS.match(words):
        return None
    path, _, subpath = words.partition("#")
    if span.kind == "image":
        path, subpath = _decoded(path), _decoded(subpath)
    path, subpath = (" ".join(one.split("\xa0")).strip() for one in (path, subpath))
    if _ADDRESS.match(words.strip()) or not (path or subpath):
        return None
    return path, subpath


def _decoded(text: str) -> str:
    """Without percent signs; what is no UTF-8 stays as it is."""

    def decoded(found: re.Match[str]) -> str:
        try:
            return bytes.fromhex(found[0].replace("%", "")).decode()
        except UnicodeDecodeError:
            return found[0]

    return _ESCAPED.sub(decoded, text)
