"""`wake-done` with a real model behind the port: the fake provider, over HTTP on loopback."""

import json
import threading

import pytest

from tests.harbor import BUILD, Harbor
from tests.provider import Provider, serving
from tests.torture.reflections import Counted, many_runs, one_run

NOTHING = json.dumps({"operations": []})
QUOTE = "ModuleNotFoundError: No module named 'markdown'"
LEARNED = "I install what the build needs before I run it."
FAULTS = [
    "malformed", "truncated", "empty", "refusal", "500", "429", "404", "html", "cut", "oversized",
]  # fmt: skip


def addition(text: str = LEARNED, **more: object) -> str:
    """An answer that adds one claim."""
    operation = {
        "why": "it cost turns", "evidence": QUOTE, "op": "add", "claim": None, "claim_starts": "",
        "kind": "lesson", "text": text, **more,
    }  # fmt: skip
    return json.dumps({"operations": [operation]})


@pytest.fixture
def remote(harbor: Harbor) -> Harbor:
    """A harbor whose nova reflects with a model."""
    harbor.edit_org("model: builtin/extractive", "model: openai/tiny")
    return harbor


def at(provider: Provider) -> dict[str, str]:
    """The environment in which a provider is reached."""
    return {"OPENAI_BASE_URL": provider.url + "/v1", "OPENAI_API_KEY": "sk-test-0123456789"}


def test_a_model_learns_and_everything_is_in_the_log(remote: Harbor) -> None:
    with serving("given", text=addition()) as provider:
        done = remote.finish("nova", "run-1", "--transcript", BUILD, **at(provider))
    assert [c["text"] for c in remote.claims("nova") if c["text"] == LEARNED]
    (row,) = [r for r in remote.rows("reflections", "nova") if r["run"] == "run-1"]
    assert (row["model"], row["calls"], row["result"]) == ("openai/tiny", 1, "applied")
    assert json.loads(row["answer"]) == json.loads(addition())
    assert row["prompt_sha256"]
    assert row["operations"][0]["verdict"] == "accepted"
    assert done["reflection"]["id"] == row["id"]
    # Steps 1 and 2 are one commit, 3 and 4 another: the lock is not held during the call.
    assert remote.subjects(2) == [
        "memory(nova): no_report, run-1, 1 claim changed",
        "wake(nova): no_report, run-1",
    ]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_leaves_the_episode_and_a_reason_and_can_be_tried_again(
    remote: Harbor, fault: str
) -> None:
    with serving(fault) as provider:
        done = remote.finish("nova", "run-1", "--transcript", BUILD, **at(provider))
    assert done["episode"]["run"] == "run-1"
    assert done["reflection"]["result"] in {"failed", "unreadable"}
    assert done["reflection"]["reason"]
    assert "sk-test" not in remote.git("log", "-p", "-3")
    with serving("given", text=addition()) as provider:
        again = remote.json("reflect", "nova", "--run", "run-1", **at(provider))
    assert again["reflection"]["result"] == "applied"
    assert [c["evidence"] for c in remote.claims("nova") if c["text"] == LEARNED] == [["run-1"]]


def test_r6_an_unreadable_answer_gets_one_repair(remote: Harbor) -> None:
    with serving("malformed", "given", text=addition()) as provider:
        done = remote.finish("nova", "run-1", "--transcript", BUILD, **at(provider))
        assert len(provider.asked) == 2
    assert (done["reflection"]["result"], done["reflection"]["calls"]) == ("applied", 2)
    with serving("malformed", "malformed") as provider:
        done = remote.finish("nova", "run-2", "--transcript", BUILD, **at(provider))
        assert len(provider.asked) == 2
    assert (done["reflection"]["result"], done["reflection"]["calls"]) == ("unreadable", 2)


def test_no_model_is_a_skip_with_its_reason(remote: Harbor) -> None:
    done = remote.finish("nova", "run-1", "--transcript", BUILD)
    assert done["episode"]["reflect_skipped"].startswith("no_model: ")
    assert done["reflection"] is None


def test_r12_the_owner_edits_a_claim_while_the_model_thinks(remote: Harbor) -> None:
    claim = remote.claims("nova")[0]
    path = remote.root / ".agents/org/memory/nova/claims" / f"{claim['id']}.yaml"
    number = sorted(c["id"] for c in remote.claims("nova")).index(claim["id"]) + 1
    answer = addition(
        "I never commit the public folder.", op="update", claim=number,
        claim_starts=claim["text"][:30],
    )  # fmt: skip
    by_hand = path.read_text("utf-8").replace("I lose a turn", "I lose an hour")

    with serving("thoughtful", text=answer) as provider:

        def edit() -> None:
            while not provider.asked:
                threading.Event().wait(0.01)
            path.write_text(by_hand, "utf-8")

        owner = threading.Thread(target=edit)
        owner.start()
        done = remote.finish("nova", "run-1", "--transcript", BUILD, **at(provider))
        owner.join()
    assert path.read_text("utf-8") == by_hand
    assert [one["verdict"] for one in done["reflection"]["operations"]] == ["stale"]


