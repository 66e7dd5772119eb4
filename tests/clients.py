"""Stand-in client programs: they print what the real ones print, fail, hang, or talk rubbish."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.harbor import REPOSITORY, Harbor

CLAUDE = {
    "type": "result", "subtype": "success", "is_error": False, "duration_ms": 4200, "num_turns": 7,
    "result": "The feed validates again.", "session_id": "5f0c1d2e-0001", "total_cost_usd": 0.125,
    "usage": {"input_tokens": 10, "cache_creation_input_tokens": 20,
              "cache_read_input_tokens": 30, "output_tokens": 40},
}  # fmt: skip
CODEX = (
    {"type": "thread.started", "thread_id": "0199-aa"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": "Done it."}},
    {"type": "turn.completed",
     "usage": {"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 9}},
)  # fmt: skip

# Notes in its folder that it runs, what it was told, and with what environment.
_CLIENT = """
import json, os, sys, time
prompt = sys.stdin.read()
folder = {folder!r}
name = os.environ["ORGVAULT_RUN"]
with open(os.path.join(folder, name), "w") as file:
    json.dump({{"prompt": prompt, "env": dict(os.environ), "cwd": os.getcwd(), "pid": os.getpid(),
               "args": sys.argv[1:], "at": time.monotonic()}}, file)
os.rename(os.path.join(folder, name), os.path.join(folder, name + ".json"))  # whole, or not there
{body}
with open(os.path.join(folder, name + ".end"), "w") as file:
    file.write(str(time.monotonic()))
"""


class Client:
    """A client program in a folder where it notes how it was called."""

    def __init__(self, folder: Path, body: str, name: str = "client") -> None:
        self.folder = folder / f"{name}-calls"
        self.folder.mkdir(parents=True)
        self.path = folder / f"{name}.py"
        self.path.write_text(_CLIENT.format(folder=str(self.folder), body=body), "utf-8")

    @property
    def command(self) -> list[str]:
        """The words that start it."""
        return [sys.executable, str(self.path)]

    @property
    def calls(self) -> list[dict[str, object]]:
        """How it was called, oldest first."""
        told = [json.loads(one.read_text("utf-8")) for one in self.folder.glob("*.json")]
        return sorted(told, key=lambda one: one["at"])


def printing(*values: object) -> str:
    """The body of a client that prints these as JSON, a line each."""
    return "".join(f"print({json.dumps(one)!r})\n" for one in values)


def employ(harbor: Harbor, client: Client, *agents: str, more: str = "") -> None:
    """Make a client that of some agents, in org.yaml, and compile it."""
    path = harbor.root / ".agents/org/org.yaml"
    lines: list[str] = []
    agent = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("  ") and not line.startswith("   ") and line.endswith(":"):
            agent = line.strip(" :")
        if agent in agents and line.strip().startswith("command:"):
            lines.append(f"      command: {json.dumps(client.command)}")
        elif agent in agents and more and line.strip().startswith("wakes_per_day:"):
            lines.append(f"    {more}")
        else:
            lines.append(line)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    harbor.run("compile")


def orgvault(harbor: Harbor, *words: str, **environment: str) -> "subprocess.Popen[bytes]":
    """Start orgvault as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "orgvault", *words], cwd=harbor.root, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **environment},
    )  # fmt: skip


def until(folder: Path, pattern: str, count: int = 1, limit_s: float = 30.0) -> list[Path]:
    """Wait until so many files are there."""
    end = time.monotonic() + limit_s
    while len(found := sorted(folder.glob(pattern))) < count:
        assert time.monotonic() < end, (pattern, found)
        time.sleep(0.02)
    return found
