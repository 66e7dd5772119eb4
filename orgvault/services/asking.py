"""Asking a model about a finished run, and judging what it answers; nothing is written here."""

from collections.abc import Sequence
from dataclasses import replace

from orgvault.domain.answer import read_answer
from orgvault.domain.claim import Claim
from orgvault.domain.episode import Correction, Episode
from orgvault.domain.excerpt import excerpt, prepared
from orgvault.domain.operation import judge
from orgvault.domain.problem import Problem
from orgvault.domain.reflection import Answer, Model, Question, Reflection, Result, Run
from orgvault.domain.roster import Agent
from orgvault.errors import ModelFailed
from orgvault.services.desk import Desk
from orgvault.store.claims import Claims

DEADLINE_S = 60.0
RECENT = 20


def ask(desk: Desk, run: Run, model: Model) -> Reflection:
    """Ask and judge.  Never raises: what goes wrong is the reflection's reason."""
    made = Reflection(
        id=desk.new_row_id("r"), agent=run.agent.id, run=run.episode.run,
        at=desk.clock.now(), trigger=run.trigger, result=Result.FAILED, model=model.name,
    )  # fmt: skip
    try:
        question, seen = _question(desk, run)
        answer = model.answer(question, DEADLINE_S)
        return _judged(desk, made, answer, question, seen, model)
    except ModelFailed as failure:
        return replace(made, reason=str(failure.why)[:400])
    except Exception as failure:  # noqa: BLE001 - no fault in here may lose the run
        return replace(made, reason=f"{type(failure).__name__}: {failure}"[:400])


def _question(desk: Desk, run: Run) -> tuple[Question, dict[str, str]]:
    """What the model sees, and the hash of each claim's file as it sees it."""
    agent = run.agent
    stored = Claims(desk.vault).active(agent.id)
    logs, problems = desk.vault.logs, list[Problem]()
    earlier = logs.records(Episode, "episodes", agent.id, problems)
    recent = [one for one in earlier if one.run != run.episode.run][-RECENT:]
    corrections = logs.records(Correction, "corrections", agent.id, problems)
    kept = {one.id for one in recent}
    own = _own_texts(desk, agent, [one.claim for one in stored])
    session, _ = prepared(run.session, cut=own, values=desk.secrets)
    question = Question(
        episode=run.episode,
        excerpt=excerpt(run.session, desk.count_tokens, cut=own, protected=desk.roster.protected),
        session=session,
        claims=tuple(one.claim for one in stored),
        recent=tuple(recent),
        corrections=tuple(one for one in corrections if one.episode in kept),
        prompt="",
    )
    return question, {one.claim.id: one.sha256 for one in stored}


def _judged(
    desk: Desk,
    made: Reflection,
    answer: Answer,
    question: Question,
    seen: dict[str, str],
    model: Model,
) -> Reflection:
    made = replace(
        made,
        calls=1 if model.metered else 0,
        answer=desk.masked(answer.text),
        tokens_in=answer.tokens_in,
        tokens_out=answer.tokens_out,
        cost_usd=answer.cost_usd,
    )
    operations = read_answer(answer.text)
    if operations is None:
        return replace(made, result=Result.UNREADABLE, reason="the answer is no JSON we know")
    verdicts = judge(
        operations,
        question,
        others=desk.others(desk.agent(made.agent)),
        protected=desk.roster.protected,
        sha256=seen,
    )
    return replace(made, result=Result.APPLIED, operations=verdicts)


def _own_texts(desk: Desk, agent: Agent, claims: Sequence[Claim]) -> tuple[str, ...]:
    paths = (Claims.core_path(agent.id), Claims.notebook_path(agent.id))
    contents = [desk.vault.read(path) for path in paths]
    texts = [one.decode(errors="replace") for one in contents if one]
    return (*texts, *(one.text for one in claims))
