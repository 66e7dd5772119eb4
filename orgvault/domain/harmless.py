"""Texts of the vault on their way into a prompt: without secrets, and no tag among them."""

import re
from collections.abc import Callable

from orgvault.domain.neutral import neutral

# The tags that `embeds.expand` writes; whatever else looks like one, it has made harmless.
_EMBED_TAG = re.compile(r'<embed path="([^"<>\n]*)">\n|\n</embed>')


def plain(text: str) -> str:
    """The text with LF line ends, and nothing in it that could not be stored or sent.

    A half of a character becomes `?`, a NUL the replacement character; a byte order mark goes.
    """
    whole = text.encode(errors="replace").decode().removeprefix("\ufeff")
    return whole.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


class Harmless:
    """Makes texts fit for a prompt, and counts the tags that it made harmless."""

    def __init__(self, masked: Callable[[str], str]) -> None:
        self._masked = masked
        self.count = 0

    def text(self, text: str) -> str:
        """A text without secrets, in which nothing opens or closes an element.

        Masked first: what is made harmless no longer reads as the secret does.
        """
        harmless, count = neutral(self._masked(plain(text)))
        self.count += count
        return harmless

    def block(self, text: str) -> str:
        """The same, without white space around it."""
        return self.text(text).strip()

    def expanded(self, text: str) -> str:
        """The same for a text with its embeds in place, whose elements stay.

        Masked piece by piece: of a key whose end is missing, all that follows is hidden.
        """
        text, done = plain(text), 0
        pieces: list[str] = []
        for tag in _EMBED_TAG.finditer(text):
            pieces += self.text(text[done : tag.start()]), self._tag(tag)
            done = tag.end()
        return "".join([*pieces, self.text(text[done:])]).strip()

    def _tag(self, tag: re.Match[str]) -> str:
        if tag[1] is None:
            return tag[0]
        if "&" not in tag[1] and self._masked(tag[1]) == tag[1]:
            return tag[0]
        from html import escape, unescape

        path = unescape(tag[1])
        masked = self._masked(path)
        return tag[0] if masked == path else f'<embed path="{self.text(escape(masked))}">\n'
