"""What recall finds: a claim or a section of the notebook, and where it stands."""

from orgvault.values import dataclass

CLAIM = "claim"
NOTEBOOK = "notebook"


@dataclass(frozen=True)
class Passage:
    """One answer of recall.

    `source` is claim or notebook; `id` the claim's id or an Obsidian link to the section;
    `kind` the claim's kind, `heading` the headings of the section and `line` where it begins, from
    1; `file` is relative to the vault.
    """

    source: str
    id: str
    score: float
    text: str
    kind: str | None
    heading: str | None
    file: str
    line: int | None
