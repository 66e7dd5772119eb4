"""Session files of every client we read, and files that are none."""

import json
import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orgvault.adapters import transcripts
from orgvault.adapters.transcripts import read_session
from orgvault.domain.transcript import Said, Session, ToolCall
from orgvault.errors import BadFile

SHARED = Path(__file__).resolve().parents[3] / "shared" / "transcripts"
FUZZ = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def written(folder: Path, *lines: object) -> str:
    """A file of these lines; what is no text or bytes is written as JSON."""
    path = folder / "session.jsonl"
    raw = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines]
    path.write_bytes(b"\n".join(raw) + b"\n")
    return str(path)


def session(folder: Path, *lines: object) -> Session:
    return read_session(written(folder, *lines))[0]


def asked(text: str, at: int = 0, **more: object) -> dict[str, object]:
    message = {"role": "user", "content": text}
    return {"type": "user", "sessionId": "s-1", "message": message, "timestamp": time(at), **more}


def spoke(message: str, block: object, *, tokens: int = 1, at: int = 0) -> dict[str, object]:
    usage = {"input_tokens": 2, "cache_read_input_tokens": 10, "output_tokens": tokens}
    body = {"id": message, "model": "opus", "content": [block], "usage": usage}
    return {"type": "assistant", "sessionId": "s-1", "message": body, "timestamp": time(at)}


def used(call: str, tool: str, **given: object) -> dict[str, object]:
    return {"type": "tool_use", "id": call, "name": tool, "input": given}


def answered(call: str, content: object, **more: object) -> dict[str, object]:
    block = {"type": "tool_result", "tool_use_id": call, "content": content, **more}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "timestamp": time(9)}


def says(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def time(second: int) -> str:
    return f"2026-01-02T03:04:{second:02}.500Z"


def test_a_claude_code_session_is_read_in_order(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"type": "queue-operation", "operation": "dequeue", "timestamp": "2020-01-01T00:00:00Z"},
        asked("Build the site.", at=1),
        spoke("m1", says("I look first."), tokens=3, at=2),
        spoke("m1", used("t1", "Bash", command="make site"), tokens=7, at=2),
        answered("t1", "Exit code 2\nno rule", is_error=True),
        spoke("m2", used("t2", "Read", file_path="a.md"), tokens=5, at=4),
        answered("t2", [says("one"), {"type": "image", "source": {}}]),
        spoke("m3", says("Done."), tokens=1, at=5),
    )
    found, digest = read_session(path)
    assert digest == sha256(Path(path).read_bytes()).hexdigest()
    assert found == Session(
        client="claude-code",
        session="s-1",
        model="opus",
        turns=3,
        tokens_in=36,
        tokens_out=13,
        started_at="2026-01-02T03:04:01Z",
        finished_at="2026-01-02T03:04:09Z",
        items=(
            Said("user", "Build the site."),
            Said("assistant", "I look first."),
            ToolCall("Bash", "make site", "Exit code 2\nno rule", failed=True),
            ToolCall("Read", '{"file_path": "a.md"}', "one\n[image]", failed=False),
            Said("assistant", "Done."),
        ),
    )


def test_side_lines_and_what_the_client_puts_in_are_not_the_conversation(tmp_path: Path) -> None:
    reminded = "<system-reminder>be kind</system-reminder>\n\nReally asked."
    found = session(
        tmp_path,
        asked("caveat", isMeta=True),
        asked("sub-agent", isSidechain=True),
        asked("what went before, in short", isCompactSummary=True),
        asked("<command-name>/clear</command-name>\n<command-args></command-args>"),
        asked("[Request interrupted by user for tool use]"),
        asked(reminded),
        {**spoke("m0", says("API Error: 529")), "isApiErrorMessage": True},
        {"type": "attachment", "attachment": {}},
        {"type": "thing-to-come", "message": {"content": "x"}},
        spoke("m1", used("t1", "Read", file_path="a")),
        answered("t1", f"text\n{reminded[:44]}"),
    )
    assert found.turns == 1
    assert found.items == (
        Said("user", "Really asked."),
        ToolCall("Read", '{"file_path": "a"}', "text", failed=False),
    )


def test_lines_of_a_resumed_session_count_once(tmp_path: Path) -> None:
    first = {**asked("Build it."), "uuid": "u-1"}
    assert session(tmp_path, first, first, spoke("m1", says("Yes."))).items == (
        Said("user", "Build it."),
        Said("assistant", "Yes."),
    )


def test_a_refused_call_did_not_fail_and_its_reason_was_said(tmp_path: Path) -> None:
    refusal = (
        "The user doesn't want to proceed with this tool use. The user provided the following"
        " reason for the rejection:  use pnpm"
    )
    found = session(
        tmp_path,
        asked("Install it."),
        spoke("m1", used("t1", "Bash", command="npm install")),
        answered("t1", refusal, is_error=True),
    )
    assert found.items[1:] == (
        ToolCall("Bash", "npm install", refusal, failed=False),
        Said("user", "use pnpm"),
    )


