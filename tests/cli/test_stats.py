"""`stats`, and the picture of both statistics."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.harbor import Harbor

AGENTS = ["atlas", "juno", "nova"]


def test_a_line_for_each_agent_and_the_total(harbor: Harbor) -> None:
    lines = harbor.run("stats").out.splitlines()
    assert [line.split()[0] for line in lines] == ["agent", *AGENTS, "total"]
    assert "80 episodes, 10 unpriced" in lines[-1]
    assert max(map(len, lines)) < 140


def test_it_is_memory_stats_of_each(harbor: Harbor) -> None:
    for days in ([], ["--days", "20000"], ["--days", "0"]):
        told = harbor.json("stats", *days)
        assert [one["agent"] for one in told["agents"]] == AGENTS
        for one in told["agents"]:
            assert one == harbor.json("memory", "stats", one["agent"], *days)
        total = told["total"]
        assert total["agent"] is None
        for name in ("episodes", "done", "corrected", "unpriced"):
            assert total["work"][name] == sum(one["work"][name] for one in told["agents"])
        for name in ("reflections", "calls", "accepted"):
            parts = [one["reflections"][name] for one in told["agents"]]
            assert total["reflections"][name] == sum(parts)


def test_the_total_is_exact(harbor: Harbor) -> None:
    told = harbor.json("stats")["total"]["work"]
    rows = [one for agent in AGENTS for one in harbor.rows("episodes", agent)]
    micro = sum(round(one["cost_usd"] * 1e6) for one in rows if one["cost_usd"] is not None)
    done = sum(one["outcome"] == "done" for one in rows)
    assert (told["cost_usd"], told["done"]) == (micro / 1e6, done)
    assert told["cost_per_completed_card_usd"] == round(micro / done / 1e6, 6)
    assert told["turns"]["largest"] == max(one["turns"] or 0 for one in rows)


def test_nothing_yet_is_no_zero(harbor: Harbor) -> None:
    lines = harbor.run("stats", "--days", "0").out.splitlines()
    assert lines[-1].split()[:6] == ["total", "0", "0", "n/a", "n/a", "n/a"]


@pytest.mark.parametrize(
    ("actor", "seen"),
    [("juno", ["juno"]), ("nova", ["nova"]), ("atlas", ["atlas", "nova"])],
)
def test_an_agent_sees_its_own_and_those_it_leads(
    harbor: Harbor, actor: str, seen: list[str]
) -> None:
    told = harbor.json("stats", ORGVAULT_AGENT=actor)
    assert [one["agent"] for one in told["agents"]] == seen
    assert [
        one["agent"] for one in harbor.json("stats", ORGVAULT_OPERATOR="kim")["agents"]
    ] == AGENTS


def test_a_broken_card_is_named_to_people_only(harbor: Harbor) -> None:
    path = harbor.root / "Org/Backlog/imp-00000000.md"
    path.write_text("---\nid: imp-00000000\nstatus: junos-secret\n---\n", "utf-8")
    assert "junos-secret" in harbor.run("stats").err
    for words in (["stats"], ["memory", "stats", "nova"]):
        assert harbor.run(*words, ORGVAULT_AGENT="nova").err == ""


# ── the picture ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("words", [["stats"], ["memory", "stats", "nova"]], ids=" ".join)
def test_the_picture_is_written_beside_the_figures(
    harbor: Harbor, tmp_path: Path, words: list[str]
) -> None:
    file = tmp_path / "weeks.svg"
    plain = harbor.run(*words)
    told = harbor.run(*words, "--plot", str(file))
    assert told.out == plain.out
    assert told.err == f"orgvault: wrote {file}\n"
    title = ET.parse(file).getroot()[0].text  # noqa: S314 - our own file
    assert title == ("All agents" if words == ["stats"] else "Nova (nova)")
    first = file.read_bytes()
    harbor.run(*words, "--plot", str(file))
    assert file.read_bytes() == first
    assert harbor.json(*words, "--plot", str(file)) == harbor.json(*words)


def test_a_dry_run_draws_nothing(harbor: Harbor, tmp_path: Path) -> None:
    told = harbor.run("stats", "--plot", str(tmp_path / "x.svg"), "--dry-run")
    assert "would write" in told.err
    assert not (tmp_path / "x.svg").exists()


def test_it_stands_where_the_person_says_and_is_not_committed(harbor: Harbor) -> None:
    head = harbor.git("rev-parse", "HEAD")
    harbor.run("stats", "--plot", "Projects/weeks.svg")
    assert (harbor.root / "Projects/weeks.svg").is_file()
    assert harbor.git("status", "--porcelain") == "?? Projects/weeks.svg\n"
    assert harbor.git("rev-parse", "HEAD") == head


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("weeks.png", "give it that ending"),
        ("weeks", "give it that ending"),
        ("nowhere/weeks.svg", "make it first"),
        ("letter.svg", "choose another name"),
        ("folder.svg", "Is a directory"),
        ("link.svg", "give it that ending"),
    ],
)
def test_what_is_no_picture_is_never_replaced(harbor: Harbor, name: str, said: str) -> None:
    (harbor.root / "letter.svg").write_text("Dear Kim")
    (harbor.root / "folder.svg").mkdir()
    (harbor.root / "link.svg").symlink_to("Home.md")
    before = (harbor.root / "Home.md").read_bytes()
    told = harbor.run("stats", "--plot", name, code=1)
    assert told.err.startswith(f"orgvault: {name} cannot be written, ")
    assert said in told.err
    assert len(told.err.splitlines()) == 1
    assert told.out == ""
    assert (harbor.root / "letter.svg").read_text() == "Dear Kim"
    assert (harbor.root / "Home.md").read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(harbor: Harbor, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    told = harbor.run("stats", "--plot", str(tmp_path / "x.svg"), code=1)
    assert "Permission denied" in told.err


PROTECTED = [
    ".git/x.svg", ".git/hooks/x.svg", "Areas/Finance/x.svg", "areas/finance/x.svg",
    "Areas/Health/x.svg", "CURRENT/x.svg", ".env.svg", "Projects/../Areas/Finance/x.svg",
]  # fmt: skip


@pytest.mark.parametrize("name", PROTECTED)
@pytest.mark.parametrize("actor", ["sam", "nova"])
def test_protected_places_stay_as_they_are(harbor: Harbor, name: str, actor: str) -> None:
    if "Areas/Health/" in name and "Areas/Health" not in (
        harbor.root / ".agents/org/org.yaml"
    ).read_text("utf-8"):
        pytest.skip("the fixture vault protects no such place")
    (harbor.root / name).parent.mkdir(parents=True, exist_ok=True)
    who = {"ORGVAULT_AGENT": actor} if actor == "nova" else {}
    told = harbor.run("stats", "--plot", name, code=4, **who)
    assert "may not write" in told.err
    assert not (harbor.root / name).exists()


@pytest.mark.parametrize(
    ("name", "code"),
    [("Projects/x.svg", 4), (".agents/org/x.svg", 4), ("Org/Home/juno/x.svg", 4),
     ("Org/Home/nova/x.svg", 0), ("Org/Home/nova/../juno/x.svg", 4), ("../outside.svg", 0)],
)  # fmt: skip
def test_an_agent_draws_in_its_home_or_outside(harbor: Harbor, name: str, code: int) -> None:
    for agent in ("nova", "juno"):
        (harbor.root / "Org/Home" / agent).mkdir(parents=True, exist_ok=True)
    harbor.run("memory", "stats", "nova", "--plot", name, code=code, ORGVAULT_AGENT="nova")
    assert (harbor.root / name).exists() == (code == 0)


def test_no_picture_for_who_may_not_read(harbor: Harbor, tmp_path: Path) -> None:
    file = tmp_path / "x.svg"
    harbor.run("memory", "stats", "nova", "--plot", str(file), code=4, ORGVAULT_AGENT="juno")
    assert not file.exists()


def test_a_command_that_draws_nothing_imports_no_plot() -> None:
    code = (
        "import sys, orgvault.cli.stats, orgvault.cli.memory; "
        "print([name for name in sys.modules if 'plot' in name or 'duckdb' in name])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
