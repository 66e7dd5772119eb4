"""Protected places, reached by a path that somebody hands over: by name, by links, by folders."""

import os
import shutil
from pathlib import Path

import pytest

from tests.harbor import BUILD, Harbor

REFUSED = "stands in a protected place and was not read"


@pytest.fixture
def finance(harbor: Harbor) -> Path:
    """A session that stands in a protected folder of the vault."""
    place = harbor.root / "Areas" / "Finance"
    place.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(BUILD, place / "s.jsonl"))


def reached(how: str, session: Path, tmp_path: Path) -> str:
    """A path that leads to the session."""
    if how == "name":
        return str(session)
    if how == "link":
        (tmp_path / "to.jsonl").symlink_to(session)
        return str(tmp_path / "to.jsonl")
    if how == "folder":
        (tmp_path / "folder").symlink_to(session.parent)
        return str(tmp_path / "folder" / "s.jsonl")
    elsewhere = tmp_path / "elsewhere"  # the protected folder itself is a link
    session.parent.rename(elsewhere)
    session.parent.symlink_to(elsewhere)
    return str(elsewhere / "s.jsonl")


HOW = pytest.mark.parametrize("how", ["name", "link", "folder", "linked place"])


@HOW
def test_a_protected_transcript_is_not_read_and_the_run_is_recorded(
    harbor: Harbor, finance: Path, tmp_path: Path, how: str
) -> None:
    path = reached(how, finance, tmp_path)
    before = harbor.claims("nova")
    wake = harbor.wake("nova")
    words = ["--run", "run-1", "--turns", "5", "--result", "done: ok", "--transcript", path]
    told = harbor.run("wake-done", wake, *words)
    assert REFUSED in told.err
    (row,) = [one for one in harbor.rows("episodes", "nova") if one["run"] == "run-1"]
    assert (row["outcome"], row["transcript"]) == ("done", None)
    assert harbor.claims("nova") == before


@HOW
def test_a_protected_session_is_not_imported(
    harbor: Harbor, finance: Path, tmp_path: Path, how: str
) -> None:
    path = reached(how, finance, tmp_path)
    done = harbor.json("import", "claude-code", path, "--agent", "nova")
    assert (done["imported"], [one["reason"] for one in done["skipped"]]) == ([], ["protected"])


def test_an_import_of_the_vault_leaves_out_what_is_protected(harbor: Harbor, finance: Path) -> None:
    for place in ("CURRENT", "Notes"):
        (harbor.root / place).mkdir()
    shutil.copy(finance, harbor.root / "CURRENT" / "t.jsonl")
    told = harbor.run("import", "claude-code", ".", "--agent", "nova")
    assert "imported 0 sessions" in told.out
    assert told.err.count(REFUSED) == 2


@HOW
def test_a_protected_log_is_not_recorded(
    harbor: Harbor, finance: Path, tmp_path: Path, how: str
) -> None:
    path = reached(how, finance, tmp_path)
    wake = harbor.wake("nova")
    told = harbor.run("wake-done", wake, "--run", "run-1", "--turns", "1", "--log", path)
    assert "is not recorded as the log" in told.err
    assert harbor.rows("episodes", "nova")[-1]["log"] is None


def test_a_picture_is_not_drawn_into_a_protected_place_by_a_link(
    harbor: Harbor, finance: Path, tmp_path: Path
) -> None:
    (tmp_path / "folder").symlink_to(finance.parent)
    told = harbor.run("stats", "--plot", str(tmp_path / "folder" / "a.svg"), code=4)
    assert "which is protected" in told.err
    assert not (finance.parent / "a.svg").exists()


def test_a_picture_waits_for_no_pipe_and_follows_no_loop(harbor: Harbor) -> None:
    os.mkfifo(harbor.root / "pipe.svg")
    (harbor.root / "loop.svg").symlink_to("loop.svg")
    assert "is no SVG" in harbor.run("stats", "--plot", "pipe.svg", code=1).err
    assert "loop.svg cannot be written" in harbor.run("stats", "--plot", "loop.svg", code=1).err


def test_a_picture_replaces_no_note_that_speaks_of_svg(harbor: Harbor) -> None:
    note = harbor.root / "note.svg"
    note.write_text("# my note about <svg tags\n", "utf-8")
    assert "is no SVG" in harbor.run("stats", "--plot", "note.svg", code=1).err
    assert note.read_text("utf-8") == "# my note about <svg tags\n"
