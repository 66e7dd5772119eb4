"""`dispatch` and `run exec`: wakes and routines become runs of clients."""

import json
import os
import signal
import time
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import time_machine

from tests.clients import CLAUDE, CODEX, Client, employ, orgvault, printing, until
from tests.harbor import Harbor

HANGS = "time.sleep(60)"
LINGER_S = 2.0


@pytest.fixture
def client(harbor: Harbor, tmp_path: Path) -> Client:
    """Nova's client; no routine is due."""
    harbor.run("routine", "pause", "weekly-digest")
    made = Client(tmp_path, printing(CLAUDE))
    employ(harbor, made, "nova")
    return made


def episode_of(harbor: Harbor, run: str) -> dict[str, Any]:
    """What is recorded of a run."""
    every = [one["episode"] for one in harbor.json("memory", "episodes", "nova")["episodes"]]
    (found,) = [one for one in every if one["run"] == run]
    assert isinstance(found, dict)
    return found


def test_a_wake_is_taken_answered_and_closed(harbor: Harbor, client: Client) -> None:
    card = harbor.run("task", "add", "Mend the feed", "--agent", "nova").out.strip()
    wake = harbor.wake("nova", card=card)
    told = harbor.json("dispatch", "--once")
    (run,) = told["runs"]
    assert (run["agent"], run["wakes"], run["exit_code"]) == ("nova", [wake], 0)
    assert (run["turns"], run["cost_usd"], run["duration_s"]) == (7, 0.125, 4.2)
    (call,) = client.calls
    assert "<guidelines>" in str(call["prompt"])
    assert f"Card {card}: Mend the feed" in str(call["prompt"])
    assert call["cwd"] == str(harbor.root)
    env = call["env"]
    assert isinstance(env, dict)
    named = {name: env[f"ORGVAULT_{name}"] for name in ("VAULT", "AGENT", "RUN")}
    assert named == {"VAULT": str(harbor.root), "AGENT": "nova", "RUN": run["run"]}
    assert harbor.json("wake", "list")["wakes"] == []
    episode = episode_of(harbor, run["run"])
    assert episode["summary"].endswith("The feed validates again.")
    assert episode["card"] == card
    assert (episode["tokens_in"], episode["tokens_out"]) == (60, 40)
    assert (episode["session"], episode["client"]) == (CLAUDE["session_id"], "claude-code")
    assert episode["prompt_sha256"]
    events = [one["event"] for one in harbor.rows("wakes", "nova") if one["wake"] == wake]
    assert events == ["added", "taken", "closed"]
    assert harbor.json("dispatch", "--once") == {"runs": [], "skipped": []}


def test_a_dry_run_tells_and_writes_nothing(harbor: Harbor, client: Client) -> None:
    wake = harbor.wake("nova")
    head = harbor.git("rev-parse", "HEAD")
    told = harbor.json("dispatch", "--once", "--dry-run")
    assert told["runs"] == [{"agent": "nova", "origin": "direct", "wakes": [wake]}]
    assert (client.calls, harbor.git("rev-parse", "HEAD")) == ([], head)


def test_only_its_own_secrets_reach_a_client(harbor: Harbor, client: Client) -> None:
    harbor.edit_org(r"(- \{name: CALENDAR_TOKEN,[^\n]*\n    client:)",
                    r"- {name: ATLAS_KEY, description: Only for atlas}\n      \1")  # fmt: skip
    harbor.wake("nova")
    secrets = {"ATLAS_KEY": "of-atlas-only", "SITE_DEPLOY_KEY": "of-nova-only"}
    harbor.json("dispatch", "--once", "--agent", "nova", ORGVAULT_OPERATOR="sam", **secrets)
    (call,) = client.calls
    env = call["env"]
    assert isinstance(env, dict)
    assert "ATLAS_KEY" not in env
    assert (env["SITE_DEPLOY_KEY"], env["LANG"]) == ("of-nova-only", "C.UTF-8")
    assert "ORGVAULT_OPERATOR" not in env


def test_what_git_set_for_a_hook_does_not_reach_a_client(harbor: Harbor, client: Client) -> None:
    harbor.wake("nova")
    of_a_hook = {"GIT_DIR": str(harbor.root / ".git"), "GIT_INDEX_FILE": "x", "GIT_PREFIX": "y"}
    harbor.json("dispatch", "--once", "--agent", "nova", **of_a_hook)
    (call,) = client.calls
    assert not of_a_hook.keys() & set(call["env"])  # type: ignore[call-overload]


