"""`query` answers from the rows that one may read, and nothing else can be got out of it."""

import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from orgvault.adapters.queries import BadQuery, QueryTooLarge, QueryTooLong
from orgvault.domain.access import Actor
from orgvault.domain.card import Card
from orgvault.domain.claim import Claim
from orgvault.domain.episode import Correction, Episode
from orgvault.domain.reflection import Reflection
from orgvault.services import measuring, querying
from orgvault.services.desk import Desk
from orgvault.services.querying import VIEWS
from orgvault.store.roster import load
from orgvault.store.vault import Vault
from tests.harbor import REPOSITORY, Harbor, make_harbor

OWNER = Actor("owner", "sam")
KIM = Actor("operator", "kim")
ATLAS, NOVA, JUNO = (Actor("agent", name) for name in ("atlas", "nova", "juno"))


class Stopped:
    def now(self) -> str:
        return "2026-11-30T00:00:00Z"

    def monotonic(self) -> float:
        return 0.0


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Harbor:
    """The fixture vault, which no question may change."""
    return make_harbor(tmp_path_factory.mktemp("querying"))


def desk(at: Harbor, actor: Actor = OWNER) -> Desk:
    vault = Vault(str(at.root))
    return Desk(vault, load(vault)[0], actor, Stopped(), lambda n: b"\0" * n, "0", len)


def asked(at: Harbor, sql: str, actor: Actor = OWNER, limit_s: float = 60) -> list[tuple[Any, ...]]:
    """The rows that answer a question, where nothing is wrong with the vault."""
    with querying.answer(desk(at, actor), sql, limit_s=limit_s) as (found, problems):
        rows = list(found.rows)
    assert problems == []
    return rows


# ── what is there ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_has_the_columns_that_are_told(place: Harbor, view: querying.View) -> None:
    told = [(name, kind) for name, kind, *_ in asked(place, f"DESCRIBE {view.name}")]
    zoned = ("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE")
    wanted = [(one.name, one.type.replace(*zoned)) for one in view.columns]
    assert [(name, kind.replace('"', "")) for name, kind in told] == [
        (name, kind.replace('"', "")) for name, kind in wanted
    ]


@pytest.mark.parametrize(
    ("view", "record"),
    [("episodes", Episode), ("corrections", Correction), ("claims", Claim),
     ("reflections", Reflection), ("cards", Card)],
)  # fmt: skip
def test_a_view_has_every_field_of_its_record(view: str, record: type[Any]) -> None:
    (found,) = [one for one in VIEWS if one.name == view]
    names = {column.name for column in found.columns}
    derived = {"corrected", "state", "edited_by_hand"}
    assert names - derived == {one.name for one in fields(record)}
    assert all(column.text.endswith(".") for column in found.columns)


def test_the_page_tells_every_column() -> None:
    command = [sys.executable, "tools/query_page.py", "--check"]
    told = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout) == (0, "")


def test_the_examples_of_the_page_work(place: Harbor) -> None:
    page = (REPOSITORY / "docs/reference/query.md").read_text("utf-8")
    examples = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    assert len(examples) >= 4
    assert all(asked(place, example) for example in examples)


def test_the_sums_are_those_of_the_statistics(place: Harbor) -> None:
    measured, _ = measuring.roster(desk(place), days=None)
    did = measured.total.work
    assert asked(
        place,
        "SELECT count(*), count(*) FILTER (outcome = 'done'), count(*) FILTER (corrected), "
        "sum(cost_usd)::DOUBLE, count(*) - count(cost_usd) FROM episodes",
    ) == [(did.episodes, did.done, did.corrected, did.cost_usd, did.unpriced)]
    kinds = dict(
        asked(place, "SELECT kind, count(*) FROM claims WHERE state = 'active' GROUP BY 1")
    )
    counted = {kind: states["active"] for kind, states in measured.total.claims.items()}
    assert kinds == {kind: count for kind, count in counted.items() if count}


def test_rows_are_what_the_log_holds(place: Harbor) -> None:
    row = next(one for one in place.rows("episodes", "nova") if one["cost_usd"] is not None)
    columns = [column.name for column in VIEWS[0].columns]
    (answer,) = asked(place, f"FROM episodes WHERE id = '{row['id']}'")
    found = dict(zip(columns, answer, strict=True))
    for name in ("id", "agent", "run", "wakes", "reason", "card", "turns", "summary", "transcript"):
        assert found[name] == row[name], name
    assert f"{found['finished_at']:%Y-%m-%dT%H:%M:%SZ}" == row["finished_at"]
    assert float(found["cost_usd"]) == row["cost_usd"]


