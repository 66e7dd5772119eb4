"""What is wrong in a person's data: a value to show beside the results, never an exception."""

from typing import NamedTuple


class Problem(NamedTuple):
    """One fault in a file of the vault: where, what, what to do.

    `file` is relative to the vault, with `/`; `line` counts from 1, 0 means the whole file.
    """

    file: str
    line: int
    what: str
    do: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.what}, {self.do}" if self.do else f"{where}: {self.what}"
