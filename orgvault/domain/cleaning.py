"""Texts of a run as anybody may see them: the agent's own memory cut out, secrets masked."""

import re
from collections.abc import Iterable
from dataclasses import replace
from json import dumps
from unicodedata import normalize

from orgvault.domain.failures import telling_line
from orgvault.domain.folding import fold, letters
from orgvault.domain.masking import mask, mask_values
from orgvault.domain.transcript import Item, Said, ToolCall

CUT_CHARS = 12
# A beginning of a memory line, where the rest of the line was cut off.
BEGINNING_CHARS = 20
# Stands where something was left out; under 12 characters, so that nobody can quote it as evidence.
LEFT_OUT = "[…]"

# Of each end of a text: more than any excerpt shows, little enough to look through for secrets.
_SIDE_CHARS = 2000
_KEPT_LINE_CHARS = 600
_PLAIN_WORD = r"[^\W_]+"


class Cleaner:
    """Cleans the items of a session; `masked` counts the secrets replaced so far.

    `cut` are texts, such as the agent's core block, whose lines of 12 or more characters vanish
    wherever they stand; `values` are bound secrets.
    """

    def __init__(self, cut: Iterable[str] = (), values: tuple[str, ...] = ()) -> None:
        self.masked = 0
        self._lines = Lines(cut)
        self._values = values

    def item(self, item: Item) -> Item:
        """The item with clean texts, each without its middle when it is very long."""
        if isinstance(item, Said):
            return replace(item, text=self._text(item.text))
        return self.call(item)

    def call(self, call: ToolCall) -> ToolCall:
        """A call with clean input and result; the line that says why it failed always stays."""
        why = telling_line(call.result) if call.failed else ""
        return replace(call, input=self._text(call.input), result=self._text(call.result, why))

    def _text(self, raw: str, keep: str = "") -> str:
        kept = self._lines.cut_from(normalize("NFC", _ends(raw, keep)))
        kept, of_values = mask_values(kept, self._values)
        kept, of_looks = mask(kept)
        self.masked += of_values + of_looks
        return kept


class Lines:
    """Lines of a memory, found wherever they stand: re-wrapped, re-cased, or escaped as JSON.

    Also with other spaces, marks and punctuation, and where only a beginning of at least
    20 characters is shown.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        forms: set[str] = set()
        for line in (line for one in texts for line in normalize("NFC", one).splitlines()):
            for form in (line.strip(), _plain(line)):
                forms |= {form, dumps(form, ensure_ascii=False)[1:-1]}
        # Longest first: a line goes before a shorter one that is part of it.
        # By the letters of its first words: what each line reads like.
        self._begun: dict[str, list[str]] = {}
        for key in sorted({letters(one) for one in forms}, key=len, reverse=True):
            if len(key) >= CUT_CHARS:
                self._begun.setdefault(key[:CUT_CHARS], []).append(key)
        self._forms = sorted((one for one in forms if len(one) >= CUT_CHARS), key=lambda x: -len(x))
        # A line is looked for only where its longest word stands: by looking the text's words
        # up, or, where words are not set apart (Chinese), by looking for it.
        self._by_word: dict[str, list[int]] = {}
        self._unspaced: list[tuple[str, int]] = []
        for at, form in enumerate(self._forms):
            word = max(re.findall(_PLAIN_WORD, form.casefold()), key=len, default="")
            if word and word.isascii():
                self._by_word.setdefault(word, []).append(at)
            else:
                self._unspaced.append((word, at))

    def cut_from(self, text: str) -> str:
        """The text without the lines."""
        if not self._forms:
            return text
        folded = text.casefold()
        words = set(re.findall(_PLAIN_WORD, re.sub(r"\\[nrt]", " ", folded)))
        likely = [at for word in words & self._by_word.keys() for at in self._by_word[word]]
        likely += [at for word, at in self._unspaced if word in folded]
        for at in sorted(likely):
            apart = r"(?:\s|\\n)+(?:[>|#]\s*)?"
            pattern = apart.join(re.escape(word) for word in self._forms[at].split())
            text = re.sub(f"(?i){pattern}", "", text)
        return self._cut_loosely(text)

    def _cut_loosely(self, text: str) -> str:
        key = letters(text)
        begun = [start for start in self._begun if start in key]
        if not begun:
            return text
        key, places = _placed(text)
        found: list[tuple[int, int]] = []
        for start in begun:
            at = key.find(start)
            while at >= 0:
                ends = [_shown(line, key, at, text, places) for line in self._begun[start]]
                if size := max(ends):
                    found.append((places[at], places[at + size - 1] + 1))
                at = key.find(start, at + 1)
        kept, done = [], 0
        for first, last in sorted(found):
            if last > done:
                kept.append(text[done : max(first, done)])
                rest = re.match(r"[*_`]*(?:…|\.{3})?", text[last:])
                done = last + (rest.end() if rest else 0)
        return "".join([*kept, text[done:]])


def _placed(text: str) -> tuple[str, list[int]]:
    """The letters of a text, and the place in it of each."""
    plain = re.sub(r"\\+[nrt]", lambda found: " " * len(found[0]), text)
    key: list[str] = []
    places: list[int] = []
    for at, char in enumerate(plain):
        folded = char.lower() if char.isascii() and char.isalnum() else letters(char)
        key.append(folded)
        places += [at] * len(folded)
    return "".join(key), places


def _shown(line: str, key: str, at: int, text: str, places: list[int]) -> int:
    """How many letters of `line` stand in `key` at `at`; 0 unless it is all or cut off there."""
    if key.startswith(line, at):
        return len(line)
    pairs = enumerate(zip(line, key[at:], strict=False))
    size = next((n for n, (one, other) in pairs if one != other), min(len(line), len(key) - at))
    first, last = places[at], places[at + size - 1] + 1
    after = text[last : places[at + size]] if at + size < len(key) else "\n"
    if len(fold(text[first:last])) < BEGINNING_CHARS:
        return 0
    return size if re.search(r'[\n\r"|…]|\\[nr]|\.{3}', after) else 0


def _plain(line: str) -> str:
    """A line without its list mark and without remarks in brackets at its end."""
    line = re.sub(r"^[\s>#*+-]+", "", line)
    for _ in range(3):
        line = re.sub(r"[\s*_·—-]+$|\([^()]*\)$", "", line)
    return line


def _ends(raw: str, keep: str) -> str:
    """A very long text without its middle, cut at line ends where there are some.

    Of the middle the line `keep` stays, unless it is very long itself.
    """
    if len(raw) <= 2 * _SIDE_CHARS:
        return raw
    head, tail = raw[:_SIDE_CHARS], raw[-_SIDE_CHARS:]
    # Half a line, or half a word, could be half a secret, which nothing recognises.
    lines = "\n" in head[_SIDE_CHARS // 2 :] and "\n" in tail[: _SIDE_CHARS // 2]
    space = "\n" if lines else " "
    head, tail = head.rpartition(space)[0], tail.partition(space)[2]
    kept = keep if len(keep) < _KEPT_LINE_CHARS and keep not in head + tail else ""
    return "\n".join([head, LEFT_OUT, *([kept, LEFT_OUT] if kept else []), tail])
