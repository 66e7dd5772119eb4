"""The group chat of a vault, read from its end: never the whole log.

Numbers are given under the vault's lock.  Two clones that post apart may give one number twice:
both messages stand, in the order of their times, and whoever is asked for the number gives the
first.
"""

import re
from collections.abc import Iterator
from heapq import nlargest
from itertools import islice

from orgvault.domain.chat import LOG, STREAM, Said, order
from orgvault.store.vault import Vault

# Rows of another clone stand out of order after a merge.  In so many of the newest segments (of
# 64 KiB) their numbers are looked up without reading the rows; beyond that so many rows are read.
_SEGMENTS = 8
_LEEWAY = 200
_MOST = 10**9  # as many as anybody can ask for
# Within a text the quotes are escaped, so that this is always the key.
_SEQ = re.compile(rb'"seq":[ ]?([0-9]{1,18})')


class Chat:
    """The messages of the group chat."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def latest(self, count: int, up_to: int | None = None) -> list[Said]:
        """The newest messages, oldest first; none with a number above `up_to`."""
        numbers = [one for one in self._numbers() if up_to is None or one <= up_to]
        if len(numbers) > count:
            least = nlargest(count, numbers)[-1]
            found = self._between(least, max(numbers), sum(one >= least for one in numbers))
            if len(found) >= count:  # else there are rows that cannot be read
                return sorted(found, key=order)[-count:]
        fit = (one for one in self._newest() if up_to is None or one.seq <= up_to)
        return sorted(islice(fit, min(count, _MOST) + _LEEWAY), key=order)[-count:]

    def get(self, seq: int) -> Said | None:
        """The message of a number; of two that clones have given, the first."""
        given = self._numbers().count(seq)
        found = self._between(seq, seq, given) if given else []
        if found:
            return min(found, key=order)
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
        return max(self._numbers(), default=0) + 1

    def _numbers(self) -> list[int]:
        """The numbers that stand in the newest segments and in the spool, as often as they do."""
        logs = self._vault.logs
        waiting = [one for one in logs.spooled() if (one.log, one.agent) == (LOG, STREAM)]
        contents = [one.line.encode() for one in waiting]
        contents += [logs.content(one) for one in logs.segments(LOG, STREAM)[-_SEGMENTS:]]
        return [int(one) for content in contents for one in _SEQ.findall(content)]

    def _between(self, least: int, most: int, count: int) -> list[Said]:
        """The messages with these numbers, of which so many are in the newest segments."""
        among = islice(self._newest(), len(self._numbers()))
        return list(islice((one for one in among if least <= one.seq <= most), count))

    def _newest(self) -> Iterator[Said]:
        return self._vault.logs.newest(Said, LOG, STREAM)
