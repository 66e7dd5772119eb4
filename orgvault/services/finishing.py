"""A run has finished: its wakes closed, its status, its episode, and the reflection on it."""

from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from orgvault.domain import episode as episodes
from orgvault.domain import wake as wakes
from orgvault.domain.episode import Episode, TranscriptFile
from orgvault.domain.ids import derived_id, is_run_id, is_started_run, is_wake_id
from orgvault.domain.record import unsound
from orgvault.domain.roster import Agent
from orgvault.domain.transcript import Session
from orgvault.domain.wake import Reason, Status, Wake, WakeEvent
from orgvault.errors import BadRunId, MixedWakes, NoWake, OrgvaultError, UnknownWake
from orgvault.services.desk import Desk, row, sound
from orgvault.services.reflecting import Reflecting, said
from orgvault.store.entry import Row
from orgvault.store.vault import ORG
from orgvault.values import dataclass

if TYPE_CHECKING:
    from orgvault.domain.reflection import Reflection

_PROPOSALS = f"{ORG}/proposals"
_FROM_TRANSCRIPT = frozenset(
    {"turns", "tokens_in", "tokens_out", "model", "client", "session", "started_at"}
)
SAME_WHEN_RETRIED = ("exit_code", "outcome", "cost_usd", "turns", "duration_s", "model", "card")


@dataclass(frozen=True, kw_only=True)
class FinishedRun:
    """What a dispatcher tells of a finished run; None where it does not know.

    `cost_usd` is the session's total when `session` is given (a resumed session counts on).
    """

    run: str
    exit_code: int | None = None
    wakes: tuple[str, ...] = ()
    agent: str | None = None
    reason: Reason | None = None
    card: str | None = None
    result: str = ""
    outcome: str | None = None
    turns: int | None = None
    cost_usd: float | None = None
    duration_s: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    model: str | None = None
    log: str | None = None
    transcript: str | None = None
    session: str | None = None
    client: str | None = None


@dataclass(frozen=True)
class Finished:
    """What recording a finished run did; `proposal` is the card that was filed, if one was."""

    agent: str
    run: str
    episode: Episode | None
    new: bool
    closed: tuple[str, ...]
    reflection: "Reflection | None" = None
    remarks: list[str] = field(default_factory=list)
    proposal: str | None = None


def wake_done(desk: Desk, told: FinishedRun, reflecting: Reflecting) -> Finished:
    """Record a finished run: close its wakes, leave a status, append its episode, reflect.

    Then see what people did with the proposals.

    Raises UnknownWake or MixedWakes before anything is written; a second call for the same run
    closes wakes that are still open and records nothing else.
    """
    desk.require("dispatch", "record a run")  # before any wake is looked up: one refusal for all
    if not told.wakes:
        raise NoWake
    known = find_wakes(desk, told)
    agent = owner_of(desk, told, known)
    desk.require("dispatch", f"record runs of {agent.id}", agent)
    finished = record_run(desk, agent, told, known, reflecting)
    if desk.vault.names(_PROPOSALS):
        from orgvault.services.noticing import notice  # only a vault that has any pays for it

        notice(desk, finished.remarks)
    return finished


