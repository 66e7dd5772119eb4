"""Contents: files that are named by what they hold, recorded with the rows that name them."""

from pathlib import Path

from orgvault.store.entry import Content, Row
from orgvault.store.preview import Preview
from orgvault.store.vault import Vault
from tests.vaults import AT, NOVA, Home, make_vault, message, row

ONE = Content(".agents/org/runs/texts/0a/0a1b.md", "one\r\nwithout a last line end")
TWO = Content(".agents/org/runs/texts/0a/0a2c.md", "two\n")


def record(home: Home, row_id: str, *contents: Content) -> list[str]:
    vault = home.fresh()
    vault.record(message(f"run(nova): {row_id}"), NOVA, [row("nova", row_id)], AT, contents)
    return vault.remarks


def test_they_are_one_commit_with_their_rows(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v")
    before = home.git("rev-list", "--count", "HEAD")

    assert record(home, "e-1", ONE, TWO) == []

    assert int(home.git("rev-list", "--count", "HEAD")) == int(before) + 1
    for content in (ONE, TWO):
        assert (home.root / content.path).read_bytes() == content.text.encode()
        assert home.text_in_head(content.path) == content.text
    assert home.rows_in_head() == ["e-1"]
    assert home.git("status", "--porcelain") == ""


def test_one_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v")
    record(home, "e-1", ONE)
    written = (home.root / ONE.path).stat().st_mtime_ns

    record(home, "e-2", ONE, TWO)

    assert (home.root / ONE.path).stat().st_mtime_ns == written
    changed = home.git("show", "--name-only", "--format=", "HEAD").split("\n")
    assert ONE.path not in changed
    assert TWO.path in changed


def test_in_a_merge_they_wait_with_their_rows_and_can_be_read(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v")
    home.write("n.md", "a\n")
    home.commit("a")
    home.git("switch", "-q", "-c", "other")
    home.write("n.md", "b\n")
    home.commit("b")
    home.git("switch", "-q", "main")
    home.write("n.md", "c\n")
    home.commit("c")
    home.git("merge", "-q", "other", code=1)

    assert "a merge" in record(home, "e-1", ONE)[0]

    assert not (home.root / ONE.path).exists()
    assert home.fresh().content_waiting(ONE.path) == ONE.text
    assert home.fresh().content_waiting(TWO.path) is None
    home.git("merge", "--abort")
    home.record("nova", "e-2")
    assert home.text_in_head(ONE.path) == ONE.text
    assert (home.root / ONE.path).read_bytes() == ONE.text.encode()


def test_a_commit_that_cannot_be_made_takes_them_back(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v")
    lock = home.git_dir / "index.lock"
    lock.touch()

    assert "to be committed later" in record(home, "e-1", ONE)[0]

    assert not (home.root / ONE.path).exists()
    assert home.fresh().content_waiting(ONE.path) == ONE.text
    lock.unlink()
    home.record("nova", "e-2")
    assert home.text_in_head(ONE.path) == ONE.text


def test_one_that_somebody_has_edited_stays_as_it_is_and_is_committed_as_recorded(
    tmp_path: Path,
) -> None:
    home = make_vault(tmp_path / "v")
    record(home, "e-1", ONE)
    (home.root / ONE.path).write_text("edited")

    record(home, "e-2", ONE)

    assert (home.root / ONE.path).read_text() == "edited"
    assert home.text_in_head(ONE.path) == ONE.text


def test_a_link_in_the_place_of_their_folder_is_not_followed(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (home.root / ".agents/org/runs").symlink_to(elsewhere)

    remarks = record(home, "e-1", ONE)

    assert "link" in remarks[0]
    assert list(elsewhere.iterdir()) == []


def test_rows_in_order_see_those_that_came_before(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v")
    for _ in range(3):
        number(home.fresh())
    assert home.rows_in_head() == ["e-0", "e-1", "e-2"]
    newest = [line.row["id"] for line in home.fresh().logs.newest_lines("episodes", "nova")]
    assert newest == ["e-2", "e-1", "e-0"]


def number(vault: Vault) -> None:
    """Record a row whose id is how many there are."""

    def make() -> list[Row]:
        return [row("nova", f"e-{len(list(vault.logs.newest_lines('episodes', 'nova')))}")]

    vault.record_in_order(message("chat(guild): next"), NOVA, make, AT)


def test_a_preview_shows_them_and_writes_nothing(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v")
    vault = Preview.find(str(home.root))

    vault.record(message("run(nova): e-1"), NOVA, [row("nova", "e-1")], AT, [ONE])

    assert ONE.path in vault.planned[0]
    assert not (home.root / ONE.path).exists()
    assert home.rows_in_head() == []
