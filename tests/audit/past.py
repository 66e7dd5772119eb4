"""The story that the audited vault has behind it, and what tests ask of it."""

import json
from pathlib import Path
from typing import Any

from tests.harbor import BUILD, FRICTION, LINKS, REVIEW, Harbor, make_harbor

ORG = ".agents/org"
NOVA = "Nova <nova@agents.invalid>"


def make_past(folder: Path) -> Harbor:
    """Runs, claims that were repeated, edited and retired, a card shipped, a correction."""
    vault = make_harbor(folder)
    vault.git("config", "gc.auto", "0")
    finish(vault, "run-1", BUILD)
    vault.finish("atlas", "run-a", "--transcript", REVIEW)
    finish(vault, "run-2", LINKS)
    ship(vault)
    vault.run("task", "redo", "t-4m7q2x9k", "The links are gone.", "--as", "kim")
    edited = vault.claim("nova", FRICTION)["id"]
    vault.run("memory", "edit", edited, "I install the dependencies before `make build`.")
    finish(vault, "run-3", BUILD)
    vault.run("post", "Working on it.", "--agent", "nova", "--run", "run-3")
    vault.wake("nova", "manual")
    vault.run("run", "start", "nova", "--message", "Look at the links, please.")
    vault.run("run", "start", "juno", "--routine", "weekly-digest")
    vault.run("chat", "post", "Hello @nova")
    vault.run("chat", "post", "Hello @juno", ORGVAULT_AGENT="atlas")
    return vault


def finish(vault: Harbor, run: str, transcript: str) -> None:
    """A finished run of nova's."""
    wake = vault.wake("nova", card="t-4m7q2x9k")
    vault.run(
        "wake-done", wake, "--run", run, "--cost", "0.31", "--result", "done: It builds.",
        "--transcript", transcript,
    )  # fmt: skip


def ship(vault: Harbor) -> str:
    """The owner applies the open card and has it noticed."""
    (filed,) = (vault.root / ORG / "proposals").glob("*.diff")
    card = filed.stem
    vault.git("apply", f"{ORG}/proposals/{card}.diff")
    vault.git("commit", "-qam", f"Apply {card}")
    vault.run("compile")
    vault.run("ledger", "sync")
    return card


def text_path(digest: str) -> str:
    """Where the text of a run stands."""
    return f"{ORG}/runs/texts/{digest[:2]}/{digest}.nova.task.md"


# ── looking at it, and laying hands on it ───────────────────────────────────────────────────


def audit(vault: Harbor, *words: str, code: int | None = None) -> Any:  # noqa: ANN401
    """What `audit --json` answers."""
    return vault.run("audit", "--json", *words, code=code).json


def rules(vault: Harbor, *words: str) -> set[str]:
    """The names of the rules that an audit finds broken."""
    return {one["rule"] for one in audit(vault, *words)["findings"]}


def segment(vault: Harbor, log: str, agent: str = "nova") -> Path:
    """The newest segment of a log."""
    return max((vault.root / ORG / log).rglob(f"*.{agent}.*.jsonl"))


def claim_file(vault: Harbor, folder: str = "claims", agent: str = "nova", part: str = "") -> Path:
    """The file of a claim that orgvault wrote, the first with these words in it."""
    files = sorted((vault.root / ORG / "memory" / agent / folder).glob("*.yaml"))
    return next(one for one in files if "seal: " in one.read_text() and part in one.read_text())


def swap(path: Path, old: str, new: str) -> None:
    """Put words in the place of others, which have to be there."""
    text = path.read_text("utf-8")
    assert old in text, (path, old, text)
    path.write_text(text.replace(old, new, 1), "utf-8")


def line_of(path: Path, key: str) -> str:
    """The line of a file that begins with a key."""
    return next(one for one in path.read_text("utf-8").splitlines() if one.startswith(f"{key}:"))


def set_line(path: Path, key: str, value: str) -> None:
    """Give a key of a file another value."""
    swap(path, line_of(path, key), f"{key}: {value}")


def append(path: Path, *rows: dict[str, Any]) -> None:
    """Append rows to a segment by hand."""
    with path.open("a", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")


def commit(vault: Harbor, message: str = "backup", *words: str) -> str:
    """Commit everything, as a backup tool does; the commit's short name."""
    vault.git("add", "-A", "-f", ORG)
    vault.git("add", "-A")
    vault.git("commit", "-q", "--allow-empty", "-m", message, *words)
    return vault.git("rev-parse", "--short=10", "HEAD").strip()
