"""What level 0 does not stop, and what file modes do: with users of the operating system.

The owner of the vault and a stranger are two users of this machine; only root can start both.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from tests.harbor import REPOSITORY, make_harbor

OWNER, STRANGER = 41001, 41002
ORG = ".agents/org"
# The Python of the tests may stand in somebody's home: the system's own of that version will do.
PYTHONS = (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}")
LIBRARIES = str(Path(click.__file__).parent.parent)

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can act as two users"
)


@dataclass
class Machine:
    """A vault of OWNER on a machine that others use, too."""

    home: Path
    root: Path
    python: str = ""

    def run(self, user: int, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A command in the vault as a user, who has no other group and no variables of ours."""
        startup = str(self.home / "startup")  # keeps it off the network
        env = {
            "PATH": os.defpath, "HOME": str(self.home), "LC_ALL": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join([startup, str(REPOSITORY), LIBRARIES]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GIT_CONFIG_GLOBAL": str(self.home / f"gitconfig-{user}"), **environment,
        }  # fmt: skip
        return subprocess.run(
            words, cwd=self.root if user == OWNER else self.home, env=env, user=user, group=user,
            extra_groups=[], capture_output=True, text=True, check=False,
        )  # fmt: skip

    def runs(self, python: str) -> bool:
        """Whether other users can run orgvault with a Python."""
        try:
            return not self.run(STRANGER, python, "-c", "import orgvault, click, git").returncode
        except OSError:
            return False

    def orgvault(self, user: int, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        """An orgvault command on the vault."""
        command = (self.python, "-m", "orgvault", "-C", str(self.root))
        done = self.run(user, *command, *words, **env)
        assert "Traceback" not in done.stderr
        assert done.returncode != 70, done.stderr
        return done

    def said(self, name: str) -> tuple[str, str]:
        """What doctor says of one thing, to the owner: state and sentence."""
        done = self.orgvault(OWNER, "doctor", "--json")
        found = [one for one in json.loads(done.stdout)["diagnoses"] if one["name"] == name]
        return found[0]["state"], found[0]["what"]

    def claim(self, agent: str) -> Path:
        """The file of a claim."""
        return min((self.root / ORG / "memory" / agent / "claims").glob("*.yaml"))


@pytest.fixture
def machine() -> Iterator[Machine]:
    """A vault that OWNER has made with the usual modes, where anybody can get to it."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        harbor = make_harbor(home)
        shutil.copytree(os.environ["PYTHONPATH"].split(os.pathsep)[0], home / "startup")
        for user in (OWNER, STRANGER):
            config = f"[user]\n\tname = u{user}\n\temail = u{user}@example.org\n"
            trust = f"[safe]\n\tdirectory = {harbor.root}\n" if user == STRANGER else ""
            (home / f"gitconfig-{user}").write_text(config + trust, "utf-8")
        subprocess.run(["chown", "-R", f"{OWNER}:{OWNER}", str(harbor.root)], check=True)
        home.chmod(0o755)
        made = Machine(home, harbor.root)
        made.python = next(filter(made.runs, PYTHONS), "")
        if not made.python:
            pytest.skip("no Python that other users of this machine can run and that has all")
        assert made.orgvault(OWNER, "audit").returncode == 0
        yield made


# ── level 0: one user ───────────────────────────────────────────────────────────────────────────


def test_level_0_refuses_an_agent_that_says_who_it_is(machine: Machine) -> None:
    claim = machine.claim("juno").stem
    told = machine.orgvault(OWNER, "memory", "retire", claim, "no", ORGVAULT_AGENT="nova")
    assert told.returncode == 4
    assert machine.orgvault(OWNER, "memory", "juno", ORGVAULT_AGENT="nova").returncode == 4


def test_acc_02_level_0_does_not_stop_an_agent_that_does_not(machine: Machine) -> None:
    """A process of the same user drops the variable, or does without orgvault."""
    claim = machine.claim("juno")
    assert machine.run(OWNER, "cat", str(claim)).stdout == claim.read_text("utf-8")
    told = machine.orgvault(OWNER, "memory", "retire", claim.stem, "because I can")
    assert told.returncode == 0
    assert machine.said("isolation")[1].startswith("level 0: ")


def test_level_0_what_an_agent_did_past_orgvault_audit_finds(machine: Machine) -> None:
    segment = next((machine.root / ORG / "corrections").glob("*.nova.*.jsonl"))
    for words in (
        ["sh", "-c", f": > '{segment}'"],
        ["git", "commit", "-q", "-a", "-m", "Tidy up"],
    ):
        assert machine.run(OWNER, *words).returncode == 0
    told = machine.orgvault(OWNER, "audit")
    assert told.returncode == 1
    assert segment.name in told.stdout


def test_level_0_audit_finds_a_history_that_was_rewritten(machine: Machine) -> None:
    for words in (
        ["sh", "-c", f"rm '{machine.claim('juno')}'"],
        ["git", "commit", "-q", "-a", "--amend", "-m", "My notes"],
    ):
        assert machine.run(OWNER, *words).returncode == 0
    told = machine.orgvault(OWNER, "audit")
    assert told.returncode == 1
    assert "rewritten" in told.stdout


# ── another user, the usual modes ───────────────────────────────────────────────────────────────


def test_the_usual_modes_let_a_stranger_read_and_not_write(machine: Machine) -> None:
    claim = machine.claim("nova")
    before = claim.read_bytes()
    assert machine.run(STRANGER, "cat", str(claim)).stdout == before.decode()
    history = machine.run(STRANGER, "git", "-C", str(machine.root), "log", "--name-only")
    assert claim.stem in history.stdout
    for words in (
        ["sh", "-c", f"echo x >> '{claim}'"],
        ["rm", "-f", str(claim)],
        ["git", "-C", str(machine.root), "commit", "-q", "--allow-empty", "-m", "mine"],
        ["touch", str(machine.root / ".git/index.lock")],
    ):
        assert machine.run(STRANGER, *words).returncode != 0
    assert claim.read_bytes() == before
    assert "can read the vault" in machine.said("isolation")[1]
    assert machine.said("modes")[0] == "ok"


def test_orgvault_itself_writes_nothing_for_a_stranger(machine: Machine) -> None:
    told = machine.orgvault(STRANGER, "wake", "add", "nova", "--reason", "task")
    assert told.returncode == 1
    assert "nothing was recorded" in told.stderr
    untrusting = {"GIT_CONFIG_GLOBAL": os.devnull}
    told = machine.orgvault(STRANGER, "wake", "add", "nova", "--reason", "task", **untrusting)
    assert (told.returncode, "safe.directory" in told.stderr) == (1, True)
    assert machine.orgvault(OWNER, "wake", "list", "--json").returncode == 0


# ── what modes do ───────────────────────────────────────────────────────────────────────────────


def test_a_closed_vault_keeps_a_stranger_out(machine: Machine) -> None:
    claim = machine.claim("nova")
    machine.root.chmod(0o700)
    for words in (
        ["cat", str(claim)],
        ["ls", str(machine.root)],
        ["git", "-C", str(machine.root), "log"],
    ):
        assert machine.run(STRANGER, *words).returncode != 0
    told = machine.orgvault(STRANGER, "memory", "nova")
    assert told.returncode == 1
    assert "I " not in told.stdout
    assert "cannot read the vault" in machine.said("isolation")[1]
    assert machine.orgvault(OWNER, "memory", "nova").returncode == 0


def test_a_closed_git_folder_keeps_history_and_leaves_the_files(machine: Machine) -> None:
    (machine.root / ".git").chmod(0o700)
    assert machine.run(STRANGER, "git", "-C", str(machine.root), "log").returncode != 0
    assert machine.run(STRANGER, "cat", str(machine.claim("nova"))).returncode == 0
    assert machine.orgvault(STRANGER, "memory", "nova").returncode != 0
    assert "can read the vault" in machine.said("isolation")[1]


def test_a_git_folder_that_all_may_write_is_a_fault_for_a_reason(machine: Machine) -> None:
    """A stranger takes the branch back to where it was, and only an audit knows better."""
    before = machine.run(OWNER, "git", "rev-parse", "HEAD").stdout.strip()
    assert machine.orgvault(OWNER, "wake", "add", "nova", "--reason", "task").returncode == 0
    assert machine.orgvault(OWNER, "audit").returncode == 0
    assert machine.said("modes")[0] == "ok"
    subprocess.run(["chmod", "-R", "o+w", str(machine.root / ".git")], check=True)
    assert machine.said("modes")[0] == "fault"
    done = machine.run(STRANGER, "git", "-C", str(machine.root), "update-ref", "HEAD", before)
    assert done.returncode == 0
    told = machine.orgvault(OWNER, "audit")
    assert told.returncode == 1
    assert "rewritten" in told.stdout
