"""Loose objects are packed when enough have gathered, and not again for those that stay."""

from pathlib import Path

from tests.vaults import folder_in_memory, make_vault


def test_loose_objects_are_packed_when_a_thousand_commits_have_gathered() -> None:
    with folder_in_memory() as folder:
        home = make_vault(folder / "v")
        home.record("nova", "e-1")
        assert not home.vault.tidy()
        sample = home.git_dir / "objects/17"
        sample.mkdir(exist_ok=True)
        for number in range(40):
            # Not reachable from anywhere: `git repack` leaves them.
            (sample / f"{number:038x}").write_bytes(b"")
        assert home.vault.tidy()
        assert list((home.git_dir / "objects/pack").glob("*.pack"))
        assert not home.vault.tidy()
        assert home.rows_in_head() == ["e-1"]
        assert Path(home.vault.private, "packed").exists()
