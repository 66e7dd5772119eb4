"""What Tab offers: ids of the vault, as far as the one who presses it may see them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harbor import Harbor

ORGVAULT = str(Path(sys.executable).parent / "orgvault")


def offered(harbor: Harbor, line: str, **environment: str) -> list[str]:
    """What bash is offered at the end of a line; nothing may be said on stderr."""
    asked = {
        "_ORGVAULT_COMPLETE": "bash_complete", "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }  # fmt: skip
    done = subprocess.run(
        [ORGVAULT], cwd=harbor.root, env={**os.environ, **asked, **environment},
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.stderr == b""
    words = (one.partition(",")[2] for one in done.stdout.decode().splitlines())
    return [one for one in words if one and not one.startswith("-")]


NOVA = ["c-6eqjp2wb", "c-h08qjjke"]
OTHERS = ["c-93sh850m", "c-z7pfrzvn", "c-x2ta1yjk", "c-zr7ht5fv"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("orgvault mem", ["memory"]),
        ("orgvault memory n", ["nova"]),
        ("orgvault memory stats ", ["atlas", "juno", "nova"]),
        ("orgvault memory why ", [*OTHERS, *NOVA]),
        ("orgvault memory retire c-9", ["c-93sh850m"]),
        ("orgvault wake add a", ["atlas"]),
        ("orgvault wake list --agent j", ["juno"]),
        ("orgvault task redo t-8", ["t-8h3w6r1d"]),
        ("orgvault --as k", ["kim"]),
        ("orgvault --as nova memory edit ", NOVA),
        ("orgvault memory show --as juno ", ["juno"]),
        ("orgvault collection show r", ["reading-queue"]),
        ("orgvault record list r", ["reading-queue"]),
        ("orgvault routine pause ", ["weekly-digest"]),
        ("orgvault connector check g", ["git"]),
        ("orgvault --as juno connector try ", []),
        ("orgvault -C Org memory stats n", ["nova"]),
        ("orgvault -C /nowhere memory stats ", []),
        ("orgvault nonsense c-", []),
    ],
)
def test_what_is_offered(harbor: Harbor, line: str, words: list[str]) -> None:
    assert offered(harbor, line) == words


def test_an_agent_is_offered_its_own(harbor: Harbor) -> None:
    assert offered(harbor, "orgvault memory why ", ORGVAULT_AGENT="nova") == NOVA
    assert offered(harbor, "orgvault task redo ", ORGVAULT_AGENT="nova") == []
    assert offered(harbor, "orgvault --as ", ORGVAULT_AGENT="nova") == ["nova"]
    assert offered(harbor, "orgvault memory why ", ORGVAULT_AGENT="nobody") == []


def test_proposals_are_offered_to_those_who_see_them(harbor: Harbor) -> None:
    folder = harbor.root / ".agents/org/proposals"
    folder.mkdir(exist_ok=True)
    (folder / "imp-0a1b2c3d.yaml").write_text("not one\n", "utf-8")
    assert offered(harbor, "orgvault proposal show imp-") == ["imp-0a1b2c3d"]
    assert offered(harbor, "orgvault proposal show imp-", ORGVAULT_AGENT="juno") == []


@pytest.mark.parametrize("ruin", ["org-agents.json", "org.yaml"])
def test_a_ruined_vault_is_silent(harbor: Harbor, ruin: str) -> None:
    (harbor.root / ".agents/org" / ruin).write_bytes(b"\0\xff")
    offered(harbor, "orgvault memory why ")


def test_nothing_is_written(harbor: Harbor) -> None:
    before = harbor.git("rev-parse", "HEAD")
    offered(harbor, "orgvault memory why ")
    assert not (harbor.root / ".git/orgvault").exists()
    assert harbor.git("rev-parse", "HEAD") == before


def test_wakes_and_runs_are_offered(harbor: Harbor) -> None:
    first, second = harbor.wake("nova"), harbor.wake("juno", "manual")
    assert sorted(offered(harbor, "orgvault wake-done ")) == sorted([first, second])
    assert offered(harbor, f"orgvault wake-done {first},{second[:4]}") == [f"{first},{second}"]
    assert offered(harbor, "orgvault wake-done ", ORGVAULT_AGENT="juno") == [second]
    run = harbor.json("run", "start", "nova", "--message", "Hello.")["run"]
    for line in ("run show ", "prompt verify ", "prompt diff x "):
        assert offered(harbor, f"orgvault {line}") == [run]
