"""Composing a run's system message: pure, over everything that it is made of."""

import re
from collections.abc import Callable, Iterable

from orgvault.domain import intros
from orgvault.domain.capability_parts import resolve
from orgvault.domain.embeds import Expanded
from orgvault.domain.harmless import Harmless, plain
from orgvault.domain.memory_section import memory_section
from orgvault.domain.offer import capable, parts_held
from orgvault.domain.persona import persona
from orgvault.domain.prompt import Composed, Message, Section
from orgvault.domain.roster import Agent
from orgvault.domain.snapshot import Snapshot, state_section
from orgvault.values import dataclass

# Stands in system.md where the agent's own client tools are named; the template has no other.
CLIENT_TOOLS = "{client_tools}"
_NO_TOOLS = "the tools of your client"
_HEADING = re.compile(r"\A\s*# Guidelines[ \t]*(?:\n|\Z)")


@dataclass(frozen=True, kw_only=True)
class Sources:
    """What a message is composed from.

    `template` is system.md and `template_file` its path; `guidance` are the paragraphs of the
    offered connectors, in catalog order; `core` is core.md, empty where there is none; `opening`
    is the message that follows, which is masked already.
    """

    agent: Agent
    template: str
    template_file: str
    tools: tuple[str, ...]
    guidance: tuple[str, ...]
    task: Expanded
    snapshot: Snapshot
    notebook: str
    core: str
    opening: Message | None


def compose(sources: Sources, masked: Callable[[str], str]) -> Composed:
    """The sections that a model receives, in their order, whatever the sources hold.

    `masked` replaces secrets.  Raises BrokenTemplate.
    """
    harmless = Harmless(masked)
    found = [
        Section("guidelines", _guidelines(sources, harmless)),
        Section("task", _task(sources, harmless)),
        Section("state", state_section(sources.snapshot, sources.tools, harmless)),
    ]
    if "memory" in capable(sources.agent):
        memory = memory_section(sources.notebook, sources.core, sources.tools, harmless)
        found.append(Section("memory", _paragraphs(memory)))
    return Composed(tuple(found), sources.opening, harmless.count + sources.task.neutralised)


def _guidelines(sources: Sources, harmless: Harmless) -> str:
    """The template, who the agent is, and what its connectors have to say."""
    agent = sources.agent
    held = parts_held(agent, sources.tools)
    template = resolve(plain(sources.template), held, sources.template_file)
    text = _HEADING.sub("", template).replace(CLIENT_TOOLS, _client_tools(agent))
    home = agent.block.get("home") or f"Org/Home/{agent.id}"
    identity = f"You are {agent.name}. Your id is {agent.id}. Your home is {home}."
    return _paragraphs(map(harmless.block, (text, identity, *sources.guidance)))


def _client_tools(agent: Agent) -> str:
    return intros.listed([str(one) for one in agent.block.get("tools") or ()], "and") or _NO_TOOLS


def _task(sources: Sources, harmless: Harmless) -> str:
    """The intro, the persona, and the operator's text with what it embeds."""
    own, told = harmless.block(persona(sources.agent)), harmless.expanded(sources.task.text)
    label = intros.TASK_TEXT if told else ""
    return _paragraphs((intros.task(sources.tools), own, label, told))


def _paragraphs(texts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, texts))
