"""Claims as files: one key a line, machine-owned, and legal to edit by hand."""

import re

from orgvault.domain.claim import Claim
from orgvault.domain.format_version import newer_format
from orgvault.domain.ids import INSTANT
from orgvault.domain.problem import Problem
from orgvault.domain.record import described
from orgvault.domain.yaml_record import read_document
from orgvault.domain.yaml_scalars import quoted, written
from orgvault.domain.yaml_tree import compose

FORMAT = 1
# Free text, and the seal, whose digits another reader could take for a number.
_QUOTED = frozenset({"text", "reason", "seal"})
_KEPT_EMPTY = frozenset({"proposal"})
_CLOSING = ("closed_at", "closed_by", "reason", "superseded_by")


def read_claim(text: str, file: str) -> tuple[Claim | None, tuple[Problem, ...]]:
    """The claim in a file's text, or None and every problem with its line.

    Strict: an unknown key, a conflict marker or a second document is a problem, so that a
    claim is never read by halves.
    """
    document = compose(text, file, instants=True)
    if newer := newer_format(document.value, FORMAT, file, document.line_of(("version",))):
        return None, newer
    return read_document(Claim, document)


def write_claim(claim: Claim) -> str:
    """The text of a claim's file; the same claim gives the same bytes."""
    return "".join(_lines(claim, [one.name for one, _ in described(Claim)]))


def close_claim_text(text: str, closed: Claim) -> str:
    """The text of a claim's file with the keys of its closing added at the end.

    Every line of `text` stays as it is, however it was edited by hand.  Only where that does
    not read as `closed` (another of its values changed too, or the file is written in a style
    that nothing can be added to) is it written anew.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if text.endswith("\n") else end
    added = [line.replace("\n", end) for line in _lines(closed, _CLOSING)]
    appended = "".join([text, gap, *added])
    return appended if read_claim(appended, "")[0] == closed else write_claim(closed)


def _lines(claim: Claim, names: list[str] | tuple[str, ...]) -> list[str]:
    values = [(name, getattr(claim, name)) for name in names]
    return [
        f"{name}: {_value(name, value)}\n"
        for name, value in values
        if value is not None or name in _KEPT_EMPTY
    ]


def _value(name: str, value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple):
        return f"[{', '.join(written(item) for item in value)}]"
    text = str(value)
    if name in _QUOTED:
        return quoted(text)
    return text if re.fullmatch(INSTANT, text) else written(text)
