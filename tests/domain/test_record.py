"""Records: every violation of a plain value, with where it is and what is allowed."""

from dataclasses import field
from typing import Any

import pytest

from orgvault.domain.problem import Problem
from orgvault.domain.record import Says, plain, read, says, unsound
from orgvault.domain.written import form
from orgvault.domain.yaml_record import read_document
from orgvault.domain.yaml_tree import compose
from orgvault.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """A record with a field of every kind."""

    name: str = says("Its name.", max_chars=5)
    width: float = says("In metres.", default=1.0, minimum=0.5)
    books: int = says("How many.", default=0, maximum=9)
    open: bool = says("Whether it has no door.", default=True)
    labels: dict[str, str] = says("By colour.", default={}, key_pattern="[a-z]+")


def wrong(**values: object) -> list[tuple[object, str, str]]:
    found, violations = read(Shelf, {"name": "a", **values})
    assert found is None
    return [(one.path, one.what, one.do) for one in violations]


def test_a_sound_record_reads_back_and_an_unsound_one_says_why() -> None:
    made = Shelf(name="a", width=2.0, labels={"red": "x"})
    assert unsound(made) == []
    assert read(Shelf, plain(made)) == (made, [])
    assert [one.what for one in unsound(Shelf(name="longer"))] == [
        "6 characters, at most 5 are allowed"
    ]


@pytest.mark.parametrize(
    ("values", "path", "what"),
    [
        ({"width": float("nan")}, ("width",), "nan is not a finite number"),
        ({"width": float("inf")}, ("width",), "inf is not a finite number"),
        ({"width": 0}, ("width",), "0.0 is below the limit of 0.5"),
        ({"books": 10}, ("books",), "10 is above the limit of 9"),
        ({"books": True}, ("books",), "expected a whole number, found true"),
        ({"labels": {"Red": "x"}}, ("labels", "Red"), "the key `Red` does not match [a-z]+"),
        ({"labels": {1: "x"}}, ("labels", "1"), "the key 1 is not text"),
        ({"labels": []}, ("labels",), "expected a mapping, found a list"),
        ({"nmae": "x"}, ("nmae",), "unknown key `nmae`"),
        ({7: "x"}, ("7",), "the key 7 is not text"),
    ],
)
def test_what_is_wrong_and_where(values: dict[Any, Any], path: object, what: str) -> None:
    found, violations = read(Shelf, {"name": "a", **values})
    assert found is None
    assert [(one.path, one.what) for one in violations] == [(path, what)]


def test_every_violation_is_told_in_one_go() -> None:
    assert len(wrong(width=float("nan"), books=10, labels={"R": 1}, x=1)) == 5


def test_limits_are_told_in_words() -> None:
    def told(line: str) -> Problem:
        found, (problem,) = read_document(Shelf, compose(f"name: a\n{line}\n", "x.yaml"))
        assert found is None
        return problem

    assert told("width: 0.1").do == "write 0.5 or more"
    assert told("books: 10").do == "write 9 or less"
    assert told("labels: {Red: x}").do == "rename it"


@dataclass(frozen=True, kw_only=True)
class Flags:
    """A record of nothing but a switch and a number without bounds."""

    on: bool = says("Whether.")
    share: float = says("How much.", default=0.0)


def test_the_one_written_form_knows_switches_and_numbers() -> None:
    found = form(Flags)
    assert found is not None
    assert (found.keys, found.texts, found.floats) == (("on", "share"), (), frozenset({"share"}))
    assert found.pattern.startswith("(?:true|false),")


def upper(text: str) -> str:
    return text.upper()


@pytest.mark.parametrize(
    ("kind", "about"),
    [
        (dict[str, str], Says("A mapping.")),
        (int, Says("Bounded on both sides.", minimum=1, maximum=3)),
        (int, Says("Bounded below.", minimum=2)),
        (str, Says("With a form of its own.", normal=upper)),
        (tuple[Flags, ...], Says("Several records.")),
    ],
)
def test_what_a_pattern_cannot_say_is_left_to_the_strict_reader(kind: object, about: Says) -> None:
    record = type(
        "Made", (), {"__annotations__": {"one": kind}, "one": field(metadata={"says": about})}
    )
    assert form(dataclass(frozen=True)(record)) is None


def test_a_text_that_is_too_long_is_to_be_shortened() -> None:
    found, (problem,) = read_document(Shelf, compose("name: longer\n", "x.yaml"))
    assert found is None
    assert (problem.line, problem.do) == (1, "shorten it")