def record_run(
    desk: Desk,
    agent: Agent,
    told: FinishedRun,
    known: Sequence[Wake],
    reflecting: Reflecting,
) -> Finished:
    """The pipeline that `wake-done` and `reflect` share."""
    if not is_run_id(told.run) or desk.masked(told.run) != told.run:
        raise BadRunId(desk.masked(told.run))
    logs, now = desk.vault.logs, desk.clock.now()
    still_open = [wake for wake in known if wake.open]
    closings = [row("wakes", wakes.closed(w, told.run, now, desk.actor.name)) for w in still_open]
    closed = tuple(wake.id for wake in still_open)
    others = [w for w in known if not w.open and w.closed_by_run != told.run]
    late = [f"{w.id} was closed by {w.closed_by_run} already" for w in others]
    recorded = logs.find(Episode, "episodes", agent.id, "run", [told.run])
    if recorded:
        remarks = [*late, *differences(recorded[0], told)]
        record_rows(desk, agent, told, closings, None)
        card = reflecting.propose_missed(agent, recorded[0], remarks)
        return Finished(
            agent.id,
            told.run,
            recorded[0],
            new=False,
            closed=closed,
            remarks=remarks,
            proposal=card,
        )

    statuses = logs.find(Status, "status", agent.id, "run", [told.run])
    posted = next((s for s in reversed(statuses) if not s.fallback), None)
    remarks = late
    if told.log is not None and desk.protects(told.log):
        remarks.append(f"{told.log} stands in a protected place and is not recorded as the log")
        told = replace(told, log=None)
    session, transcript = reflecting.read(told.transcript, remarks)
    made = episode_of(desk, agent, told, known, posted, session, transcript, now)
    made = without_misfits(made, told, remarks)
    rows = [*closings, *([] if statuses else [row("status", fallback(agent, told, made, now))])]
    fault = unfit(made)
    if fault:
        remarks.append(f"the run's episode was not recorded: {fault}")
        kept = replace(made, card=None)  # what is wrong with the episode may be its card
        spoke = [] if statuses else [row("status", fallback(agent, told, kept, now))]
        record_rows(desk, agent, told, [*closings, *spoke], None)
        return Finished(
            agent.id, told.run, None, new=False, closed=closed, reflection=None, remarks=remarks
        )

    trigger = wakes.trigger_of(made.reason)
    unread = told.transcript is not None and transcript is None
    skipped = reflecting.why_not(agent, trigger, made.turns, unread=unread)
    if skipped:
        made = replace(made, reflect_skipped=skipped)
        remarks.append(f"not reflected on: {said(skipped)}")
        record_rows(desk, agent, told, [*rows, row("episodes", made)], made)
        reflecting.settle_put_off(agent, remarks)
        reflection = card = None
    else:
        from orgvault.domain.reflection import Run

        reflection, card = reflecting.reflect(
            Run(agent, made, session, trigger), [*rows, row("episodes", made)], remarks
        )
    standing = logs.find(Episode, "episodes", agent.id, "run", [told.run])
    if standing and standing[0] != made:
        # Another process reported this run at the same moment, and came first.
        remarks.extend(differences(standing[0], told))
        return Finished(
            agent.id,
            told.run,
            standing[0],
            new=False,
            closed=closed,
            reflection=reflection,
            remarks=remarks,
            proposal=card,
        )
    return Finished(
        agent.id, told.run, made, new=True, closed=closed, reflection=reflection, remarks=remarks,
        proposal=card,
    )  # fmt: skip


def reflect(desk: Desk, told: FinishedRun, reflecting: Reflecting) -> Finished:
    """The same pipeline without a wake to close: for chat ends, other clients, another try.

    A run that has no episode gets one; one whose reflection failed or was skipped is reflected
    on again; one that was reflected on stays as it is.
    """
    agent = owner_of(desk, told, [])
    desk.require("dispatch", f"reflect on runs of {agent.id}", agent)
    recorded = desk.vault.logs.find(Episode, "episodes", agent.id, "run", [told.run])
    if not recorded:
        return record_run(desk, agent, told, [], reflecting)
    episode, remarks = recorded[0], differences(recorded[0], told)
    standing = reflecting.standing(agent, told.run)
    if standing is not None:
        reflecting.settle_put_off(agent, remarks)
        standing = reflecting.standing(agent, told.run)
        card = reflecting.propose_missed(agent, episode, remarks)
        return Finished(
            agent.id, told.run, episode, new=False, closed=(), reflection=standing,
            remarks=remarks, proposal=card,
        )  # fmt: skip
    path = told.transcript or (episode.transcript.path if episode.transcript else None)
    session, transcript = reflecting.read(path, remarks)
    trigger = wakes.trigger_of(told.reason or episode.reason)
    turns = episode.turns or told.turns or session.turns
    unread = path is not None and transcript is None
    skipped = reflecting.why_not(agent, trigger, turns, unread=unread)
    if skipped:
        remarks.append(f"{told.run} is not reflected on: {said(skipped)}")
        return Finished(
            agent.id, told.run, episode, new=False, closed=(), reflection=None, remarks=remarks
        )
    from orgvault.domain.reflection import Run

    reflection, card = reflecting.reflect(Run(agent, episode, session, trigger), [], remarks)
    return Finished(
        agent.id, told.run, episode, new=False, closed=(), reflection=reflection, remarks=remarks,
        proposal=card,
    )  # fmt: skip


