"""Hostile diffs in a row, on every core: `python -m tests.torture.hostile_diffs [COUNT [SEED]]`.

For each hundred of them one honest diff.  Whatever the gate accepts is put to the second opinion;
a disagreement is saved as a case under tests/data/gate/ and makes the run end with 1.  Seconds are
those of the processor, so that what else runs does not count.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from tests.gate_attack import cases
from tests.gate_attack.attack import Attack
from tests.gate_attack.grammar import honest, hostile
from tests.gate_attack.oracle import Oracle
from tests.gate_attack.trial import Trial, tried

CHUNK = 500
HONEST_EACH = 100
SAVED_EACH = 3  # of one kind of attack: more of the same helps nobody
DEFAULTS = ("250000", "1")
LIMITS_S = (0.2, 3.0)  # what is refused before the round trip; everything


class Part(NamedTuple):
    """What came of some of the attacks."""

    outcomes: Counter[str]
    names: Counter[str]
    worst_s: tuple[float, float]
    slow: list[str]
    wrong: list[tuple[Attack, tuple[str, ...]]]


def attacks(seed: str, start: int, stop: int) -> Iterator[tuple[str, Attack]]:
    """The attacks of those numbers, with what repeats each."""
    for number in range(start, stop):
        if number % HONEST_EACH == 0:
            yield f"honest {seed} {number}", honest(seed, number // HONEST_EACH)
        yield f"hostile {seed} {number}", hostile(seed, number)


def one_part(seed: str, start: int, stop: int) -> Part:
    """Try some of them."""
    part = Part(Counter(), Counter(), (0.0, 0.0), [], [])
    worst = [0.0, 0.0]
    with Oracle() as oracle:
        for which, attack in attacks(seed, start, stop):
            trial = tried(attack, oracle)
            kind = which.split(" ", maxsplit=1)[0]
            part.outcomes[f"{kind}: {trial.outcome}"] += 1
            part.names[attack.name] += 1
            late = int(not trial.before_round_trip)
            worst[late] = max(worst[late], trial.seconds)
            if trial.seconds > LIMITS_S[late]:
                part.slow.append(f"{which}: {trial.seconds:.3f} s, {trial.outcome}, {attack.name}")
            if trial.faults:
                part.wrong.append((attack, _told(trial, which)))
    return part._replace(worst_s=(worst[0], worst[1]))


def _told(trial: Trial, which: str) -> tuple[str, ...]:
    return (f"{which} ({trial.attack.name})", *trial.faults)


def main(count: int, seed: str) -> int:
    """Run all of them; 1 when the gate and the second opinion disagree."""
    started = time.monotonic()
    outcomes: Counter[str] = Counter()
    names: Counter[str] = Counter()
    worst = (0.0, 0.0)
    slow: list[str] = []
    wrong: Counter[str] = Counter()
    starts = range(0, count, CHUNK)
    with ProcessPoolExecutor() as pool:
        parts = pool.map(
            one_part,
            [seed] * len(starts),
            starts,
            [min(count, start + CHUNK) for start in starts],
        )
        for done, part in enumerate(parts, 1):
            outcomes += part.outcomes
            names += part.names
            worst = (max(worst[0], part.worst_s[0]), max(worst[1], part.worst_s[1]))
            slow += part.slow
            for attack, told in part.wrong:
                wrong[attack.name] += 1
                if wrong[attack.name] <= SAVED_EACH:
                    print("\n".join(told), f"saved: {cases.save(attack, told)}", sep="\n")
            spent = time.monotonic() - started
            print(f"{min(count, done * CHUNK):,} of {count:,} in {spent:.0f} s", file=sys.stderr)
    print(*slow, sep="\n", end="\n" if slow else "")
    said = {
        "seed": seed,
        "count": count,
        "outcomes": dict(sorted(outcomes.items())),
        "kinds": len(names),
        "disagreements": dict(wrong),
        "over_limit": len(slow),
        "worst_before_round_trip_s": round(worst[0], 3),
        "worst_s": round(worst[1], 3),
        "took_s": round(time.monotonic() - started),
        "cores": os.cpu_count(),
    }
    print(json.dumps(said))
    return 1 if wrong else 0


if __name__ == "__main__":
    given = [*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]
    if len(given) != len(DEFAULTS) or not given[0].isdecimal():
        sys.exit(f"usage: {sys.argv[0]} [COUNT [SEED]]")
    sys.exit(main(int(given[0]), given[1]))
