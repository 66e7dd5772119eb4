"""`query`: how an answer looks in each format, and how it fails."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from decimal import Decimal

import pytest

from orgvault.cli import answers
from tests.harbor import REPOSITORY, Harbor

ODD = (
    "SELECT 'a|b' AS pipe, 'say \"x\", y' AS quote, 'two' || chr(10) || 'lines' AS break, "
    "'' AS empty, NULL AS nothing, 'größe 修复' AS letters, chr(27) || '[31m' AS control"
)
VALUES = (
    "SELECT 1.25::DECIMAL(18,6) AS money, TIMESTAMPTZ '2026-11-20 09:14:03+05' AS at, "
    "DATE '2026-11-20' AS day, 'nan'::DOUBLE AS nan, '-inf'::DOUBLE AS inf, true AS yes, "
    "[1, NULL] AS list, {'a': 'x\"y', 'b': [{'c': 0.10}]} AS struct, MAP {2: 'two'} AS map, "
    "'\\x00\\xff'::BLOB AS bytes, '{\"k\": [1]}'::JSON AS json, INTERVAL 90 SECONDS AS time, "
    "'infinity'::TIMESTAMPTZ AS ever, 170141183460469231731687303715884105727 AS huge, "
    "TIMESTAMP '2026-11-20 09:14:03.5' AS naive, TIME '09:14:03' AS clock, 1e300 AS big, 1 AS one, "
    "2 AS one, uuid() IS NULL AS no, DATE '12000-01-01' AS far"
)


def row(harbor: Harbor, sql: str) -> dict[str, object]:
    """The one row of an answer in JSON."""
    told = json.loads(harbor.run("query", sql, "--format", "json").out, parse_float=Decimal)
    (found,) = told["rows"]
    return dict(found)


# ── formats ─────────────────────────────────────────────────────────────────────────────────


def test_a_table_is_aligned_and_plain_when_piped(harbor: Harbor) -> None:
    told = harbor.run("query", "SELECT outcome, count(*) AS n FROM episodes GROUP BY 1 ORDER BY 2")
    lines = told.out.splitlines()
    assert lines[0].split() == ["outcome", "n"]
    assert len({line.rindex(" ") for line in lines}) == 1
    assert told.err == ""


def test_a_table_shows_no_control_character_and_one_line_a_row(harbor: Harbor) -> None:
    told = harbor.run("query", ODD)
    assert len(told.out.splitlines()) == 2
    assert "two\\nlines" in told.out
    assert "\\x1b[31m" in told.out
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", told.out)


def test_a_table_is_bounded_and_says_so(harbor: Harbor) -> None:
    told = harbor.run("query", "SELECT * FROM range(1001)")
    assert len(told.out.splitlines()) == 1 + answers.TABLE_ROWS
    assert "only the first 1000 rows" in told.err
    whole = harbor.run("query", "SELECT * FROM range(1000)")
    assert (len(whole.out.splitlines()), whole.err) == (1001, "")


@pytest.mark.parametrize(
    ("form", "wanted"),
    [("table", "No rows.\n"), ("csv", "id\r\n"), ("md", "| id |\n|---|\n")],
)
def test_no_row_is_said_in_each_form(harbor: Harbor, form: str, wanted: str) -> None:
    sql = "SELECT id FROM episodes WHERE false"
    assert harbor.run("query", sql, "--format", form).out == wanted


def test_csv_reads_back_as_it_was(harbor: Harbor) -> None:
    told = harbor.run("query", ODD, "--format", "csv").out
    head, cells = csv.reader(io.StringIO(told, newline=""))
    assert head == ["pipe", "quote", "break", "empty", "nothing", "letters", "control"]
    assert cells == ["a|b", 'say "x", y', "two\nlines", "", "", "größe 修复", "\x1b[31m"]
    assert told.endswith(',"",,größe 修复,\x1b[31m\r\n')  # an empty text is not nothing
    assert told.count("\r\n") == 2


def test_csv_of_every_episode_has_every_row(harbor: Harbor) -> None:
    told = harbor.run("query", "FROM episodes", "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(told, newline="")))
    logged = [one for agent in ("atlas", "juno", "nova") for one in harbor.rows("episodes", agent)]
    assert {one["id"]: one["summary"] for one in rows} == {
        one["id"]: one["summary"] for one in logged
    }
    assert {one["finished_at"] for one in rows} == {one["finished_at"] for one in logged}


def test_markdown_cells_are_only_text(harbor: Harbor) -> None:
    told = harbor.run("query", ODD, "--format", "md").out.splitlines()
    assert len(told) == 3
    assert told[1] == "|" + "---|" * 7
    assert told[2].startswith('| a\\|b | say "x", y | two<br>lines |  |  | größe 修复 |')
    sql = "SELECT '<img src=x> ![[Note]] `code` *b* [l](u) \\|' AS bad"
    bad = harbor.run("query", sql, "--format", "md").out.splitlines()[2]
    assert bad == "| &lt;img src=x> !\\[\\[Note\\]\\] \\`code\\` \\*b\\* \\[l\\](u) \\\\\\| |"


def test_json_is_one_object_and_exact(harbor: Harbor) -> None:
    told = harbor.run("query", VALUES, "--json").out
    assert "1.250000" in told
    found = row(harbor, VALUES)
    assert found == {
        "money": Decimal("1.25"), "at": "2026-11-20T04:14:03Z", "day": "2026-11-20", "nan": None,
        "inf": None, "yes": True, "list": [1, None],
        "struct": {"a": 'x"y', "b": [{"c": Decimal("0.10")}]}, "map": {"2": "two"},
        "bytes": "00ff", "json": {"k": [1]}, "time": "0:01:30", "ever": "infinity",
        "huge": 170141183460469231731687303715884105727, "naive": "2026-11-20T09:14:03.500000",
        "clock": "09:14:03", "big": Decimal("1E+300"), "one": 1, "one_2": 2, "no": False,
        "far": "12000-01-01",
    }  # fmt: skip


def test_json_says_the_columns_and_their_types(harbor: Harbor) -> None:
    told = harbor.json("query", "SELECT id, cost_usd, finished_at FROM episodes LIMIT 2")
    assert told["columns"] == [
        {"name": "id", "type": "VARCHAR"},
        {"name": "cost_usd", "type": "DECIMAL(18,6)"},
        {"name": "finished_at", "type": "TIMESTAMP WITH TIME ZONE"},
    ]
    assert len(told["rows"]) == 2
    assert harbor.json("query", "SELECT 1 AS x WHERE false")["rows"] == []


@pytest.mark.parametrize("form", ["csv", "json", "md"])
def test_long_answers_are_written_as_they_come(harbor: Harbor, form: str) -> None:
    told = harbor.run("query", "SELECT i AS n FROM range(30000) t(i)", "--format", form).out
    assert told.count("29999") == 1
    assert told.count("\n") > 30000


# ── failures ────────────────────────────────────────────────────────────────────────────────


def test_bad_sql_is_one_sentence(harbor: Harbor) -> None:
    told = harbor.run("query", "SELECT *\nFORM episodes", code=1)
    assert told.out == ""
    assert told.err.startswith("orgvault: the query cannot be answered: syntax error")
    assert told.err.endswith("(line 2, column 1)\n") or "(line 2, column" in told.err
    assert len(told.err.splitlines()) == 1
    assert "Traceback" not in told.err


def test_two_formats_at_once_are_a_mistake(harbor: Harbor) -> None:
    assert "exclude" in harbor.run("query", "SELECT 1", "--json", "--format", "csv", code=2).err
    harbor.run("query", "SELECT 1", "--json", "--format", "json")
    harbor.run("query", "SELECT 1", "--format", "yaml", code=2)


def test_an_agent_sees_its_own(harbor: Harbor) -> None:
    sql = "SELECT DISTINCT agent FROM episodes"
    assert harbor.json("query", sql, ORGVAULT_AGENT="juno")["rows"] == [{"agent": "juno"}]
    told = harbor.run("query", sql, "--as", "nova", code=4, ORGVAULT_AGENT="juno")
    assert "act as nova" in told.err


def test_nothing_is_written(harbor: Harbor) -> None:
    before = harbor.git("status", "--porcelain", "--ignored"), harbor.git("rev-parse", "HEAD")
    harbor.run("query", "FROM claims")
    harbor.run("query", "FROM episodes", "--format", "csv")
    after = harbor.git("status", "--porcelain", "--ignored"), harbor.git("rev-parse", "HEAD")
    assert after == before


def test_a_command_that_asks_nothing_imports_no_database() -> None:
    code = "import sys, orgvault.cli.query, orgvault.cli.stats; print('duckdb' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"


# ── as a process ────────────────────────────────────────────────────────────────────────────

ENDLESS = "SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE random() > 2"


def start(harbor: Harbor, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "orgvault", "query", *words], cwd=harbor.root, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": f"{REPOSITORY}:{os.environ.get('PYTHONPATH', '')}"},
    )  # fmt: skip


@pytest.mark.parametrize("sql", [ENDLESS, "SELECT * FROM range(1000000000000)"])
def test_control_c_ends_it_at_once(harbor: Harbor, sql: str) -> None:
    with start(harbor, sql, "--format", "table") as process:
        time.sleep(1.5)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    if sql == ENDLESS:
        assert (process.returncode, err.strip()) == (130, "orgvault: interrupted")
    assert time.monotonic() - began < 5
    assert "Traceback" not in err


def test_a_reader_that_goes_away_is_no_failure(harbor: Harbor) -> None:
    with start(harbor, "SELECT * FROM range(1000000000000)", "--format", "csv") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "range\n"
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_a_piped_table_keeps_every_column_beside_a_very_wide_one(harbor: Harbor) -> None:
    sql = "SELECT 'run-7f3k2q9d' AS run, repeat('wide ', 200) AS sections, 'nova' AS agent"
    told = harbor.run("query", sql).out.splitlines()
    assert told[0].split() == ["run", "sections", "agent"]
    assert told[1].startswith("run-7f3k2q9d  wide wide")
    assert told[1].endswith("  nova")
