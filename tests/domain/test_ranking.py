# ruff: noqa: RUF001 - look-alikes and other scripts are what is tested
"""The one formula of recall."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgvault.domain.ranking import Shelf, rank

TEXTS = st.lists(st.text(max_size=40), max_size=8)


def best(query: str, *texts: str, apart: bool = True) -> list[int]:
    """The places of the texts that fit, best first; `apart` keeps them from being neighbours."""
    shelf = Shelf(((text, "") for text in texts), apart=apart)
    return [one.key for one in rank(query, shelf)]


def test_the_text_with_the_rarer_word_comes_first() -> None:
    texts = ["I build the site.", "I build the menu.", "I build the index.", "I build nothing."]
    assert best("build the menu", *texts)[0] == 1


def test_what_shares_nothing_is_not_found() -> None:
    assert best("qwzx", "I build the site.") == []
    assert best("", "I build the site.") == []
    assert best("build") == []


def test_short_lines_beat_long_ones_with_the_same_match() -> None:
    long = "The menu " + "is one of the many things that a site can have " * 3
    assert best("menu", long, "The menu jumps.") == [1, 0]


@pytest.mark.parametrize(
    ("query", "claim"),
    [
        ("установленные зависимости", "Перед сборкой сайта я устанавливаю зависимость."),
        ("сборка", "Я теряю ход, когда начинаю сборку сайта без зависимостей."),
        ("Abhängigkeiten installieren", "Ich installiere erst jede Abhängigkeit."),
        ("Sitebau", "Der Bau der Website bricht ab."),
        ("dependency", "I install the dependencies first."),
        ("猫", "我家里有一只猫。"),
        ("ビルド", "サイトをビルドする前に。"),
        ("의존성", "먼저 의존성을 설치한다."),
        ("εγκατασταση", "Πρώτα κάνω την εγκατάσταση."),
        ("kurulumu", "Önce kurulum yaparım."),
    ],
)
def test_r16_another_form_of_a_word_is_found_in_any_language(query: str, claim: str) -> None:
    others = ["I keep the original picture.", "Kim wants a sentence.", "Das Bild ist zu breit."]
    assert best(query, *others, claim)[0] == 3


def test_a_slip_of_the_pen_is_forgiven() -> None:
    texts = ["Sam reads on the phone.", "I install the dependencies first."]
    assert best("dependancies", *texts) == [1]


def test_a_date_is_found_however_it_is_written() -> None:
    shelf = Shelf([("I deployed.", "2026-11-20"), ("I deployed.", "2026-10-20")], apart=True)
    assert rank("deployed in October 2026", shelf)[0].key == 1
    assert rank("deployed on 20 November", shelf)[0].key == 0


def test_a_short_line_borrows_from_its_neighbours_and_stays_behind_them() -> None:
    texts = ["Sun.", "Rain.", "The pump leaks.", "We tightened it.", "Wind.", "Snow.", "Fog."]
    assert best("pump", *texts, apart=False) == [2, 1, 3, 0, 4]
    assert best("pump", *texts) == [2]


def test_a_long_passage_speaks_for_itself() -> None:
    long = " ".join(f"word{number}" for number in range(3000))
    shelf = Shelf([("pump", ""), (long, ""), ("Rain.", "")])
    borrowed = {one.key: one.score for one in rank("pump", shelf)}
    assert borrowed[2] > 10 * borrowed[1]


@given(TEXTS, st.text(max_size=40))
def test_any_text_is_ranked_and_always_the_same(texts: list[str], query: str) -> None:
    shelf = Shelf((text, "") for text in texts)
    found = rank(query, shelf)
    assert found == rank(query, Shelf((text, "") for text in texts))
    assert len({one.key for one in found}) == len(found) <= len(texts)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(one.score > 0 for one in found)


@given(TEXTS, st.text(max_size=40))
def test_the_order_of_the_words_in_a_query_does_not_matter(texts: list[str], query: str) -> None:
    def scores(asked: str) -> dict[int, float]:
        shelf = Shelf(((text, "") for text in texts), apart=True)
        return {one.key: round(one.score, 6) for one in rank(asked, shelf)}

    words = [word for word in query.split() if word.isascii() and word.isalpha()]
    assert scores(" ".join(words)) == scores(" ".join(reversed(words)))
