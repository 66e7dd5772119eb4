"""Reading a model's answer."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgvault.domain.answer import (
    ANSWER_CHARS,
    READ_AT_MOST,
    RawOperation,
    read_answer,
    read_object,
)

ADD = {
    "why": "It failed twice.",
    "evidence": "npm ERR! missing script: build",
    "op": "add",
    "claim": None,
    "claim_starts": "",
    "kind": "friction",
    "text": "I lose a turn whenever I build before installing.",
}
READ_ADD = RawOperation(
    why="It failed twice.",
    evidence="npm ERR! missing script: build",
    op="add",
    kind="friction",
    text="I lose a turn whenever I build before installing.",
)
UPDATE = ADD | {"op": "update", "claim": 2, "claim_starts": "I lose a turn"}


def answer(*operations: object) -> str:
    return json.dumps({"operations": operations})


def blocks(text: str) -> str:
    return json.dumps([{"type": "thinking", "thinking": "[]"}, {"type": "text", "text": text}])


@pytest.mark.parametrize(
    "text",
    [
        answer(ADD),
        json.dumps([ADD]),
        json.dumps(ADD),
        json.dumps({"operations": ADD}),
        f"```json\n{answer(ADD)}\n```",
        f"```\n{json.dumps([ADD], indent=2)}\n```\nThat is all I learned.",
        f"Here is what [I] learned {{so far}}:\n\n{answer(ADD)}",
        f"<think>Maybe {answer(UPDATE)}? No.</think>\n{answer(ADD)}",
        f"Maybe {answer(UPDATE)}? No.</think>{answer(ADD)}",
        f"<thinking>\n[{{}}]\n</thinking>```json\n{json.dumps(ADD)}```",
        f"First I thought {answer(UPDATE)}, but then: {answer(ADD)}",
        blocks(answer(ADD)),
        blocks(f"```json\n{json.dumps([ADD])}\n```"),
        json.dumps({"content": json.loads(blocks(answer(ADD)))}),
        json.dumps(answer(ADD)),
        "\ufeff" + answer(ADD),
        answer(ADD).replace("}]}", ",},]}").replace(",,", ","),
        answer({key.upper(): value for key, value in ADD.items()} | {"OP": "ADD"}),
        answer(ADD | {"op": " Add "}),
        answer(ADD | {"kind": "Friction"}),
        f"{answer(ADD)}\ud800",
        answer(ADD | {"text": f"{ADD['text']}\udc00"}),
    ],
)
def test_mem_01_what_can_be_understood_is_read(text: str) -> None:
    assert read_answer(text) == [READ_ADD]


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"operations": []}',
        '{"operations": null}',
        "```json\n[]\n```",
        "```json [] ``` Nothing was worth learning this time!",
        '<think>hm</think>{"operations": [ ]}',
        f"Should I say {answer(UPDATE)}? No.</think>\n[]",
    ],
)
def test_r14_no_operation_is_a_success(text: str) -> None:
    assert read_answer(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "{}",
        "42",
        "I learned nothing.",
        "[1, 2]",
        '[{"title": "a citation"}]',
        '{"operations": "none"}',
        "See [1] and [2].",
        "<think>I should answer []",
        "I'm sorry, I can't help with that.",
    ],
)
def test_what_says_nothing_is_unreadable(text: str) -> None:
    assert read_answer(text) is None


@pytest.mark.parametrize("cut", range(1, len(answer(UPDATE, ADD)) - 1))
def test_r6_of_an_answer_that_was_cut_off_no_half_is_read(cut: int) -> None:
    """Only a list that is whole is read; here that is so once its bracket is closed."""
    whole = answer(UPDATE, ADD)
    assert read_answer(whole[:cut]) is None or cut == len(whole) - 1


def test_r6_a_whole_list_in_a_broken_object_is_read() -> None:
    found = read_answer(answer(UPDATE, ADD)[:-1])
    assert found is not None
    assert [one.op for one in found] == ["update", "add"]


@pytest.mark.parametrize(
    ("given_number", "read"),
    [
        (12, 12),
        ("12", 12),
        (" #12. ", 12),
        (12.0, 12),
        (0, 0),
        (-1, -1),
        ("-1", -1),
        (None, None),
        (True, None),
        (1.5, None),
        ("6f1c2c1e-5d0e-4d53-9a52-0d1f8f3a7f10", None),
        ("", None),
        ([1], None),
        (10**30, None),
        ("9" * 5000, None),
    ],
)
def test_r5_claim_numbers(given_number: object, read: int | None) -> None:
    found = read_answer(answer(UPDATE | {"claim": given_number}, ADD))
    assert found is not None
    assert [one.claim for one in found] == [read, None]


def test_a_number_of_thousands_of_digits_hides_nothing_else() -> None:
    found = read_answer('{"operations": [{"op": "delete", "claim": ' + "9" * 5000 + "}]}")
    assert found == [RawOperation(op="delete")]


def test_surrogate_halves_that_stood_apart_are_one_character() -> None:
    found = read_answer(answer(ADD | {"text": "I like \ud83d\ude00 \ud83d signs."}))
    assert found is not None
    assert found[0].text == "I like 😀  signs."


def test_items_that_are_no_operations_are_kept_for_the_record() -> None:
    assert read_answer('{"operations": ["add", {"text": 7}, null]}') == [RawOperation()] * 3


def test_at_most_twenty_are_read() -> None:
    found = read_answer(answer(*[ADD] * 100))
    assert found is not None
    assert len(found) == READ_AT_MOST


@pytest.mark.parametrize(
    "shape",
    ["[", "{", '{"a":', '"\\"', "[1]", '{"', "<think>", "</think>", ", ", '[{"a":1},', '[["', "9"],
)
def test_reading_takes_bounded_time(shape: str) -> None:
    started = time.perf_counter()
    read_answer((shape * ANSWER_CHARS)[:ANSWER_CHARS])
    read_answer('{"operations": [' + (shape * ANSWER_CHARS)[: ANSWER_CHARS - 100])
    assert time.perf_counter() - started < 2


def test_an_oversized_answer_is_not_looked_at() -> None:
    assert read_answer(" " * ANSWER_CHARS + "[]") is None


PIECES = st.sampled_from(
    [
        *'{}[]",:\\\n ',
        "<think>",
        "</think>",
        "```json",
        "\ud800",
        '"operations"',
        '"op"',
        '"add"',
        json.dumps(ADD),
        "null",
        "1e999",
        "NaN",
    ]
)


@given(st.text() | st.lists(PIECES).map("".join))
def test_mem_01_reading_is_total(text: str) -> None:
    found = read_answer(text)
    assert found is None or all(isinstance(one, RawOperation) for one in found)
    for one in found or []:
        one.text.encode()
        one.evidence.encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["operations", "op", "claim", "text", "type", "content", "x"]), inner
        )
    ),
)


@given(JSON)
def test_reading_any_json_is_total(value: object) -> None:
    found = read_answer(json.dumps(value))
    assert found is None or all(one.op == one.op.strip().lower() for one in found)


@given(
    st.lists(st.sampled_from([ADD, UPDATE]), max_size=5),
    st.sampled_from(["", "Sure! ", "<think>a [b] {c}</think>", "```json\n", "Note [1]: "]),
    st.sampled_from(["", "\n```", " Done.", "\n\n[1] a source"]),
)
def test_what_stands_around_changes_nothing(
    operations: list[object], before: str, after: str
) -> None:
    text = answer(*operations)
    assert read_answer(before + text + after) == read_answer(text)


def wrapped(text: str, times: int) -> str:
    for _ in range(times):
        text = json.dumps(text)
    return text


@pytest.mark.parametrize(("times", "read"), [(0, True), (3, True), (4, False), (9, False)])
def test_an_answer_in_quotes_is_looked_into_a_few_times(times: int, *, read: bool) -> None:
    assert read_answer(wrapped(answer(ADD), times)) == ([READ_ADD] if read else None)
    found = read_object(wrapped('{"keep": 1}', times), frozenset({"keep"}))
    assert found == ({"keep": 1} if read else None)


def test_one_block_alone_is_its_text() -> None:
    block = json.dumps({"type": "text", "text": answer(ADD)})
    assert read_answer(block) == [READ_ADD]
    block = json.dumps({"type": "text", "text": 'So: {"KEEP ": 1}'})
    assert read_object(block, frozenset({"keep"})) == {"keep": 1}
    assert read_object('{"a": {"b": 1}, "c": {"d": 2}}', frozenset({"keep"})) is None
