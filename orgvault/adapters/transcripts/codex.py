"""Codex: its rollout files, and what `codex exec --json` prints."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from orgvault.adapters.transcripts import lines as read
from orgvault.adapters.transcripts.lines import Line, mapping
from orgvault.domain.failures import is_shell, rejected
from orgvault.domain.transcript import Item, Said, Session, ToolCall

_WRAPPED = frozenset({"session_meta", "turn_context", "event_msg", "response_item", "compacted"})
_PRINTED = r"(?:thread|turn|item)\.(?:started|updated|completed|failed)"
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})
_BY_MODEL = _CALLS | {"reasoning", "web_search_call"}
# What the client puts in a user's place at the start of a session or a turn.
_NOT_SAID = (
    r"\s*(?:<(?:environment_context|user_instructions|turn_aborted|permissions|skills?|collaboration"
    r"_mode|user_shell_command|subagent_notification)\b|# AGENTS\.md instructions)"
)
# The head that the client writes above a command's output; only there is an exit code its word.
_HEAD = (
    r"\A(?:(?:Exit code|Wall time|Chunk ID|Process|Original token count|Total output lines|Script"
    r"|Command)\b[^\n]*\n)+(?:Output:[ ]?\n?)?"
)
_EXIT = r"(?m)^(?:Exit code: |Process exited with code )(-?\d+)"
_TROUBLE = (
    r"(?i)(?:error|execution error|failed to|failed in sandbox|unsupported call"
    r"|apply_patch verification failed|exec_command failed|command timed out|tool call error)\b"
)


def knows(value: Mapping[str, Any]) -> bool:
    """Whether a line is one of Codex's."""
    kind = read.kind(value)
    if kind in _WRAPPED:
        return isinstance(value.get("payload"), dict)
    return (
        re.fullmatch(_PRINTED, kind) is not None
        or (kind in _CALLS | _OUTPUTS and "call_id" in value)
        or _is_bare_head(value)
    )


def _is_bare_head(value: Mapping[str, Any]) -> bool:
    """Whether a line is the first of the oldest files, which wrap nothing."""
    return "type" not in value and value.keys() >= {"id", "timestamp", "instructions"}


