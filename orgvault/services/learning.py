"""Learning from a finished run: the turn to ask, the question, and the memory changed by it.

Nothing in here can keep a run from being recorded: whatever goes wrong is a reason in the log.
"""

from collections.abc import Sequence
from dataclasses import replace

from orgvault.domain.application import apply
from orgvault.domain.episode import Episode
from orgvault.domain.instants import day
from orgvault.domain.reflection import Reflection, Result, Run, Verdict
from orgvault.domain.roster import Agent
from orgvault.errors import OrgvaultError, VaultBusy
from orgvault.services.asking import DEADLINE_S, Asking
from orgvault.services.desk import Desk, row
from orgvault.services.keeping import keep
from orgvault.services.means import PUT_OFF, Means
from orgvault.store.calls import Calls
from orgvault.store.claims import Claims
from orgvault.store.entry import Message, Row
from orgvault.store.vault import Change


class Learning:
    """The step behind `Reflecting` that costs imports: only a run that is reflected on pays."""

    def __init__(self, desk: Desk, means: Means) -> None:
        self._desk = desk
        self._means = means

    def reflect(self, run: Run, rows: Sequence[Row], remarks: list[str]) -> Reflection | None:
        """Reflect on a run and record it, with the rows of the run, as one commit.

        `rows` are acknowledged whatever happens; before a call that takes seconds they are
        committed by themselves, and the vault's lock is not held during it.  Returns the
        reflection that stands for the run (another process may have made it), or None when it
        could not be recorded.
        """
        model, _ = self._means.model(run.agent)
        if model is None:
            raise AssertionError(run)  # the caller has asked why_not
        calls = Calls(self._desk.vault.private)
        asking = Asking(self._desk, model, lambda: self._reserve(calls))
        if not model.metered:
            return self._settle(run, rows, asking.ask(run), remarks)
        if rows:
            self._record(run, f"{run.episode.outcome}, {run.episode.run}", rows)
        with calls.turn(run.agent.id, run.episode.run, DEADLINE_S * 2) as mine:
            standing = self.standing(run.agent, run.episode.run)
            if standing is not None or not mine:
                return standing
            return self._settle(run, (), asking.ask(run), remarks)

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

    # ── the model ───────────────────────────────────────────────────────────────────────────

    def _reserve(self, calls: Calls) -> bool:
        return calls.reserve(
            day(self._desk.clock.now()).isoformat(), self._means.calls_per_day, self._calls_today
        )

    def _calls_today(self) -> int:
        logs, today = self._desk.vault.logs, day(self._desk.clock.now())
        return sum(
            one.calls
            for agent in logs.agents("reflections")
            for one in logs.records(Reflection, "reflections", agent, [])
            if day(one.at) == today
        )

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
        return next((one for one in reversed(rows) if one.result in final), None)

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
                later.result is Result.APPLIED
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
        remarks.append(
            f"the run is recorded; its reflection is put off ({why}): the agent's next run makes "
            f"up for it, or `orgvault reflect {run.agent.id} --run {run.episode.run}`"
        )
        busy = isinstance(failure, VaultBusy) and made.result is Result.APPLIED
        put_off = replace(
            made, result=Result.REPOSITORY_BUSY if busy else Result.FAILED, reason=why[:400]
        )
        try:
            self._record(
                run, f"{run.episode.run}, reflection put off", [row("reflections", put_off)]
            )
        except OrgvaultError as second:
            remarks.append(str(second))
            return None
        return put_off

    def _record(self, run: Run, what: str, rows: Sequence[Row]) -> None:
        desk, agent = self._desk, run.agent.id
        message = desk.message(f"wake({agent}): {what}", "wake-done", agent, run.episode.run)
        desk.vault.record(message, desk.author, rows, desk.clock.now())