def test_wakes_are_folded_from_their_events(place: Harbor) -> None:
    events = [one for agent in ("atlas", "nova", "juno") for one in place.rows("wakes", agent)]
    added = {one["wake"] for one in events if one["event"] == "added"}
    closed = {one["wake"]: one["run"] for one in events if one["event"] == "closed"}
    told = asked(place, "SELECT id, closed_at IS NULL, run FROM wakes")
    assert {(wake, wake not in closed, closed.get(wake)) for wake in added} == set(told)


def test_operations_of_reflections_are_structs(place: Harbor) -> None:
    told = asked(
        place,
        "SELECT DISTINCT o.effect FROM (SELECT unnest(operations) o FROM reflections) ORDER BY 1",
    )
    assert ("added",) in told


def test_a_bad_row_is_named_when_its_table_is_asked(tmp_path: Path) -> None:
    at = make_harbor(tmp_path)
    (path,) = (at.root / ".agents/org/episodes/juno").glob("2026-11-0001.*")
    before = asked(at, "SELECT count(*) FROM episodes")
    with path.open("a", encoding="utf-8") as file:
        file.write('{"torn":\n')
    with querying.answer(desk(at), "SELECT count(*) FROM episodes") as (found, problems):
        assert list(found.rows) == before
        assert [one.file for one in problems] == [str(path.relative_to(at.root))]
    assert asked(at, "SELECT count(*) FROM wakes")  # nothing of the episodes is looked at


def test_spooled_rows_are_there(tmp_path: Path) -> None:
    at = make_harbor(tmp_path)
    opened = "SELECT count(*) FROM wakes WHERE closed_at IS NULL"
    before = asked(at, opened)[0][0]
    (at.root / ".git/MERGE_HEAD").write_text("0" * 40 + "\n")
    at.run("wake", "add", "juno", "--reason", "manual")
    assert asked(at, opened)[0][0] == before + 1


# ── who reads what ──────────────────────────────────────────────────────────────────────────

SEEN = {
    OWNER: {"atlas", "juno", "nova"},
    KIM: {"atlas", "juno", "nova"},
    ATLAS: {"atlas", "nova"},
    NOVA: {"nova"},
    JUNO: {"juno"},
}


@pytest.mark.parametrize("actor", SEEN, ids=lambda actor: actor.name)
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_mem_06_an_actor_sees_the_rows_of_the_table(
    place: Harbor, view: querying.View, actor: Actor
) -> None:
    sql = f"SELECT DISTINCT agent FROM {view.name}"  # noqa: S608 - our own names
    everyone = {one for (one,) in asked(place, sql)}
    told = {one for (one,) in asked(place, sql, actor)}
    assert told == (everyone if actor.is_person else everyone & SEEN[actor])


@pytest.mark.parametrize("actor", [NOVA, JUNO, ATLAS], ids=lambda actor: actor.name)
@pytest.mark.parametrize(
    "table", ["episodes", "corrections", "reflections", "wakes", "claims", "cards"]
)
def test_no_other_row_is_even_in_the_database(place: Harbor, table: str, actor: Actor) -> None:
    sql = f"SELECT DISTINCT agent FROM {table} UNION SELECT agent FROM loaded.{table}"  # noqa: S608
    assert {one for (one,) in asked(place, sql, actor)} <= SEEN[actor]


def test_a_card_of_nobody_and_the_faults_of_cards_are_for_people(tmp_path: Path) -> None:
    at = make_harbor(tmp_path)
    at.run("task", "add", "For whoever has time")
    (at.root / "Org/Backlog/t-00000000.md").write_text("---\nid: t-00000000\nstatus: secret\n---\n")
    for actor, cards, faults in ((OWNER, 1, True), (NOVA, 0, False)):
        sql = "SELECT count(*) FROM cards WHERE agent IS NULL"
        with querying.answer(desk(at, actor), sql) as (found, problems):
            assert list(found.rows) == [(cards,)]
        assert bool(problems) == faults


def test_the_rows_of_agents_that_left_are_for_people(tmp_path: Path) -> None:
    at = make_harbor(tmp_path)
    counts = [f"SELECT count(*) FROM {name}" for name in ("episodes", "claims", "wakes")]  # noqa: S608
    before = [asked(at, sql) for sql in counts]
    at.edit_org(r"(?ms)^  juno:\n(?:    .*\n|\n)+", "")
    assert "juno" not in load(Vault(str(at.root)))[0].agents
    assert [asked(at, sql) for sql in counts] == before
    agents = asked(at, "SELECT DISTINCT agent FROM episodes", ATLAS)
    assert sorted(agents) == [("atlas",), ("nova",)]


