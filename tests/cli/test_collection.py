"""`collection` and `record`: the owner shapes, granted agents fill, everybody else is refused."""

from pathlib import Path

import pytest

from tests.harbor import Harbor

ADD = (
    "collection", "add", "loans", "--purpose", "Who has which tool", "--column",
    "tool:text:required", "--column", "due:date", "--column", "state:choice:required",
    "--choices", "state=out, back", "--access", "nova=write", "--access", "atlas=read",
    "--queue", "state",
)  # fmt: skip
NOTES = (*ADD, "--store", "notes", "--folder", "Resources/Loans")
ITEM = ("record", "add", "reading-queue", "title=A", "suggested_by=sam", "state=asked")


@pytest.mark.parametrize("words", [ADD, NOTES])
def test_a_collection_is_shaped_and_filled(harbor: Harbor, words: tuple[str, ...]) -> None:
    made = harbor.json(*words)
    assert made["path"] == ".agents/org/collections/loans/collection.yaml"
    assert made["collection"]["columns"][2]["choices"] == ["out", "back"]
    added = harbor.json("record", "add", "loans", "tool= a: saw #1", "state=out", "due=2026-12-31",
                        ORGVAULT_AGENT="nova")  # fmt: skip
    folder = "Resources/Loans" if words == NOTES else ".agents/org/collections/loans/records"
    ending = "md" if words == NOTES else "yaml"
    assert added["path"] == f"{folder}/{added['record']['id']}.{ending}"
    assert (harbor.root / added["path"]).is_file()
    (found,) = harbor.json("record", "list", "loans", ORGVAULT_AGENT="atlas")["records"]
    assert found == added["record"]
    assert found["values"] == {"tool": " a: saw #1", "due": "2026-12-31", "state": "out"}
    record = added["record"]["id"]
    assert harbor.subjects(2) == [
        f"record(nova): add {record} to loans", "collection(loans): add",
    ]  # fmt: skip
    assert harbor.git("status", "--porcelain") == ""
    assert harbor.run("check").out.endswith(" 0 problems\n")
    shown = harbor.json("collection", "show", "loans")
    assert shown["records"] == 1
    assert "queue: state" in harbor.run("collection", "show", "loans").out


def test_who_may(harbor: Harbor) -> None:
    harbor.run(*ADD, code=4, ORGVAULT_OPERATOR="kim")
    harbor.run(*ADD, code=4, ORGVAULT_AGENT="atlas")
    harbor.run("collection", "check", code=4, ORGVAULT_AGENT="atlas")
    harbor.run(*ITEM, ORGVAULT_OPERATOR="kim")
    harbor.run(*ITEM, ORGVAULT_AGENT="juno")
    assert "may not write" in harbor.run(*ITEM, code=4, ORGVAULT_AGENT="atlas").err
    harbor.run("record", "list", "reading-queue", ORGVAULT_AGENT="atlas")
    names = [
        [one["name"] for one in harbor.json("collection", "list", **who)["collections"]]
        for who in ({"ORGVAULT_AGENT": "atlas"}, {"ORGVAULT_AGENT": "nova"}, {})
    ]
    assert names == [["reading-queue"], [], ["reading-queue"]]


def test_one_that_is_not_there_and_one_that_is_not_yours_are_the_same(harbor: Harbor) -> None:
    for verb in (("collection", "show"), ("record", "list")):
        yours = harbor.run(*verb, "reading-queue", code=4, ORGVAULT_AGENT="nova").err
        none = harbor.run(*verb, "reading-quest", code=4, ORGVAULT_AGENT="nova").err
        assert yours.replace("reading-queue", "X") == none.replace("reading-quest", "X")
    yours = harbor.run("record", "add", "reading-queue", "x=1", code=4, ORGVAULT_AGENT="nova").err
    none = harbor.run("record", "add", "reading-quest", "x=1", code=4, ORGVAULT_AGENT="nova").err
    assert yours.replace("reading-queue", "X") == none.replace("reading-quest", "X")
    told = harbor.run("record", "list", "../../x", code=1).err
    assert "no collection `../../x`: there are reading-queue" in told


