"""Which tools a run offers: the table of the tool broker, row by row."""

import pytest

from orgvault.domain.offer import offered, parts_held
from orgvault.domain.run import DIRECT, GROUP, ORIGINS, SCHEDULE
from tests.prompts import EVERYTHING, an_agent

MEMORY = ("memory_recall", "memory_list", "memory_episodes")
NOTES = ("note_find", "note_get", "note_write", "note_delete")
RECORDS = ("record_list", "record_search", "record_get", "record_write", "record_delete")
SCRIPTS = ("script_list", "script_get", "script_write", "script_run", "script_delete")
ROUTINES = tuple(
    f"schedule_{verb}" for verb in ("create", "list", "get", "update", "pause", "delete")
)
ALWAYS = ("group_post", "group_read", "status_post", "report_issue")


def test_all_of_it_in_the_order_of_the_table() -> None:
    found = offered(an_agent(*EVERYTHING), DIRECT, reads_collections=True, own_tools=["tides"])
    assert found == (
        *MEMORY, "memory_write", *NOTES, *RECORDS, *SCRIPTS, "tides", *ROUTINES, *ALWAYS
    )  # fmt: skip


@pytest.mark.parametrize("origin", ORIGINS)
def test_what_a_bare_agent_is_offered(origin: str) -> None:
    found = offered(an_agent(), origin, reads_collections=False, own_tools=["tides"])
    assert found == (*(() if origin == SCHEDULE else ROUTINES), *ALWAYS)


@pytest.mark.parametrize(
    ("capabilities", "added"),
    [
        (["memory"], MEMORY),
        (["memory", "memory_write"], (*MEMORY, "memory_write")),
        (["memory_write"], ()),
        (["notes"], NOTES),
        (["scripts"], (*SCRIPTS, "tides")),
        (["browser", "coding"], ()),
    ],
)
def test_each_capability_adds_its_own(capabilities: list[str], added: tuple[str, ...]) -> None:
    agent = an_agent(*capabilities)
    found = offered(agent, SCHEDULE, reads_collections=False, own_tools=["tides"])
    assert found == (*added, *ALWAYS)


def test_record_tools_need_a_collection_and_routines_a_run_that_no_routine_woke() -> None:
    assert offered(an_agent(), SCHEDULE, reads_collections=True) == (*RECORDS, *ALWAYS)
    assert offered(an_agent(), GROUP, reads_collections=False) == (*ROUTINES, *ALWAYS)


def test_a_script_takes_the_name_of_no_other_tool() -> None:
    agent = an_agent("scripts")
    found = offered(agent, DIRECT, reads_collections=False, own_tools=["group_post", "record_get"])
    assert len(set(found)) == len(found)
    assert "record_get" not in found


@pytest.mark.parametrize(
    ("capabilities", "parts"),
    [
        ([], "no_coding no_memory"),
        (EVERYTHING, "notes scripts browser coding memory memory_write"),
        (["memory_write"], "no_coding no_memory"),
        (["memory", "coding"], "memory coding"),
    ],
)
def test_the_parts_of_the_template_follow_the_tools(capabilities: list[str], parts: str) -> None:
    agent = an_agent(*capabilities)
    tools = offered(agent, DIRECT, reads_collections=False)
    assert parts_held(agent, tools) == set(parts.split())


def test_a_part_needs_its_tool_as_well() -> None:
    assert parts_held(an_agent(*EVERYTHING), ALWAYS) == {"browser", "coding", "memory"}
