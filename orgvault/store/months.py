"""The logs from some month on: what is measured lies weeks back, and the logs go on for years."""

import os

from orgvault.domain.instants import days_before
from orgvault.store.logs import Logs

_MONTH = len("2026-11")


class LogsSince(Logs):
    """The rows that were recorded in the month of an instant or later, spooled ones too.

    A segment is named after the month in which its rows were recorded, and nothing is recorded
    before it happened (but for clocks: a day is allowed them).
    """

    def __init__(self, logs: Logs, since: str) -> None:
        super().__init__(logs.org, logs.spooled)
        self._month = days_before(since, 1)[:_MONTH]

    def segments(self, log: str, agent: str) -> list[str]:
        """The paths of those of an agent's segments that can hold such rows, oldest first."""
        paths = super().segments(log, agent)
        return [path for path in paths if os.path.basename(path)[:_MONTH] >= self._month]
