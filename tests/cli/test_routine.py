"""`routine`: standing instructions at the command line."""

import pytest

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
