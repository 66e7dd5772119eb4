"""Whether two remarks say the same thing, and whether a remark corrects the agent."""

import re
from collections.abc import Sequence
from unicodedata import normalize

_SHORT_CHARS = 160
_ALIKE = 0.5

# English only: in other languages a remark counts as a correction when it follows a refused call.
_CORRECTING = (
    r"(?i)^(?:no|nope|nah|stop|wait|hold on|wrong|not (?:that|like|what|quite|yet|again)|don'?t"
    r"|do not|that'?s (?:not|wrong)|this is (?:not|wrong)|you (?:still|again|forgot|missed|didn'?t)"
    r"|still (?:not|wrong|no|missing)|again\b|i (?:already |just )?(?:said|told|asked|meant|wanted)"
    r"|instead|use \w|please (?:use|don'?t|stop)|revert|undo)\b"
    r"|\b(?:instead of|rather than|as i said|like i said|i told you|i asked you)\b"
)
_STOPPED = (
    "a about actually again ago all already also an and any are as asked at be been but by can "
    "could did do does done dont for from get go had has have i if in instead into is it its "
    "just keep like make me mean more my need no nope not now of ok on one only or other out "
    "please rather really said same say should so still stop sure than thanks that the their "
    "them then there these they thing this those to told too try up use used using wait want "
    "was way we well were what when which why will with would wrong yes yet you your"
)
_STOP = frozenset(_STOPPED.split())


def is_correction(remark: str) -> bool:
    """Whether a remark of the user tells the agent to do otherwise."""
    return re.search(_CORRECTING, remark.strip().replace("’", "'")[:300]) is not None


def in_short(remark: str) -> str:
    """The first sentence of a remark on one line, without double quotes: at most 160 characters."""
    line = " ".join(remark.replace('"', "").replace("`", "").split())
    line = re.split(r"(?<=[.!?])\s|[。！？]", line, maxsplit=1)[0].rstrip(" .!,;:")
    return line if len(line) <= _SHORT_CHARS else line[:_SHORT_CHARS].rsplit(" ", 1)[0]


def same_thing(remarks: Sequence[str]) -> list[list[str]]:
    """The groups of two or more remarks whose telling words mostly agree, in order."""
    groups: list[list[str]] = []
    for one in remarks:
        home = next((group for group in groups if _alike(one, group[0])), None)
        if home is None:
            groups.append([one])
        else:
            home.append(one)
    return [group for group in groups if len(group) > 1]


def _alike(one: str, other: str) -> bool:
    first, second = _words(one), _words(other)
    if not first or not second:
        return False
    return len(first & second) / len(first | second) >= _ALIKE


def _words(remark: str) -> frozenset[str]:
    folded = normalize("NFKC", remark).casefold().replace("’", "").replace("'", "")
    return frozenset(re.findall(r"[^\W\d_]{2,}", folded)) - _STOP
