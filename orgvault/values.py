"""Frozen dataclasses that cost a cold command nothing.

`dataclasses.dataclass(frozen=True)` compiles seven methods for every class, half a millisecond
each time the program starts; with some fifty classes that is more than the rest of a command.
This one looks the same to readers and type checkers (they see the standard library's), but its
classes share their methods.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 - given on to others
else:
    from dataclasses import MISSING, FrozenInstanceError, fields
    from dataclasses import dataclass as _dataclass

    C = TypeVar("C", bound=type)

    def dataclass(
        cls: C | None = None, /, *, frozen: bool = True, kw_only: bool = False
    ) -> C | Callable[[C], C]:
        """A frozen dataclass whose methods are shared; only `frozen` and `kw_only` are known."""
        if not frozen:
            raise TypeError(cls)

        def make(made: C) -> C:
            made = _dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(made)
            made.__init__ = _keyword_init if kw_only else _init
            made.__eq__, made.__hash__, made.__repr__ = _eq, _hash, _repr
            made.__setattr__ = made.__delattr__ = _refuse
            return made

        return make if cls is None else make(cls)

    def _init(self: Any, /, *args: Any, **given: Any) -> None:
        names = type(self).__dataclass_fields__
        if len(args) > len(names):
            message = f"{type(self).__name__} takes {len(names)} values, not {len(args)}"
            raise TypeError(message)
        given.update(zip(names, args, strict=False))
        _fill(self, given)

    def _keyword_init(self: Any, /, **given: Any) -> None:
        _fill(self, given)

    def _fill(self: Any, given: dict[str, Any]) -> None:
        known = type(self).__dataclass_fields__
        state = self.__dict__
        state.update(given)
        if len(state) != len(known) or state.keys() != known.keys():
            _complete(self, state, known)
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    def _complete(self: Any, state: dict[str, Any], known: Any) -> None:
        unknown = state.keys() - known.keys()
        if unknown:
            message = f"{type(self).__name__} has no {', '.join(sorted(unknown))}"
            raise TypeError(message)
        for name, about in known.items():
            if name in state:
                continue
            if about.default is not MISSING:
                state[name] = about.default
            elif about.default_factory is not MISSING:
                state[name] = about.default_factory()
            else:
                message = f"{type(self).__name__} needs {name}"
                raise TypeError(message)

    def _values(self: Any) -> tuple[Any, ...]:
        return tuple(getattr(self, one.name) for one in fields(self))

    def _eq(self: Any, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return _values(self) == _values(other)

    def _hash(self: Any) -> int:
        return hash(_values(self))

    def _repr(self: Any) -> str:
        shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self))
        return f"{type(self).__qualname__}({shown})"

    def _refuse(self: Any, name: str, *_: Any) -> None:
        message = f"{type(self).__name__}.{name} cannot be changed"
        raise FrozenInstanceError(message)
