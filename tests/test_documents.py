"""The README, the docs and the demo say what is so."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from orgvault.cli.main import cli

REPOSITORY = Path(__file__).resolve().parent.parent
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
TRACKED = subprocess.run(
    ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
).stdout.split("\0")[:-1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_is_named_exists(page: Path) -> None:
    for line in re.findall(r"orgvault ((?:[a-z-]+ ?)+)", page.read_text("utf-8")):
        command: click.Command | None = cli
        for word in line.split():
            if not isinstance(command, click.Group):
                break
            with click.Context(command) as context:
                known = command.list_commands(context)
                if word not in known:
                    # `memory AGENT`, or the word "orgvault" in a sentence.
                    assert word in {"nova", "ada", "is", "in", "and", "has"} or command is cli, line
                    break
                command = command.get_command(context, word)


def test_no_file_names_a_place_of_this_machine() -> None:
    here = re.compile(r"/(?:work|root|home/[a-z]+)/[a-z]")
    for name in TRACKED:
        path = REPOSITORY / name
        if path.suffix in {".py", ".md", ".toml", ".txt", ".yaml", ".json", ".jsonl", ""}:
            found = here.search(path.read_text("utf-8", errors="replace"))
            assert found is None, f"{name}: {found}"


def test_the_demo_plays_to_its_end() -> None:
    done = subprocess.run(
        [sys.executable, "tools/demo.py"], cwd=REPOSITORY, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "seen 2×" in done.stdout
    assert "I install the dependencies before I build the site." in done.stdout
    assert "A  Daily/today.md" in done.stdout
    assert " 0 problems" in done.stdout
