"""Reading files: what cannot be read is a problem with what to do, and no more."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orgvault.domain.problem import Problem
from orgvault.errors import NoVault
from orgvault.store import files
from orgvault.store.vault import Vault

DO = "mend it"


def test_a_text_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\n")
    problems: list[Problem] = []
    assert files.text_of(at(tmp_path), "a", problems, DO) == "one\ntwo\n"
    assert files.text_of(at(tmp_path), "missing", problems, DO) is None
    assert problems == []


def test_a_text_that_is_not_utf8_is_a_problem_of_the_whole_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\xfe")
    problems: list[Problem] = []
    assert files.text_of(at(tmp_path), "a", problems, DO) is None
    assert problems == [Problem("a", 0, "the file is not UTF-8", DO)]


def test_a_folder_in_a_files_place_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    problems: list[Problem] = []
    assert files.content_of(at(tmp_path), "a", problems) is None
    do = "put the file in its place, from git or by hand"
    assert problems == [Problem("a", 0, "cannot be read (is a directory)", do)]


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file") as failure:
        files.read_bytes(str(tmp_path / "pipe"))
    assert failure.value.filename == str(tmp_path / "pipe")


def test_where_no_vault_was_found_is_said(tmp_path: Path) -> None:
    with pytest.raises(NoVault, match=f"no vault at {tmp_path} or above it"):
        Vault.find(str(tmp_path))


def test_the_names_in_a_folder(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).touch()
    assert files.names_in(str(tmp_path)) == ["a", "b"]
    assert files.names_in(str(tmp_path / "missing")) == []
    assert files.names_in(str(tmp_path / "a/below")) == []
    assert files.names_seen_in(str(tmp_path / "missing")) == []


def test_a_name_that_cannot_be_looked_up_is_an_error_only_where_it_matters(tmp_path: Path) -> None:
    endless = str(tmp_path / ("x" * 300))
    with pytest.raises(OSError, match="too long"):
        files.names_in(endless)
    assert files.names_seen_in(endless) == []


def at(folder: Path) -> Callable[[str], bytes | None]:
    return lambda name: files.read_bytes(str(folder / name))
