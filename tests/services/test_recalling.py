"""Recall as people and agents call it."""

from pathlib import Path

import pytest

from orgvault.domain.access import Actor
from orgvault.domain.claim import ClaimKind, new_claim
from orgvault.domain.claim_file import write_claim
from orgvault.domain.roster import Agent, Roster
from orgvault.errors import NotAllowed, UnknownAgent
from orgvault.services.desk import Desk
from orgvault.services.recalling import recall
from orgvault.store.claims import Claims
from orgvault.store.recall_index import index_path
from tests.harbor import Harbor, make_harbor
from tests.vaults import AT, Home, make_vault

TEXTS = (
    "I lose a turn whenever I run the site build before installing its dependencies.",
    "Перед сборкой сайта я устанавливаю зависимости.",
    "The menu jumps when two pages have one number.",
)
AGENTS = {name: Agent(id=name, name=name, lead="atlas") for name in ("nova", "juno", "atlas")}
ROSTER = Roster(guild="Harbor", owner="sam", operators=(), protected=(), agents=AGENTS)


class Stopped:
    def now(self) -> str:
        return AT

    def monotonic(self) -> float:
        return 0.0


def desk(home: Home, actor: Actor | None = None) -> Desk:
    who = actor or Actor("owner", "sam")
    return Desk(home.fresh(), ROSTER, who, Stopped(), bytes, "0", len, ("opensesame",))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A vault in which nova has claims and a notebook with a secret in it."""
    home = make_vault(tmp_path / "vault")
    for number, text in enumerate(TEXTS):
        at = f"2026-11-2{number}T00:00:00Z"
        one = new_claim(f"c-{number:08d}", "nova", ClaimKind.LESSON, text, "run-1", at, "sam")
        home.write(Claims.path("nova", one.id), write_claim(one))
    home.write(".agents/org/memory/nova.md", "# Door\n\nThe word is opensesame.\n")
    home.commit("memory")
    return home


def test_r16_a_russian_word_in_another_form_finds_the_claim_in_its_language(home: Home) -> None:
    for query in ("сборка", "зависимостями", "как устанавливать зависимость?"):
        (first, *_) = recall(desk(home), "nova", query)
        assert first.text == TEXTS[1]
    assert recall(desk(home), "nova", "installed dependency")[0].text == TEXTS[0]


def test_r18_a_thousand_recalls_leave_git_and_the_ranking_as_they_were(home: Home) -> None:
    at = desk(home)
    first = recall(at, "nova", "the site build and the menu")
    saved = Path(index_path(at.vault, "nova")).read_bytes()
    head = home.head()
    for _ in range(1000):
        assert recall(at, "nova", "the site build and the menu") == first
    assert Path(index_path(at.vault, "nova")).read_bytes() == saved
    assert home.git("status", "--porcelain", "--ignored") == ""
    assert home.head() == head


def test_no_more_than_asked_for_and_the_same_ones_first(home: Home) -> None:
    everything = recall(desk(home), "nova", "site build menu door word", 8)
    assert len(everything) > 2
    for count in range(1, 4):
        assert recall(desk(home), "nova", "site build menu door word", count) == everything[:count]
    assert recall(desk(home), "juno", "site") == []


@pytest.mark.parametrize("kind", ["owner", "operator"])
def test_people_may(home: Home, kind: str) -> None:
    assert recall(desk(home, Actor(kind, "kim")), "nova", "menu")


@pytest.mark.parametrize(("name", "may"), [("nova", True), ("atlas", True), ("juno", False)])
def test_an_agent_recalls_its_own_memory_and_that_of_those_it_leads(
    home: Home, name: str, *, may: bool
) -> None:
    at = desk(home, Actor("agent", name))
    if may:
        assert recall(at, "nova", "menu")
        return
    with pytest.raises(NotAllowed):
        recall(at, "nova", "menu")
    assert not Path(index_path(at.vault, "nova")).exists()


def test_an_unknown_agent_is_named(home: Home) -> None:
    with pytest.raises(UnknownAgent):
        recall(desk(home), "nobody", "menu")


def test_a_bound_secret_is_neither_shown_nor_kept(home: Home) -> None:
    at = desk(home)
    (first, *_) = recall(at, "nova", "door")
    assert first.text == "The word is [secret]."
    assert b"opensesame" not in Path(index_path(at.vault, "nova")).read_bytes()


def test_what_cannot_be_searched_is_a_remark(home: Home) -> None:
    home.write(Claims.path("nova", "c-00000000"), "id: [")
    at = desk(home)
    assert [one.id for one in recall(at, "nova", "menu")] == ["c-00000002"]
    assert any("c-00000000" in remark for remark in at.vault.remarks)


@pytest.fixture
def harbor(tmp_path: Path) -> Harbor:
    """A copy of the fixture vault."""
    return make_harbor(tmp_path)


def test_the_command_shows_passages_with_source_score_and_id(harbor: Harbor) -> None:
    answer = harbor.json("recall", "nova", "how wide may a picture be?", "-k", "2")
    assert len(answer["passages"]) == 2
    (first, second) = answer["passages"]
    assert (first["source"], first["id"]) == ("notebook", "nova#Notebook of nova#Pictures")
    assert first["score"] >= second["score"] > 0
    text = harbor.run("recall", "nova", "how wide may a picture be?", "-k", "1").out
    assert "nova#Notebook of nova#Pictures" in text
    assert "Nothing wider than 1600 pixels." in text
    assert "remembers nothing" in harbor.run("recall", "nova", "qwzxqwzx").out
    assert harbor.git("status", "--porcelain") == ""


def test_the_command_keeps_agents_apart(harbor: Harbor) -> None:
    harbor.run("recall", "nova", "menu", ORGVAULT_AGENT="nova")
    harbor.run("recall", "nova", "menu", code=4, ORGVAULT_AGENT="juno")
    harbor.run("recall", "nova", "menu", "-k", "0", code=2)
