"""What a run really said: where a quote stands, and who wrote it."""

import re
from collections.abc import Iterator
from ipaddress import ip_address
from unicodedata import normalize

from orgvault.domain import phrases
from orgvault.domain.cleaning import BEGINNING_CHARS, Lines
from orgvault.domain.excerpt import Part
from orgvault.domain.folding import fold, letters, plain_words
from orgvault.domain.reflection import Question
from orgvault.domain.statement import NO_SPACES, command_in
from orgvault.values import dataclass

QUOTE_CHARS = 12
# Shorter pieces of a quote with `…` must stand there too, but show nothing by themselves.
PIECE_CHARS = 4
_NEAR = 80
_LOOKED_AT = 2000
_STEM = 5


@dataclass(frozen=True)
class Source:
    """A folded text of the run.  `own`: the agent, its people or its calls wrote it.

    What a tool answered, or a mail that somebody pasted, is not.  `told` is everything but the
    agent's own words: there an order may stand that was meant to be remembered.
    """

    text: str
    own: bool
    told: bool


@dataclass(frozen=True)
class Sources:
    """The texts in which evidence may stand: the excerpt's parts, then the episode's summary."""

    texts: tuple[Source, ...]
    claims: tuple[str, ...] = ()

    def hold(self, quote: str) -> bool:
        """Whether the quote's pieces stand in the texts, in order, and are no shown memory."""
        return not any(_says(claim, quote) for claim in self.claims) and _stands(
            quote, [one.text for one in self.texts]
        )

    def own(self, quote: str) -> bool:
        """Whether they stand in what the agent, its people or its calls wrote."""
        return _stands(quote, [one.text for one in self.texts if one.own])

    def ordered(self, quote: str) -> bool:
        """Whether the quote is part of an order to remember something, given by others."""
        longest = max(_pieces(quote), key=len, default="")
        return any(
            re.search(phrases.TO_REMEMBER, near)
            for one in self.texts
            if one.told
            for near in _around(longest, one.text)
        )


def sources(question: Question) -> Sources:
    """The texts of a question; the agent's claims are cut out wherever they are repeated.

    A memory that the run merely showed must not be learned from it again.
    """
    shown = [fold(claim.text) for claim in question.claims]
    shown = sorted((one for one in shown if len(one) >= QUOTE_CHARS), key=len, reverse=True)
    lines = Lines(claim.text for claim in question.claims)
    found = []
    for part in (*question.excerpt.parts, Part("summary", question.episode.summary)):
        text = fold(lines.cut_from(normalize("NFC", part.text)))
        for one in shown:
            text = text.replace(one, "\n")
        own = part.source != "result" and not (part.source == "user" and _is_mail(part.text))
        told = part.source in {"user", "result"}
        found.append(Source(text, own, told))
    return Sources(tuple(found), tuple(claim.text for claim in question.claims))


def quote_length(quote: str) -> int:
    """Characters of the folded quote that count: its pieces of at least four characters."""
    return sum(len(piece) for piece in _pieces(quote) if len(piece) >= PIECE_CHARS)


def only_read(text: str, found: Sources) -> bool:
    """Whether a claim's text has an address or a command that was only read in a tool's result.

    Also when the agent repeated one that the result ordered it to use.
    """
    text = text[:_LOOKED_AT]  # a longer one is refused for its length
    own = " \n ".join(one.text for one in found.texts if one.own)
    read = _with_dots(" \n ".join(one.text for one in found.texts if not one.own))
    return any(
        _has(read, thing)
        and (
            not _has(own, thing) or any(re.search(phrases.ORDERED, n) for n in _around(thing, read))
        )
        for thing in (*addresses(text), *_commands(text, own + " \n " + read))
    )


def about(quote: str, statement: str) -> bool:
    """Whether a quote shares a word with a claim's text: what the claim is about.

    Words of at least three letters that say something, compared by the first five letters of
    their stems; for scripts without spaces, pairs of characters.
    """
    return not _subjects(quote).isdisjoint(_subjects(statement))


def addresses(text: str) -> tuple[str, ...]:
    """URLs, hosts, mail and IP addresses of a text, folded; of a host also its last two labels."""
    folded = _with_dots(fold(text))
    share = r"(?<![\w:\\])\\[\w.-]+\\[\w.$\\-]+"
    url = r"\b(?:[a-z][a-z0-9+.-]*://|www\.)[^\s'<>()\[\],;|]+"
    mail = r"[\w.+-]+@(?:[\w-]+\.)*[\w-]+"
    port = r"(?<![\w.-])[a-z][\w.-]*:\d{2,5}(?![\w:])"
    found = [m[0].rstrip(".:!?") for m in re.finditer(rf"{url}|{mail}|{port}|{share}", folded)]
    for m in re.finditer(r"(?<![\w.-])(?:[\w-]+\.)+([^\W\d_]{2,63})(?![\w(-])(?=(\S?))", folded):
        if m[2] in {"/", ":"} or not re.fullmatch(phrases.FILE_ENDINGS, m[1]):
            found += [m[0], ".".join(m[0].split(".")[-2:])]
    number = r"(?<![0-9a-f])[0-9a-f]{0,4}[.:][0-9a-f.:]+"
    found += [m[0] for m in re.finditer(number, folded) if _is_ip(m[0].rstrip(".:"))]
    found += [m[1] or m[2] for m in re.finditer(phrases.HOSTS, folded)]
    return tuple(dict.fromkeys(found))


