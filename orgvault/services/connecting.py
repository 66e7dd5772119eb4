"""Connectors: which ones an agent's run has, and what their hooks answer when it begins."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from orgvault.adapters import connectors as packages
from orgvault.domain.connector import Connector, Manifest, in_order, missing_login, refused
from orgvault.domain.connector_file import read_packaged
from orgvault.domain.problem import Problem
from orgvault.domain.record import plain
from orgvault.domain.roster import Agent
from orgvault.services.desk import Desk
from orgvault.services.run_faults import UnknownConnector
from orgvault.store.connectors import CATALOG, Connectors
from orgvault.store.roster import SOURCE
from orgvault.values import dataclass

__all__ = ["MISSING", "Answered", "Connector", "ask", "of_agent"]

MISSING = object()  # the value of a hook that has none to give: its key does not exist
BUDGET_S = 5.0  # of all hooks of a run together
TRIAL = "run-trial"
_REASON_CHARS = 300
_MARK_BYTES = 16


@dataclass(frozen=True)
class Answered:
    """What a connector's hook gave: a value, MISSING, or why it is unavailable; how long."""

    connector: Connector
    value: Any
    unavailable: str | None
    ms: int


@dataclass(frozen=True)
class Listed:
    """One connector, for people: `agents` have it on, `waiting` has what each one's login lacks.

    A connector that cannot be used has its `problem` and perhaps nothing else.
    """

    name: str
    title: str = ""
    key: str = ""
    source: str = ""
    agents: tuple[str, ...] = ()
    waiting: Mapping[str, str] | None = None
    problem: str = ""


@dataclass(frozen=True)
class Checked:
    """How many files were looked at, and everything wrong in them."""

    files: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Tried:
    """What a connector's hook gives now; `value` is None when it gives none."""

    connector: str
    agent: str
    key: str
    value: Any
    unavailable: str | None
    ms: int


# ── what a run has ──────────────────────────────────────────────────────────────────────────


def of_agent(desk: Desk, agent: Agent, problems: list[Problem]) -> list[Connector]:
    """The connectors that an agent has on and whose login is connected, in catalog order.

    What cannot be used is left out, and `problems` says why.
    """
    if not _on(agent):
        return []
    known = _Known(desk, problems)
    found = known.usable(_on(agent))
    problems += _unknown_of(agent, known)
    return [one for one in found if not _missing(desk, agent, one)]


def ask(
    desk: Desk, agent: Agent, run: str, connectors: Sequence[Connector], budget_s: float = BUDGET_S
) -> list[Answered]:
    """Run the hooks of connectors, all at once, and wait for the last; nothing is left running.

    Every text that they give is masked.
    """
    from orgvault.adapters.hooks import Hook, run_hooks

    told = _told(desk, agent, run)
    hooks = [
        Hook(one.manifest.state.command, told, _secrets(desk, agent, one), one.folder)
        for one in connectors
    ]
    mark = desk.random(_MARK_BYTES).hex()
    ended = run_hooks(
        hooks, desk.vault.root, desk.environment, desk.clock.monotonic, mark, budget_s,
        desk.masked,
    )  # fmt: skip
    return [
        Answered(one, *_answer(got.value, got.unavailable, desk.masked), got.ms)
        for one, got in zip(connectors, ended, strict=True)
    ]


def _answer(
    value: object, unavailable: str | None, masked: Callable[[str], str]
) -> tuple[Any, str | None]:
    if unavailable is not None:
        return None, masked(" ".join(unavailable.split()))[:_REASON_CHARS]
    return MISSING if value is None else _masked(value, masked), None


def _masked(value: Any, masked: Callable[[str], str]) -> Any:  # noqa: ANN401 - what JSON can hold
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, dict):
        return {masked(key): _masked(one, masked) for key, one in value.items()}
    if isinstance(value, int | float) and masked(str(value)) != str(value):
        return masked(str(value))  # a secret may be a number
    return [_masked(one, masked) for one in value] if isinstance(value, list) else value


