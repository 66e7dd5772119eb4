"""`check` for routines: their files, and whom they wake."""

from orgvault.domain.problem import Problem
from orgvault.services.desk import Desk
from orgvault.store.routines import FOLDER, Routines


def check_routines(desk: Desk, problems: list[Problem]) -> int:
    """Check every routine's file; how many were looked at."""
    kept = Routines(desk.vault)
    for routine in kept.all(problems):
        if routine.agent not in desk.roster.agents:
            what = f"it wakes `{routine.agent}`, who is not on the roster"
            do = "name an agent of the roster, or remove the file"
            problems.append(Problem(kept.path(routine.id), 0, what, do))
    return len(desk.vault.names(FOLDER))
