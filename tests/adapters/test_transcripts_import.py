"""Session files on the disk: whose they are, and what they count."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orgvault.adapters.transcripts import read_session
from orgvault.adapters.transcripts.counting import count
from orgvault.adapters.transcripts.counts import Counted
from orgvault.adapters.transcripts.gathered import gather
from orgvault.adapters.transcripts.lines import mapping
from orgvault.adapters.transcripts.stored import find, glance

DATA = Path(__file__).resolve().parents[1] / "data" / "sessions"
SHARED = Path(__file__).resolve().parents[3] / "shared" / "transcripts"
FUZZ = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def written(path: Path, *lines: object) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return str(path)


def counted(path: str, client: str = "claude-code") -> Counted:
    found = count(path, client).counted
    assert found is not None
    return found


def line(kind: str, session: str, second: int, **more: object) -> dict[str, Any]:
    body = {"role": kind, "content": "x", **mapping(more.pop("message", {}))}
    at = f"2026-11-09T08:00:{second:02}Z"
    return {"type": kind, "sessionId": session, "timestamp": at, "message": body, **more}


def test_files_are_found_once_and_in_order(tmp_path: Path) -> None:
    a, b = written(tmp_path / "a.jsonl", 1), written(tmp_path / "in/b.JSONL", 1)
    (tmp_path / "in/c.jsonl").symlink_to(a)
    (tmp_path / "in/notes.md").write_text("x")
    (tmp_path / "in/again").symlink_to(tmp_path)
    assert find([a, str(tmp_path), str(tmp_path / "in/notes.md")]) == {
        a: True, b: True, str(tmp_path / "in/notes.md"): True,
    }  # fmt: skip


def test_a_session_is_named_as_its_file_else_by_its_last_line(tmp_path: Path) -> None:
    lines = [line("user", "one", 1), line("assistant", "two", 2), {"type": "summary"}]
    assert glance(written(tmp_path / "one.jsonl", *lines), "claude-code").session == "one"
    copied = glance(written(tmp_path / "other.jsonl", *lines), "claude-code")
    assert (copied.session, copied.copied) == ("two", True)
    assert read_session(copied.path)[0].session == "two"


def test_a_long_file_is_known_by_its_ends(tmp_path: Path) -> None:
    long = line("user", "s", 2, message={"content": "y" * 200_000})
    path = written(tmp_path / "s.jsonl", line("user", "s", 1), long, line("assistant", "s", 3))
    found = glance(path, "claude-code")
    assert (found.started_at, found.finished_at) == ("2026-11-09T08:00:01Z", "2026-11-09T08:00:03Z")
    cut = glance(written(tmp_path / "t.jsonl", line("user", "s", 1), long), "claude-code")
    assert (cut.session, cut.finished_at) == ("s", None)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.jsonl")
    fault = glance(str(tmp_path / "p.jsonl"), "codex").fault
    assert fault is not None
    assert fault.why == "is not a regular file"


def test_sub_agents_of_sub_agents_belong_to_the_first(tmp_path: Path) -> None:
    def meta(name: str, parent: str | None) -> dict[str, Any]:
        source: Any = {"subagent": {"thread_spawn": {"parent_thread_id": parent}}}
        payload = {"id": name, "source": source if parent else "cli"}
        return {"type": "session_meta", "payload": payload}

    pairs = (("c", "b"), ("b", "a"), ("a", None), ("x", "gone"), ("y", "z"), ("z", "y"))
    paths = [written(tmp_path / f"{one}.jsonl", meta(one, above)) for one, above in pairs]
    (session,), orphans = gather([glance(path, "codex") for path in paths])
    assert session.name == "a"
    assert [one.session for one in session.sub_agents] == ["c", "b"]
    assert [one.session for one in orphans] == ["x", "y", "z"]


def test_a_folder_called_subagents_above_makes_no_sub_agents(tmp_path: Path) -> None:
    path = written(tmp_path / "subagents" / "s.jsonl", line("user", "s", 1))
    assert not glance(path, "claude-code").sub_agent


def test_a_message_counts_once_as_its_last_line_has_it(tmp_path: Path) -> None:
    def part(tokens: int) -> dict[str, Any]:
        return line("assistant", "s", 2, message={"id": "m", "usage": {"output_tokens": tokens}})

    (only,) = counted(
        written(tmp_path / "s.jsonl", line("user", "s", 1), part(1), part(7))
    ).messages
    assert (only.tokens_in, only.tokens_out, only.since) == (None, 7, "2026-11-09T08:00:01Z")


def test_an_error_that_was_overcome_is_none(tmp_path: Path) -> None:
    failed = line("assistant", "s", 1, isApiErrorMessage=True, message={"content": "API Error"})
    spoke = line("assistant", "s", 2, message={"id": "m"})
    assert counted(written(tmp_path / "a.jsonl", failed, spoke)).error == ""
    assert counted(written(tmp_path / "b.jsonl", spoke, failed)).error == "API Error"
    result = {"type": "result", "subtype": "error_max_turns", "is_error": True, "num_turns": 3}
    assert counted(written(tmp_path / "c.jsonl", spoke, result)).error == "error_max_turns"


def test_a_result_alone_says_what_it_took(tmp_path: Path) -> None:
    usage = {"opus": {"inputTokens": 5, "cacheReadInputTokens": 1, "outputTokens": 2}}
    result = {
        "type": "result", "subtype": "success", "session_id": "s", "num_turns": 4,
        "modelUsage": usage, "result": "All done.",
    }  # fmt: skip
    found = counted(written(tmp_path / "s.jsonl", result))
    (only,) = found.messages
    assert (only.model, only.tokens_in, only.tokens_out) == ("opus", 6, 2)
    assert (found.turns, found.said, found.said_in) == (4, "All done.", only.id)


@pytest.mark.parametrize("copied_at", ["2026-11-01T10:00:00Z", "2026-11-09T08:00:00.300Z"])
def test_what_a_forked_codex_session_copied_is_its_parents(tmp_path: Path, copied_at: str) -> None:
    def event(at: str, kind: str, **payload: object) -> dict[str, Any]:
        return {"timestamp": at, "type": kind, "payload": payload}

    def tokens(at: str, taken: int) -> dict[str, Any]:
        total = {"input_tokens": taken, "output_tokens": taken // 10}
        return event(at, "event_msg", type="token_count", info={"total_token_usage": total})

    def said(at: str, text: str) -> dict[str, Any]:
        block = {"type": "output_text", "text": text}
        return event(at, "response_item", type="message", role="assistant", content=[block])

    path = written(
        tmp_path / "f.jsonl",
        event("2026-11-09T08:00:00Z", "session_meta", id="f", forked_from_id="p"),
        event(copied_at, "session_meta", id="p"),
        event(copied_at, "turn_context", model="old"),
        said(copied_at, "Theirs."),
        tokens(copied_at, 1000),
        event("2026-11-09T08:00:00.500Z", "turn_context", model="new"),
        said("2026-11-09T08:00:02Z", "Mine."),
        tokens("2026-11-09T08:00:02Z", 1200),
    )
    found = counted(path, "codex")
    (only,) = found.messages
    assert (only.id, only.model, only.tokens_in, only.tokens_out) == ("f", "new", 200, 20)
    assert (found.turns, found.said) == (1, "Mine.")


def test_codex_tells_an_error(tmp_path: Path) -> None:
    failed = {"type": "turn.failed", "error": {"message": "stream disconnected"}}
    spoke = {"type": "item.completed", "item": {"type": "agent_message", "text": "Hello."}}
    thread = {"type": "thread.started", "thread_id": "t"}
    assert counted(written(tmp_path / "a.jsonl", thread, spoke, failed), "codex").error
    assert not counted(written(tmp_path / "b.jsonl", thread, failed, spoke), "codex").error


def test_the_oldest_codex_files_begin_bare(tmp_path: Path) -> None:
    head = {"id": "old", "timestamp": "2025-05-01T00:00:00Z", "instructions": None}
    spoke = {"type": "message", "role": "assistant", "content": [{"type": "output_text"}]}
    path = written(tmp_path / "r.jsonl", head, spoke)
    assert glance(path, "codex").session == "old"
    assert read_session(path)[0].session == "old"


@pytest.mark.skipif(not SHARED.exists(), reason="the shared recordings are not here")
@pytest.mark.parametrize("path", sorted(SHARED.glob("*/*.jsonl")), ids=lambda path: path.stem)
def test_recordings_count_as_they_are_read(path: Path) -> None:
    client = path.parent.name
    session, digest = read_session(str(path))
    reading = count(str(path), client)
    found = reading.counted
    assert found is not None
    assert reading.sha256 == digest
    main = [one for one in found.messages if not one.aside]
    assert (found.turns or len(main)) == session.turns
    assert sum(one.tokens_in or 0 for one in main) == session.tokens_in
    assert sum(one.tokens_out or 0 for one in main) == session.tokens_out
    assert (found.started_at, found.finished_at) == (session.started_at, session.finished_at)
    assert glance(str(path), client).session == session.session


KEYS = (
    "id model content usage output_tokens input_tokens subagent source thread_spawn type info"
    " parent_thread_id total_token_usage message error text role result"
)
KINDS = (
    "user assistant result summary session_meta event_msg response_item turn_context turn.failed"
    " item.completed system"
)
TOP = "message payload timestamp sessionId isSidechain forkedFrom subtype item uuid"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS.split()), inner, max_size=4)
    ),
    max_leaves=12,
)
LINE = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS.split())}, optional=dict.fromkeys(TOP.split(), JSON)
)


@given(st.lists(LINE | JSON, max_size=6), st.sampled_from(["claude-code", "codex"]))
@FUZZ
def test_any_lines_are_counted_or_refused(tmp_path: Path, lines: list[object], client: str) -> None:
    path = written(tmp_path / "any.jsonl", *lines)
    gather([one] if not (one := glance(path, client)).fault else [])
    found = count(path, client)
    for message in found.counted.messages if found.counted else ():
        assert message.tokens_in is None or message.tokens_in >= 0