def _told(desk: Desk, agent: Agent, run: str) -> dict[str, Any]:
    """What a hook reads on stdin."""
    block = agent.block
    repositories = [
        {"name": one["name"], "path": one["path"]} for one in block.get("repositories") or ()
    ]
    return {
        "agent": {
            "id": agent.id,
            "name": agent.name,
            "home": block.get("home") or "",
            "repositories": repositories,
        },
        "run": run,
        "vault": desk.vault.root,
        "utc_now": desk.clock.now(),
        "timezone": desk.roster.timezone,
        "protected": list(desk.roster.protected),
    }


def _secrets(desk: Desk, agent: Agent, connector: Connector) -> dict[str, str]:
    """The secrets that a hook may have: those of its login that are bound to the agent and set."""
    bound, given = agent.secrets, desk.environment
    return {
        name: given[name] for name in connector.manifest.login if name in bound and given.get(name)
    }


def _missing(desk: Desk, agent: Agent, connector: Connector) -> str:
    """What the connector's login lacks for an agent; empty when it is connected."""
    is_set = [name for name in connector.manifest.login if desk.environment.get(name)]
    return ", ".join(missing_login(connector.manifest.login, agent.secrets, is_set))


# ── for the owner ───────────────────────────────────────────────────────────────────────────


def listed(desk: Desk) -> list[Listed]:
    """Every connector that the vault or a package has, in catalog order."""
    desk.require("connectors", "list connectors")
    problems: list[Problem] = []
    known = _Known(desk, problems)
    every = known.every(packaged=True)
    usable = {one.name: one for one in known.usable(every)}
    return [_listed(desk, name, usable.get(name), problems) for name in every]


def _listed(desk: Desk, name: str, one: Connector | None, problems: Iterable[Problem]) -> Listed:
    agents = [desk.roster.agents[agent] for agent in sorted(desk.roster.agents)]
    on = [agent for agent in agents if name in _on(agent)]
    ids = tuple(agent.id for agent in on)
    if one is None:
        found = [it for it in problems if _is_about(it, name)]
        return Listed(name, agents=ids, problem="; ".join(map(str, found)) or "cannot be used")
    waiting = {agent.id: why for agent in on if (why := _missing(desk, agent, one))}
    return Listed(name, one.manifest.title, one.key, one.source, ids, waiting)


def checked(desk: Desk, name: str | None = None) -> Checked:
    """Everything wrong in connectors; with a name, in that one only.  Raises UnknownConnector."""
    desk.require("connectors", "check connectors")
    if name is not None and name not in _Known(desk, []).every(packaged=True):
        raise UnknownConnector(name, _Known(desk, []).every(packaged=True))
    found = problems_of(desk)
    if name is None:
        return found
    problems: list[Problem] = []
    known = _Known(desk, problems)
    known.usable([*known.every(packaged=False), name])
    return Checked(1, tuple(one for one in problems if _is_about(one, name)))


def problems_of(desk: Desk) -> Checked:
    """The same of all that the vault has or names, for `orgvault check`."""
    problems: list[Problem] = []
    stored = Connectors(desk.vault)
    names = stored.names(problems)
    known = _Known(desk, problems)
    named = {one for agent in desk.roster.agents.values() for one in _on(agent)}
    known.usable([*names, *named])
    for agent in desk.roster.agents.values():
        problems += _unknown_of(agent, known)
    problems += [
        Problem(CATALOG, 0, f"order: there is no connector {one}", "take it out, or add it")
        for one in known.order
        if not known.is_there(one)
    ]
    files = len(names) + bool(known.order)
    return Checked(files, tuple(sorted(set(problems))))


