"""The question for a change: golden, closed to what stands in it; its answer is read leniently."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgvault.domain.claim import ClaimKind, new_claim, seen_again
from orgvault.domain.proposal_prompt import (
    NONE,
    SCHEMA,
    Change,
    OwnText,
    Wish,
    bounded,
    prompt,
    read_change,
    stated,
)
from tests.provider import question

GOLDEN = Path(__file__).parents[1] / "golden" / "proposal_prompt.txt"
FILE = ".agents/org/org.yaml"
SKILL = ".agents/skills/nova/build-site.md"
TEXT = "I lose a turn when I run the build before installing its dependencies."
CLAIM = seen_again(
    new_claim(
        "c-00000001", "nova", ClaimKind.FRICTION, TEXT, "run-1", "2026-11-20T09:00:00Z",
        "reflection",
    ),
    "run-9", "2026-11-27T16:40:51Z", counted=False,
)  # fmt: skip
OWN = (
    OwnText(FILE, "goal", ("A site that builds on any machine.",)),
    OwnText(FILE, "principles", ("One change at a time.", "What I have not run is not done.")),
    OwnText(SKILL, "", ("# Build\n\n```sh\nmake build\n```\n\nAnswer with one JSON object.\n",)),
)
WISH = Wish(CLAIM, (question().episode,), OWN)
GOOD = {
    "path": FILE, "key": "principles", "find": None, "replace": "I install, then I build.",
    "rationale": "I keep losing a turn to this. A principle would remind me.",
}  # fmt: skip
CHANGE = Change(
    path=FILE, key="principles", replace=str(GOOD["replace"]), rationale=str(GOOD["rationale"])
)


def test_the_prompt_is_the_golden_one() -> None:
    """`UPDATE_GOLDEN=1 pytest …` writes it anew."""
    shown = prompt(WISH)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(shown, "utf-8")
    assert shown == GOLDEN.read_text("utf-8")


def test_no_change_is_offered_and_nothing_presses_for_one() -> None:
    words = prompt(WISH)
    assert NONE in words
    assert read_change(NONE) == Change()
    assert not re.search(r"(?i)\b(?:must|always|be sure|try to|at least one|important)\b", words)


@given(st.text(max_size=200), st.text(max_size=200))
def test_nothing_in_the_data_closes_a_fence(words: str, more: str) -> None:
    own = (OwnText(SKILL, "", (f"```\n{words}\n````\n{more}",)),)
    shown = prompt(replace(WISH, own=own, claim=replace(CLAIM, text=f"{more} ```")))
    for fence, body in re.findall(r"(?ms)^(`{3,})data\n(.*?)\n\1$", shown):
        assert fence not in body
    assert shown.count("data\n") - f"{words}{more}{more}".count("data\n") == 3


def test_what_is_shown_is_bounded() -> None:
    texts = [OwnText(f"{n}.md", "", ("x" * 100,)) for n in range(10)]
    texts.insert(1, OwnText("long.md", "", ("x" * 10_000,)))
    assert [one.path for one in bounded(texts, 350)] == ["0.md", "1.md", "2.md"]


def test_a_block_that_may_not_be_changed_offers_no_absent_key() -> None:
    assert "Without a text yet" in prompt(WISH)
    assert "Without a text yet" not in prompt(replace(WISH, may_add=False, own=OWN[2:]))


# ── the answer ──────────────────────────────────────────────────────────────────────────────────

SAID = json.dumps(GOOD)


@pytest.mark.parametrize(
    "answer",
    [
        SAID,
        f"```json\n{SAID}\n```",
        f"Here it is:\n\n{SAID}\n\nI hope that helps!",
        f'<think>{{"path": 1}}</think>{SAID}',
        json.dumps([{"type": "text", "text": SAID}]),
        json.dumps(SAID),
        json.dumps({"change": GOOD}),
        json.dumps([GOOD]),
        SAID.replace('"}', '",}'),
        json.dumps({key.upper(): value for key, value in GOOD.items()}),
        json.dumps({**GOOD, "find": ""}),
        json.dumps({**GOOD, "path": f"./{FILE}", "key": "agents.nova.principles"}),
        json.dumps({**GOOD, "path": None}),  # the key says which file
        f'{{"path": null}} no, rather: {SAID}',
    ],
)
def test_many_ways_of_saying_the_same(answer: str) -> None:
    assert read_change(answer) == CHANGE


@pytest.mark.parametrize(
    "answer",
    ["", "no", "{", SAID[:-20], "[]", "[1, 2]", '{"lessons": []}', "null", "<think>" + SAID],
)
def test_what_cannot_be_read_is_none(answer: str) -> None:
    assert read_change(answer) is None


@pytest.mark.parametrize(
    "answer", [NONE, '{"path": "null"}', '{"path": 7, "replace": []}', '{"path": {}, "key": 3}']
)
def test_no_path_is_no_change(answer: str) -> None:
    assert read_change(answer) == Change()


@given(st.text(max_size=300) | st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["path", "key", "find", "replace", "type", "text", "content"]), inner
    ), max_leaves=8,
).map(json.dumps))  # fmt: skip
def test_any_answer_at_all_is_read_or_not(answer: str) -> None:
    assert isinstance(read_change(answer), Change | None)


def test_a_long_answer_and_a_deep_one_are_read_or_not() -> None:
    assert read_change("[" * 100_000) is None
    assert read_change("x" * 300_000) is None
    assert read_change('{"a": ' * 2_000 + SAID + "}" * 2_000) is None


def test_lines_are_of_one_kind() -> None:
    change = read_change(json.dumps({**GOOD, "find": "a\r\nb\rc", "replace": "d\r\n"}))
    assert change is not None
    assert (change.find, change.replace) == ("a\nb\nc", "d\n")


def test_the_schema_takes_what_is_asked_for_in_the_common_subset() -> None:
    jsonschema.Draft202012Validator.check_schema(dict(SCHEMA))
    for answer in (SAID, NONE):
        jsonschema.validate(json.loads(answer), dict(SCHEMA))
    properties = SCHEMA["properties"]
    assert isinstance(properties, Mapping)
    assert SCHEMA["required"] == list(properties)
    assert SCHEMA["additionalProperties"] is False


# ── without a model ─────────────────────────────────────────────────────────────────────────────


def test_by_rule_one_principle_states_the_claim() -> None:
    change = stated(WISH)
    assert (change.path, change.key, change.find, change.replace) == (FILE, "principles", "", TEXT)
    assert change.rationale.startswith("I have seen this in 2 of my runs")


def test_by_rule_there_is_nothing_to_add_twice_or_where_it_may_not_be() -> None:
    there = OwnText(FILE, "principles", ("One change at a time.", TEXT))
    assert stated(replace(WISH, own=(there,))) == Change()
    assert stated(replace(WISH, may_add=False)) == Change()
