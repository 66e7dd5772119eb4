"""The logs under every kind of damage: nothing good is hidden, nothing bad is silent."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from orgvault.domain.problem import Problem
from orgvault.domain.wake import Status
from orgvault.errors import BadValue, NotRecorded
from orgvault.store.entry import ROW_BYTES, Entry, Row, decode
from orgvault.store.logs import SEGMENT_BYTES, encode
from tests.vaults import AT, NOVA, Home, message, row, writer


def segment_of(home: Home) -> Path:
    *_, last = sorted((home.root / ".agents/org/episodes/nova").glob("*.jsonl"))
    return last


def seen(home: Home) -> tuple[list[object], list[Problem]]:
    problems: list[Problem] = []
    lines = home.fresh().logs.lines("episodes", "nova", problems)
    return [line.row["id"] for line in lines], problems


def test_jsonl_01_a_torn_last_line_goes_to_quarantine(home: Home) -> None:
    home.record("nova", "a")
    path = segment_of(home)
    with path.open("ab") as file:
        file.write(b'{"run":"b","tu')
    assert seen(home)[0] == ["a"]
    assert "not a row" in str(seen(home)[1][0])
    vault = home.record("nova", "c")
    (torn,) = path.parent.glob("*.torn-*")
    assert torn.read_bytes() == b'{"run":"b","tu'
    assert torn.name in vault.remarks[0]
    assert seen(home) == (["a", "c"], [])
    assert home.rows_in_head() == ["a", "c"]
    assert home.git("status", "--porcelain") == ""


def test_a_last_row_that_only_lacks_its_newline_is_kept(home: Home) -> None:
    home.record("nova", "a")
    path = segment_of(home)
    path.write_bytes(path.read_bytes() + row("nova", "b").line.encode())
    home.record("nova", "c")
    assert home.rows_in_head() == ["a", "b", "c"]


def test_jsonl_04_nul_bytes_are_reported_and_hide_no_row(home: Home) -> None:
    home.record("nova", "a")
    path = segment_of(home)
    with path.open("ab") as file:
        file.write(b"\0" * 4096 + row("nova", "b").line.encode() + b"\n")
    ids, problems = seen(home)
    assert ids == ["a", "b"]
    assert "4096 NUL bytes" in str(problems[0])
    home.record("nova", "c")
    assert seen(home)[0] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (b'{"id":"x","id":"y"}', "same key twice"),
        (b'{"id":"x","cost":NaN}', "NaN"),
        (b'{"id":"x","cost":Infinity}', "Infinity"),
        (b"[1]", "not a row"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 100000, "not a row"),
        (b"=======", "conflict marker"),
    ],
)
def test_jsonl_08_lines_that_are_no_rows(home: Home, bad: bytes, what: str) -> None:
    home.record("nova", "a")
    path = segment_of(home)
    path.write_bytes(bad + b"\n" + path.read_bytes())
    ids, problems = seen(home)
    assert ids == ["a"]
    assert [(one.line, what in one.what) for one in problems] == [(1, True)]
    assert problems[0].file == path.relative_to(home.root).as_posix()
    assert problems[0].do == "mend or remove the line"


def test_the_same_id_with_other_content_is_reported(home: Home) -> None:
    home.record("nova", "a")
    path = segment_of(home)
    line = path.read_bytes()
    path.write_bytes(line + line + line.replace(b'"fill": ""', b'"fill": "z"'))
    ids, problems = seen(home)
    assert ids == ["a"]
    assert [one.line for one in problems] == [3]
    assert problems[0].what == "the row a stands here again with other content"


def test_duck_06_a_row_over_the_cap_is_refused_before_anything_is_written(home: Home) -> None:
    line = json.dumps({"id": "big", "summary": "x" * ROW_BYTES})
    with pytest.raises(BadValue, match="65536 bytes"):
        Row("episodes", "nova", "big", line)
    with pytest.raises(BadValue):
        Row("episodes", "nova", "two", '{"id":\n"two"}')
    assert home.spooled() == []
    home.record("nova", "e-1", size=ROW_BYTES - 200)
    assert home.rows_in_head() == ["e-1"]


def test_segments_are_cut_and_named_uniquely(home: Home) -> None:
    vault = home.fresh()
    for number in range(12):
        home.record("nova", f"e-{number}", vault=vault, size=20_000)
    names = sorted(path.name for path in segment_of(home).parent.iterdir())
    assert [name[:12] for name in names] == [f"2026-11-000{n}" for n in range(1, 5)]
    assert len({name[-10:] for name in names}) == 4
    assert all(path.stat().st_size <= SEGMENT_BYTES for path in segment_of(home).parent.iterdir())
    assert home.rows_in_head() == [f"e-{n}" for n in range(12)]


def test_a_sync_tools_copy_of_a_segment_is_never_grown(home: Home) -> None:
    home.record("nova", "e-1")
    path = segment_of(home)
    copy = path.with_name(path.stem + ".sync-conflict-20261120-120000-ABCDEFG.jsonl")
    copy.write_bytes(path.read_bytes())
    for number in range(2, 5):
        home.record("nova", f"e-{number}")
    assert len(list(path.parent.iterdir())) == 2
    assert seen(home) == ([f"e-{n}" for n in range(1, 5)], [])


def test_jsonl_03_rows_of_9_kb_by_eight_processes(home: Home) -> None:
    commands = [writer(home.root, "nova", 100 * n, 6, 9000) for n in range(8)]
    children = [subprocess.Popen(one, stdout=subprocess.PIPE, text=True) for one in commands]
    said = [child.communicate(timeout=60)[0] for child in children]
    promised = [line.split()[1] for text in said for line in text.splitlines()]
    assert len(promised) == 48
    home.record("nova", "last")
    ids, problems = seen(home)
    assert problems == []
    assert sorted(map(str, ids)) == sorted([*promised, "last"])
    assert sorted(home.rows_in_head()) == sorted([*promised, "last"])


LIMITED = """
import resource, sys
from orgvault.store.vault import Vault
from tests.vaults import AT, NOVA, message, row
vault = Vault.find(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    vault.record(message("x"), NOVA, [row("nova", "e-new", size=3000)], AT)
    print("ok", *vault.remarks)
except Exception as failure:
    print(type(failure).__name__, failure)
"""


def limited(home: Home, size: int) -> str:
    root = Path(__file__).parent.parent.parent
    command = [sys.executable, "-c", LIMITED, str(home.root), str(size)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def test_jsonl_13_a_file_size_limit_hits_while_spooling(home: Home) -> None:
    home.record("nova", "e-1")
    said = limited(home, 2000)
    assert said.startswith("NotRecorded nothing was recorded")
    assert "(File too large)" in said
    assert home.spooled() == []
    assert home.rows_on_disk() == ["e-1"]


def test_jsonl_13_a_file_size_limit_hits_while_draining(home: Home) -> None:
    home.record("nova", "e-1", size=6000)
    said = limited(home, 8000)
    assert said.startswith("ok ")
    assert "recorded, to be committed later" in said
    assert len(home.spooled()) == 1
    path = segment_of(home)
    assert path.read_bytes().endswith(b"\n")
    assert home.rows_on_disk() == ["e-1"]
    assert "torn bytes" in said
    home.record("nova", "e-2")
    assert home.rows_in_head() == home.rows_on_disk() == ["e-1", "e-new", "e-2"]


@pytest.mark.parametrize("size", [4096, 20_000, 60_000, 200_000])
def test_a_limit_at_any_size_leaves_everything_whole(home: Home, size: int) -> None:
    for name in range(300):
        home.write(f"many/a-note-of-the-persons-with-a-long-name-{name}.md", "x")
    home.commit("many")
    persons = home.persons()
    said = limited(home, size)
    assert home.persons() == persons
    assert home.git("status", "--porcelain") == ""
    home.record("nova", "e-2")
    assert home.rows_in_head() == (["e-new", "e-2"] if said.startswith("ok") else ["e-2"])
    home.fsck()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_jsonl_13_a_full_disk(tmp_path: Path) -> None:
    mount = tmp_path / "small"
    mount.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", str(mount)], check=False
    )
    if done.returncode:
        pytest.skip("cannot mount a file system here")
    try:
        from tests.vaults import make_vault

        home = make_vault(mount / "v")
        home.record("nova", "e-0")
        promised = ["e-0"]
        for number in range(1, 200):
            try:
                home.record("nova", f"e-{number}", size=2000)
            except NotRecorded:
                break
            promised.append(f"e-{number}")
        else:
            pytest.fail("the disk was never full")
        assert segment_of(home).read_bytes().endswith(b"\n")
        subprocess.run(["mount", "-o", "remount,size=60m", str(mount)], check=True)
        home.record("nova", "last")
        assert home.rows_in_head() == home.rows_on_disk() == [*promised, "last"]
        home.fsck()
    finally:
        subprocess.run(["umount", "-l", str(mount)], check=False)


def test_a_reader_never_misses_a_row_on_its_way(home: Home) -> None:
    command = writer(home.root, "nova", 0, 40)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for said in child.stdout:
            ids, problems = seen(home)
            assert said.split()[1] in ids
            assert problems == []


def test_spooled_rows_are_seen_at_once(home: Home) -> None:
    (home.git_dir / "MERGE_HEAD").write_text(home.head())
    home.record("nova", "e-1")
    logs = home.fresh().logs
    assert logs.agents("episodes") == ["nova"]
    assert [line.file for line in logs.lines("episodes", "nova", [])] == ["(spooled)"]
    assert logs.ids("episodes", "nova", {"e-1"}) == {}


def test_unreadable_spool_files_are_named_and_block_nothing(home: Home) -> None:
    home.record("nova", "e-1")
    spool = Path(home.vault.private) / "spool"
    (spool / "0000-torn.json").write_bytes(b'{"v": 1')
    (spool / "0001-newer.json").write_bytes(b'{"v": 99}\n')
    (spool / "0002-odd.json").write_bytes(b"\xff\n")
    (spool / "0003-bad-time.json").write_text(
        json.dumps(
            {"v": 1, "ref": "refs/heads/main", "prefix": "", "message": "x", "author": ["a", "b"],
             "at": "yesterday", "rows": [], "texts": [], "companions": []}
        ) + "\n"
    )  # fmt: skip
    vault = home.record("nova", "e-2")
    assert [remark.partition(" cannot be read")[0] for remark in vault.remarks] == [
        str(spool / name) for name in
        ("0000-torn.json", "0001-newer.json", "0002-odd.json", "0003-bad-time.json")
    ]  # fmt: skip
    assert len(list(spool.iterdir())) == 4
    assert home.rows_in_head() == ["e-1", "e-2"]


def test_hostile_words_in_a_message(home: Home) -> None:
    from orgvault.store.vault import Identity, Message

    words = Message(
        "a\n\nOrgvault-Op: forged\0\x1b[31m \ud800 " + "ü" * 200, {"Orgvault-Run": "x\ny: z"}
    )
    author = Identity("<evil>\n\0", "a>b <c")
    home.fresh().record(words, author, [row("nova", "e-1")], AT)
    told = home.git("log", "-1", "--format=%an|%ae|%(trailers:only)")
    assert told == "evil|ab c|Orgvault-Run: x y: z\n\n"
    home.fsck()


def test_a_row_is_written_without_a_space_too_many() -> None:
    assert encode({"id": "a", "n": [1, 2]}) == '{"id":"a","n":[1,2]}'


def test_the_newest_come_first_each_once(home: Home) -> None:
    for name in ("a", "b"):
        home.record("nova", name)
    path = segment_of(home)
    path.write_bytes(path.read_bytes() * 2)
    newest = home.fresh().logs.newest_lines("episodes", "nova")
    assert [line.row["id"] for line in newest] == ["b", "a"]


def test_recent_rows_are_those_of_the_newest_segment_that_read(home: Home) -> None:
    status = {"id": "s-1", "agent": "nova", "run": "run-1", "at": AT, "text": "Going on."}
    line = Row("status", "nova", "s-1", json.dumps(status))
    home.fresh().record(message("post"), NOVA, [line], AT)
    (path,) = (home.root / ".agents/org/status").glob("*.nova.*.jsonl")
    path.write_bytes(b"no row\n" + path.read_bytes())
    assert [one.text for one in home.fresh().logs.recent(Status, "status", "nova")] == ["Going on."]


@pytest.mark.parametrize("count", [1, 3, 40])
def test_which_of_many_rows_stand_there(home: Home, count: int) -> None:
    for name in ("e-1", "e-2"):
        home.record("nova", name)
    wanted = {f"e-{number}" for number in range(2, 2 + count)}
    name = str(segment_of(home))
    assert home.fresh().logs.ids("episodes", "nova", wanted) == {"e-2": name}


def test_torn_bytes_are_cut_off_where_there_is_no_room_to_keep_them(home: Home) -> None:
    home.record("nova", "a")
    path = segment_of(home)
    with path.open("ab") as file:
        file.write(b"x" * 300_000)
    was = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, was[1]))
    try:
        remarks = home.record("nova", "b").remarks
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, was)
    name = path.relative_to(home.root).as_posix()
    torn = f"{name} ended in 300000 torn bytes: they were cut off, with no room to keep them"
    assert remarks == [torn]
    assert home.rows_in_head() == ["a", "b"]


def test_a_spooled_entry_without_its_end_is_none() -> None:
    whole = entry().encode()
    assert decode(whole) == entry()
    assert decode(whole[:-1]) is None


def entry() -> Entry:
    return Entry("refs/heads/main", "", "x", ("n", "n@x.org"), AT, (row("nova", "a"),))
