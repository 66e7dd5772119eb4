"""The tables hold what the strict reader accepts, and nothing gets out of them or into them."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgvault.adapters.statistics import NotLoaded, Tables
from orgvault.domain import record, written
from orgvault.domain.episode import Correction, Episode
from orgvault.domain.reflection import Reflection
from orgvault.domain.wake import Status, WakeEvent
from orgvault.store.logs import Logs, encode
from tests.vaults import folder_in_memory

COLUMNS = {
    "id": "VARCHAR",
    "outcome": "VARCHAR",
    "turns": "BIGINT",
    "cost_usd": "DOUBLE",
    "summary": "VARCHAR",
    "finished_at": "TIMESTAMPTZ",
}
FORM = written.form(Episode)
ROW: dict[str, Any] = {
    "v": 1, "id": "e-1", "agent": "nova", "run": "r-1", "wakes": ["w-1"], "reason": "task",
    "card": None, "outcome": "done", "exit_code": 0, "turns": 3, "cost_usd": 0.25,
    "duration_s": 1.5, "tokens_in": 1, "tokens_out": None, "model": None, "summary": "I did.",
    "log": None, "transcript": {"path": "/a b", "sha256": "0" * 64}, "prompt_sha256": None,
    "core_sha256": "f" * 64, "client": None, "session": None, "session_cost_usd": None,
    "reflect_skipped": None, "started_at": None, "finished_at": "2026-11-20T09:14:03Z",
}  # fmt: skip


def line(**changes: object) -> str:
    return json.dumps(ROW | changes, ensure_ascii=False, separators=(",", ":"))


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with folder_in_memory() as place:
        (place / "nova").mkdir()
        yield place / "nova"


@pytest.fixture(scope="module")
def tables() -> Iterator[Tables]:
    with Tables() as made:
        made.make("episodes", COLUMNS)
        yield made


def believed(tables: Tables, folder: Path, *lines: str | bytes) -> list[bool]:
    """Whether each line of a segment is taken as it stands (blank ones are no rows)."""
    assert FORM is not None
    raw = [one.encode(errors="surrogatepass") if isinstance(one, str) else one for one in lines]
    path = folder / "segment.nova.jsonl"
    path.write_bytes(b"\n".join(raw) + b"\n")
    tables.load("episodes", FORM, [str(path)])
    odd = [one for (one,) in tables.ask("SELECT odd FROM episodes ORDER BY rowid")]
    tables.remove("episodes", tables.files([str(path)]).values())
    return [not one for one in odd]


# ── what is believed ────────────────────────────────────────────────────────────────────────

WRITTEN = {
    "plain": {},
    "nothing known": {"turns": None, "cost_usd": None, "duration_s": None, "transcript": None},
    "cents of a cent": {"cost_usd": 5e-05},
    "nearly nothing": {"cost_usd": 1e-07},
    "ten to the minus twelve": {"cost_usd": 3.25e-12},
    "a long fraction": {"cost_usd": 0.1 + 0.2},
    "whole dollars": {"cost_usd": 12.0},
    "zero": {"cost_usd": 0.0, "turns": 0},
    "quotes and backslashes": {"summary": 'I said "no" to C:\\x, then\ttabbed.'},
    "other alphabets": {"summary": "修复 – größe 🌍 \u2028 end"},
    "two wakes": {"wakes": ["w-1", "w-2"]},
    "no wakes": {"wakes": []},
    "a card": {"card": "imp-0a1b2c3d"},
    "200 characters": {"summary": "ü" * 200},
    "a failed run": {"exit_code": -9, "outcome": "error"},
}


@pytest.mark.parametrize("changes", WRITTEN.values(), ids=WRITTEN)
def test_what_we_write_is_believed_as_it_stands(
    tables: Tables, folder: Path, changes: dict[str, object]
) -> None:
    one, faults = record.read(Episode, ROW | changes)
    assert not faults
    assert believed(tables, folder, encode(one)) == [True]


ODD: dict[str, str | bytes] = {
    "DUCK-02 2.7": line(turns=2.7),
    "DUCK-02 true": line(turns=True),
    'DUCK-02 "3"': line(turns="3"),
    "turns 3.0": line(turns=3.0),
    "turns 1e2": line().replace('"turns":3', '"turns":1e2'),
    "turns -1": line(turns=-1),
    "turns of 20 digits": line(turns=10**20),
    "cost as text": line(cost_usd="0.5"),
    "cost true": line(cost_usd=True),
    "cost NaN": line().replace('"cost_usd":0.25', '"cost_usd":NaN'),
    "cost Infinity": line().replace('"cost_usd":0.25', '"cost_usd":Infinity'),
    "cost 1e400": line().replace('"cost_usd":0.25', '"cost_usd":1e400'),
    "cost 1E5": line().replace('"cost_usd":0.25', '"cost_usd":1E5'),
    "cost negative": line(cost_usd=-0.5),
    "unknown outcome": line(outcome="finished"),
    "summary a number": line(summary=5),
    "summary null": line(summary=None),
    "summary a list": line(summary=["x"]),
    "summary of 201": line(summary="x" * 201),
    "id with a capital": line(id="E-1"),
    "id of 65": line(id="e" * 65),
    "hash too short": line(core_sha256="f" * 63),
    "hash not hexadecimal": line(core_sha256="g" * 64),
    "30 February": line(finished_at="2026-02-30T09:14:03Z"),
    "hour 24": line(finished_at="2026-02-03T24:00:00Z"),
    "offset": line(finished_at="2026-11-20T14:14:03+05:00"),
    "fraction": line(finished_at="2026-11-20T09:14:03.999999999Z"),
    "newer format": line(v=2),
    "format true": line(v=True),
    "unknown key": line(extra=1),
    "unknown key as long as a missing one": line().replace('"model"', '"mod3l"'),
    "missing key": line().replace('"log":null,', ""),
    "JSONL-08 same key twice": line()[:-1] + ',"turns":9}',
    "JSONL-08 same key first": '{"turns":9,' + line()[1:],
    "growing number hides a key": line()
    .replace('"cost_usd":0.25', '"cost_usd":1E5')
    .replace('"v":1', '"v":1,"":0'),
    "keys in another order": json.dumps(dict(reversed(ROW.items())), separators=(",", ":")),
    "spaces": json.dumps(ROW),
    "carriage return": line() + "\r",
    "trailing comma": line()[:-1] + ",}",
    "two rows on one line": line() + line(id="e-2"),
    "DUCK-05 marker": "<<<<<<< HEAD",
    "JSONL-04 NULs": b"\0" * 4096 + line().encode(),
    "JSONL-01 torn": line()[:40],
    "a list": "[1]",
    "lone surrogate": line().replace("I did.", "\\ud800"),
    "escaped letter": line().replace("I did.", "\\u0041"),
    "array for a text": line(run=["r-1"]),
    "transcript with more": line(transcript={"path": "/", "sha256": "0" * 64, "x": 1}),
    "transcript without path": line(transcript={"sha256": "0" * 64}),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_what_is_spelt_otherwise_is_odd_and_its_neighbours_are_not(
    tables: Tables, folder: Path, odd: str | bytes
) -> None:
    assert believed(tables, folder, line(id="e-8"), odd, line(id="e-9")) == [True, False, True]


def test_a_segment_that_is_not_utf8_is_odd_as_a_whole(tables: Tables, folder: Path) -> None:
    assert believed(tables, folder, line(), b'{"id":"\xff"}') == [False]


PIECES = st.sampled_from(
    [
        "null", "1", "-1", "2.7", "1e2", "true", '"3"', '""', '"done"', '"x"', "[]", "{}", "0.0001",
        '"2026-02-30T00:00:00Z"', '"2026-11-20T09:14:03+02:00"', '"' + "f" * 64 + '"', "00", "-0",
        '"\\n"', '"\\ud800"', "1E400", "NaN", '["w-1",2]',
    ]
)  # fmt: skip


def _spoil(key: str, piece: str, at: int, cut: int, more: str) -> str:
    """A row with one value replaced, and perhaps with something cut out or put in somewhere."""
    pairs = (
        f'"{name}":{piece if name == key else json.dumps(value)}' for name, value in ROW.items()
    )
    text = "{" + ",".join(pairs) + "}"
    at %= len(text)
    return text[:at] + more + text[at + cut :]


SPOILT = st.builds(
    _spoil,
    st.sampled_from(sorted(ROW)), PIECES, st.integers(0, 900), st.integers(0, 3),
    st.sampled_from(["", " ", ",", '"', "}", "\0", '"v":1,', "é"]),
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.lists(SPOILT, min_size=20, max_size=60))
def test_what_is_believed_the_strict_reader_accepts(lines: list[str]) -> None:
    with folder_in_memory() as org, Tables() as tables:
        tables.make("episodes", COLUMNS)
        folder = org / "episodes" / "nova"
        folder.mkdir(parents=True)
        for one, good in zip(lines, believed(tables, folder, *lines), strict=True):
            (folder / "segment.nova.jsonl").write_text(one + "\n")
            found = Logs(str(org), list).records(Episode, "episodes", "nova", [])
            assert found or not good, one
            if good:
                assert encode(found[0]) == one


@pytest.mark.parametrize("kind", [Episode, Correction, WakeEvent, Status])
def test_a_flat_record_has_a_form(kind: type[object]) -> None:
    assert written.form(kind) is not None


def test_a_record_with_a_list_of_records_is_left_to_the_strict_reader() -> None:
    assert written.form(Reflection) is None


# ── loading ─────────────────────────────────────────────────────────────────────────────────


def test_values_arrive_as_they_stand(tables: Tables, folder: Path) -> None:
    assert FORM is not None
    path = folder / "one.nova.jsonl"
    path.write_text(line(cost_usd=5e-05, summary='Say "ü"\n') + "\n" + line(turns=None, id="e-2"))
    tables.load("episodes", FORM, [str(path)])
    told = tables.ask(
        "SELECT agent, id, outcome, turns, cost_usd, summary, epoch(finished_at)::BIGINT "
        "FROM episodes ORDER BY id"
    )
    tables.remove("episodes", tables.files([str(path)]).values())
    at = 1795166043
    assert told == [
        ("nova", "e-1", "done", 3, 5e-05, 'Say "ü"\n', at),
        ("nova", "e-2", "done", None, 0.25, "I did.", at),
    ]
    assert tables.ask("SELECT count(*) FROM episodes") == [(0,)]


@pytest.mark.parametrize(
    "name", ["a*b", "a[b]c", "what?", "{x,y}", "k=v", "a\\b", "~", " #1", "a'b", 'a"b', "größe"]
)
def test_a_path_means_nothing_but_itself(tables: Tables, name: str) -> None:
    assert FORM is not None
    with folder_in_memory() as place:
        for each, row_id in ((name, "e-1"), ("aXb", "e-2"), ("abc", "e-3"), ("whatX", "e-4")):
            (place / each / "nova").mkdir(parents=True)
            (place / each / "nova/s.nova.jsonl").write_text(line(id=row_id) + "\n")
        path = str(place / name / "nova/s.nova.jsonl")
        tables.load("episodes", FORM, [path])
        told = tables.ask("SELECT agent, id, odd, file FROM episodes")
        files = tables.files([path])
        tables.remove("episodes", files.values())
        assert told == [("nova", "e-1", False, files[path])]


def test_a_file_that_went_away_has_no_rows(tables: Tables, folder: Path) -> None:
    assert FORM is not None
    (folder / "here.nova.jsonl").write_text(line() + "\n")
    paths = [str(folder / "gone.nova.jsonl"), str(folder / "here.nova.jsonl")]
    tables.load("episodes", FORM, paths)
    files = tables.files(paths)
    loaded = tables.loaded("episodes")
    tables.remove("episodes", files.values())
    assert loaded == {files[paths[1]]}


def test_a_path_that_is_no_utf8_cannot_be_loaded(tables: Tables) -> None:
    assert FORM is not None
    with pytest.raises(NotLoaded):
        tables.load("episodes", FORM, ["/nova/\udcff.jsonl"])
    assert tables.files(["/nova/\udcff.jsonl"]) == {}


# ── the locked database ─────────────────────────────────────────────────────────────────────


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Tables]:
    (tmp_path / "secret.json").write_text('{"a":1}\n')
    with Tables() as made:
        made.make("episodes", COLUMNS)
        made.lock()
        yield made


@pytest.mark.parametrize(
    "question",
    [
        "SELECT * FROM read_text('{0}/secret.json')",
        "SELECT * FROM '{0}/secret.json'",
        "SELECT * FROM glob('{0}/*')",
        "COPY (SELECT 1) TO '{0}/out.csv'",
        "ATTACH '{0}/other.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT * FROM read_csv('http://127.0.0.1:1/x.csv')",
        "SET enable_external_access = true",
        "SET threads = 64",
        "SET TimeZone = 'Asia/Tokyo'",
        "EXPORT DATABASE '{0}/all'",
        "SELECT * FROM hidden_python_list",
        "SELECT getenv('HOME')",
    ],
)
def test_nothing_leads_out_of_a_locked_database(
    locked: Tables, tmp_path: Path, question: str
) -> None:
    hidden_python_list = [1, 2]  # a replacement scan would find it
    with pytest.raises(duckdb.Error):
        locked.ask(question.format(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["secret.json"]
    assert hidden_python_list


def test_it_still_answers(locked: Tables) -> None:
    assert locked.ask("SELECT count(*), $word FROM episodes", word="x") == [(0, "x")]


def test_json_needs_no_extension_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(socket, "socket", refuse)
    with Tables() as made:
        how = made.ask("SELECT install_mode FROM duckdb_extensions() WHERE extension_name = 'json'")
        auto = made.ask(
            "SELECT value FROM duckdb_settings() WHERE name IN "
            "('autoinstall_known_extensions', 'autoload_known_extensions') ORDER BY name"
        )
    assert (how, auto) == ([("STATICALLY_LINKED",)], [("false",), ("false",)])


def test_nothing_is_left_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Tables(memory_mb=64) as made:
        made.ask("SELECT count(*) FROM (SELECT DISTINCT hash(i) FROM range(2000000) t(i))")
        overflow = Path(str(made.ask("SELECT current_setting('temp_directory')")[0][0]))
        assert overflow.is_dir()
    assert (list(tmp_path.iterdir()), overflow.exists()) == ([], False)


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "America/St_Johns", "UTC"])
def test_the_zone_of_the_machine_does_not_matter(
    folder: Path, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    assert FORM is not None
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        with Tables() as made:
            made.make("episodes", COLUMNS)
            (folder / "zone.nova.jsonl").write_text(line() + "\n")
            made.load("episodes", FORM, [str(folder / "zone.nova.jsonl")])
            since = "SELECT count(*) FROM episodes WHERE finished_at >= $since::TIMESTAMPTZ"
            at, later = "2026-11-20T09:14:03Z", "2026-11-20T09:14:04Z"
            told = [made.ask(since, since=one)[0][0] for one in (at, later)]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert told == [1, 0]


def test_threads_are_bounded() -> None:
    with Tables(threads=1000) as made:
        threads = made.ask("SELECT current_setting('threads')")[0][0]
    assert threads == (os.cpu_count() or 1)


def test_importing_the_module_does_not_import_duckdb() -> None:
    code = "import sys, orgvault.services.measuring; print('duckdb' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
