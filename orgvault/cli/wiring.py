"""The composition root: stores, adapters and the acting person or agent, joined for a command."""

import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Protocol

from orgvault import __version__
from orgvault.adapters.clock import SystemClock, random_bytes
from orgvault.cli import output
from orgvault.cli.options import settings
from orgvault.domain.access import Actor, who_may
from orgvault.domain.roster import Roster
from orgvault.errors import BadCallsPerDay, InsideVault, NotAllowed, OrgvaultError, UnknownActor
from orgvault.services.desk import Desk
from orgvault.services.means import Means
from orgvault.services.reflecting import Reflecting
from orgvault.store.roster import load
from orgvault.store.vault import Vault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orgvault.adapters.tokens import TokenCounter
    from orgvault.domain.reflection import Model
    from orgvault.domain.transcript import Session
    from orgvault.services.dispatching import Clients, RunEnded, Skipped
    from orgvault.services.setting_up import Packaged

VERSION = __version__


class _Cache(Protocol):
    """Something that is kept when the command ends."""

    def save(self) -> None:
        """Keep it."""


_CACHES: list[_Cache] = []


def start() -> str:
    """The folder that the person means."""
    return settings().vault or os.getcwd()


def desk(*, writes: bool = False) -> Desk:
    """Everything a use case needs; with `writes` what a commit needs is begun to be looked up.

    Raises NoVault, NotCompiled, NotAllowed, UnknownActor.
    """
    found = _vault()
    if writes:
        found.repository.ask_settings()
    roster, said = load(found)
    output.remarks(said)
    return _desk(found, roster)


def desk_to_look() -> Desk:
    """The same for a command that writes nothing at all: what a crash left stays, too."""
    from orgvault.store.preview import Preview

    found = Preview.find(start())
    roster, said = load(found)
    output.remarks(said)
    return _desk(found, roster)


def desk_to_compile() -> Desk:
    """The same for the commands that mend the roster: without one, the owner is at work."""
    found = _vault()
    try:
        roster, _ = load(found)
    except OrgvaultError:
        roster = Roster(guild="", owner="owner", operators=(), agents={}, protected=())
        if os.environ.get("ORGVAULT_AGENT"):
            name = os.environ["ORGVAULT_AGENT"]
            return _at(found, roster, Actor("agent", name))
    return _desk(found, roster)


def new_vault(path: str | None) -> tuple[Vault, SystemClock, bool]:
    """The place for a vault, the clock, and whether a repository was made there.

    Raises NotAllowed for an agent, who makes no vault.
    """
    from orgvault.store.setup import prepare

    if agent := os.environ.get("ORGVAULT_AGENT"):
        raise NotAllowed(agent, "make a vault", who_may("init"))
    if path is None:
        _not_inside(start())
    found, made = prepare(path or start(), _kind(), make=not settings().dry_run)
    return found, SystemClock(), made


def packaged(*, make: bool) -> "Packaged":
    """What a new vault is given; with `make` targets for its CI, too."""
    from orgvault.adapters.packaged import schema, template
    from orgvault.services.setting_up import Packaged

    return Packaged(schema("org"), template("system.md"), template("org.mk") if make else None)


def _not_inside(place: str) -> None:
    """Refuse to make a vault in a folder of one, unless its folder is named."""
    try:
        around = Vault.find(place)
    except OrgvaultError:
        return
    if around.root != os.path.realpath(place):
        raise InsideVault(os.path.realpath(place), around.root)


def reflecting(at: Desk) -> Reflecting:
    """The reflection step, with this machine's models and transcript readers."""
    return Reflecting(at, means())


def means() -> Means:
    """This machine's models and transcript readers, and the settings that hold for them."""
    setting = os.environ.get("ORG_REFLECT_MODEL") or "cheap"
    return Means(setting, _calls_per_day(), cache(_model), _read_session)


def clients() -> "Clients":
    """How clients are run on this machine."""
    from orgvault.adapters.clients import end_orphans, run_client, with_options
    from orgvault.services.dispatching import Clients

    return Clients(run_client, with_options, os.environ, end_orphans)


def dispatch(
    agent: str | None, jobs: int, every_s: int, *, once: bool
) -> "Iterator[RunEnded | Skipped]":
    """The work of all agents (or of one), each in a process of its own."""
    from orgvault.adapters.clients.crew import Crew
    from orgvault.services import dispatch_loop

    found = desk(writes=True)
    found.require("dispatch", "dispatch", found.agent(agent) if agent is not None else None)
    root, acting = found.vault.root, found.actor.name
    own = ["-C", root, "--as", acting, "dispatch", "--once", "--json", "--agent"]
    crew = Crew(lambda name: [*own, name], os.environ)
    pace = dispatch_loop.Pace(jobs, every_s, once)
    return dispatch_loop.dispatch(
        lambda: desk(writes=True), crew, pace, found.clock.monotonic, agent
    )


