"""What the rules look at: a commit, one of its parents, and what differs between the two."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from orgvault.domain.audit.places import Spot
from orgvault.domain.roster import Roster

AGENTS = "@agents.invalid"


class Tree(Protocol):
    """The files of the vault at a commit, by path relative to the vault."""

    def read(self, path: str, /) -> bytes | None:
        """A file's content; None when there is none."""

    def names(self, folder: str, /) -> list[str]:
        """The names in a folder."""


class Facts(NamedTuple):
    """A commit as its own words tell it; `trailers` are those of its last paragraph.

    `later`: it was committed (at `at_s`, seconds since 1970) at another time than it was written,
    as a rebase and an amend do.
    """

    name: str
    author: str
    email: str
    committer_email: str
    trailers: Mapping[str, tuple[str, ...]]
    later: bool = False
    at_s: int = 0

    @property
    def ours(self) -> bool:
        """Whether it is a command's commit as that has made it."""
        return not self.later and len(self.trailers.get("Orgvault-Op", ())) == 1

    @property
    def made_anew(self) -> bool:
        """Whether it was a commit of ours, which a person has squashed others into, or picked."""
        person = not self.committer_email.endswith(AGENTS)
        return self.later and person and "Orgvault-Op" in self.trailers

    @property
    def by_agent(self) -> bool:
        """Whether it is an agent's doing: the agent is its author, and nobody made it anew."""
        return self.email.endswith(AGENTS) and not self.made_anew

    @property
    def hand(self) -> str:
        """Whose doing an edit by hand is."""
        return self.committer_email if self.made_anew else self.author


class Changed(NamedTuple):
    """One path that differs, with both contents; None where no plain file stands."""

    path: str
    spot: Spot
    old: bytes | None
    new: bytes | None


class Pair(NamedTuple):
    """A commit against one parent.

    `others` are the trees of its further parents (so a merge has some); `rosters` those that
    were in force on either side, and where it `joins`, all that were before.
    """

    facts: Facts
    old: Tree
    new: Tree
    others: Sequence[Tree]
    rosters: Sequence[Roster]
    changes: Sequence[Changed]

    @property
    def merge(self) -> bool:
        """Whether the commit has more than one parent."""
        return bool(self.others)

    @property
    def joins(self) -> bool:
        """Whether it may bring two branches together: a merge, or made anew, as by a rebase."""
        return self.merge or self.facts.later

    @property
    def by_agent_alone(self) -> bool:
        """Whether an agent has made the commit itself: no command of ours, no merge."""
        own = self.facts.by_agent and "Orgvault-Op" not in self.facts.trailers
        return own and not self.merge

    def taken(self, path: str, content: bytes | None) -> bool:
        """Whether a merge took a file as it stands with another parent."""
        return any(one.read(path) == content for one in self.others)


def trailers(message: str) -> dict[str, tuple[str, ...]]:
    """The trailers of a commit: `Key: value` lines in the last paragraph of its words."""
    last = message.rstrip().rpartition("\n\n")[2]
    found: dict[str, tuple[str, ...]] = {}
    for line in last.split("\n"):
        key, colon, value = line.partition(": ")
        if colon and key and " " not in key:
            found[key] = (*found.get(key, ()), value.strip())
    return found
