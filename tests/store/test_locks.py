"""Locks: git's, of the living and the dead; the vault's own; and the person's commit under way."""

import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from orgvault.errors import LockHeld, VaultBusy
from orgvault.git.index import Index
from orgvault.posix import take_lock
from tests.vaults import AT, NOVA, Home, held, message, row

EDITOR = "#!/bin/sh\nwhile [ ! -e '{go}' ]; do sleep 0.05; done\necho mine > \"$1\"\n"


def test_git_02_a_stale_index_lock_an_hour_old(home: Home) -> None:
    lock = home.git_dir / "index.lock"
    lock.write_bytes(b"")
    os.utime(lock, (time.time() - 3700, time.time() - 3700))
    vault = home.record("nova", "e-1")
    assert len(vault.remarks) == 1
    assert f"{lock} has been there for 1 hour (no process has it open)" in vault.remarks[0]
    assert len(home.spooled()) == 1
    assert home.rows_on_disk() == []
    with pytest.raises(LockHeld, match="remove it") as refused:
        home.write_texts({"Org/a.md": "x\n"})
    assert refused.value.exit_code == 75
    assert lock.exists()
    assert not (home.top / "Org").exists()
    lock.unlink()
    home.record("nova", "e-2")
    assert home.rows_in_head() == ["e-1", "e-2"]


def test_an_index_lock_that_is_held_for_a_moment(home: Home) -> None:
    lock = home.git_dir / "index.lock"
    lock.write_bytes(b"DIRC")
    threading.Timer(0.3, lock.unlink).start()
    assert home.record("nova", "e-1").remarks == []
    assert home.rows_in_head() == ["e-1"]


def test_an_index_lock_that_a_living_process_holds(home: Home) -> None:
    with held(home.git_dir / "index.lock") as process:
        before = time.monotonic()
        vault = home.record("nova", "e-1")
        assert time.monotonic() - before < 3
    assert f"({process.pid})" in vault.remarks[0]
    home.record("nova", "e-2")
    assert home.rows_in_head() == ["e-1", "e-2"]


def crashed_move(home: Home, *, index_lock: bool = True) -> None:
    """What is left when everything dies while git moves the branch."""
    vault = home.fresh()
    descriptor = take_lock(f"{vault.private}/lock", 0)
    assert descriptor is not None
    index = Index(vault.repository, vault.private, descriptor)
    context = index.held("refs/heads/main", "1" * 40)
    context.__enter__()
    if not index_lock:
        (home.git_dir / "index.lock").unlink()
    (home.git_dir / "HEAD.lock").write_bytes(b"")
    (home.git_dir / "refs/heads/main.lock").write_bytes(b"1" * 40 + b"\n")
    os._exit(0)


@pytest.mark.parametrize("index_lock", [True, False])
def test_git_03_locks_that_a_killed_move_left(home: Home, *, index_lock: bool) -> None:
    home.record("nova", "e-1")
    code = (
        "import sys, os; from pathlib import Path; from tests.store.test_locks import crashed_move;"
        "from tests.vaults import Home; p = Path(sys.argv[1]);"
        "crashed_move(Home(p, p), index_lock=sys.argv[2] == 'True')"
    )
    root = Path(__file__).parent.parent.parent
    subprocess.run(
        [sys.executable, "-c", code, str(home.top), str(index_lock)], cwd=root, check=True
    )
    assert (home.git_dir / "HEAD.lock").exists()
    before = time.monotonic()
    assert home.record("nova", "e-2").remarks == []
    assert time.monotonic() - before < 10
    assert home.rows_in_head() == ["e-1", "e-2"]
    assert not list(home.git_dir.rglob("*.lock"))


@pytest.mark.parametrize("name", ["HEAD.lock", "refs/heads/main.lock", "packed-refs.lock"])
def test_git_03_a_lock_of_somebody_elses_is_named(home: Home, name: str) -> None:
    home.record("nova", "e-1")
    home.git("pack-refs", "--all")
    before = home.persons()
    lock = home.git_dir / name
    lock.write_bytes(b"2" * 40 + b"\n")
    vault = home.record("nova", "e-2")
    if name == "packed-refs.lock":  # git needs it for deletions only
        assert vault.remarks == []
        return
    assert str(lock) in vault.remarks[0]
    with pytest.raises(LockHeld, match=name):
        home.write_texts({"Org/a.md": "x\n"})
    assert home.persons() == before
    assert home.rows_on_disk() == home.rows_in_head() == ["e-1"]
    assert home.git("status", "--porcelain") == ""
    assert lock.exists()
    lock.unlink()
    home.record("nova", "e-3")
    assert home.rows_in_head() == ["e-1", "e-2", "e-3"]


