"""A child of git that is killed, or whose words are lost: the next command works unaided."""

import json
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from tests.vaults import Home, make_vault

# Stands for git on the PATH: `update-ref` is killed as it holds its locks, and so is this.
KILLED = """#!{python}
import os, signal, subprocess, sys
git = {git!r}
if "update-ref" not in sys.argv:
    os.execv(git, [git, *sys.argv[1:]])
child = subprocess.Popen([git, *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
words = os.read(0, 65536)
child.stdin.write(words)
child.stdin.flush()
child.stdout.readline()
child.stdout.readline()
child.kill()
child.wait()
os.kill(os.getpid(), signal.SIGKILL)
"""


def locks(home: Home) -> list[str]:
    return sorted(str(one.relative_to(home.git_dir)) for one in home.git_dir.rglob("*.lock"))


def test_an_update_ref_that_is_killed_leaves_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_vault(tmp_path / "v")
    git = shutil.which("git")
    assert git
    stand_in = tmp_path / "bin/git"
    stand_in.parent.mkdir()
    stand_in.write_text(KILLED.format(python=sys.executable, git=git))
    stand_in.chmod(stand_in.stat().st_mode | stat.S_IXUSR)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}")
        remarks = home.record("nova", "e-1").remarks
    assert "to be committed later" in remarks[0]
    assert locks(home) == []

    assert home.record("nova", "e-2").remarks == []

    assert home.rows_in_head() == ["e-1", "e-2"]
    home.fsck()


def test_an_empty_lock_that_a_power_failure_left_of_ours_is_cleared(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v")
    token = Path(home.vault.private) / "index.token"
    token.parent.mkdir(exist_ok=True)
    token.touch()
    os.link(token, home.git_dir / "index.lock")
    (home.git_dir / "HEAD.lock").touch()
    (home.git_dir / "refs/heads/main.lock").touch()

    assert home.record("nova", "e-1").remarks == []

    assert locks(home) == []
    assert home.rows_in_head() == ["e-1"]


def test_an_empty_lock_of_somebody_else_stays(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v")
    token = Path(home.vault.private) / "index.token"
    token.parent.mkdir(exist_ok=True)
    token.touch()
    (home.git_dir / "index.lock").touch()

    assert "index.lock" in home.record("nova", "e-1").remarks[0]

    assert locks(home) == ["index.lock"]


def test_a_lock_that_came_along_with_a_copy_of_the_vault_is_cleared_there_only(
    tmp_path: Path,
) -> None:
    home = make_vault(tmp_path / "v")
    token = {"orgvault": 1, "git_dir": str(home.git_dir), "ref": "refs/heads/main", "oid": "0" * 40}
    place = Path(home.vault.private) / "index.token"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(token) + "\n")
    shutil.copy(place, home.git_dir / "index.lock")
    (home.git_dir / "HEAD.lock").touch()
    copied = Home(tmp_path / "copy", tmp_path / "copy")
    shutil.copytree(home.top, copied.top)

    assert copied.record("nova", "e-1").remarks == []

    assert locks(copied) == []
    assert locks(home) == ["HEAD.lock", "index.lock"]
    assert copied.rows_in_head() == ["e-1"]


def test_what_a_killed_update_index_left_is_in_nobodys_way(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v")
    private = Path(home.vault.private)
    private.mkdir(exist_ok=True)
    for name in ("index.next", "index.next.lock", "index.next.former"):
        (private / name).write_bytes(b"half an index")
    assert home.record("nova", "e-1").remarks == []
    assert home.rows_in_head() == ["e-1"]
    assert list(private.glob("index.*")) == []
    home.fsck()
