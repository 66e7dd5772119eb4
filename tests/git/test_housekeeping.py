"""Small loose objects are packed when enough have gathered, and not again for those that stay."""

import os
from pathlib import Path

from orgvault.store.vault import Vault
from tests.vaults import Home, folder_in_memory, make_vault


def gather(home: Home, count: int = 40) -> None:
    """Let it look as if a thousand commits had gathered: loose objects that nothing leads to."""
    sample = home.git_dir / "objects/17"
    sample.mkdir(exist_ok=True)
    for number in range(count):
        (sample / f"{number:038x}").write_bytes(b"")


def packs(home: Home) -> list[Path]:
    """The packs there are."""
    return list((home.git_dir / "objects/pack").glob("*.pack"))


def loose(home: Home, size: int) -> int:
    """How many loose objects take more than so many bytes."""
    found = (home.git_dir / "objects").glob("??/*")
    return sum(one.stat().st_size > size for one in found)


def test_loose_objects_are_packed_when_a_thousand_commits_have_gathered() -> None:
    with folder_in_memory() as folder:
        home = make_vault(folder / "v")
        home.record("nova", "e-1")
        assert not home.vault.tidy()
        gather(home)
        assert home.vault.tidy()
        assert len(packs(home)) == 1
        assert loose(home, 0) == 0
        assert not home.vault.tidy()
        assert home.rows_in_head() == ["e-1"]
        assert Path(home.vault.private, "packed").exists()
        home.record("nova", "e-2")
        gather(home, 80)
        assert home.vault.tidy()
        assert len(packs(home)) == 2
        assert loose(home, 0) == 0
        assert home.rows_in_head() == ["e-1", "e-2"]


def test_a_history_that_was_rewritten_since_is_packed_all_the_same() -> None:
    with folder_in_memory() as folder:
        home = make_vault(folder / "v")
        home.record("nova", "e-1")
        Path(home.vault.private, "packed").write_text(f"0 {'0' * 39}1")
        gather(home)
        assert home.vault.tidy()
        assert loose(home, 0) == 0


def test_what_a_person_has_just_attached_stays_as_it_is() -> None:
    """Packing a gigabyte of it takes minutes: no command may wait for that, or try it again."""
    with folder_in_memory() as folder:
        home = make_vault(folder / "v")
        home.record("nova", "e-1")
        (home.root / "Attached.pdf").write_bytes(os.urandom(300_000))
        home.git("add", "Attached.pdf")  # not committed yet: only the index leads to it
        home.git("commit", "-q", "-m", "attached", "--", "Attached.pdf")
        (home.root / "Another.pdf").write_bytes(os.urandom(300_000))
        home.git("add", "Another.pdf")
        gather(home)
        assert home.vault.tidy()
        assert loose(home, 0) == loose(home, 256 * 1024) == 2
        assert packs(home)[0].stat().st_size < 100_000
        assert home.git("status", "--porcelain").split() == ["A", "Another.pdf"]


def test_where_packing_fails_it_waits_for_as_many_again() -> None:
    with folder_in_memory() as folder:
        home = make_vault(folder / "v")
        home.record("nova", "e-1")
        gather(home)
        folder_of_packs = home.git_dir / "objects/pack"
        folder_of_packs.rmdir()
        folder_of_packs.write_bytes(b"")
        assert not home.vault.tidy()
        folder_of_packs.unlink()
        assert not home.vault.tidy()  # not tried again so soon
        gather(home, 80)
        assert home.vault.tidy()


def test_what_was_done_need_not_be_remembered() -> None:
    """On a full disk the stamp cannot be written: the command has done its work all the same."""
    with folder_in_memory() as folder:
        home = make_vault(folder / "v")
        home.record("nova", "e-1")
        gather(home)
        Path(home.vault.private, "packed.new").mkdir()
        assert home.vault.tidy()
        assert not Path(home.vault.private, "packed").exists()
        assert loose(home, 0) == 0
        assert home.rows_in_head() == ["e-1"]


def test_a_partial_clone_is_left_alone() -> None:
    """What it has not got would be fetched from the remote, object by object."""
    with folder_in_memory() as folder:
        home = make_vault(folder / "v")
        home.record("nova", "e-1")
        gather(home)
        home.git("config", "extensions.partialClone", "origin")
        home.git("config", "core.repositoryFormatVersion", "1")
        assert not Vault(str(home.root)).tidy()
        assert packs(home) == []


def test_small_packs_that_have_gathered_become_one_and_others_stay() -> None:
    with folder_in_memory() as folder:
        home = make_vault(folder / "v")
        (home.root / "Large.bin").write_bytes(os.urandom(5_000_000))
        home.git("add", "Large.bin")
        home.git("commit", "-q", "-m", "large", "--", "Large.bin")
        home.git("repack", "-d", "-q")
        (home.root / "Kept.bin").write_bytes(os.urandom(1_000_000))
        home.git("add", "Kept.bin")
        home.git("commit", "-q", "-m", "kept", "--", "Kept.bin")
        home.git("repack", "-d", "-q")
        large, kept = sorted(packs(home), key=lambda one: -one.stat().st_size)
        kept.with_suffix(".keep").touch()
        most = 0
        for number in range(40):
            (home.root / "Picture.bin").write_bytes(os.urandom(250_000))
            home.git("add", "Picture.bin")
            home.git("commit", "-q", "-m", "picture", "--", "Picture.bin")
            home.record("nova", f"e-{number}")
            Path(home.vault.private, "packed").unlink(missing_ok=True)
            gather(home)
            assert home.vault.tidy()
            most = max(most, len(packs(home)))
            for fake in (home.git_dir / "objects/17").glob("0*"):
                fake.unlink()
        assert most == 21  # then they became one
        assert {large, kept} < set(packs(home))
        assert len(home.rows_in_head()) == 40
        assert home.git("fsck", "--strict", "--no-dangling") == ""
        assert home.git("multi-pack-index", "verify", "--no-progress") == ""
        home.git("gc", "-q", "--prune=now")
        assert home.git("fsck", "--strict", "--no-dangling") == ""
        assert len(home.rows_in_head()) == 40
