"""What a client is told of its run, and what its result tells of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from orgvault.domain.roster import Agent
from orgvault.services.desk import Desk
from orgvault.services.finishing import FinishedRun

if TYPE_CHECKING:
    from orgvault.adapters.clients import ClientResult

# What git sets for a hook (githooks(5)): it would lead every git command of a client astray.
_OF_A_HOOK = frozenset(
    {
        "GIT_COMMON_DIR", "GIT_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX", "GIT_WORK_TREE",
    }
)  # fmt: skip


def environment(desk: Desk, agent: Agent, run: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """The variables of a client: its own, and those inherited.

    Not inherited are other agents' secrets, who the dispatcher acts as, and the repository that git
    was at work on when it was started by a hook.
    """
    bound = {name for other in desk.roster.agents.values() for name in other.secrets}
    given = (agent.block.get("client") or {}).get("env") or {}
    return {
        **{
            name: value
            for name, value in inherited.items()
            if name not in bound - agent.secrets and not _is_ours(name)
        },
        **given,
        "ORGVAULT_VAULT": desk.vault.root,
        "ORGVAULT_AGENT": agent.id,
        "ORGVAULT_RUN": run,
    }


def _is_ours(name: str) -> bool:
    return name.startswith("ORGVAULT_") or name in _OF_A_HOOK


def told_of(run: str, agent: Agent, ended: "ClientResult") -> FinishedRun:
    """What a client's result tells of its run."""
    return FinishedRun(
        run=run, agent=agent.id, exit_code=ended.exit_code, result=ended.result,
        turns=ended.turns, cost_usd=ended.cost_usd, duration_s=ended.duration_s,
        tokens_in=ended.tokens_in, tokens_out=ended.tokens_out, model=ended.model,
        session=ended.session, transcript=ended.transcript, client=ended.client,
    )  # fmt: skip
