"""Reflection: whether a finished run is reflected on, and who does it.

The step itself is in `services/learning.py`, which a run that is only recorded need not load.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from orgvault.domain.episode import Episode, TranscriptFile
from orgvault.domain.roster import Agent
from orgvault.domain.transcript import EMPTY, Session, ToolCall
from orgvault.domain.wake import Trigger, trigger_of
from orgvault.errors import BadFile, OrgvaultError
from orgvault.services.desk import Desk
from orgvault.services.means import PUT_OFF, Means
from orgvault.store.entry import Row

if TYPE_CHECKING:
    from orgvault.domain.reflection import Reflection, Run
    from orgvault.services.learning import Learned, Learning


# What a person reads of the reasons that are recorded as one word.
_SAID = {
    "semantic_tier_off": "the semantic tier is off for this agent",
    "reflect_disabled": "reflection is disabled for this agent",
    "trigger_not_enabled": "its `reflect.trigger` does not name this kind of run",
    "turns_unknown": "how many turns it had is unknown (give --turns, or a --transcript)",
    "too_few_turns": "it had fewer turns than `reflect.min_turns`",
    "transcript_unreadable": "its transcript could not be read: give a readable one to `reflect`",
    "model_off": "the model is off",
    "day_cap": "the day's model calls are used up (ORG_REFLECT_MAX_PER_DAY)",
}


def said(reason: str) -> str:
    """Why a run was not reflected on, as a person reads it."""
    word, _, more = reason.partition(": ")
    if word.isidentifier():
        return _SAID.get(word, f"{word.replace('_', ' ')}{': ' if more else ''}{more}")
    first, _, last = reason.rpartition("; ")
    return f"{first}; {_SAID[last]}" if last in _SAID else reason


class Reflecting:
    """The reflection step of one command."""

    def __init__(self, desk: Desk, means: Means) -> None:
        self._desk = desk
        self._means = means

    def read(self, path: str | None, remarks: list[str]) -> tuple[Session, TranscriptFile | None]:
        """The session of a transcript; an empty one, with a remark, when it cannot be read."""
        if path is None:
            return EMPTY, None
        if self._desk.protects(path):
            remarks.append(f"{path} stands in a protected place and was not read")
            return EMPTY, None
        try:
            session, sha256 = self._means.read_session(path)
        except BadFile as fault:
            remarks.append(str(fault))
            return EMPTY, None
        if session.skipped_lines:
            count = len(session.skipped_lines)
            first = session.skipped_lines[0]
            remarks.append(f"{path}: {count} lines could not be read, the first is line {first}")
        masked = self._desk.masked
        items = tuple(
            replace(one, tool=masked(one.tool)) if isinstance(one, ToolCall) else one
            for one in session.items
        )
        return replace(session, items=items), TranscriptFile(path=masked(path), sha256=sha256)

    def why_not(
        self, agent: Agent, trigger: Trigger, turns: int | None, *, unread: bool = False
    ) -> str:
        """Why a run is not reflected on; empty when it is.

        `unread`: its transcript was named and could not be read, so that nothing could be seen.
        """
        settings = agent.memory.reflect
        if agent.memory_fault:
            return f"memory_block_invalid: {agent.memory_fault}"[:200]
        if "semantic" not in agent.memory.tiers:
            return "semantic_tier_off"
        if not settings.enabled:
            return "reflect_disabled"
        if trigger not in settings.trigger:
            return "trigger_not_enabled"
        if turns is None and settings.min_turns > 0:
            return "turns_unknown"
        if turns is not None and turns < settings.min_turns:
            return "too_few_turns"
        if unread:
            return "transcript_unreadable"
        if "off" in {settings.model, self._means.setting}:
            return "model_off"
        found, why = self._means.model(agent)
        return "" if found else f"no_model: {why}"[:200]

    def reflect(self, run: "Run", rows: Sequence[Row], remarks: list[str]) -> "Learned":
        """Reflect on a run and record it, with the rows of the run; see `Learning.reflect`."""
        learned = self._learning().reflect(run, rows, remarks)
        made = learned.reflection
        if made is not None and made.result == "skipped":
            remarks.append(f"not reflected on: {said(made.reason)}")
        return learned

    def standing(self, agent: Agent, run: str) -> "Reflection | None":
        """The reflection that a run already has: applied, or stored for later."""
        return self._learning().standing(agent, run)

    def propose_missed(self, agent: Agent, episode: Episode, remarks: list[str]) -> str | None:
        """The card that a run had raised before a crash, filed now; None where there is none."""
        if not self._desk.vault.logs.mention("reflections", agent.id, episode.run):
            return None
        if self.why_not(agent, trigger_of(episode.reason), episode.turns):
            return None
        try:
            return self._learning().propose_missed(agent, episode, remarks)
        except OrgvaultError as failure:
            remarks.append(str(failure))
            return None

    def settle_put_off(self, agent: Agent, remarks: list[str]) -> None:
        """Apply answers that were stored while the repository was busy, if there are any."""
        if self._desk.vault.logs.mention("reflections", agent.id, PUT_OFF):
            self._learning().settle_put_off(agent, remarks)

    def _learning(self) -> "Learning":
        from orgvault.services.learning import Learning

        return Learning(self._desk, self._means)
