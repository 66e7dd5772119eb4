"""The roster from org-agents.json: read in every command, so it is quick and imports little.

The limits of the memory settings are checked here again: the file may have been edited, or
written by an older compiler.  An invalid memory block does not fail the roster: its agent has
the default settings and says why in `memory_fault`.
"""

import re
from collections.abc import Mapping
from typing import Any

from orgvault.domain.format_version import newer_format
from orgvault.domain.forms import VARIABLE, dotted, in_words
from orgvault.domain.ids import agent_id_fault
from orgvault.domain.problem import Problem
from orgvault.domain.record import Violation, read
from orgvault.domain.roster import BUILTIN_PROTECTED, Agent, MemorySettings, Operator, Roster

FILE = ".agents/org/org-agents.json"
FORMAT = 1
EPISODIC = "episodic"
_COMPILE_AGAIN = "run `orgvault compile`"


def read_roster(data: object, file: str) -> tuple[Roster | None, tuple[Problem, ...]]:
    """The roster of a parsed org-agents.json.

    The roster and no problems, or None and every problem (a newer `version` is the only one
    then).  A missing block or key means its default; without an owner there is no roster.
    """
    if newer := newer_format(data, FORMAT, file):
        return None, newer
    if not isinstance(data, Mapping):
        return None, (Problem(file, 0, "not a mapping of keys", _COMPILE_AGAIN),)
    reader = _Reader(file)
    operators = reader.operators(data)
    agents = reader.mapping(data, "agents")
    guild, pages, commit, ledger, group, runs = (
        reader.mapping(data, key) for key in ("guild", "pages", "commit", "ledger", "group", "runs")
    )
    roster = Roster(
        guild=reader.text(guild, "name", "guild.name"),
        owner=reader.text(data, "owner", "owner", needed=True),
        operators=operators,
        agents={key: reader.agent(key, block) for key, block in agents.items()},
        protected=tuple(dict.fromkeys((*BUILTIN_PROTECTED, *reader.protected(data)))),
        pages_folder=reader.text(pages, "folder", "pages.folder") or "Org",
        sign_commits=reader.switch(commit, "sign", "commit.sign"),
        about=reader.text(guild, "about", "guild.about"),
        description=reader.text(guild, "description", "guild.description"),
        timezone=reader.text(data, "timezone", "timezone") or "UTC",
        router=reader.text(group, "router", "group.router") or "recent",
        keep_run_days=reader.days(runs, "keep_days", "runs.keep_days"),
        ledger_margin=reader.share(ledger, "margin", "ledger.margin", default=0.10),
        source_sha256=reader.text(data, "source_sha256", "source_sha256"),
    )
    return (None, tuple(reader.problems)) if reader.problems else (roster, ())


def display_name(agent_id: str) -> str:
    """The name of an agent that was given none: its id in title case."""
    return agent_id.replace("-", " ").title()


def memory_rules(block: object) -> list[Violation]:
    """What no memory block may say beyond the limits that stand in its description.

    Looks at the block as it was written, so that it also speaks where the rest is unreadable.
    """
    found: list[Violation] = []
    if not isinstance(block, Mapping):
        return found
    improving, tiers = block.get("self_improvement"), block.get("tiers")
    if isinstance(improving, Mapping) and improving.get("requires_ship_gate") is False:
        path = ("self_improvement", "requires_ship_gate")
        found.append(Violation(path, "false, but only true is allowed", "take the key out"))
    if isinstance(tiers, list) and EPISODIC not in tiers:
        what, do = f"`{EPISODIC}` is missing, and that tier is always on", f"add {EPISODIC}"
        found.append(Violation(("tiers",), what, do))
    return found


def read_memory(block: object) -> tuple[MemorySettings, str]:
    """The settings of one memory block and no fault, or the defaults and what is wrong."""
    settings, violations = read(MemorySettings, {} if block is None else block)
    violations += memory_rules(block)
    if settings is not None and not violations:
        return settings, ""
    return MemorySettings(), "; ".join(map(_said, violations))


class _Reader:
    """Takes single values out of the file and collects what is wrong."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.problems: list[Problem] = []

    def agent(self, key: str, block: object) -> Agent:
        where = f"agents.{key}"
        if fault := agent_id_fault(key):
            self._note(f"{where}: {fault}")
        if not isinstance(block, Mapping):
            self._note(f"{where}: expected a mapping")
            block = {}
        self._secrets(block, where)
        settings, fault = read_memory(block.get("memory"))
        if block.get("id", key) != key:
            self._note(f"{where}.id: another id than the key")
        return Agent(
            id=key,
            name=self.text(block, "name", f"{where}.name") or display_name(key),
            lead=self.text(block, "lead", f"{where}.lead") or None,
            focus=self.text(block, "focus", f"{where}.focus") or None,
            memory=settings,
            memory_fault=f"{self._file}: {where}.memory: {fault}" if fault else "",
            block=dict(block),
        )

    def _secrets(self, block: Mapping[str, Any], where: str) -> None:
        """Every command reads the names, to mask the values: `block` keeps them as they stand."""
        for index, item in enumerate(self._list(block, "secrets", f"{where}.secrets")):
            name = item.get("name") if isinstance(item, Mapping) else None
            if not isinstance(name, str) or not re.fullmatch(VARIABLE, name):
                self._note(f"{where}.secrets[{index}]: expected a `name`, that of a variable")

    def operators(self, data: Mapping[str, Any]) -> tuple[Operator, ...]:
        found = []
        for index, item in enumerate(self._list(data, "operators")):
            operator, violations = read(Operator, item)
            found.append(operator)
            for one in violations:
                self._note(f"operators[{index}].{_said(one)}")
        return tuple(one for one in found if one is not None)

    def protected(self, data: Mapping[str, Any]) -> list[str]:
        found = self._list(data, "protected")
        if not all(isinstance(one, str) for one in found):
            self._note("protected: expected a list of texts")
        return [one for one in found if isinstance(one, str)]

    def mapping(self, data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = data.get(key)
        if value is not None and not isinstance(value, Mapping):
            self._note(f"{key}: expected a mapping")
        return value if isinstance(value, Mapping) else {}

    def text(self, data: Mapping[str, Any], key: str, where: str, *, needed: bool = False) -> str:
        value = data.get(key)
        if value is None and not needed:
            return ""
        if not isinstance(value, str):
            self._note(f"{where}: expected a text")
            return ""
        return value

    def switch(self, data: Mapping[str, Any], key: str, where: str) -> bool:
        value = data.get(key, False)
        if not isinstance(value, bool):
            self._note(f"{where}: expected true or false")
        return value is True

    def share(self, data: Mapping[str, Any], key: str, where: str, *, default: float) -> float:
        value = data.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            self._note(f"{where}: expected a number from 0 to 1")
            return default
        return float(value)

    def days(self, data: Mapping[str, Any], key: str, where: str) -> int | None:
        value = data.get(key)
        if value is None or (type(value) is int and value > 0):
            return value
        self._note(f"{where}: expected a number of days, or null")
        return None

    def _list(self, data: Mapping[str, Any], key: str, where: str = "") -> list[Any]:
        value = data.get(key)
        if value is not None and not isinstance(value, list):
            self._note(f"{where or key}: expected a list")
        return value if isinstance(value, list) else []

    def _note(self, what: str) -> None:
        self.problems.append(Problem(self._file, 0, what, _COMPILE_AGAIN))


def _said(one: Violation) -> str:
    """A violation without a line: its key, what is wrong, what to do."""
    key, what = dotted(one.path), in_words(one.what)
    what = f"{key}: {what}" if key else what
    return f"{what}, {one.do}" if one.do else what
