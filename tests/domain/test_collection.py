"""Collections: their rules with lines, and records as files and notes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgvault.domain.access import Actor, may_use
from orgvault.domain.collection import Collection, Column, Record, Scalar, listed
from orgvault.domain.collection_file import (
    read_collection,
    read_note,
    read_record,
    write_collection,
    write_note,
    write_record,
)
from orgvault.domain.collection_query import Query, matching
from orgvault.domain.collection_values import faults, parsed
from orgvault.domain.harmless import Harmless
from orgvault.domain.roster import Agent, Roster
from orgvault.domain.snapshot import Snapshot, state_section

FILE = "collection.yaml"
AT = "2026-11-20T09:14:03Z"
SHAPE = Collection(
    name="loans",
    purpose="Who has which tool: #1",
    access={"nova": "write", "atlas": "read"},
    columns=(
        Column(name="tool", type="text", required=True, description="Its name"),
        Column(name="count", type="integer"),
        Column(name="price", type="number"),
        Column(name="back", type="boolean"),
        Column(name="due", type="date"),
        Column(name="state", type="choice", choices=("out", "no", "left, over")),
        Column(name="page", type="link"),
        Column(name="on", type="text"),
    ),
    queue="state",
)
HEAD = "version: 1\nname: loans\npurpose: p\n"
GOOD = f"""{HEAD}columns:
  - {{name: tool, type: text}}
  - {{name: state, type: choice, choices: [a, b]}}
