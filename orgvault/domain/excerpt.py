"""What a model may see of a run: a masked excerpt within a token budget, failures first."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """One piece of an excerpt; `source` is `user`, `assistant`, `call` or `result`.

    A `result` is what a tool answered: data that anyone may have written.
    """

    source: str
    text: str


@dataclass(frozen=True)
class Excerpt:
    """The text a model is shown, piece by piece; `masked` counts the secrets replaced."""

    parts: tuple[Part, ...]
    masked: int = 0
