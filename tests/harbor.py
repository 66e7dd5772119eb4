"""The fixture vault as a real repository, and orgvault as its people and agents call it."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orgvault.cli.main import main

REPOSITORY = Path(__file__).resolve().parent.parent
SESSIONS = REPOSITORY / "fixtures" / "sessions"
BUILD = str(SESSIONS / "nova-site-build.jsonl")
LINKS = str(SESSIONS / "nova-site-links.jsonl")
REVIEW = str(SESSIONS / "atlas-review.jsonl")
FRICTION = "I lose a turn when I run `make build` before installing its dependencies"


@dataclass(frozen=True)
class Told:
    """What a command answered: exit code, results, remarks."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - an object of any command
        """The object that `--json` printed."""
        return json.loads(self.out)


@dataclass
class Harbor:
    """A vault, and an environment for the commands in it."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, *words: str, code: int | None = 0, **environment: str) -> Told:
        """Run one orgvault command in this process, as a shell in the vault would."""
        out, err = io.StringIO(), io.StringIO()
        with (
            _environment({**self.environment, **environment}),
            contextlib.chdir(self.root),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            ended = main(list(words))
        told = Told(ended, out.getvalue(), err.getvalue())
        if code is not None:
            assert told.code == code, (words, told)
        return told

    def json(self, *words: str, **environment: str) -> Any:  # noqa: ANN401
        """The object that a command answers."""
        return self.run(*words, "--json", code=0, **environment).json

    def git(self, *args: str) -> str:
        """Run git as the owner does."""
        done = subprocess.run(
            ["git", "-c", "gc.auto=0", *args], cwd=self.root, capture_output=True, check=True
        )
        return done.stdout.decode()

    def wake(self, agent: str, reason: str = "task", card: str | None = None) -> str:
        """Ask that an agent run; the wake's id."""
        words = ["wake", "add", agent, "--reason", reason, *(["--card", card] if card else [])]
        return self.run(*words).out.strip()

    def finish(self, agent: str, run: str, *words: str, **environment: str) -> Any:  # noqa: ANN401
        """Wake an agent and report its run as finished; the object that is answered."""
        wake = self.wake(agent)
        return self.json("wake-done", wake, "--run", run, *words, **environment)

    def rows(self, log: str, agent: str) -> list[dict[str, Any]]:
        """The rows of a log as they stand in the files."""
        folder = self.root / ".agents" / "org" / log
        paths = sorted(folder.rglob(f"*.{agent}.*.jsonl"))
        return [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]

    def claims(self, agent: str) -> list[dict[str, Any]]:
        """The active claims of an agent."""
        found: list[dict[str, Any]] = self.json("memory", agent)["claims"]
        return found

    def claim(self, agent: str, part: str) -> dict[str, Any]:
        """The one active claim of an agent with these words in it."""
        (found,) = [one for one in self.claims(agent) if part in one["text"]]
        return found

    def core(self, agent: str) -> str:
        """The core memory of an agent."""
        return (self.root / ".agents/org/memory" / agent / "core.md").read_text("utf-8")

    def subjects(self, count: int = 20) -> list[str]:
        """The subjects of the latest commits, newest first."""
        return self.git("log", f"-{count}", "--format=%s").splitlines()

    def edit_org(self, pattern: str, replacement: str) -> None:
        """Change org.yaml as its owner would, and compile it."""
        path = self.root / ".agents/org/org.yaml"
        text, count = re.subn(pattern, replacement, path.read_text("utf-8"), count=1)
        assert count == 1, pattern
        path.write_text(text, "utf-8")
        self.run("compile")


def make_harbor(folder: Path) -> Harbor:
    """A copy of the fixture vault, committed by its owner."""
    root = folder / "harbor"
    shutil.copytree(REPOSITORY / "fixtures" / "vault", root)
    harbor = Harbor(root)
    harbor.git("init", "-q")
    harbor.git("add", "-A")
    harbor.git("commit", "-q", "-m", "My notes")
    return harbor


@contextlib.contextmanager
def _environment(changes: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
