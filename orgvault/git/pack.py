"""Packs: many objects in one file, a blob that has grown as what was added to it.

Format: https://git-scm.com/docs/gitformat-pack
"""

import zlib
from collections.abc import Mapping
from typing import NamedTuple

from orgvault.digests import digest

_KINDS = {"commit": 1, "tree": 2, "blob": 3}
_GROWN = 7  # OBJ_REF_DELTA: the name of another object of the pack, and how to make this of it
_INSERT_MOST = 127
_COPY_MOST = 0xFFFFFF


class Pending(NamedTuple):
    """An object that is still to be written; `grown_from` names one whose content begins it."""

    kind: str
    content: bytes
    grown_from: str | None = None


def packed(objects: Mapping[str, Pending], object_format: str) -> bytes:
    """The bytes of a pack that holds these objects, by name."""
    parts = [b"PACK", (2).to_bytes(4), len(objects).to_bytes(4)]
    for one in objects.values():
        base = objects.get(one.grown_from or "")
        if base is not None and len(base.content) <= _COPY_MOST:
            delta = _growth(len(base.content), one.content)
            parts += [_header(_GROWN, len(delta)), bytes.fromhex(one.grown_from or "")]
            parts.append(zlib.compress(delta, 1))
        else:
            parts += [_header(_KINDS[one.kind], len(one.content)), zlib.compress(one.content, 1)]
    body = b"".join(parts)
    return body + digest(object_format, body)


def _growth(kept: int, content: bytes) -> bytes:
    """How to make a content of its first `kept` bytes: copy them, then insert the rest."""
    delta = bytearray(_number(kept) + _number(len(content)))
    if kept:
        size = kept.to_bytes(3, "little")
        given = [16 << place for place, byte in enumerate(size) if byte]
        delta += bytes([128 | sum(given), *(byte for byte in size if byte)])
    for first in range(kept, len(content), _INSERT_MOST):
        piece = content[first : first + _INSERT_MOST]
        delta += bytes([len(piece)]) + piece
    return bytes(delta)


def _header(kind: int, size: int) -> bytes:
    """An object's kind and size: three bits and four, then seven bits a byte, lowest first."""
    rest = size >> 4
    first = kind << 4 | size & 15
    return bytes([first | 128]) + _number(rest) if rest else bytes([first])


def _number(value: int) -> bytes:
    """Seven bits a byte, lowest first; the high bit says that more follow."""
    found = bytearray()
    while value > _INSERT_MOST:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)
