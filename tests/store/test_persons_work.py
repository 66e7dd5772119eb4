"""The person's vault comes first: our commits hold our paths, all else stays as it is."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orgvault.errors import BadFile, ChangedUnderneath
from orgvault.store.faults import Linked, OutsideVault
from orgvault.store.vault import Vault
from tests.vaults import AT, NOVA, Home, make_vault, message, row

if TYPE_CHECKING:
    from orgvault.domain.problem import Problem

AWKWARD = ("with space.md", "new\nline.md", 'quo"te.md', "-dash.md", "nöte.md", "*.md", ":(top)x")


def paths_of(home: Home, commit: str = "HEAD") -> list[str]:
    told = home.git("diff-tree", "--root", "--no-commit-id", "-r", "-z", "--name-only", commit)
    return told.split("\0")[:-1]


def at_work(home: Home) -> None:
    """Sixteen kinds of unfinished work, in files of awkward names."""
    for name in ("a", "b", "c", "d", "e", "f", "g", "h", "i", "link"):
        home.write(f"{name}.md", f"{name}\n" * 5)
    home.write("dir/one.md", "1\n")
    home.write("dir/two.md", "2\n")
    home.commit("notes")
    home.write("a.md", "unstaged\n")
    home.write("b.md", "staged\n")
    home.git("add", "b.md")
    home.write("c.md", "staged\n")
    home.git("add", "c.md")
    home.write("c.md", "and more\n")
    home.git("mv", "d.md", "renamed.md")
    home.git("rm", "-q", "e.md")
    (home.top / "f.md").unlink()
    home.git("rm", "-q", "--cached", "g.md")
    home.git("update-index", "--chmod=+x", "h.md")
    (home.top / "i.md").unlink()
    (home.top / "i.md").symlink_to("a.md")
    home.git("rm", "-q", "-r", "dir")
    home.write("dir", "a file now\n")
    home.git("add", "dir")
    home.write("added.md", "new\n")
    home.git("add", "added.md")
    home.write("gone.md", "new\n")
    home.git("add", "gone.md")
    (home.top / "gone.md").unlink()
    home.write("intended.md", "new\n")
    home.git("add", "-N", "intended.md")
    for name in AWKWARD:
        home.write(name, name)
    home.git("--literal-pathspecs", "add", "--", *AWKWARD[:3])
    home.write(".obsidian/workspace.json", "{}")
    home.write("Areas/Finance/x.md", "private\n")


def test_git_05_a_commit_holds_exactly_our_paths(home: Home) -> None:
    at_work(home)
    home.record("nova", "e-1")
    (path,) = paths_of(home)
    assert path.startswith(".agents/org/episodes/nova/")


def test_git_07_fifty_writes_leave_the_persons_work_as_it_was(home: Home) -> None:
    at_work(home)
    before = home.persons()
    for number in range(25):
        home.record("nova", f"e-{number}")
        text = f".agents/org/memory/nova/claims/{number}.yaml"
        home.write_texts({text: f"{number}\n"}, row("nova", f"f-{number}"))
    assert home.persons() == before
    assert len(home.rows_in_head()) == 50
    assert home.git("status", "--porcelain", "--", ".agents") == ""
    home.fsck()


def test_the_person_can_stash_after_a_write(home: Home) -> None:
    home.write("note.md", "edited\n")
    home.record("nova", "e-1")
    home.write_texts({"Org/a.md": "x\n"})
    home.git("stash", "-q")
    home.record("nova", "e-2")
    home.git("stash", "pop", "-q")
    assert home.git("status", "--porcelain") == " M note.md\n"


def test_the_persons_next_commit_undoes_nothing(home: Home) -> None:
    at_work(home)
    home.record("nova", "e-1")
    home.write_texts({"Org/a.md": "ours\n"})
    home.git("commit", "-q", "-a", "-m", "mine")
    assert home.rows_in_head() == ["e-1"]
    assert home.text_in_head("Org/a.md") == "ours\n"
    assert "b.md" in paths_of(home)


def test_plumbing_takes_none_of_our_files_for_changed(home: Home) -> None:
    home.record("nova", "e-1")
    home.write_texts({"Org/a.md": "1\n", "Org/b.md": "1\n"})
    home.write_texts({"Org/a.md": "2\n", "Org/b.md": None})
    assert home.git("diff-files") == ""
    assert home.git("diff-index", "HEAD") == ""


@pytest.mark.parametrize(
    "below",
    [
        "vault",
        "deep/er",
        "with space",
        "new\nline",
        'quo"te',
        "-dash",
        "no\u0308te",
        "a*b",
        "\udcff",
    ],
)
def test_a_vault_below_the_root_under_any_name(memory: Path, below: str) -> None:
    home = make_vault(memory / "repo", below=below)
    home.write("note.md", "mine\n")
    before = home.persons()
    home.record("nova", "e-1")
    home.write_texts({"Org/ü b.md": "text\n", "Org/-x.md": "text\n"}, row("nova", "e-2"))
    home.write_texts({"Org/-x.md": None})
    assert home.rows_in_head() == ["e-1", "e-2"]
    assert home.text_in_head("Org/ü b.md") == "text\n"
    assert home.text_in_head("Org/-x.md") is None
    assert home.git("status", "--porcelain", "--", f"./{below}") == ""
    assert [line for line in home.persons().status if b"Org/" not in line] == list(before.status)
    home.fsck()


def test_a_repository_in_a_folder_whose_name_is_no_text(memory: Path) -> None:
    home = make_vault(memory / os.fsdecode(b"v\xff\n'"))
    assert home.record("nova", "e-1").remarks == []
    assert home.rows_in_head() == ["e-1"]


def test_a_text_staged_with_other_content_is_refused(home: Home) -> None:
    home.write_texts({"Org/a.md": "one\n"})
    home.write("Org/a.md", "staged\n")
    home.git("add", "Org/a.md")
    home.write("Org/a.md", "one\n")
    before = home.persons()
    with pytest.raises(ChangedUnderneath) as refused:
        home.write_texts({"Org/a.md": "two\n", "Org/b.md": "two\n"}, row("nova", "e-1"))
    assert refused.value.exit_code == 5
    assert home.persons() == before
    assert home.rows_in_head() == ["e-1"]
    assert not home.vault.waiting()


def test_a_staged_text_is_refused_also_where_head_says_already_what_we_would_write(
    home: Home,
) -> None:
    home.write_texts({"Org/card.md": "open\n"})
    home.write("Org/card.md", "doing\n")
    home.git("add", "Org/card.md")
    before = home.persons()
    with pytest.raises(ChangedUnderneath):
        home.write_texts({"Org/card.md": "open\n"})
    assert home.persons() == before
    assert (home.top / "Org/card.md").read_text() == "doing\n"
    assert not home.vault.waiting()


def test_a_text_staged_as_we_would_write_it_is_no_hindrance(home: Home) -> None:
    home.write("Org/a.md", "same\n")
    home.git("add", "Org/a.md")
    home.write("Org/a.md", "before\n")
    home.write_texts({"Org/a.md": "same\n"})
    assert home.text_in_head("Org/a.md") == "same\n"
    assert home.git("status", "--porcelain") == ""


def edited_meanwhile(home: Home, vault: Vault) -> None:
    with vault.change(message("x"), NOVA, AT) as change:
        change.write("Org/b.md", "two\n")
        change.write("Org/a.md", "two\n")
        home.write("Org/a.md", "the person's\n")


def test_a_text_edited_while_it_is_computed_is_refused(home: Home) -> None:
    vault = home.write_texts({"Org/a.md": "one\n"})
    with pytest.raises(ChangedUnderneath, match=r"Org/a\.md"):
        edited_meanwhile(home, vault)
    assert (home.top / "Org/a.md").read_text() == "the person's\n"
    assert not (home.top / "Org/b.md").exists()


def test_the_persons_unsaved_edit_of_a_text_goes_into_our_change(home: Home) -> None:
    home.write_texts({"Org/a.md": "one\n"})
    home.write("Org/a.md", "one, edited\n")
    vault = home.fresh()
    with vault.change(message("x"), NOVA, AT) as change:
        change.write("Org/a.md", (change.read("Org/a.md") or b"").decode() + "more\n")
    assert home.text_in_head("Org/a.md") == "one, edited\nmore\n"


def test_a_segment_that_the_person_has_altered_is_left_alone(home: Home) -> None:
    home.record("nova", "e-1")
    home.record("nova", "e-2")
    (segment,) = (home.root / ".agents/org/episodes/nova").glob("*.jsonl")
    altered = segment.read_bytes().replace(b"e-1", b"e-9")
    segment.write_bytes(altered)
    home.record("nova", "e-3")
    assert segment.read_bytes() == altered
    assert home.rows_in_head() == ["e-1", "e-2", "e-3"]
    assert len(list(segment.parent.glob("*.jsonl"))) == 2


def test_rows_win_over_what_is_staged(home: Home) -> None:
    home.record("nova", "e-1")
    (segment,) = (home.root / ".agents/org/episodes/nova").glob("*.jsonl")
    home.git("rm", "-q", "--cached", str(segment))
    home.record("nova", "e-2")
    assert home.rows_in_head() == ["e-1", "e-2"]
    assert home.git("status", "--porcelain") == ""


def test_git_11_a_segment_with_conflict_markers_is_left_alone(home: Home) -> None:
    home.record("nova", "e-1")
    (segment,) = (home.root / ".agents/org/episodes/nova").glob("*.jsonl")
    marked = b"<<<<<<< ours\n" + segment.read_bytes() + b"=======\n>>>>>>> theirs\n"
    segment.write_bytes(marked)
    home.record("nova", "e-2")
    assert segment.read_bytes() == marked
    problems: list[Problem] = []
    lines = list(home.fresh().logs.lines("episodes", "nova", problems))
    assert [line.row["id"] for line in lines] == ["e-1", "e-2"]
    assert [problem.line for problem in problems] == [1, 3, 4]


@pytest.mark.parametrize("place", [".agents/org/episodes", ".agents/org/episodes/nova"])
def test_a_symbolic_link_in_the_way_of_rows(home: Home, place: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (home.top / place).parent.mkdir(parents=True, exist_ok=True)
    (home.top / place).symlink_to(elsewhere)
    vault = home.record("nova", "e-1")
    assert "symbolic link" in vault.remarks[0]
    assert list(elsewhere.iterdir()) == []
    assert home.vault.waiting() == 1
    # Another agent's rows are not held up by it, unless they are behind the link as well.
    vault = home.fresh()
    vault.record(message("x"), NOVA, [row("atlas", "w-1", log="wakes")], AT)
    assert home.rows_in_head("atlas", "wakes") == ["w-1"]
    (home.top / place).unlink()
    home.record("nova", "e-2")
    assert sorted(home.rows_in_head()) == ["e-1", "e-2"]


def test_a_symbolic_link_in_the_way_of_a_text(home: Home, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("as it was\n")
    home.write("Org/x.md", "x\n")
    (home.top / "Org/a.md").symlink_to(tmp_path / "secret.md")
    (home.top / "Org/folder").symlink_to(tmp_path)
    for path in ("Org/a.md", "Org/folder/secret.md"):
        with pytest.raises(Linked):
            home.write_texts({path: "ours\n"})
    assert (tmp_path / "secret.md").read_text() == "as it was\n"


@pytest.mark.parametrize(
    "path", ["../x", "a/../../x", "/x", "a//b", ".git/config", "a/.GIT/hooks/x", "", "."]
)
def test_a_path_that_leads_out_of_the_vault_is_refused(home: Home, path: str) -> None:
    with pytest.raises(OutsideVault) as refused:
        home.write_texts({path: "x"})
    assert isinstance(refused.value, BadFile)


def test_a_vault_reached_through_a_symbolic_link(home: Home, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(home.top)
    Home(home.top, link).record("nova", "e-1")
    assert home.rows_in_head() == ["e-1"]


def test_nothing_of_ours_lies_about_afterwards(home: Home) -> None:
    home.record("nova", "e-1")
    home.write_texts({"Org/a.md": "x\n"}, row("nova", "e-2"))
    private = Path(home.vault.private)
    left = [str(p.relative_to(private)) for p in private.rglob("*") if p.is_file()]
    assert left == ["lock"]
    assert not list(home.top.rglob("*orgvault-tmp*"))


def test_git_status_needs_no_lock_of_ours(home: Home) -> None:
    home.record("nova", "e-1")
    done = subprocess.run(["git", "commit", "--allow-empty", "-qm", "x"], cwd=home.top, check=False)
    assert done.returncode == 0


# Stands for git: once the next index is made, the person stages a file in the old one's place.
STAGING = """\
#!/bin/sh
{git} "$@" || exit $?
case "$* " in *" update-index "*)
    [ -e {done} ] && exit
    touch {done}
    cp {index} {index}.theirs
    GIT_INDEX_FILE={index}.theirs {git} -C {top} update-index --add note.md
    mv {index}.theirs {index};;
