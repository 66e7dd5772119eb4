"""A copy of the fixture vault as a real repository, its owner in the middle of something."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

REPOSITORY = Path(__file__).resolve().parents[2]
ORGVAULT = Path(sys.executable).parent / "orgvault"
ORG = ".agents/org"
_LONGEST_S = 150.0


@dataclass(frozen=True)
class Stored:
    """A claim's file as it stands there: its values, and whether it lies among the closed ones."""

    values: dict[str, Any]
    closed: bool


@dataclass(frozen=True)
class Snapshot:
    """A vault at one moment: claims by agent and id, what git status says, HEAD."""

    claims: dict[tuple[str, str], Stored]
    status: str
    head: str


@dataclass
class Harbor:
    """A throw-away vault whose agents reflect with the model that `ORG_REFLECT_MODEL` names."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    @classmethod
    def make(cls, home: Path, model: str) -> "Harbor":
        """The fixture vault in `home`, with one commit, something staged and something not."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "ORG_REFLECT_MODEL": model,
        }
        made = cls(home / "harbor", environment)
        shutil.copytree(REPOSITORY / "fixtures" / "vault", made.root)
        org = made.root / ORG / "org.yaml"
        text, count = re.subn("model: builtin/extractive", "model: cheap", org.read_text("utf-8"))
        if count != 1:
            raise AssertionError(text)
        org.write_text(text, "utf-8")
        made.git("init", "--quiet", "--initial-branch=main")
        made.git("config", "user.name", "Sam")
        made.git("config", "user.email", "sam@example.org")
        made.git("add", "--all")
        made.git("commit", "--quiet", "--message", "My notes")
        made.orgvault("compile")
        (made.root / "Daily" / "today.md").write_text("Half a thought\n", "utf-8")
        made.git("add", "Daily/today.md")
        (made.root / "Home.md").write_text("Half a page\n", "utf-8")
        return made

    def ended(self, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        """A command that has ended, however it did."""
        return subprocess.run(
            [ORGVAULT, *words, "--json"], cwd=self.root, env={**self.environment, **more},
            capture_output=True, text=True, check=False, timeout=_LONGEST_S,
        )  # fmt: skip

    def orgvault(self, *words: str) -> Any:  # noqa: ANN401
        """The object that a command answers.  Raises AssertionError when it does not end with 0."""
        done = self.ended(*words)
        if done.returncode:
            message = f"orgvault {' '.join(words)} ended with {done.returncode}:\n{done.stderr}"
            raise AssertionError(message)
        return json.loads(done.stdout)

    def git(self, *words: str) -> str:
        """What git says, as the owner runs it."""
        return subprocess.run(
            ["git", *words], cwd=self.root, env=self.environment, capture_output=True, text=True,
            check=True, errors="replace",
        ).stdout  # fmt: skip

    def snapshot(self) -> Snapshot:
        """The vault now."""
        reader, memory = YAML(typ="safe"), self.root / ORG / "memory"
        claims = {}
        for path in sorted(memory.glob("*/c*/*.yaml")):
            agent, folder = path.parts[-3:-1]
            claims[agent, path.stem] = Stored(reader.load(path), folder == "closed")
        return Snapshot(
            claims, self.git("status", "--porcelain"), self.git("rev-parse", "HEAD").strip()
        )

    def rows(self, log: str, agent: str, run: str) -> list[dict[str, Any]]:
        """The rows of a run in a log, as they stand in the files."""
        paths = sorted((self.root / ORG / log).rglob(f"*.{agent}.*.jsonl"))
        rows = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
        return [row for row in rows if row.get("run") == run]