def test_what_a_failing_client_says_is_told_without_secrets(
    harbor: Harbor, tmp_path: Path, client: Client
) -> None:
    del client
    body = "print('refused', os.environ['SITE_DEPLOY_KEY'], file=sys.stderr)\nsys.exit(3)"
    employ(harbor, Client(tmp_path, body, "telling"), "nova")
    for words in (["dispatch", "--once"], ["dispatch", "--once", "--agent", "nova"]):
        harbor.wake("nova")
        with orgvault(harbor, *words, SITE_DEPLOY_KEY="of-nova-only") as dispatcher:
            told = b"".join(dispatcher.communicate(timeout=60)).decode()
        assert "refused [secret]" in told
        assert "of-nova-only" not in told


def test_what_a_client_leaves_behind_costs_no_time_of_its_run(
    harbor: Harbor, tmp_path: Path, client: Client
) -> None:
    del client
    body = "import subprocess\nsubprocess.Popen(['sleep', '60'])\nprint('well')"
    employ(harbor, Client(tmp_path, body, "leaving"), "nova")
    harbor.wake("nova")
    began_s = time.monotonic()
    (run,) = harbor.json("dispatch", "--once", "--agent", "nova")["runs"]
    took_s = time.monotonic() - began_s
    episode = episode_of(harbor, run["run"])
    assert episode["summary"].endswith("well")
    # The sleeper holds the output open, which is waited for, but not as a part of the run.
    assert took_s - run["duration_s"] >= LINGER_S


@pytest.mark.parametrize(
    ("body", "exit_code", "summary"),
    [
        ("print('nothing to see')\nsys.exit(3)", 3, "nothing to see"),
        ("print('no model', file=sys.stderr)\nsys.exit(2)", 2, "no model"),
        (printing({**CLAUDE, "is_error": True, "result": "Credit is too low"}), 1, "Credit"),
        (printing({**CLAUDE, "subtype": "error_max_turns", "result": ""}), 1, "error_max_turns"),
        (printing({"type": "turn.failed", "error": {"message": "stream lost"}}), 1, "stream lost"),
        ("os.kill(os.getpid(), 9)", 137, ""),
    ],
)
def test_a_client_that_fails_is_an_error_run(
    harbor: Harbor, tmp_path: Path, client: Client, body: str, exit_code: int, summary: str
) -> None:
    del client
    employ(harbor, Client(tmp_path, body, "bad"), "nova")
    wake = harbor.wake("nova")
    (run,) = harbor.json("dispatch", "--once", "--agent", "nova")["runs"]
    assert (run["exit_code"], run["outcome"], run["wakes"]) == (exit_code, "error", [wake])
    episode = episode_of(harbor, run["run"])
    assert summary in episode["summary"]
    assert harbor.json("wake", "list")["wakes"] == []


def test_a_client_that_cannot_be_started_does_not_loop(harbor: Harbor, client: Client) -> None:
    client.path = Path("unused")
    harbor.edit_org(r"command: \[[^\n]*client\.py[^\n]*", "command: [/no/such/client]")
    harbor.wake("nova")
    (run,) = harbor.json("dispatch", "--once", "--agent", "nova")["runs"]
    assert (run["exit_code"], run["outcome"]) == (127, "error")
    episode = episode_of(harbor, run["run"])
    assert "`/no/such/client` cannot be started: no such file" in episode["summary"]
    assert harbor.json("dispatch", "--once", "--agent", "nova")["runs"] == []


def test_a_run_that_cannot_be_composed_leaves_its_wake_open(harbor: Harbor, client: Client) -> None:
    wake = harbor.wake("nova")
    template = harbor.root / ".agents/org/prompts/system.md"
    text = template.read_text("utf-8")
    template.write_text("<capability name='nots'>", "utf-8")
    for words in ((), ("--agent", "nova")):
        told = harbor.run("dispatch", "--once", "--json", *words, code=1).json
        assert (told["runs"], told["skipped"][0]["wakes"]) == ([], [wake])
        assert "system.md" in told["skipped"][0]["why"]
        assert told["skipped"][0]["failed"]
        said = harbor.run("dispatch", "--once", *words, code=1)
        assert (said.out, "nova is left: " in said.err) == ("", True)
    template.write_text(text, "utf-8")
    assert harbor.json("dispatch", "--once", "--agent", "nova")["runs"][0]["wakes"] == [wake]
    assert len(client.calls) == 1


def test_chat_is_answered_together_and_the_rest_apart(harbor: Harbor, client: Client) -> None:
    harbor.run("chat", "post", "@nova is the feed well?")
    harbor.run("chat", "post", "@Nova please look.")
    task = harbor.wake("nova")
    runs = harbor.json("dispatch", "--once", "--agent", "nova")["runs"]
    assert sorted(len(one["wakes"]) for one in runs) == [1, 2]
    assert [task] in [one["wakes"] for one in runs]
    chat = next(
        str(one["prompt"]) for one in client.calls if '"latestMessage"' in str(one["prompt"])
    )
    assert "please look" in chat
    assert '"youWereTagged": true' in chat


