"""Episodes: the record of one finished run, its outcome and its summary."""

import re

from orgvault.domain.ids import (
    AGENT_ID,
    CARD_ID,
    INSTANT,
    ROW_ID,
    RUN_ID,
    SHA256,
    derived_id,
)
from orgvault.domain.instants import normal
from orgvault.domain.record import says
from orgvault.domain.wake import REPORTED, Outcome, Reason
from orgvault.values import dataclass

SUMMARY_CHARS = 200


@dataclass(frozen=True, kw_only=True)
class TranscriptFile:
    """Which session file an episode was read from."""

    path: str = says("Where the file was.", max_chars=4096)
    sha256: str = says("Its content.", pattern=SHA256)


@dataclass(frozen=True, kw_only=True)
class Episode:
    """One row of `episodes/<agent>/`.  `corrected` is derived from corrections, never written."""

    v: int = says("Format version of the row.", default=1, minimum=1, maximum=1)
    id: str = says("Row id, derived from agent and run: a run has one episode.", pattern=ROW_ID)
    agent: str = says("The agent that ran.", pattern=AGENT_ID)
    run: str = says("The run.", pattern=RUN_ID)
    wakes: tuple[str, ...] = says("The wakes it closed (of any queue).", pattern=RUN_ID)
    reason: Reason = says("Why the agent ran.")
    card: str | None = says("The card it worked on.", pattern=CARD_ID)
    outcome: Outcome = says("How it ended.")
    exit_code: int = says("Exit code of the client.")
    turns: int | None = says("Turns of the session; null when unknown.", minimum=0)
    cost_usd: float | None = says("Cost in US dollars; null when unknown, never 0.", minimum=0)
    duration_s: float | None = says("Duration in seconds; null when unknown.", minimum=0)
    tokens_in: int | None = says("Tokens read; null when unknown.", minimum=0)
    tokens_out: int | None = says("Tokens written; null when unknown.", minimum=0)
    model: str | None = says("The model that ran.", max_chars=200)
    summary: str = says("One first-person line.", max_chars=SUMMARY_CHARS)
    log: str | None = says("Path of the client's log.", max_chars=4096)
    transcript: TranscriptFile | None = says("The session file it was read from.")
    prompt_sha256: str | None = says("Hash of the composed message, if any.", pattern=SHA256)
    core_sha256: str | None = says("Hash of the core block in that message.", pattern=SHA256)
    client: str | None = says("The client program.", max_chars=100)
    session: str | None = says("The client's session id.", max_chars=200)
    session_cost_usd: float | None = says(
        "The session's total so far, as the client told it; `cost_usd` is the difference.",
        minimum=0,
    )
    reflect_skipped: str | None = says(
        "Why no reflection followed, if known by then.", max_chars=200
    )
    started_at: str | None = says("When it started (UTC).", pattern=INSTANT, normal=normal)
    finished_at: str = says("When it finished (UTC).", pattern=INSTANT, normal=normal)


@dataclass(frozen=True, kw_only=True)
class Correction:
    """One row of `corrections/`: a reviewer sent the work of an episode back."""

    v: int = says("Format version of the row.", default=1, minimum=1, maximum=1)
    id: str = says("Row id.", pattern=ROW_ID)
    agent: str = says("The builder.", pattern=AGENT_ID)
    card: str = says("The card that was sent back.", pattern=CARD_ID)
    episode: str = says("Row id of the episode.", pattern=ROW_ID)
    run: str = says("The run of the episode.", pattern=RUN_ID)
    why: str = says("What is to be done again.", max_chars=4000)
    actor: str = says("Who sent it back.", max_chars=200)
    at: str = says("When (UTC).", pattern=INSTANT, normal=normal)


def episode_id(agent: str, run: str) -> str:
    """The id of the one episode that a run can have."""
    return derived_id("e", agent, run)


def outcome(exit_code: int, posted: str | None, given: str | None, result: str) -> Outcome:
    """How a run ended: the first of exit code, its last status, the option, the result's start."""
    if exit_code != 0:
        return Outcome.ERROR
    told = posted or given
    if told:
        return Outcome(told)
    lead, _ = _led(result)
    return Outcome(lead) if lead else Outcome.NO_REPORT


def summary(reason: Reason, card: str | None, how: Outcome, turns: int | None, result: str) -> str:
    """One first-person line of at most 200 characters, built mechanically."""
    woken = {
        Reason.TASK: "I worked",
        Reason.CHAT: "I read the group chat",
        Reason.MENTION: "I was tagged in the group chat",
        Reason.SCHEDULE: "I ran on schedule",
        Reason.MANUAL: "I was woken by hand",
    }[reason]
    on = f" on {card}" if card else ""
    ended = {
        Outcome.DONE: "finished",
        Outcome.BLOCKED: "was blocked",
        Outcome.REQUEST_CHANGES: "asked for changes",
        Outcome.NO_REPORT: "ended without a report",
        Outcome.ERROR: "ended with an error",
    }[how]
    taken = "" if turns is None else f" after {turns} turn{'' if turns == 1 else 's'}"
    said = first_sentence(result)
    line = f"{woken}{on} and {ended}{taken}" + (f": {said}" if said else ".")
    return line if len(line) <= SUMMARY_CHARS else line[: SUMMARY_CHARS - 1].rstrip() + "…"


def first_sentence(result: str) -> str:
    """The first sentence of a result, on one line, without a leading `done:` and its like."""
    words = " ".join(_led(result)[1].split())
    end = re.search(r"[.!?。！？](?=\s|$)|[。！？]", words)
    return words[: end.end()] if end else words


def _led(result: str) -> tuple[str, str]:
    """A leading `done:` and its like in small letters (or nothing), and what follows it."""
    lead, colon, rest = result.partition(":")
    word = lead.strip().lower()
    return (word, rest) if colon and word in REPORTED else ("", result)
