"""`memory` and its verbs."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.harbor import BUILD, FRICTION, LINKS, Harbor

WORDS = "I install the dependencies before I build the site."


@pytest.fixture
def learned(harbor: Harbor) -> Harbor:
    """A harbor in which nova has learned something in two runs."""
    harbor.finish("nova", "run-1", "--transcript", BUILD)
    harbor.finish("nova", "run-2", "--transcript", LINKS)
    return harbor


def test_the_list_shows_the_most_seen_first_and_closed_ones_only_with_all(
    learned: Harbor,
) -> None:
    seen = [claim["times_seen"] for claim in learned.claims("nova")]
    assert seen == sorted(seen, reverse=True)
    everything = learned.json("memory", "nova", "--all")["claims"]
    closed = [claim for claim in everything if claim["closed_at"]]
    assert len(closed) == 2
    assert everything[: len(seen)] == learned.claims("nova")
    text = learned.run("memory", "nova", "--all").out
    assert "[closed: The runner now stops after two tries.]" in text


def test_an_edit_supersedes_and_inherits(learned: Harbor) -> None:
    old = learned.claim("nova", FRICTION)
    answer = learned.json("memory", "edit", old["id"], f"  {WORDS} ")
    new = learned.claim("nova", WORDS)
    assert answer["new"]["id"] == new["id"]
    for key in ("kind", "evidence", "times_seen", "first_seen", "proposal", "proposed_evidence"):
        assert new[key] == old[key]
    assert (new["written_by"], new["supersedes"]) == ("sam", old["id"])
    (gone,) = [c for c in learned.json("memory", "nova", "--all")["claims"] if c["id"] == old["id"]]
    assert (gone["superseded_by"], gone["closed_by"]) == (new["id"], "sam")
    assert WORDS in learned.core("nova")
    assert FRICTION not in learned.core("nova")
    assert learned.subjects(1) == [f"memory(nova): edit {old['id']}"]
    moved = learned.git("show", "--stat=200", "--format=", "HEAD")
    assert moved.count("|") == 3  # the new claim, the moved one, core.md


def test_yaml_06_a_retired_file_only_gains_the_closing_lines(learned: Harbor) -> None:
    claim = learned.claim("nova", FRICTION)
    folder = learned.root / ".agents/org/memory/nova"
    path = folder / "claims" / f"{claim['id']}.yaml"
    by_hand = path.read_text("utf-8").replace("kind: friction", "kind: friction # mine")
    path.write_text(by_hand, "utf-8")
    learned.run("memory", "retire", claim["id"], "The build does it by itself.")
    closed = (folder / "closed" / path.name).read_text("utf-8")
    assert closed.startswith(by_hand)
    gained = [line.partition(":")[0] for line in closed.removeprefix(by_hand).splitlines()]
    assert gained == ["closed_at", "closed_by", "reason"]
    assert not path.exists()
    assert FRICTION not in learned.core("nova")


def test_ids_may_be_shortened_to_what_is_unique(learned: Harbor) -> None:
    claim = learned.claim("nova", FRICTION)
    short = claim["id"][2:6]
    assert learned.json("memory", "retire", short, "x")["id"] == claim["id"]
    for nothing in ("", "c-"):  # an empty variable is no unique beginning
        assert "no claim" in learned.run("memory", "retire", nothing, "x", code=1).err
    assert "no claim `zzzz`" in learned.run("memory", "retire", "zzzz", "x", code=1).err


def test_a_closed_claim_stays_as_it_is(learned: Harbor) -> None:
    claim = learned.claim("nova", FRICTION)
    learned.run("memory", "edit", claim["id"], WORDS)
    new = learned.claim("nova", WORDS)["id"]
    told = learned.run("memory", "edit", claim["id"], "Something else entirely.", code=1)
    assert new in told.err


def test_r17_what_was_retired_is_not_learned_again(learned: Harbor) -> None:
    claim = learned.claim("nova", FRICTION)
    learned.run("memory", "retire", claim["id"], "not worth keeping")
    done = learned.finish("nova", "run-3", "--transcript", BUILD)
    assert [c for c in learned.claims("nova") if FRICTION in c["text"]] == []
    assert done["reflection"]["operations"][0]["verdict"] == "equal to a retired claim"


def test_a_claim_in_the_owners_words_is_not_learned_beside_it(learned: Harbor) -> None:
    claim = learned.claim("nova", FRICTION)
    learned.run("memory", "edit", claim["id"], WORDS)
    before = learned.claims("nova")
    learned.finish("nova", "run-3", "--transcript", BUILD)
    after = learned.claims("nova")
    assert sorted(c["text"] for c in after) == sorted(c["text"] for c in before)
    # What the owner put into better words has happened again: it is seen once more.
    assert learned.claim("nova", WORDS)["evidence"] == ["run-1", "run-2", "run-3"]


def test_jsonl_11_parallel_edits_of_one_claim_give_one_successor(learned: Harbor) -> None:
    claim = learned.claim("nova", FRICTION)["id"]

    def edit(number: int) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "orgvault", "memory", "edit", claim, f"I say it {number}."]
        return subprocess.run(
            command, cwd=learned.root, capture_output=True, text=True, check=False
        )

    with ThreadPoolExecutor(6) as pool:
        ended = list(pool.map(edit, range(12)))
    won = [one for one in ended if one.returncode == 0]
    assert len(won) == 1
    assert all("superseded by" in one.stderr for one in ended if one.returncode)
    assert len([c for c in learned.claims("nova") if c["text"].startswith("I say it")]) == 1
    learned.run("check")


def test_jsonl_11_parallel_edits_of_many_claims_all_stand(learned: Harbor) -> None:
    claims = [one["id"] for one in learned.claims("nova")]

    def edit(claim: str) -> int:
        command = [sys.executable, "-m", "orgvault", "memory", "edit", claim, f"I mean {claim}."]
        return subprocess.run(command, cwd=learned.root, check=False).returncode

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(edit, claims)) == {0}
    assert {c["text"] for c in learned.claims("nova")} == {f"I mean {one}." for one in claims}
    learned.run("memory", "render", "nova", "--check")


def test_why_leads_from_a_line_of_core_to_everything_behind_it(learned: Harbor) -> None:
    claim = learned.claim("nova", FRICTION)
    learned.run("memory", "edit", claim["id"], WORDS)
    (line,) = [line for line in learned.core("nova").splitlines() if WORDS in line]
    trace = learned.json("memory", "why", line)
    assert trace["claim"]["text"] == WORDS
    assert [one["id"] for one in trace["lineage"]] == [claim["id"]]
    assert [one["run"] for one in trace["sightings"]] == ["run-1", "run-2"]
    assert all("ModuleNotFoundError" in one["quote"] for one in trace["sightings"])
    # Learned, repeated, proposed, edited.
    assert len(trace["commits"]) == 4
    text = learned.run("memory", "why", claim["id"]).out
    assert trace["commits"][0]["commit"] in text


def test_the_memory_as_it_was(learned: Harbor) -> None:
    now = learned.claims("nova")
    then = learned.json("memory", "nova", "--at", "HEAD~2")["claims"]
    assert [c["times_seen"] for c in then if FRICTION in c["text"]] == [1]
    assert learned.json("memory", "nova", "--at", "HEAD")["claims"] == now
    assert "no commit `nowhere`" in learned.run("memory", "nova", "--at", "nowhere", code=1).err
    for hostile in ("--output=x", "-x", ""):
        assert learned.run("memory", "nova", f"--at={hostile}", code=1).err


def test_a_hand_edit_is_honoured_and_marked(learned: Harbor) -> None:
    claim = learned.claim("nova", FRICTION)
    path = learned.root / f".agents/org/memory/nova/claims/{claim['id']}.yaml"
    text = path.read_text("utf-8")
    path.write_text(text.replace("I lose a turn", "I lose five minutes"), "utf-8")
    assert "hand" in learned.run("memory", "nova").out
    told = learned.run("memory", "render", "nova", "--check", code=1)
    assert "orgvault memory render nova" in told.err
    learned.run("memory", "render", "nova")
    assert "I lose five minutes" in learned.core("nova")
    learned.finish("nova", "run-3", "--transcript", BUILD)
    assert "I lose five minutes" in path.read_text("utf-8")


def test_jsonl_10_markers_in_a_claim_are_an_error_and_never_a_shorter_list(
    learned: Harbor,
) -> None:
    claim = learned.claim("nova", FRICTION)
    path = learned.root / f".agents/org/memory/nova/claims/{claim['id']}.yaml"
    path.write_text(f"<<<<<<< HEAD\n{path.read_text('utf-8')}=======\n>>>>>>> x\n", "utf-8")
    told = learned.run("memory", "nova", code=1)
    assert f"{claim['id']}.yaml" in told.err
    done = learned.finish("nova", "run-3", "--transcript", BUILD)
    assert done["episode"]["run"] == "run-3"
    assert done["reflection"]["result"] == "failed"
    assert claim["id"] in done["reflection"]["reason"]


def test_sync_02_a_conflict_copy_is_not_loaded_and_is_reported(learned: Harbor) -> None:
    claims = learned.claims("nova")
    folder = learned.root / ".agents/org/memory/nova/claims"
    copy = f"{claims[0]['id']}.sync-conflict-20260101-120000-ABCDEFG.yaml"
    (folder / copy).write_bytes((folder / f"{claims[0]['id']}.yaml").read_bytes())
    assert learned.claims("nova") == claims
    told = learned.run("check", code=1)
    assert copy in told.out


def test_mem_08_the_notebook_is_never_touched(learned: Harbor) -> None:
    notebook = Path(learned.root, ".agents/org/memory/nova.md")
    before = (notebook.read_bytes(), notebook.stat().st_mtime_ns)
    learned.run("memory", "render", "nova")
    learned.run("memory", "edit", learned.claims("nova")[0]["id"], WORDS)
    assert (notebook.read_bytes(), notebook.stat().st_mtime_ns) == before


def test_git_26_a_second_render_makes_no_commit(learned: Harbor) -> None:
    learned.git("config", "core.autocrlf", "true")
    learned.run("memory", "render", "nova")
    head = learned.git("rev-parse", "HEAD")
    learned.run("memory", "render", "nova")
    assert learned.git("rev-parse", "HEAD") == head
    assert learned.git("status", "--porcelain") == ""


def test_stats_give_the_two_numbers(learned: Harbor) -> None:
    work = learned.json("memory", "stats", "nova")["work"]
    done = [r for r in learned.rows("episodes", "nova") if r["outcome"] == "done"]
    sent_back = {r["episode"] for r in learned.rows("corrections", "nova")}
    episodes = learned.rows("episodes", "nova")
    corrected = sum(r["id"] in sent_back for r in episodes)
    assert work["corrections_per_completed_card"] == pytest.approx(corrected / len(done), abs=1e-6)
    spent = sum(r["cost_usd"] or 0 for r in episodes)
    assert work["cost_per_completed_card_usd"] == pytest.approx(spent / len(done), abs=1e-6)
    text = learned.run("memory", "stats", "nova").out
    assert "corrections per completed card" in text
    assert "cost per completed card" in text


def test_jsonl_07_without_completed_cards_the_numbers_are_not_available(harbor: Harbor) -> None:
    harbor.edit_org(r"(?m)^agents:\n", "agents:\n  empty: {focus: Nothing yet}\n")
    stats = harbor.json("memory", "stats", "empty")["work"]
    assert stats["corrections_per_completed_card"] is None
    assert stats["cost_per_completed_card_usd"] is None
    assert "n/a" in harbor.run("memory", "stats", "empty").out
