"""What every use case has in front of it: the vault, the roster, who is acting, clock, chance."""

import os
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Protocol

from orgvault.domain.access import Actor, allowed, who_may
from orgvault.domain.ids import random_id, random_row_id
from orgvault.domain.record import unsound
from orgvault.domain.roster import Agent, Roster
from orgvault.errors import BadValue, NotAllowed, UnknownAgent
from orgvault.store.entry import Message, Row
from orgvault.store.logs import encode
from orgvault.store.vault import Identity, Vault
from orgvault.values import dataclass


class Clock(Protocol):
    """Something that tells the time."""

    def now(self) -> str:
        """The present instant, to the second."""

    def monotonic(self) -> float:
        """Seconds on a clock that never steps back."""


@dataclass(frozen=True)
class Desk:
    """One actor at work in one vault; `secrets` are the values bound to its agents."""

    vault: Vault
    roster: Roster
    actor: Actor
    clock: Clock
    random: Callable[[int], bytes]
    version: str
    count_tokens: Callable[[str], int]
    secrets: tuple[str, ...] = ()
    counted_by: Callable[[], str] = lambda: "cl100k_base"  # the name of what counts tokens
    environment: Mapping[str, str] = field(default_factory=dict)  # what connectors' hooks inherit

    def agent(self, name: str) -> Agent:
        """An agent of the roster.  Raises UnknownAgent."""
        try:
            return self.roster.agents[name]
        except KeyError:
            raise UnknownAgent(name, sorted(self.roster.agents)) from None

    def require(self, verb: str, said: str, agent: Agent | None = None) -> None:
        """Let the actor do `verb`, said as in `wake nova`.  Raises NotAllowed."""
        if not allowed(self.actor, verb, agent):
            raise NotAllowed(self.actor.name, said, who_may(verb))

    def readable(self) -> list[Agent]:
        """The agents whose rows the actor may read, by id."""
        agents = (self.roster.agents[name] for name in sorted(self.roster.agents))
        return [agent for agent in agents if allowed(self.actor, "read", agent)]

    def others(self, agent: Agent) -> dict[str, str]:
        """The ids of all other agents, with their display names."""
        return {one.id: one.name for one in self.roster.agents.values() if one.id != agent.id}

    def masked(self, text: str) -> str:
        """A text with every secret replaced: git never forgets, so none may be written.

        Secrets are the values bound to agents, and what looks like one.
        """
        from orgvault.domain.masking import mask, mask_values

        return mask(mask_values(text, self.secrets)[0])[0]

    def protects(self, path: str) -> bool:
        """Whether a path that somebody hands over names a protected place, or leads to one."""
        return self._protects(path, path)

    def protects_own(self, path: str) -> bool:
        """The same for a path in the vault, from whatever folder we are called."""
        return self._protects(path, f"{self.vault.root}/{path}")

    def _protects(self, named: str, place: str) -> bool:
        from orgvault.domain.masking import mentions_protected

        protected = self.roster.protected
        return (
            mentions_protected(named, protected)
            or self.leads_into_protected(place)
            # A link to a place of that name elsewhere; of the vault's own path that says nothing.
            or (not self._within(place) and mentions_protected(_real(place), protected))
        )

    def leads_into_protected(self, path: str) -> bool:
        """Whether a path ends in a protected place of this vault once links are followed.

        They are followed on both sides: a protected folder may itself be a link.
        """
        from orgvault.domain.masking import PROTECTED, mentions_protected, same_name

        protected = self.roster.protected
        if (inside := self._within(path)) and mentions_protected(inside, protected):
            return True
        root, real = _real(self.vault.root), same_name(_real(path))
        places = (_real(f"{root}/{one.strip('/')}") for one in (*PROTECTED, *protected))
        return any(
            f"{real}{os.sep}".startswith(same_name(place) + os.sep)
            for place in places
            if place != root
        )

    def why_not_followed(self, path: str, *, outside: bool) -> str:
        """Why a file of the vault's own is not read, where a link stands in its place.

        A link may not lead to a protected place, nor out of the vault unless `outside` allows it.
        """
        inside = self._within(f"{self.vault.root}/{path}")
        if inside == path:
            return ""
        if not inside and not outside:
            return "a link that leads out of the vault"
        return "a link that leads to a protected place" if self.protects_own(path) else ""

    def _within(self, path: str) -> str:
        """The path below the vault's root, links followed; empty when it leads elsewhere."""
        real, root = _real(path), _real(self.vault.root)
        return real[len(root) + 1 :] if real.startswith(root + os.sep) else ""

    def new_id(self, prefix: str) -> str:
        """A fresh random id of 8 characters."""
        return random_id(prefix, self.random(5))

    def new_row_id(self, prefix: str) -> str:
        """A fresh random id of 16 characters."""
        return random_row_id(prefix, self.random(10))

    @property
    def author(self) -> Identity:
        """Whom a commit names as its author: the acting agent, or the person."""
        if not self.actor.is_person:
            return Identity(self.actor.name, f"{self.actor.name}@agents.invalid")
        known = next((one for one in self.roster.operators if one.name == self.actor.name), None)
        own = self.vault.repository.identity
        if known is not None and known.email:
            return Identity(
                own.name if own and own.email == known.email else known.name, known.email
            )
        return own or Identity(self.actor.name, f"{self.actor.name}@localhost.invalid")

    def message(self, subject: str, op: str, agent: str | None = None, run: str = "") -> Message:
        """The words of a commit, with orgvault's trailers."""
        return Message(
            subject,
            {
                "Orgvault-Op": op,
                "Orgvault-Agent": agent or "",
                "Orgvault-Run": run,
                "Orgvault-Actor": self.actor.name,
                "Orgvault-Version": self.version,
            },
        )


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # a NUL in it, for example: no such name can be opened
        return path


class Recorded(Protocol):
    """A record that is a row of an agent's log."""

    @property
    def id(self) -> str:
        """The row's id."""

    @property
    def agent(self) -> str:
        """Whose log it stands in."""


def row(log: str, record: Recorded) -> Row:
    """A record as a row of an agent's log.  Raises ValueError when it does not fit."""
    return Row(log, record.agent, record.id, encode(record))


def sound(record: object) -> None:
    """Refuse a record that its own format would not read back.  Raises BadValue."""
    faults = unsound(record)
    if faults:
        name = str(faults[0].path[0]) if faults[0].path else "row"
        from orgvault.domain.forms import in_words

        value = getattr(record, name, record)
        if isinstance(value, tuple) and len(faults[0].path) > 1:
            value = value[int(faults[0].path[1])]
        raise BadValue(name, str(value)[:80], in_words(faults[0].what))
