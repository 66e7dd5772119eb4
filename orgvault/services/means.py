"""What reflection needs of the outside world, given by the composition root or by a test."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from orgvault.domain.roster import Agent
from orgvault.domain.transcript import Session
from orgvault.values import dataclass

if TYPE_CHECKING:
    from orgvault.domain.reflection import Model

PUT_OFF = "repository_busy"  # domain.reflection.Result.REPOSITORY_BUSY as it is written


@dataclass(frozen=True)
class Means:
    """What reflection needs of the outside world.

    `setting` is ORG_REFLECT_MODEL, `calls_per_day` ORG_REFLECT_MAX_PER_DAY; `choose` gives the
    model of a name, or None and why there is none; `read_session` reads a transcript with its
    sha256, or raises BadFile.
    """

    setting: str
    calls_per_day: int
    choose: "Callable[[str], tuple[Model | None, str]]"
    read_session: Callable[[str], tuple[Session, str]]

    def model(self, agent: Agent) -> "tuple[Model | None, str]":
        """The model that reflects on an agent's runs, or None and why there is none."""
        name = agent.memory.reflect.model
        return self.choose(self.setting if name == "cheap" else name)
