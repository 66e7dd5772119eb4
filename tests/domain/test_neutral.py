# ruff: noqa: RUF001 - look-alikes are what is tested
"""Nothing in a text opens or closes an element of a prompt."""

import re
from time import perf_counter
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgvault.domain.neutral import NAMES, neutral

OPENING = re.compile(rf"(?i)[<≮]\s*/?\s*(?:{'|'.join(NAMES)})(?![\w.:-])")
PIECES = st.sampled_from(
    [
        "<",
        "</",
        "< / ",
        "＜",
        "‹",
        "≮",
        "task",
        "TASK>",
        "ｔａｓｋ",
        "tаsk",
        "ⓣⓐⓢⓚ",
        "\u200b",
        "\u202e",
        "\u0301",
        "embed",
        "memory",
        "state ",
        "capability name=x>",
        "guidelines",
        ">",
        "/",
        "\\",
        "-",
        ".",
        "_",
        "a",
        " ",
        "\n",
        "\0",
        "&lt;",
        "\ufeff",
        "ſ",
    ]
)
TEXTS = st.lists(PIECES, max_size=20).map("".join) | st.text(max_size=60)


@pytest.mark.parametrize(
    "text",
    [
        "<task>",
        "</task >",
        "< / TASK",
        "<task",
        "＜task＞",
        "﹤task",
        "‹embed path='x'",
        "<ｔａｓｋ>",
        "<tаsk>",
        "<ΤΑSΚ>",
        "<ta\u200bsk>",
        "<\u3164/task>",
        "</\u115ftask>",
        "<\uffa0/ta\u1160sk>",
        "<\u202etask>",
        "<t\u0301ask>",
        "<ⓣⓐⓢⓚ>",
        "<\0state>",
        "<ſtate>",
        "<\nmemory\n>",
        "<\\/guidelines>",
        "<capability/>",
        "<task.",
    ],
)
def test_what_would_open_an_element_is_harmless_and_counted(text: str) -> None:
    harmless, count = neutral(f"a {text} b")
    assert (harmless, count) == (f"a &lt;{text[1:]} b", 1)


@pytest.mark.parametrize(
    "text",
    [
        "a < b and task",
        "<tasks>",
        "<task-list>",
        "<x-task>",
        "<task_1>",
        "<b>task</b>",
        "task>",
        "&lt;task>",
        "<my task>",
        "<<",
        "1 < 2",
        "<https://task>",
        "‹mot›",
    ],
)
def test_all_else_stays(text: str) -> None:
    assert neutral(text) == (text, 0)


@settings(max_examples=2000, deadline=None)
@given(TEXTS)
def test_nothing_opens_after_it_and_once_is_enough(text: str) -> None:
    harmless, count = neutral(text)
    assert not OPENING.search(harmless)
    assert not OPENING.search(normalize("NFKC", harmless))
    assert neutral(harmless) == (harmless, 0)
    brackets = len(re.findall(r"&lt;", harmless)) - len(re.findall(r"&lt;", text))
    assert brackets == count
    assert len(harmless) == len(text) + 3 * count


@pytest.mark.parametrize("text", ["<", "< ", "‹—", "<t\u200b", "<" + " " * 9, "</"])
def test_its_time_grows_with_the_text_alone(text: str) -> None:
    long = text * (200_000 // len(text))
    began = perf_counter()
    assert neutral(long) == (long, 0)
    neutral("<" + " " * 200_000)
    assert perf_counter() - began < 10
