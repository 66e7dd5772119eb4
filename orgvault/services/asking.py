"""Asking a model about a finished run, and judging what it answers; nothing is written here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TypeVar

from orgvault.domain.answer import RawOperation, read_answer
from orgvault.domain.claim import Claim
from orgvault.domain.episode import Correction, Episode
from orgvault.domain.excerpt import excerpt, prepared
from orgvault.domain.masking import SECRET
from orgvault.domain.operation import judge
from orgvault.domain.problem import Problem
from orgvault.domain.reflection import Answer, Model, Question, Reflection, Result, Run, Verdict
from orgvault.domain.reflection_prompt import prompt, shown_claims
from orgvault.domain.roster import Agent
from orgvault.errors import ModelFailed, OrgvaultError
from orgvault.services.desk import Desk, row
from orgvault.store.claims import Claims, Tree

N = TypeVar("N", int, float)
DEADLINE_S = 60.0
RECENT = 20
NO_ROOM = "day_cap"
REPAIRED = "\n\n[repaired]\n"  # between an answer and what its repair gave
CUT = "the answer is too long"
_ANSWER_KEPT = 4000


class Asking:
    """One question to one model; `reserve` takes a call from the day's cap, or says no.

    `ends` is the moment of the monotonic clock by which every call of the command must be over.
    """

    def __init__(self, desk: Desk, model: Model, reserve: Callable[[], bool]) -> None:
        self._desk = desk
        self._model = model
        self._reserve = reserve
        self.ends = desk.clock.monotonic() + DEADLINE_S

    def ask(self, run: Run) -> Reflection:
        """Ask and judge.  Never raises: what goes wrong is the reflection's reason."""
        desk, began = self._desk, self._desk.clock.monotonic()
        made = Reflection(
            id=desk.new_row_id("r"), agent=run.agent.id, run=run.episode.run,
            at=desk.clock.now(), trigger=run.trigger, result=Result.FAILED,
            model=self._model.name,
        )  # fmt: skip
        try:
            made = self._asked(made, run)
        except OrgvaultError as failure:
            made = replace(made, reason=" ".join(str(failure).split())[:400])
        except Exception as failure:  # noqa: BLE001 - no fault in here may lose the run
            made = replace(made, reason=f"{type(failure).__name__}: {failure}"[:400])
        took_s = desk.clock.monotonic() - began
        return _fitting(replace(made, ms=int(took_s * 1000)))

    def _asked(self, made: Reflection, run: Run) -> Reflection:
        question, seen = question_of(self._desk, run, self._desk.vault)
        if self._model.metered:
            question = replace(question, prompt=prompt(question))
            made = replace(made, prompt_sha256=prompt_sha256(question))
        if self._model.metered and not self._reserve():
            return replace(made, result=Result.SKIPPED, reason=NO_ROOM)
        try:
            answer = self._model.answer(question, self._left_s())
        except ModelFailed as failure:
            return replace(made, calls=self._cost(1), reason=str(failure.why)[:400])
        made = replace(
            made, calls=self._cost(1), answer=self._desk.masked(answer.text),
            tokens_in=answer.tokens_in, tokens_out=answer.tokens_out, cost_usd=answer.cost_usd,
        )  # fmt: skip
        operations: Sequence[RawOperation] | None = read_answer(answer.text)
        if operations is None:
            made, operations = self._repaired(made, answer)
        if operations is None:
            return made
        verdicts = judged(self._desk, run.agent, operations, question, seen)
        return replace(made, result=Result.APPLIED, reason="", operations=verdicts)

    def _repaired(
        self, made: Reflection, answer: Answer
    ) -> tuple[Reflection, Sequence[RawOperation] | None]:
        """One call that only puts the answer into the asked form; then it is read, or is not."""
        unreadable = replace(made, result=Result.UNREADABLE, reason="the answer cannot be read")
        if self._model.metered and not self._reserve():
            return replace(unreadable, reason=f"the answer cannot be read; {NO_ROOM}"), None
        try:
            repaired = self._model.repair(answer.text, self._left_s())
        except ModelFailed as failure:
            why = f"the answer cannot be read; its repair failed: {failure.why}"[:400]
            return replace(unreadable, calls=self._cost(2), reason=why), None
        if repaired is None:
            return unreadable, None
        both = replace(
            unreadable,
            calls=self._cost(2),
            answer=self._desk.masked(f"{answer.text}{REPAIRED}{repaired.text}"),
            tokens_in=_sum(answer.tokens_in, repaired.tokens_in),
            tokens_out=_sum(answer.tokens_out, repaired.tokens_out),
            cost_usd=_sum(answer.cost_usd, repaired.cost_usd),
        )
        return both, read_answer(repaired.text)

    def _cost(self, calls: int) -> int:
        return calls if self._model.metered else 0

    def _left_s(self) -> float:
        left_s = self.ends - self._desk.clock.monotonic()
        if left_s <= 0:
            raise ModelFailed(self._model.name, "no time was left")
        return left_s