def head(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a line says of the whole session; empty when it is no such line."""
    if read.kind(value) == "session_meta":
        return mapping(value.get("payload"))
    return value if _is_bare_head(value) else {}


def session_id(about: Mapping[str, Any]) -> str | None:
    """The session's own id, by its head; a sub-agent's `session_id` is its parent's."""
    return read.name(about.get("id")) or read.name(about.get("session_id"))


def is_sub_agent(about: Mapping[str, Any]) -> bool:
    """Whether another session started this one as its sub-agent, by its head."""
    return "subagent" in mapping(about.get("source")) or about.get("thread_source") == "subagent"


def parent(about: Mapping[str, Any]) -> str | None:
    """The session that this one was forked from or works for, by its head."""
    spawned = mapping(mapping(mapping(about.get("source")).get("subagent")).get("thread_spawn"))
    named = (spawned, "parent_thread_id"), (about, "parent_thread_id"), (about, "forked_from_id")
    return next((found for one, key in named if (found := read.name(one.get(key)))), None)


def session(lines: Sequence[Line], skipped: tuple[int, ...]) -> Session:
    """The conversation; a turn is what the model says and calls without hearing anything between.

    Token counts are cumulative: the last one stands.
    """
    reader = Reader()
    for line in lines:
        reader.take(line.value)
    first, last = read.span(line.value.get("timestamp") for line in lines)
    return Session(
        client="codex",
        session=reader.session,
        model=reader.model,
        turns=reader.turns,
        tokens_in=reader.tokens[0],
        tokens_out=reader.tokens[1],
        started_at=first,
        finished_at=last,
        items=tuple(reader.items or reader.events),
        skipped_lines=skipped,
    )


class Reader:
    """What the lines of one session tell, taken one by one."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.model: str | None = None
        self.turns = 0
        self.tokens: tuple[int | None, int | None] = (None, None)
        self.items: list[Item] = []
        # Messages as events for the screen: told again, but in some files told only there.
        self.events: list[Item] = []
        self._called: dict[str, int] = {}
        self._speaking = False

    def take(self, line: Mapping[str, Any]) -> None:
        """Read one line, in either form."""
        kind, body = read.kind(line), mapping(line.get("payload"))
        if head(line):
            self.session = self.session or session_id(head(line))
        elif kind == "turn_context":
            self.model = read.name(body.get("model")) or self.model
        elif kind == "event_msg":
            self._event(body)
        elif kind == "response_item":
            self._item(body)
        elif kind == "thread.started":
            self.session = self.session or read.name(line.get("thread_id"))
        elif kind == "turn.completed":
            self._count(mapping(line.get("usage")))
        elif kind == "item.completed":
            self._printed(mapping(line.get("item")))
        elif kind in _CALLS | _OUTPUTS | {"message", "reasoning"}:  # the oldest files wrap nothing
            self._item(line)

    def _event(self, body: Mapping[str, Any]) -> None:
        kind = read.kind(body)
        if kind == "token_count":
            total = mapping(mapping(body.get("info")).get("total_token_usage"))
            self._count(total or mapping(body.get("usage")))
        elif kind in {"user_message", "agent_message"}:
            said = read.text(body.get("message")).strip()
            if said:
                self.events.append(Said("user" if kind == "user_message" else "assistant", said))

    def _count(self, usage: Mapping[str, Any]) -> None:
        counts = [
            read.count(usage.get(key, usage.get(older)))
            for key, older in (
                ("input_tokens", "prompt_tokens"),
                ("output_tokens", "completion_tokens"),
            )
        ]
        if any(one is not None for one in counts):
            self.tokens = (counts[0], counts[1])

    def _item(self, body: Mapping[str, Any]) -> None:
        kind, by = read.kind(body), read.kind(body, "role")
        if kind == "message" and by in {"user", "assistant"}:
            self._said(by, read.text(body.get("content")))
        elif kind in _CALLS:
            self._turn(speaking=True)
            tool = read.name(body.get("name")) or "shell"
            given = body.get("arguments", body.get("input", body.get("action")))
            self._call(tool, _input(tool, given), body.get("call_id", body.get("id")))
        elif kind in _OUTPUTS:
            self._turn(speaking=False)
            self._answer(body)
        elif kind in _BY_MODEL:
            self._turn(speaking=True)

    def _said(self, by: str, text: str) -> None:
        self._turn(speaking=by == "assistant")
        if text.strip() and not (by == "user" and re.match(_NOT_SAID, text)):
            self.items.append(Said(by, text.strip()))

    def _turn(self, *, speaking: bool) -> None:
        self.turns += speaking and not self._speaking
        self._speaking = speaking

    def _call(self, tool: str, given: str, call_id: object) -> None:
        known = read.name(call_id)
        if known in self._called:
            return
        if known:
            self._called[known] = len(self.items)
        self.items.append(ToolCall(tool, given, "", failed=False))

    def _answer(self, body: Mapping[str, Any]) -> None:
        at = self._called.get(read.name(body.get("call_id", body.get("id"))) or "")
        call = self.items[at] if at is not None else None
        if at is not None and isinstance(call, ToolCall):
            result, failed = _output(body.get("output"))
            self.items[at] = ToolCall(call.tool, call.input, result, failed=failed)

    def _printed(self, item: Mapping[str, Any]) -> None:
        """An item of `codex exec --json`: a command comes with its result."""
        kind = read.kind(item) or read.kind(item, "item_type")
        if kind in {"agent_message", "assistant_message"}:
            self._said("assistant", read.text(item.get("text")))
        elif kind == "reasoning":
            self._turn(speaking=True)
        elif kind == "command_execution":
            self._ran("shell", _input("shell", item.get("command")), item)
        elif kind == "mcp_tool_call":
            names = (read.name(item.get(key)) for key in ("server", "tool"))
            self._ran(
                ".".join(name or "unknown" for name in names),
                read.one_line(item.get("arguments", "")),
                item,
            )
        elif kind == "file_change":
            self._ran("apply_patch", read.one_line(item.get("changes", "")), item)

    def _ran(self, tool: str, given: str, item: Mapping[str, Any]) -> None:
        self._turn(speaking=True)
        self._turn(speaking=False)
        told = item.get("aggregated_output") or item.get("error") or item.get("result") or ""
        result = read.text(told) or read.one_line(told)
        code = item.get("exit_code")
        failed = item.get("status") == "failed" or (type(code) is int and code != 0)
        self.items.append(ToolCall(tool, given, result, failed and not rejected(result)))


def _input(tool: str, given: object) -> str:
    """The command of a shell call, else the arguments on one line."""
    value = given
    if isinstance(given, str) and given.lstrip().startswith("{"):
        try:
            value = json.loads(given)
        except (ValueError, RecursionError):
            value = given
    fields = mapping(value)
    command = fields.get("command", fields.get("cmd")) if fields else value
    if isinstance(command, list) and all(isinstance(one, str) for one in command):
        wrapped = len(command) == 3 and command[1] in {"-lc", "-c"}  # noqa: PLR2004 - sh -c text
        command = command[-1] if wrapped else " ".join(command)
    return read.one_line(command if is_shell(tool) and isinstance(command, str) else given)


def _output(output: object) -> tuple[str, bool]:
    """The text of a call's output, and whether the client says that it failed."""
    success: object = None
    code: object = None
    if isinstance(output, str) and output.lstrip().startswith("{"):
        try:
            told = mapping(json.loads(output))
        except (ValueError, RecursionError):
            told = {}
        if "output" in told and "metadata" in told:
            output, code = told["output"], mapping(told["metadata"]).get("exit_code")
    if isinstance(output, dict):
        success = output.get("success")
        code = mapping(output.get("metadata")).get("exit_code", code)
        output = output.get("content", output.get("output"))
    result = read.text(output)
    head = re.match(_HEAD, result)
    exited = re.search(_EXIT, head[0]) if head else None
    if head and result[head.end() :].strip():
        result = result[head.end() :]
    if exited:
        code = int(exited[1][:9])
    failed = success is False or (type(code) is int and code != 0)
    failed = failed or (code is None and not head and re.match(_TROUBLE, result) is not None)
    return result.strip("\n"), failed and not rejected(result)
