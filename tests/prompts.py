"""Sources of a prompt as tests fill them, and a reader of messages that is not ours."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from unicodedata import normalize

from orgvault.domain.composing import Sources, compose
from orgvault.domain.embeds import Expanded
from orgvault.domain.masking import mask, mask_values
from orgvault.domain.roster import Agent
from orgvault.domain.snapshot import Snapshot

FILE = ".agents/org/prompts/system.md"
VALUE = "hoist-the-anchors-41"  # of a secret that is bound
AT = "2026-11-20T09:14:03Z"
NAMES = ("guidelines", "task", "state", "memory", "embed", "capability")
EVERYTHING = ("notes", "scripts", "browser", "coding", "memory", "memory_write")
_TAG = re.compile(rf"(?i)[<≮]\s*(/?)\s*({'|'.join(NAMES)})(?![\w.:-])[^<>]*>?")


def masked(text: str) -> str:
    """A text without secrets, as a desk gives it."""
    return mask(mask_values(text, [VALUE])[0])[0]


def an_agent(*capabilities: str, **block: Any) -> Agent:  # noqa: ANN401 - what a block can hold
    """An agent as org-agents.json has it."""
    told = {"home": "Org/Home/nova", "capabilities": list(capabilities), "max_tool_calls": 40}
    name = str(block.pop("name", "Nova"))
    return Agent(id="nova", name=name, block={**told, **block})


def a_task(text: str = "") -> Expanded:
    """A Task without embeds."""
    return Expanded(text, (), (), (), 0, 0)


def sources(agent: Agent | None = None, **given: Any) -> Sources:  # noqa: ANN401 - any source
    """Sources that hold nothing but what is given."""
    told: dict[str, Any] = {
        "agent": agent or an_agent(), "template": "Work.\n", "template_file": FILE, "tools": (),
        "guidance": (), "task": a_task(), "notebook": "", "core": "", "opening": None,
        "snapshot": Snapshot(utc_now=AT, max_tool_calls=40),
    }  # fmt: skip
    return Sources(**{**told, **given})


def section(given: Sources, name: str) -> str:
    """The text of one section of the message that these sources give."""
    composed = compose(given, masked)
    return next(one.text for one in composed.sections if one.name == name)


def elements(message: str) -> Iterator[tuple[str, ...]]:
    """The way to each element of a message, as a model may read it: NFKC, in any case.

    Fails on a tag that closes what is not open, and on one that is never closed.
    """
    opened: list[str] = []
    for tag in _TAG.finditer(normalize("NFKC", message)):
        name = tag[2].casefold()
        if tag[1]:
            assert opened, tag
            assert opened.pop() == name, tag
        else:
            opened.append(name)
            yield tuple(opened)
    assert opened == []


def state_of(text: str) -> Mapping[str, Any]:
    """The snapshot in the text of State."""
    found = json.loads(text.partition("\nState:\n")[2])
    assert isinstance(found, dict)
    return found
