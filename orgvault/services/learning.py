"""Learning from a finished run: the turn to ask, the question, and the memory changed by it.

Nothing in here can keep a run from being recorded: whatever goes wrong is a reason in the log.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from orgvault.domain.application import apply
from orgvault.domain.claim import Claim, ClaimKind, order
from orgvault.domain.episode import Episode
from orgvault.domain.reflection import Asked, Model, Reflection, Result, Run, Verdict
from orgvault.domain.roster import Agent
from orgvault.domain.transcript import EMPTY
from orgvault.errors import OrgvaultError, UnreadableMemory, VaultBusy
from orgvault.services.asking import DEADLINE_S, Asking
from orgvault.services.cap import reserve
from orgvault.services.desk import Desk, row
from orgvault.services.keeping import keep
from orgvault.services.means import PUT_OFF, Means
from orgvault.services.proposal_faults import NotEligible
from orgvault.store.calls import Calls
from orgvault.store.claims import Claims
from orgvault.store.entry import Message, Row
from orgvault.store.vault import Change

_RECURRING = frozenset({ClaimKind.FRICTION, ClaimKind.ANTI_PATTERN})


class Learned(NamedTuple):
    """What came of a finished run.

    `reflection` is the one that stands for it (another process may have made it), None when it
    could not be recorded; `card` the proposal that was filed.
    """

    reflection: Reflection | None
    card: str | None = None


class Learning:
    """The step behind `Reflecting` that costs imports: only a run that is reflected on pays."""

    def __init__(self, desk: Desk, means: Means) -> None:
        self._desk = desk
        self._means = means
        self._raised: dict[str, Claim] = {}

    def reflect(self, run: Run, rows: Sequence[Row], remarks: list[str]) -> Learned:
        """Reflect on a run and record it, with the rows of the run, as one commit.

        A claim that it raised may then become one card, as a commit of its own.

        `rows` are acknowledged whatever happens; before a call that takes seconds they are
        committed by themselves, and the vault's lock is not held during it.  One deadline holds
        for all calls.
        """
        model, _ = self._means.model(run.agent)
        if model is None:
            raise AssertionError(run)  # the caller has asked why_not
        asking = Asking(self._desk, model, lambda: reserve(self._desk, self._means))
        if model.metered:
            if rows:
                self._record(run, f"{run.episode.outcome}, {run.episode.run}", rows)
            calls = Calls(self._desk.vault.private)
            with calls.turn(run.agent.id, run.episode.run, DEADLINE_S * 2) as mine:
                standing = self.standing(run.agent, run.episode.run)
                if standing is not None or not mine:
                    return Learned(standing)
                made = self._settle(run, (), asking.ask(run), remarks)
        else:
            made = self._settle(run, rows, asking.ask(run), remarks)
        card = None
        if made is not None and made.result is Result.APPLIED and self._raised:
            card = self._propose(run, model, asking.ends, remarks)
        return Learned(made, card)

    def settle_put_off(self, agent: Agent, remarks: list[str]) -> None:
        """Apply answers that were stored while the repository was busy, if there are any."""
        if not self._put_off_answers(agent):
            return
        desk = self._desk
        message = desk.message(f"memory({agent.id}): apply what was put off", "reflect", agent.id)
        try:
            with desk.vault.change(message, desk.author, desk.clock.now()) as change:
                self._catch_up(change, agent)
        except (OrgvaultError, OSError) as failure:
            remarks.append(f"a stored reflection of {agent.id} still waits: {failure}")

    def propose_missed(self, agent: Agent, episode: Episode, remarks: list[str]) -> str | None:
        """File the card that a run has raised and that a crash kept from being asked for."""
        standing = self.standing(agent, episode.run)
        model, _ = self._means.model(agent)
        if standing is None or model is None:
            return None
        rows = self._desk.vault.logs.find(Reflection, "reflections", agent.id, "run", [episode.run])
        asked = {one.claim_id for one in rows if one.asked is Asked.PROPOSAL}
        raised = {one.claim_id for one in standing.operations if one.effect != "nothing"} - asked
        active = [one.claim for one in Claims(self._desk.vault).active(agent.id)]
        self._raised = {one.id: one for one in active if one.id in raised and not one.proposal}
        ends = self._desk.clock.monotonic() + DEADLINE_S
        return self._propose(Run(agent, episode, EMPTY, standing.trigger), model, ends, remarks)

    # ── a card ──────────────────────────────────────────────────────────────────────────────

    def _propose(self, run: Run, model: Model, ends: float, remarks: list[str]) -> str | None:
        """File a card for the most seen of the claims that were raised; its id, if there is one.

        Whatever goes wrong is a remark: the run and what was learned are recorded by now.
        """
        settings = run.agent.memory.self_improvement
        ripe = [
            one
            for one in self._raised.values()
            if one.kind in _RECURRING and one.times_seen >= settings.repeat_threshold
        ]
        if not ripe or not settings.enabled:
            return None
        if self._desk.vault.planned:  # a preview: no file says yet what was learned
            remarks.append(f"{min(ripe, key=order).id} might then be proposed")
            return None
        from orgvault.services.proposing import Proposing

        making = Proposing(self._desk, model, lambda: reserve(self._desk, self._means), ends)
        for claim in sorted(ripe, key=order):
            try:
                return making.propose(run.agent, claim.id, run.trigger, run.episode.run).proposal.id
            except NotEligible as refused:
                remarks.append(str(refused))
                if making.has_asked:
                    return None
            except Exception as failure:  # noqa: BLE001 - no fault in here may disturb the run
                remarks.append(f"{claim.id} is not proposed: {failure}")
                return None
        return None

    # ── applying, under the vault's lock ────────────────────────────────────────────────────

    def _settle(
        self, run: Run, rows: Sequence[Row], made: Reflection, remarks: list[str]
    ) -> Reflection | None:
        """Record a reflection and what it changes, with the rows of its run."""
        desk = self._desk
        try:
            with desk.vault.change(
                self._message(run, made), desk.author, desk.clock.now(), rows
            ) as change:
                standing = self.standing(run.agent, run.episode.run)
                if standing is not None:
                    made = standing
                else:
                    self._catch_up(change, run.agent)
                    made = self._apply(change, run, made)
                    change.add(row("reflections", made))
                    change.message = self._message(run, made)
        except (OrgvaultError, OSError) as failure:
            return self._put_off(run, rows, made, failure, remarks)
        return made

    def standing(self, agent: Agent, run: str) -> Reflection | None:
        """The reflection that a run already has: applied, or stored for later."""
        rows = self._desk.vault.logs.find(Reflection, "reflections", agent.id, "run", [run])
        final = {Result.APPLIED, Result.REPOSITORY_BUSY}
        return next((one for one in reversed(rows) if _is_of_memory(one, final)), None)

    def _apply(self, change: Change, run: Run, made: Reflection) -> Reflection:
        if made.result is not Result.APPLIED or not made.operations:
            return made
        verdicts = self._apply_verdicts(change, run.agent, made.run, made.operations)
        return replace(made, operations=verdicts)

    def _catch_up(self, change: Change, agent: Agent) -> None:
        """Apply the stored answers of runs that found the repository busy."""
        for waiting in self._put_off_answers(agent):
            verdicts = self._apply_verdicts(change, agent, waiting.run, waiting.operations)
            settled = replace(
                waiting, id=self._desk.new_row_id("r"), at=self._desk.clock.now(), calls=0,
                result=Result.APPLIED, reason="put off while the repository was busy",
                operations=verdicts, cost_usd=None, tokens_in=None, tokens_out=None,
            )  # fmt: skip
            change.add(row("reflections", settled))

    def _put_off_answers(self, agent: Agent) -> list[Reflection]:
        logs = self._desk.vault.logs
        waiting = logs.find(Reflection, "reflections", agent.id, "result", [PUT_OFF])
        return [
            one
            for one in waiting
            if not any(
                _is_of_memory(later, {Result.APPLIED})
                for later in logs.find(Reflection, "reflections", agent.id, "run", [one.run])
            )
        ]

    def _apply_verdicts(
        self, change: Change, agent: Agent, run: str, verdicts: Sequence[Verdict]
    ) -> tuple[Verdict, ...]:
        desk, claims = self._desk, Claims(change)
        active = claims.active(agent.id)
        earlier = desk.vault.logs.find(Reflection, "reflections", agent.id, "run", [run])
        counted = {v.claim_id for one in earlier for v in one.operations if v.effect != "nothing"}
        applied = apply(
            tuple(verdicts),
            active=tuple(one.claim for one in active),
            closed=tuple(one.claim for one in claims.closed(agent.id)),
            agent=agent.id,
            run=run,
            at=desk.clock.now(),
            new_id=lambda: desk.new_id("c"),
            counted=lambda claim_id: claim_id in counted,
            sha256_now={one.claim.id: one.sha256 for one in active},
        )
        if applied.changed or applied.closed:
            keep(desk, change, agent, applied.changed, applied.closed)
            self._raised |= {one.id: one for one in applied.changed}
        return applied.verdicts

    def _message(self, run: Run, made: Reflection) -> Message:
        """The words of the commit that holds a run and what was learned from it."""
        changed = sum(one.effect != "nothing" for one in made.operations)
        noun = "memory" if changed else "wake"
        learned = f", {changed} claim{'' if changed == 1 else 's'} changed" if changed else ""
        agent, run_id = run.agent.id, run.episode.run
        op = "wake-done" if run.episode.wakes else "reflect"
        return self._desk.message(
            f"{noun}({agent}): {run.episode.outcome}, {run_id}{learned}", op, agent, run_id
        )

    # ── when the vault is busy ──────────────────────────────────────────────────────────────

    def _put_off(
        self,
        run: Run,
        rows: Sequence[Row],
        made: Reflection,
        failure: Exception,
        remarks: list[str],
    ) -> Reflection | None:
        """Record that the memory could not be changed now; the run's rows stand."""
        logs = self._desk.vault.logs
        recorded = logs.find(Episode, "episodes", run.agent.id, "run", [run.episode.run])
        if rows and not recorded:
            raise failure
        why = failure.why if isinstance(failure, VaultBusy) else str(failure)
        again = f"`orgvault reflect {run.agent.id} --run {run.episode.run}`"
        # What passes by itself, or is mended by a person: the answer is good and waits.
        waits = isinstance(failure, VaultBusy | UnreadableMemory | OSError)
        waits = waits and made.result is Result.APPLIED
        then = f"the agent's next run makes up for it, or {again}" if waits else f"try {again}"
        put_off = replace(
            made, result=Result.REPOSITORY_BUSY if waits else Result.FAILED, reason=why[:400]
        )
        try:
            self._record(
                run, f"{run.episode.run}, reflection put off", [row("reflections", put_off)]
            )
        except OrgvaultError as second:
            if not rows:  # nothing at all was done
                raise failure from None
            remarks += [f"the run is recorded, its reflection is lost ({why}): try {again}"]
            remarks += [] if str(second) == why else [str(second)]
            return None
        remarks.append(f"the run is recorded; its reflection is put off ({why}): {then}")
        return put_off

    def _record(self, run: Run, what: str, rows: Sequence[Row]) -> None:
        desk, agent = self._desk, run.agent.id
        message = desk.message(f"wake({agent}): {what}", "wake-done", agent, run.episode.run)
        desk.vault.record(message, desk.author, rows, desk.clock.now())


def _is_of_memory(one: Reflection, results: set[Result]) -> bool:
    """Whether a row is a reflection with such a result, and not a question for a proposal."""
    return one.asked is Asked.MEMORY and one.result in results
