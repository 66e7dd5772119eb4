"""What Codex leaves: rollout files, and what `codex exec --json` prints."""

import json
from pathlib import Path

from orgvault.adapters.transcripts import read_session
from orgvault.domain.transcript import Said, Session, ToolCall


def session(folder: Path, *lines: object) -> Session:
    path = folder / "rollout.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return read_session(str(path))[0]


def item(**payload: object) -> dict[str, object]:
    return {"timestamp": time(1), "type": "response_item", "payload": payload}


def time(second: int) -> str:
    return f"2026-01-02T03:04:{second:02}.500Z"


def test_a_codex_rollout_is_read(tmp_path: Path) -> None:
    def tokens(taken: int, given: int) -> dict[str, object]:
        total = {"total_token_usage": {"input_tokens": taken, "output_tokens": given}}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": total}}

    shell = json.dumps({"command": ["bash", "-lc", "make site"], "workdir": "/x"})
    old = json.dumps({"output": "no rule", "metadata": {"exit_code": 2}})
    newer = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 127\nOutput:\nno tool\n"
    found = session(
        tmp_path,
        {"timestamp": time(0), "type": "session_meta", "payload": {"id": "c-1"}},
        {"type": "turn_context", "payload": {"model": "gpt-5"}},
        item(type="message", role="developer", content=[{"type": "input_text", "text": "rules"}]),
        item(type="message", role="user", content="<environment_context>x</environment_context>"),
        item(type="message", role="user", content=[{"type": "input_text", "text": "Build."}]),
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Build."}},
        item(type="reasoning", summary=[]),
        item(type="function_call", name="shell", arguments=shell, call_id="1"),
        item(type="function_call_output", call_id="1", output=old),
        tokens(10, 1),
        item(type="function_call", name="exec_command", arguments='{"cmd": "mk"}', call_id="2"),
        item(type="function_call_output", call_id="2", output=newer),
        item(type="custom_tool_call", name="apply_patch", input="*** Begin", call_id="3"),
        item(type="custom_tool_call_output", call_id="3", output="Exit code: 0\nOutput:\nSuccess."),
        item(type="local_shell_call", action={"command": ["ls", "-a"]}, call_id="4"),
        item(type="function_call_output", call_id="4", output="exec command rejected by user"),
        item(type="function_call", name="shell", arguments="{broken", call_id="5"),
        item(type="function_call_output", call_id="5", output="failed to parse arguments"),
        tokens(30, 4),
        item(type="message", role="assistant", content=[{"type": "output_text", "text": "Built."}]),
    )
    assert found == Session(
        client="codex",
        session="c-1",
        model="gpt-5",
        turns=6,
        tokens_in=30,
        tokens_out=4,
        started_at="2026-01-02T03:04:00Z",
        finished_at="2026-01-02T03:04:01Z",
        items=(
            Said("user", "Build."),
            ToolCall("shell", "make site", "no rule", failed=True),
            ToolCall("exec_command", "mk", "no tool", failed=True),
            ToolCall("apply_patch", "*** Begin", "Success.", failed=False),
            ToolCall("shell", "ls -a", "exec command rejected by user", failed=False),
            ToolCall("shell", "{broken", "failed to parse arguments", failed=True),
            Said("assistant", "Built."),
        ),
    )


def test_an_exit_code_inside_a_commands_output_is_not_codex_word(tmp_path: Path) -> None:
    output = "Process exited with code 3"
    found = session(
        tmp_path,
        {"type": "session_meta", "payload": {}},
        item(type="function_call", name="shell", arguments='{"cmd": "cat log"}', call_id="1"),
        item(type="function_call_output", call_id="1", output=f"Exit code: 0\nOutput:\n{output}"),
    )
    assert found.items == (ToolCall("shell", "cat log", output, failed=False),)


def test_what_codex_exec_prints_is_read(tmp_path: Path) -> None:
    def printed(**body: object) -> dict[str, object]:
        return {"type": "item.completed", "item": body}

    found = session(
        tmp_path,
        {"type": "thread.started", "thread_id": "th-1"},
        {"type": "turn.started"},
        printed(type="reasoning", text="hm"),
        printed(type="command_execution", command="ls", aggregated_output="a", exit_code=2),
        printed(
            type="mcp_tool_call", server="vault", tool="recall", arguments={"q": 1}, status="failed"
        ),
        printed(type="agent_message", text="There."),
        {"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 3}},
    )
    assert (found.session, found.turns, found.tokens_in, found.tokens_out) == ("th-1", 3, 9, 3)
    assert found.items == (
        ToolCall("shell", "ls", "a", failed=True),
        ToolCall("vault.recall", '{"q": 1}', "", failed=True),
        Said("assistant", "There."),
    )
