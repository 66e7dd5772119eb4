"""The system message: its sections, in their order, each in an element of its own."""

from orgvault.digests import sha256
from orgvault.values import dataclass

SECTIONS = ("guidelines", "task", "state", "memory")


@dataclass(frozen=True)
class Section:
    """One section: the name of its element, and the text between the tags."""

    name: str
    text: str

    @property
    def element(self) -> str:
        """The section as it stands in the message."""
        inner = f"{self.text}\n" if self.text else ""
        return f"<{self.name}>\n{inner}</{self.name}>"

    @property
    def sha256(self) -> str:
        """The hash of the text, in hexadecimal."""
        return sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Message:
    """A message that follows the system message, with its title in the run's rows."""

    title: str  # "Group Chat info", "Schedule wake-up", or empty for an operator's own words
    text: str

    @property
    def sha256(self) -> str:
        """The hash of the text, in hexadecimal."""
        return sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Composed:
    """What a model receives: the sections of the system message, and the message after it.

    `neutralised` counts the tags in vault texts that were made harmless.
    """

    sections: tuple[Section, ...]
    opening: Message | None
    neutralised: int

    @property
    def system(self) -> str:
        """The system message."""
        return message(self.sections)

    @property
    def sha256(self) -> str:
        """The hash of the system message, in hexadecimal."""
        return sha256(self.system.encode()).hexdigest()


def message(sections: tuple[Section, ...]) -> str:
    """The system message of these sections."""
    return "\n\n".join(section.element for section in sections)
