"""What is written into git: trees in its order, a backlog as one pack, commits as meant."""

from collections.abc import Iterator

import pytest

from tests.vaults import AT, NOVA, Home, folder_in_memory, make_repository, message, row

SIZES = (0, 10, 15, 90, 130, 260, 2_000, 40_000)  # about where a number takes a byte more


@pytest.fixture(params=["sha1", "sha256"])
def home(request: pytest.FixtureRequest) -> Iterator[Home]:
    """A vault in a repository of each kind of names."""
    with folder_in_memory() as folder:
        yield make_repository(folder / "v", args=(f"--object-format={request.param}",))


def wait(home: Home, rows: int) -> None:
    """Acknowledge so many rows while a merge is in progress; the next write brings them in."""
    marker, vault = home.git_dir / "MERGE_HEAD", home.fresh()
    marker.write_text(f"{home.head()}\n")
    for number in range(rows):
        one = row("nova", f"e-{number}", size=SIZES[number % len(SIZES)])
        vault.record(message(f"wake(nova): e-{number}"), NOVA, [one], AT)
    marker.unlink()


def test_a_backlog_is_one_pack_of_what_was_added_each_time(home: Home) -> None:
    wait(home, 60)
    home.record("nova", "e-last")
    home.fsck()
    assert home.rows_in_head() == [*(f"e-{number}" for number in range(60)), "e-last"]
    assert home.git("rev-list", "--count", "HEAD").strip() == "62"
    (pack,) = (home.git_dir / "objects/pack").glob("*.pack")
    told = home.git("verify-pack", "-v", str(pack)).splitlines()
    objects = [one.split() for one in told if len(one.split()) >= 5 and len(one.split()[0]) >= 40]
    kinds = [one[1] for one in objects]
    assert (kinds.count("commit"), kinds.count("blob") > 50) == (61, True)
    grown = [one for one in objects if one[1] == "blob" and len(one) > 5]
    assert len(grown) > 40  # as what was added, not whole
    whole = sum(len(home.git_bytes("cat-file", "blob", one[0])) for one in objects if one in grown)
    assert pack.stat().st_size < whole / 20


def test_a_few_are_files_of_their_own(home: Home) -> None:
    wait(home, 3)
    home.record("nova", "e-last")
    home.fsck()
    assert list((home.git_dir / "objects/pack").glob("*.pack")) == []


def test_names_stand_as_git_orders_them(home: Home) -> None:
    """A folder is ordered as if its name ended in a slash: between `a-b` and `a0`."""
    names = ("a/1.md", "a.md", "a-b.md", "a0.md", "a", "aa/2.md")
    for order in (names, names[::-1]):
        texts = {f"Org/{name}": f"{name} {order[0]}\n" for name in order if name != "a"}
        home.write_texts(texts)
        home.fsck()
        assert all(home.text_in_head(path) == text for path, text in texts.items())


def test_a_folder_goes_with_its_last_file(home: Home) -> None:
    home.write_texts({"Only/deep/x.md": "x\n", "Other.md": "y\n"})
    home.write_texts({"Only/deep/x.md": None})
    home.fsck()
    assert (
        home.git("ls-tree", "-r", "-t", "--name-only", "HEAD", "Only", "Other.md") == "Other.md\n"
    )


def test_a_commit_says_who_and_when(home: Home) -> None:
    home.record("nova", "e-1")
    told = home.git("log", "-1", "--format=%an|%ae|%cn|%ce|%aI|%cI|%s").strip()
    at = AT.replace("Z", "+00:00")
    assert told == f"{NOVA.name}|{NOVA.email}|Sam|sam@example.org|{at}|{at}|wake(nova): e-1"


def test_an_object_that_was_cut_off_is_written_again(home: Home) -> None:
    """Of a crash an empty file may be left, whose name says that all is there."""
    home.write_texts({"Org/a.md": "one\n"})
    blob = home.git("rev-parse", "HEAD:Org/a.md").strip()
    path = home.git_dir / "objects" / blob[:2] / blob[2:]
    path.chmod(0o644)
    path.write_bytes(b"")
    home.write_texts({"Org/b.md": "one\n"})
    home.fsck()