def finish(at: Vault) -> None:
    """Say what the vault has to say; with `--dry-run` also what would have been written."""
    output.remarks(at.remarks)
    for planned in at.planned if not settings().json else ():
        output.show(None, planned)
    for one in _CACHES if not settings().dry_run else ():
        one.save()
    sys.stdout.flush()  # the answer is out; what follows may take a second
    at.tidy()


def _vault() -> Vault:
    found = _kind().find(start())
    found.settle()
    return found


def _kind() -> type[Vault]:
    """The kind of vault that the command works on: with `--dry-run` one that writes nothing."""
    if not settings().dry_run:
        return Vault
    from orgvault.store.preview import Preview

    return Preview


def _desk(found: Vault, roster: Roster) -> Desk:
    return _at(found, roster, actor(found, roster))


def _at(found: Vault, roster: Roster, acting: Actor) -> Desk:
    found.sign = roster.sign_commits
    counter = _Counter(found.private)
    return Desk(
        found,
        roster,
        acting,
        SystemClock(),
        random_bytes,
        VERSION,
        counter.count,
        _secrets(roster),
        counter.name,
        os.environ,
    )


def _secrets(roster: Roster) -> tuple[str, ...]:
    """The values, in this environment, of every secret that is bound to an agent."""
    bound = {name for agent in roster.agents.values() for name in agent.secrets}
    values = (os.environ.get(name, "") for name in bound)
    return tuple(sorted(filter(None, values)))


class _Counter:
    """A token counter that is imported when something is counted."""

    def __init__(self, private: str) -> None:
        self._private = private
        self._made: list[TokenCounter] = []

    def count(self, text: str) -> int:
        """The tokens of a text."""
        return self._counter().count(text)

    def name(self) -> str:
        """What has counted."""
        return self._counter().name

    def _counter(self) -> "TokenCounter":
        if not self._made:
            from orgvault.adapters.tokens import TokenCounter
            from orgvault.store.token_cache import TokenCache

            counts = TokenCache(self._private)
            _CACHES.append(counts)
            self._made.append(TokenCounter(counts))
        return self._made[0]


def _model(name: str) -> "tuple[Model | None, str]":
    from orgvault.adapters.models import find

    return find(name, os.environ)


def _calls_per_day() -> int:
    given = os.environ.get("ORG_REFLECT_MAX_PER_DAY") or "200"
    if given.isascii() and given.isdecimal():
        return int(given)
    # A run must be recorded all the same: reflection is what waits for a sound setting.
    output.remark(str(BadCallsPerDay(given)))
    return 0


def _read_session(path: str) -> "tuple[Session, str]":
    from orgvault.adapters.transcripts import read_session

    return read_session(path)


def actor(at: Vault, roster: Roster) -> Actor:
    """Who is acting.

    The agent or operator that the environment names, else the operator whose address is the git
    identity's, else the owner.  `--as` can only narrow that.
    """
    acting = _from_environment(at, roster)
    wanted = settings().actor
    if wanted is None or wanted == acting.name:
        return acting
    if acting.kind != "owner":
        raise NotAllowed(acting.name, f"act as {wanted}", "only the owner")
    return _named(wanted, roster)


def _from_environment(at: Vault, roster: Roster) -> Actor:
    agent = os.environ.get("ORGVAULT_AGENT")
    if agent:
        if agent not in roster.agents:
            raise UnknownActor(agent, sorted(roster.agents))
        return Actor("agent", agent)
    operator = os.environ.get("ORGVAULT_OPERATOR")
    if operator:
        return _named(operator, roster, people=True)
    others = [one for one in roster.operators if one.email and one.name != roster.owner]
    # Only when there is somebody else to be is git asked who this is.
    identity = at.repository.identity if others else None
    for one in others:
        if identity and (one.email or "").casefold() == identity.email.casefold():
            return _named(one.name, roster, people=True)
    return Actor("owner", roster.owner)


def _named(name: str, roster: Roster, *, people: bool = False) -> Actor:
    if name == roster.owner:
        return Actor("owner", name)
    if any(one.name == name for one in roster.operators):
        return Actor("operator", name)
    if name in roster.agents and not people:
        return Actor("agent", name)
    known = [one.name for one in roster.operators]
    raise UnknownActor(name, known if people else [*known, *sorted(roster.agents)])
