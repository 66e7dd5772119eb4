"""Dispatching: due routines and open wakes become runs of the agents' clients.

An agent's work is done by one process at a time, which holds the agent's lock; a run is going while
its own lock is held.  Both are let go by the kernel when the dispatcher dies, and the wakes that
its run had taken are open again.  The vault's lock is never held while a client runs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from orgvault.domain import wake as wakes
from orgvault.domain.clients_formats import as_text
from orgvault.domain.neutral import neutral
from orgvault.domain.roster import Agent
from orgvault.domain.run import GROUP, SCHEDULE
from orgvault.domain.wake import Reason, Wake, WakeEvent
from orgvault.domain.wake_groups import CHAT, groups, runs_of_day
from orgvault.errors import OrgvaultError
from orgvault.services import finishing, scheduling, starting
from orgvault.services.client_runs import environment, told_of
from orgvault.services.composing import Origin
from orgvault.services.desk import Desk, row
from orgvault.services.finishing import Finished
from orgvault.services.reflecting import Reflecting
from orgvault.store.cards import Cards
from orgvault.store.run_locks import RunLocks
from orgvault.values import dataclass

if TYPE_CHECKING:
    from orgvault.adapters.clients import ClientResult

NO_CLIENT = "it has no client: give it a `client.command` in org.yaml, then `orgvault compile`"
ELSEWHERE = "another dispatcher is running it"

Run = Callable[[Sequence[str], Mapping[str, str], str, str], "ClientResult"]
End = Callable[[str, str], None]
Options = Callable[[Sequence[str], Mapping[str, object]], list[str]]


@dataclass(frozen=True)
class Clients:
    """How clients are run here: with what options, by what, in which environment.

    `end` ends what is left of an agent's run whose dispatcher was killed.
    """

    run: Run
    options: Options
    environment: Mapping[str, str]
    end: End


@dataclass(frozen=True, kw_only=True)
class RunEnded:
    """A run that was dispatched and has ended."""

    agent: str
    run: str
    wakes: tuple[str, ...]
    exit_code: int
    outcome: str
    turns: int | None = None
    cost_usd: float | None = None
    duration_s: float | None = None
    proposal: str | None = None


@dataclass(frozen=True)
class Planned:
    """A run that would be started now."""

    agent: str
    origin: str
    wakes: tuple[str, ...]


@dataclass(frozen=True)
class Skipped:
    """Work of an agent that was left, and why; `wakes` stay open.

    `failed`: something went wrong; else it is as the agent's settings have it.
    """

    agent: str
    why: str
    wakes: tuple[str, ...] = ()
    failed: bool = False


@dataclass(frozen=True)
class Dispatched:
    """What one agent's turn came to."""

    runs: list[RunEnded] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def work(desk: Desk, agent_id: str, clients: Clients, reflecting: Reflecting) -> Dispatched:
    """Answer all wakes of one agent that are open now, run after run, in this process."""
    agent = desk.agent(agent_id)
    desk.require("dispatch", f"dispatch {agent.id}", agent)
    done, locks = Dispatched(), RunLocks(desk.vault.private)
    found, problems = scheduling.due(desk, [agent])
    done.remarks.extend(map(str, problems))
    scheduling.wake_due(desk, found)
    if not open_wakes(desk, agent):
        return done
    if why := why_not(desk, agent):
        done.skipped.append(Skipped(agent.id, why))
        return done
    with locks.agent(agent.id) as ours:
        if not ours:
            done.skipped.append(Skipped(agent.id, ELSEWHERE))
            return done
        end_left(agent, clients, locks)
        _Turn(desk, agent, clients, reflecting, done).all()
    return done


def open_wakes(desk: Desk, agent: Agent, more: Sequence[WakeEvent] = ()) -> list[Wake]:
    """The open wakes of an agent that no living run has taken; `more` events count as well."""
    events = desk.vault.logs.records(WakeEvent, "wakes", agent.id, [])
    locks = RunLocks(desk.vault.private)
    return [
        wake
        for wake in wakes.wakes([*events, *more])
        if wake.open and not (wake.taken_by_run and locks.is_held(wake.taken_by_run))
    ]


def why_not(desk: Desk, agent: Agent) -> str:
    """Why an agent runs no more for now; empty when it may."""
    if not command_of(agent):
        return NO_CLIENT
    most = agent.block.get("wakes_per_day")
    if most is None:
        return ""
    newest = desk.vault.logs.newest(WakeEvent, "wakes", agent.id)
    had = len(runs_of_day(newest, desk.clock.now(), scheduling.zone(desk.roster)))
    return f"it has had its {most} runs of the day (`wakes_per_day`)" if had >= most else ""


def end_left(agent: Agent, clients: Clients, locks: RunLocks) -> None:
    """End the clients of killed dispatchers, under the agent's lock: it runs once at a time."""
    for run in locks.left(agent.id):
        clients.end(agent.id, run)
        locks.forget(run)


def command_of(agent: Agent) -> list[str]:
    """The command of an agent's client as org.yaml has it; nothing where it has none."""
    return list((agent.block.get("client") or {}).get("command") or ())