esac
"""


def test_what_is_staged_while_the_next_index_is_made_stays_staged(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write("note.md", "staged just then\n")
    stand_in = tmp_path / "bin/git"
    stand_in.parent.mkdir()
    words = {"done": tmp_path / "done", "index": home.git_dir / "index", "top": home.top}
    stand_in.write_text(STAGING.format(git=shutil.which("git"), **words))
    stand_in.chmod(0o755)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}")
        home.write_texts({"Org/a.md": "ours\n"}, row("nova", "e-1"))
    assert (tmp_path / "done").exists()
    assert home.git("status", "--porcelain") == "M  note.md\n"
    assert home.text_in_head("Org/a.md") == "ours\n"
    assert home.rows_in_head() == ["e-1"]


def test_git_writes_no_object_of_ours_unsynced(home: Home) -> None:
    """A filter makes another content of the file: only ours is stored."""
    home.write(".gitattributes", "*.md filter=louder\n")
    home.git("config", "filter.louder.clean", "tr a-z A-Z")
    home.commit("loud", ".gitattributes")
    home.write_texts({"Org/a.md": "never stored loudly\n"})
    loud = home.git("hash-object", "Org/a.md").strip()
    assert home.git("cat-file", "blob", "HEAD:Org/a.md") == "never stored loudly\n"
    known = home.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    assert loud not in known


def test_what_waits_is_not_read_while_it_cannot_be_committed(home: Home) -> None:
    (home.git_dir / "MERGE_HEAD").write_text(f"{home.head()}\n")
    home.record("nova", "e-1")
    (Path(home.vault.private) / "spool/1-x.json").write_text("no entry\n")
    assert home.record("nova", "e-2").remarks == [
        "recorded, to be committed later: a merge is in progress"
    ]
    (home.git_dir / "MERGE_HEAD").unlink()
    assert "1-x.json cannot be read" in home.record("nova", "e-3").remarks[0]
    assert home.rows_in_head() == ["e-1", "e-2", "e-3"]