"""


def test_a_written_collection_reads_back() -> None:
    assert read_collection(write_collection(SHAPE), FILE, "Org") == (SHAPE, ())
    assert read_collection(GOOD, FILE, "Org")[1] == ()


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (GOOD + "queue: tool\n", 7, "no choice but text"),
        (GOOD + "queue: stat\n", 7, "no column `stat`"),
        (GOOD + "  - {name: tool, type: date}\n", 7, "a second column `tool`"),
        (GOOD + "  - {name: id, type: text}\n", 7, "every record has its own `id`"),
        (GOOD + "  - {name: x, type: text, choices: [a]}\n", 7, "choices of a column of type text"),
        (GOOD + "  - {name: x, type: choice}\n", 7, "has no choices"),
        (GOOD + "  - {name: x, type: choice, choices: [a, a]}\n", 7, "the same choice twice"),
        (GOOD + "  - {name: x, type: chioce}\n", 7, "`chioce` is not one of"),
        (GOOD + "  - {name: X Y, type: text}\n", 7, "does not match"),
        (GOOD + "folder: Resources\n", 7, "only notes stand in a folder"),
        (GOOD + "store: notes\n", 0, "the key `folder` is missing"),
        (GOOD + "store: notes\nfolder: .agents/x\n", 8, "no dot-folder"),
        (GOOD + "store: notes\nfolder: Areas/Finance\n", 8, "protected"),
        (GOOD + "store: notes\nfolder: Org/Backlog\n", 8, "own pages"),
        (GOOD + "store: notes\nfolder: ../out\n", 8, "path inside the vault"),
        (GOOD + "access: {nova: admin}\n", 7, "`admin` is not one of read, write"),
        (GOOD + "acess: {}\n", 7, "unknown key `acess`"),
        (GOOD.replace("version: 1", "version: 2"), 1, "format version 2"),
        (HEAD + "columns: []\n", 4, "at least one column"),
        ("", 0, "the file is empty"),
        ("[1]\n", 1, "expected a mapping"),
    ],
)  # fmt: skip
def test_every_fault_has_its_line(text: str, line: int, what: str) -> None:
    shape, problems = read_collection(text, FILE, "Org")
    assert shape is None
    assert [one for one in problems if what in f"{one.what}, {one.do}"], problems
    (found,) = [one for one in problems if what in f"{one.what}, {one.do}"]
    assert found.file == FILE
    assert line in {found.line, 0}


def test_a_grant_to_a_stranger_is_told_and_keeps_nobody_out() -> None:
    shape, problems = read_collection(GOOD + "access: {nva: read}\n", FILE, "Org", {"nova"})
    assert shape is not None
    (problem,) = problems
    assert (problem.line, problem.do) == (7, "did you mean `nova`?")


VALUES: dict[str, Scalar] = {
    "tool": 'a "saw": [x]\nand more #',
    "count": -3,
    "price": 1.5,
    "back": False,
    "due": "2026-12-31",
    "state": "no",
    "page": "[[Tools#Saw|the saw]]",
    "on": "yes",
}
RECORD = Record(collection="loans", id="r-3n8w5c2k", created=AT, updated=AT, values=VALUES)


def test_a_record_reads_back_from_a_file_and_from_a_note() -> None:
    assert read_record(write_record(RECORD, SHAPE), "r", SHAPE) == (RECORD, ())
    note = write_note(RECORD, SHAPE, "Words of mine.\n")
    assert read_note(note, "r", SHAPE) == (RECORD, ())
    assert "\ndue: 2026-12-31\n" in note  # as Obsidian writes days
    assert note.endswith("---\nWords of mine.\n")
    crlf = note.replace("\n", "\r\n")
    assert read_note(crlf, "r", SHAPE) == (RECORD, ())


@settings(deadline=None)
@given(
    st.fixed_dictionaries(
        {"tool": st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)},
        optional={
            "count": st.integers(-(2**53), 2**53),
            "price": st.floats(allow_nan=False, allow_infinity=False),
            "back": st.booleans(),
            "due": st.dates().map(str),
            "state": st.sampled_from(["out", "no", "left, over"]),
            "on": st.text(st.characters(codec="utf-8")),
        },
    )
)
def test_whatever_fits_is_read_back_as_it_was(values: dict[str, Scalar]) -> None:
    if faults(SHAPE, values):  # a number that is longer than some readers take
        assert "price" in values
        values.pop("price")
    record = Record(collection="loans", id="r-3n8w5c2k", created=AT, updated=AT, values=values)
    for write, read in ((write_record, read_record), (write_note, read_note)):
        back, problems = read(write(record, SHAPE), "r", SHAPE)
        assert problems == ()
        assert back is not None
        assert dict(back.values) == values


@pytest.mark.parametrize(
    ("column", "value", "what"),
    [
        ("count", 1.0, "is not a whole number"),
        ("count", True, "true is not a whole number"),
        ("count", 2**60, "is not a whole number"),
        ("price", float("nan"), "is not a number"),
        ("price", "1", "is not a number"),
        ("back", "yes", "is not true or false"),
        ("due", "2026-02-30", "is not a day"),
        ("due", "0000-01-01", "is not a day"),
        ("due", "31.12.2026", "is not a day"),
        ("state", "ut", "is not one of"),
        ("page", "Tools", "is not a link"),
        ("tool", 3, "is not a text"),
        ("tool", "  ", "empty and required"),
        ("tool", "x" * 8001, "at most 8000"),
        ("tool", ["x"], "a list is not a text"),
        ("tol", "x", "no column `tol`"),
    ],
)
def test_what_does_not_fit_is_said(column: str, value: object, what: str) -> None:
    (fault,) = faults(SHAPE, {"tool": "x", column: value})
    assert what in fault.what
    assert fault.do


def test_what_is_required_is_missed() -> None:
    (fault,) = faults(SHAPE, {})
    assert "`tool` is missing" in fault.what


@pytest.mark.parametrize(
    ("column", "word", "value"),
    [
        ("count", " -3 ", -3),
        ("count", "3.0", "3.0"),
        ("count", "٣", "٣"),
        ("count", "9" * 40, "9" * 40),
        ("price", "1.5", 1.5),
        ("price", "nan", "nan"),
        ("price", "1e999", float("inf")),  # which then does not fit
        ("back", "TRUE", True),
        ("back", "1", "1"),
        ("due", " 2026-12-31", "2026-12-31"),
        ("tool", " a ", " a "),
    ],
)
def test_words_are_read_by_their_column(
    column: str,
    word: str,
    value: str | float | bool,  # noqa: FBT001
) -> None:
    shape = SHAPE.column(column)
    assert shape is not None
    read = parsed(shape, word)
    assert (read, type(read)) == (value, type(value))


def test_a_note_of_a_persons_keys_and_slips() -> None:
    note = write_note(RECORD, SHAPE)
    mine = note.replace("\ndue:", "\ntags: [a, b]\ncssclasses:\nread: yes\nseen: 2026-01-01\ndue:")
    assert read_note(mine, "r", SHAPE) == (RECORD, ())
    slip = note.replace("\nprice:", "\nprize:")
    record, (problem,) = read_note(slip, "r", SHAPE)
    assert record is None
    assert (problem.line, problem.do) == (9, "did you mean `price`?")
    other, (problem,) = read_note(note.replace("loans", "lent"), "r", SHAPE)
    assert other is None
    assert (problem.line, problem.do) == (3, "write `collection: loans`")
    assert "no frontmatter" in read_note("hello", "r", SHAPE)[1][0].what


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("count: -3", "count: three", 7, "count: 'three' is not a whole number"),
        ("back: false", "back: no", 9, "values.back: `no` unquoted is true or false"),
        ("tool:", "tol:", 6, "loans has no column `tol`"),
        ("id: r-3n8w5c2k", "id: r-3", 2, "id: 'r-3' does not match"),
        (f'updated: "{AT}"', "updated: soon", 4, "updated: 'soon' is not a point in time"),
        ("values:", "valus:", 1, "the key `values` is missing"),
        ("version: 1", "version: 9", 1, "format version 9"),
        ("version: 1", "colour: red", 1, "unknown key `colour`"),
    ],
)
def test_what_is_wrong_in_a_record_has_its_line(old: str, new: str, line: int, what: str) -> None:
    text = write_record(RECORD, SHAPE)
    assert old in text
    record, problems = read_record(text.replace(old, new, 1), "r", SHAPE)
    assert record is None
    assert [one for one in problems if one.line == line and what in one.what], problems


def test_an_unquoted_day_is_a_day_and_a_value_that_is_no_day_is_not() -> None:
    text = write_record(RECORD, SHAPE).replace('"2026-12-31"', "2026-12-31")
    assert read_record(text, "r", SHAPE) == (RECORD, ())
    wrong = text.replace("2026-12-31", "2026-2-30")
    _, problems = read_record(wrong, "r", SHAPE)
    assert [one.what for one in problems] == ["due: '2026-2-30' is not a day like 2026-12-31"]


def test_who_may_use_the_records() -> None:
    may = {
        (name, verb): may_use(Actor(kind, name), verb, SHAPE.access)
        for kind, name in (("owner", "sam"), ("operator", "kim"), ("agent", "nova"),
                           ("agent", "atlas"), ("agent", "juno"))
        for verb in ("read", "write")
    }  # fmt: skip
    assert [key for key, allowed in may.items() if not allowed] == [
        ("atlas", "write"), ("juno", "read"), ("juno", "write"),
    ]  # fmt: skip


def _guild(*protected: str) -> Roster:
    return Roster(guild="H", owner="sam", operators=(), agents={}, protected=protected)


def test_state_lists_what_the_agent_can_read() -> None:
    nova, juno = Agent(id="nova", name="Nova"), Agent(id="juno", name="Juno")
    (shown,) = listed([SHAPE], nova, _guild())
    assert list(shown) == ["name", "purpose", "access", "scope", "display_path", "columns"]
    assert (shown["access"], shown["display_path"]) == ("write", "guild/loans")
    assert shown["columns"][0] == {
        "name": "tool", "type": "text", "required": True, "description": "Its name",
    }  # fmt: skip
    assert shown["columns"][5]["queue"] is True
    assert listed([SHAPE], juno, _guild()) == ()


def test_state_lists_fifty_and_then_says_so() -> None:
    nova = Agent(id="nova", name="Nova")
    for count, shown in ((50, 50), (51, 51), (60, 51)):
        snapshot = Snapshot(
            utc_now="2026-11-20T09:14:03Z", max_tool_calls=1,
            collections=listed([SHAPE] * count, nova, _guild()),
        )  # fmt: skip
        text = state_section(snapshot, (), Harmless(str))
        found = json.loads(text.partition("State:\n")[2])["collections"]
        assert len(found) == shown
        assert (found[-1] == {"truncated": True}) is (count > 50)


def test_notes_in_a_protected_folder_are_not_listed() -> None:
    text = GOOD + "store: notes\nfolder: Areas/Health\naccess: {nova: read}\n"
    shape, _ = read_collection(text, FILE, "Org")
    assert shape is not None
    nova = Agent(id="nova", name="Nova")
    assert listed([shape], nova, _guild())[0]["display_path"] == "Areas/Health"
    assert listed([shape], nova, _guild("Areas/Health/")) == ()


def test_a_query_filters_orders_and_cuts() -> None:
    def record(key: str, day: str, **values: str | float) -> Record:
        return Record(
            collection="loans", id=f"r-{key}", created=AT, updated=day,
            values={"tool": key, **values},
        )  # fmt: skip

    every = [
        record("a", "2026-11-01T00:00:00Z", count=10),
        record("b", "2026-11-02T00:00:00Z", count=9),
        record("c", "2026-11-03T00:00:00Z"),
    ]

    def ids(query: Query) -> str:
        return "".join(one.id[-1] for one in matching(every, query))

    assert ids(Query(where={})) == "abc"
    assert ids(Query(where={}, order="count")) == "bac"
    assert ids(Query(where={}, order="count", descending=True)) == "abc"
    assert ids(Query(where={}, order="updated", descending=True, limit=2)) == "cb"
    assert ids(Query(where={"count": 9})) == "b"
    assert ids(Query(where={"id": "r-c"})) == "c"
    assert ids(Query(where={}, since="2026-11-02T00:00:00Z")) == "bc"


def test_of_several_grants_only_the_strangers_are_told() -> None:
    shape, problems = read_collection(
        GOOD + "access: {nova: write, nobody: read}\n", FILE, "Org", {"nova", "atlas"}
    )
    assert shape is not None
    assert [(one.what, one.do) for one in problems] == [
        ("access.nobody: no agent `nobody` on the roster", "agents are atlas, nova")
    ]


def test_a_name_that_names_a_device_is_refused() -> None:
    shape, problems = read_collection(GOOD.replace("name: loans", "name: con"), FILE, "Org")
    assert shape is None
    assert [(one.line, one.do) for one in problems] == [(2, "rename it")]
    assert "`con` is a device name" in problems[0].what


def test_a_note_of_a_newer_format_is_refused_by_name() -> None:
    note = write_note(RECORD, SHAPE, "").replace("version: 1", "version: 2")
    record, problems = read_note(note, "r", SHAPE)
    assert record is None
    assert [(one.line, "format version 2" in one.what) for one in problems] == [(2, True)]


def test_a_folder_that_names_a_device_is_refused() -> None:
    shape, problems = read_collection(f"{GOOD}store: notes\nfolder: Lists/Con\n", FILE, "Org")
    assert shape is None
    assert ["`Con` is a device name" in one.what for one in problems] == [True]
