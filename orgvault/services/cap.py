"""The day's cap of model calls: one is reserved before it is made, whoever makes it."""

from orgvault.domain.instants import day
from orgvault.domain.reflection import Reflection
from orgvault.errors import OrgvaultError
from orgvault.services.desk import Desk
from orgvault.services.means import Means
from orgvault.store.calls import Calls


class CannotCount(OrgvaultError):
    """The counter of the day's calls cannot be kept, so no call may be made."""

    def __init__(self, failure: OSError) -> None:
        why = (failure.strerror or str(failure)).lower()
        super().__init__(
            f"the day's model calls cannot be counted ({failure.filename}: {why}): "
            "remove what stands there, it is made anew"
        )


def reserve(desk: Desk, means: Means) -> bool:
    """Take one call of this UTC day, for a reflection, a repair or a proposal; False: no room."""
    today = day(desk.clock.now()).isoformat()
    calls = Calls(desk.vault.private)
    try:
        return calls.reserve(today, means.calls_per_day, lambda: _logged(desk, today))
    except OSError as failure:
        raise CannotCount(failure) from None


def _logged(desk: Desk, today: str) -> int:
    logs = desk.vault.logs
    return sum(
        one.calls
        for agent in logs.agents("reflections")
        for one in logs.records(Reflection, "reflections", agent, [])
        if day(one.at).isoformat() == today
    )
