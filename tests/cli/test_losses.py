"""`check` tells what HEAD holds and the files do not, before a backup tool commits the loss."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harbor import Harbor

ORG = ".agents/org"


def told(harbor: Harbor) -> str:
    """What `check` finds."""
    return harbor.run("check", code=1).out


def newest(harbor: Harbor, log: str) -> Path:
    """The newest segment of nova's."""
    return max((harbor.root / ORG / log).rglob("*.nova.*.jsonl"))


def cut_off(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def changed(path: Path) -> None:
    *lines, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, last.replace(b'"v":1', b'"v": 1')]))


def removed(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("log", ["episodes", "reflections", "wakes"])
@pytest.mark.parametrize("loss", [cut_off, changed, removed])
def test_rows_that_are_gone_from_a_file(
    harbor: Harbor, loss: Callable[[Path], None], log: str
) -> None:
    path = newest(harbor, log)
    name, whole = path.relative_to(harbor.root).as_posix(), path.read_bytes()
    loss(path)
    count = len(whole.splitlines()) if loss is removed else 1
    line = 1 if loss is removed else len(whole.splitlines())
    assert f"{name}:{line}: {count} committed rows are gone from it or read otherwise" in told(
        harbor
    )
    harbor.git("checkout", "HEAD", "--", name)
    harbor.run("check")


@pytest.mark.parametrize("folder", ["claims", "closed"])
def test_a_claim_that_is_gone(harbor: Harbor, folder: str) -> None:
    if folder == "closed":
        harbor.run("memory", "retire", harbor.claim("nova", "I run the template")["id"], "Over.")
    path = min((harbor.root / ORG / "memory/nova" / folder).glob("*.yaml"))
    path.unlink()
    assert f"{path.name}: HEAD has it, and it is not here" in told(harbor)


def test_what_may_go_or_move_is_no_loss(harbor: Harbor) -> None:
    """A claim that a person closes by hand, a notebook, a torn last line, rows not committed."""
    path = min((harbor.root / ORG / "memory/nova/claims").glob("*.yaml"))
    (path.parent.parent / "closed").mkdir(exist_ok=True)
    path.rename(path.parent.parent / "closed" / path.name)
    (harbor.root / ORG / "memory/juno.md").unlink()
    with newest(harbor, "status").open("ab") as file:
        file.write(b'{"v":1')
    assert "HEAD" not in told(harbor)


def test_rows_with_another_line_end_are_there(harbor: Harbor) -> None:
    path = newest(harbor, "status")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert "HEAD" not in harbor.run("check", code=None).out


def test_a_vault_without_a_commit_has_lost_nothing(harbor: Harbor) -> None:
    harbor.git("checkout", "-q", "--orphan", "fresh")
    newest(harbor, "status").unlink()
    assert "HEAD" not in harbor.run("check", code=None).out


def test_a_notebook_that_is_no_text(harbor: Harbor) -> None:
    (harbor.root / ORG / "memory/nova.md").write_bytes(b"\xff\xfe\n")
    assert "memory/nova.md" in told(harbor)
