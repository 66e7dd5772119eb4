"""`import claude-code` and `import codex`."""

import io
from pathlib import Path

import pytest

from orgvault.cli import importing
from orgvault.cli.importing import Bar
from tests.harbor import BUILD, Harbor

DATA = Path(__file__).resolve().parents[1] / "data" / "sessions"
CLAUDE, CODEX = str(DATA / "claude-code"), str(DATA / "codex")


def test_it_says_what_it_did(harbor: Harbor) -> None:
    told = harbor.run("import", "claude-code", CLAUDE, "--agent", "nova")
    assert told.out == (
        "imported 4 sessions of claude-code for nova\n"
        "  with 2 files of their sub-agents\n"
        "  1 skipped: empty\n"
        "  1 skipped: no session of this client\n"
        "  1 skipped: repeating another session\n"
    )
    assert told.err.splitlines()[:2] == [
        f"orgvault: {CLAUDE}/empty.jsonl: is empty",
        f"orgvault: {CLAUDE}/notes.jsonl: is no session of claude-code",
    ]
    again = harbor.run("import", "claude-code", CLAUDE, "--agent", "nova", "--quiet")
    assert again.out.startswith("imported 0 sessions of claude-code for nova\n  4 already recorded")
    assert again.err == ""


def test_the_object(harbor: Harbor) -> None:
    done = harbor.json("import", "codex", CODEX, CLAUDE + "/notes.jsonl", "--agent", "juno")
    assert list(done) == [
        "agent", "client", "imported", "already_recorded", "sub_agents", "skipped", "remarks",
    ]  # fmt: skip
    assert [run[:6] for run in done["imported"]] == ["codex:", "codex:"]
    assert done["skipped"] == [
        {"path": f"{CLAUDE}/notes.jsonl", "reason": "no_session", "why": "is no session of codex"}
    ]


def test_a_dry_run_writes_nothing(harbor: Harbor) -> None:
    head = harbor.git("rev-parse", "HEAD")
    told = harbor.run("import", "codex", CODEX, "--agent", "juno", "--dry-run")
    assert told.out.startswith("(dry run) imported 2 sessions of codex for juno\n")
    assert "would commit: import(juno): 2 sessions of codex\n  + episodes/juno: {" in told.out
    assert harbor.git("rev-parse", "HEAD") == head
    assert harbor.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("since", "count"), [("2026-11-07", 1), ("2026-11-06T11:01:09+01:00", 2), ("2027-01-01", 0)]
)
def test_since(harbor: Harbor, since: str, count: int) -> None:
    done = harbor.json("import", "codex", CODEX, "--agent", "juno", "--since", since)
    assert len(done["imported"]) == count


@pytest.mark.parametrize("since", ["yesterday", "2026-11", "2026-11-06T10:00:00", "0000-01-01"])
def test_since_is_a_day_or_an_instant(harbor: Harbor, since: str) -> None:
    told = harbor.run("import", "codex", CODEX, "--agent", "juno", "--since", since, code=2)
    assert "UTC day" in told.err


def test_what_is_missing(harbor: Harbor) -> None:
    assert "is not there" in harbor.run("import", "codex", "x", "--agent", "juno", code=1).err
    assert "no agent `eve`" in harbor.run("import", "codex", CODEX, "--agent", "eve", code=1).err
    assert "--agent" in harbor.run("import", "codex", CODEX, code=2).err
    assert "PATH" in harbor.run("import", "codex", "--agent", "juno", code=2).err


def test_only_the_owner_may(harbor: Harbor) -> None:
    words = ("import", "codex", CODEX, "--agent", "juno")
    harbor.run(*words, code=4, ORGVAULT_OPERATOR="kim")
    harbor.run(*words, code=4, ORGVAULT_AGENT="juno")


def test_an_imported_run_can_be_reflected_on(harbor: Harbor) -> None:
    (run,) = harbor.json("import", "claude-code", BUILD, "--agent", "nova")["imported"]
    done = harbor.json("reflect", "nova", "--run", run)
    assert (done["new"], done["reflection"]["result"]) == (False, "applied")
    assert done["episode"]["transcript"]["path"] == BUILD


def test_interrupted_it_says_how_far_it_came(
    harbor: Harbor, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(Bar):
        def __call__(self, what: str, done: int, total: int) -> None:
            if what == "reading" and 0 < done < total:
                raise KeyboardInterrupt

    monkeypatch.setattr(importing, "Bar", Interrupted)
    told = harbor.run("import", "claude-code", CLAUDE, "--agent", "nova", code=130)
    assert "0 sessions recorded so far; run it again to go on" in told.err
    monkeypatch.undo()
    assert len(harbor.json("import", "claude-code", CLAUDE, "--agent", "nova")["imported"]) == 4


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "shown", "after_s", "seen"),
    [
        (Terminal(), True, 0.0, True),
        (Terminal(), True, 60.0, False),
        (Terminal(), False, 0.0, False),
        (io.StringIO(), True, 0.0, False),
    ],
)
def test_the_bar_is_for_a_terminal_after_a_second(
    stream: io.StringIO, *, shown: bool, after_s: float, seen: bool
) -> None:
    bar = Bar(stream, shown=shown, after_s=after_s)
    bar("looking", 1, 3)
    bar("reading", 2, 3)
    bar.close()
    bar("reading", 3, 3)
    assert ("reading" in stream.getvalue()) is seen
