"""Texts of a run as anybody may see them: the agent's own memory cut out, secrets masked."""

import re
from collections.abc import Iterable
from dataclasses import replace
from json import dumps
from unicodedata import normalize

from orgvault.domain.failures import telling_line
from orgvault.domain.masking import mask, mask_values
from orgvault.domain.transcript import Item, Said, ToolCall

CUT_CHARS = 12
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
        self._lines = _Lines(cut)
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


class _Lines:
    """Lines of a memory, found wherever they stand: re-wrapped, re-cased, or escaped as JSON."""

    def __init__(self, texts: Iterable[str]) -> None:
        forms: set[str] = set()
        for line in (line for one in texts for line in normalize("NFC", one).splitlines()):
            for form in (line.strip(), _plain(line)):
                forms |= {form, dumps(form, ensure_ascii=False)[1:-1]}
        # Longest first: a line goes before a shorter one that is part of it.
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
        return text


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
