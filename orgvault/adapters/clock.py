"""The one door to the time and to chance."""

import os
from datetime import UTC, datetime
from time import monotonic

from orgvault.domain.instants import instant


class SystemClock:
    """This machine's clock."""

    def now(self) -> str:
        """The present instant, to the second."""
        return instant(datetime.now(UTC))

    def monotonic(self) -> float:
        """Seconds on a clock that never steps back; only differences mean anything."""
        return monotonic()


def random_bytes(count: int) -> bytes:
    """Unpredictable bytes."""
    return os.urandom(count)
