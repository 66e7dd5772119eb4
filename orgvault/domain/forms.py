"""The forms that texts in a person's files must have, and how a sentence calls them."""

from collections.abc import Sequence

from orgvault.domain.ids import AGENT_ID, CARD_ID, CLAIM_ID, INSTANT, RUN_ID

# Patterns fit the whole text, and take linear time whatever the text is.
ONE_LINE = r"(?=[^\x00-\x1f\x7f]*\S)[^\x00-\x1f\x7f]+"
PROSE = r"[\s\S]*\S[\s\S]*"
RELATIVE_PATH = (
    r"(?![/~])(?![A-Za-z]:)(?!(?:[^\x00-\x1f]*/)?\.{1,2}(?:/|$))(?![^\x00-\x1f]*//)"
    r"[^\\\x00-\x1f\x7f]+"
)
VARIABLE = r"[A-Za-z_][A-Za-z0-9_]{0,127}"
CONNECTOR = r"[a-z][a-z0-9_-]{0,63}"
EMAIL = r"[^\s@<>]+@[^\s@<>]+"

IN_WORDS: dict[str, str] = {
    AGENT_ID: "an id (a small letter, then up to 31 of a-z, 0-9 and -)",
    CARD_ID: "a card's id (t- or imp- and 8 characters)",
    CLAIM_ID: "a claim's id (c- and 8 characters)",
    INSTANT: "a point in time like 2026-11-20T09:14:03Z",
    RUN_ID: "a run id (a letter or digit, then up to 127 of letters, digits and ._:-)",
    ONE_LINE: "one line of text",
    PROSE: "a text (it is empty)",
    RELATIVE_PATH: "a path inside the vault (relative, with `/`, without `..`)",
    VARIABLE: "the name of an environment variable",
    CONNECTOR: "the name of a connector (a-z, 0-9, - and _)",
    EMAIL: "an e-mail address",
}


def in_words(what: str) -> str:
    """A violation's sentence with the pattern replaced by what it stands for."""
    head, found, pattern = what.partition(" does not match ")
    return f"{head} is not {IN_WORDS[pattern]}" if found and pattern in IN_WORDS else what


def dotted(path: Sequence[str | int]) -> str:
    """A path of keys and indexes as people write it: `agents.nova.tools[0]`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")
