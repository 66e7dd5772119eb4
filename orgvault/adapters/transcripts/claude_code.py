"""Claude Code: its session files, and what `claude -p` prints as `json` or `stream-json`.

One line per content block; each line of a message repeats its id and its usage so far.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from orgvault.adapters.transcripts import lines as read
from orgvault.adapters.transcripts.lines import Line, mapping
from orgvault.domain.failures import is_shell, rejected
from orgvault.domain.transcript import Item, Said, Session, ToolCall

_OWN_TYPES = frozenset(
    {"summary", "queue-operation", "file-history-snapshot", "attachment", "last-prompt"}
)
_INPUT_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_MODEL_INPUT_COUNTS = ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens")
# What the client puts into a user's message that the user did not say.
_NOT_SAID = (
    r"(?s)<(system-reminder|command-[a-z]+|local-command-[a-z]+|bash-[a-z]+|ide_[a-z_]+|task-notification"
    r"|user-prompt-submit-hook)>.*?</\1>|\[Request interrupted by user[^\]]*\]"
)
_REMINDER = r"(?s)\s*<system-reminder>.*?</system-reminder>\s*"
_EXIT_CODE = r"(?:Error: )?Exit code ([1-9]\d*)\b"
_REASON = r"(?s)(?:reason for the rejection|the user said):\s*(.+)"


def knows(value: Mapping[str, Any]) -> bool:
    """Whether a line is one of Claude Code's."""
    kind = read.kind(value)
    if kind in {"user", "assistant"}:
        return isinstance(value.get("message"), dict)
    if kind == "result":
        return "subtype" in value or "num_turns" in value
    if kind == "system":
        return "session_id" in value or "sessionId" in value
    return kind in _OWN_TYPES


def session(lines: Sequence[Line], skipped: tuple[int, ...]) -> Session:
    """The main conversation: not sub-agents' lines, nor what the client says to the model.

    Tokens read count what came from the cache, too.  The one result object of `claude -p` says
    turns and tokens when no message does.
    """
    main = [line.value for line in lines if _is_main(line.value)]
    messages = _messages(main)
    results = [line.value for line in lines if read.kind(line.value) == "result"]
    turns: int | None = len(messages)
    tokens_in, tokens_out = tokens_of([mapping(one.get("usage")) for one in messages.values()])
    items = _items(main)
    if not messages and results:
        turns = read.count(results[-1].get("num_turns"))
        tokens_in, tokens_out = result_tokens(results[-1])
        said = read.text(results[-1].get("result")).strip()
        items = [*items, Said("assistant", said)] if said else items
    first, last = read.span(value.get("timestamp") for value in main)
    return Session(
        client="claude-code",
        # A resumed session may begin with lines, and so with the id, of the one before.
        session=_first(session_id(line.value) for line in reversed(lines)),
        model=_first(
            reversed([*result_models(results), *(one.get("model") for one in messages.values())])
        ),
        turns=turns,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        started_at=first,
        finished_at=last,
        items=tuple(items),
        skipped_lines=skipped,
    )


def session_id(value: Mapping[str, Any]) -> str | None:
    """The session that a line says it belongs to."""
    return read.name(value.get("sessionId")) or read.name(value.get("session_id"))


def _is_main(value: Mapping[str, Any]) -> bool:
    message = mapping(value.get("message"))
    return (
        read.kind(value) in {"user", "assistant"}
        and bool(message)
        and not any(
            value.get(mark)
            for mark in ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")
        )
        and not value.get("parent_tool_use_id")  # a sub-agent's line in `stream-json`
        and message.get("model") != "<synthetic>"  # the client, in the model's place
    )


def _messages(main: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The assistant's messages by id, each as its last line has it."""
    found: dict[str, Mapping[str, Any]] = {}
    for at, value in enumerate(main):
        if value["type"] == "assistant":
            message = mapping(value.get("message"))
            found[read.name(message.get("id")) or f"line {at}"] = message
    return found


def tokens_of(usages: Sequence[Mapping[str, Any]]) -> tuple[int | None, int | None]:
    """Tokens read, cached ones too, and written, summed."""
    taken = read.total(usage.get(key) for usage in usages for key in _INPUT_COUNTS)
    return taken, read.total(usage.get("output_tokens") for usage in usages)


def result_tokens(result: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """`modelUsage` holds everything, `usage` the main loop only."""
    models = [mapping(one) for one in mapping(result.get("modelUsage")).values()]
    taken = read.total(one.get(key) for one in models for key in _MODEL_INPUT_COUNTS)
    if taken is None:
        return tokens_of([mapping(result.get("usage"))])
    return taken, read.total(one.get("outputTokens") for one in models)


def result_models(results: Sequence[Mapping[str, Any]]) -> list[object]:
    """The model of a result that names but one."""
    named: list[object] = list(mapping(results[-1].get("modelUsage"))) if results else []
    return named if len(named) == 1 else []


def _first(values: Iterable[object]) -> str | None:
    return next((found for one in values if (found := read.name(one))), None)


def _items(main: Sequence[Mapping[str, Any]]) -> list[Item]:
    items: list[Item] = []
    called: dict[str, int] = {}
    seen: set[str] = set()
    for value in main:
        known = read.name(value.get("uuid"))
        if known in seen:  # a resumed session begins with the lines of the one before
            continue
        seen.update({known} if known else ())
        by = str(value["type"])
        for block in read.blocks(mapping(value.get("message")).get("content")):
            kind = read.kind(block)
            if kind == "tool_result":
                _answer(items, called, block, value)
            elif kind == "tool_use" and by == "assistant":
                _call(items, called, block)
            elif kind == "text":
                said = read.text(block.get("text"))
                said = re.sub(_NOT_SAID, "", said).strip() if by == "user" else said.strip()
                items += [Said(by, said)] if said else []
    return items


def _call(items: list[Item], called: dict[str, int], block: Mapping[str, Any]) -> None:
    known = read.name(block.get("id"))
    if known in called:
        return
    tool = read.name(block.get("name")) or "unknown"
    given = block.get("input")
    command = mapping(given).get("command")
    shown = command if is_shell(tool) and isinstance(command, str) else given
    if known:
        called[known] = len(items)
    items.append(ToolCall(tool, read.one_line(shown), "", failed=False))


def _answer(
    items: list[Item], called: dict[str, int], block: Mapping[str, Any], line: Mapping[str, Any]
) -> None:
    at = called.get(read.name(block.get("tool_use_id")) or "")
    call = items[at] if at is not None else None
    if at is None or not isinstance(call, ToolCall):
        return
    result = re.sub(_REMINDER, "\n", read.text(block.get("content"))).strip("\n")
    refused = rejected(result)
    items[at] = ToolCall(
        call.tool, call.input, result, failed=not refused and _failed(call, result, block, line)
    )
    reason = re.search(_REASON, result) if refused else None
    if reason:  # what the user typed instead of a yes
        items.append(Said("user", reason[1].strip()))


def _failed(call: ToolCall, result: str, block: Mapping[str, Any], line: Mapping[str, Any]) -> bool:
    """What the client itself says of the call: its flag, its exit code, or its own record."""
    if block.get("is_error") is True or (is_shell(call.tool) and re.match(_EXIT_CODE, result)):
        return True
    record = line.get("toolUseResult")
    if isinstance(record, str):
        return block.get("is_error") is None and record.startswith("Error:")
    codes = (mapping(record).get(key) for key in ("exitCode", "exit_code", "returnCode"))
    return any(type(code) is int and code != 0 for code in codes)
