"""One day in the fixture vault, as its owner would see it.

Copies `fixtures/vault` to a temporary folder, makes it a repository, and runs the commands that
a dispatcher and two people would run.  No network, no model, no key.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
ORGVAULT = Path(sys.executable).parent / "orgvault"
NARROW = 96
SESSIONS = REPOSITORY / "fixtures" / "sessions"
ROUTINE = """\
version: 1
id: morning-build
agent: nova
cron: "0 7 * * *"
instruction: Build the site, and say what is broken.
created: "2026-11-02T08:00:00Z"
created_by: sam
"""
# Reads the prompt and prints what Claude Code prints; its session is one that was recorded.
CLIENT = """\
import json, os, re, shutil, sys
prompt = sys.stdin.read()
session = "13b36a60-db02-4033-905d-6b811b2a81fa"
folder = os.path.expanduser("~/.claude/projects/" + re.sub("[^A-Za-z0-9]", "-", os.getcwd()))
os.makedirs(folder)
shutil.copy({session!r}, os.path.join(folder, session + ".jsonl"))
json.dump({{
    "type": "result", "subtype": "success", "is_error": False, "session_id": session,
    "num_turns": 12, "duration_ms": 61000, "total_cost_usd": 0.31,
    "result": "done: The site builds. I was told " + str(len(prompt)) + " characters.",
}}, sys.stdout)
"""


class Demo:
    """A throw-away vault, and a voice that says what happens in it."""

    def __init__(self, home: Path) -> None:
        self.vault = home / "harbor"
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        shutil.copytree(REPOSITORY / "fixtures" / "vault", self.vault)
        for command in (
            ["init", "--quiet", "--initial-branch=main"],
            ["config", "user.name", "Sam"],
            ["config", "user.email", "sam@example.org"],
            ["add", "--all"],
            ["commit", "--quiet", "--message", "My notes"],
        ):
            self.run("git", *command)
        # The owner is in the middle of something; none of it may be touched.
        (self.vault / "Daily" / "today.md").write_text("Half a thought\n", encoding="utf-8")
        self.run("git", "add", "Daily/today.md")

    def say(self, text: str) -> None:
        """Tell what comes next."""
        print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n== {text}")

    def run(self, *command: str, who: str = "") -> str:
        """Run a command in the vault and give what it printed; stop the demo when it fails."""
        environment = {**self._environment, **({"ORGVAULT_OPERATOR": who} if who else {})}
        done = subprocess.run(
            command, cwd=self.vault, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{shlex.join(command)} ended with {done.returncode}:\n{done.stderr}")
        return done.stdout + done.stderr

    def show(self, *words: str, who: str = "", last: int = 0) -> str:
        """Run an orgvault command and print it with its answer, or with the last lines of it."""
        shown = shlex.join(words).replace(str(SESSIONS), "sessions")
        prompt = f"{who or 'sam'}$ orgvault {shown}"
        print("\n".join(textwrap.wrap(prompt, NARROW, subsequent_indent="    ")))
        told = self.run(str(ORGVAULT), *words, who=who)
        if last:
            print("  …")
        for line in told.splitlines()[-last:]:
            indent = " " * (4 + len(line) - len(line.lstrip()))
            print(textwrap.fill(line, NARROW, initial_indent="  ", subsequent_indent=indent))
        return told

    def type(self, *command: str) -> None:
        """Run a command of somebody else's and print it with its answer."""
        print(f"sam$ {shlex.join(command)}")
        print(textwrap.indent(self.run(*command), "  "), end="")

    def ask(self, *words: str) -> dict[str, object]:
        """The JSON object that a command answers."""
        answer: dict[str, object] = json.loads(self.run(str(ORGVAULT), *words, "--json"))
        return answer


def main() -> int:
    """Play the day."""
    with tempfile.TemporaryDirectory(prefix="orgvault-demo-") as home:
        _play(Demo(Path(home)))
    return 0


