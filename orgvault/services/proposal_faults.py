"""What stands in the way of a proposal, or of measuring one."""

from orgvault.errors import OrgvaultError


class UnknownProposal(OrgvaultError):
    """No proposal of that id, or its files cannot be relied on."""

    def __init__(self, given: str, why: str) -> None:
        super().__init__(f"no proposal `{given}`: {why or 'see `orgvault proposal list --all`'}")


class RefusedByGate(OrgvaultError):
    """A diff that can be no proposal: the rule that it breaks, and where."""

    exit_code = 3

    def __init__(self, rule: str, why: str, key: str, line: int) -> None:
        where = [f"key `{key}`"] if key else []
        where += [f"line {line}"] if line else []
        super().__init__(
            f"refused by the gate ({rule}): {why}" + (f" ({', '.join(where)})" if where else "")
        )


class NotEligible(OrgvaultError):
    """A claim that may not become a proposal now."""

    exit_code = 3

    def __init__(self, claim: str, why: str) -> None:
        self.why = why
        super().__init__(f"{claim} is not proposed: {why}")


class NoChange(OrgvaultError):
    """What a model answered is no change that could be proposed."""

    exit_code = 3

    def __init__(self, model: str, why: str) -> None:
        self.why = why
        super().__init__(f"{model} gave no change that can be proposed: {why}")


class NoLongerApplies(OrgvaultError):
    """The commit that a proposal was made on does not hold the file that its diff changes."""

    def __init__(self, card: str, base: str) -> None:
        super().__init__(
            f"the diff of {card} does not fit its base {base[:10]}: apply it by hand "
            "(`git apply --3way`), or close the card"
        )


class NotItsCommit(OrgvaultError):
    """A commit that cannot be where a proposal was shipped."""

    def __init__(self, card: str, commit: str, path: str) -> None:
        super().__init__(
            f"{commit[:10]} did not ship {card}: name a commit after the proposal was made that "
            f"changed {path} (`git log -- {path}`)"
        )


class HistoryCutOff(OrgvaultError):
    """The clone is shallow, so that nobody can tell who shipped what, and when."""

    def __init__(self) -> None:
        super().__init__(
            "this clone has only a part of the history, so the ledger cannot tell who shipped "
            "what: fetch the rest (`git fetch --unshallow`; in CI, fetch-depth: 0)"
        )
