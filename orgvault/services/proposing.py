"""Making a proposal out of a claim that keeps coming back: asked for, judged, filed; never applied.

The model is asked without the vault's lock.  Under the lock everything is looked at again as it
then stands: the claim, the file, the gate, what was filed before.
"""

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

from orgvault.domain.eligibility import Filed, refusal, refusal_of_change
from orgvault.domain.episode import Episode
from orgvault.domain.gate import judge
from orgvault.domain.org import FILE
from orgvault.domain.patch import is_edited, unified
from orgvault.domain.proposal import PROSE, Accepted, Proposal, Refusal, Target
from orgvault.domain.proposal_prompt import (
    REPLACE_CHARS,
    Change,
    OwnText,
    Wish,
    bounded,
    prompt,
    read_change,
)
from orgvault.domain.reflection import Asked, Model, Reflection, Result
from orgvault.domain.roster import Agent
from orgvault.domain.splice import Unspliced, prose, swapped, with_value, with_words
from orgvault.domain.wake import Trigger
from orgvault.errors import ModelFailed, OrgvaultError, UnknownClaim
from orgvault.services.asking import DEADLINE_S
from orgvault.services.cap import reserve
from orgvault.services.curating import find
from orgvault.services.desk import Desk, row
from orgvault.services.filing import file_proposal
from orgvault.services.means import Means
from orgvault.services.proposal_faults import NoChange, NotEligible, RefusedByGate
from orgvault.services.standing import everything
from orgvault.store.cards import Cards
from orgvault.store.claims import Claims, Stored
from orgvault.store.entry import Message
from orgvault.store.skills import skills
from orgvault.store.working_tree import WorkingTree, hooks_folder
from orgvault.values import dataclass

DAY_CAP = "the day's model calls are used up (ORG_REFLECT_MAX_PER_DAY)"
MODEL_OFF = "the model is off"
NOT_SAYABLE = "what it would put in holds a secret"
CLAIM_CHANGED = "the claim changed while the model was asked"
HEAD_MOVED = "somebody else committed at this moment: try again"
UNREADABLE = "its answer cannot be read"
NOTHING_ASKED = "it sees no change that would help"
FOREIGN = "it named another file than the agent's own"
TOO_LONG = "what it would put in is too long"
NO_RATIONALE = "it gave no reason"
_ANSWERED = (NoChange, NotEligible, RefusedByGate)
_WITH_WHY = (ModelFailed, NoChange, NotEligible)
_REASON_CHARS = 400
_ANSWER_CHARS = 16_000


@dataclass(frozen=True)
class Made:
    """A card that was filed: the proposal, where its note stands, the diff, and the log's row."""

    proposal: Proposal
    card: str
    diff: str
    reflection: Reflection


def propose(desk: Desk, agent_id: str, given: str, means: Means) -> Made:
    """File one card because of a claim of an agent: `given` is its id, or a beginning of it.

    Raises NotAllowed, UnknownAgent, UnknownClaim, AmbiguousClaim and what `Proposing` raises.
    """
    desk.require("propose", "propose an improvement")
    agent = desk.agent(agent_id)
    whose, claim_id = find(desk, given)
    if whose.id != agent.id:
        raise UnknownClaim(given)
    if "off" in {agent.memory.reflect.model, means.setting}:
        raise NotEligible(claim_id, MODEL_OFF)
    model, why = means.model(agent)
    if model is None:
        raise NotEligible(claim_id, f"no model ({why})")
    ends = desk.clock.monotonic() + DEADLINE_S
    making = Proposing(desk, model, lambda: reserve(desk, means), ends)
    return making.propose(agent, claim_id, Trigger.COMMAND)


def describe(made: Made) -> str:
    """A card that was filed, as a person reads it."""
    flags = [f"look twice: {flag}" for flag in made.proposal.flags]
    return "\n".join([made.card, *flags, "", made.diff.rstrip("\n")])


