"""What people did with proposals is noticed by the next run that ends."""

import pytest

from tests.harbor import Harbor
from tests.proposals import commit, filed


def note(harbor: Harbor, card: str) -> str:
    return (harbor.root / f"Org/Backlog/{card}.md").read_text("utf-8")


def test_the_next_run_books_what_a_person_shipped(harbor: Harbor) -> None:
    card = filed(harbor).id
    harbor.git("apply", f".agents/org/proposals/{card}.diff")
    shipped = commit(harbor, "Take nova's goal")
    told = harbor.finish("atlas", "run-1")
    assert told["episode"]["run"] == "run-1"
    assert "\nstatus: shipped\n" in note(harbor, card)
    entry = harbor.json("ledger", "show", card)
    assert entry["shipped_commit"] == shipped
    assert harbor.git("status", "--porcelain") == ""
    before = harbor.git("rev-parse", "HEAD")
    harbor.finish("atlas", "run-2")
    new = harbor.git("log", "--format=%s", f"{before.strip()}..HEAD")
    assert "ledger" not in new
    assert "proposal" not in new


def test_the_next_run_withdraws_what_has_expired(harbor: Harbor) -> None:
    card = filed(harbor, days_ago=31).id
    harbor.finish("atlas", "run-1")
    assert "\nstatus: withdrawn\n" in note(harbor, card)


def test_a_busy_repository_keeps_no_run_from_being_recorded(harbor: Harbor) -> None:
    card = filed(harbor).id
    harbor.git("apply", f".agents/org/proposals/{card}.diff")
    commit(harbor, "Take nova's goal")
    merging = harbor.root / ".git" / "MERGE_HEAD"
    merging.write_text(harbor.git("rev-parse", "HEAD"))
    wake = harbor.wake("atlas")
    told = harbor.run("wake-done", wake, "--run", "run-1")
    assert "run-1: no_report, recorded" in told.out
    assert "proposals are looked at with the next run" in told.err
    assert "\nstatus: open\n" in note(harbor, card)
    merging.unlink()
    harbor.finish("atlas", "run-2")
    assert "\nstatus: shipped\n" in note(harbor, card)
    assert {one["run"] for one in harbor.rows("episodes", "atlas")} >= {"run-1", "run-2"}


def test_a_vault_without_proposals_pays_nothing(
    harbor: Harbor, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    for name in [one for one in sys.modules if one.endswith(("ledgering", "reviewing"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "orgvault.services.noticing", raising=False)
    harbor.finish("atlas", "run-1")
    assert "orgvault.services.noticing" not in sys.modules
