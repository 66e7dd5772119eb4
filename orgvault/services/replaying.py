"""`replay`: stored answers judged again by today's rules, with no model and without writing.

The question is made again from what it was made of: the episode, the transcript that it names, and
the claims, core memory and notebook as they stood before the commit that holds the reflection.
Roster, protected places and bound secrets are today's.  What a model was asked for a proposal is
the gate's to judge, not ours.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from orgvault.domain.answer import RawOperation, read_answer
from orgvault.domain.application import FOUND_IN_APPLYING
from orgvault.domain.episode import Episode
from orgvault.domain.excerpt import Excerpt, Part
from orgvault.domain.operation import (
    ACCEPTED,
    NO_QUOTE,
    ONLY_READ,
    PREFERENCE_READ,
    TOLD_TO_REMEMBER,
)
from orgvault.domain.reflection import Asked, Question, Reflection, Result, Run, Verdict
from orgvault.domain.reflection_prompt import prompt
from orgvault.domain.roster import Agent
from orgvault.errors import NotAllowed, OrgvaultError, UnknownRun
from orgvault.services.asking import CUT, REPAIRED, judged, prompt_sha256, question_of
from orgvault.services.desk import Desk
from orgvault.services.reflecting import Reflecting, said
from orgvault.store.claims import Tree
from orgvault.values import dataclass

READ = "read"
UNREADABLE = "unreadable"
NOT_JUDGED = "not judged"
NO_ANSWER = "no answer"
# Verdicts that nobody can check without the run's own text.
_NEED_THE_RUN = frozenset({NO_QUOTE, TOLD_TO_REMEMBER, ONLY_READ, PREFERENCE_READ})


@dataclass(frozen=True)
class Compared:
    """One operation with the verdict that was stored and the one that it would get today.

    Either is empty when the answer was, or would be, read without that operation.
    """

    op: str
    claim_id: str | None
    text: str
    stored: str
    today: str
    differs: bool


@dataclass(frozen=True)
class Replayed:
    """One stored answer judged again; `stored` and `today` say whether it could be read.

    `today` is `not judged` where nothing can be said; `remarks` say why, and what was missing.
    """

    agent: str
    run: str
    reflection: str
    at: str
    model: str | None
    stored: str
    today: str
    operations: tuple[Compared, ...]
    differs: bool
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Replay:
    """The stored answers of some runs, in the order in which they were asked for."""

    reflections: tuple[Replayed, ...]
    differ: int


def replay(desk: Desk, runs: Sequence[str], reflecting: Reflecting) -> Replay:
    """Judge the stored answers of runs again.

    Raises UnknownRun for a run that no reflection speaks of; for an agent NotAllowed, whether there
    is none or it is another's.
    """
    done: list[Replayed] = []
    for run in dict.fromkeys(runs):
        stored = [
            (agent, one)
            for agent in desk.readable()
            for one in _answers(
                desk.vault.logs.find(Reflection, "reflections", agent.id, "run", [run])
            )
        ]
        if not stored:
            if not desk.actor.is_person:
                raise NotAllowed(desk.actor.name, f"replay {run}", "the owner or the agent itself")
            raise UnknownRun(run)
        done += [_Replaying(desk, agent, reflecting).again(one) for agent, one in stored]
    return Replay(tuple(done), sum(one.differs for one in done))


def describe(done: Replay) -> str:
    """What was compared, as a person reads it."""
    lines = []
    for one in done.reflections:
        state = "differs" if one.differs else one.today if one.today == NOT_JUDGED else "the same"
        lines.append(f"{one.run} ({one.agent}, {one.model or 'no model'}, {one.at}): {state}")
        if one.differs and one.stored != one.today:
            lines.append(f"  the answer: stored as {one.stored}, today {one.today}")
        lines += [_line(each) for each in one.operations]
        lines += [f"  note: {each}" for each in one.remarks]
    count = sum(one.stored != NO_ANSWER for one in done.reflections)
    many = "" if count == 1 else "s"
    lines.append(f"{count} stored answer{many}, {done.differ} would be judged otherwise")
    return "\n".join(lines)


def _line(one: Compared) -> str:
    what = f"{one.op}{f' {one.claim_id}' if one.claim_id else ''} {one.text}"
    what = " ".join(what.split())  # a model's words make one line
    if not one.differs:
        return f"  same: {one.stored}: {what}"
    return f"  differs: was {one.stored or 'not read'}, today {one.today or 'not read'}: {what}"


def _answers(rows: Sequence[Reflection]) -> list[Reflection]:
    """The reflections of a run, each answer once: one that was put off stands there twice."""
    ours = [one for one in rows if one.asked is Asked.MEMORY]
    later = [(one.answer, one.prompt_sha256) for one in ours if one.result is Result.APPLIED]
    return [
        one
        for one in ours
        if one.result is not Result.REPOSITORY_BUSY or (one.answer, one.prompt_sha256) not in later
    ]


@dataclass(frozen=True)
class _Replaying:
    """Judging an agent's stored answers."""

    desk: Desk
    agent: Agent
    reflecting: Reflecting

    def again(self, one: Reflection) -> Replayed:
        """One stored answer; a fault in what it is judged by is a remark."""
        if one.answer is None:
            return _compared(
                one, NOT_JUDGED, (), [f"no answer is stored: {said(one.reason) or 'none came'}"]
            )
        if one.reason == CUT:
            return _compared(
                one, NOT_JUDGED, (), ["its answer was too long and is not stored whole"]
            )
        operations = _read(one.answer)
        if operations is None:
            return _compared(one, UNREADABLE, (), [])
        logs = self.desk.vault.logs
        episodes = logs.find(Episode, "episodes", self.agent.id, "run", [one.run])
        if not episodes:
            return _compared(one, NOT_JUDGED, (), ["its episode cannot be read"])
        remarks: list[str] = []
        try:
            return self._judged(one, operations, episodes[0], remarks)
        except (OrgvaultError, OSError) as failure:
            return _compared(one, NOT_JUDGED, (), [*remarks, " ".join(str(failure).split())])

    def _judged(
        self, one: Reflection, operations: Sequence[RawOperation], episode: Episode,
        remarks: list[str],
    ) -> Replayed:  # fmt: skip
        tree = self._memory_before(one, remarks)
        unread: list[str] = []
        session, file = self.reflecting.read(
            episode.transcript.path if episode.transcript else None, unread
        )
        run = Run(self.agent, episode, session, one.trigger)
        question, seen = question_of(self.desk, run, tree)
        if file is None:
            remarks += unread or ["its episode names no transcript"]
            remarks.append("without the transcript no quote was checked: they count as found")
            question = replace(question, excerpt=_quotes(operations))
        elif episode.transcript and file.sha256 != episode.transcript.sha256:
            remarks.append(f"{file.path} has changed since the run was recorded")
        elif one.prompt_sha256 and one.prompt_sha256 != _asked(question):
            remarks.append("the question would be put in other words, or on other claims, today")
        spoken_of = {was.claim_sha256 for was in one.operations if was.claim_sha256}
        if spoken_of - set(seen.values()):
            remarks.append("git does not have all the claims as the model saw them")
        verdicts = judged(self.desk, self.agent, operations, question, seen)
        return _compared(one, READ, verdicts, remarks, unchecked=file is None)

    def _memory_before(self, one: Reflection, remarks: list[str]) -> Tree:
        """The vault as it was before the commit that holds a reflection; else as it is now."""
        from orgvault.store.history import before

        vault = self.desk.vault
        files = vault.logs.ids("reflections", self.agent.id, {one.id})
        past = before(vault, files[one.id], one.id) if files else None
        if past is None:
            remarks.append("git does not know the claims of that time: it is judged by today's")
        return past or vault


