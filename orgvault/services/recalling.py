"""Recall: what an agent's memory holds on a question.  It changes nothing that anybody can see."""

from orgvault.domain.passage import Passage
from orgvault.services.desk import Desk
from orgvault.store.recall_index import search


def recall(desk: Desk, agent_id: str, query: str, count: int = 8) -> list[Passage]:
    """The passages of an agent's active claims and notebook that fit a query, best first.

    At most `count`; fewer, or none, when nothing else shares a word or a part of one with the
    query or stands beside what does.  A file that cannot be searched is a remark of the vault.
    Raises UnknownAgent and NotAllowed.
    """
    agent = desk.agent(agent_id)
    desk.require("read", f"recall from the memory of {agent.id}", agent)
    found = search(desk.vault, agent.id, query, count, desk.masked)
    desk.vault.remarks.extend(found.problems)
    return list(found.passages)
