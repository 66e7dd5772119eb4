"""Clients whose dispatcher was killed: they go on, and are ended before their agent runs again.

They are known by what the dispatcher had put into their environment, where there is a /proc
(Linux); elsewhere none is found.
"""

import os
from contextlib import suppress
from time import sleep

from orgvault.posix import kill_at_once, processes_with

_SWEEPS, _SWEEP_S = 100, 0.01


def end_orphans(agent: str, run: str) -> None:
    """Kill what an agent's run has left running, and see it gone (for a second at most)."""
    marks = (f"ORGVAULT_RUN={run}", f"ORGVAULT_AGENT={agent}")
    if os.environ.get("ORGVAULT_RUN") == run:
        return  # whoever started us from within that run is not to be killed by us
    for _ in range(_SWEEPS):
        found = processes_with(*marks)
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                kill_at_once(pid)
        sleep(_SWEEP_S)  # what was killed takes a moment to go
