# ruff: noqa: RUF001 - look-alikes and other scripts are what is tested
"""How a text becomes terms: folding, splitting, 4-grams, stems, dates."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgvault.domain.dates import dates
from orgvault.domain.ranking import FORMULA, asked, terms
from orgvault.domain.stemming import stem
from orgvault.domain.words import grams, telling, words

ANY_TEXT = st.text(st.characters(), max_size=60)  # lone surrogates too


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The build, again: build.py!", ["the", "build", "again", "build", "py"]),
        ("ÉCOLE ﬁne Straße", ["ecole", "fine", "strasse"]),
        ("café cafe\u0301", ["cafe", "cafe"]),
        ("core_budget_tokens", ["core", "budget", "tokens"]),
        ("Łódź DIŞ İstanbul", ["lodz", "dis", "istanbul"]),
        ("Ёж и йод", ["еж", "и", "иод"]),
        ("كِتَابٌ أحمد", ["كتاب", "احمد"]),
        ("می\u200cروم", ["ميروم"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("１２ ٣٤", ["12", "34"]),
        ("我喜欢猫", ["我喜", "喜欢", "欢猫"]),
        ("猫 Python版本", ["猫", "python", "版本"]),
        ("がか", ["がか"]),
        ("한국어", ["한국", "국어"]),
        ("ภาษาไทย", ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย"]),
        ("2023年5月", ["2023", "年", "5", "月"]),
        ("… — 🙂", []),
    ],
)
def test_words_are_folded_and_split(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_grams_mark_the_edges_of_words_and_pairs_give_their_characters() -> None:
    assert grams(["build", "a"]) == ["#_bui", "#buil", "#uild", "#ild_", "#_a_"]
    assert grams(["喜欢"]) == ["#喜", "#欢"]


def test_only_the_words_that_say_something_are_asked_about() -> None:
    assert telling(words("What is it that I build?")) == ["build"]
    assert telling(words("What is it?")) == ["what", "is", "it"]


@pytest.mark.parametrize(
    "forms",
    [
        "install installs installed installing",
        "story stories",
        "box boxes",
        "stop stopped stopping",
        "make makes making",
        "quick quickly",
        "сборка сборку сборки сборкои сборках",
        "новыи новая новое новых новыми",
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize("word", ["bus", "thing", "red", "is", "1990s", "猫", "да", "это", "हिन्दी"])
def test_what_has_no_ending_stays(word: str) -> None:
    assert stem(word) == word


DAY = ["@2023", "@-05", "@2023-05", "@-05-08", "@2023-05-08"]


@pytest.mark.parametrize(
    "text",
    [
        "8 May 2023", "May 8, 2023", "the 8th of May, 2023", "May 8th 2023", "2023-05-08",
        "2023/05/08", "08.05.2023", "8. Mai 2023", "8 de mayo de 2023", "8 мая 2023 года",
        "2023年5月8日", "2023년 5월 8일", "8 mai 2023",
    ],
)  # fmt: skip
def test_a_date_is_one_however_it_is_written(text: str) -> None:
    assert set(dates(words(text))) == set(DAY)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in July 2023", {"@2023", "@-07", "@2023-07"}),
        ("in May", {"@-05"}),
        ("on May 8", {"@-05", "@-05-08"}),
        ("it may, on the march", set()),
        ("since 2019", {"@2019"}),
        ("2023-13-40", {"@2023"}),
        ("12/31/2023", {"@2023", "@-12", "@2023-12", "@-12-31", "@2023-12-31"}),
        ("99 99 2023", {"@2023"}),
        ("run 0412 took 3 s", set()),
    ],
)
def test_what_a_date_leaves_open_and_what_is_none(text: str, expected: set[str]) -> None:
    assert set(dates(words(text))) == expected


@given(ANY_TEXT)
def test_any_text_becomes_terms_that_can_be_stored_and_always_the_same(text: str) -> None:
    found = terms(text)
    assert found == terms(text)
    assert found.words + found.grams == found.counts.total()
    for term in [*found.counts, *asked(text)]:
        assert term
        assert term.encode()
        assert not term.isspace()


@given(ANY_TEXT)
def test_case_does_not_matter_and_folding_is_stable(text: str) -> None:
    split = words(text)
    assert words(text.casefold()) == split
    assert words(" ".join(split)) == split


@given(ANY_TEXT)
def test_a_text_holds_whatever_is_asked_in_its_own_words(text: str) -> None:
    assert set(asked(text)) <= terms(text).counts.keys()


def test_the_number_of_the_formula_counts_up_with_every_change_of_what_terms_are() -> None:
    text = "Rebuilding Sitebau сборкой 我喜欢猫 on 8 May 2023"
    digest = sha256(" ".join(terms(text).counts).encode()).hexdigest()[:12]
    assert (FORMULA, digest) == (1, "21731c7d02ab")
