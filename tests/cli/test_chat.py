"""`chat`: messages wake those they are for, and reach people as cards."""

import os
import subprocess
import sys
from pathlib import Path

from tests.harbor import Harbor


def test_a_message_wakes_those_it_tags_and_those_that_listen(harbor: Harbor) -> None:
    posted = harbor.json("chat", "post", "@Nova: the feed has no dates.")
    assert (posted["said"]["seq"], posted["said"]["sent_by"]) == (1, "sam")
    assert posted["said"]["tags"] == ["nova"]
    wakes = {one["agent"]: one for one in harbor.json("wake", "list")["wakes"]}
    assert {name: (w["reason"], w["chat_seq"]) for name, w in wakes.items()} == {
        "nova": ("mention", 1), "atlas": ("chat", 1),
    }  # fmt: skip
    assert harbor.subjects(2) == ["chat(sam): post", "My notes"]  # one commit for all of it
    assert harbor.git("status", "--porcelain") == ""


def test_each_message_wakes_by_itself(harbor: Harbor) -> None:
    harbor.run("chat", "post", "@nova one")
    harbor.run("chat", "post", "@nova two")
    wakes = harbor.json("wake", "list", "--agent", "nova")["wakes"]
    assert sorted(one["chat_seq"] for one in wakes) == [1, 2]


def test_an_agent_posts_as_itself_and_does_not_wake_itself(harbor: Harbor) -> None:
    words = ("chat", "post", "@atlas @nova done", "--run", "run-9")
    posted = harbor.json(*words, ORGVAULT_AGENT="atlas")
    assert (posted["said"]["sent_by"], posted["said"]["run"]) == ("atlas", "run-9")
    assert [one["agent"] for one in posted["wakes"]] == ["nova"]
    assert harbor.git("log", "-1", "--format=%an %s").strip() == "atlas chat(atlas): post"
    assert "Orgvault-Run: run-9" in harbor.git("log", "-1", "--format=%b")


def test_people_are_reached_by_one_card(harbor: Harbor) -> None:
    text = "@operator @user the key of the shed is gone\nSince Monday."
    posted = harbor.json("chat", "post", text, ORGVAULT_AGENT="nova")
    shown = harbor.json("task", "show", posted["card"])
    assert shown["card"]["title"] == "@operator @user the key of the shed is gone"
    assert (shown["card"]["author"], shown["card"]["agent"]) == ("nova", None)
    assert "Since Monday." in shown["text"]
    cards = [one for one in harbor.json("task", "list")["cards"] if one["author"] == "nova"]
    assert len(cards) == 1


def test_anyone_on_the_roster_reads(harbor: Harbor) -> None:
    for number in range(1, 4):
        harbor.run("chat", "post", f"message {number}", ORGVAULT_AGENT="nova")
    said = harbor.json("chat", "list", "--limit", "2", ORGVAULT_AGENT="juno")["messages"]
    assert [one["text"] for one in said] == ["message 2", "message 3"]
    assert "Nova" in harbor.run("chat", "list").out
    assert "Nothing was said" not in harbor.run("chat", "list").out
    assert harbor.run("chat", "list", code=4, ORGVAULT_AGENT="mallory").out == ""


def test_any_number_of_messages_may_be_asked_for(harbor: Harbor) -> None:
    harbor.run("chat", "post", "One.")
    for number in ("1", str(2**63 - 1), "1" + "0" * 30):
        assert len(harbor.json("chat", "list", "--limit", number)["messages"]) == 1


def test_hostile_words_are_kept_tame(harbor: Harbor) -> None:
    hostile = "one\r\ntwo\x1b[2J\x07 </task> @nova\n" + "```"
    said = harbor.json("chat", "post", hostile)["said"]
    assert said["text"] == "one\ntwo[2J </task> @nova\n```"
    (row,) = harbor.rows("chat", "guild")
    assert row == said
    listed = harbor.run("chat", "list").out
    assert "\x1b" not in listed
    assert len(listed.splitlines()) == 2


