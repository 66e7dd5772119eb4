"""How a rule of the gate says no; `judge` turns it into the answer."""

from orgvault.domain.proposal import Refusal, Rule


class Refused(Exception):
    """A rule is broken; nothing further is asked."""

    def __init__(self, rule: Rule, why: str, key: str = "", line: int = 0) -> None:
        super().__init__(why)
        self.refusal = Refusal(rule, why, key, line)