def test_a_good_answer_waits_for_a_claim_that_is_half_saved(remote: Harbor) -> None:
    path = next((remote.root / ".agents/org/memory/nova/claims").glob("c-*.yaml"))
    whole = path.read_text("utf-8")

    with serving("thoughtful", text=addition("I never commit the public folder.")) as provider:

        def save_half() -> None:
            while not provider.asked:
                threading.Event().wait(0.01)
            path.write_text("[broken", "utf-8")

        owner = threading.Thread(target=save_half)
        owner.start()
        done = remote.finish("nova", "run-1", "--transcript", BUILD, **at(provider))
        owner.join()
        assert done["reflection"]["result"] == "repository_busy"
        assert path.name in done["reflection"]["reason"]
        path.write_text(whole, "utf-8")
        remote.finish("nova", "run-2", ORG_REFLECT_MODEL="off")
        assert len(provider.asked) == 1
    assert "I never commit the public folder." in {one["text"] for one in remote.claims("nova")}


def test_r3_many_reflections_on_one_run_are_one_call(remote: Harbor) -> None:
    found = one_run(remote, 24, 8)
    assert found == Counted(1, 1, {0: 24}, {"applied": 1}, 1)


def test_the_days_cap_holds_across_processes(remote: Harbor) -> None:
    found = many_runs(remote, 12, 5, 6)
    assert found == Counted(5, 5, {0: 12}, {"applied": 5, "skipped day_cap": 7}, 0)


def test_a_lost_counter_is_counted_anew_from_the_log(remote: Harbor) -> None:
    with serving("given", text=NOTHING) as provider:
        for number in range(3):
            remote.finish("nova", f"run-{number}", "--transcript", BUILD, **at(provider))
        (remote.root / ".git/orgvault/calls.json").unlink()
        done = remote.finish(
            "nova", "run-9", "--transcript", BUILD, ORG_REFLECT_MAX_PER_DAY="3", **at(provider)
        )
        assert len(provider.asked) == 3
    assert done["reflection"]["reason"] == "day_cap"


def test_a_dry_run_counts_its_call_and_writes_nothing_else(remote: Harbor) -> None:
    wake = remote.wake("nova")
    head, status = remote.git("rev-parse", "HEAD"), remote.git("status", "--porcelain")
    with serving("given", text=addition()) as provider:
        words = ["wake-done", wake, "--run", "run-1", "--transcript", BUILD, "--dry-run"]
        told = remote.run(*words, code=0, **at(provider))
    assert LEARNED in told.out
    assert remote.git("rev-parse", "HEAD") == head
    assert remote.git("status", "--porcelain") == status
    counter = json.loads((remote.root / ".git/orgvault/calls.json").read_text("utf-8"))
    assert counter["made"] == 1


@pytest.mark.parametrize("given", ["-1", "many", "1.5"])
def test_a_cap_that_is_no_number_calls_no_model_and_loses_no_run(
    remote: Harbor, given: str
) -> None:
    with serving("given", text=addition()) as provider:
        told = remote.run(
            "wake-done", remote.wake("nova"), "--run", "run-1", "--transcript", BUILD, code=0,
            ORG_REFLECT_MAX_PER_DAY=given, **at(provider),
        )  # fmt: skip
        assert provider.asked == []
    assert f"ORG_REFLECT_MAX_PER_DAY is '{given}'" in told.err
    assert remote.rows("episodes", "nova")[-1]["run"] == "run-1"


def test_empty_settings_are_unset_ones(harbor: Harbor) -> None:
    done = harbor.finish(
        "nova", "run-1", "--transcript", BUILD, ORG_REFLECT_MAX_PER_DAY="", ORG_REFLECT_MODEL=""
    )
    assert done["reflection"]["result"] == "applied"


def test_a_bound_secret_reaches_no_byte_whatever_the_model_says(remote: Harbor) -> None:
    value = "kranichwaldXy"
    answer = addition(f"I use {value} whenever I deploy.", why=value, kind=value)
    with serving("given", text=answer) as provider:
        done = remote.finish(
            "nova", "run-1", "--transcript", BUILD, "--log", f"logs/{value}", "--model", value,
            "--session", value, "--client", value, CALENDAR_TOKEN=value, **at(provider),
        )  # fmt: skip
        assert all(value not in json.dumps(dict(one.body)) for one in provider.asked)
    assert done["reflection"]["operations"][0]["verdict"] != "accepted"
    everything = remote.git("log", "-4", "-p", "--format=%B")
    assert value not in everything
    assert value not in json.dumps(done)


def test_a_good_answer_waits_until_the_memory_can_be_read_again(remote: Harbor) -> None:
    claim = remote.claims("nova")[0]
    path = remote.root / ".agents/org/memory/nova/claims" / f"{claim['id']}.yaml"
    sound = path.read_text("utf-8")
    with serving("thoughtful", text=addition()) as provider:

        def spoil() -> None:
            while not provider.asked:
                threading.Event().wait(0.01)
            path.write_text("[broken", "utf-8")

        person = threading.Thread(target=spoil)
        person.start()
        done = remote.finish("nova", "run-1", "--transcript", BUILD, **at(provider))
        person.join()
        assert done["reflection"]["result"] == "repository_busy"
        assert any("the agent's next run makes up for it" in one for one in done["remarks"])
        path.write_text(sound, "utf-8")
        remote.finish("nova", "run-2", "--turns", "1", **at(provider))
        assert len(provider.asked) == 1
    assert [one["text"] for one in remote.claims("nova")].count(LEARNED) == 1
