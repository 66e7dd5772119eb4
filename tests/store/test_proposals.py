"""Proposals on disk: loaded only when nothing about them is doubtful; and the tree of the gate."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from orgvault.digests import sha256
from orgvault.domain.problem import Problem
from orgvault.domain.proposal_file import write_proposal
from orgvault.store.history import at as past
from orgvault.store.open_proposals import FOLDER, LEDGER, maybe_open
from orgvault.store.proposals import Proposals
from orgvault.store.working_tree import WorkingTree, hooks_folder
from tests.domain.test_proposal_file import PROPOSAL
from tests.vaults import Home, make_vault

DIFF = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n"
STORED = replace(PROPOSAL, diff_sha256=sha256(DIFF).hexdigest())
ID = PROPOSAL.id


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A vault, below the top of its repository, with one proposal."""
    home = make_vault(tmp_path / "top", below="vault")
    home.write(f"vault/{FOLDER}/{ID}.yaml", write_proposal(STORED))
    home.write(f"vault/{FOLDER}/{ID}.diff", DIFF)
    return home


def load(home: Home) -> tuple[list[str], list[Problem]]:
    problems: list[Problem] = []
    return [one.proposal.id for one in Proposals(home.vault).all(problems)], problems


def test_a_proposal_is_loaded_with_its_diff_byte_for_byte(home: Home) -> None:
    (stored,) = Proposals(home.vault).all([])
    assert (stored.proposal, stored.diff) == (STORED, DIFF)
    assert Proposals(home.vault).ids() == [ID]
    assert Proposals(home.vault).get("imp-00000000", []) is None
    assert Proposals(home.vault).get("../../org", []) is None


def test_a_proposal_of_the_past_is_loaded_from_there(home: Home) -> None:
    home.commit("file")
    (home.root / FOLDER / f"{ID}.diff").unlink()
    assert load(home)[0] == []
    (stored,) = Proposals(past(home.vault, "HEAD")).all([])
    assert stored.diff == DIFF


@pytest.mark.parametrize("diff", [None, b"", DIFF.replace(b"\r\n", b"\n"), DIFF + b"\n"])
def test_DIFF_12_a_diff_that_is_not_the_one_that_was_filed_is_not_loaded(  # noqa: N802
    home: Home, diff: bytes | None
) -> None:
    path = home.root / FOLDER / f"{ID}.diff"
    path.unlink() if diff is None else path.write_bytes(diff)
    found, (problem,) = load(home)
    assert (found, problem.file) == ([], f"{FOLDER}/{ID}.diff")
    assert "restore" in problem.do


def test_a_sync_tools_copies_are_reported_and_not_loaded(home: Home) -> None:
    folder = home.root / FOLDER
    for name in (f"{ID} 2.yaml", f"{ID}.sync-conflict-1.diff", "imp-00000000.diff", "notes.txt"):
        (folder / name).write_text("x")
    (folder / "imp-11111111.yaml").write_text(write_proposal(STORED))
    found, problems = load(home)
    assert found == [ID]
    assert sorted(Path(one.file).name for one in problems) == sorted(
        [f"{ID} 2.yaml", f"{ID}.sync-conflict-1.diff", "imp-00000000.diff", "notes.txt",
         "imp-11111111.yaml"]
    )  # fmt: skip


def test_what_cannot_be_read_is_a_problem_with_its_line(home: Home) -> None:
    path = home.root / FOLDER / f"{ID}.yaml"
    path.write_text(write_proposal(STORED).replace("agent: nova", "agent: NOVA"))
    assert [(one.file, one.line) for one in load(home)[1]] == [(f"{FOLDER}/{ID}.yaml", 3)]
    path.write_bytes(b"\xff")
    assert "UTF-8" in load(home)[1][0].what
    path.unlink()
    path.mkdir()
    assert "cannot be read" in load(home)[1][0].what


def test_what_may_be_open_is_known_by_names_and_a_glance_at_the_notes(home: Home) -> None:
    path = home.root / f"Org/Backlog/{ID}.md"
    assert maybe_open(home.vault, "Org") == []  # no note: a no
    path.parent.mkdir(parents=True)
    for text, still in {
        "---\nid: x\nstatus: open\n---\nstatus: closed\n": True,
        "---\r\nstatus: closed\r\n---\r\n": False,
        "\ufeff---\nid: x\nstatus: 'withdrawn'\n---\n": False,
        "---\nstatus: shipped\n---\n": True,
        "---\nid: x\n---\nstatus: closed\n": True,
        "status: closed\n": True,
        "---\nstatus: closedish\n---\n": True,
    }.items():
        path.write_bytes(text.encode())
        assert bool(maybe_open(home.vault, "Org")) is still, text
    home.write(f"vault/{LEDGER}/{ID}.yaml", "version: 1\n")
    assert maybe_open(home.vault, "Org") == []


def test_knowing_that_nothing_is_open_loads_no_reader_of_yaml() -> None:
    code = (
        "import sys; from orgvault.store.open_proposals import maybe_open;"
        "print([one for one in sys.modules if 'yaml' in one or '.services' in one])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert told.stdout == b"[]\n"


# ── the files as the gate sees them ─────────────────────────────────────────────────────────────


def test_links_are_seen_and_not_followed_but_by_real(home: Home, tmp_path: Path) -> None:
    home.write("vault/skills/a.md", "a\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/b.md").write_text("b\n")
    (home.root / "link.md").symlink_to("skills/a.md")
    (home.root / "linked").symlink_to("skills")
    (home.root / "out").symlink_to(tmp_path / "outside")
    (home.root / "loop").symlink_to("loop")
    os.mkfifo(home.root / "pipe")
    tree = WorkingTree(home.vault)
    kinds = {
        "skills": "folder", "skills/a.md": "file", "link.md": "link", "linked": "link",
        "linked/a.md": "link", "out/b.md": "link", "loop": "link", "pipe": "", "none": "",
        "skills/a.md/below": "", "../top": "", "/etc/passwd": "", "skills//a.md": "",
        "./skills": "", "x\0y": "", "": "", "a" * 5000: "",
    }  # fmt: skip
    assert {path: tree.kind(path) for path in kinds} == kinds
    reads = {path: tree.read(path) for path in kinds}
    assert {path: content for path, content in reads.items() if content} == {"skills/a.md": b"a\n"}
    real = {
        "linked/a.md": "skills/a.md", "link.md": "skills/a.md", "out/b.md": None, "": "",
        "..": None, "skills/../..": None, "none/x": "none/x", "x\0y": None,
    }  # fmt: skip
    assert {path: tree.real(path) for path in real} == real


def test_the_hooks_folder_is_that_of_the_repository_as_the_vault_calls_it(home: Home) -> None:
    def told() -> str:
        return hooks_folder(home.fresh())

    assert told() == ""
    for given, relative in {
        "vault/Scripts/hooks": "Scripts/hooks", "vault/x/../hooks/": "hooks", ".githooks": "",
        str(home.root / "absolute"): "absolute", "~/hooks": "",
    }.items():  # fmt: skip
        home.git("config", "core.hooksPath", given)
        assert told() == relative, given


def test_a_diff_without_its_record_is_to_be_completed_and_not_removed(home: Home) -> None:
    (home.root / FOLDER / f"{ID}.yaml").unlink()
    found, problems = load(home)
    assert found == []
    (problem,) = problems
    assert problem.file == f"{FOLDER}/{ID}.diff"
    assert "restore" in problem.do
    assert "remove" not in problem.do
