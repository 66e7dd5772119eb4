"""What stands in a memory or a backlog under the name of a claim or a card, and is none."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orgvault.domain.claim import ClaimKind, close, new_claim
from orgvault.domain.claim_file import close_claim_text, write_claim
from orgvault.errors import UnreadableMemory
from orgvault.store.cards import Cards
from orgvault.store.claims import ACTIVE, Claims
from orgvault.store.faults import NotUtf8
from orgvault.store.logs import parse
from orgvault.store.recall_index import search
from tests.vaults import AT, Home

if TYPE_CHECKING:
    from orgvault.domain.problem import Problem

MEMORY = ".agents/org/memory/nova"
ID = "c-bbbbbbbb"
CLAIM = new_claim(ID, "nova", ClaimKind.LESSON, "I do it so.", "run-1", AT, "reflection")
CLOSED = close(CLAIM, "sam", "no longer", AT)


def folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("make", [folder, os.mkfifo])
def test_what_is_no_file_is_a_problem_and_no_reader_waits_for_it(home: Home, make: object) -> None:
    assert callable(make)
    home.write(f"{MEMORY}/claims/c-aaaaaaaa.yaml", "x")
    make(home.root / MEMORY / "claims" / f"{ID}.yaml")
    with pytest.raises(UnreadableMemory, match=f"{ID}.yaml: cannot be read"):
        Claims(home.vault).active("nova")
    problems: list[Problem] = []
    assert Claims(home.vault).load("nova", ACTIVE, problems) == []
    assert f"{MEMORY}/claims/{ID}.yaml" in {one.file for one in problems}


@pytest.mark.parametrize("make", [folder, os.mkfifo])
def test_a_card_that_is_no_file_is_a_problem(home: Home, make: object) -> None:
    assert callable(make)
    backlog = home.root / "Org/Backlog"
    backlog.mkdir(parents=True)
    make(backlog / "t-00000000.md")
    for read in (Cards(home.vault, "Org").all, lambda p: Cards(home.vault, "Org").get(CARD, p)):
        problems: list[Problem] = []
        assert not read(problems)
        assert [one.file for one in problems] == [f"Org/Backlog/{CARD}.md"]


@pytest.mark.parametrize("make", [folder, os.mkfifo])
@pytest.mark.parametrize("path", [f"{MEMORY}.md", f"{MEMORY}/claims/{ID}.yaml"])
def test_recall_names_what_is_no_file_and_does_not_wait_for_it(
    home: Home, make: object, path: str
) -> None:
    assert callable(make)
    home.write(f"{MEMORY}/claims/c-aaaaaaaa.yaml", write_claim(replace(CLAIM, id="c-aaaaaaaa")))
    make(home.root / path)
    found = search(home.vault, "nova", "do it so", 8, str)
    assert [one.id for one in found.passages] == ["c-aaaaaaaa"]
    assert len(found.problems) == 1
    assert found.problems[0].startswith(f"{path}: ")


CARD = "t-00000000"


def test_half_a_surrogate_pair_is_not_utf_8() -> None:
    for raw in (rb'{"a":"\ud800"}', rb'{"a":["\uDC00"]}', rb'{"\uD800":1}'):
        with pytest.raises(NotUtf8):
            parse(raw)
    assert parse(rb'{"a":"\ud83d\ude00"}') == {"a": "\U0001f600"}


def test_a_claim_in_both_folders_is_closed(home: Home) -> None:
    text = write_claim(CLAIM)
    home.write(f"{MEMORY}/claims/{ID}.yaml", text)
    kept = Claims(home.vault)
    assert [one.claim for one in kept.active("nova")] == [CLAIM]
    home.write(f"{MEMORY}/closed/{ID}.yaml", close_claim_text(text, CLOSED))
    assert kept.active("nova") == []
    assert [one.claim for one in kept.closed("nova")] == [CLOSED]
    problems: list[Problem] = []
    kept.load("nova", ACTIVE, problems)
    assert [one.what for one in problems] == ["it stands in closed/ too, so the claim is closed"]


def test_a_claim_that_carries_its_closing_is_closed_wherever_it_stands(home: Home) -> None:
    home.write(f"{MEMORY}/claims/{ID}.yaml", write_claim(CLOSED))
    kept = Claims(home.vault)
    assert kept.active("nova") == []
    assert [one.claim for one in kept.closed("nova")] == [CLOSED]
