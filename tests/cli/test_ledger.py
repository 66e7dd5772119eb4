"""`ledger sync|list|show`: access, output, the picture; and the marks in the statistics."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from orgvault.domain.instants import days_before
from orgvault.domain.ledger import Compared, Entry, Verdict, Window
from orgvault.domain.ledger_file import write_entry
from tests.harbor import Harbor
from tests.proposals import commit, filed

SHIPPED = "2026-10-12T09:00:00Z"
BEFORE = Window(
    since=days_before(SHIPPED, 14), until=SHIPPED, episodes=40, done=30, corrected=12,
    cost_usd=31.5, priced=38,
)  # fmt: skip
NOVAS = Entry(
    card="imp-00000001", agent="nova", memory_id="c-7f3k2q9d", shipped_commit="0" * 40,
    shipped_at=SHIPPED, shipped_by="Sam", before=BEFORE,
    after=replace(BEFORE, since=SHIPPED, until=days_before(SHIPPED, -14), corrected=2),
    margin=0.1, corrections=Compared(observed=0.167, low=0.04, high=0.55),
    cost=Compared(observed=0.9, low=0.7, high=1.05), verdict=Verdict.KEEP,
    measured_at=days_before(SHIPPED, -15), confounders=("the model changed: a, then b",),
)  # fmt: skip
JUNOS = replace(
    NOVAS, card="imp-00000002", agent="juno", after=None, corrections=None, cost=None,
    margin=None, verdict=None, measured_at=None, confounders=(), next_at=days_before(SHIPPED, -14),
)  # fmt: skip


@pytest.fixture
def ledger(harbor: Harbor) -> Harbor:
    """A harbor with an entry of nova and one of juno."""
    folder = harbor.root / ".agents/org/ledger"
    folder.mkdir()
    for one in (NOVAS, JUNOS):
        (folder / f"{one.card}.yaml").write_text(write_entry(one), "utf-8")
    return harbor


# nova is led by atlas, juno by kim, who sees all as an operator.
@pytest.mark.parametrize(
    ("who", "seen"),
    [
        ({}, {"nova", "juno"}),
        ({"ORGVAULT_OPERATOR": "kim"}, {"nova", "juno"}),
        ({"ORGVAULT_AGENT": "atlas"}, {"nova"}),
        ({"ORGVAULT_AGENT": "nova"}, {"nova"}),
        ({"ORGVAULT_AGENT": "juno"}, {"juno"}),
    ],
    ids=["owner", "operator", "lead", "self", "other"],
)
def test_everybody_sees_the_rows_of_the_table(
    ledger: Harbor, who: dict[str, str], seen: set[str]
) -> None:
    assert {one["agent"] for one in ledger.json("ledger", "list", **who)["entries"]} == seen
    for one in (NOVAS, JUNOS):
        code = 0 if one.agent in seen else 4
        ledger.run("ledger", "show", one.card, code=code, **who)
    ledger.run("ledger", "sync", code=0 if not who else 4, **who)


def test_what_is_not_there_and_what_is_not_theirs_read_alike(ledger: Harbor) -> None:
    told = [
        ledger.run("ledger", "show", card, code=4, ORGVAULT_AGENT="juno").err.replace(card, "it")
        for card in (NOVAS.card, "imp-zzzzzzzz", "../x")
    ]
    assert len(set(told)) == 1
    assert "no ledger entry `imp-zzzzzzzz`" in ledger.run(
        "ledger", "show", "imp-zzzzzzzz", code=1
    ).err  # fmt: skip


def test_a_line_for_each_latest_first(ledger: Harbor) -> None:
    lines = ledger.run("ledger", "list").out.splitlines()
    assert [line.split()[0] for line in lines] == ["card", JUNOS.card, NOVAS.card]
    assert "keep" in lines[2]
    assert "×0.04–0.55" in lines[2]
    assert "waiting" in lines[1]
    assert "2026-10-26" in lines[1]


def test_nothing_yet(harbor: Harbor) -> None:
    assert harbor.run("ledger", "list").out == "Nothing was shipped yet.\n"
    assert harbor.run("ledger", "sync").out == "Nothing new.\n"


def test_one_entry_in_words(ledger: Harbor) -> None:
    assert ledger.run("ledger", "show", NOVAS.card).out == (
        "imp-00000001 of nova: keep\n"
        "  shipped 2026-10-12T09:00:00Z by Sam (0000000000)\n"
        "  answers c-7f3k2q9d\n"
        "  before: 2026-09-28 to 2026-10-12, 30 done of 40 episodes, 12 corrected, $31.5000, "
        "38 priced\n"
        "  after: 2026-10-12 to 2026-10-26, 30 done of 40 episodes, 2 corrected, $31.5000, "
        "38 priced\n"
        "  corrections per completed card: ×0.167, between ×0.04 and ×0.55\n"
        "  cost per completed card: ×0.9, between ×0.7 and ×1.05\n"
        "  margin ×1.1, measured 2026-10-27T09:00:00Z\n"
        "  beside it: the model changed: a, then b\n"
    )
    told = ledger.json("ledger", "show", JUNOS.card)
    assert (told["verdict"], told["after"], told["next_at"]) == (None, None, JUNOS.next_at)
    assert "is measured on 2026-10-26" in ledger.run("ledger", "show", JUNOS.card).out


def test_a_broken_entry_is_named_to_people_only(ledger: Harbor) -> None:
    folder = ledger.root / ".agents/org/ledger"
    (folder / "imp-00000003.yaml").write_text("card: imp-00000003\nverdict: maybe\n", "utf-8")
    (folder / "imp-00000001 (copy).yaml").write_text("", "utf-8")
    told = ledger.run("ledger", "list")
    assert "imp-00000003.yaml:2: verdict: `maybe` is not one of" in told.err
    assert "(copy).yaml" in told.err
    assert NOVAS.card in told.out
    assert ledger.run("ledger", "list", ORGVAULT_AGENT="nova").err == ""
    assert "imp-00000003.yaml:1: " in ledger.run("ledger", "show", "imp-00000003", code=1).err


def test_the_picture_of_both_windows(ledger: Harbor, tmp_path: Path) -> None:
    file = tmp_path / "windows.svg"
    told = ledger.run("ledger", "show", NOVAS.card, "--plot", str(file))
    assert told.err == f"orgvault: wrote {file}\n"
    first = file.read_bytes()
    assert b"imp-00000001 shipped" in first
    title = ET.fromstring(first)[0].text  # noqa: S314 - our own file
    assert title == "imp-00000001 of nova: keep"
    ledger.run("ledger", "show", NOVAS.card, "--plot", str(file))
    assert file.read_bytes() == first
    told = ledger.run("ledger", "show", JUNOS.card, "--plot", str(tmp_path / "x.svg"), "--dry-run")
    assert "would write" in told.err
    assert not (tmp_path / "x.svg").exists()
    ledger.run("ledger", "show", JUNOS.card, "--plot", str(tmp_path / "y.svg"))
    ledger.run(
        "ledger", "show", NOVAS.card, "--plot", "Projects/x.svg", code=4, ORGVAULT_AGENT="nova"
    )


def test_the_statistics_mark_what_was_shipped(ledger: Harbor, tmp_path: Path) -> None:
    file = tmp_path / "weeks.svg"
    ledger.run("memory", "stats", "nova", "--plot", str(file))
    assert "imp-00000001 shipped" in file.read_text("utf-8")
    assert "imp-00000002" not in file.read_text("utf-8")
    ledger.run("stats", "--plot", str(file), ORGVAULT_AGENT="juno")
    assert "imp-00000001" not in file.read_text("utf-8")


def test_a_look_notices_what_was_shipped_and_a_preview_writes_nothing(harbor: Harbor) -> None:
    proposal = filed(harbor, days_ago=1)
    harbor.git("apply", f".agents/org/proposals/{proposal.id}.diff")
    shipped = commit(harbor, "Take it")
    told = harbor.run("ledger", "sync", "--dry-run")
    assert f"{proposal.id}: shipped" in told.out
    assert f"would commit: ledger(nova): {proposal.id} shipped" in told.out
    assert harbor.git("rev-parse", "HEAD").strip() == shipped
    assert harbor.git("status", "--porcelain") == ""
    synced = harbor.json("ledger", "sync")
    assert [one["shipped_commit"] for one in synced["shipped"]] == [shipped]
    assert harbor.git("log", "-1", "--format=%(trailers:key=Orgvault-Op,valueonly)").strip() == (
        "ledger-sync"
    )
    assert harbor.run("ledger", "sync").out == "Nothing new.\n"


def test_the_margin_is_the_owners(harbor: Harbor) -> None:
    from tests.proposals import desk

    assert desk(harbor).roster.ledger_margin == 0.1
    path = harbor.root / ".agents/org/org-agents.json"
    compiled = json.loads(path.read_text("utf-8"))
    compiled["ledger"] = {"margin": 0.25}
    path.write_text(json.dumps(compiled), "utf-8")
    assert desk(harbor).roster.ledger_margin == 0.25
    compiled["ledger"] = {"margin": "much"}
    path.write_text(json.dumps(compiled), "utf-8")
    assert "ledger.margin: expected a number from 0 to 1" in harbor.run("status", code=1).err


def test_a_command_that_lists_imports_nothing_heavy(ledger: Harbor) -> None:
    import subprocess
    import sys

    code = (
        "import sys, orgvault.cli.ledger, orgvault.services.ledgering; print([name for name in "
        "('git', 'duckdb', 'ruamel', 'unidiff', 'statistics', 'random') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
    assert ledger.run("ledger", "list").code == 0


def test_a_question_can_be_asked_of_it(ledger: Harbor) -> None:
    sql = (
        "SELECT card, verdict, before.done AS done, corrections.high AS high, confounders "
        "FROM ledger ORDER BY card"
    )
    assert ledger.json("query", sql)["rows"] == [
        {
            "card": NOVAS.card, "verdict": "keep", "done": 30, "high": 0.55,
            "confounders": ["the model changed: a, then b"],
        },
        {"card": JUNOS.card, "verdict": None, "done": 30, "high": None, "confounders": []},
    ]  # fmt: skip
    rows = ledger.json("query", sql, ORGVAULT_AGENT="juno")["rows"]
    assert [one["card"] for one in rows] == [JUNOS.card]


def test_a_check_reads_the_entries(ledger: Harbor) -> None:
    (ledger.root / ".agents/org/ledger/imp-00000003.yaml").write_text("card: 1\n", "utf-8")
    assert (
        "imp-00000003.yaml:1" in ledger.run("check", code=1).out + ledger.run("check", code=1).err
    )
