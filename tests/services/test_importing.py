"""Backfill: every session once, every message once, whatever order they come in."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orgvault.domain.access import Actor
from orgvault.domain.episode import Episode
from orgvault.errors import BadFile, NotAllowed
from orgvault.services import importing
from orgvault.services.desk import Desk
from orgvault.services.importing import Imported, Importing
from orgvault.store.roster import load
from orgvault.store.vault import Vault
from tests.harbor import Harbor, make_harbor

DATA = Path(__file__).resolve().parents[1] / "data" / "sessions"
CLAUDE, CODEX = DATA / "claude-code", DATA / "codex"
TIDES, RESUMED, FORKED, FAILED, LEFT = (f"0a1b2c3d-0001-4000-8000-{n:012}" for n in range(1, 6))
BOOKS, MAPS, _ = (f"019b0000-000{n}-7000-8000-{n:012}" for n in range(1, 4))
OWNER = Actor("owner", "sam")


class Stopped:
    """A clock that stands still."""

    def now(self) -> str:
        return "2026-12-01T12:00:00Z"

    def monotonic(self) -> float:
        return 0.0


class Work:
    """One vault, into which sessions are imported."""

    def __init__(self, harbor: Harbor) -> None:
        self.harbor = harbor

    def desk(self, actor: Actor = OWNER) -> Desk:
        vault = Vault.find(str(self.harbor.root))
        return Desk(vault, load(vault)[0], actor, Stopped(), bytes, "0", len, ("harbourmaster",))

    def take(
        self, *paths: Path, client: str = "claude-code", agent: str = "nova", since: str = "",
        progress: Callable[[str, int, int], None] = lambda *_: None,
    ) -> Imported:  # fmt: skip
        work = Importing(self.desk(), agent, client, progress, since=since)
        return work.run([str(path) for path in paths])

    def episode(self, session: str, agent: str = "nova") -> Episode:
        (found,) = self.desk().vault.logs.find(Episode, "episodes", agent, "session", [session])
        return found

    def tokens(self, session: str, agent: str = "nova") -> tuple[int | None, int | None]:
        found = self.episode(session, agent)
        return found.tokens_in, found.tokens_out


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(make_harbor(tmp_path))


def reasons(done: Imported) -> dict[str, str]:
    return {Path(one.path).name: one.reason for one in done.skipped}


def written(path: Path, *lines: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def spoke(session: str, message: str, second: int, text: str = "Done.") -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 2}
    block = {"type": "text", "text": text}
    body = {"id": message, "model": "opus", "content": [block], "usage": usage}
    at = f"2026-11-09T08:00:{second:02}Z"
    return {"type": "assistant", "sessionId": session, "message": body, "timestamp": at}


def test_a_folder_of_sessions(work: Work) -> None:
    done = work.take(CLAUDE)
    assert done.imported == tuple(
        f"claude-code:{name}" for name in (TIDES, RESUMED, FORKED, FAILED)
    )
    assert (done.sub_agents, done.already_recorded, done.remarks) == (2, (), ())
    assert reasons(done) == {
        "empty.jsonl": "empty", "notes.jsonl": "no_session", f"{LEFT}.jsonl": "repeats",
    }  # fmt: skip
    assert work.harbor.subjects(1) == ["import(nova): 4 sessions of claude-code"]


def test_what_an_episode_holds(work: Work) -> None:
    work.take(CLAUDE)
    found = work.episode(TIDES)
    assert (found.run, found.client) == (f"claude-code:{TIDES}", "claude-code")
    assert (found.reason, found.outcome, found.exit_code) == ("manual", "no_report", 0)
    assert (found.cost_usd, found.duration_s) == (None, None)
    assert (found.turns, found.model) == (2, "claude-sonnet-4-5")
    assert (found.started_at, found.finished_at) == ("2026-11-02T09:00:00Z", "2026-11-02T09:00:20Z")
    assert found.summary.endswith("after 2 turns: The boat can leave at 10:40.")
    assert found.reflect_skipped == "imported"
    assert found.transcript is not None
    assert found.transcript.path == str(CLAUDE / f"{TIDES}.jsonl")


def test_sub_agents_count_for_their_session(work: Work) -> None:
    work.take(CLAUDE)
    # Two messages of its own, one aside in its file, one below it, one in a file beside it.
    assert work.tokens(TIDES) == (500, 20 + 30 + 5 + 7 + 1)


def test_a_session_named_alone_brings_its_sub_agents(work: Work) -> None:
    done = work.take(CLAUDE / f"{TIDES}.jsonl")
    assert (done.sub_agents, done.skipped) == (2, ())
    assert work.tokens(TIDES) == (500, 63)


def test_a_sub_agent_alone_is_no_episode(work: Work) -> None:
    done = work.take(CLAUDE / TIDES, CLAUDE / "agent-77f0aa2.jsonl")
    assert done.imported == ()
    assert set(reasons(done).values()) == {"sub_agent"}


def test_a_resumed_or_forked_session_has_only_what_is_new(work: Work) -> None:
    work.take(CLAUDE)
    assert work.tokens(RESUMED) == (100, 40)
    assert work.tokens(FORKED) == (100, 8)
    assert work.episode(RESUMED).turns == work.episode(FORKED).turns == 1
    assert work.episode(RESUMED).started_at == "2026-11-03T08:00:00Z"
    assert work.episode(FORKED).started_at == "2026-11-04T08:00:00Z"


def test_a_message_counts_once_when_the_original_comes_later(work: Work) -> None:
    work.take(CLAUDE / f"{RESUMED}.jsonl", CLAUDE / f"{FORKED}.jsonl")
    before = [work.episode(name) for name in (RESUMED, FORKED)]
    assert sum(one.turns or 0 for one in before) == 4
    work.take(CLAUDE)
    assert [work.episode(name) for name in (RESUMED, FORKED)] == before
    with pytest.raises(ValueError, match="unpack"):
        work.episode(TIDES)  # all it holds is recorded: it repeats


def test_an_error_at_the_end_is_one(work: Work) -> None:
    work.take(CLAUDE)
    found = work.episode(FAILED)
    assert (found.outcome, found.exit_code, found.turns) == ("error", 1, 1)
    assert found.summary.endswith("API Error: 529 overloaded")


def test_secrets_are_masked(work: Work, tmp_path: Path) -> None:
    work.take(CLAUDE)
    assert 'token="[secret]"' in work.episode(FORKED).summary
    path = written(tmp_path / "s.jsonl", spoke("s", "m", 1, "I told the harbourmaster."))
    work.take(path)
    assert work.episode("s").summary.endswith("I told the [secret].")


def test_again_is_nothing_new(work: Work) -> None:
    first = work.take(CLAUDE)
    head = work.harbor.git("rev-parse", "HEAD")
    again = work.take(CLAUDE)
    assert again.imported == ()
    assert set(again.already_recorded) == set(first.imported)
    assert work.harbor.git("rev-parse", "HEAD") == head


def test_a_session_recorded_under_another_run_is_recorded(work: Work) -> None:
    path = CLAUDE / f"{TIDES}.jsonl"
    work.harbor.finish("nova", "run-1", "--transcript", str(path))
    done = work.take(CLAUDE)
    assert done.already_recorded == ("run-1",)
    assert len(done.imported) == 3
    assert work.tokens(RESUMED) == (100, 40)


def test_a_session_of_another_agent_is_recorded(work: Work) -> None:
    work.take(CLAUDE)
    done = work.take(CLAUDE, agent="juno")
    assert (done.imported, len(done.already_recorded)) == ((), 4)
    assert done.remarks == ("4 of those already recorded are nova's",)


def test_codex_sessions(work: Work) -> None:
    done = work.take(CODEX, client="codex", agent="juno")
    assert done.imported == (f"codex:{BOOKS}", f"codex:{MAPS}")
    assert (done.sub_agents, done.skipped) == (1, ())
    assert work.tokens(BOOKS, "juno") == (250 + 40, 30 + 4)
    found = work.episode(BOOKS, "juno")
    assert (found.turns, found.model, found.cost_usd) == (2, "gpt-5.5", None)
    assert (found.started_at, found.finished_at) == ("2026-11-06T10:00:00Z", "2026-11-06T10:01:09Z")


def test_a_forked_codex_session_has_only_what_is_new(work: Work) -> None:
    work.take(CODEX, client="codex", agent="juno")
    assert work.tokens(MAPS, "juno") == (150, 25)
    found = work.episode(MAPS, "juno")
    assert (found.turns, found.started_at) == (1, "2026-11-07T09:00:00Z")
    assert found.summary.endswith("after 1 turn: The maps lie flat now.")


def test_a_session_in_two_files_is_one(work: Work, tmp_path: Path) -> None:
    shutil.copytree(CLAUDE, tmp_path / "copy")
    shutil.copytree(CODEX, tmp_path / "archive")
    assert len(work.take(CLAUDE, tmp_path / "copy").imported) == 4
    assert work.tokens(TIDES) == (500, 63)
    done = work.take(CODEX, tmp_path / "archive", client="codex", agent="juno")
    assert len(done.imported) == 2
    assert work.tokens(BOOKS, "juno") == (290, 34)
    assert work.episode(BOOKS, "juno").turns == 2


def test_since_is_by_the_end_and_still_counts_messages_once(work: Work) -> None:
    done = work.take(CLAUDE, since="2026-11-03T08:00:09Z")
    assert done.imported == tuple(f"claude-code:{name}" for name in (RESUMED, FORKED, FAILED))
    assert reasons(done)[f"{TIDES}.jsonl"] == "before_since"
    assert work.tokens(RESUMED) == (100, 40)


def test_batches_are_commits_and_an_interrupt_keeps_them(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH_ROWS", 4)
    for n in range(10):
        written(tmp_path / "many" / f"s{n}.jsonl", spoke(f"s{n}", f"m{n}", n))

    def stop(what: str, done: int, total: int) -> None:
        assert total == 10
        if (what, done) == ("reading", 9):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work.take(tmp_path / "many", progress=stop)
    assert work.harbor.subjects(2) == ["import(nova): 4 sessions of claude-code"] * 2
    done = work.take(tmp_path / "many")
    assert done.imported == ("claude-code:s8", "claude-code:s9")
    assert len(done.already_recorded) == 8


def test_a_file_without_times_ended_when_it_was_last_written(work: Work, tmp_path: Path) -> None:
    line = spoke("s", "m", 1)
    del line["timestamp"]
    path = written(tmp_path / "s.jsonl", line)
    work.take(path)
    found = work.episode("s")
    assert found.started_at is None
    assert found.finished_at[:2] == "20"


def test_what_has_no_id_or_an_odd_one_is_a_run_all_the_same(work: Work, tmp_path: Path) -> None:
    line = spoke("", "m1", 1)
    written(tmp_path / "x" / "none.jsonl", line)
    written(tmp_path / "x" / "copy.jsonl", line)
    written(tmp_path / "x" / "odd.jsonl", spoke("séance du 9 / 1", "m2", 2))
    done = work.take(tmp_path / "x")
    none, odd = done.imported
    assert none.startswith("claude-code:file-")
    assert odd.startswith("claude-code:s-")
    assert reasons(done) == {"none.jsonl": "repeats"}
    assert len(work.take(tmp_path / "x").already_recorded) == 2


def test_what_cannot_be_read_keeps_nothing_else_from_it(work: Work, tmp_path: Path) -> None:
    folder = tmp_path / "x"
    written(folder / "good.jsonl", spoke("s", "m", 1))
    (folder / "bad.jsonl").write_bytes(b"\xff\xfe\n{" * 99)
    (folder / "blank.jsonl").write_bytes(b"\n \n")
    (folder / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    written(folder / "silent.jsonl", {"type": "summary", "summary": "Nothing", "leafUuid": "x"})
    done = work.take(folder, tmp_path / "missing.jsonl")
    assert done.imported == ("claude-code:s",)
    assert reasons(done) == {
        "bad.jsonl": "no_session", "blank.jsonl": "empty", "gone.jsonl": "unreadable",
        "missing.jsonl": "unreadable", "silent.jsonl": "silent",
    }  # fmt: skip


def test_lines_that_cannot_be_read_are_said(work: Work, tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", spoke("s", "m", 1))
    with path.open("ab") as file:
        file.write(b'{"type": "user", \n')
    assert work.take(path).remarks == (f"{path}: 1 line could not be read",)


def test_only_the_owner_may(work: Work) -> None:
    for actor in (Actor("operator", "kim"), Actor("agent", "nova"), Actor("agent", "atlas")):
        with pytest.raises(NotAllowed, match="import runs of nova"):
            Importing(work.desk(actor), "nova", "codex", lambda *_: None)


def test_no_path_at_all_is_said(work: Work, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="is not there"):
        work.take(tmp_path / "missing")