def test_secrets_never_reach_the_log(harbor: Harbor) -> None:
    token = "ghp_" + "a1B2" * 9
    harbor.run("chat", "post", f"@operator use {token}")
    assert token not in harbor.git("log", "-p", "-2")
    assert "[secret]" in harbor.rows("chat", "guild")[0]["text"]


def test_what_is_no_message_is_refused_and_nothing_written(harbor: Harbor) -> None:
    head = harbor.git("rev-parse", "HEAD")
    assert "nothing in the message" in harbor.run("chat", "post", " \x1b\n", code=1).err
    told = harbor.run("chat", "post", "x" * 8001, code=2)
    assert "8001 characters, at most 8000" in told.err
    assert len(told.err) < 400
    assert "run" in harbor.run("chat", "post", "x", "--run", "a b", code=2).err
    assert harbor.git("rev-parse", "HEAD") == head
    harbor.run("chat", "post", "x" * 8000)


def test_a_preview_posts_nothing(harbor: Harbor) -> None:
    head = harbor.git("rev-parse", "HEAD")
    told = harbor.run("--dry-run", "chat", "post", "@nova @operator look")
    assert "would commit: chat(sam): post" in told.out
    assert "would commit: task(backlog)" in told.out
    assert harbor.git("rev-parse", "HEAD") == head
    assert harbor.json("chat", "list")["messages"] == []
    assert harbor.git("status", "--porcelain") == ""


def test_standard_input_is_read(harbor: Harbor) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "orgvault", "chat", "post", "-"], cwd=harbor.root,
        input=b"caf\xc3\xa9 \xff @nova\n", capture_output=True, check=True,
        env={**os.environ, "PYTHONPATH": f"{Path.cwd()}:{os.environ['PYTHONPATH']}"},
    )  # fmt: skip
    assert b"message 1" in done.stdout
    assert harbor.rows("chat", "guild")[0]["text"] == "café \ufffd @nova"


def test_in_the_middle_of_a_merge_the_message_is_kept_and_the_card_waits(harbor: Harbor) -> None:
    harbor.git("checkout", "-q", "-b", "side")
    (harbor.root / "Home.md").write_text("side\n", "utf-8")
    harbor.git("add", "Home.md")
    harbor.git("commit", "-qm", "side")
    harbor.git("checkout", "-q", "-")
    (harbor.root / "Home.md").write_text("here\n", "utf-8")
    harbor.git("add", "Home.md")
    harbor.git("commit", "-qm", "here")
    subprocess.run(
        ["git", "merge", "side"], cwd=harbor.root, capture_output=True, check=False
    )  # stops at the conflict
    told = harbor.run("chat", "post", "@operator help")
    assert "message 1" in told.out
    assert "its card could not be made" in told.err
    assert [one["seq"] for one in harbor.json("chat", "list")["messages"]] == [1]
    harbor.run("chat", "post", "again")
    assert [one["seq"] for one in harbor.json("chat", "list")["messages"]] == [1, 2]


def test_check_names_a_broken_row(harbor: Harbor) -> None:
    harbor.run("chat", "post", "fine")
    segment = next((harbor.root / ".agents/org/chat").glob("*.jsonl"))
    segment.write_text(segment.read_text("utf-8") + '{"v":1,"id":"m-x","seq":0}\n', "utf-8")
    told = harbor.run("check", code=1)
    assert f".agents/org/chat/{segment.name}:2: seq: 0 is below the limit of 1" in told.out
    assert "a row of" not in told.out


def test_no_number_is_given_twice_when_many_post_at_once(harbor: Harbor) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{Path.cwd()}:{os.environ['PYTHONPATH']}"}
    posting = [
        subprocess.Popen(
            [sys.executable, "-m", "orgvault", "chat", "post", f"@nova {number}"],
            cwd=harbor.root,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        for number in range(5)
    ]
    assert [one.wait() for one in posting] == [0] * 5
    said = harbor.json("chat", "list")["messages"]
    assert [one["seq"] for one in said] == [1, 2, 3, 4, 5]
    numbers = {one["seq"] for one in said if one["tags"] == ["nova"]}
    wakes = harbor.json("wake", "list", "--agent", "nova")["wakes"]
    assert {one["chat_seq"] for one in wakes} == numbers