class Proposing:
    """One model that may be asked for a change; `reserve` takes a call of the day's cap.

    `ends` is the moment of the monotonic clock by which it must have answered.
    """

    def __init__(self, desk: Desk, model: Model, reserve: Callable[[], bool], ends: float) -> None:
        self._desk = desk
        self._model = model
        self._reserve = reserve
        self._ends = ends
        self.has_asked = False  # one question a command, whatever comes of it

    def propose(self, agent: Agent, claim_id: str, trigger: Trigger, run: str = "") -> Made:
        """File one card because of a claim; the row of the call stands in the log in any case.

        `run` is the run that was reflected on (else the claim's latest).  Raises NotEligible,
        NoChange, RefusedByGate, ModelFailed; UnknownClaim; VaultBusy and its kin.
        """
        desk = self._desk
        stored = self._claim(agent, claim_id)
        self._require_eligible(agent, stored)
        evidence = stored.claim.evidence
        made = Reflection(
            id=desk.new_row_id("r"), agent=agent.id, at=desk.clock.now(), trigger=trigger,
            run=run or (evidence[-1] if evidence else claim_id), result=Result.FAILED,
            model=self._model.name, asked=Asked.PROPOSAL, claim_id=claim_id,
        )  # fmt: skip
        began = desk.clock.monotonic()
        log = _Log(made)
        try:
            change, wish = self._asked(agent, stored, log)
            took_ms = int((desk.clock.monotonic() - began) * 1000)
            log.made = replace(log.made, ms=took_ms)
            # Once before the lock, which is not to be held for what is refused anyway.
            self._judged(agent, change, wish)
            return self._file(agent, stored, change, wish, log)
        except Exception as failure:
            self._record(log.made, failure)
            raise

    # ── the question ────────────────────────────────────────────────────────────────────────

    def _claim(self, agent: Agent, claim_id: str) -> Stored:
        active = Claims(self._desk.vault).active(agent.id)
        found = next((one for one in active if one.claim.id == claim_id), None)
        if found is None:
            raise UnknownClaim(claim_id)
        return found

    def _require_eligible(self, agent: Agent, stored: Stored) -> tuple[Filed, ...]:
        desk = self._desk
        filed = tuple(Filed(one.stored.proposal, one.status) for one in everything(desk, []))
        reason = refusal(agent, stored.claim, filed, desk.clock.now())
        if reason is not None:
            raise NotEligible(stored.claim.id, reason)
        return filed

    def _asked(self, agent: Agent, stored: Stored, log: "_Log") -> tuple[Change, Wish]:
        desk, model = self._desk, self._model
        self.has_asked = True
        wish = wish_of(desk, agent, stored)
        if model.metered:
            wish = replace(wish, prompt=prompt(wish))
            digest = sha256(wish.prompt.encode("utf-8", "surrogatepass")).hexdigest()
            log.made = replace(log.made, prompt_sha256=digest)
            if not self._reserve():
                log.made = replace(log.made, result=Result.SKIPPED)
                raise NotEligible(stored.claim.id, DAY_CAP)
            log.made = replace(log.made, calls=1)
        left_s = self._ends - desk.clock.monotonic()
        if left_s <= 0:
            log.made = replace(log.made, calls=0)
            raise ModelFailed(model.name, "no time was left")
        answer = model.propose(wish, left_s)
        log.made = replace(
            log.made, result=Result.REFUSED, answer=desk.masked(answer.text)[:_ANSWER_CHARS],
            tokens_in=answer.tokens_in, tokens_out=answer.tokens_out, cost_usd=answer.cost_usd,
        )  # fmt: skip
        change = read_change(answer.text)
        if change is None:
            log.made = replace(log.made, result=Result.UNREADABLE)
            raise NoChange(model.name, UNREADABLE)
        if not change.path:
            log.made = replace(log.made, result=Result.APPLIED)
            raise NoChange(model.name, NOTHING_ASKED)
        return change, wish

    # ── the answer ──────────────────────────────────────────────────────────────────────────

    def _judged(self, agent: Agent, change: Change, wish: Wish) -> Accepted:
        """The change as a diff that passed the gate, from what stands there now."""
        desk = self._desk
        shown = {one.path for one in wish.own} | ({FILE} if wish.may_add else set())
        if change.path not in shown:
            raise NoChange(self._model.name, FOREIGN)
        if len(change.replace) > REPLACE_CHARS:
            raise NoChange(self._model.name, TOO_LONG)
        if desk.masked(change.replace) != change.replace:
            raise NoChange(self._model.name, NOT_SAYABLE)
        if not any(map(str.isalnum, change.rationale)):
            raise NoChange(self._model.name, NO_RATIONALE)
        tree = WorkingTree(desk.vault)
        old = tree.read(change.path) or b""
        new = _edited(old, agent, change)
        if isinstance(new, Unspliced):
            raise NoChange(self._model.name, new.why)
        diff = unified(change.path, old, new)
        hooks = hooks_folder(desk.vault)
        answer = judge(diff, agent=agent.id, roster=desk.roster, tree=tree, hooks=hooks)
        if isinstance(answer, Refusal):
            raise RefusedByGate(answer.rule, answer.why, answer.key, answer.line)
        return answer

    def _file(self, agent: Agent, stored: Stored, change: Change, wish: Wish, log: "_Log") -> Made:
        """File the card, with everything looked at again as it stands under the lock."""
        desk, claim_id = self._desk, stored.claim.id
        now = desk.clock.now()
        message = self._message(agent, claim_id, "", log.made.run)
        with desk.vault.change(message, desk.author, now) as writing:
            if self._claim_now(agent, claim_id) != stored.sha256:
                raise NotEligible(claim_id, CLAIM_CHANGED)
            filed = self._require_eligible(agent, stored)
            accepted = self._judged(agent, change, wish)
            base = desk.vault.repository.head().oid
            head = desk.vault.committed(accepted.path)
            dirty = base is None or head is None or is_edited(head, accepted.old)
            reason = refusal_of_change(agent, accepted, filed, dirty=dirty)
            if reason is not None:
                raise NotEligible(claim_id, reason)
            if base is None or head is None or base != desk.vault.repository.head().oid:
                raise NotEligible(claim_id, HEAD_MOVED)
            rationale = desk.masked(change.rationale)
            proposal = file_proposal(
                desk, writing, agent, stored.claim, accepted, rationale, wish.episodes, base,
                desk.vault.blob(head), now,
            )  # fmt: skip
            made = replace(log.made, result=Result.APPLIED, card=proposal.id)
            writing.add(row("reflections", made))
            writing.message = self._message(agent, claim_id, proposal.id, made.run)
        place = Cards(desk.vault, desk.roster.pages_folder).path(proposal.id)
        diff = unified(accepted.path, accepted.old, accepted.new)
        return Made(proposal, place, diff.decode(errors="replace"), made)

    def _claim_now(self, agent: Agent, claim_id: str) -> str:
        """The hash of the claim's file; empty when it is no longer active."""
        active = Claims(self._desk.vault).active(agent.id)
        return next((one.sha256 for one in active if one.claim.id == claim_id), "")

    # ── the log ─────────────────────────────────────────────────────────────────────────────

    def _record(self, made: Reflection, failure: Exception) -> None:
        """Leave the row of a question that led to no card, with the reason."""
        desk = self._desk
        known = isinstance(failure, _ANSWERED)
        why = failure.why if isinstance(failure, _WITH_WHY) else failure
        kept = replace(
            made,
            result=made.result if known else Result.FAILED,
            reason=desk.masked(" ".join(str(why).split()))[:_REASON_CHARS],
        )
        message = self._message(desk.agent(made.agent), str(made.claim_id), "", made.run)
        try:
            desk.vault.record(message, desk.author, [row("reflections", kept)], desk.clock.now())
        except OrgvaultError as second:  # the reason itself is what a person is to read
            desk.vault.remarks.append(str(second))

    def _message(self, agent: Agent, claim_id: str, card_id: str, run: str) -> Message:
        what = f"{card_id} from {claim_id}" if card_id else f"nothing from {claim_id}"
        return self._desk.message(f"proposal({agent.id}): {what}", "propose", agent.id, run)


