"""What is wrong in a person's data: a value to show beside the results, never an exception."""

import re
from typing import NamedTuple

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Problem(NamedTuple):
    """One fault in a file of the vault: where, what, what to do.

    `file` is relative to the vault, with `/`; `line` counts from 1, 0 means the whole file.
    """

    file: str
    line: int
    what: str
    do: str = ""

    def __str__(self) -> str:
        file = on_one_line(self.file)
        where = f"{file}:{self.line}" if self.line else file
        return f"{where}: {self.what}, {self.do}" if self.do else f"{where}: {self.what}"


def on_one_line(path: str) -> str:
    """A path as people are shown it: a line break in a name, or another control, is escaped."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), path)
