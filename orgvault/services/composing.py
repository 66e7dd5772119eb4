"""What a run's prompt is composed from, gathered from the vault; preview and start share it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orgvault.digests import sha256
from orgvault.domain import opening
from orgvault.domain.capability_parts import TEMPLATE
from orgvault.domain.chat import Said, history
from orgvault.domain.composing import Sources, compose
from orgvault.domain.harmless import Harmless
from orgvault.domain.memory_section import core_block
from orgvault.domain.offer import capable, offered
from orgvault.domain.problem import Problem
from orgvault.domain.prompt import Composed, Message
from orgvault.domain.roster import Agent
from orgvault.domain.run import (
    DIRECT,
    GROUP,
    MANIFEST,
    KeptConnector,
    KeptSource,
    TaskSource,
)
from orgvault.domain.snapshot import ConnectorKey, Snapshot
from orgvault.services.desk import Desk
from orgvault.services.run_faults import (
    NoTemplate,
    NotItsRoutine,
    UnknownMessage,
    UnknownRoutine,
)
from orgvault.services.task_text import task_text
from orgvault.store.chat import Chat
from orgvault.store.files import text_of
from orgvault.store.roster import COMPILED, used
from orgvault.store.vault import ORG
from orgvault.values import dataclass

if TYPE_CHECKING:
    from orgvault.services.connecting import Answered, Connector

UNASKED = "fetched live at run start"
# Of the group chat: how many State shows, and among how many the router chooses.
SHOWN, CHOSEN_FROM = 10, 40

Shown = tuple[Mapping[str, Any], ...]
Ask = Callable[[Desk, Agent, str, "Sequence[Connector]"], "Sequence[Answered]"]


@dataclass(frozen=True)
class Origin:
    """What starts a run: an operator (direct), a message of the group chat, or a routine."""

    kind: str = DIRECT
    message: str = ""
    chat_seq: int | None = None
    tagged: bool = False  # by another of the messages that the run answers
    routine: str | None = None
    wakes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A composed prompt, with all that its manifest tells; nothing is stored yet."""

    agent: Agent
    run: str
    at: str
    origin: Origin
    composed: Composed
    sources: tuple[KeptSource, ...]
    task_source: TaskSource
    connectors: tuple[KeptConnector, ...]
    claims: tuple[str, ...]
    core_sha256: str | None
    tools: tuple[str, ...]
    remarks: list[str]


def prepare(desk: Desk, agent_id: str, origin: Origin, run: str, ask: Ask | None) -> Prepared:
    """Compose the prompt of a run.  Without `ask`, a preview, no connector is called.

    Raises UnknownAgent, NoTemplate, BrokenTemplate, EmbedBudgetExceeded, UnknownMessage,
    UnknownRoutine or NotItsRoutine.
    """
    return _Gathering(desk, desk.agent(agent_id), origin, run).prepared(ask)


def text_at(desk: Desk, path: str, problems: list[Problem], *, outside: bool) -> str | None:
    """The text of one of the vault's own files; None where there is none, or it is not to be read.

    A link in its place may lead out of the vault when `outside` says so.
    """
    if why := desk.why_not_followed(path, outside=outside):
        problems.append(Problem(path, 0, why, "put the file itself in its place"))
        return None
    return text_of(desk.vault.read, path, problems, "save it as UTF-8")