# ── words and bounds ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELEC 1", 'syntax error at or near "SELEC" (line 1, column 1)'),
        ("SELECT 1,\n  'größe 🌍', nix FROM episodes", "(line 2, column 14)"),
        ("SELECT *\nFROM episode", '"episodes"? (line 2, column 6)'),
        ("SELECT 'x'::INT", "Could not convert string 'x' to INT32 (line 1, column 11)"),
        ("SELECT error('own words')", "own words"),
        ("FROM rounds", "rounds does not exist"),
        ("SELECT sum(text) FROM claims", "sum(VARCHAR)"),
        ("SELECT turns FROM episodes GROUP BY agent", "must appear in the GROUP BY"),
        ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "depth"),
    ],
)
def test_a_bad_query_is_told_in_the_librarys_words_with_the_place(
    place: Harbor, sql: str, said: str
) -> None:
    with pytest.raises(BadQuery) as failure:
        asked(place, sql)
    assert said in str(failure.value)
    assert failure.value.exit_code == 1
    assert len(str(failure.value).splitlines()) == 1
    assert len(str(failure.value)) < 800
    assert "{" not in str(failure.value)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE random() > 2",
        "SELECT * FROM range(1000000000000)",
        "WITH RECURSIVE r AS (SELECT 1 a UNION ALL SELECT a + 1 FROM r) SELECT count(*) FROM r",
    ],
)
def test_what_takes_too_long_is_stopped(place: Harbor, sql: str) -> None:
    with pytest.raises(QueryTooLong, match=r"after 0\.5 seconds"):
        asked_and_dropped(place, sql, 0.5)


def asked_and_dropped(at: Harbor, sql: str, limit_s: float) -> None:
    """Take the rows of an answer and keep none."""
    with querying.answer(desk(at), sql, limit_s=limit_s) as (found, _):
        for _ in found.rows:
            pass


def test_the_time_of_the_reader_does_not_count(place: Harbor) -> None:
    sql = "SELECT * FROM range(3000)"
    with querying.answer(desk(place), sql, limit_s=2) as (found, _):
        first = next(found.rows)
        subprocess.run(["sleep", "2.2"], check=True)
        assert len([first, *found.rows]) == 3000


BIG = [
    "SELECT length(repeat('x', 3000000000))",
    "SELECT len(range(3000000000))",
    "SELECT length(string_agg(i::VARCHAR || repeat('y', 100))) FROM range(100000000) t(i)",
    "SELECT list(i) FROM range(3000000000) t(i)",
]
ALONE = """
import resource, sys
from orgvault.__main__ import run
sys.argv = ["orgvault", "query", sys.argv[1], "--format", "csv"]
from orgvault.services import querying
from orgvault.cli import query
try:
    query.query.main([sys.argv[2]], standalone_mode=False)
except Exception as failure:
    print(type(failure).__name__, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells and bounds it")
@pytest.mark.parametrize("sql", BIG)
def test_what_takes_too_much_memory_is_refused(place: Harbor, sql: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE, sql], cwd=place.root, capture_output=True, text=True,
        check=False, env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    name, most_mb = done.stdout.split()
    assert (name, int(most_mb) < 1300) == (QueryTooLarge.__name__, True), done


def test_the_bound_of_memory_is_lifted_again(place: Harbor) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(QueryTooLarge):
        asked(place, BIG[0])
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_values_are_exact(place: Harbor) -> None:
    sql = "SELECT typeof(cost_usd), typeof(sum(cost_usd)) FROM episodes GROUP BY ALL LIMIT 1"
    assert asked(place, sql) == [("DECIMAL(18,6)", "DECIMAL(38,6)")]


def test_json_of_everything_is_loaded_as_it_is_written(tmp_path: Path) -> None:
    at = make_harbor(tmp_path)
    (path,) = (at.root / ".agents/org/episodes/nova").glob("2026-11-0001.*")
    lines = path.read_text("utf-8").splitlines()
    row = json.loads(lines[0]) | {
        "wakes": ["w-1", "w-2"], "summary": 'I said "no" – 修复 \\n\n',
        "transcript": {"path": '/a "b"/ü.jsonl', "sha256": "0" * 64}, "cost_usd": 5e-05,
    }  # fmt: skip
    path.write_text("\n".join([json.dumps(row, ensure_ascii=False), *lines[1:]]) + "\n", "utf-8")
    sql = f"""SELECT wakes, summary, transcript, cost_usd::VARCHAR FROM episodes
WHERE id = '{row["id"]}'"""  # noqa: S608 - the test's own row
    assert asked(at, sql) == [(row["wakes"], row["summary"], row["transcript"], "0.000050")]
