"""One attack put to the gate, and its answer to the second opinion."""

import time
from dataclasses import dataclass

from orgvault.domain.gate import judge
from orgvault.domain.proposal import Accepted, Refusal, Rule
from tests.gate_attack.attack import FLAGGED, HONEST, HOSTILE, Attack
from tests.gate_attack.oracle import Oracle
from tests.gate_attack.scene import AGENT, make_roster, make_tree

# What the gate says of an error that it did not foresee: it is refused, and still a fault.
STUMBLED = "cannot be judged"


@dataclass(frozen=True)
class Trial:
    """What the gate said, how much of the processor it took, and what is wrong with that."""

    attack: Attack
    answer: Accepted | Refusal | None
    seconds: float
    faults: tuple[str, ...]

    @property
    def outcome(self) -> str:
        """`accepted`, or the rule that refused; `exception` when it raised."""
        if self.answer is None:
            return "exception"
        return self.answer.rule.value if isinstance(self.answer, Refusal) else "accepted"

    @property
    def before_round_trip(self) -> bool:
        """Whether the round trip was not reached."""
        return isinstance(self.answer, Refusal) and self.answer.rule is not Rule.ROUND_TRIP


def tried(attack: Attack, oracle: Oracle) -> Trial:
    """Put an attack to the gate; what it accepts is looked at by the oracle."""
    roster = make_roster(attack.knowledge)
    tree = make_tree(attack.files, attack.links)
    started = time.process_time()
    try:
        answer = judge(attack.diff, agent=AGENT, roster=roster, tree=tree, hooks="hooks")
    except Exception as error:  # noqa: BLE001 - that it never raises is what is asked
        seconds = time.process_time() - started
        return Trial(attack, None, seconds, (f"it raises {type(error).__name__}: {error}",))
    seconds = time.process_time() - started
    return Trial(attack, answer, seconds, tuple(_faults(attack, answer, oracle)))


def _faults(attack: Attack, answer: Accepted | Refusal, oracle: Oracle) -> list[str]:
    if isinstance(answer, Refusal):
        if STUMBLED in answer.why:
            return [f"an error of the gate's own: {answer.why}"]
        if attack.intent in {HONEST, FLAGGED}:
            return [f"an honest one is refused: {answer}"]
        if not answer.why:
            return ["a refusal says nothing"]
        if attack.key and not names(answer, attack.key):
            return [f"the refusal does not name {attack.key}: {answer}"]
        return []
    found = oracle.faults(attack, answer)
    if attack.intent == HOSTILE:
        found.append("a hostile one is accepted")
    if attack.intent == FLAGGED and not answer.flags:
        found.append("risky words raise no flag")
    return found


def names(answer: Refusal, key: str) -> bool:
    """Whether a refusal names a key; of another agent's, the agent as well."""
    agent, _, own = key.rpartition(".")
    if agent:
        return all(word in f"{answer.key} {answer.why}" for word in (agent, own))
    return answer.key == key
