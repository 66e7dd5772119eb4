"""The index of a vault's names: quick when nothing changed, and never of yesterday."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from orgvault.posix import clock_ns
from orgvault.store.note_index import NoteIndex, sealed
from tests.vaults import Home


def later() -> int:
    """A clock by which everything that stands there has stood for a while."""
    return clock_ns() + 10_000_000_000


def paths(home: Home, clock: Callable[[], int] = clock_ns) -> set[str]:
    return set(NoteIndex(home.vault.place, clock).paths())


def saved(home: Home) -> Path:
    (found,) = (home.git_dir / "orgvault/notes").glob("*.index")
    return found


def rewrite(home: Home, old: bytes, new: bytes) -> None:
    """Make the kept index say something else, to see whether it is believed."""
    content = saved(home).read_bytes().partition(b"\n")[2]
    assert old in content
    saved(home).write_bytes(sealed(content.replace(old, new)))


@pytest.fixture
def notes(home: Home) -> Home:
    """A vault with some folders."""
    for path in ("a/One.md", "a/b/Two.md", "c/Three.md", "c/pic.png", ".obsidian/app.json"):
        home.write(path, "x")
    return home


ALL = {"note.md", "a/One.md", "a/b/Two.md", "c/Three.md", "c/pic.png"}


def test_it_knows_the_files_but_for_dot_folders(notes: Home) -> None:
    assert paths(notes) == ALL
    index = NoteIndex(notes.vault.place)
    assert index.named("one.md") == ["a/One.md"]
    assert index.named("ne.md") == index.named("one.m") == index.named("") == []
    assert index.named("a/one.md") == index.named("one.md//a") == []
    assert (index.size("c/pic.png"), index.size("c/nothing")) == (1, None)


def test_the_same_is_found_however_many_are_asked(notes: Home) -> None:
    (notes.root / "c/Link.md").symlink_to("Three.md")
    (notes.root / "c/One.md").write_text("x")
    index = NoteIndex(notes.vault.place)
    for _ in range(200):
        assert sorted(index.named("one.md")) == ["a/One.md", "c/One.md"]
        assert index.linked("link.md") == ["c/Link.md"]
        assert not [*index.named("link.md"), *index.linked("one.md"), *index.named("/link.md")]


def test_folders_that_have_not_changed_are_not_looked_into(notes: Home) -> None:
    paths(notes, later)
    rewrite(notes, b"c/Three.md", b"c/Known.md")
    assert "c/Known.md" in paths(notes, later)
    notes.write("c/New.md", "x")
    assert paths(notes, later) == ALL | {"c/New.md"}


def test_folders_that_changed_a_moment_ago_are_looked_into_again(notes: Home) -> None:
    """Their times could be those of another change right after."""
    paths(notes)
    rewrite(notes, b"c/Three.md", b"c/Known.md")
    assert paths(notes) == ALL


def test_nothing_is_written_when_nothing_changed(notes: Home) -> None:
    paths(notes, later)
    before = saved(notes).stat()
    paths(notes, later)
    assert saved(notes).stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("clock", [clock_ns, later])
def test_every_kind_of_change_is_seen(notes: Home, clock: Callable[[], int]) -> None:
    root = notes.root
    assert paths(notes, clock) == ALL
    (root / "a/One.md").rename(root / "a/Eins.md")
    assert paths(notes, clock) == (ALL - {"a/One.md"}) | {"a/Eins.md"}
    (root / "a/b").rename(root / "c/b")
    assert paths(notes, clock) == {"note.md", "a/Eins.md", "c/b/Two.md", "c/Three.md", "c/pic.png"}
    (root / "c/b/.obsidian").mkdir()
    assert "c/b/Two.md" not in paths(notes, clock)
    (root / "c/b/.obsidian").rmdir()
    assert "c/b/Two.md" in paths(notes, clock)
    shutil.rmtree(root / "c")
    assert paths(notes, clock) == {"note.md", "a/Eins.md"}
    (root / "a/Eins.md").unlink()
    (root / "a/Eins.md").symlink_to("../note.md")
    index = NoteIndex(notes.vault.place, clock)
    assert set(index.paths()) == {"note.md"}
    assert index.linked("eins.md") == ["a/Eins.md"]
    (root / "a/Eins.md").unlink()
    (root / "a/Eins.md").mkdir()
    notes.write("a/Eins.md/Inner.md", "x")
    assert paths(notes, clock) == {"note.md", "a/Eins.md/Inner.md"}


def test_a_change_is_seen_whose_time_was_set_back(notes: Home) -> None:
    """As tools do that copy a folder with its times."""
    paths(notes, later)
    before = (notes.root / "c").stat()
    notes.write("c/New.md", "x")
    os.utime(notes.root / "c", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "c/New.md" in paths(notes, later)


def test_a_folder_put_in_another_s_place_is_seen(notes: Home) -> None:
    paths(notes, later)
    shutil.copytree(notes.root / "c", notes.root / "d")
    (notes.root / "d/Three.md").rename(notes.root / "d/Four.md")
    paths(notes, later)
    shutil.rmtree(notes.root / "c")
    (notes.root / "d").rename(notes.root / "c")
    assert "c/Four.md" in paths(notes, later)
    assert "c/Three.md" not in paths(notes, later)


def test_after_any_changes_it_is_what_a_new_one_would_be(notes: Home) -> None:
    chance = random.Random(7)  # noqa: S311 - any changes do
    folders = ["", "a", "a/b", "c", "c/d"]
    for turn in range(60):
        folder = notes.root / chance.choice(folders)
        folder.mkdir(parents=True, exist_ok=True)
        name = folder / f"{chance.choice('xyz')}.md"
        if name.exists():
            name.unlink()
        else:
            name.write_text("x")
        if turn % 9 == 8 and folder != notes.root:
            shutil.rmtree(folder)
        found = paths(notes)
        saved(notes).unlink()
        assert found == paths(notes)


@pytest.mark.parametrize("cut", [0, 5, 9, 20, -1, -30])
def test_a_spoiled_file_is_made_anew(notes: Home, cut: int) -> None:
    paths(notes, later)
    whole = saved(notes).read_bytes()
    saved(notes).write_bytes(whole[:cut])
    assert paths(notes, later) == ALL
    assert saved(notes).read_bytes() == whole
    saved(notes).write_bytes(whole.replace(b"c/Three.md", b"c/Fours.md"))
    assert paths(notes, later) == ALL


def test_a_file_in_another_form_is_made_anew(notes: Home) -> None:
    paths(notes, later)
    rewrite(notes, b"[1, ", b"[2, ")
    rewrite(notes, b"c/Three.md", b"c/Known.md")
    assert paths(notes, later) == ALL


def test_where_nothing_can_be_kept_it_works_all_the_same(notes: Home) -> None:
    (notes.git_dir / "orgvault").mkdir(exist_ok=True)
    (notes.git_dir / "orgvault/notes").write_text("in the way")
    assert paths(notes) == ALL


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into every folder")
def test_a_closed_folder_is_left_out(notes: Home) -> None:
    (notes.root / "c").chmod(0)
    try:
        assert paths(notes, later) == ALL - {"c/Three.md", "c/pic.png"}
    finally:
        (notes.root / "c").chmod(0o755)


def test_aliases_are_those_of_notes_that_may_be_read(notes: Home) -> None:
    notes.write("c/Three.md", '---\naliases:\n  - Trois\n  - "Drei"\nalias: III\n---\n')
    notes.write("a/One.md", "---\nalias: [Un, 'Eins']\n---\n")
    notes.write("a/b/Two.md", "aliases: [Deux]\n")
    index = NoteIndex(notes.vault.place)
    assert index.aliases(lambda _: "") == {
        "trois": "c/Three.md", "drei": "c/Three.md", "iii": "c/Three.md", "un": "a/One.md",
        "eins": "a/One.md",
    }  # fmt: skip
    assert index.aliases(lambda path: "no" if path.startswith("c/") else "").keys() == {
        "un",
        "eins",
    }
