"""Write the history of the fixture vault: seven weeks of wakes, episodes and claims.

The same bytes on every run (a seeded generator, no clock), so that a change of a format shows as
a diff of the fixture.  `--check` fails when the fixture is not what this writes.
"""

import argparse
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from orgvault import __version__
from orgvault.adapters.packaged import schema
from orgvault.adapters.tokens import TokenCounter
from orgvault.domain import claim as claims
from orgvault.domain import episode as episodes
from orgvault.domain.claim import Claim, ClaimKind
from orgvault.domain.claim_file import close_claim_text, write_claim
from orgvault.domain.core_memory import render
from orgvault.domain.episode import Correction, Episode
from orgvault.domain.ids import derived_id, random_id, random_row_id
from orgvault.domain.instants import instant
from orgvault.domain.org_compiler import compile_org, encode_compiled
from orgvault.domain.reflection import Reflection, Result, Verdict
from orgvault.domain.wake import Asked, Outcome, Reason, Status, Trigger, closed, opened, wakes
from orgvault.services.setting_up import ATTRIBUTES, IGNORED
from orgvault.store.logs import BY_AGENT, encode

ORG = Path(__file__).parent.parent / "fixtures" / "vault" / ".agents" / "org"
FIRST_DAY = datetime(2026, 10, 5, tzinfo=UTC)
DAYS = 53
SEGMENT_BYTES = 64 * 1024
MODEL = "builtin/extractive"

# What each agent does in these weeks: reason, card (if any), what it says in the end.
WORK: dict[str, list[tuple[Reason, str | None, str]]] = {
    "nova": [
        (Reason.TASK, "t-4m7q2x9k", "The link checker now skips anchors."),
        (Reason.TASK, "t-8h3w6r1d", "The tag pages are sorted by date."),
        (Reason.TASK, None, "The build writes its log to the right place."),
        (Reason.MENTION, None, "I answered in the group chat."),
        (Reason.MANUAL, None, "The templates are tidy again."),
    ],
    "atlas": [
        (Reason.TASK, "t-0p6s4f7y", "The plan for the week stands."),
        (Reason.CHAT, None, "Nothing to decide in the chat."),
        (Reason.SCHEDULE, None, "I reviewed what was finished yesterday."),
    ],
    "juno": [
        (Reason.SCHEDULE, None, "The weekly digest is written."),
        (Reason.TASK, "t-b5n1z3g8", "The reading notes have their tags."),
        (Reason.SCHEDULE, None, "Two clippings became notes."),
    ],
}
# agent, kind, the quote it rests on, the statement, how many runs showed it.
LEARNED: list[tuple[str, ClaimKind, str, str, int]] = [
    ("nova", ClaimKind.FRICTION, "fatal: pathspec 'public/' did not match any files",
     "I lose a turn when I commit the public folder: it is ignored, and git says so each time.", 4),
    ("nova", ClaimKind.LESSON, "1 passed, 1 warning in 0.84s",
     "I run the template tests before the whole build; they fail in a second where it fails.", 3),
    ("nova", ClaimKind.ANTI_PATTERN, "retrying the same command",
     "I tried the same failing command again without reading its message.", 2),
    ("atlas", ClaimKind.PREFERENCE, "please name the card in the first line",
     "I name the card in the first line of a review, as Sam asked me to.", 3),
    ("atlas", ClaimKind.LESSON, "no open question left",
     "I close a review only when no question of mine is still open.", 1),
    ("juno", ClaimKind.FRICTION, "rg: Clippings: No such file or directory",
     "I look for clippings in Clippings, but they stand in Resources/Clippings.", 3),
    ("juno", ClaimKind.PREFERENCE, "five links are enough",
     "I keep the digest to five links.", 2),
]  # fmt: skip


@dataclass
class Written:
    """Rows by log and agent, and claims, before they become files."""

    rows: dict[tuple[str, str], list[tuple[str, str]]] = field(default_factory=dict)
    active: list[Claim] = field(default_factory=list)
    closed: list[tuple[str, Claim]] = field(default_factory=list)
    episodes: dict[str, list[Episode]] = field(default_factory=dict)

    def add(self, log: str, agent: str, at: str, row: object) -> None:
        """Keep one row."""
        self.rows.setdefault((log, agent), []).append((at, encode(row)))


