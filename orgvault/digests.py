"""SHA-1 and SHA-256 without OpenSSL, whose start costs every cold command 3 ms.

CPython brings both as modules of its own (`_sha1`; `_sha256`, since 3.12 `_sha2`), which `hashlib`
itself falls back on; elsewhere `hashlib` is used.  What we hash is small.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import sha1, sha256
else:
    try:
        from _sha1 import sha1

        try:
            from _sha2 import sha256
        except ImportError:
            from _sha256 import sha256
    except ImportError:
        from hashlib import sha1, sha256

__all__ = ["digest", "sha256"]


def digest(object_format: str, content: bytes) -> bytes:
    """The name of an object in a repository of this format (`sha1` or `sha256`), as bytes."""
    made = sha256(content) if object_format == "sha256" else sha1(content)  # noqa: S324 - git's
    return made.digest()
