# ruff: noqa: RUF001 - look-alikes are what this is about
"""Making texts harmless: nothing in them can open or close an element of a prompt."""

import re
from collections.abc import Iterator
from unicodedata import category, normalize

NAMES = ("guidelines", "task", "state", "memory", "embed", "capability")

_BRACKETS = "<≮＜﹤‹〈〈⟨⟪❬❮❰《˂ᐸᚲ⧼⦑≺⋖"
_SLASHES = re.escape("/\\⁄∕⧸╱")
# Letters of other scripts that look like those of the names (https://www.unicode.org/reports/tr39/).
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝѵкмтдԍο" + "αικενυτμγρ" + "ıɑɡɩʟᴀʙᴄᴅᴇɢɪᴋᴍᴏᴘѕᴛᴜʏ",
    "aeopcyxijshdqwvkmtdgo" + "aikevutmyp" + "iagilabcdegikmopstuy",
)
# What can stand between a bracket and the end of a name: all but ASCII punctuation, and brackets.
# Possessive, so that each character is looked at once whatever the text is.
_RUN = re.compile(rf"[{_BRACKETS}]([^!-.:-@\[\]^`{{-~{_BRACKETS}]*+)")
_NAME = re.compile(rf"[\s{_SLASHES}]*(?:{'|'.join(NAMES)})(?!\w)")
_OTHER_NAME = re.compile(r"[-.:]\w")
_UNSEEN = frozenset({"Mn", "Me", "Cf"})
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")  # letters of Hangul that show nothing


def neutral(text: str) -> tuple[str, int]:
    """The text with each bracket that would open or close such an element as `&lt;`, and how many.

    Also where look-alikes, accents, characters that nobody sees, or white space stand in the
    bracket's or the name's place.  All else stays as it is; doing it twice changes nothing.
    """
    count = 0

    def harmless(found: re.Match[str]) -> str:
        nonlocal count
        if not _names_an_element(found):
            return found[0]
        count += 1
        return f"&lt;{found[1]}"

    return _RUN.sub(harmless, text), count


def _names_an_element(found: re.Match[str]) -> bool:
    for run in _readings(found[1]):
        name = _NAME.match(run)
        if name is not None and (
            name.end() < len(run) or _OTHER_NAME.match(found.string, found.end()) is None
        ):
            return True
    return False


def _readings(run: str) -> Iterator[str]:
    """What can be read after a bracket: unseen characters as nothing, or as the end of a name."""
    if run.isascii() and run.isprintable():
        yield run.casefold()
        return
    yield run.casefold()
    apart = normalize("NFKD", normalize("NFKD", run).casefold().translate(_LOOK_ALIKES))
    yield "".join(char for char in apart if char.isspace() or not _is_unseen(char))
    yield "".join(" " if _is_unseen(char) else char for char in apart)


def _is_unseen(char: str) -> bool:
    return not char.isprintable() or category(char) in _UNSEEN or char in _FILLERS
