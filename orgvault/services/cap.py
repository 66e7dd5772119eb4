"""The day's cap of model calls: one is reserved before it is made, whoever makes it."""

from orgvault.domain.instants import day
from orgvault.domain.reflection import Reflection
from orgvault.services.desk import Desk
from orgvault.services.means import Means
from orgvault.store.calls import Calls


def reserve(desk: Desk, means: Means) -> bool:
    """Take one call of this UTC day, for a reflection, a repair or a proposal; False: no room."""
    today = day(desk.clock.now()).isoformat()
    calls = Calls(desk.vault.private)
    return calls.reserve(today, means.calls_per_day, lambda: _logged(desk, today))


def _logged(desk: Desk, today: str) -> int:
    logs = desk.vault.logs
    return sum(
        one.calls
        for agent in logs.agents("reflections")
        for one in logs.records(Reflection, "reflections", agent, [])
        if day(one.at).isoformat() == today
    )