def find_wakes(desk: Desk, told: FinishedRun) -> list[Wake]:
    """The wakes that a run closes.  Raises UnknownWake unless `--agent` says whose they are."""
    wanted = set(told.wakes)
    if not wanted:
        return []
    names = [told.agent] if told.agent else desk.vault.logs.agents("wakes")
    events = [
        event
        for name in names
        for event in desk.vault.logs.find(WakeEvent, "wakes", name, "wake", wanted)
    ]
    found = {wake.id: wake for wake in wakes.wakes(events)}
    ours = {one for one in wanted - found.keys() if is_wake_id(one)} if told.agent else set()
    if ours:
        elsewhere = [
            name
            for name in desk.vault.logs.agents("wakes")
            if name != told.agent and desk.vault.logs.find(WakeEvent, "wakes", name, "wake", ours)
        ]
        if elsewhere:
            raise MixedWakes(sorted({*elsewhere, *([told.agent] if told.agent else [])}))
    unknown = [one for one in told.wakes if one not in found]
    if unknown and not told.agent:
        raise UnknownWake(unknown[0])
    return [found[one] for one in dict.fromkeys(told.wakes) if one in found]


def owner_of(desk: Desk, told: FinishedRun, known: Sequence[Wake]) -> Agent:
    """Whose run it is.  Raises MixedWakes when the wakes do not agree."""
    names = {wake.agent for wake in known} | ({told.agent} if told.agent else set())
    if len(names) != 1:
        raise MixedWakes(sorted(names))
    return desk.agent(names.pop())


def episode_of(
    desk: Desk,
    agent: Agent,
    told: FinishedRun,
    known: Sequence[Wake],
    posted: Status | None,
    session: Session,
    transcript: TranscriptFile | None,
    now: str,
) -> Episode:
    """The episode of a run, from what was told and, where nothing was, from its transcript."""
    first = known[0] if known else None
    reason = told.reason or (first.reason if first else Reason.MANUAL)
    card = told.card or next((w.card for w in known if w.card), None)
    card = card or (posted.card if posted else None)
    exit_code = told.exit_code or 0
    how = episodes.outcome(exit_code, posted.outcome if posted else None, told.outcome, told.result)
    said_so = _unprotected(desk, told.result or (posted.text if posted else ""))
    turns = told.turns if told.turns is not None else session.turns
    session_id = told.session or session.session
    prompt_sha256, core_sha256 = _prompt_of(desk, agent, told.run)
    return Episode(
        id=episodes.episode_id(agent.id, told.run),
        agent=agent.id,
        run=told.run,
        wakes=tuple(dict.fromkeys(told.wakes)),
        reason=reason,
        card=card,
        outcome=how,
        exit_code=exit_code,
        turns=turns,
        cost_usd=cost(desk, agent, told),
        duration_s=told.duration_s,
        tokens_in=told.tokens_in if told.tokens_in is not None else session.tokens_in,
        tokens_out=told.tokens_out if told.tokens_out is not None else session.tokens_out,
        model=_masked(desk, told.model or session.model),
        summary=episodes.summary(reason, card, how, turns, said_so),
        log=_masked(desk, told.log),
        transcript=transcript,
        prompt_sha256=prompt_sha256,
        core_sha256=core_sha256,
        client=_masked(desk, told.client or (session.client if transcript else None)),
        session=_masked(desk, session_id),
        session_cost_usd=told.cost_usd if told.session else None,
        reflect_skipped=None,
        started_at=session.started_at,
        finished_at=now,
    )


