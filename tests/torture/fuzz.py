"""Diffs that a fuzzer makes, led by which lines of the gate they reach: `make fuzz`.

`python -m tests.torture.fuzz [SECONDS [SEED]]`.  atheris starts from honest and hostile diffs and
keeps each that reaches something new; what the gate accepts is put to the second opinion.  A
disagreement is saved as a case under tests/data/gate/ and ends the run with 1.
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["orgvault.domain"]):
    from tests.gate_attack import cases
    from tests.gate_attack.attack import OPEN, Attack
    from tests.gate_attack.grammar import honest, hostile
    from tests.gate_attack.oracle import Oracle
    from tests.gate_attack.trial import tried

DEFAULTS = ("3600", "35")
VAULTS = 64  # the first byte of an input says which of them its diff is for
LONGEST = 8_000
FUZZED = "--fuzzed"


def vaults(seed: str) -> list[Attack]:
    """Vaults, each with an honest diff."""
    return [honest(seed, number) for number in range(VAULTS)]


def corpus(seed: str, folder: Path) -> int:
    """Write what the fuzzer begins with; how many."""
    begun = [(number, one.diff) for number, one in enumerate(vaults(seed))]
    begun += [(number % VAULTS, hostile(seed, number).diff) for number in range(8 * VAULTS)]
    for number, (vault, diff) in enumerate(begun):
        (folder / f"begin-{number}").write_bytes(bytes([vault]) + diff[: LONGEST - 1])
    return len(begun)


def fuzz(seconds: str, seed: str, folder: str) -> None:
    """Fuzz in this process, which the fuzzer then ends."""
    known = vaults(seed)
    with Oracle() as oracle:

        def one(content: bytes) -> None:
            vault, diff = known[content[0] % VAULTS] if content else known[0], content[1:]
            trial = tried(vault.having(diff, "fuzzed", OPEN), oracle)
            if trial.faults:
                print(*trial.faults, f"saved: {cases.save(trial.attack, trial.faults)}", sep="\n")
                raise AssertionError(trial.faults)

        words = [f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={LONGEST}", folder]
        atheris.Setup([sys.argv[0], *words], one)
        atheris.Fuzz()


def main(given: Sequence[str]) -> int:
    """Fuzz for so long; 1 when something was wrong."""
    with tempfile.TemporaryDirectory(prefix="orgvault-fuzz-") as name:
        folder = Path(name)
        begun = corpus(given[1], folder)
        words = [sys.executable, "-m", "tests.torture.fuzz", FUZZED, *given, name]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        kept = len(list(folder.iterdir()))
    last = [line for line in done.stderr.splitlines() if line.startswith("Done ")]
    print(
        f"seed {given[1]}: {' '.join(last)} from {begun} diffs, {kept} kept for new lines reached"
    )
    if done.returncode:
        print(done.stdout, *done.stderr.splitlines()[-30:], sep="\n")
    return 1 if done.returncode or not last else 0


if __name__ == "__main__":
    if FUZZED in sys.argv:
        fuzz(*sys.argv[2:])
    sys.exit(main([*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]))
