"""A proposal: one small change to an agent's own files that a person may ship; nothing here ships.

What the gate is asked and what it answers, and the record that stands beside a card.
"""

from enum import StrEnum
from typing import Protocol

from orgvault.domain.ids import AGENT_ID, CARD_ID, CLAIM_ID, INSTANT, RUN_ID, SHA256
from orgvault.domain.instants import normal
from orgvault.domain.record import says
from orgvault.values import dataclass

# The only keys of an agent's block that a proposal may change, and the one that is a list.
PROSE = ("personality", "goal", "perspective", "style", "voice", "principles", "description")
LIST = "principles"
# What an edit of a skill file is filed under: its body, or its frontmatter's description.
BODY = "body"


class Rule(StrEnum):
    """The rules of the gate, in the order in which they are asked."""

    SHAPE = "shape"
    SIZE = "size"
    TARGET = "target"
    ORG = "org.yaml"
    SKILL = "skill"
    WORDS = "words"
    ROUND_TRIP = "round trip"


class Target(StrEnum):
    """What of its own an agent may ask to change."""

    OWN_PROMPT = "own_prompt"
    OWN_SKILLS = "own_skills"


@dataclass(frozen=True)
class Refusal:
    """Why a diff is no proposal: the rule, one sentence, and the key and line where there is one.

    `key` is the last step of the path in org.yaml or the frontmatter (`tools`), `line` counts
    from 1 in the new text, or in the old one for what was taken out; 0 for the whole diff.
    """

    rule: Rule
    why: str
    key: str = ""
    line: int = 0


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One value that a proposal changes.

    In org.yaml a key of `PROSE` and its value: one text, of `principles` as many as the list
    has.  In a skill file `body` or `description`; of the body, the lines of each hunk, as they
    stand before and after with their context.
    """

    key: str = says("The key of the agent's block, or `body` of a skill file.", max_chars=40)
    before: tuple[str, ...] | None = says("Its value; null when it is not there.", default=None)
    after: tuple[str, ...] | None = says("Its value once shipped.", default=None)


@dataclass(frozen=True)
class Accepted:
    """A diff that passed every rule.

    `path` is the file's, relative to the vault; `old` and `new` its whole bytes (line endings
    as the file has them), `diff` the bytes that were judged; `flags` are warnings that a person
    reads on the card.
    """

    target: Target
    path: str
    edits: tuple[Edit, ...]
    old: bytes
    new: bytes
    diff: bytes
    flags: tuple[str, ...]
    added: int
    removed: int


class Tree(Protocol):
    """The files of a vault as the gate sees them; paths are relative to it, with `/`."""

    def kind(self, path: str, /) -> str:
        """`file`, `folder`, `link` (never followed), or empty when there is nothing."""

    def read(self, path: str, /) -> bytes | None:
        """A file's content; None when there is none."""

    def real(self, path: str, /) -> str | None:
        """Where a path leads once every link is followed; None outside the vault."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """`.agents/org/proposals/<id>.yaml`: the machine's truth beside a card of kind `improve`."""

    version: int = says("Format version of the file.", default=1, minimum=1, maximum=1)
    id: str = says("The card's id; the file is named after it.", pattern=CARD_ID)
    agent: str = says("Whose change it is.", pattern=AGENT_ID)
    memory_id: str | None = says(
        "The claim that it answers; none: a revert.", default=None, pattern=CLAIM_ID
    )
    reverts: str | None = says("The card whose change it undoes.", default=None, pattern=CARD_ID)
    target: Target = says("own_prompt or own_skills.")
    path: str = says("The file, relative to the vault.", max_chars=1000)
    edits: tuple[Edit, ...] = says("Each value before and after.")
    base: str = says("The commit that the diff was made on.", pattern=r"[0-9a-f]{40,64}")
    base_blob: str = says("git's id of the file there.", pattern=r"[0-9a-f]{40,64}")
    diff_sha256: str = says("Hash of `<id>.diff`.", pattern=SHA256)
    flags: tuple[str, ...] = says("What a person should look at twice.", default=())
    evidence: tuple[str, ...] = says("The runs behind it.", default=(), pattern=RUN_ID)
    created: str = says("When (UTC).", pattern=INSTANT, normal=normal)
    expires: str = says(
        "When it is withdrawn unless shipped (UTC).", pattern=INSTANT, normal=normal
    )
    shipped_commit: str | None = says(
        "The commit in which a person shipped it in words of their own.",
        default=None,
        pattern=r"[0-9a-f]{40,64}",
    )
