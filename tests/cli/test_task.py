"""`task`: cards and what is sent back."""

import pytest

from tests.harbor import Harbor


@pytest.fixture
def finished(harbor: Harbor) -> str:
    """A card that nova has finished; its id."""
    card = harbor.run("task", "add", "Mend the feed", "--agent", "nova", "--body", "Soon.\n")
    name = card.out.strip()
    wake = harbor.wake("nova", card=name)
    harbor.run("wake-done", wake, "--run", "run-1", "--turns", "1", "--outcome", "done")
    return name


def test_a_card_is_a_note_in_the_visible_folder(harbor: Harbor) -> None:
    card = harbor.run("task", "add", "Mend: the [[feed]]", "--agent", "nova").out.strip()
    text = (harbor.root / "Org/Backlog" / f"{card}.md").read_text("utf-8")
    assert text.startswith(f"---\nversion: 1\nid: {card}\nkind: task\nstatus: open\n")
    shown = harbor.json("task", "show", card)
    assert shown["card"]["title"] == "Mend: the [[feed]]"
    assert shown["card"]["author"] == "sam"
    assert card in harbor.run("task", "list").out


def test_redo_marks_the_latest_finished_episode_opens_the_card_and_wakes(
    harbor: Harbor, finished: str
) -> None:
    harbor.run("task", "done", finished)
    sent = harbor.json("task", "redo", finished, "No dates.", ORGVAULT_OPERATOR="kim")
    assert (sent["correction"]["run"], sent["correction"]["actor"]) == ("run-1", "kim")
    assert sent["card"]["status"] == "open"
    episodes = harbor.json("memory", "episodes", "nova")["episodes"]
    assert [e["corrected"] for e in episodes if e["episode"]["run"] == "run-1"] == [True]
    (wake,) = harbor.json("wake", "list")["wakes"]
    assert (wake["id"], wake["card"], wake["note"]) == (sent["wake"], finished, "No dates.")
    assert harbor.subjects(1) == [f"task(nova): redo {finished}"]
    assert harbor.git("log", "-1", "--format=%an").strip() == "kim"


def test_a_card_that_nobody_finished_cannot_be_sent_back(harbor: Harbor) -> None:
    card = harbor.run("task", "add", "Later").out.strip()
    head = harbor.git("rev-parse", "HEAD")
    assert "not finished" in harbor.run("task", "redo", card, "why", code=1).err
    assert harbor.git("rev-parse", "HEAD") == head


def test_the_owners_edit_in_obsidian_is_read_and_kept(harbor: Harbor, finished: str) -> None:
    path = harbor.root / "Org/Backlog" / f"{finished}.md"
    text = path.read_text("utf-8").replace("status: open", "status: doing")
    text = text.replace("---\nversion", "---\ntags: [site]\nversion", 1)
    path.write_bytes(text.replace("\n", "\r\n").encode())
    assert harbor.json("task", "show", finished)["card"]["status"] == "doing"
    harbor.run("task", "done", finished)
    assert path.read_bytes() == text.replace("doing", "done").replace("\n", "\r\n").encode()


def test_marking_twice_is_said(harbor: Harbor, finished: str) -> None:
    harbor.run("task", "close", finished)
    assert "already closed" in harbor.run("task", "close", finished, code=1).err
    assert finished not in harbor.run("task", "list").out
    assert finished in harbor.run("task", "list", "--all").out


def test_a_broken_note_is_named_and_hides_no_other(harbor: Harbor, finished: str) -> None:
    (harbor.root / "Org/Backlog/t-00000000.md").write_text("---\nid: x\n---\n", "utf-8")
    told = harbor.run("task", "list")
    assert finished in told.out
    assert "Org/Backlog/t-00000000.md" in told.err
    assert "no card `t-11111111`" in harbor.run("task", "show", "t-11111111", code=1).err


def test_a_wake_names_a_card_that_is_there(harbor: Harbor) -> None:
    head = harbor.git("rev-parse", "HEAD")
    words = ["wake", "add", "nova", "--reason", "task", "--card"]
    assert "no card `t-11111111`" in harbor.run(*words, "t-11111111", code=1).err
    harbor.run(*words, "../../secret", code=2)
    assert harbor.git("rev-parse", "HEAD") == head
    (harbor.root / "Org/Backlog/t-00000000.md").write_text("---\nid: [", "utf-8")  # being edited
    assert harbor.run(*words, "t-00000000").out.startswith("w-")


def test_in_the_middle_of_a_merge_a_wakes_card_is_taken_as_given(harbor: Harbor) -> None:
    (harbor.root / ".git/MERGE_HEAD").write_text(harbor.git("rev-parse", "HEAD"))
    told = harbor.run("wake", "add", "nova", "--reason", "task", "--card", "t-11111111")
    assert "to be committed later" in told.err


def test_a_card_without_a_title_is_refused(harbor: Harbor) -> None:
    told = harbor.run("task", "add", "  ", code=2)
    assert "title" in told.err
    assert harbor.git("status", "--porcelain") == ""
