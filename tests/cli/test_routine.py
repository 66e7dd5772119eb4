"""`routine`: standing instructions at the command line."""

from datetime import datetime

import pytest
import time_machine

from tests.harbor import Harbor

FILE = ".agents/org/routines/weekly-digest.yaml"


def test_a_routine_is_one_file_and_one_commit(harbor: Harbor) -> None:
    harbor.run("routine", "add", "nova", "nightly", "--window", "1-5 22:00-02:00", "Look at it.")
    text = (harbor.root / ".agents/org/routines/nightly.yaml").read_text("utf-8")
    assert text.startswith("version: 1\nid: nightly\nagent: nova\nwindow: ")
    assert harbor.subjects(1) == ["routine(nova): add nightly"]
    listed = harbor.json("routine", "list")["routines"]
    assert [one["routine"]["id"] for one in listed] == ["nightly", "weekly-digest"]
    assert all(one["next"].endswith("Z") for one in listed)
    assert "already" in harbor.run(
        "routine", "add", "nova", "nightly", "--cron", "0 0 * * *", "x", code=1
    ).err  # fmt: skip
    assert harbor.run("check").code == 0


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("n1", "--cron", "0 25 * * *", "x"), "`25` is no hour"),
        (("n1", "x"), "neither cron nor window"),
        (("N1", "--cron", "0 5 * * *", "x"), "an id is"),
        (("con", "--cron", "0 5 * * *", "x"), "device name"),
        (("n1", "--cron", "0 5 * * *", " "), "the instruction is empty"),
        (("n1", "--cron", "0 5 * * *", "x" * 4001), "4001 characters"),
    ],
)
def test_what_makes_no_routine_is_refused(harbor: Harbor, words: list[str], part: str) -> None:
    head = harbor.git("rev-parse", "HEAD")
    assert part in harbor.run("routine", "add", "nova", *words, code=2).err
    assert harbor.git("rev-parse", "HEAD") == head


def test_pause_and_resume_change_their_value_only(harbor: Harbor) -> None:
    text = (harbor.root / FILE).read_text("utf-8")
    harbor.run("routine", "pause", "weekly-digest")
    changed = text.replace("paused: false", "paused: true")
    assert (harbor.root / FILE).read_text("utf-8") == changed
    assert harbor.json("routine", "due")["due"] == []
    assert "paused already" in harbor.run("routine", "pause", "weekly-digest", code=1).err
    harbor.run("routine", "resume", "weekly-digest")
    resumed = (harbor.root / FILE).read_text("utf-8")
    assert resumed.startswith(text + 'resumed: "')
    assert harbor.json("routine", "due")["due"] == []  # what was missed is not made up
    assert "no routine `other`" in harbor.run("routine", "resume", "other", code=1).err


def due_at(harbor: Harbor, moment: str) -> list[str]:
    """The occurrences that are due at a moment."""
    with time_machine.travel(datetime.fromisoformat(moment), tick=False):
        return [one["occurrence"] for one in harbor.json("routine", "due")["due"]]


def woken_at(harbor: Harbor, moment: str) -> None:
    """Have the dispatcher wake what is due; nobody has a client, so nothing runs."""
    with time_machine.travel(datetime.fromisoformat(moment), tick=False):
        harbor.run("dispatch", "--once", "--agent", "juno")


def test_an_edited_routine_does_not_wake_for_what_lies_before_its_last_wake(
    harbor: Harbor,
) -> None:
    path = harbor.root / FILE
    text = path.read_text("utf-8")
    harbor.edit_org(r"    client:\n      command: \[codex[^\n]*\n", "")
    woken_at(harbor, "2026-11-27T08:00:00+00:00")  # a Friday
    assert due_at(harbor, "2026-11-30T12:00:00+00:00") == []
    path.write_text(text.replace("8 * * 5", "8 * * 3"), "utf-8")
    assert due_at(harbor, "2026-11-30T12:00:00+00:00") == []  # not the Wednesday before
    assert due_at(harbor, "2026-12-02T12:00:00+00:00") == ["2026-12-02T07:45:00Z"]