def _play(demo: Demo) -> None:
    demo.say("Harbor is a vault that Sam and Kim share with three agents.")
    demo.show("compile")
    demo.show("status")

    _dispatch(demo)

    demo.say("Atlas reviews something; there is nothing to learn from it.")
    _finish(demo, "atlas", "atlas-review.jsonl", "t-0p6s4f7y", "done: It holds.", "0.12")

    demo.say("Nova runs again on another card, and the same thing happens: seen twice now.")
    _finish(demo, "nova", "nova-site-links.jsonl", "t-8h3w6r1d", "done: Links work.", "0.27")
    demo.show("memory", "nova")

    demo.say("What came back twice became a card, too: Nova asks for a change of itself.")
    card = demo.ask("proposal", "list")["proposals"][0]["id"]  # type: ignore[index]
    note = demo.vault / "Org" / "Backlog" / f"{card}.md"
    why = note.read_text(encoding="utf-8").partition("## Why")[2].partition("## Change")[0]
    print(f"In Obsidian it is the note Org/Backlog/{card}.md:")
    print(textwrap.indent(f"## Why{why}".rstrip(), "  | ", lambda _: True))
    demo.show("proposal", "show", card)

    demo.say("No command of orgvault applies it. Sam does, with git, and the ledger notices.")
    diff = f".agents/org/proposals/{card}.diff"
    demo.type("git", "apply", diff)
    demo.type("git", "commit", "--quiet", "-m", "Nova installs first", ".agents/org/org.yaml")
    demo.show("compile")
    demo.show("ledger", "sync")
    demo.show("ledger", "list")
    print("In two weeks it compares: corrections and cost per completed card, before and after.")
    print("What made them worse comes back as a card that asks to undo it.")

    demo.say("Kim reviews the card and sends it back: the run counts as corrected.")
    demo.show("task", "redo", "t-8h3w6r1d", "The footer still links to the old host.", who="kim")
    demo.show("wake", "list")

    demo.say("Sam puts the new claim into better words, and asks where it came from.")
    claims = demo.ask("memory", "nova")["claims"]
    learned = next(c for c in claims if "make build" in c["text"])  # type: ignore[attr-defined]
    words = "I install the dependencies before I build the site."
    demo.show("memory", "edit", learned["id"], words)
    demo.show("memory", "why", words)

    demo.say("What Nova will read before its next run (core.md):")
    core = demo.vault / ".agents" / "org" / "memory" / "nova" / "core.md"
    print(textwrap.indent(core.read_text(encoding="utf-8").rstrip(), "  "))

    demo.say("The first two lines are the numbers by which a change is judged:")
    demo.show("memory", "stats", "nova")

    demo.say("Every write is one commit, and Sam's half-finished work is as it was:")
    print(textwrap.indent(demo.run("git", "log", "--format=%h %an: %s", "-12").rstrip(), "  "))
    print(textwrap.indent(demo.run("git", "status", "--short").rstrip(), "  "))
    demo.show("check")


def _dispatch(demo: Demo) -> None:
    """A routine wakes Nova; its client runs on the composed prompt, and the run is recorded."""
    demo.say(
        "A routine of Nova is due. In place of Claude Code stands a program that talks like it."
    )
    routine = demo.vault / ".agents/org/routines/morning-build.yaml"
    routine.write_text(ROUTINE, encoding="utf-8")
    client = demo.vault.parent / "client.py"
    recorded = str(SESSIONS / "nova-site-build.jsonl")
    client.write_text(CLIENT.format(session=recorded), encoding="utf-8")
    org = demo.vault / ".agents/org/org.yaml"
    text = org.read_text(encoding="utf-8")
    before, claude, after = text.rpartition("[claude, -p, --output-format, json]")
    words = [sys.executable, str(client)] if claude else []
    org.write_text(f"{before}{words}{after}", encoding="utf-8")
    demo.run("git", "add", str(routine), str(org))
    demo.run("git", "commit", "--quiet", "-m", "A routine for Nova", str(routine), str(org))
    demo.run(str(ORGVAULT), "compile", "--quiet")
    demo.show("routine", "due")

    demo.say("What Nova will be told: four sections, each with one owner.")
    preview = ("prompt", "preview", "nova", "--routine", "morning-build")
    demo.show(*preview, "--tokens")
    demo.show(*preview, "--section", "message")

    demo.say("The dispatcher wakes it, runs the client, and records what came of it.")
    demo.show("dispatch", "--once", "--agent", "nova")
    demo.type("git", "log", "--format=%h %s", "-3")
    demo.show("memory", "episodes", "nova", "--days", "1")
    demo.say("What it was told is kept as it was sent, and can be explained later.")
    run = demo.ask("run", "list")["runs"][0]["run"]  # type: ignore[index]
    demo.show("run", "list")
    demo.show("run", "show", run, "--section", "state", last=16)
    demo.show("prompt", "verify", run)
    demo.say("The site build had failed twice before its dependencies were installed: a claim.")
    demo.show("memory", "nova")


def _finish(demo: Demo, agent: str, session: str, card: str, result: str, cost: str) -> None:
    run = session.removesuffix(".jsonl")
    wake = demo.run(str(ORGVAULT), "wake", "add", agent, "--reason", "task", "--card", card)
    demo.show(
        "wake-done", wake.strip(), "--run", run, "--exit", "0", "--cost", cost,
        "--result", result, "--transcript", str(SESSIONS / session),
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