def survey(desk: Desk, *, only: str | None = None) -> tuple[list[Planned], list[Skipped]]:
    """The runs that are to be started now, and what has to wait; writes nothing."""
    desk.require("dispatch", "dispatch")
    names = sorted(desk.roster.agents) if only is None else [desk.agent(only).id]
    agents = [desk.roster.agents[name] for name in names]
    events = scheduling.events(desk, scheduling.due(desk, agents)[0])
    planned: list[Planned] = []
    skipped: list[Skipped] = []
    for agent in agents:
        open_ones = open_wakes(desk, agent, [one for one in events if one.agent == agent.id])
        ids = tuple(one.id for one in open_ones)
        why = why_not(desk, agent) if open_ones else ""
        if why:
            skipped.append(Skipped(agent.id, why, ids))
            continue
        for group in groups(open_ones):
            origin = origin_of(desk, group)
            planned.append(Planned(agent.id, origin.kind, origin.wakes))
    return planned, skipped


def origin_of(desk: Desk, group: Sequence[Wake]) -> Origin:
    """What the run of a group of wakes answers."""
    ids = tuple(one.id for one in group)
    seqs = [one.chat_seq for one in group if one.reason in CHAT and one.chat_seq is not None]
    if seqs:
        tagged = any(one.reason is Reason.MENTION for one in group)
        return Origin(GROUP, chat_seq=max(seqs), tagged=tagged, wakes=ids)
    if group[0].reason is Reason.SCHEDULE and group[0].routine is not None:
        return Origin(SCHEDULE, routine=group[0].routine, wakes=ids)
    said = [_card(desk, group[0].card)] if group[0].card is not None else []
    said += [one.note for one in group]
    return Origin(message=neutral("\n\n".join(filter(None, said)))[0], wakes=ids)


def ended_run(ended: "ClientResult", finished: Finished, ids: tuple[str, ...]) -> RunEnded:
    """What is told of a run that has ended."""
    episode = finished.episode
    return RunEnded(
        agent=finished.agent, run=finished.run, wakes=ids, exit_code=ended.exit_code,
        outcome=str(episode.outcome) if episode else "error", turns=ended.turns,
        cost_usd=ended.cost_usd, duration_s=ended.duration_s, proposal=finished.proposal,
    )  # fmt: skip


def _card(desk: Desk, card_id: str) -> str:
    """A card as its agent is to read it; its id alone where its note cannot be read."""
    from orgvault.domain.card_file import card_body

    stored = Cards(desk.vault, desk.roster.pages_folder).get(card_id, [])
    if stored is None:
        return f"Card {card_id}"
    return f"Card {card_id}: {stored.card.title}\n\n{card_body(stored.text).strip()}".strip()


class _Turn:
    """One agent's turn, under its lock."""

    def __init__(
        self, desk: Desk, agent: Agent, clients: Clients, reflecting: Reflecting, done: Dispatched
    ) -> None:
        self._desk, self._agent, self._clients = desk, agent, clients
        self._reflecting, self._done = reflecting, done
        self._locks = RunLocks(desk.vault.private)

    def all(self) -> None:
        """Every group of wakes that is open at the beginning, each once.

        What is woken meanwhile waits for the next pass: agents that wake each other must not
        keep one pass going for ever.
        """
        left = {one.id for one in open_wakes(self._desk, self._agent)}
        while found := [one for one in open_wakes(self._desk, self._agent) if one.id in left]:
            group = groups(found)[0]
            ids = tuple(one.id for one in group)
            left.difference_update(ids)
            if why := why_not(self._desk, self._agent):
                left_ids = tuple(one.id for one in found)
                self._done.skipped.append(Skipped(self._agent.id, why, left_ids))
                return
            self._answer(group, ids)

    def _answer(self, group: tuple[Wake, ...], ids: tuple[str, ...]) -> None:
        desk, agent = self._desk, self._agent
        run = starting.new_run(desk, agent.id)
        with self._locks.run(run, agent.id):
            try:
                started = starting.start(desk, agent.id, origin_of(desk, group), run=run)
                self._done.remarks.extend(started.remarks)
                self._take(group, run)
                command = self._clients.options(command_of(agent), agent.block)
                env = environment(desk, agent, run, self._clients.environment)
                ended = self._clients.run(command, env, desk.vault.root, as_text(started.composed))
                finished = self._finish(run, ended, ids)
            except OrgvaultError as failure:  # of this group: the agent's other wakes go on
                self._done.skipped.append(Skipped(agent.id, str(failure), ids, failed=True))
                return
        self._done.runs.append(ended_run(ended, finished, ids))
        self._done.remarks.extend(finished.remarks)
        if ended.exit_code and ended.stderr_tail:
            said = desk.masked(ended.stderr_tail)  # remarks end up in cron's mails
            self._done.remarks.append(f"{run}: {said.splitlines()[-1]}")

    def _take(self, group: Sequence[Wake], run: str) -> None:
        desk, agent, now = self._desk, self._agent.id, self._desk.clock.now()
        rows = [row("wakes", wakes.taken(one, run, now, desk.actor.name)) for one in group]
        message = desk.message(f"wake({agent}): taken by {run}", "wake-take", agent, run)
        desk.vault.record(message, desk.author, rows, now)

    def _finish(self, run: str, ended: "ClientResult", ids: tuple[str, ...]) -> Finished:
        from dataclasses import replace

        told = replace(told_of(run, self._agent, ended), wakes=ids)
        return finishing.wake_done(self._desk, told, self._reflecting)
