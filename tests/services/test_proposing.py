"""The step after a reflection: a claim that it raised may become one card; no run suffers."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.harbor import BUILD, FRICTION, Harbor, make_harbor
from tests.provider import Provider, serving

ORG = ".agents/org/org.yaml"
GOAL = "A site that builds on any machine, and that nobody has to think about."
QUOTE = "ModuleNotFoundError: No module named 'markdown'"
TEXT = "I lose a turn when I build the site before installing what it needs."
OPERATION = {
    "why": "it failed", "evidence": QUOTE, "op": "add", "claim": None, "claim_starts": "",
    "kind": "friction", "text": TEXT,
}  # fmt: skip
CHANGE = {
    "path": ORG, "key": "goal", "find": GOAL, "replace": "A site that builds once it is set up.",
    "rationale": "I keep building too early. A goal that names the setup would stop me.",
}  # fmt: skip


def both(**more: object) -> str:
    """One text that answers either question: an operation, and a change."""
    return json.dumps({"operations": [OPERATION], **CHANGE, **more})


@pytest.fixture
def harbor(tmp_path: Path) -> Harbor:
    """A copy of the fixture vault."""
    return make_harbor(tmp_path)


@pytest.fixture
def remote(harbor: Harbor) -> Harbor:
    """A harbor whose nova reflects with a model."""
    harbor.edit_org("model: builtin/extractive", "model: openai/tiny")
    harbor.git("commit", "-qam", "a model")
    return harbor


def at(provider: Provider) -> dict[str, str]:
    return {"OPENAI_BASE_URL": provider.url + "/v1", "OPENAI_API_KEY": "sk-test-0123456789"}


def finish(harbor: Harbor, run: str, **environment: str) -> Any:  # noqa: ANN401
    return harbor.finish("nova", run, "--transcript", BUILD, **environment)


def rows(harbor: Harbor) -> list[dict[str, Any]]:
    return [row for row in harbor.rows("reflections", "nova") if row["asked"] == "proposal"]


def cards(harbor: Harbor) -> list[str]:
    return sorted(path.stem for path in (harbor.root / "Org/Backlog").glob("imp-*.md"))


def test_what_a_second_run_shows_becomes_a_card_without_a_model(harbor: Harbor) -> None:
    assert finish(harbor, "run-1")["proposal"] is None
    done = finish(harbor, "run-2")
    (card,) = cards(harbor)
    assert done["proposal"] == card
    claim = harbor.claim("nova", FRICTION)
    assert (claim["proposal"], claim["proposed_evidence"]) == (card, ["run-1", "run-2"])
    assert harbor.subjects(2) == [
        f"proposal(nova): {card} from {claim['id']}",
        "memory(nova): no_report, run-2, 1 claim changed",
    ]
    (row,) = rows(harbor)
    assert (row["run"], row["trigger"], row["calls"]) == ("run-2", "wake_done", 0)
    assert harbor.git("status", "--porcelain") == ""
    told = harbor.run("wake-done", harbor.wake("nova"), "--run", "run-3", "--transcript", BUILD)
    assert f"{claim['id']} is not proposed: the claim has an open card already" in told.err
    assert cards(harbor) == [card]


def test_the_dispatcher_reads_that_a_card_was_filed(harbor: Harbor) -> None:
    finish(harbor, "run-1")
    told = harbor.run("wake-done", harbor.wake("nova"), "--run", "run-2", "--transcript", BUILD)
    assert f"\nproposed: {cards(harbor)[0]} (orgvault proposal show" in told.out


def test_reflect_files_a_card_too_and_only_once(harbor: Harbor) -> None:
    finish(harbor, "run-1")
    words = ["reflect", "nova", "--run", "run-2", "--transcript", BUILD]
    assert harbor.json(*words)["proposal"] == cards(harbor)[0]
    again = harbor.json(*words)
    assert (again["proposal"], again["reflection"]["asked"]) == (None, "memory")
    assert len(rows(harbor)) == 1


def test_a_claim_that_no_run_raised_is_left_alone(harbor: Harbor) -> None:
    # The fixture's nova has a friction of four runs that none of these shows.
    finish(harbor, "run-1")
    assert (cards(harbor), rows(harbor)) == ([], [])


def test_disabled_is_silent(harbor: Harbor) -> None:
    harbor.edit_org(r"self_improvement: \{targets: \[own_prompt, own_skills\]\}",
                    "self_improvement: {enabled: false}")  # fmt: skip
    finish(harbor, "run-1")
    words = ["wake-done", harbor.wake("nova"), "--run", "run-2", "--transcript", BUILD]
    told = harbor.run(*words)
    assert "proposed" not in told.out + told.err
    assert (cards(harbor), rows(harbor)) == ([], [])


def test_a_dry_run_says_that_a_card_might_follow_and_files_none(harbor: Harbor) -> None:
    finish(harbor, "run-1")
    words = ["wake-done", harbor.wake("nova"), "--run", "run-2", "--transcript", BUILD]
    told = harbor.run(*words, "--dry-run")
    assert "might then be proposed" in told.err
    assert (cards(harbor), rows(harbor)) == ([], [])


def test_a_model_is_asked_a_second_question_within_the_same_command(remote: Harbor) -> None:
    with serving("given", text=both()) as provider:
        finish(remote, "run-1", **at(provider))
        done = finish(remote, "run-2", **at(provider))
        names = [one.body["response_format"]["json_schema"]["name"] for one in provider.asked]
    assert names == ["operations", "operations", "change"]
    assert done["proposal"] == cards(remote)[0]
    assert remote.subjects(3)[1:] == [
        "memory(nova): no_report, run-2, 1 claim changed",
        "wake(nova): no_report, run-2",
    ]
    assert remote.json("memory", "stats", "nova")["reflections"]["calls"] == 3


FAULTS = ["malformed", "truncated", "empty", "refusal", "500", "429", "404", "html", "cut", "long"]


@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_of_the_second_answer_disturbs_the_run(remote: Harbor, fault: str) -> None:
    with serving("given", text=both()) as provider:
        finish(remote, "run-1", **at(provider))
    with serving("given", fault, text=both()) as provider:
        wake = remote.wake("nova")
        words = ["wake-done", wake, "--run", "run-2", "--transcript", BUILD]
        told = remote.run(*words, code=0, **at(provider))
    claim = remote.claim("nova", TEXT)
    assert claim["evidence"] == ["run-1", "run-2"]
    assert "reflection: applied" in told.out
    assert "proposed" not in told.out
    (row,) = rows(remote)
    assert row["result"] in {"failed", "unreadable"}
    assert row["reason"]
    assert (row["run"], row["claim_id"], row["card"]) == ("run-2", claim["id"], None)
    # The row is no reflection of the run: that is done, and is not tried again.
    with serving("given", text=both()) as provider:
        again = remote.json("reflect", "nova", "--run", "run-2", **at(provider))
        assert provider.asked == []
    assert again["reflection"]["result"] == "applied"
    # Another sighting asks once more.
    with serving("given", text=both()) as provider:
        assert finish(remote, "run-3", **at(provider))["proposal"] == cards(remote)[0]


def test_a_refusal_of_the_gate_is_a_remark_and_a_row(remote: Harbor) -> None:
    with serving("given", text=both(replace="A site\u202e that builds.")) as provider:
        finish(remote, "run-1", **at(provider))
        words = ["wake-done", remote.wake("nova"), "--run", "run-2", "--transcript", BUILD]
        told = remote.run(*words, code=0, **at(provider))
    assert "refused by the gate (words)" in told.err
    assert [row["result"] for row in rows(remote)] == ["refused"]
    assert remote.claim("nova", TEXT)["proposal"] is None
    stats = remote.json("memory", "stats", "nova", "--days", "1")["reflections"]
    assert (stats["reflections"], stats["calls"]) == (2, 3)


def test_the_days_cap_counts_both_questions(remote: Harbor) -> None:
    with serving("given", text=both()) as provider:
        limits = {**at(provider), "ORG_REFLECT_MAX_PER_DAY": "2"}
        finish(remote, "run-1", **limits)
        finish(remote, "run-2", **limits)
        assert len(provider.asked) == 2
    assert [(row["result"], row["calls"]) for row in rows(remote)] == [("skipped", 0)]
    assert "used up" in rows(remote)[0]["reason"]


def test_answers_that_were_put_off_are_not_confused_with_questions(remote: Harbor) -> None:
    with serving("given", text=both()) as provider:
        finish(remote, "run-1", **at(provider))
        (remote.root / ".git/MERGE_HEAD").write_text(remote.git("rev-parse", "HEAD"))
        done = finish(remote, "run-2", **at(provider))
        assert done["reflection"]["result"] == "repository_busy"
        assert rows(remote) == []
        (remote.root / ".git/MERGE_HEAD").unlink()
        done = finish(remote, "run-3", **at(provider))
    assert done["proposal"] == cards(remote)[0]
    assert remote.claim("nova", TEXT)["evidence"] == ["run-1", "run-2", "run-3"]


def orgvault(
    harbor: Harbor, words: list[str], environment: dict[str, str]
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "orgvault", *words], cwd=harbor.root, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env={**os.environ, **environment},
    )  # fmt: skip


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_stopped_between_the_question_and_the_card(remote: Harbor, how: int) -> None:
    with serving("given", text=both()) as provider:
        finish(remote, "run-1", **at(provider))
    with serving("given", "slow", text=both()) as provider:
        wake = remote.wake("nova")
        words = ["wake-done", wake, "--run", "run-2", "--transcript", BUILD]
        process = orgvault(remote, words, at(provider))
        limit = time.monotonic() + 30
        while len(provider.asked) < 2 and time.monotonic() < limit:
            time.sleep(0.01)
        process.send_signal(how)
        process.communicate()
    assert process.returncode in {-signal.SIGKILL, 130}
    # Everything before the question stands, and nothing of a card.
    assert remote.claim("nova", TEXT)["evidence"] == ["run-1", "run-2"]
    assert (cards(remote), rows(remote)) == ([], [])
    assert remote.git("status", "--porcelain") == ""
    # The same report once more makes up for it, and then has nothing left to do.
    with serving("given", text=both()) as provider:
        assert remote.json(*words, **at(provider))["proposal"] == cards(remote)[0]
        assert remote.json("reflect", "nova", "--run", "run-2", **at(provider))["proposal"] is None
        assert len(provider.asked) == 1
    assert len(cards(remote)) == 1


def test_many_at_once_file_one_card(remote: Harbor) -> None:
    with serving("given", text=both()) as provider:
        finish(remote, "run-1", **at(provider))
    with serving("given", text=both(path=None, key=None)) as provider:
        finish(remote, "run-2", **at(provider))
    words = ["propose-improvement", "nova", "--memory-id", remote.claim("nova", TEXT)["id"]]
    with serving("thoughtful", text=both()) as provider, ThreadPoolExecutor(4) as pool:

        def propose(_: int) -> int:
            process = orgvault(remote, words, at(provider))
            process.communicate()
            return process.returncode

        codes = sorted(pool.map(propose, range(4)))
    assert codes == [0, 3, 3, 3]
    assert len(cards(remote)) == 1
    assert remote.git("status", "--porcelain") == ""
