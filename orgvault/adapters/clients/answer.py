"""What a client printed, as the figures and the result of its run."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from orgvault.adapters.transcripts import claude_code, codex
from orgvault.adapters.transcripts.lines import Line, clean, count, kind, mapping, name, read_lines
from orgvault.domain.transcript import Session
from orgvault.values import dataclass

_TAIL_CHARS = 2000
_RESULT_CHARS = 100_000
_MOST = 10**12 - 1


@dataclass(frozen=True, kw_only=True)
class ClientResult:
    """How a client's run ended; None where the client does not say.

    `exit_code` is what a shell would say (128 and the signal for a killed client), and 1 where a
    client says of itself that it failed though it ended with 0.
    """

    exit_code: int
    result: str = ""
    turns: int | None = None
    cost_usd: float | None = None
    duration_s: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    model: str | None = None
    session: str | None = None
    transcript: str | None = None
    client: str | None = None
    stderr_tail: str = ""


def read_answer(stdout: bytes, stderr: bytes, exit_code: int, took_s: float) -> ClientResult:
    """The result of a client that ended with `exit_code` after `took_s` seconds.

    Claude Code prints one result object (`--output-format json`), or lines that end in it; Codex
    prints events (`exec --json`).  Of any other output the last paragraph is the result.
    """
    tail = clean(stderr.decode(errors="replace"))[-_TAIL_CHARS:].strip()
    made = ClientResult(exit_code=exit_code, duration_s=took_s, stderr_tail=tail)
    lines, skipped = read_lines(stdout)
    results = [one.value for one in lines if _is_result(one.value)]
    if results:
        return _of_claude_code(made, results[-1], claude_code.session(lines, skipped))
    if any(_is_codex_event(one.value) for one in lines):
        return _of_codex(made, lines, codex.session(lines, skipped))
    text = clean(stdout.decode(errors="replace")).strip()
    paragraphs = [one.strip() for one in re.split(r"\n[ \t]*\n", text) if one.strip()]
    return replace(made, result=_short(paragraphs[-1] if paragraphs else "") or _said(made))


def _is_result(value: Mapping[str, Any]) -> bool:
    return kind(value) == "result" and ("subtype" in value or "is_error" in value)


def _of_claude_code(made: ClientResult, told: Mapping[str, Any], session: Session) -> ClientResult:
    subtype = kind(told, "subtype")
    # `error_max_turns` comes with is_error false: it has not done what it was asked to.
    failed = told.get("is_error") is True or subtype.startswith("error")
    given = told.get("result")
    text = _short(given) if isinstance(given, str) else ""
    tokens_in, tokens_out = claude_code.result_tokens(told)
    took_ms = _amount(told.get("duration_ms"))
    return replace(
        made,
        exit_code=_failed(made.exit_code) if failed else made.exit_code,
        result=text or (subtype if failed or subtype != "success" else "") or _said(made),
        turns=_either(count(told.get("num_turns")), session.turns),
        cost_usd=_amount(told.get("total_cost_usd")),
        duration_s=took_ms / 1000 if took_ms is not None else made.duration_s,
        tokens_in=_either(tokens_in, session.tokens_in),
        tokens_out=_either(tokens_out, session.tokens_out),
        model=session.model,
        session=name(told.get("session_id")) or session.session,
        client=session.client,
    )


def _is_codex_event(value: Mapping[str, Any]) -> bool:
    return re.fullmatch(r"(?:thread|turn|item)\.\w+", kind(value)) is not None


def _of_codex(made: ClientResult, lines: Sequence[Line], session: Session) -> ClientResult:
    said = fault = ""
    turn_failed = False
    for line in lines:
        what, item = kind(line.value), mapping(line.value.get("item"))
        if what == "item.completed" and kind(item) == "agent_message":
            said = _short(item.get("text")) or said
        elif what in {"turn.started", "turn.completed"}:
            turn_failed = False
        elif what == "turn.failed":
            turn_failed = True
            fault = _short(mapping(line.value.get("error")).get("message")) or fault
        elif what == "error":  # one before a retry may be followed by a good turn
            fault = _short(line.value.get("message")) or fault
    code = _failed(made.exit_code) if turn_failed else made.exit_code
    result = fault if code and fault else said
    return replace(
        made, exit_code=code, result=result or _said(replace(made, exit_code=code)),
        turns=session.turns, tokens_in=session.tokens_in, tokens_out=session.tokens_out,
        model=session.model, session=session.session, client=session.client,
    )  # fmt: skip


def _said(made: ClientResult) -> str:
    """What stands for the result of a client that failed without one: the end of its stderr."""
    return made.stderr_tail.rsplit("\n", 1)[-1] if made.exit_code else ""


def _failed(exit_code: int) -> int:
    return exit_code or 1


def _either(first: int | None, second: int | None) -> int | None:
    return first if first is not None else second


def _short(text: object) -> str:
    return clean(text).strip()[:_RESULT_CHARS] if isinstance(text, str) else ""


def _amount(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) and 0 <= number <= _MOST else None