def test_every_fault_of_a_shape_at_once(harbor: Harbor) -> None:
    head = harbor.git("rev-parse", "HEAD")
    told = harbor.run(
        "collection", "add", "loans", "--purpose", "x", "--column", "id:choice", "--column",
        "tool:text", "--column", "tool:date", "--access", "nva=read", "--store", "notes",
        "--folder", "Areas/Health", "--queue", "stat", code=2,
    ).err  # fmt: skip
    for what in (
        "every record has its own `id`", "has no choices", "a second column `tool`",
        "did you mean `nova`?", "it is protected", "no column `stat`",
    ):  # fmt: skip
        assert what in told
    assert harbor.git("rev-parse", "HEAD") == head


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        (("--column", "tool"), 2, "NAME:TYPE"),
        (("--column", "tool:text:must"), 2, "NAME:TYPE"),
        (("--column", "tool:txt"), 2, "not one of text"),
        (("--column", "tool:text", "--choices", "state"), 2, "COLUMN=one,two"),
        (("--column", "tool:text", "--choices", "state=a"), 2, "no column `state`"),
        (("--column", "tool:text", "--access", "nova"), 2, "AGENT=read"),
        (("--column", "tool:text", "--access", "nova=a", "--access", "nova=b"), 2, "twice"),
        (("--column", "tool:text", "--access", "nova=all"), 2, "not one of read, write"),
        (("--column", "tool:text", "--scope", "all"), 2, "not one of guild, organisation"),
        (("--column", "tool:text", "--store", "notes"), 2, "`folder` is missing"),
        (("--column", "tool:text", "--folder", "X"), 2, "only notes stand in a folder"),
        (("--column", "tool:text", "--store", "notes", "--folder", ".git/x"), 2, "dot-folder"),
        (("--column", "tool:text", "--store", "notes", "--folder", "X/Con"), 2, "device name"),
    ],
)
def test_bad_words_for_a_shape(
    harbor: Harbor, words: tuple[str, ...], code: int, what: str
) -> None:
    told = harbor.run("collection", "add", "loans", "--purpose", "x", *words, code=code)
    assert what in told.err
    assert not (harbor.root / ".agents/org/collections/loans").exists()


def test_names_that_are_none(harbor: Harbor) -> None:
    rest = ("--purpose", "x", "--column", "a:text")
    for name in ("../x", "Loans", "con", "x" * 33):
        assert "name" in harbor.run("collection", "add", name, *rest, code=2).err
    told = harbor.run("collection", "add", "reading-queue", *rest, code=1).err
    assert "is there already" in told


def test_a_folder_that_is_a_link_to_a_protected_place(harbor: Harbor, tmp_path: Path) -> None:
    (harbor.root / "Areas/Finance").mkdir(parents=True, exist_ok=True)
    (harbor.root / "Money").symlink_to(harbor.root / "Areas/Finance")
    (tmp_path / "out").mkdir()
    (harbor.root / "Out").symlink_to(tmp_path / "out")
    words = [one if one != "Resources/Loans" else "Money" for one in NOTES]
    assert "protected" in harbor.run(*words, code=2).err
    words = [one if one != "Resources/Loans" else "Out/side" for one in NOTES]
    assert "symbolic link" in harbor.run(*words, code=1).err


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("title",), "column=value"),
        (("=x",), "column=value"),
        (("title=a", "title=b"), "twice"),
        (("titel=a",), "did you mean `title`?"),
        (("pages=many",), "is not a whole number"),
        (("due=31.12.2026",), "is not a day like"),
        (("state=lsted",), "did you mean `listed`?"),
        (("title=a", "state="), "`state` is missing"),
        (("title=" + "x" * 8001,), "at most 8000"),
    ],
)
def test_bad_values_write_nothing(harbor: Harbor, words: tuple[str, ...], what: str) -> None:
    head = harbor.git("rev-parse", "HEAD")
    assert what in harbor.run("record", "add", "reading-queue", *words, code=2).err
    assert harbor.git("rev-parse", "HEAD") == head


def test_a_run_that_is_none_adds_no_lines_to_a_commit(harbor: Harbor) -> None:
    head = harbor.git("rev-parse", "HEAD")
    words = ("record", "add", "reading-queue", "title=a", "suggested_by=b", "state=asked")
    told = harbor.run(*words, "--run", "r1\nOrgvault-Actor: kim", code=2)
    assert "is no run id" in told.err
    assert harbor.git("rev-parse", "HEAD") == head
    harbor.run(*words, ORGVAULT_RUN="r1")
    assert "Orgvault-Run: r1\nOrgvault-Actor: sam\n" in harbor.git("log", "-1", "--format=%B")


def test_a_protected_folder_is_said_once(harbor: Harbor) -> None:
    words = ("--purpose", "x", "--column", "a:text", "--store", "notes", "--folder")
    told = harbor.run("collection", "add", "loans", *words, "Areas/Finance", code=2)
    assert told.err.count("it is protected") == 1


