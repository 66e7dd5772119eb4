"""The gate against hostile diffs and honest ones, with a second opinion on what it accepts."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from orgvault.domain.proposal import Accepted, Refusal, Rule, Target
from tests.gate_attack import cases, hostile_keys, hostile_values
from tests.gate_attack.attack import FLAGGED, HONEST, HOSTILE, Attack
from tests.gate_attack.grammar import honest, hostile
from tests.gate_attack.hostile_keys import Production, other_agent, right
from tests.gate_attack.mutation import result_of, target_of
from tests.gate_attack.oracle import Oracle
from tests.gate_attack.oracle_org import org_faults
from tests.gate_attack.scene import ORG, RIGHTS
from tests.gate_attack.trial import names, tried

SEED = 1
PARTS = 8
HOSTILE_COUNT = 5_000
HONEST_COUNT = 200
# How often, of a part of the hostile ones, each rule must have been the one that refused: a
# corpus that reaches a rule no more is none.
LEAST = {
    Rule.SHAPE: 110,
    Rule.SIZE: 2,
    Rule.TARGET: 8,
    Rule.ORG: 190,
    Rule.SKILL: 45,
    Rule.WORDS: 10,
    Rule.ROUND_TRIP: 1,
}
LEAST_ACCEPTED = 15
# Productions each of which two other YAML loaders can tell from a change of prose.
SEEN_BY_OTHERS = (
    hostile_keys.right,
    hostile_keys.other_agent,
    hostile_keys.merge,
    hostile_keys.twice,
    hostile_keys.renamed,
    hostile_keys.deeper,
    hostile_keys.shared,
    hostile_keys.rearranged,
    hostile_values.dedent,
    hostile_values.comments,
    hostile_values.marker,
    hostile_values.one_reader,
)
SAVED = sorted(cases.FOLDER.glob("*.json"))


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle() as one:
        yield one


@pytest.mark.parametrize("part", range(PARTS))
def test_no_hostile_diff_changes_more_than_prose(part: int, oracle: Oracle) -> None:
    outcomes: Counter[str] = Counter()
    wrong = []
    for number in range(part, HOSTILE_COUNT, PARTS):
        trial = tried(hostile(SEED, number), oracle)
        outcomes[trial.outcome] += 1
        if trial.faults:
            wrong.append(_told(trial.attack, number, trial.faults))
    assert not wrong, "\n".join(wrong)
    assert sum(outcomes.values()) == HOSTILE_COUNT // PARTS
    assert {
        rule: outcomes[rule.value] for rule in LEAST if outcomes[rule.value] < LEAST[rule]
    } == {}
    assert outcomes["accepted"] >= LEAST_ACCEPTED


@pytest.mark.parametrize("part", range(PARTS // 2))
def test_no_honest_diff_is_refused(part: int, oracle: Oracle) -> None:
    for number in range(part, HONEST_COUNT, PARTS // 2):
        trial = tried(honest(SEED, number), oracle)
        assert trial.attack.intent in {HONEST, FLAGGED}
        assert not trial.faults, _told(trial.attack, number, trial.faults)
        assert trial.outcome == "accepted"


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_saved_case(path: Path, oracle: Oracle) -> None:
    trial = tried(cases.load(path), oracle)
    assert trial.faults == ()


@pytest.mark.parametrize("how", ["added", "changed", "removed"])
@pytest.mark.parametrize("key", RIGHTS)
def test_refusal_names_the_key(key: str, how: str, oracle: Oracle) -> None:
    for style in range(3):
        attack = right(Random(f"{key}/{how}/{style}"), key, how, style)  # noqa: S311
        trial = tried(attack, oracle)
        assert isinstance(trial.answer, Refusal)
        assert (trial.answer.rule, trial.answer.key) == (Rule.ORG, key), attack.diff.decode()
        assert trial.answer.line > 0


@pytest.mark.parametrize("how", ["added", "changed", "removed"])
def test_refusal_names_the_key_of_another_agent(how: str, oracle: Oracle) -> None:
    for number in range(9):
        attack = other_agent(Random(f"{how}/{number}"), how)  # noqa: S311
        trial = tried(attack, oracle)
        assert isinstance(trial.answer, Refusal)
        assert trial.answer.rule is Rule.ORG
        assert names(trial.answer, attack.key), (trial.answer, attack.diff.decode())


@pytest.mark.parametrize("production", SEEN_BY_OTHERS, ids=lambda one: one.__name__)
def test_second_opinion_alone_objects(production: Production) -> None:
    """Were the gate to accept it, the second opinion would say so: it is no rubber stamp."""
    for number in range(6):
        attack = production(Random(f"alone/{number}"))  # noqa: S311
        target = target_of(attack)
        new = result_of(attack, target[1]) if target else None
        if attack.intent == HOSTILE and target is not None and new is not None:
            answer = Accepted(
                Target.OWN_PROMPT, target[0], (), target[1], new, attack.diff, (), 1, 1
            )
            others = org_faults(answer) if target[0] == ORG else ["another file"]
            objections = [one for one in others if not one.startswith("the gate says")]
            assert objections, attack.diff.decode()


def test_the_same_seed_makes_the_same_attacks() -> None:
    assert [hostile(3, number) for number in range(40)] == [hostile(3, n) for n in range(40)]
    assert [honest(3, number).diff for number in range(20)] == [
        honest(3, n).diff for n in range(20)
    ]
    assert hostile(3, 1).diff != hostile(4, 1).diff


def _told(attack: Attack, number: int, faults: tuple[str, ...]) -> str:
    diff = attack.diff.decode(errors="backslashreplace")
    return f"#{number} of seed {SEED}, {attack.name}: {'; '.join(faults)}\n{diff}"
