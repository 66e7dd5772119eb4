"""Many processes reflect at once: one run makes one model call, and a day's cap is never passed.

`python -m tests.torture.reflections` runs the full sizes and prints the counts; it ends with 1
when one is wrong.  The tests run the same with small sizes.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import own_environment, replace_environment
from tests.harbor import BUILD, Harbor, make_harbor
from tests.provider import NONE, Provider, serving

QUOTE = "ModuleNotFoundError: No module named 'markdown'"
LEARNED = "I install what the build needs before I run it."
ANSWER = json.dumps(
    {
        "operations": [
            {
                "why": "it cost turns", "evidence": QUOTE, "op": "add", "claim": None,
                "claim_starts": "", "kind": "lesson", "text": LEARNED,
            }
        ]
    }
)  # fmt: skip


@dataclass(frozen=True)
class Counted:
    """What some reflections at once came to.

    `calls` that the provider saw, `counted` in the day's counter, processes by exit code, rows of
    the reflections log by result and reason, and how often the claim they all saw was seen.
    """

    calls: int
    counted: int
    codes: Mapping[int, int]
    rows: Mapping[str, int]
    seen: int


def one_run(harbor: Harbor, processes: int, at_once: int) -> Counted:
    """Reflect on one run by so many processes."""
    harbor.finish("nova", "run-1", "--transcript", BUILD, ORG_REFLECT_MODEL="off")
    with serving("given", text=ANSWER) as provider:
        codes = _reflect(harbor, provider, ["run-1"] * processes, at_once)
        return _counted(harbor, provider, codes)


def many_runs(harbor: Harbor, runs: int, cap: int, at_once: int) -> Counted:
    """Reflect on so many runs at once, a process for each, with a day's cap of calls."""
    names = [f"run-{number}" for number in range(runs)]
    for name in names:
        harbor.finish("nova", name, "--transcript", BUILD, ORG_REFLECT_MODEL="off")
    with serving("given", text=NONE) as provider:
        codes = _reflect(harbor, provider, names, at_once, ORG_REFLECT_MAX_PER_DAY=str(cap))
        return _counted(harbor, provider, codes)


def remote_harbor(folder: Path) -> Harbor:
    """A harbor whose nova reflects with a model."""
    harbor = make_harbor(folder)
    harbor.edit_org("model: builtin/extractive", "model: openai/tiny")
    return harbor


def _reflect(
    harbor: Harbor, provider: Provider, runs: Sequence[str], at_once: int, **more: str
) -> list[int]:
    reached = {"OPENAI_BASE_URL": f"{provider.url}/v1", "OPENAI_API_KEY": "sk-test-0123456789"}
    environment = {**os.environ, **reached, **more}

    def reflect(run: str) -> int:
        words = [sys.executable, "-m", "orgvault", "reflect", "nova", "--run", run]
        done = subprocess.run(
            words, cwd=harbor.root, env=environment, capture_output=True, check=False
        )
        return done.returncode

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(reflect, runs))


def _counted(harbor: Harbor, provider: Provider, codes: list[int]) -> Counted:
    rows = [one for one in harbor.rows("reflections", "nova") if one["model"] == "openai/tiny"]
    counter = json.loads((harbor.root / ".git/orgvault/calls.json").read_text("utf-8"))
    seen = [one["times_seen"] for one in harbor.claims("nova") if one["text"] == LEARNED]
    return Counted(
        len(provider.asked), counter["made"], Counter(codes),
        Counter(" ".join([one["result"], one["reason"]]).strip() for one in rows), sum(seen),
    )  # fmt: skip


def _said(what: str, found: Counted, wanted: Counted, took_s: float) -> bool:
    print(
        f"{what}: {found.calls} calls, {found.counted} in the counter, exit codes "
        f"{dict(found.codes)}, rows {dict(found.rows)}, {took_s:.0f} s"
    )
    if found != wanted:
        print(f"  wanted: {wanted}")
    return found == wanted


def main() -> int:
    """Run the full sizes."""
    with tempfile.TemporaryDirectory(prefix="orgvault-") as folder:
        replace_environment(own_environment(dict(os.environ), Path(folder)))
        (Path(folder) / "one").mkdir()
        (Path(folder) / "many").mkdir()
        began = time.monotonic()
        found = one_run(remote_harbor(Path(folder) / "one"), 100, 100)
        wanted = Counted(1, 1, {0: 100}, {"applied": 1}, 1)
        sound = _said("100 processes, one run", found, wanted, time.monotonic() - began)
        began = time.monotonic()
        found = many_runs(remote_harbor(Path(folder) / "many"), 50, 10, 50)
        wanted = Counted(10, 10, {0: 50}, {"applied": 10, "skipped day_cap": 40}, 0)
        took_s = time.monotonic() - began
        sound &= _said("50 runs at once, a cap of 10", found, wanted, took_s)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
