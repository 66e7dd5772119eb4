"""Ids: what they are made of, and what may be one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgvault.domain.ids import (
    AGENT_ID,
    ROW_ID,
    RUN_ID,
    agent_id_fault,
    derived_id,
    derived_wake_id,
    file_name,
    is_claim_id,
    is_run_id,
    is_started_run,
    is_wake_id,
    random_id,
    random_row_id,
)


def test_random_bytes_become_characters_that_nobody_mistakes() -> None:
    assert random_id("t", bytes(5)) == "t-00000000"
    assert random_id("t", b"\xff" * 9) == "t-zzzzzzzz"
    assert random_row_id("e", b"\xff" * 10) == f"e-{'z' * 16}"


@given(st.binary(min_size=10, max_size=10))
def test_whatever_the_bytes_the_forms_hold(randomness: bytes) -> None:
    assert is_claim_id(random_id("c", randomness))
    assert is_wake_id(random_id("w", randomness))
    assert is_started_run(random_id("run", randomness))
    assert re.fullmatch(ROW_ID, random_row_id("e", randomness))


def test_a_derived_id_is_the_same_in_every_clone_and_another_for_other_parts() -> None:
    assert derived_id("e", "nova", "run-1") == derived_id("e", "nova", "run-1")
    assert len({derived_id("e", *parts) for parts in (("a", "bc"), ("ab", "c"), ("abc",))}) == 3
    assert re.fullmatch(ROW_ID, derived_id("e", "nova", "run-1"))
    assert is_wake_id(derived_wake_id("digest", "2026-11-20T07:45:00Z"))
    assert derived_wake_id("digest", "a") != derived_wake_id("digest", "b")


@pytest.mark.parametrize(
    ("text", "run", "started", "wake", "claim"),
    [
        ("run-7f3k2q9d", True, True, False, False),
        ("w-7f3k2q9d", True, False, True, False),
        ("c-7f3k2q9d", True, False, False, True),
        ("c-7f3k2q9l", True, False, False, False),
        ("run-7f3k2q9d\n", False, False, False, False),
        ("-x", False, False, False, False),
    ],
)
def test_each_id_is_known_by_its_form(
    text: str, *, run: bool, started: bool, wake: bool, claim: bool
) -> None:
    assert (is_run_id(text), is_started_run(text)) == (run, started)
    assert (is_wake_id(text), is_claim_id(text)) == (wake, claim)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("nova", ""),
        ("Nova", "is not an agent id"),
        ("n" * 33, "is not an agent id"),
        ("con", "is a device name"),
        ("list", "is a verb of the command line"),
    ],
)
def test_why_a_text_is_no_agents_id(text: str, fault: str) -> None:
    assert fault in agent_id_fault(text)
    assert bool(fault) == bool(agent_id_fault(text))
    assert re.fullmatch(AGENT_ID, "nova")


@given(st.from_regex(RUN_ID, fullmatch=True), st.from_regex(RUN_ID, fullmatch=True))
def test_a_run_s_file_name_is_its_own_and_every_file_system_takes_it(one: str, other: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_%-]+", file_name(one))
    assert (file_name(one) == file_name(other)) == (one == other)
    assert file_name("a:b.c") == "a%3Ab%2Ec"
