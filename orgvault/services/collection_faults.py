"""What is refused of collections, their records, and scripts: each with its own sentence."""

from collections.abc import Iterator, Sequence

from orgvault.domain.forms import dotted, in_words
from orgvault.domain.record import Violation
from orgvault.errors import Faults, OrgvaultError


class UnknownCollection(OrgvaultError):
    """No collection of that name, or its file cannot be read."""

    def __init__(self, given: str, why: str, known: Sequence[str]) -> None:
        known_ones = f"there are {', '.join(known)}" if known else "there is none yet"
        super().__init__(f"no collection `{given}`: {why or known_ones}")


class UnfitCollection(Faults):
    """A collection that cannot be made so; everything wrong is said at once."""

    exit_code = 2

    def __init__(self, name: str, faults: Sequence[Violation]) -> None:
        super().__init__(f"the collection {name} was not made:", list(_said(faults)))


class UnfitRecord(Faults):
    """Values that are no record of their collection; everything wrong is said at once."""

    exit_code = 2

    def __init__(self, collection: str, faults: Sequence[Violation]) -> None:
        super().__init__(f"no record of {collection}:", list(_said(faults)))


class UnfitScript(Faults):
    """A script that cannot be one; everything wrong is said at once."""

    exit_code = 2

    def __init__(self, name: str, faults: Sequence[Violation]) -> None:
        super().__init__(f"the script {name} was not added:", list(_said(faults)))


class NoPair(OrgvaultError):
    """A word that is no `key=value`."""

    exit_code = 2

    def __init__(self, given: str, wanted: str) -> None:
        super().__init__(f"{given!r} is not understood: write {wanted}")


class Twice(OrgvaultError):
    """The same thing was said twice."""

    exit_code = 2

    def __init__(self, name: str) -> None:
        super().__init__(f"`{name}` was given twice: give it once")


class NoColumn(OrgvaultError):
    """A question about a column that is not there."""

    exit_code = 2

    def __init__(self, collection: str, given: str, do: str) -> None:
        super().__init__(f"{collection} has no column `{given}`: {do}")


class UnfitFile(OrgvaultError):
    """A file that cannot stand beside a script."""

    def __init__(self, path: str, why: str, do: str) -> None:
        super().__init__(f"{path} {why}: {do}")


class NoSchema(OrgvaultError):
    """A file of parameters that is no JSON."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"{path} holds no JSON ({why}): write "
            '{"type": "object", "properties": {"name": {"type": "string", "description": "…"}}}'
        )


def _said(faults: Sequence[Violation]) -> Iterator[str]:
    for one in faults:
        where = "" if one.at_key else dotted(one.path)
        what = in_words(one.what)
        yield "  " + (f"{where}: {what}" if where else what) + (f", {one.do}" if one.do else "")
