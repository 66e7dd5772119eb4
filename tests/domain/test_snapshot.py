"""State: keys in order, what is empty left out, and an intro that explains just what is there."""

import json

import pytest

from orgvault.domain.offer import NOTES, RECORDS, SCRIPTS
from orgvault.domain.snapshot import CORE_KEYS, ConnectorKey, Snapshot, harmless_json
from tests.prompts import AT, VALUE, masked, section, sources, state_of

FULL = Snapshot(
    utc_now=AT,
    max_tool_calls=60,
    about="A small guild.",
    description="We repair boats.",
    members=({"name": "Nova", "focus": "Builds"}, {"name": "Atlas"}),
    operators=({"name": "sam", "role": "owner"},),
    history=({"seq": 7, "sentBy": "Atlas", "at": AT, "text": "Done."},),
    collections=({"name": "boats", "purpose": "All boats", "columns": ["name"]},),
    scripts=({"name": "tides", "description": "High water"},),
    environment=({"name": "SITE_DEPLOY_KEY", "description": "May publish"},),
    repositories=({"name": "site", "path": "~/code/site", "default_branch": "main"},),
    connectors=(ConnectorKey("git", "The key `git` shows your branches.", {"branch": "main"}),),
)
GROUP = {
    "about": "`group.about`",
    "description": "`group.description`",
    "members": "`group.members`",
    "operators": "`group.operators`",
    "history": "`group.history`",
}
LISTS = ("collections", "scripts", "environment", "repositories")


def state(snapshot: Snapshot, *tools: str) -> str:
    return section(sources(snapshot=snapshot, tools=tools), "state")


def without(**empty: object) -> Snapshot:
    return Snapshot(**{**vars(FULL), **empty})


def test_keys_stand_in_their_order() -> None:
    found = state_of(state(FULL))
    assert list(found) == [
        "utc_date", "max_tool_calls", "group", *LISTS, "git", "utc_now"
    ]  # fmt: skip
    assert list(found["group"]) == list(GROUP)
    assert found["utc_date"] == "Friday, 2026-11-20"
    assert found["utc_now"] == AT
    assert found["git"] == {"branch": "main"}


def test_it_is_indented_and_not_escaped_for_ascii() -> None:
    text = state(without(about="Fähre"))
    assert '\n  "group": {\n    "about": "Fähre",\n' in text


def test_a_bare_one_has_three_keys_and_explains_no_more() -> None:
    text = state(Snapshot(utc_now=AT, max_tool_calls=40))
    assert list(state_of(text)) == ["utc_date", "max_tool_calls", "utc_now"]
    intro = text.partition("\nState:\n")[0]
    assert intro.count("\n- ") == 3
    assert "read-only snapshot" in intro
    assert "note_find" not in intro


@pytest.mark.parametrize("key", GROUP)
def test_what_the_group_does_not_have_is_neither_there_nor_explained(key: str) -> None:
    text = state(without(**{key: type(getattr(FULL, key))()}))
    assert key not in state_of(text)["group"]
    assert GROUP[key] not in text
    assert all(GROUP[other] in text for other in GROUP if other != key)


@pytest.mark.parametrize("key", LISTS)
def test_an_empty_list_is_neither_there_nor_explained(key: str) -> None:
    text = state(without(**{key: ()}))
    assert key not in state_of(text)
    assert f"- `{key}`" not in text
    assert f"- `{key}`" in state(FULL)


def test_a_group_of_nothing_is_left_out() -> None:
    text = state(Snapshot(utc_now=AT, max_tool_calls=40, scripts=FULL.scripts))
    assert "group" not in state_of(text)
    assert "group." not in text


def test_a_connector_speaks_only_with_its_key() -> None:
    assert "- The key `git` shows your branches." in state(FULL)
    assert "your branches" not in state(without(connectors=()))
    missing = ConnectorKey("git", "", {"unavailable": "it took too long"})
    assert state_of(state(without(connectors=(missing,))))["git"] == missing.value


@pytest.mark.parametrize("key", sorted(CORE_KEYS))
def test_a_connector_takes_no_core_key(key: str) -> None:
    posing = ConnectorKey(key, "I pose.", "mine")
    text = state(without(connectors=(posing,)))
    assert text == state(without(connectors=()))


@pytest.mark.parametrize(
    ("tools", "said", "never"),
    [
        ((), "", ("note_find", "record_list", "script_list", "first call")),
        (NOTES, "first call of `note_find`.", ("record_list", "script_list")),
        (RECORDS, "first call of `record_list`.", ("note_find", "script_list")),
        (
            (*NOTES, *RECORDS, *SCRIPTS),
            "first call of `note_find`, `record_list` or `script_list`.",
            (),
        ),
    ],
)
def test_only_the_listing_tools_of_the_run_are_named(
    tools: tuple[str, ...], said: str, never: tuple[str, ...]
) -> None:
    text = state(without(scripts=()), *tools)
    assert said in text
    assert [one for one in never if one in text] == []
    assert ("search them with `note_find`" in text) is ("note_find" in tools)


@pytest.mark.parametrize(("count", "shown"), [(1, 1), (50, 50), (51, 51), (70, 51)])
def test_fifty_collections_are_shown_at_most(count: int, shown: int) -> None:
    many = tuple({"name": f"c{number}"} for number in range(count))
    found = state_of(state(without(collections=many)))["collections"]
    assert len(found) == shown
    assert (found[-1] == {"truncated": True}) is (count > 50)


def test_a_list_that_was_cut_off_before_stays_as_it_is() -> None:
    cut = (*({"name": f"c{number}"} for number in range(50)), {"truncated": True})
    assert state_of(state(without(collections=cut)))["collections"] == list(cut)


def test_texts_and_keys_are_masked_before_they_are_written() -> None:
    value = 'a"secret\\of"41'
    text, _ = harmless_json(
        {value: [value, {"x": f"{value}é"}]}, lambda one: one.replace(value, "*")
    )
    assert json.loads(text) == {"*": ["*", {"x": "*é"}]}
    assert VALUE not in state(without(environment=({"name": VALUE, "description": VALUE},)))


def test_tags_are_made_harmless_and_counted() -> None:
    text, count = harmless_json({"</state>": ["<task>", "< memory>", "a < b"]}, masked)
    assert count == 3
    assert "<" not in text
    assert json.loads(text) == {"&lt;/state>": ["&lt;task>", "&lt; memory>", "a < b"]}


def test_numbers_that_json_does_not_have_are_texts() -> None:
    text, _ = harmless_json([float("nan"), float("inf"), 1.5, None, True], masked)
    assert json.loads(text) == ["nan", "inf", 1.5, None, True]
