"""The check of agents' Tasks: what in them their own agents may write."""

from collections.abc import Iterator

from orgvault.errors import OrgvaultError
from orgvault.services.desk import Desk
from orgvault.services.task_text import task_text


def warnings_of_tasks(desk: Desk) -> Iterator[str]:
    """What is to be told of Tasks: one that is too large, and one that its agent can change.

    The second kind still starts runs, whose manifests say so, too.
    """
    for agent in desk.roster.agents.values():
        try:
            source = task_text(desk, agent).source
        except OrgvaultError as failure:
            yield f"{agent.id}: {failure}"
            continue
        if source.writable:
            yield f"{source.path}: the Task of {agent.id}, which {agent.id} may write itself"
        for one in source.embeds:
            if one.writable:
                yield f"{one.path}: the Task of {agent.id} embeds it, and {agent.id} may write it"