def test_git_32_the_pid_in_the_lock_file_means_nothing(home: Home) -> None:
    home.record("nova", "e-1")
    lock = Path(home.vault.private) / "lock"
    lock.write_text("init (1)")
    assert home.record("nova", "e-2").remarks == []
    assert home.rows_in_head() == ["e-1", "e-2"]


def test_a_vault_that_another_process_is_writing_to(home: Home) -> None:
    home.record("nova", "e-0")
    with (Path(home.vault.private) / "lock").open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write("orgvault (4711)".ljust(63))
        file.flush()
        vault = home.fresh()
        before = time.monotonic()
        vault.record(message("x"), NOVA, [row("nova", "e-1")], AT)
        assert vault.remarks == [
            "recorded, to be committed later: orgvault (4711) is writing to it"
        ]
        assert time.monotonic() - before < 13
    home.record("nova", "e-2")
    assert home.rows_in_head() == ["e-0", "e-1", "e-2"]


def test_a_lock_that_was_given_up_is_let_go(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    first = take_lock(path, 0)
    assert first is not None
    assert take_lock(path, 0.05) is None
    os.close(first)
    time.sleep(0.05)
    second = take_lock(path, 1)
    assert second is not None
    os.close(second)


def test_a_waiting_writer_does_not_keep_the_interpreter_alive(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    first = take_lock(path, 0)
    code = "import sys; from orgvault.posix import take_lock; print(take_lock(sys.argv[1], 0.1))"
    done = subprocess.run(
        [sys.executable, "-c", code, path], timeout=10, capture_output=True, check=True
    )
    assert done.stdout == b"None\n"
    assert first is not None
    os.close(first)


@pytest.mark.parametrize("how", [[], ["-a"], ["--amend"], ["--only", "note.md"], ["-v"]])
def test_the_persons_commit_message_is_open(home: Home, tmp_path: Path, how: list[str]) -> None:
    home.record("nova", "e-0")
    home.write("note.md", "two\n")
    home.git("add", "note.md")
    go, editor = tmp_path / "go", tmp_path / "editor"
    editor.write_text(EDITOR.format(go=go))
    editor.chmod(0o755)
    process = subprocess.Popen(
        ["git", "commit", "-q", *how], cwd=home.top, env={**os.environ, "GIT_EDITOR": str(editor)},
        stderr=subprocess.PIPE,
    )  # fmt: skip
    message_file = home.git_dir / "COMMIT_EDITMSG"
    deadline = time.monotonic() + 5
    while not (message_file.exists() and editing(editor)) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.05)
    vault = home.record("nova", "e-1")
    assert len(vault.remarks) == 1
    with pytest.raises(VaultBusy):
        home.write_texts({"Org/a.md": "x\n"})
    go.write_text("")
    _, said = process.communicate(timeout=10)
    assert (process.returncode, said) == (0, b"")
    assert home.git("log", "-1", "--format=%s") == "mine\n"
    assert home.record("nova", "e-2").remarks == []
    assert home.rows_in_head() == ["e-0", "e-1", "e-2"]


def editing(editor: Path) -> bool:
    told = subprocess.run(["pgrep", "-f", str(editor)], capture_output=True, check=False)
    return told.returncode == 0


@pytest.mark.parametrize("logs", [True, False])
def test_a_commit_with_m_holds_nothing_up(home: Home, *, logs: bool) -> None:
    if not logs:
        home.git("config", "core.logAllRefUpdates", "false")
        for path in (home.git_dir / "logs").rglob("*"):
            if path.is_file():
                path.unlink()
    for number in range(3):
        home.write("note.md", f"{number}\n")
        home.git("commit", "-q", "-a", "-m", "mine")
        assert home.record("nova", f"e-{number}").remarks == []
    assert len(home.rows_in_head()) == 3


def test_a_forgotten_commit_message_counts_for_fifteen_minutes(home: Home) -> None:
    editmsg = home.git_dir / "COMMIT_EDITMSG"
    editmsg.write_text("half a message")
    os.utime(editmsg, (time.time() + 1, time.time() + 1))
    assert "message seems to be open" in home.record("nova", "e-1").remarks[0]
    os.utime(editmsg, (time.time() - 1000, time.time() - 1000))
    assert home.record("nova", "e-2").remarks == []
    assert home.rows_in_head() == ["e-1", "e-2"]


def test_a_commit_that_was_given_up_holds_things_up_for_a_minute(home: Home) -> None:
    home.git("commit", "-q", "-m", "nothing to commit", code=1)
    assert "message seems to be open" in home.record("nova", "e-1").remarks[0]
    editmsg, minute = home.git_dir / "COMMIT_EDITMSG", time.time() - 61
    os.utime(home.git_dir / "logs/HEAD", (minute - 1, minute - 1))
    os.utime(editmsg, (minute, minute))
    with subprocess.Popen(["sh", "-c", 'sleep 9; : "$0"', str(editmsg)]) as editor:
        assert "message seems to be open" in home.record("nova", "e-2").remarks[0]
        editor.kill()
    assert home.record("nova", "e-3").remarks == []
    assert len(home.rows_in_head()) == 3


def test_git_09_head_moves_to_another_branch_under_us(home: Home) -> None:
    """`symbolic-ref` heeds no index.lock: only git's own locks keep HEAD where it is."""
    home.git("branch", "other")
    stop = threading.Event()

    def switch() -> None:
        names = ["refs/heads/main", "refs/heads/other"]
        while not stop.is_set():
            names.reverse()
            home.git("symbolic-ref", "HEAD", names[0], code=None)

    thread = threading.Thread(target=switch)
    thread.start()
    try:
        for number in range(25):
            home.record("nova", f"e-{number}")
    finally:
        stop.set()
        thread.join()
    found: list[str] = []
    for branch in ("main", "other"):
        home.git("symbolic-ref", "HEAD", f"refs/heads/{branch}")
        home.git("reset", "-q", "--hard")
        home.record("nova", f"last-{branch}")
        rows = home.rows_in_head()
        assert len(rows) == len(set(rows))
        found += rows
    assert {f"e-{number}" for number in range(25)} <= set(found)
    assert home.spooled() == []


def test_git_06_a_backup_tool_that_adds_and_commits_everything(home: Home) -> None:
    home.write("draft.md", "0\n")
    code = (
        "while [ ! -e stop ]; do echo x >> draft.md; git add -A 2>/dev/null"
        " && git commit -q -m backup >/dev/null 2>&1; done; exit 0"
    )
    wanted, refused = [], 0
    with subprocess.Popen(["sh", "-c", code], cwd=home.top) as loop:
        try:
            for number in range(30):
                home.record("nova", f"e-{number}")
                wanted.append(f"e-{number}")
                if number % 5 == 0:
                    wanted.append(f"f-{number}")
                    try:
                        home.write_texts({"Org/a.md": f"{number}\n"}, row("nova", wanted[-1]))
                    except VaultBusy:
                        refused += 1
        finally:
            (home.top / "stop").write_text("")
            loop.wait(10)
    home.git("commit", "-q", "-a", "--allow-empty", "-m", "the rest")
    home.write_texts({"Org/a.md": "last\n"}, row("nova", "e-last"))
    rows = home.rows_in_head()
    assert sorted(rows) == sorted([*wanted, "e-last"])
    assert home.rows_on_disk() == rows
    assert home.text_in_head("Org/a.md") == "last\n"
    assert refused < 6
    home.fsck()


def test_a_commit_that_the_backup_tool_made_first_is_a_success(home: Home) -> None:
    vault = home.fresh()
    with vault.change(message("x"), NOVA, AT) as change:
        change.write("Org/a.md", "same\n")
        home.write("Org/a.md", "same\n")
        home.git("add", "-A")
        head = home.commit("backup")
        (home.top / "Org/a.md").unlink()
    assert home.head() == head
    assert (home.top / "Org/a.md").read_text() == "same\n"


def test_the_lock_is_inherited_by_our_children_of_git_only(home: Home) -> None:
    vault = home.fresh()
    with vault.change(message("x"), NOVA, AT) as change:
        change.write("Org/a.md", "x\n")
        with subprocess.Popen(["sleep", "3"], close_fds=True) as sleeper:
            links = [str(one.readlink()) for one in Path(f"/proc/{sleeper.pid}/fd").iterdir()]
            sleeper.kill()
    assert not [link for link in links if link.endswith("orgvault/lock")]
