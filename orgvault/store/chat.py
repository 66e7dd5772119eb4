"""The group chat of a vault, read from its end: never the whole log.

Numbers are given under the vault's lock.  Two clones that post apart may give one number twice:
both messages stand, in the order of their times, and whoever is asked for the number gives the
first.
"""

from collections.abc import Iterator
from itertools import islice

from orgvault.domain.chat import LOG, STREAM, Said, order
from orgvault.store.vault import Vault

# Rows of another clone stand out of order after a merge: so many more are looked at.
_LEEWAY = 200
_MOST = 10**9  # as many as anybody can ask for


class Chat:
    """The messages of the group chat."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def latest(self, count: int, up_to: int | None = None) -> list[Said]:
        """The newest messages, oldest first; none with a number above `up_to`."""
        fit = (one for one in self._newest() if up_to is None or one.seq <= up_to)
        return sorted(islice(fit, min(count, _MOST) + _LEEWAY), key=order)[-count:]

    def get(self, seq: int) -> Said | None:
        """The message of a number; of two that clones have given, the first."""
        found: list[Said] = []
        passed = 0
        for one in self._newest():
            if one.seq == seq:
                found.append(one)
            passed += one.seq < seq
            if passed > _LEEWAY:
                break
        return min(found, key=order, default=None)

    def next_seq(self) -> int:
        """The number of the next message; rely on it under the vault's lock only."""
        return max((one.seq for one in islice(self._newest(), _LEEWAY)), default=0) + 1

    def _newest(self) -> Iterator[Said]:
        return self._vault.logs.newest(Said, LOG, STREAM)
