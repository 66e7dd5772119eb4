"""How long `orgvault audit` takes over 5,000 commits, beside git's own walks of the same history.

`git log --raw` only compares names of objects; `git log -p` reads every content, as the audit does.

`python benchmarks/audit.py [commits]`
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.cold import ORGVAULT, command
from benchmarks.figure import Figure, seconds, show
from benchmarks.transaction import EPISODE
from orgvault.domain.claim import ClaimKind, new_claim
from orgvault.domain.claim_file import write_claim
from orgvault.domain.ids import derived_id
from orgvault.store.entry import Row
from orgvault.store.vault import ORG, Vault
from tests.vaults import AT, NOVA, Home, make_vault, message

COMMITS = 5_000
RUNS_EACH = 4  # commits of rows between two that change a claim
QUICK = 500
TURNS = 3
A_FEW_S = 5.0
OWNER = "sam"


def figures(*, quick: bool = False) -> Iterator[Figure]:
    """The whole process, against git's own walks over all that each commit changed."""
    yield from audit(QUICK if quick else COMMITS)


def audit(commits: int) -> Iterator[Figure]:
    """The same, for so many commits."""
    with tempfile.TemporaryDirectory(prefix="orgvault-bench-") as folder:
        home = make_vault(Path(folder) / "vault")
        home.git("config", "user.name", OWNER)  # whom `init` makes the owner
        command(home, ORGVAULT, "init", "--agent", "nova")
        history(home, commits)
        command(home, ORGVAULT, "memory", "render", "nova", "--quiet")
        home.git("gc", "-q")
        names, contents, ours = [], [], []
        for _ in range(TURNS):
            names.append(seconds(lambda: home.git_bytes("log", "--raw", "-m", "-z")))
            contents.append(seconds(lambda: home.git_bytes("log", "-p", "-m", "-z")))
            ours.append(seconds(lambda: command(home, ORGVAULT, "audit")))
        name = f"audit of {commits:,} commits, against `git log"
        yield Figure(f"{name} --raw`", median(names), median(ours))
        yield Figure(f"{name} -p`", median(contents), median(ours))
        yield Figure("the same, against five seconds", A_FEW_S, median(ours), 1)


def history(home: Home, commits: int) -> None:
    """Runs that were recorded, each a commit of four rows; every fifth changes a claim, too."""
    busy = home.git_dir / "MERGE_HEAD"
    for first in range(0, commits, RUNS_EACH + 1):
        busy.write_text(home.head())  # rows wait, and are committed many at a time
        for number in range(first, first + RUNS_EACH):
            vault = Vault(str(home.root))
            vault.record(message(f"wake(nova): run-{number}"), NOVA, rows(f"run-{number}"), AT)
        busy.unlink()
        learned(home, f"run-{first + RUNS_EACH}")


def learned(home: Home, run: str) -> None:
    """A run that taught the agent something new, as one commit."""
    name = derived_id("c", run)[:10]
    text = f"I look at {run} before I begin."
    claim = new_claim(name, "nova", ClaimKind.LESSON, text, run, AT, "reflection")
    vault = Vault(str(home.root))
    words = message(f"memory(nova): {run}, 1 claim changed")
    with vault.change(words, NOVA, AT, rows(run, name)) as change:
        change.write(f"{ORG}/memory/nova/claims/{name}.yaml", write_claim(claim))


def rows(run: str, claim: str = "") -> list[Row]:
    """What a finished run leaves in four logs."""
    wake = derived_id("w", run)[:10]
    known = {"v": 1, "agent": "nova", "run": run, "at": AT, "actor": OWNER}
    operations = [{"op": "add", "claim_id": claim, "effect": "added"}] if claim else []
    made = {
        "wakes": {**known, "id": f"{wake}.closed", "wake": wake, "event": "closed"},
        "status": {**known, "id": derived_id("s", run), "text": "x" * EPISODE},
        "episodes": {**known, "id": derived_id("e", "nova", run), "fill": "x" * EPISODE},
        "reflections": {**known, "id": derived_id("r", run), "operations": operations},
    }
    return [Row(log, "nova", str(row["id"]), json.dumps(row)) for log, row in made.items()]


if __name__ == "__main__":
    show(audit(int(sys.argv[1]) if len(sys.argv) > 1 else COMMITS))