def main() -> int:
    """Write the history anew, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    if not parser.parse_args().check:
        _save(_written(), ORG)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder, "org")
        shutil.copytree(ORG, fresh)
        _save(_written(), fresh)
        stale = sorted(_contents(fresh).items() ^ _contents(ORG).items())
    for name in sorted({str(name) for name, _ in stale}):
        print(f"fixtures/vault/.agents/org/{name} is stale: run `python tools/fixture_history.py`")
    return 1 if stale else 0


def _contents(org: Path) -> dict[Path, bytes]:
    return {path.relative_to(org): path.read_bytes() for path in org.rglob("*") if path.is_file()}


def _written() -> Written:
    written, chance = Written(), random.Random(20261130)  # noqa: S311 - the same on every run
    for agent in sorted(WORK):
        for number, moment in enumerate(_moments(chance, agent), 1):
            _run(written, chance, agent, number, moment)
    _learn(written, chance)
    return written


def _moments(chance: random.Random, agent: str) -> Iterator[datetime]:
    for day in range(DAYS):
        moment = FIRST_DAY + timedelta(days=day)
        if moment.weekday() == 6 or (agent == "atlas" and moment.weekday() == 5):
            continue
        for _ in range(chance.choice((0, 1, 1, 2) if agent == "nova" else (0, 1))):
            yield moment + timedelta(hours=chance.randrange(7, 17), minutes=chance.randrange(60))


def _run(
    written: Written, chance: random.Random, agent: str, number: int, moment: datetime
) -> None:
    reason, card, said = chance.choice(WORK[agent])
    at, done_at = instant(moment), instant(moment + timedelta(minutes=chance.randrange(3, 25)))
    run = f"{agent}-{number:04d}"
    event = opened(random_id("w", chance.randbytes(5)), agent, Asked(reason, card), at, "sam")
    written.add("wakes", agent, at, event)
    wake = wakes([event])[0]
    written.add("wakes", agent, done_at, closed(wake, run, done_at, "sam"))
    how = chance.choices(
        [Outcome.DONE, Outcome.BLOCKED, Outcome.NO_REPORT, Outcome.ERROR], [78, 10, 8, 4]
    )[0]
    turns = chance.randrange(3, 24)
    priced = chance.random() > 0.1
    said = said if how is Outcome.DONE else "I could not go on."
    line = episodes.summary(reason, card, how, turns, said)
    status = Status(
        id=derived_id("s", agent, run), agent=agent, run=run, at=done_at, text=line, card=card,
        outcome=str(how) if how in {Outcome.DONE, Outcome.BLOCKED} else None,
        fallback=how is Outcome.NO_REPORT,
    )  # fmt: skip
    written.add("status", agent, done_at, status)
    made = Episode(
        id=episodes.episode_id(agent, run), agent=agent, run=run, wakes=(wake.id,), reason=reason,
        card=card, outcome=how, exit_code=1 if how is Outcome.ERROR else 0, turns=turns,
        cost_usd=round(turns * chance.uniform(0.01, 0.04), 4) if priced else None,
        duration_s=float(chance.randrange(60, 1500)), tokens_in=turns * 3100,
        tokens_out=turns * 240, model="claude-sonnet-4-5" if agent != "juno" else "gpt-5-codex",
        summary=line, log=None, transcript=None, prompt_sha256=None, core_sha256=None,
        client="codex" if agent == "juno" else "claude-code", session=None,
        session_cost_usd=None, reflect_skipped="model_off", started_at=at, finished_at=done_at,
    )  # fmt: skip
    written.episodes.setdefault(agent, []).append(made)
    if how is Outcome.DONE and card and chance.random() < 0.2:
        correction = Correction(
            id=random_row_id("x", chance.randbytes(10)), agent=agent, card=card, episode=made.id,
            run=run, why="Please look at the edge cases again.", actor="kim", at=done_at,
        )  # fmt: skip
        written.add("corrections", agent, done_at, correction)


def _learn(written: Written, chance: random.Random) -> None:
    reflected: set[str] = set()
    for agent, kind, quote, text, times in LEARNED:
        candidates = [e for e in written.episodes[agent] if e.run not in reflected]
        runs = sorted(chance.sample(candidates, times), key=lambda e: e.finished_at)
        reflected.update(one.run for one in runs)
        claim_id = random_id("c", chance.randbytes(5))
        claim: Claim | None = None
        for made in runs:
            at = made.finished_at
            if claim is None:
                claim = claims.new_claim(
                    claim_id, agent, kind, text, made.run, at, claims.BY_REFLECTION
                )
                effect, op = "added", "add"
            else:
                claim = claims.seen_again(claim, made.run, at, counted=False)
                effect, op = "repeated", "update"
            verdict = Verdict(
                op=op, claim=None if op == "add" else 1, kind=str(kind), text=text,
                claim_starts="" if op == "add" else text[:30], why="it happened in this run",
                evidence=quote, verdict="accepted", claim_id=claim_id, effect=effect,
            )  # fmt: skip
            written.add("reflections", agent, at, _reflection(chance, made, (verdict,)))
        if claim is not None:
            written.active.append(claim)
    for agent, made in ((a, e) for a in sorted(WORK) for e in written.episodes[a]):
        skipped = None if made.run in reflected else made.reflect_skipped
        written.add("episodes", agent, made.finished_at, replace(made, reflect_skipped=skipped))
    _correct(written, chance)


def _correct(written: Written, chance: random.Random) -> None:
    """What people did to the claims: one reworded, one retired, one edited by hand."""
    reworded = written.active[1]
    at = "2026-11-21T10:02:11Z"
    new = claims.superseding(
        reworded, random_id("c", chance.randbytes(5)),
        "I run the template tests first; they show in a second what the build shows in a minute.",
        "atlas", at,
    )  # fmt: skip
    written.closed.append(
        (write_claim(reworded), claims.close(reworded, "atlas", "edited", at, new.id))
    )
    written.active[1] = new
    retired = written.active.pop(2)
    why = "The runner now stops after two tries."
    written.closed.append(
        (write_claim(retired), claims.close(retired, "sam", why, "2026-11-24T08:30:40Z"))
    )
    by_hand = written.active[-1]
    written.active[-1] = replace(by_hand, text="I keep the digest to five links, and say why each.")


def _reflection(chance: random.Random, made: Episode, verdicts: tuple[Verdict, ...]) -> Reflection:
    return Reflection(
        id=random_row_id("r", chance.randbytes(10)), agent=made.agent, run=made.run,
        at=made.finished_at, trigger=Trigger.WAKE_DONE, result=Result.APPLIED, model=MODEL,
        ms=chance.randrange(4, 60), operations=verdicts,
    )  # fmt: skip


def _save(written: Written, org: Path) -> None:
    for log in ("episodes", "wakes", "status", "corrections", "reflections"):
        shutil.rmtree(org / log, ignore_errors=True)
    for agent in WORK:
        shutil.rmtree(org / "memory" / agent, ignore_errors=True)
    for (log, agent), rows in written.rows.items():
        _save_log(
            org / log / (agent if log in BY_AGENT else ""),
            agent,
            sorted(rows, key=lambda row: row[0]),
        )
    for claim in written.active:
        _write(org / "memory" / claim.agent / "claims" / f"{claim.id}.yaml", write_claim(claim))
    for text, claim in written.closed:
        path = org / "memory" / claim.agent / "closed" / f"{claim.id}.yaml"
        _write(path, close_claim_text(text, claim))
    _write(org / ".gitattributes", ATTRIBUTES)
    _write(org / ".gitignore", IGNORED)
    _write(org / "org.schema.json", schema("org"))
    compiled, problems = compile_org((org / "org.yaml").read_bytes().decode(), __version__)
    if compiled is None:
        sys.exit("\n".join(map(str, problems)))
    _write(org / "org-agents.json", encode_compiled(compiled))
    count = TokenCounter({}).count
    for agent in WORK:
        block = compiled["agents"][agent]
        own = [one for one in written.active if one.agent == agent]
        core = render(block["name"], own, block["memory"]["core_budget_tokens"], count)
        _write(org / "memory" / agent / "core.md", core.text)


def _save_log(folder: Path, agent: str, rows: list[tuple[str, str]]) -> None:
    month, number, content = "", 0, ""
    for at, line in rows:
        if at[:7] != month or len(content) + len(line) > SEGMENT_BYTES:
            number = number + 1 if at[:7] == month else 1
            month, content = at[:7], ""
        content += line + "\n"
        name = f"{month}-{number:04d}.{agent}"
        tail = sha256(f"{folder.name}/{name}".encode()).hexdigest()[:4]
        _write(folder / f"{name}.{tail}.jsonl", content)


def _write(path: Path, text: str) -> None:
    if not re.fullmatch(r"[\x20-\x7e]+", path.name):
        sys.exit(f"{path.name} is no plain name")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


if __name__ == "__main__":
    sys.exit(main())