def _commands(text: str, seen: str) -> Iterator[str]:
    """The commands inside a text: the longest beginning of each that was seen in the run."""
    for span in re.findall(r"`([^`]+)`", text):
        if command_in(span) or re.search(r"\s--?\w|&&|\|\||\s\|\s|\$\(", span):
            yield fold(span)
    folded = fold(text)
    script = r"\.{1,2}/[\w./-]+|~/[\w./-]+"
    wordy = rf"(?:{phrases.WORDY_PROGRAMS})(?= (?:\S+ ){{0,2}}\S*[-./_=:]\w)"
    for start in re.finditer(
        rf"(?<![\w./-])(?:(?:{phrases.PROGRAMS})(?= )|{wordy}|{script})", folded
    ):
        words = folded[start.start() :].split(" ")[:8]
        runs = re.search(r"/.*\.(?:sh|bash|bat|exe|pl|ps1|py)\W?$", words[0]) is not None
        for size in range(len(words), 0 if runs else 1, -1):
            command = " ".join(words[:size]).rstrip(".,;:!?'")
            if _has(seen, command):
                yield command
                break


def _stands(quote: str, texts: list[str]) -> bool:
    """Whether the pieces stand in the texts in order, each inside one text."""
    pieces = _pieces(quote)
    at, offset = 0, 0
    for piece in pieces:
        while at < len(texts):
            found = texts[at].find(piece, offset)
            if found >= 0:
                offset = found + len(piece)
                break
            at, offset = at + 1, 0
        else:
            return False
    return bool(pieces)


def _says(claim: str, quote: str) -> bool:
    """Whether a quote is a part of a claim's text, or begins like it.

    What the claim itself quotes, such as the message of a failure, is what recurs: that stays.
    """
    pieces = [key for piece in _pieces(quote) if len(key := letters(piece)) >= PIECE_CHARS]
    if not pieces:
        return False
    whole, start = letters(claim), letters(fold(claim)[:BEGINNING_CHARS])
    if len(start) >= QUOTE_CHARS and pieces[0].startswith(start):
        return True
    quoted = [letters(one) for one in re.findall(r"(?<!\w)'([^']{4,})'(?!\w)", fold(claim))]
    return all(piece in whole for piece in pieces) and not any(
        piece in one for one in quoted for piece in pieces
    )


def _pieces(quote: str) -> list[str]:
    """The parts of a folded quote between ellipses (`…`, `...`, `[…]`), without outer quotes."""
    parts = re.split(r"[\[(]?\.{3,}[\])]?", fold(quote))
    return [kept for part in parts if (kept := part.strip(" '"))]


def _around(thing: str, text: str) -> Iterator[str]:
    """Each place of `thing` in a folded text, with what stands shortly before it."""
    at = text.find(thing) if thing else -1
    while at >= 0:
        yield text[max(0, at - _NEAR) : at + len(thing)]
        at = text.find(thing, at + len(thing))


def _has(text: str, thing: str) -> bool:
    """Whether a folded text has `thing`, not merely as a part of a longer word."""
    return re.search(rf"(?<!\w){re.escape(thing)}(?!\w)", text) is not None


def _is_mail(text: str) -> bool:
    headers = (
        r"^[>\s]*(from|to|cc|subject|date|sent|reply-to|von|an|betreff|de|objet|от|кому|тема):\s"
    )
    return len(set(re.findall(headers, text.casefold(), re.MULTILINE))) > 1 or (
        re.search(r"^-{3,}\s*(?:original message|forwarded message)", text.casefold(), re.MULTILINE)
        is not None
    )


def _with_dots(text: str) -> str:
    """The text with hosts as they are meant: `x[.]example` and `x dot example` are one too."""
    text = re.sub(r"\\{2,}", r"\\", text)
    return re.sub(r"\s?[\[({]\s?(?:\.|dot)\s?[\])}]\s?|(?<=\w) (?:dot|\.) (?=\w)", ".", text)


def _subjects(text: str) -> set[str]:
    (words, *_) = plain_words(text)
    said = (word for word in re.findall(r"[^\W\d_]{3,}", words) if not _says_nothing(word))
    found = {re.sub(r"(?<=\w{3})(?:n?ing|ed|e?s)$", "", word)[:_STEM] for word in said}
    unspaced = re.findall(rf"{NO_SPACES}+", words)
    return found | {run[at : at + 2] for run in unspaced for at in range(len(run) - 1)}


def _says_nothing(word: str) -> bool:
    return re.fullmatch(phrases.STOP_WORDS, word) is not None


def _is_ip(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
