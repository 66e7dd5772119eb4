"""`prompt preview|shape`: what a run would be told now; nothing is stored and nobody is asked."""

from typing import TYPE_CHECKING

from orgvault.domain.capability_parts import TEMPLATE
from orgvault.domain.intros import shape as pieces
from orgvault.domain.run import KeptSection
from orgvault.services.composing import Origin, Prepared, prepare, text_at
from orgvault.services.desk import Desk
from orgvault.services.run_faults import NoSuchSection, NoTemplate
from orgvault.services.showing import Sent, sent
from orgvault.services.starting import kept_sections
from orgvault.store.runs import MESSAGE
from orgvault.values import dataclass

if TYPE_CHECKING:
    from orgvault.domain.problem import Problem

NO_RUN = "run-preview"


@dataclass(frozen=True)
class Preview:
    """A composed prompt, with what each section takes."""

    prepared: Prepared
    sections: tuple[KeptSection, ...]
    counter: str

    def text(self, name: str) -> str:
        """A section's text, or with `message` that of the message after the system message.

        Raises NoSuchSection.
        """
        composed = self.prepared.composed
        texts = {one.name: one.text for one in composed.sections}
        if composed.opening is not None:
            texts[MESSAGE] = composed.opening.text
        if name not in texts:
            raise NoSuchSection(name, list(texts))
        return texts[name]

    @property
    def sent(self) -> Sent:
        """What would be sent."""
        return sent("", self.prepared.agent.id, self.prepared.composed, self.sections)


def preview(desk: Desk, agent_id: str, origin: Origin) -> Preview:
    """Compose as `run start` does, but call no connector.  Raises what `prepare` raises."""
    desk.require("read", f"read the prompt of {agent_id}", desk.agent(agent_id))
    prepared = prepare(desk, agent_id, origin, NO_RUN, None)
    return Preview(prepared, kept_sections(desk, prepared.composed), desk.counted_by())


def shape(desk: Desk) -> dict[str, str]:
    """What a prompt holds around a Task: the template, the intros, the rules of memory.

    Raises NoTemplate.
    """
    desk.require("read", "read the shape of prompts")
    problems: list[Problem] = []
    template = text_at(desk, TEMPLATE, problems, outside=True)
    if template is None:
        raise NoTemplate(TEMPLATE, "; ".join(map(str, problems)))
    return {"template": template, **pieces()}
