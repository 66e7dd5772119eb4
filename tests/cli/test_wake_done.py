"""`wake`, `post`, `wake-done` and `reflect`, as a dispatcher calls them."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from orgvault.services.finishing import FinishedRun, without_misfits
from tests.harbor import BUILD, FRICTION, LINKS, REVIEW, Harbor
from tests.provider import question

EPISODE = question().episode


def test_a_finished_run_is_one_commit_with_its_wake_status_episode_and_claim(
    harbor: Harbor,
) -> None:
    wake = harbor.wake("nova", card="t-4m7q2x9k")
    before = harbor.git("rev-list", "--count", "HEAD")
    done = harbor.json(
        "wake-done", wake, "--run", "run-1", "--exit", "0", "--cost", "0.31",
        "--result", "done: The site builds. And more.", "--transcript", BUILD,
    )  # fmt: skip
    assert int(harbor.git("rev-list", "--count", "HEAD")) == int(before) + 1
    episode = done["episode"]
    assert (episode["outcome"], episode["cost_usd"], episode["card"]) == (
        "done",
        0.31,
        "t-4m7q2x9k",
    )
    assert episode["summary"] == (
        "I worked on t-4m7q2x9k and finished after 14 turns: The site builds."
    )
    assert [row["event"] for row in harbor.rows("wakes", "nova") if row["wake"] == wake] == [
        "added",
        "closed",
    ]
    assert harbor.rows("episodes", "nova")[-1]["run"] == "run-1"
    assert harbor.rows("status", "nova")[-1]["fallback"] is True
    assert harbor.claim("nova", FRICTION)["times_seen"] == 1
    assert FRICTION in harbor.core("nova")
    trailers = harbor.git("log", "-1", "--format=%(trailers:only,unfold)")
    assert "Orgvault-Op: wake-done" in trailers
    assert "Orgvault-Agent: nova" in trailers
    assert "Orgvault-Run: run-1" in trailers
    assert "Orgvault-Actor: sam" in trailers
    assert "Orgvault-Version: " in trailers


def test_a_friction_seen_in_two_runs_is_one_claim_seen_twice(harbor: Harbor) -> None:
    harbor.finish("nova", "run-1", "--transcript", BUILD)
    harbor.finish("nova", "run-2", "--transcript", LINKS)
    claim = harbor.claim("nova", FRICTION)
    assert claim["evidence"] == ["run-1", "run-2"]
    assert claim["times_seen"] == 2


def test_r14_nothing_to_learn_is_a_success(harbor: Harbor) -> None:
    before = harbor.claims("atlas")
    done = harbor.finish("atlas", "run-1", "--transcript", REVIEW)
    assert done["reflection"]["result"] == "applied"
    assert done["reflection"]["operations"] == []
    assert harbor.claims("atlas") == before
    again = harbor.json("reflect", "atlas", "--run", "run-1", "--transcript", REVIEW)
    assert len([r for r in harbor.rows("reflections", "atlas") if r["run"] == "run-1"]) == 1
    assert again["new"] is False


def test_r22_a_second_report_changes_nothing_and_says_what_differs(harbor: Harbor) -> None:
    wake = harbor.wake("nova")
    words = ["wake-done", wake, "--run", "run-1", "--transcript", BUILD, "--cost", "0.5"]
    harbor.run(*words)
    head = harbor.git("rev-parse", "HEAD")
    told = harbor.run(*words[:-1], "0.7")
    assert harbor.git("rev-parse", "HEAD") == head
    assert "cost_usd 0.5" in told.err
    assert "0.7" in told.err
    assert harbor.claim("nova", FRICTION)["times_seen"] == 1


def test_a_second_report_closes_wakes_that_are_still_open(harbor: Harbor) -> None:
    first, second = harbor.wake("nova"), harbor.wake("nova")
    harbor.run("wake-done", first, "--run", "run-1", "--turns", "1")
    told = harbor.json("wake-done", f"{first},{second}", "--run", "run-1", "--turns", "1")
    assert told["closed"] == [second]
    assert len([r for r in harbor.rows("episodes", "nova") if r["run"] == "run-1"]) == 1


def test_jsonl_12_and_r22_three_reports_at_once_are_one_episode(harbor: Harbor) -> None:
    wake = harbor.wake("nova")

    def report(cost: str) -> "subprocess.CompletedProcess[str]":
        command = [
            sys.executable, "-m", "orgvault", "wake-done", wake, "--run", "run-1",
            "--cost", cost, "--transcript", BUILD,
        ]  # fmt: skip
        return subprocess.run(command, cwd=harbor.root, capture_output=True, text=True, check=False)

    with ThreadPoolExecutor(3) as pool:
        ended = list(pool.map(report, ["0.1", "0.1", "0.9"]))
    assert [one.returncode for one in ended] == [0, 0, 0], [one.stderr for one in ended]
    assert len([r for r in harbor.rows("episodes", "nova") if r["run"] == "run-1"]) == 1
    assert len([r for r in harbor.rows("reflections", "nova") if r["run"] == "run-1"]) == 1
    assert harbor.claim("nova", FRICTION)["times_seen"] == 1
    assert any("cost_usd" in one.stderr for one in ended)


def test_an_unknown_wake_is_refused_before_anything_is_written(harbor: Harbor) -> None:
    head = harbor.git("rev-parse", "HEAD")
    known = harbor.wake("nova")
    told = harbor.run("wake-done", f"{known},w-00000000", "--run", "run-1", code=1)
    assert "w-00000000" in told.err
    assert harbor.git("rev-list", "--count", f"{head.strip()}..HEAD").strip() == "1"
    assert [w["id"] for w in harbor.json("wake", "list")["wakes"]] == [known]


def test_wakes_of_another_queue_are_accepted_with_agent(harbor: Harbor) -> None:
    harbor.run("wake-done", "job-77", "--agent", "nova", "--run", "run-1", "--turns", "1")
    assert harbor.rows("episodes", "nova")[-1]["wakes"] == ["job-77"]


def test_wakes_of_two_agents_are_refused(harbor: Harbor) -> None:
    both = f"{harbor.wake('nova')},{harbor.wake('juno')}"
    told = harbor.run("wake-done", both, "--run", "run-1", code=2)
    assert "juno, nova" in told.err
    assert len(harbor.json("wake", "list")["wakes"]) == 2


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        (["--exit", "3", "--outcome", "done"], "error"),
        (["--outcome", "blocked", "--result", "done: x"], "blocked"),
        (["--result", " Request_Changes: see the notes"], "request_changes"),
        (["--result", "All is well"], "no_report"),
    ],
)
def test_the_first_rule_that_applies_gives_the_outcome(
    harbor: Harbor, words: list[str], outcome: str
) -> None:
    done = harbor.finish("nova", "run-1", "--turns", "1", *words)
    assert done["episode"]["outcome"] == outcome


def test_what_a_run_posted_comes_before_what_the_dispatcher_says(harbor: Harbor) -> None:
    harbor.run(
        "post", "--run", "run-1", "--outcome", "blocked", "The key is missing.", "--card",
        "t-4m7q2x9k", ORGVAULT_AGENT="nova",
    )  # fmt: skip
    done = harbor.finish("nova", "run-1", "--turns", "1", "--outcome", "done")
    assert done["episode"]["outcome"] == "blocked"
    assert done["episode"]["card"] == "t-4m7q2x9k"
    assert "The key is missing." in done["episode"]["summary"]
    assert [s["fallback"] for s in harbor.rows("status", "nova") if s["run"] == "run-1"] == [False]


def test_unknown_cost_stays_unknown(harbor: Harbor) -> None:
    assert harbor.finish("nova", "run-1", "--turns", "1")["episode"]["cost_usd"] is None


def test_a_resumed_session_is_booked_as_the_difference(harbor: Harbor) -> None:
    costs = [
        harbor.finish("nova", f"run-{n}", "--turns", "1", "--session", "s", "--cost", total)[
            "episode"
        ]["cost_usd"]
        for n, total in enumerate(["0.20", "0.55", "0.10"])
    ]
    assert costs == [0.2, 0.35, 0.1]


@pytest.mark.parametrize("cost", ["nan", "inf", "1e400", "-1"])
def test_jsonl_07_a_cost_that_is_no_number_is_refused(harbor: Harbor, cost: str) -> None:
    wake = harbor.wake("nova")
    told = harbor.run("wake-done", wake, "--run", "run-1", f"--cost={cost}", code=2)
    assert "cost" in told.err
    assert [w["id"] for w in harbor.json("wake", "list")["wakes"]] == [wake]


@pytest.mark.parametrize("run", ["", "../x", "a b", "-x", "x" * 129, "ä"])
def test_a_run_id_that_cannot_be_one_is_refused(harbor: Harbor, run: str) -> None:
    wake = harbor.wake("nova")
    told = harbor.run("wake-done", wake, f"--run={run}", code=2)
    assert "--run" in told.err
    assert len(harbor.json("wake", "list")["wakes"]) == 1


def test_git_30_a_time_as_run_id_and_git_23_a_helper_as_run_id(harbor: Harbor) -> None:
    for run in ("2026-06-13T01:21:19Z", "ext::sh"):
        harbor.finish("nova", run, "--transcript", BUILD)
    names = harbor.git("ls-files", "-z").split("\0")
    assert not [name for name in names if ":" in name]


def test_an_episode_that_cannot_be_written_does_not_keep_the_wake_open(harbor: Harbor) -> None:
    wake = harbor.wake("nova")
    told = harbor.run("wake-done", wake, "--run", "run-1", "--model", "m" * 300)
    assert "300 characters" in told.err
    assert harbor.json("wake", "list")["wakes"] == []
    assert [r for r in harbor.rows("episodes", "nova") if r["run"] == "run-1"] == []


@pytest.mark.parametrize(
    ("words", "environment", "reason"),
    [
        (["--turns", "1", "--transcript", BUILD], {}, "too_few_turns"),
        ([], {}, "turns_unknown"),
        (["--transcript", BUILD], {"ORG_REFLECT_MODEL": "off"}, "model_off"),
    ],
)
def test_a_skip_stands_in_the_episode_and_needs_no_row(
    harbor: Harbor, words: list[str], environment: dict[str, str], reason: str
) -> None:
    before = len(harbor.rows("reflections", "nova"))
    done = harbor.finish("nova", "run-1", *words, **environment)
    assert done["episode"]["reflect_skipped"] == reason
    assert len(harbor.rows("reflections", "nova")) == before


def test_a_skipped_run_is_reflected_on_by_reflect(harbor: Harbor) -> None:
    harbor.finish("nova", "run-1", "--transcript", BUILD, ORG_REFLECT_MODEL="off")
    done = harbor.json("reflect", "nova", "--run", "run-1")
    assert done["reflection"]["result"] == "applied"
    assert harbor.claim("nova", FRICTION)["evidence"] == ["run-1"]
    assert len([r for r in harbor.rows("episodes", "nova") if r["run"] == "run-1"]) == 1


def test_reflect_without_a_wake_writes_the_episode(harbor: Harbor) -> None:
    done = harbor.json(
        "reflect", "nova", "--run", "chat-1", "--reason", "chat", "--transcript", BUILD
    )
    assert (done["new"], done["episode"]["reason"]) == (True, "chat")
    assert done["reflection"]["trigger"] == "chat_end"


def test_dry_run_shows_everything_and_writes_nothing(harbor: Harbor) -> None:
    wake = harbor.wake("nova")
    head, status = harbor.git("rev-parse", "HEAD"), harbor.git("status", "--porcelain")
    told = harbor.run("wake-done", wake, "--run", "run-1", "--transcript", BUILD, "--dry-run")
    assert "+text: " in told.out
    assert '"run":"run-1"' in told.out
    assert harbor.git("rev-parse", "HEAD") == head
    assert harbor.git("status", "--porcelain") == status
    assert harbor.json("wake", "list")["wakes"] != []


def test_a_missing_transcript_is_said_and_the_episode_stands(harbor: Harbor) -> None:
    told = harbor.run(
        "wake-done", harbor.wake("nova"), "--run", "run-1", "--transcript", "gone.jsonl"
    )
    assert "gone.jsonl" in told.err
    assert harbor.rows("episodes", "nova")[-1]["run"] == "run-1"


def test_r20_a_secret_in_result_and_session_reaches_no_byte(harbor: Harbor) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    harbor.run(
        "wake-done", harbor.wake("nova"), "--run", "run-1", "--transcript", BUILD,
        "--result", f"done: pushed with {token}.",
    )  # fmt: skip
    harbor.run("post", "--run", "run-2", "--agent", "nova", f"the key is {token}")
    found = subprocess.run(
        ["git", "grep", "-F", "-l", token, *harbor.git("rev-list", "--all").split()],
        cwd=harbor.root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.stdout == ""
    assert token not in harbor.git("log", "--format=%B")
    fixture = "ghp_"  # the recorded session holds one, too
    rows = str(harbor.rows("reflections", "nova"))
    assert fixture not in rows


def test_a_broken_memory_block_skips_reflection_and_records_the_run(harbor: Harbor) -> None:
    path = harbor.root / ".agents/org/org-agents.json"
    text = path.read_text("utf-8")
    path.write_text(text.replace('"core_budget_tokens": ', '"core_budget_tokens": 9'), "utf-8")
    done = harbor.finish("nova", "run-1", "--transcript", BUILD)
    assert done["episode"]["reflect_skipped"].startswith("memory_block_invalid")


def test_an_agent_may_not_record_runs(harbor: Harbor) -> None:
    wake = harbor.wake("nova")
    told = harbor.run("wake-done", wake, "--run", "run-1", code=4, ORGVAULT_AGENT="nova")
    assert "the owner" in told.err
    assert len(harbor.json("wake", "list")["wakes"]) == 1


def test_a_cold_wake_done_imports_click_and_the_standard_library(harbor: Harbor) -> None:
    wake = harbor.wake("nova")
    code = (
        "import sys; from orgvault.cli.main import main; "
        f"main(['wake-done', '{wake}', '--run', 'run-1', '--turns', '1']); "
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=harbor.root, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    heavy = {"ruamel", "git", "gitdb", "duckdb", "tiktoken", "jinja2", "rich", "unidiff", "numpy"}
    assert loaded & heavy == set()
    known = set(sys.stdlib_module_names) | {"click", "orgvault", "__main__", "sitecustomize"}
    # Editable installs and virtual environments leave start-up modules of their own.
    strangers = {name for name in loaded - known if not name.startswith(("_", "pywin"))}
    assert strangers == set()


def test_a_transcript_that_cannot_be_read_is_no_reflection_and_can_be_mended(
    harbor: Harbor,
) -> None:
    wake = harbor.wake("nova")
    words = ["wake-done", wake, "--run", "run-1", "--turns", "12", "--transcript", "gone.jsonl"]
    told = harbor.run(*words)
    assert "not reflected on: its transcript could not be read" in told.err
    assert harbor.rows("episodes", "nova")[-1]["reflect_skipped"] == "transcript_unreadable"
    harbor.run("reflect", "nova", "--run", "run-1", "--transcript", BUILD)
    assert harbor.claim("nova", FRICTION)["evidence"] == ["run-1"]


def test_every_skip_is_one_line_on_stderr(harbor: Harbor) -> None:
    told = harbor.run("wake-done", harbor.wake("nova"), "--run", "run-1")
    assert told.err == (
        "orgvault: not reflected on: how many turns it had is unknown "
        "(give --turns, or a --transcript)\n"
    )


def test_a_wake_that_another_run_closed_is_said(harbor: Harbor) -> None:
    wake = harbor.wake("nova")
    harbor.run("wake-done", wake, "--run", "run-1", "--turns", "1")
    told = harbor.run("wake-done", wake, "--run", "run-2", "--turns", "1")
    assert f"{wake} was closed by run-1 already" in told.err


def test_no_wake_at_all_is_refused(harbor: Harbor) -> None:
    told = harbor.run("wake-done", "", "--run", "run-1", "--agent", "nova", code=2)
    assert "orgvault reflect AGENT --run R" in told.err


def test_a_time_of_the_first_year_keeps_no_run_from_being_recorded(
    harbor: Harbor, tmp_path: Path
) -> None:
    old = tmp_path / "times.jsonl"
    old.write_text(Path(BUILD).read_text("utf-8").replace("2026-11-18", "0001-01-01"), "utf-8")
    words = ["--turns", "5", "--transcript", str(old), "--result", "done: ok"]
    done = harbor.finish("nova", "run-1", *words)
    assert done["episode"]["started_at"].startswith("0001-01-01T")


def test_what_a_transcript_says_and_no_row_can_hold_is_left_out() -> None:
    remarks: list[str] = []
    made = replace(EPISODE, model="m" * 300, started_at="1-01-01T00:00:00Z", tokens_in=-1)
    kept = without_misfits(made, FinishedRun(run="run-1", tokens_in=-1), remarks)
    assert (kept.model, kept.started_at, kept.tokens_in) == (None, None, -1)
    assert len(remarks) == 2


def test_a_value_that_cannot_be_recorded_is_told_without_a_pattern(harbor: Harbor) -> None:
    told = harbor.run("wake-done", "../../x", "--agent", "nova", "--run", "run-1")
    assert "'../../x'" in told.err
    assert not {"[", "("} & set(told.err.partition("../../x")[2].partition("is not")[0])


@pytest.mark.parametrize(
    "words",
    [("--cost", "1e15"), ("--turns", "9" * 30), ("--duration", "1e300"), ("--exit", "9" * 13)],
)
def test_what_would_never_be_counted_is_refused_at_the_door(
    harbor: Harbor, words: tuple[str, str]
) -> None:
    harbor.run("wake-done", harbor.wake("nova"), "--run", "run-1", *words, code=2)


@pytest.mark.parametrize("days", ["999999", "9" * 20])
def test_days_before_the_calendar_are_all_days(harbor: Harbor, days: str) -> None:
    for words in (("stats",), ("memory", "stats", "nova"), ("memory", "episodes", "nova")):
        harbor.run(*words, "--days", days)
