"""`builtin/extractive`: the model that is none, rules of the domain behind a model's face."""

from json import dumps
from typing import TYPE_CHECKING

from orgvault.domain.extractive import operations
from orgvault.domain.record import plain
from orgvault.domain.reflection import Answer, Question

if TYPE_CHECKING:
    from orgvault.domain.proposal_prompt import Wish


class Extractive:
    """Answers at once, on this machine, at no cost, and the same for the same question."""

    name = "builtin/extractive"
    metered = False

    def repair(self, text: str, deadline_s: float) -> None:
        """None: what is written by rule needs no repair."""

    def answer(self, question: Question, deadline_s: float) -> Answer:
        """The operations as the JSON text that a language model is asked for; never late."""
        del deadline_s
        return Answer(dumps({"operations": plain(operations(question))}, ensure_ascii=False))

    def propose(self, wish: "Wish", deadline_s: float) -> Answer:
        """One added principle that states the claim; never late."""
        from orgvault.domain.proposal_prompt import stated

        del deadline_s
        return Answer(dumps(plain(stated(wish)), ensure_ascii=False))
