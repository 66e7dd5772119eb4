"""Answers as models give them: `tests/data/answers.jsonl`, of our own making.

Each is read where its meaning is whole, and comes through HTTP as it was.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orgvault.adapters.models import anthropic_wire, choose, openai_wire
from orgvault.adapters.models.faults import Fault
from orgvault.adapters.models.wire import json_object
from orgvault.domain.answer import read_answer
from orgvault.errors import ModelFailed
from tests.provider import Provider, question, serving

SHAPES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "answers.jsonl").read_text().splitlines()
]
NAMES = [row["name"] for row in SHAPES]


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with serving("given") as running:
        yield running


def read(text: str) -> tuple[bool, int]:
    found = read_answer(text)
    return found is not None, len(found or ())


def test_there_are_enough_shapes_and_no_two_are_alike() -> None:
    assert len({row["name"] for row in SHAPES}) == len(SHAPES) >= 60
    assert len({row["text"] for row in SHAPES}) == len(SHAPES)
    assert {row["readable"] for row in SHAPES} == {True, False}


@pytest.mark.parametrize("row", SHAPES, ids=NAMES)
def test_mem_02_a_shape_is_read_where_its_meaning_is_whole(row: dict[str, Any]) -> None:
    assert read(row["text"]) == (row["readable"], row["operations"])


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize("row", SHAPES, ids=NAMES)
def test_mem_02_a_shape_comes_through_http(
    row: dict[str, Any], wire: str, provider: Provider
) -> None:
    base = {"openai": f"{provider.url}/v1", "anthropic": provider.url}[wire]
    provider.text = row["text"]
    model = choose(f"{wire}/m", {f"{wire.upper()}_BASE_URL": base})
    assert model
    if not row["text"].strip():
        with pytest.raises(ModelFailed, match="its answer is empty"):
            model.answer(question(), 20)
        return
    answer = model.answer(question(), 20)
    answer.text.encode()  # what is stored must be writable
    assert read(answer.text) == (row["readable"], row["operations"])


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
KEYS = st.sampled_from(
    [
        "choices",
        "message",
        "content",
        "text",
        "type",
        "finish_reason",
        "stop_reason",
        "usage",
        "cost",
        "refusal",
    ]
)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
@given(st.dictionaries(KEYS, JSON, max_size=6))
def test_whatever_json_comes_is_an_answer_or_a_fault(said: dict[str, object]) -> None:
    for wire in (openai_wire, anthropic_wire):
        try:
            answer = wire.answer(said, tells_cost=True)
        except Fault as fault:
            told = fault.why
        else:
            told = answer.text
        assert told.strip()


@given(st.binary(max_size=200))
def test_whatever_bytes_come_are_json_or_a_fault(body: bytes) -> None:
    try:
        found = json_object(body, "")
    except Fault:
        return
    assert isinstance(found, dict)


@pytest.mark.parametrize("body", [b"[" * 100_000, b"9" * 100_000, b'{"a":' * 50_000])
def test_json_that_is_meant_to_break_readers(body: bytes) -> None:
    with pytest.raises(Fault, match="it sent no JSON"):
        json_object(body, "")
