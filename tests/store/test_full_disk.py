"""A full disk: what was not recorded leaves nothing behind, and removing needs no room."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orgvault.errors import NotRecorded, OrgvaultError
from orgvault.git.faults import HalfWritten, OnlyRows
from orgvault.git.index import Index
from orgvault.git.objects import Objects
from orgvault.store import files
from tests.vaults import AT, NOVA, Home, held, message, row


class Disk:
    """A disk that is full from some point on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = False
        monkeypatch.setattr(files, "write_all", self._checked(files.write_all))

    def _checked(self, write: Callable[..., None]) -> Callable[..., None]:
        def checked(*args: object) -> None:
            self.check()
            write(*args)

        return checked

    def check(self) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fill(self, *_: object) -> None:
        self.full = True
        self.check()


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


TEXTS = {"Org/a.md": "new\n", "Org/b.md": None, "Org/new.md": "new\n"}


def left(home: Home) -> list[Path]:
    """Files of ours that wait for another command."""
    private = Path(home.vault.private)
    return [
        path
        for name in ("journal", "spool", "tmp")
        for path in (private / name).glob("*")
        if path.is_file()
    ]


def test_a_change_that_was_not_recorded_leaves_nothing(
    home: Home, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write_texts({"Org/a.md": "old\n", "Org/b.md": "old\n"})
    (home.root / "Org/a.md").chmod(0o600)
    before = home.head()
    with monkeypatch.context() as patch:
        patch.setattr(Objects, "sync", disk.fill)
        with pytest.raises(NotRecorded, match="run the same command again"):
            home.write_texts(TEXTS)
    disk.full = False
    assert left(home) == []
    assert (home.root / "Org/a.md").read_text() == (home.root / "Org/b.md").read_text() == "old\n"
    assert (home.root / "Org/a.md").stat().st_mode & 0o777 == 0o600
    assert not (home.root / "Org/new.md").exists()
    assert home.rows_on_disk() == []
    home.record("nova", "e-2")
    assert home.git("rev-parse", "HEAD^").strip() == before
    assert home.rows_in_head() == ["e-2"]
    home.write_texts(TEXTS)
    assert home.text_in_head("Org/a.md") == "new\n"
    assert home.text_in_head("Org/b.md") is None
    assert left(home) == []


def test_rows_given_to_a_change_that_fails_stay_and_it_says_so(
    home: Home, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write_texts({"Org/a.md": "old\n", "Org/b.md": "old\n"})
    vault = home.fresh()
    with monkeypatch.context() as patch:
        patch.setattr(Objects, "sync", disk.fill)
        with pytest.raises(OnlyRows, match="its rows are recorded, the rest could not be written"):
            home.write_texts(TEXTS, row("nova", "e-1"), vault=vault)
    disk.full = False
    assert len(vault.remarks) == 1
    assert left(home) == home.spooled()
    home.record("nova", "e-2")
    assert sorted(home.rows_in_head()) == ["e-1", "e-2"]
    assert home.text_in_head("Org/a.md") == "old\n"


def test_what_cannot_be_put_back_is_said_and_finished_by_the_next_command(
    home: Home, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write_texts({"Org/a.md": "old\n"})

    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    with monkeypatch.context() as patch:
        patch.setattr(Objects, "sync", disk.fill)
        patch.setattr(os, "link", refuse)
        with pytest.raises(HalfWritten) as told:
            home.write_texts({"Org/a.md": "new\n"}, row("nova", "e-1"))
    assert "the next command finishes the change" in str(told.value)
    assert "nothing was recorded" not in str(told.value)
    disk.full = False
    home.record("nova", "e-2")
    assert home.text_in_head("Org/a.md") == "new\n"
    assert sorted(home.rows_in_head()) == ["e-1", "e-2"]
    assert left(home) == []


def test_rows_that_wait_on_a_full_disk_are_a_known_failure_of_the_next_change(
    home: Home, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held(home.git_dir / "index.lock"):
        home.record("nova", "e-1")
    assert len(home.spooled()) == 1
    with monkeypatch.context() as patch:
        patch.setattr(Objects, "sync", disk.fill)
        with pytest.raises(NotRecorded, match="No space left"):
            home.write_texts({"Org/a.md": "new\n"})
    disk.full = False
    assert len(home.spooled()) == 1
    home.write_texts({"Org/a.md": "new\n"})
    assert home.rows_in_head() == ["e-1"]


def test_a_full_disk_before_the_change_is_a_known_failure(
    home: Home, monkeypatch: pytest.MonkeyPatch, disk: Disk
) -> None:
    monkeypatch.setattr(Index, "wait", disk.fill)
    with pytest.raises(NotRecorded):
        home.write_texts({"Org/a.md": "new\n"})


def test_objects_that_could_not_be_written_leave_nothing(
    home: Home, monkeypatch: pytest.MonkeyPatch, disk: Disk
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("orgvault.git.objects.fsync_files", disk.fill)
        with pytest.raises(OrgvaultError):
            home.write_texts({"Org/a.md": "new\n"})
    assert list((home.git_dir / "objects").rglob("tmp_obj_*")) == []


def test_the_lock_is_taken_also_where_its_holder_cannot_be_written(
    home: Home, monkeypatch: pytest.MonkeyPatch, disk: Disk
) -> None:
    monkeypatch.setattr("orgvault.posix.write_over", disk.fill)
    vault = home.fresh()
    with vault.locked():
        disk.full = False
    vault.record(message("wake(nova): e-1"), NOVA, [row("nova", "e-1")], AT)
    assert (vault.remarks, home.rows_in_head()) == ([], ["e-1"])