class _Gathering:
    """One run's sources on their way into its prompt."""

    def __init__(self, desk: Desk, agent: Agent, origin: Origin, run: str) -> None:
        self._desk = desk
        self._agent = agent
        self._origin = origin
        self._run = run
        self._at = desk.clock.now()
        self._problems: list[Problem] = []
        self._sources: list[KeptSource] = []
        self._capable = capable(agent)

    def prepared(self, ask: Ask | None) -> Prepared:
        """The composed prompt."""
        desk, agent = self._desk, self._agent
        template = self._template()
        opened = self._opening()
        task = task_text(desk, agent)
        self._named("org", COMPILED, used(desk.vault)[0] or b"")
        answered = self._connectors(ask)
        connectors = [one.connector for one in answered]
        collections, scripts = self._collections(), self._scripts()
        tools = offered(
            agent, self._origin.kind, reads_collections=bool(collections),
            own_tools=[one["name"] for one in scripts if "parameters" in one],
        )  # fmt: skip
        notebook, core = self._memory()
        composed = compose(
            Sources(
                agent=agent,
                template=template,
                template_file=TEMPLATE,
                tools=tools,
                guidance=tuple(filter(None, (one.guidance for one in connectors))),
                task=task.expanded,
                snapshot=self._snapshot(collections, scripts, answered),
                notebook=notebook,
                core=core,
                opening=opened,
            ),
            desk.masked,
        )
        for one in connectors:
            self._sources.append(
                KeptSource(name=f"connector/{one.name}", path=one.path, blob=one.blob)
            )
        block = Harmless(desk.masked).block(core_block(core))
        return Prepared(
            agent=agent,
            run=self._run,
            at=self._at,
            origin=self._origin,
            composed=composed,
            sources=tuple(self._sources),
            task_source=task.source,
            connectors=tuple(_kept(one) for one in answered) if ask else (),
            claims=self._claims(core) if ask else (),
            core_sha256=sha256(block.encode()).hexdigest() if block else None,
            tools=tools,
            remarks=[*map(str, self._problems), *task.remarks],
        )

    def _template(self) -> str:
        content = self._source("template", TEMPLATE)
        if content is None:
            raise NoTemplate(TEMPLATE, "; ".join(map(str, self._problems)))
        return content

    def _source(self, name: str, path: str) -> str | None:
        """The text of a source, which the manifest is to name; None where there is none."""
        text = text_at(self._desk, path, self._problems, outside=name == "template")
        if text is not None:
            self._named(name, path, text.encode())
        return text

    def _named(self, name: str, path: str, content: bytes) -> None:
        """Have the manifest name a source."""
        blob = self._desk.vault.blob(content)
        self._sources.append(KeptSource(name=name, path=path, blob=blob))

    # ── State ───────────────────────────────────────────────────────────────────────────────

    def _snapshot(
        self, collections: Shown, scripts: Shown, answered: "Sequence[Answered]"
    ) -> Snapshot:
        roster, block = self._desk.roster, self._agent.block
        people = [{"name": one.name, "role": one.role} for one in roster.operators]
        return Snapshot(
            utc_now=self._at,
            max_tool_calls=int(block.get("max_tool_calls") or 0),
            about=roster.about,
            description=roster.description,
            members=tuple(map(_member, roster.agents.values())),
            operators=tuple(people),
            history=self._history(),
            collections=collections,
            scripts=scripts,
            environment=tuple(map(_secret, block.get("secrets") or ())),
            repositories=self._repositories(),
            connectors=_keys(answered),
        )

    def _history(self) -> Shown:
        up_to = self._origin.chat_seq if self._origin.kind == GROUP else None
        said: list[Said] = Chat(self._desk.vault).latest(CHOSEN_FROM, up_to)
        return history(said, self._desk.roster, self._agent.focus or "", SHOWN)

    # What a vault does not have, or an agent does not use, is not even imported.

    def _connectors(self, ask: Ask | None) -> "Sequence[Answered]":
        """The connectors of the run with what they answered; in a preview nobody is asked."""
        desk, agent = self._desk, self._agent
        if not agent.block.get("connectors"):
            return ()
        from orgvault.services.connecting import Answered, of_agent

        connectors = of_agent(desk, agent, self._problems)
        if ask is None:
            return [Answered(one, None, UNASKED, 0) for one in connectors]
        return ask(desk, agent, self._run, connectors)

    def _collections(self) -> Shown:
        desk = self._desk
        if not desk.vault.names(f"{ORG}/collections"):
            return ()
        from orgvault.domain.collection import listed
        from orgvault.store.collections import Collections

        known = Collections(desk.vault, desk.roster.pages_folder).all(self._problems)
        return listed(known, self._agent, desk.roster)

    def _scripts(self) -> Shown:
        if "scripts" not in self._capable or not self._desk.vault.names(f"{ORG}/scripts"):
            return ()
        from orgvault.domain.script import catalog
        from orgvault.store.scripts import Scripts

        return catalog(Scripts(self._desk.vault).of(self._agent.id, self._problems))

    def _repositories(self) -> tuple[dict[str, str], ...]:
        if "coding" not in self._capable:
            return ()
        from orgvault.store.repositories import default_branch

        found = []
        for one in self._agent.block.get("repositories") or ():
            branch = default_branch(one["path"])
            shown = {"name": one["name"], "path": one["path"], "default_branch": branch}
            found.append({key: value for key, value in shown.items() if value})
        return tuple(found)

    # ── Memory ──────────────────────────────────────────────────────────────────────────────

    def _memory(self) -> tuple[str, str]:
        """The notebook and the core memory; empty where there is none, or memory is off."""
        if "memory" not in self._capable:
            return "", ""
        notebook = self._source("notebook", f"{ORG}/memory/{self._agent.id}.md")
        has_core = "core" in self._agent.memory.tiers
        core = self._source("core", f"{ORG}/memory/{self._agent.id}/core.md") if has_core else ""
        return notebook or "", core or ""

    def _claims(self, core: str) -> tuple[str, ...]:
        """The claims whose lines stand in the core memory, in their order."""
        if not core:
            return ()
        from orgvault.domain import core_memory
        from orgvault.store.claims import Claims

        stored = Claims(self._desk.vault).load(self._agent.id, "claims", [])
        masked = (replace(one.claim, text=self._desk.masked(one.claim.text)) for one in stored)
        lines = {core_memory.line(one).rstrip("\n"): one.id for one in masked}
        return tuple(lines[line] for line in core.splitlines() if line in lines)

    # ── what the run opens with ─────────────────────────────────────────────────────────────

    def _opening(self) -> Message | None:
        desk, origin = self._desk, self._origin
        if origin.kind == DIRECT:
            return Message("", desk.masked(origin.message)) if origin.message else None
        if origin.kind == GROUP:
            said = Chat(desk.vault).get(origin.chat_seq or 0)
            if said is None:
                raise UnknownMessage(origin.chat_seq or 0)
            tagged = origin.tagged or self._agent.id in said.tags
            shown = history([said], desk.roster, "", 1)[0]
            return opening.group_chat_info(shown, desk.masked, tagged=tagged)
        return self._schedule(origin.routine or "")

    def _schedule(self, routine_id: str) -> Message:
        from orgvault.store.routines import Routines

        problems: list[Problem] = []
        routine = Routines(self._desk.vault).get(routine_id, problems)
        if routine is None:
            raise UnknownRoutine(routine_id, str(problems[0]) if problems else "")
        if routine.agent != self._agent.id:
            raise NotItsRoutine(routine_id, self._agent.id, routine.agent)
        when = {"cron": routine.cron} if routine.cron else {"window": routine.window}
        told = {
            "id": routine.id,
            **when,
            "instruction": routine.instruction,
            "previous_run_at": self._previous_run_at(routine_id),
        }
        return opening.schedule_wake_up(told, self._desk.masked)

    def _previous_run_at(self, routine_id: str) -> str | None:
        """When its last run began; one that was killed over these very wakes answered none."""
        logs, ours = self._desk.vault.logs, set(self._origin.wakes)
        if not logs.mention("runs", self._agent.id, routine_id):
            return None
        for line in logs.newest_lines("runs", self._agent.id):
            row = line.row
            of_routine = row.get("kind") == MANIFEST and row.get("routine") == routine_id
            if of_routine and ours.isdisjoint(row.get("wakes") or ()):
                return str(row.get("at"))
        return None


def _member(agent: Agent) -> dict[str, str]:
    return {"name": agent.name, **({"focus": agent.focus} if agent.focus else {})}


def _secret(bound: Mapping[str, str]) -> dict[str, str]:
    about = bound.get("description") or ""
    return {"name": bound["name"], **({"description": about} if about else {})}


def _keys(answered: "Sequence[Answered]") -> tuple[ConnectorKey, ...]:
    """The keys of connectors that gave a value, or why they could not."""
    if not answered:
        return ()
    from orgvault.services.connecting import MISSING

    given = (
        (one.connector, {"unavailable": one.unavailable} if one.unavailable else one.value)
        for one in answered
    )
    return tuple(
        ConnectorKey(one.key, one.intro, value) for one, value in given if value is not MISSING
    )


def _kept(answered: "Answered") -> KeptConnector:
    return KeptConnector(
        name=answered.connector.name, ms=answered.ms, unavailable=answered.unavailable
    )