def judged(
    desk: Desk, agent: Agent, operations: Sequence[RawOperation], question: Question,
    sha256_seen: Mapping[str, str],
) -> tuple[Verdict, ...]:  # fmt: skip
    """The verdicts on what an answer asks, fresh or stored; no secret stays in their words.

    `sha256_seen`: the hash of each claim's file as the question shows it, by claim id.
    """
    verdicts = judge(
        [_masked(desk, one) for one in operations],
        question,
        others=desk.others(agent),
        protected=desk.roster.protected,
        sha256=sha256_seen,
    )
    return tuple(map(_without_secrets, verdicts))


def question_of(desk: Desk, run: Run, tree: Tree) -> tuple[Question, dict[str, str]]:
    """What can be seen of a run beside the memory in `tree`, and the hash of each claim's file.

    The prompt is left empty.  Raises UnreadableMemory.
    """
    agent, problems = run.agent, list[Problem]()
    stored = Claims(tree).active(agent.id)
    logs = desk.vault.logs
    earlier = logs.records(Episode, "episodes", agent.id, problems)
    recent = [one for one in earlier if one.run != run.episode.run][-RECENT:]
    corrections = logs.records(Correction, "corrections", agent.id, problems)
    kept = {one.id for one in recent}
    claims = [replace(one.claim, text=desk.masked(one.claim.text)) for one in stored]
    own = _own_texts(tree, agent, claims)
    session, _ = prepared(run.session, cut=own, values=desk.secrets)
    seen = excerpt(
        run.session, desk.count_tokens, cut=own, protected=desk.roster.protected,
        values=desk.secrets,
    )  # fmt: skip
    question = Question(
        episode=run.episode,
        excerpt=seen,
        session=session,
        claims=shown_claims(claims, seen),
        recent=tuple(recent),
        corrections=tuple(one for one in corrections if one.episode in kept),
        prompt="",
    )
    return question, {one.claim.id: one.sha256 for one in stored}


def prompt_sha256(question: Question) -> str:
    """The hash of what a model is sent."""
    return sha256(question.prompt.encode("utf-8", "surrogatepass")).hexdigest()


def _masked(desk: Desk, one: RawOperation) -> RawOperation:
    """An operation without the secrets in its words; none may reach a file."""
    masked = desk.masked
    return replace(
        one, op=masked(one.op), claim_starts=masked(one.claim_starts), kind=masked(one.kind),
        text=masked(one.text), why=masked(one.why), evidence=masked(one.evidence),
    )  # fmt: skip


def _without_secrets(verdict: Verdict) -> Verdict:
    """A verdict that drops what held a secret."""
    held = SECRET in verdict.text or SECRET in verdict.evidence
    return replace(verdict, verdict="it holds a secret") if held else verdict


def _own_texts(tree: Tree, agent: Agent, claims: Sequence[Claim]) -> tuple[str, ...]:
    paths = (Claims.core_path(agent.id), Claims.notebook_path(agent.id))
    contents = [tree.read(path) for path in paths]
    texts = [one.decode(errors="replace") for one in contents if one]
    return (*texts, *(one.text for one in claims))


def _fitting(made: Reflection) -> Reflection:
    """The reflection as a row that a log can hold: an answer that is too long is cut."""
    try:
        row("reflections", made)
    except ValueError:
        return replace(
            made, result=Result.UNREADABLE, reason=CUT, operations=(),
            answer=(made.answer or "")[:_ANSWER_KEPT],
        )  # fmt: skip
    return made


def _sum(one: N | None, other: N | None) -> N | None:
    return None if one is None or other is None else one + other
