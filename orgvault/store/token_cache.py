"""Token counts kept beside the lock: disposable, so that an unchanged claim needs no encoder."""

import json
import os
from collections.abc import Iterator, MutableMapping

from orgvault.store import files

MOST = 50_000


class TokenCache(MutableMapping[str, int]):
    """Counts by the sha256 of a text; read at first use, written by `save` when they changed."""

    def __init__(self, private: str) -> None:
        self._path = os.path.join(private, "tokens.json")
        self._counts: dict[str, int] | None = None
        self._changed = False

    def __getitem__(self, key: str) -> int:
        return self._loaded()[key]

    def __setitem__(self, key: str, value: int) -> None:
        self._loaded()[key] = value
        self._changed = True

    def __delitem__(self, key: str) -> None:
        del self._loaded()[key]
        self._changed = True

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded())

    def __len__(self) -> int:
        return len(self._loaded())

    def save(self) -> None:
        """Keep what was counted; a cache that cannot be written is simply made anew."""
        if not self._changed or self._counts is None:
            return
        newest = dict(list(self._counts.items())[-MOST:])
        try:
            files.replace(self._path, json.dumps(newest).encode())
        except OSError:
            return
        self._changed = False

    def _loaded(self) -> dict[str, int]:
        if self._counts is None:
            self._counts = _sound(files.read_bytes(self._path))
        return self._counts


def _sound(content: bytes | None) -> dict[str, int]:
    try:
        data = json.loads(content or b"{}")
    except ValueError:
        return {}
    if not isinstance(data, dict):
        return {}
    return {key: count for key, count in data.items() if type(count) is int and count >= 0}
