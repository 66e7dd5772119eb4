"""For a vault's own CI: annotations, pre-commit's hook, `org.mk`, with real git and make."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from orgvault.domain.annotation import annotation
from orgvault.domain.problem import Problem
from tests.harbor import REPOSITORY, Harbor

ORG = ".agents/org"
BIN = Path(sys.executable).parent
HOOKS = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text("utf-8"))
TARGETS = (
    "org-check", "org-compile", "org-render", "org-stats", "org-proposals", "org-audit",
    "org-ledger",
)  # fmt: skip
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def spoil(harbor: Harbor) -> None:
    """A claim that cannot be read."""
    path = next((harbor.root / ORG / "memory/nova/claims").glob("*.yaml"))
    path.write_text(path.read_text("utf-8") + "colour: red\n", "utf-8")


# ── annotations ─────────────────────────────────────────────────────────────────────────────────


def test_problems_annotate_the_lines_of_a_pull_request(harbor: Harbor) -> None:
    assert "::" not in harbor.run("check", "--format", "github").out
    spoil(harbor)
    plain = harbor.run("check", code=1).out.splitlines()
    told = harbor.run("check", "--format", "github", code=1).out.splitlines()
    found = re.fullmatch(r"([^:]+):(\d+): (.*)", plain[0])
    assert found is not None
    file, line, what = found.groups()
    assert told[0] == f"::error file={file},line={line}::{what.replace('%', '%25')}"
    assert told[-1] == plain[-1]
    assert harbor.run("check", "--format", "github", "--json", code=1).json["problems"]


def test_annotations_name_files_as_the_repository_does(harbor: Harbor) -> None:
    shutil.rmtree(harbor.root / ".git")
    subprocess.run(["git", "init", "-q"], cwd=harbor.root.parent, check=True)
    spoil(harbor)
    told = harbor.run("check", "--format", "github", code=1)
    assert told.out.startswith(f"::error file=harbor/{ORG}/memory/nova/claims/")


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (Problem("a.md", 3, "bad", "mend it"), "::error file=a.md,line=3::bad, mend it"),
        (Problem("a.md", 0, "gone"), "::error file=a.md::gone"),
        (
            Problem("a,b:c%.md", 1, "100 %\r\n::set-env name=x::y"),
            "::error file=a%2Cb%3Ac%25.md,line=1::100 %25%0D%0A::set-env name=x::y",
        ),
    ],
)
def test_nothing_in_a_file_can_begin_another_command(problem: Problem, expected: str) -> None:
    assert annotation(problem, problem.file) == expected


# ── pre-commit ──────────────────────────────────────────────────────────────────────────────────


def test_the_hook_says_what_pre_commit_needs() -> None:
    (hook,) = HOOKS
    assert (hook["id"], hook["language"], hook["entry"]) == (
        "orgvault-check", "python", "orgvault check",
    )  # fmt: skip
    assert hook["pass_filenames"] is False


def test_the_hook_stops_a_commit_of_a_broken_vault_and_no_other(harbor: Harbor) -> None:
    """As pre-commit runs it: from git, at the repository's root, with git's own variables set."""
    words = [str(BIN / "orgvault"), *shlex.split(HOOKS[0]["entry"])[1:]]
    hook = harbor.root / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\nexec {shlex.join(words)}\n", "utf-8")
    hook.chmod(0o755)
    (harbor.root / "Note.md").write_text("mine", "utf-8")
    harbor.git("add", "Note.md")
    harbor.git("commit", "-q", "-m", "A note")
    spoil(harbor)
    command = ["git", "commit", "-q", "-a", "-m", "Broken"]
    done = subprocess.run(command, cwd=harbor.root, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"unknown key `colour`" in done.stderr  # git sends what a hook says there
    assert harbor.subjects(1) == ["A note"]
    harbor.wake("nova")  # orgvault's own commits run no hook
    assert harbor.subjects(1)[0].startswith("wake(nova)")


# ── org.mk ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def made(harbor: Harbor) -> Harbor:
    """A vault with org.mk, and a Makefile of the owner's that includes it."""
    assert harbor.json("init", "--make")["written"] == ["org.mk"]
    (harbor.root / "Makefile").write_text("include org.mk\n", "utf-8")
    return harbor


def make(harbor: Harbor, *words: str, **environment: str) -> tuple[int, str]:
    """Run make in the vault; its exit code and all that it said."""
    done = subprocess.run(
        ["make", *words], cwd=harbor.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **environment},
        check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.decode()


def test_org_mk_is_written_once_and_only_when_asked_for(harbor: Harbor) -> None:
    assert harbor.json("init")["written"] == []
    assert harbor.json("init", "--make")["written"] == ["org.mk"]
    assert harbor.subjects(1) == ["org(vault): init"]
    (harbor.root / "org.mk").write_text("# mine\n", "utf-8")
    assert harbor.json("init", "--make")["written"] == []
    assert (harbor.root / "org.mk").read_text("utf-8") == "# mine\n"


@needs_make
@pytest.mark.parametrize("target", TARGETS)
def test_every_target_works(made: Harbor, target: str) -> None:
    head = made.git("rev-parse", "HEAD")
    code, said = make(made, target)
    assert code == 0, said
    assert "Traceback" not in said
    assert made.git("rev-parse", "HEAD") == head


@needs_make
def test_the_targets_fail_where_the_commands_do(made: Harbor) -> None:
    assert make(made, "org")[0] == 0
    core = made.root / ORG / "memory/nova/core.md"
    core.write_text(core.read_text("utf-8") + "- I am told something else.\n", "utf-8")
    code, said = make(made, "org-render")
    assert (code, "nova" in said) == (2, True)
    assert "the core of juno is up to date" in said
    assert make(made, "org-check")[0] == 2
    assert "::error file=" in make(made, "org-check", GITHUB_ACTIONS="true")[1]
    source = made.root / ORG / "org.yaml"
    source.write_text(source.read_text("utf-8") + "# more\n", "utf-8")
    assert make(made, "org-compile")[0] == 2


@needs_make
def test_the_vault_may_be_a_folder_with_a_space_in_its_name(made: Harbor) -> None:
    moved = made.root.parent / "my notes"
    made.root.rename(moved)
    (moved.parent / "Makefile").write_text("include my\\ notes/org.mk\n", "utf-8")
    code, said = make(Harbor(moved.parent), "org-check", "ORG_VAULT=my notes")
    assert code == 0, said


@needs_make
def test_an_empty_roster_has_nothing_to_render(made: Harbor) -> None:
    source = made.root / ORG / "org.yaml"
    text = source.read_text("utf-8")
    source.write_text(text[: text.index("\nagents:")] + "\nagents: {}\n", "utf-8")
    made.run("compile")
    assert make(made, "org-render")[0] == 0
