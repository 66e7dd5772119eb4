"""kill -9 between any two steps: nothing acknowledged is lost, and nothing of ours is undone."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.store.crashes import CONTENTS, TEXTS
from tests.vaults import Home, make_vault

OLD = {"Org/a.md": "old\n", "Org/b.md": None, "Org/new/c.md": None, "Org/gone.md": "old\n"}
NEW = {"Org/a.md": "new\n", "Org/b.md": "new\n", "Org/new/c.md": "new\n", "Org/gone.md": None}
_STEPS = {"record": 1, "contents": 3, "change": 2}
LOCKS = ("index.lock", "HEAD.lock", "refs/heads/main.lock")


@dataclass
class Crasher:
    """The server of `crashes.py`."""

    process: "subprocess.Popen[str]"

    def die(self, root: Path, what: str, at: int, *, group: bool) -> str:
        """Have a writer die at its n-th event; `killed`, or `done 0` when it has fewer."""
        order = {"root": str(root), "what": what, "at": at, "group": group}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


@pytest.fixture
def crasher() -> Iterator[Crasher]:
    script = Path(__file__).parent / "crashes.py"
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Crasher(process)


def busy_vault(top: Path) -> Home:
    """A vault in use, with staged, unstaged and untracked work of the person's."""
    home = make_vault(top)
    home.write("tracked.md", "one\n")
    home.write("staged.md", "one\n")
    home.write("dropped.md", "one\n")
    home.commit("notes")
    home.record("nova", "e-0")
    home.write_texts({"Org/a.md": "old\n", "Org/gone.md": "old\n"})
    home.write("tracked.md", "two\n")
    home.write("staged.md", "two\n")
    home.git("add", "staged.md")
    home.write("staged.md", "three\n")
    home.git("rm", "-q", "--cached", "dropped.md")
    home.write("fresh.md", "new\n")
    return home


def texts(home: Home) -> dict[str, str | None]:
    places = {path: home.root / path for path in TEXTS}
    return {path: at.read_text() if at.exists() else None for path, at in places.items()}


def acknowledged(home: Home) -> bool:
    return bool(home.spooled()) or "e-new" in home.rows_in_head()


def check_next_command(home: Home, what: str, *, promised: bool) -> None:
    """What must hold once the next command has run."""
    before = time.monotonic()
    vault = home.record("nova", "e-next")
    assert time.monotonic() - before < 10
    assert vault.remarks == []
    assert home.spooled() == []
    rows = home.rows_in_head()
    assert rows == home.rows_on_disk()
    assert len(rows) == len(set(rows))
    assert {"e-0", "e-next"} <= set(rows)
    assert "e-new" in rows or not promised
    if what == "contents":
        written = ["new\n" if "e-new" in rows else None] * len(CONTENTS)
        assert [home.text_in_head(path) for path in CONTENTS] == written
        places = [home.root / path for path in CONTENTS]
        assert [at.read_text() if at.exists() else None for at in places] == written
    if what == "change":
        assert texts(home) in (OLD, NEW)
        assert {path: home.text_in_head(path) for path in TEXTS} == texts(home)
        assert home.rows_in_head(log="reflections") == (["r-new"] if texts(home) == NEW else [])
    assert home.rows_on_disk(log="reflections") == home.rows_in_head(log="reflections")
    assert not [name for name in LOCKS if (home.git_dir / name).exists()]
    home.fsck()


@pytest.mark.parametrize("group", [False, True], ids=["alone", "group"])
@pytest.mark.parametrize("what", ["record", "contents", "change"])
def test_kill_at_every_step(memory: Path, crasher: Crasher, what: str, *, group: bool) -> None:
    model = busy_vault(memory / "model")
    persons = ours_aside(model)
    killed = 0
    # `make torture` tries every step of each; here the row's, and a part of the rest.
    step = 1 if os.environ.get("ORGVAULT_TORTURE") else _STEPS[what] + 2 * group
    for at in range(1, 1000, step):
        top = memory / f"v{at}"
        shutil.copytree(model.top, top, symlinks=True)
        home = Home(top, top)
        home.git("status")  # the copies' times are new to the index
        end = crasher.die(top, what, at, group=group)
        if end == "done 0":
            break
        assert end == "killed"
        killed += 1
        promised = acknowledged(home)
        copy = memory / f"c{at}"
        shutil.copytree(top, copy, symlinks=True)

        check_next_command(home, what, promised=promised)
        assert ours_aside(home) == persons
        check_persons_commit(Home(copy, copy), what, promised=promised)
        shutil.rmtree(top)
        shutil.rmtree(copy)
    assert killed * step > 100


def ours_aside(home: Home) -> object:
    persons = home.persons()
    return type(persons)(
        tuple(line for line in persons.index if b"\tOrg/" not in line),
        tuple(line for line in persons.status if b"Org/" not in line),
        {name: text for name, text in persons.files.items() if not name.startswith("Org/")},
    )


def check_persons_commit(home: Home, what: str, *, promised: bool) -> None:
    """The person removes the stale locks and commits everything, before orgvault runs again."""
    for name in LOCKS:
        (home.git_dir / name).unlink(missing_ok=True)
    rows = home.rows_in_head()
    held = {path: home.text_in_head(path) for path in TEXTS}
    for how in ([], ["-a", "--allow-empty"]):  # what is staged, then all
        home.git("commit", "-q", *how, "-m", "mine")
        assert set(rows) <= set(home.rows_in_head())
        if held == NEW:
            assert {path: home.text_in_head(path) for path in TEXTS} == NEW
    check_next_command(home, what, promised=promised)
