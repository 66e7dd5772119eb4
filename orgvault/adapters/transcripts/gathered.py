"""Session files put together: the files of one session, and its sub-agents' with it."""

from collections.abc import Mapping, Sequence

from orgvault.adapters.transcripts.stored import Glance
from orgvault.values import dataclass


@dataclass(frozen=True)
class StoredSession:
    """The files that hold one session, in the order in which they ended; one is the usual number.

    `name` is the client's id of it; None where the file has none.
    """

    name: str | None
    files: tuple[Glance, ...]
    sub_agents: tuple[Glance, ...]

    @property
    def order(self) -> tuple[str, bool, str, str]:
        """Puts sessions in the order in which they happened; begins with the time."""
        return min(one.order for one in self.files)

    @property
    def ended_at(self) -> str:
        """When the last of it was said."""
        return max(one.finished_at or one.modified_at for one in self.files)


def gather(glances: Sequence[Glance]) -> tuple[list[StoredSession], list[Glance]]:
    """The sessions, and the files of sub-agents whose session is not among them."""
    named: dict[str, list[Glance]] = {}
    sessions: list[StoredSession] = []
    for one in sorted(glances, key=lambda glance: glance.order):
        if one.sub_agent:
            continue
        if one.session is None:
            sessions.append(StoredSession(None, (one,), ()))
        else:
            named.setdefault(one.session, []).append(one)
    helpers, orphans = _helpers([one for one in glances if one.sub_agent], named)
    for name, files in named.items():
        ordered = sorted(files, key=lambda one: (one.finished_at or one.modified_at, one.path))
        sessions.append(StoredSession(name, tuple(ordered), tuple(helpers.get(name, ()))))
    return sessions, orphans


def _helpers(
    files: Sequence[Glance], sessions: Mapping[str, object]
) -> tuple[dict[str, list[Glance]], list[Glance]]:
    above = {one.session: one.parents for one in files if one.session}
    found: dict[str, list[Glance]] = {}
    orphans = []
    for one in files:
        owner = _owner(one, sessions, above)
        if owner is None:
            orphans.append(one)
        else:
            found.setdefault(owner, []).append(one)
    return found, orphans


def _owner(
    glance: Glance, sessions: Mapping[str, object], above: Mapping[str, tuple[str, ...]]
) -> str | None:
    """The session that a sub-agent works for, through other sub-agents."""
    waiting, known = list(glance.parents), set(glance.parents)
    for one in waiting:
        if one in sessions:
            return one
        waiting += [more for more in above.get(one, ()) if more not in known]
        known.update(above.get(one, ()))
    return None