def test_a_due_routine_runs_once(harbor: Harbor, tmp_path: Path) -> None:
    client = Client(tmp_path, printing(*CODEX))
    employ(harbor, client, "juno")
    (due,) = harbor.json("routine", "due")["due"]
    told = harbor.json("dispatch", "--once", "--agent", "juno")
    assert [one["wakes"] for one in told["runs"]] == [[due["wake"]]]
    (call,) = client.calls
    assert "Schedule wake-up" in str(call["prompt"])
    assert "weekly-digest" in str(call["prompt"])
    assert harbor.json("dispatch", "--once", "--agent", "juno") == {"runs": [], "skipped": []}
    assert harbor.json("routine", "due")["due"] == []


def test_agents_without_a_client_are_told_once_and_their_wakes_stay(
    harbor: Harbor, client: Client
) -> None:
    del client
    harbor.edit_org(r"    client:\n      command: \[claude, -p[^\n]*\n\n  nova", "\n  nova")
    wake = harbor.wake("atlas")
    (skipped,) = harbor.json("dispatch", "--once")["skipped"]
    assert (skipped["agent"], skipped["wakes"]) == ("atlas", [wake])
    assert "client.command" in skipped["why"]
    assert not skipped["failed"]


def test_wakes_per_day_counts_runs_of_the_vaults_own_day(harbor: Harbor, client: Client) -> None:
    employ(harbor, client, "nova", more="wakes_per_day: 1")
    moments = (
        ("2027-01-10T22:30:00+00:00", 1),  # half past eleven in the evening in Berlin
        ("2027-01-10T22:59:00+00:00", 0),
        ("2027-01-10T23:01:00+00:00", 1),  # the next day there, not yet in UTC
        ("2027-01-11T22:00:00+00:00", 0),
    )
    for moment, expected in moments:
        with time_machine.travel(datetime.fromisoformat(moment), tick=False):
            if not harbor.json("wake", "list", "--agent", "nova")["wakes"]:
                harbor.wake("nova")
            told = harbor.json("dispatch", "--once", "--agent", "nova")
            assert len(told["runs"]) == expected, moment
            assert len(told["skipped"]) == 1 - expected


def test_overlapping_dispatchers_run_nothing_twice(harbor: Harbor, tmp_path: Path) -> None:
    client = Client(tmp_path, f"time.sleep(0.2)\n{printing(CLAUDE)}")
    employ(harbor, client, "nova", "atlas", "juno")
    wakes = {harbor.wake(agent) for agent in ("nova", "nova", "atlas", "juno")}
    told = [orgvault(harbor, "dispatch", "--once", "--json") for _ in range(6)]
    answers = [one.communicate(timeout=120) for one in told]
    assert [one.returncode for one in told] == [0] * 6, answers
    runs = [run for out, _ in answers for run in json.loads(out)["runs"]]
    answered = [wake for run in runs for wake in run["wakes"]]
    assert len(answered) == len(set(answered)) == len(wakes) + 1  # and the routine that was due
    assert wakes < set(answered)
    assert len(client.calls) == len(runs)
    for agent in ("nova", "atlas", "juno"):
        own = sorted(
            (float(str(one["at"])), float((client.folder / f"{run}.end").read_text("utf-8")))
            for one in client.calls
            for run in [one["env"]["ORGVAULT_RUN"]]  # type: ignore[index]
            if one["env"]["ORGVAULT_AGENT"] == agent  # type: ignore[index]
        )
        assert all(end <= begin for (_, end), (begin, _) in pairwise(own))


def test_a_killed_dispatcher_leaves_its_wake_open(harbor: Harbor, tmp_path: Path) -> None:
    hanging = Client(tmp_path, HANGS, "hanging")
    employ(harbor, hanging, "nova")
    wake = harbor.wake("nova")
    with orgvault(harbor, "dispatch", "--once", "--agent", "nova") as dispatcher:
        until(hanging.folder, "*.json")
        assert "taken by" in harbor.run("wake", "list").out
        (taken,) = harbor.json("wake", "list")["wakes"]
        run = taken["taken_by_run"]
        assert run in harbor.run("wake", "list").out
        assert harbor.json("dispatch", "--once", "--agent", "nova")["runs"] == []
        dispatcher.kill()
    os.kill(int(str(hanging.calls[0]["pid"])), signal.SIGKILL)
    assert run not in harbor.run("wake", "list").out
    client = Client(tmp_path, printing(CLAUDE), "good")
    employ(harbor, client, "nova")
    (done,) = harbor.json("dispatch", "--once", "--agent", "nova")["runs"]
    assert done["wakes"] == [wake]
    assert done["run"] != run


