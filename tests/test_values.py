"""`values.dataclass` behaves as the standard library's frozen dataclass."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from orgvault.values import dataclass


def make(decorator: Callable[..., Any], *, kw_only: bool) -> Any:  # noqa: ANN401 - a class
    """One class, by either decorator."""

    class Point:
        x: int
        y: int = 2
        tags: list[str] = dataclasses.field(default_factory=list)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError(self.x)

    return decorator(frozen=True, kw_only=kw_only)(Point)


OURS, THEIRS = (make(one, kw_only=False) for one in (dataclass, dataclasses.dataclass))
OUR_KEYS, THEIR_KEYS = (make(one, kw_only=True) for one in (dataclass, dataclasses.dataclass))


@pytest.mark.parametrize(
    ("args", "given"),
    [((1,), {}), ((1, 3), {}), ((), {"x": 1, "tags": ["a"]}), ((1,), {"y": 5}), ((1, 2, []), {})],
)
def test_it_makes_the_same_values(args: tuple[Any, ...], given: dict[str, Any]) -> None:
    ours, theirs = OURS(*args, **given), THEIRS(*args, **given)
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert repr(ours) == repr(theirs)
    assert ours == OURS(*args, **given)
    assert dataclasses.is_dataclass(ours)


@pytest.mark.parametrize("made", [OURS, THEIRS])
def test_it_refuses_what_does_not_fit(made: Any) -> None:  # noqa: ANN401 - a class
    unfit: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}), ((1, 2, [], 4), {}), ((1,), {"z": 1}),
    ]  # fmt: skip
    for args, given in unfit:
        with pytest.raises(TypeError):
            made(*args, **given)
    with pytest.raises(ValueError, match="-1"):
        made(-1)
    with pytest.raises(ValueError, match="-2"):
        dataclasses.replace(made(1), x=-2)


@pytest.mark.parametrize("made", [OUR_KEYS, THEIR_KEYS])
def test_keywords_only(made: Any) -> None:  # noqa: ANN401 - a class
    assert made(x=1).y == 2
    with pytest.raises(TypeError):
        made(1)


@pytest.mark.parametrize("made", [OURS, THEIRS])
def test_it_is_frozen_and_can_be_replaced(made: Any) -> None:  # noqa: ANN401 - a class
    one = made(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.x
    other = dataclasses.replace(one, y=9)
    assert (one.y, other.x, other.y) == (2, 1, 9)
    assert one.tags is not made(1).tags


def test_equality_is_by_class_and_value_and_hashes_agree() -> None:
    @dataclass(frozen=True)
    class A:
        x: int

    @dataclass(frozen=True)
    class B:
        x: int

    assert A(1) == A(1)
    assert A(1) != A(2)
    other: object = B(1)
    assert A(1) != other
    assert len({A(1), A(1), A(2)}) == 2


def test_only_frozen_classes_are_made() -> None:
    with pytest.raises(TypeError):
        dataclass(frozen=False)(type("C", (), {"__annotations__": {"x": int}}))