def tried(desk: Desk, name: str, agent_id: str | None, budget_s: float = BUDGET_S) -> Tried:
    """Run the hook of one connector as a run of an agent would; nothing is stored.

    Without an agent, for the first that has it on, or else the first of the roster.  Raises
    UnknownConnector or UnknownAgent.
    """
    desk.require("connectors", f"try the connector {name}")
    problems: list[Problem] = []
    known = _Known(desk, problems)
    found = next(iter(known.usable([name])), None)
    if found is None:
        why = "; ".join(map(str, problems))
        raise UnknownConnector(name, known.every(packaged=True), why)
    agent = desk.agent(agent_id) if agent_id else _first(desk, name)
    if missing := _missing(desk, agent, found):
        return Tried(name, agent.id, found.key, None, f"login: {missing}", 0)
    (got,) = ask(desk, agent, TRIAL, [found], budget_s)
    value = None if got.value is MISSING else got.value
    return Tried(name, agent.id, found.key, value, got.unavailable, got.ms)


def _first(desk: Desk, connector: str) -> Agent:
    ids = sorted(desk.roster.agents)
    having = [one for one in ids if connector in _on(desk.roster.agents[one])]
    return desk.agent(next(iter([*having, *ids]), ""))


def _on(agent: Agent) -> Sequence[str]:
    return agent.block.get("connectors") or ()


def _unknown_of(agent: Agent, known: "_Known") -> list[Problem]:
    """Of the connectors that an agent has on, those that do not exist."""
    return [
        Problem(
            SOURCE, 0, f"agents.{agent.id}.connectors: there is no connector {name}",
            f"add {Connectors.path(name)}, or install the package that brings it",
        )
        for name in _on(agent)
        if not known.is_there(name)
    ]  # fmt: skip


def _is_about(problem: Problem, name: str) -> bool:
    return problem.file == Connectors.path(name) or problem.file.startswith(f"{name} of ")


class _Known:
    """The connectors that the vault has, and those that packages bring where it has none."""

    def __init__(self, desk: Desk, problems: list[Problem]) -> None:
        self._desk = desk
        self._problems = problems
        self._stored = Connectors(desk.vault)
        self.order = self._stored.order(problems)
        self._packaged: dict[str, packages.Packaged | None] = {}

    def every(self, *, packaged: bool) -> list[str]:
        """All names, in catalog order."""
        names = self._stored.names()
        return in_order([*names, *(packages.names() if packaged else ())], self.order)

    def is_there(self, name: str) -> bool:
        """Whether the vault or a package has a connector of that name, sound or not."""
        return self._stored.has(name) or self._package(name) is not None

    def usable(self, names: Iterable[str]) -> list[Connector]:
        """Those of the names that can be used, in catalog order; what cannot, is a problem."""
        found, lines = [], {}
        for name in in_order(names, self.order):
            stored = self._stored.get(name, self._problems)
            if stored is not None:
                found.append(stored.connector)
                lines[name] = stored.key_line
            elif not self._stored.has(name):
                found += self._brought(name)
        faults = refused(found, lines)
        self._problems.extend(faults.values())
        return [one for one in found if one.name not in faults]

    def _brought(self, name: str) -> list[Connector]:
        """The connector that a package brings; none when none does, or it is not sound."""
        package = self._package(name)
        if package is None:
            return []
        source = f"{name} of {package.source}"
        if package.fault:
            do = "mend or remove the package"
            self._problems.append(Problem(source, 0, package.fault, do))
            return []
        manifest, faults = read_packaged(package.value, source)
        self._problems.extend(faults)
        if manifest is None:
            return []
        blob = self._desk.vault.blob(_canonical(manifest))
        return [Connector(name=name, manifest=manifest, source=source, blob=blob)]

    def _package(self, name: str) -> "packages.Packaged | None":
        if name not in self._packaged:
            self._packaged[name] = packages.load(name)
        return self._packaged[name]


def packaged(name: str) -> bytes | None:
    """What an installed package brings as a connector, as runs name it by its hash; or None."""
    found = packages.load(name)
    manifest = None if found is None or found.fault else read_packaged(found.value, name)[0]
    return None if manifest is None else _canonical(manifest)


def _canonical(manifest: Manifest) -> bytes:
    """What a package brings, in the one form that its hash is made of."""
    from json import dumps

    return dumps(plain(manifest), sort_keys=True).encode()
