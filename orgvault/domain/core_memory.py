"""Core memory: an agent's active claims as a Markdown list within a token budget."""

import re
from collections.abc import Callable, Iterable

from orgvault.domain.claim import Claim, order
from orgvault.domain.folding import neutral_tags
from orgvault.values import dataclass

_HEAD = """\
<!-- orgvault core 1: generated from the claims, do not edit -->

# What {agent} has learned

"""
_FOOT = "> Left out for lack of room: {left_out}\n"


@dataclass(frozen=True)
class Core:
    """A rendered core.md: `shown` are claim ids in order, `tokens` counts the whole text."""

    text: str
    shown: tuple[str, ...]
    left_out: int
    tokens: int


def render(
    agent_name: str, claims: Iterable[Claim], budget: int, count: Callable[[str], int]
) -> Core:
    """The active ones of `claims`, most seen first, until the next would pass `budget` tokens.

    A claim that would pass it even alone is left out, the others are taken in order.  The text
    is built of pieces that end with a line feed and start with no white space, which is where
    cl100k_base always divides, so that `count` is asked about single pieces and their counts add
    up to the whole text's.  Only head and foot stand when nothing fits (they are some 40 tokens,
    and `budget` is 100 at least).
    """
    head = _HEAD.format(agent=_one_line(agent_name))
    waiting = sorted((claim for claim in claims if claim.active), key=order)

    def foot(shown: int) -> str:
        return _FOOT.format(left_out=len(waiting) - shown)

    used = count(head)
    alone = budget - used - (count(foot(1)) if waiting else 0)
    shown: list[tuple[str, str, int]] = []
    for claim in waiting:
        text = line(claim)
        tokens = count(text)
        if tokens > alone:
            continue
        if used + tokens > budget:
            break
        shown.append((claim.id, text, tokens))
        used += tokens
    # The foot grows shorter, if at all, as claims are shown: what fits with it is looked for last.
    while shown and used + count(foot(len(shown))) > budget:
        used -= shown.pop()[2]
    text = "".join([head, *(one[1] for one in shown), foot(len(shown))])
    ids = tuple(one[0] for one in shown)
    return Core(text, ids, len(waiting) - len(ids), used + count(foot(len(shown))))


def line(claim: Claim) -> str:
    """A claim as one list item, ended by a line feed; nothing in it is more than text."""
    kind = claim.kind.replace("_", "-")
    return f"- ({kind}, seen {claim.times_seen}×) {_one_line(claim.text)}\n"


def _one_line(text: str) -> str:
    """The text without line breaks, in which tags, comments, embeds and images are only text.

    Claims edited by hand can hold anything.  A bracket that could open a tag becomes `&lt;`.
    """
    text = " ".join(text.encode("utf-8", "replace").decode().split())
    text = re.sub(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "", text)
    text = re.sub(r"<(?=[^\W\d_]|[/!?%])", "&lt;", neutral_tags(text))
    text = re.sub(r"\[(?=\[)|(?<=\[)\[", r"\\[", text)
    text = re.sub(r"([!\uff01])(?=\[)", r"\1\\", text)
    return re.sub(r"%(?=%)", r"%\\", text)