@pytest.mark.parametrize(
    ("more", "content", "failed"),
    [
        ({"is_error": True}, "anything", True),
        ({"is_error": False}, "Error: in the text only", False),
        ({}, "Exit code 127\nfoo: not found", True),
        ({}, "Exit code 0", False),
        ({}, "1 match\nExit code 3 is what the manual says", False),
        ({}, None, False),
    ],
)
def test_failed_is_what_the_client_recorded(
    tmp_path: Path, more: dict[str, object], content: object, *, failed: bool
) -> None:
    found = session(
        tmp_path,
        spoke("m1", used("t1", "Bash", command="x")),
        answered("t1", content, **more),
    )
    call = found.items[0]
    assert isinstance(call, ToolCall)
    assert call.failed is failed


def test_bad_lines_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    found = session(
        tmp_path, asked("Go."), b'{"type": "user", ', b"\xff\xfe", b"", b"[" * 9999, b"7"
    )
    assert found.skipped_lines == (2, 3, 5, 6)
    assert found.items == (Said("user", "Go."),)


def test_a_result_object_alone_is_a_session(tmp_path: Path) -> None:
    result = {
        "type": "result",
        "subtype": "success",
        "num_turns": 4,
        "session_id": "s-9",
        "result": "All done.",
        "usage": {"input_tokens": 1, "output_tokens": 2},
        "modelUsage": {"haiku": {"inputTokens": 30, "cacheReadInputTokens": 5, "outputTokens": 7}},
    }
    expected = Session(
        "claude-code", "s-9", "haiku", 4, 35, 7, None, None, (Said("assistant", "All done."),)
    )
    assert session(tmp_path, result) == expected
    assert session(tmp_path, json.dumps(result, indent=2).encode()) == expected
    assert session(tmp_path, [{"type": "system", "session_id": "s-9"}, result]) == expected


def test_any_other_text_was_said_and_a_terminals_log_is_calls(tmp_path: Path) -> None:
    assert session(tmp_path, b"Finished.\nIt costs $ 5.").items == (
        Said("assistant", "Finished.\nIt costs $ 5."),
    )
    logged = session(tmp_path, b"Log:\n$ make\nno rule\n[exit 2]\n$ true\n$ ls\na\nexit code: 0")
    assert logged.client == "text"
    assert logged.turns is None
    assert logged.items == (
        Said("assistant", "Log:"),
        ToolCall("shell", "make", "no rule\n[exit 2]", failed=True),
        ToolCall("shell", "true", "", failed=False),
        ToolCall("shell", "ls", "a\nexit code: 0", failed=False),
    )


def test_a_huge_file_is_read_up_to_the_limit_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, asked("one"), asked("two"), asked("three"))
    content = Path(path).read_bytes()
    monkeypatch.setattr(transcripts, "MOST_BYTES", len(content) - 10)
    found, digest = read_session(path)
    assert found.items == (Said("user", "one"), Said("user", "two"))
    assert found.skipped_lines == (3,)
    assert digest == sha256(content).hexdigest()


def test_what_is_no_readable_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in ("missing.jsonl", ".", "pipe", "bad\0name"):
        with pytest.raises(BadFile, match="give"):
            read_session(str(tmp_path / place))


@given(st.binary(max_size=3000))
@FUZZ
def test_any_bytes_give_a_session(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any"
    path.write_bytes(content)
    assert_sound(read_session(str(path))[0])


VOCABULARY = (
    "type message content role user assistant tool_use tool_result id name input is_error text"
    " tool_use_id payload response_item function_call function_call_output call_id output arguments"
    " event_msg token_count info total_token_usage session_meta turn_context model usage command"
    " item.completed item command_execution result num_turns modelUsage uuid timestamp sessionId"
    " thread.started custom_tool_call local_shell_call action metadata exit_code success Bash shell"
    " toolUseResult exitCode input_tokens output_tokens subtype system session_id isMeta"
)
WORDS = st.sampled_from(VOCABULARY.split())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=6),
    max_leaves=20,
)
LINE = st.fixed_dictionaries(
    {"type": WORDS}, optional={"message": JSON, "payload": JSON, "item": JSON, "usage": JSON}
)


@given(st.lists(LINE | JSON, max_size=8))
@FUZZ
def test_any_shape_of_lines_gives_a_session(tmp_path: Path, lines: list[object]) -> None:
    assert_sound(session(tmp_path, *lines))


def assert_sound(found: Session) -> None:
    """Every text can be written to a file, and every count is one or unknown."""
    for item in found.items:
        texts = [item.text] if isinstance(item, Said) else [item.tool, item.input, item.result]
        "".join(texts).encode()
    for count in (found.turns, found.tokens_in, found.tokens_out):
        assert count is None or count >= 0


def recordings() -> Iterable[Path]:
    return sorted(SHARED.glob("*/*.jsonl"))


@pytest.mark.skipif(not SHARED.exists(), reason="the shared recordings are not here")
@pytest.mark.parametrize("path", recordings(), ids=lambda path: path.stem)
def test_recordings_are_read_whole(path: Path) -> None:
    found, _ = read_session(str(path))
    assert found.client == path.parent.name
    assert found.skipped_lines == ()
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    ids = {
        line["message"]["id"]
        for line in lines
        if line["type"] == "assistant" and not line.get("isSidechain")
    }
    text = json.dumps(lines)
    calls = text.count('"type": "tool_use"') + text.count('"type": "function_call"')
    assert found.turns == (len(ids) or 2)
    assert sum(isinstance(item, ToolCall) for item in found.items) == calls
    assert found.tokens_in
    assert found.started_at
