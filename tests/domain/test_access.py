"""Who may do what: the columns of the table, grants of a collection, and the refusal's words."""

import pytest

from orgvault.domain.access import TABLE, Actor, allowed, may_use, who_may
from orgvault.domain.roster import Agent

OWNER, OPERATOR = Actor("owner", "sam"), Actor("operator", "kim")
NOVA, ATLAS = Actor("agent", "nova"), Actor("agent", "atlas")


@pytest.mark.parametrize(
    ("verb", "may"),
    [
        ("read", {"sam", "kim", "nova", "atlas"}),
        ("correct", {"sam", "atlas"}),
        ("dispatch", {"sam"}),
        ("task", {"sam", "kim"}),
        ("post", {"sam", "kim", "nova"}),
        ("a verb of tomorrow", {"sam"}),
    ],
)
def test_an_agents_row_says_who_may(verb: str, may: set[str]) -> None:
    nova = Agent(id="nova", name="Nova", lead="atlas")
    actors = (OWNER, OPERATOR, NOVA, ATLAS, Actor("agent", "zoe"))
    assert {one.name for one in actors if allowed(one, verb, nova)} == may


def test_a_lead_may_be_a_person_and_without_an_agent_nobody_leads() -> None:
    assert allowed(OPERATOR, "correct", Agent(id="nova", name="Nova", lead="kim"))
    assert not allowed(OPERATOR, "correct", Agent(id="nova", name="Nova"))
    assert not allowed(ATLAS, "correct", None)
    assert allowed(OWNER, "shape", None)


def test_what_may_be_written_may_be_read_and_people_may_both() -> None:
    access = {"nova": "write", "atlas": "read"}
    assert [may_use(one, "write", access) for one in (OWNER, NOVA, ATLAS)] == [True, True, False]
    assert [may_use(one, "read", access) for one in (OPERATOR, NOVA, ATLAS)] == [True] * 3
    assert not may_use(Actor("agent", "zoe"), "read", access)


def test_the_refusal_names_all_who_may_in_one_order() -> None:
    assert who_may("roster") == (
        "the owner, an operator, the agent's lead, the agent itself, any agent"
    )
    assert who_may("correct") == "the owner, the agent's lead"
    assert who_may("a verb of tomorrow") == "the owner"
    assert all(who_may(verb) for verb in TABLE)