def _read(answer: str) -> list[RawOperation] | None:
    """What a stored answer asks: as it was given, or as its repair gave it."""
    first, repaired_too, repaired = answer.rpartition(REPAIRED)
    if not repaired_too:
        return read_answer(answer)
    found = read_answer(first)
    return read_answer(repaired) if found is None else found


def _quotes(operations: Sequence[RawOperation]) -> Excerpt:
    """An excerpt of nothing but the quotes, as if the agent had said them."""
    return Excerpt(tuple(Part("assistant", one.evidence) for one in operations))


def _asked(question: Question) -> str:
    return prompt_sha256(replace(question, prompt=prompt(question)))


def _compared(
    one: Reflection, today: str, verdicts: Sequence[Verdict], remarks: Sequence[str],
    *, unchecked: bool = False,
) -> Replayed:  # fmt: skip
    stored = UNREADABLE if one.result is Result.UNREADABLE else READ if one.answer else NO_ANSWER
    pairs: list[Compared] = []
    if today != NOT_JUDGED:
        pairs = [
            _pair(was, now, unchecked=unchecked)
            for was, now in zip_longest(one.operations, verdicts)
        ]
    differs = today != NOT_JUDGED and (stored != today or any(pair.differs for pair in pairs))
    return Replayed(
        one.agent, one.run, one.id, one.at, one.model, stored, today, tuple(pairs), differs,
        tuple(remarks),
    )  # fmt: skip


def _pair(was: Verdict | None, now: Verdict | None, *, unchecked: bool) -> Compared:
    """The two verdicts on one operation; what only applying it showed is not judged again."""
    shown = was or now
    if shown is None:
        raise AssertionError(was)  # zip_longest gives at least one
    stored, today = was.verdict if was else "", now.verdict if now else ""
    left = today == ACCEPTED and stored in FOUND_IN_APPLYING
    left = left or (unchecked and stored in _NEED_THE_RUN)
    differs = stored != today and not left
    return Compared(
        shown.op, shown.claim_id, shown.text, stored, stored if left else today, differs
    )