def test_a_clock_that_went_ahead_keeps_no_routine_from_waking(harbor: Harbor) -> None:
    harbor.edit_org(r"    client:\n      command: \[codex[^\n]*\n", "")
    woken_at(harbor, "2031-01-03T12:00:00+00:00")
    assert due_at(harbor, "2026-11-27T12:00:00+00:00") == ["2026-11-27T07:45:00Z"]
    woken_at(harbor, "2026-11-27T12:00:00+00:00")
    assert due_at(harbor, "2026-11-27T12:00:00+00:00") == []


@pytest.mark.parametrize("when", ['cron: "45 8 * * 5"', 'window: "* 00:00-23:59"'])
def test_a_routine_of_the_future_waits_for_it(harbor: Harbor, when: str) -> None:
    path = harbor.root / FILE
    text = path.read_text("utf-8").replace("2026-09-04", "2030-01-01")
    path.write_text(text.replace('cron: "45 8 * * 5"', when), "utf-8")
    assert due_at(harbor, "2026-11-27T12:00:00+00:00") == []
    with time_machine.travel(datetime.fromisoformat("2026-11-27T12:00:00+00:00"), tick=False):
        (listed,) = harbor.json("routine", "list")["routines"]
    assert listed["next"] >= "2030-01-01"
    assert len(due_at(harbor, "2030-01-04T12:00:00+00:00")) == 1


def test_a_link_is_no_routine(harbor: Harbor) -> None:
    secret = harbor.root / "Areas/Finance/plan.yaml"
    secret.write_text("the plan itself\n", "utf-8")
    (harbor.root / ".agents/org/routines/plan.yaml").symlink_to(secret)
    told = [
        harbor.run("check", code=1), harbor.run("routine", "list"), harbor.run("routine", "due"),
        harbor.run("routine", "pause", "plan", code=1),
        harbor.run("routine", "add", "nova", "plan", "--cron", "0 5 * * *", "x", code=None),
    ]  # fmt: skip
    assert all("the plan itself" not in one.out + one.err for one in told)
    assert "plan.yaml: it is not read: is a symbolic link" in told[0].out
    assert told[4].code
    assert secret.read_text("utf-8") == "the plan itself\n"


def test_an_agent_sees_its_own(harbor: Harbor) -> None:
    assert harbor.json("routine", "list", ORGVAULT_AGENT="nova")["routines"] == []
    assert len(harbor.json("routine", "list", ORGVAULT_AGENT="juno")["routines"]) == 1
    assert len(harbor.json("routine", "list", ORGVAULT_OPERATOR="kim")["routines"]) == 1
    harbor.run("routine", "list", "juno", code=4, ORGVAULT_AGENT="nova")
    harbor.run("routine", "add", "nova", "x1", "--cron", "0 5 * * *", "x", code=4,
               ORGVAULT_AGENT="nova")  # fmt: skip


def test_check_names_what_is_wrong(harbor: Harbor) -> None:
    folder = harbor.root / ".agents/org/routines"
    text = (harbor.root / FILE).read_text("utf-8")
    (folder / "weekly-digest (copy).yaml").write_text(text, "utf-8")
    (folder / "other.yaml").write_text(text, "utf-8")
    (folder / "nobody.yaml").write_text(
        text.replace("id: weekly-digest", "id: nobody").replace("juno", "ghost", 1), "utf-8"
    )
    (folder / "bad.yaml").write_text(text.replace("8 * * 5", "8 * * 9"), "utf-8")
    out = harbor.run("check", code=1)
    said = out.out + out.err
    for part in ("bad.yaml:5", "`9` is no weekday", "other.yaml: the file holds the routine",
                 "`ghost`, who is not on the roster", "not the name of a routine"):  # fmt: skip
        assert part in said, part