def _prompt_of(desk: Desk, agent: Agent, run: str) -> tuple[str | None, str | None]:
    """The hashes of a run's system message and of the core block in it, if we have started it."""
    if not is_started_run(run):
        return None, None
    from orgvault.store.runs import Runs  # only for a run that may have a manifest

    manifest = Runs(desk.vault).manifest(agent.id, run)
    return (manifest.prompt_sha256, manifest.core_sha256) if manifest else (None, None)


def _masked(desk: Desk, text: str | None) -> str | None:
    return None if text is None else desk.masked(text)


def _unprotected(desk: Desk, text: str) -> str:
    """What a run said, without secrets; nothing of it when it names a protected place."""
    from orgvault.domain.masking import mentions_protected

    return "" if mentions_protected(text, desk.roster.protected) else desk.masked(text)


def cost(desk: Desk, agent: Agent, told: FinishedRun) -> float | None:
    """What this run cost: of a resumed session, the difference to its last known total."""
    if told.cost_usd is None or not told.session:
        return told.cost_usd
    earlier = desk.vault.logs.find(Episode, "episodes", agent.id, "session", [told.session])
    totals = [e.session_cost_usd for e in earlier if e.session_cost_usd is not None]
    # A total below the last one means that the client began to count anew.
    booked = told.cost_usd - (totals[-1] if totals and totals[-1] <= told.cost_usd else 0.0)
    return round(booked, 6)


def fallback(agent: Agent, told: FinishedRun, made: Episode, now: str) -> Status:
    """The status of a run that left none; one per run, however often it is recorded."""
    return Status(
        id=derived_id("s", agent.id, told.run), agent=agent.id, run=told.run, at=now,
        text=made.summary, card=made.card, fallback=True,
        outcome=made.outcome if made.outcome in wakes.REPORTED else None,
    )  # fmt: skip


def record_rows(
    desk: Desk, agent: Agent, told: FinishedRun, rows: Sequence[Row], made: Episode | None
) -> None:
    """Record the rows of a run that is not reflected on."""
    if rows:
        what = f"{made.outcome}, {told.run}" if made else f"closed, {told.run}"
        message = desk.message(f"wake({agent.id}): {what}", "wake-done", agent.id, told.run)
        desk.vault.record(message, desk.author, rows, desk.clock.now())


def differences(recorded: Episode, told: FinishedRun) -> list[str]:
    """How a second report of a run differs from what was recorded."""
    given = {
        "exit_code": told.exit_code, "outcome": told.outcome, "turns": told.turns,
        "cost_usd": told.cost_usd,
        "duration_s": told.duration_s, "model": told.model, "card": told.card,
    }  # fmt: skip
    kept = {name: getattr(recorded, name) for name in SAME_WHEN_RETRIED}
    if recorded.session_cost_usd is not None:
        kept["cost_usd"] = recorded.session_cost_usd
    return [
        f"{recorded.run} is recorded with {name} {kept[name]}; the {value} given now is ignored"
        for name, value in given.items()
        if value is not None and value != kept[name]
    ]


def without_misfits(made: Episode, told: FinishedRun, remarks: list[str]) -> Episode:
    """The episode without what its transcript says and no row can hold.

    A client's file is not the caller's word: a run must not be lost over it.
    """
    misfits = {str(fault.path[0]) for fault in unsound(made) if fault.path}
    for name in sorted(misfits.intersection(_FROM_TRANSCRIPT)):
        if getattr(told, name, None) is None:
            remarks.append(
                f"what the transcript says of {name} cannot be recorded, and is left out"
            )
            nothing: dict[str, Any] = {name: None}
            made = replace(made, **nothing)
    return made


def unfit(made: Episode) -> str:
    """Why an episode cannot be a row; empty when it can."""
    try:
        sound(made)
        row("episodes", made)
    except (OrgvaultError, ValueError) as fault:
        return str(fault)
    return ""
