"""The section Memory: what an agent wrote for itself, and what its finished runs have taught it."""

import re

from orgvault.domain.frontmatter import FRONTMATTER
from orgvault.domain.harmless import Harmless, plain
from orgvault.domain.intros import MEMORY, MEMORY_RULES
from orgvault.domain.offer import MEMORY_WRITE

_COMMENT = re.compile(r"\A\s*<!--.*?-->\s*", re.DOTALL)
# What `core_memory.render` writes when there is nothing to tell.
_NOTHING = re.compile(r"# [^\n]*\n+> Left out for lack of room: 0\s*")


def core_block(core: str) -> str:
    """What of core.md goes into a prompt: all but the comment at its head; empty without claims."""
    block = _COMMENT.sub("", plain(core)).strip()
    return "" if _NOTHING.fullmatch(block) else block


def memory_section(
    notebook: str, core: str, tools: tuple[str, ...], harmless: Harmless
) -> tuple[str, ...]:
    """The section's paragraphs.  Nothing yet is an empty body under the heading.

    `notebook` and `core` are the files as they stand, empty where there are none.
    """
    rules = MEMORY_RULES if MEMORY_WRITE in tools else ""
    body = FRONTMATTER.sub("", plain(notebook))
    return MEMORY, rules, harmless.block(body), harmless.block(core_block(core))
