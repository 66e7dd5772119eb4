"""Files of a newer orgvault are refused by name, older ones are read."""

from collections.abc import Mapping

from orgvault.domain.problem import Problem


def newer_format(data: object, known: int, file: str, line: int = 0) -> tuple[Problem, ...]:
    """The one problem of a file whose `version` is beyond the known one; else nothing.

    Nothing else in such a file is looked at: what it means is for a newer program to say.
    """
    version = data.get("version") if isinstance(data, Mapping) else None
    if type(version) is not int or version <= known:
        return ()
    what = f"format version {version}, and this orgvault knows {known}"
    return (Problem(file, line, what, "update orgvault (pip install --upgrade orgvault)"),)