def test_records_are_found(harbor: Harbor) -> None:
    def ids(*words: str) -> list[str]:
        told = harbor.json("record", "list", "reading-queue", *words)
        return [str(one["id"]) for one in told["records"]]

    first, second = "r-3n8w5c2k", "r-q7d1m6xs"
    assert ids() == [first, second]
    assert ids("--order=-created") == [second, first]
    assert ids("--order", "pages") == [second, first]
    assert ids("--where", "state=asked") == [second]
    assert ids("--where", "pages=212", "--where", "suggested_by=sam") == [first]
    assert ids("--since", "2026-11-25") == [first]
    assert ids("--limit", "1") == [first]
    for words, what in (
        (("--where", "stat=x"), "did you mean `state`?"),
        (("--where", "state=x"), "not one of asked"),
        (("--order", "page"), "did you mean `pages`?"),
        (("--since", "soon"), "2026-11-20"),
    ):
        assert what in harbor.run("record", "list", "reading-queue", *words, code=2).err


def test_secrets_are_masked_and_a_preview_writes_nothing(harbor: Harbor) -> None:
    token = "ghp_" + "a1B2" * 9
    told = harbor.run("--dry-run", *ITEM[:3], f"title={token}", *ITEM[4:])
    assert "would commit: record(reading-queue)" in told.out
    assert "[secret]" in told.out
    assert token not in told.out
    assert "would commit: collection(loans): add" in harbor.run("--dry-run", *ADD).out
    assert harbor.subjects() == ["My notes"]
    assert harbor.git("status", "--porcelain") == ""


def test_check_names_every_problem_with_its_line(harbor: Harbor) -> None:
    folder = harbor.root / ".agents/org/collections"
    records = folder / "reading-queue/records"
    good = (records / "r-3n8w5c2k.yaml").read_text("utf-8")
    (records / "r-3n8w5c2k 2.yaml").write_text(good, "utf-8")
    (records / "r-00000000.yaml").write_text(good, "utf-8")
    (records / "r-11111111.yaml").write_text(good.replace("212", "lots"), "utf-8")
    (records / "r-22222222.yaml").write_bytes(b"\xff")
    (records / "r-33333333.yaml").symlink_to(harbor.root / "Areas/Finance/x.md")
    (folder / "Bad Name").mkdir()
    (folder / "empty").mkdir()
    for told in (harbor.run("collection", "check", code=1).out, harbor.run("check", code=1).out):
        for what in (
            "r-3n8w5c2k 2.yaml: not the name of a record",
            "r-00000000.yaml: the file holds r-3n8w5c2k under another name",
            "r-11111111.yaml:8: pages: 'lots' is not a whole number",
            "r-22222222.yaml: the file is not UTF-8",
            "r-33333333.yaml: it is not read: is a symbolic link",
            "collections/Bad Name: not the name of a collection",
            "collections/empty: there is no collection.yaml in it",
        ):
            assert what in told
    listed = harbor.run("record", "list", "reading-queue")
    assert "Small Boats" in listed.out
    assert "r-11111111.yaml:8" in listed.err
    harbor.run("collection", "check", "nope", code=1)


def test_check_names_what_is_wrong_between_files(harbor: Harbor) -> None:
    harbor.run(*NOTES)
    harbor.run("collection", "add", "other", "--purpose", "x", "--column", "a:text", "--store",
               "notes", "--folder", "resources/loans")  # fmt: skip
    note = harbor.root / "Resources/Loans"
    note.mkdir(exist_ok=True)
    (note / "My own note.md").write_text("---\ntags: [x]\n---\nmine\n", "utf-8")
    (note / "r-3n8w5c2k copy.md").write_text("---\ncollection: loans\n---\n", "utf-8")
    shape = harbor.root / ".agents/org/collections/loans/collection.yaml"
    shape.write_text(shape.read_text("utf-8").replace("atlas: read", "atals: read"), "utf-8")
    told = harbor.run("collection", "check", code=1).out
    assert "did you mean `atlas`?" in told
    assert "the notes of loans stand there too" in told
    assert "r-3n8w5c2k copy.md: not the name of a record" in told
    assert "My own note" not in told


def test_state_shows_what_an_agent_reads(harbor: Harbor) -> None:
    shown = harbor.run("prompt", "preview", "juno", "--section", "state").out
    assert '"reading-queue"' in shown
    assert '"count-words"' in shown
    assert (
        '"reading-queue"' not in harbor.run("prompt", "preview", "nova", "--section", "state").out
    )
