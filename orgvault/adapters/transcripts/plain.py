"""Any other text: a terminal's log where it reads like one, else one thing that was said."""

import re

from orgvault.adapters.transcripts.lines import clean
from orgvault.domain.transcript import Item, Said, Session, ToolCall

_PROMPT = r"(?m)^\$ (?=\S)"
_EXIT = r"(?i)\s*\[?(?:exit|exit code|exit status|exited)[: ]+(\d{1,3})\]?\s*$"


def session(text: str, skipped: tuple[int, ...] = ()) -> Session:
    """Lines `$ command` are calls and what follows is their result; before them stands a remark.

    A call failed when its result ends in a line such as `[exit 1]`: nothing else would be known.
    """
    before, *calls = re.split(_PROMPT, clean(text))
    items: list[Item] = [Said("assistant", before.strip())] if before.strip() else []
    for call in calls:
        command, _, result = call.partition("\n")
        result = result.strip("\n")
        code = re.match(_EXIT, result.rpartition("\n")[2])
        items.append(ToolCall("shell", command.strip(), result, bool(code and int(code[1]))))
    return Session("text", None, None, None, None, None, None, None, tuple(items), skipped)