def test_the_client_of_a_killed_dispatcher_is_ended_before_its_agent_runs_again(
    harbor: Harbor, tmp_path: Path
) -> None:
    hanging = Client(tmp_path, HANGS, "hanging")
    employ(harbor, hanging, "nova")
    wake = harbor.wake("nova")
    with orgvault(harbor, "dispatch", "--once", "--agent", "nova") as dispatcher:
        until(hanging.folder, "*.json")
        dispatcher.kill()
    orphan = int(str(hanging.calls[0]["pid"]))
    os.kill(orphan, 0)
    employ(harbor, Client(tmp_path, printing(CLAUDE), "good"), "nova")
    (done,) = harbor.json("dispatch", "--once", "--agent", "nova")["runs"]
    assert done["wakes"] == [wake]
    state = Path(f"/proc/{orphan}/stat")
    assert not state.exists() or state.read_text("utf-8").rpartition(")")[2].split()[0] == "Z"
    locks = {one.name for one in (harbor.root / ".git/orgvault/runs").iterdir()}
    assert locks == {"agent-nova.lock"}


def test_a_run_that_was_killed_is_not_the_routines_previous_run(
    harbor: Harbor, tmp_path: Path
) -> None:
    hanging = Client(tmp_path, HANGS, "hanging")
    employ(harbor, hanging, "juno")
    with orgvault(harbor, "dispatch", "--once", "--agent", "juno") as dispatcher:
        until(hanging.folder, "*.json")
        dispatcher.kill()
    client = Client(tmp_path, printing(*CODEX), "good")
    employ(harbor, client, "juno")
    harbor.json("dispatch", "--once", "--agent", "juno")
    (call,) = client.calls
    assert '"previous_run_at": null' in str(call["prompt"])


def test_an_interrupted_dispatch_ends_its_clients(harbor: Harbor, tmp_path: Path) -> None:
    hanging = Client(tmp_path, HANGS, "hanging")
    employ(harbor, hanging, "nova")
    harbor.run("routine", "pause", "weekly-digest")
    wake = harbor.wake("nova")
    with orgvault(harbor, "dispatch", "--every", "1") as dispatcher:
        until(hanging.folder, "*.json")
        dispatcher.terminate()
        assert dispatcher.wait(30) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(str(hanging.calls[0]["pid"])), 0)
    assert [one["id"] for one in harbor.json("wake", "list")["wakes"]] == [wake]


def test_the_loop_answers_what_comes_while_it_runs(harbor: Harbor, client: Client) -> None:
    with orgvault(harbor, "dispatch", "--every", "1") as dispatcher:
        harbor.wake("nova")
        until(client.folder, "*.end", 1)
        harbor.wake("nova")
        until(client.folder, "*.end", 2)
        assert dispatcher.stdout is not None
        assert b"of nova:" in dispatcher.stdout.readline()
        dispatcher.terminate()
        assert dispatcher.wait(30) == 130


def test_only_the_owner_dispatches(harbor: Harbor) -> None:
    for words in (["dispatch", "--once"], ["routine", "due"], ["routine", "pause", "weekly-digest"],
                  ["dispatch"],
        ["dispatch", "--once", "--agent", "nova"],
                  ["run", "exec", "nova", "--", "true"]):  # fmt: skip
        harbor.run(*words, code=4, ORGVAULT_AGENT="nova")
        harbor.run(*words, code=4, ORGVAULT_OPERATOR="kim")


def test_a_dry_run_by_hand_refuses_what_a_run_would(harbor: Harbor) -> None:
    told = harbor.run("run", "exec", "nova", "--dry-run", "--", "true")
    assert "would run nova: true" in told.out
    assert "nobody" in harbor.run("run", "exec", "nobody", "--dry-run", "--", "true", code=1).err
    harbor.run("run", "exec", "nova", "--dry-run", "--", "true", code=4, ORGVAULT_AGENT="nova")


def test_one_run_by_hand(harbor: Harbor, client: Client) -> None:
    words = ["run", "exec", "nova", "--message", "Look at it.", "--", *client.command]
    told = harbor.run("--json", *words).json
    (call,) = client.calls
    assert str(call["prompt"]).endswith("Look at it.")
    episode = episode_of(harbor, told["run"])
    assert (episode["run"], episode["reason"], episode["wakes"]) == (told["run"], "manual", [])