class _Log:
    """The row of the call, as far as it is known."""

    def __init__(self, made: Reflection) -> None:
        self.made = made


def wish_of(desk: Desk, agent: Agent, stored: Stored) -> Wish:
    """What a model may see: the claim, the runs behind it, the agent's own files as they read."""
    logs, claim = desk.vault.logs, stored.claim
    episodes = logs.find(Episode, "episodes", agent.id, "run", claim.evidence)
    episodes.sort(key=lambda one: (one.finished_at, one.id))
    shown = [replace(one, summary=desk.masked(one.summary)) for one in episodes]
    targets = agent.memory.self_improvement.targets
    tree = WorkingTree(desk.vault)
    own: list[OwnText] = []
    if Target.OWN_PROMPT in targets:
        values = prose((tree.read(FILE) or b"").decode(errors="replace"), agent.id)
        known = {} if isinstance(values, Unspliced) else values
        own += [OwnText(FILE, key, known[key]) for key in PROSE if key in known]
    if Target.OWN_SKILLS in targets:
        found = skills(desk.vault, agent, desk.roster)
        own += bounded([OwnText(path, "", (text,)) for path, text in found])
    masked = [replace(one, items=tuple(desk.masked(item) for item in one.items)) for one in own]
    claim = replace(claim, text=desk.masked(claim.text))
    return Wish(claim, tuple(shown), tuple(masked), may_add=Target.OWN_PROMPT in targets)


def _edited(old: bytes, agent: Agent, change: Change) -> bytes | Unspliced:
    try:
        text = old.decode()
    except UnicodeDecodeError:
        return Unspliced("the file is not UTF-8")
    if change.path != FILE:
        new = with_words(text, change.find, change.replace)
        return new if isinstance(new, Unspliced) else new.encode()
    values = prose(text, agent.id)
    if isinstance(values, Unspliced):
        return values
    asked = swapped(values, change.key, change.find, change.replace)
    if isinstance(asked, Unspliced):
        return asked
    spliced = with_value(text, agent.id, *asked)
    return spliced if isinstance(spliced, Unspliced) else spliced.encode()
