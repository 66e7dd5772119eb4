"""Scripts: the owner gives them to an agent, each a folder of its own."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from orgvault.domain.problem import Problem
from orgvault.domain.record import Violation, unsound
from orgvault.domain.script import SCRIPT_FILE, Script, broken_rules
from orgvault.domain.script_file import read_script, write_script
from orgvault.errors import AlreadySo
from orgvault.services.collection_faults import NoSchema, Twice, UnfitFile, UnfitScript
from orgvault.services.desk import Desk
from orgvault.store.faults import NotANumber
from orgvault.store.scripts import ABOUT, FOLDER, Scripts, is_link, name_of, outside
from orgvault.values import dataclass

if TYPE_CHECKING:
    from orgvault.domain.roster import Agent

FILE_BYTES = 256 * 1024
_EDIT = "edit its files, or choose another name"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A script as its owner says it; `files` and `parameters` are paths in the file system."""

    name: str
    description: str
    command: Sequence[str]
    files: Sequence[str] = ()
    parameters: str | None = None
    timeout_s: int = 30


@dataclass(frozen=True)
class Added:
    """A new script.  As JSON: `agent`, `script` (as in the file), `paths` that were written."""

    agent: str
    script: Script
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Listed:
    """A script with whose it is.  As JSON: `agent`, `script` (as in the file)."""

    agent: str
    script: Script


def add(desk: Desk, agent_id: str, wanted: Wanted) -> Added:
    """Give an agent a script.  Raises UnfitScript, UnfitFile, NoSchema or AlreadySo."""
    desk.require("script", "add scripts")
    agent = desk.agent(agent_id)
    script = Script(
        name=wanted.name,
        description=desk.masked(wanted.description.strip()),
        command=tuple(map(desk.masked, wanted.command)),
        timeout_s=wanted.timeout_s,
        parameters=_schema(desk, wanted.parameters) if wanted.parameters else None,
    )
    wrong = unsound(replace(script, parameters=None)) or broken_rules(script)
    if wrong:
        raise UnfitScript(wanted.name, wrong)
    folder = Scripts.folder(agent.id, script.name)
    texts = {f"{folder}/{ABOUT}": write_script(script)}
    if problems := read_script(texts[f"{folder}/{ABOUT}"], ABOUT)[1]:
        # JSON holds what YAML's readers take in more than one way, like a number of 30 digits.
        raise UnfitScript(wanted.name, [Violation((), one.what, one.do) for one in problems])
    for path in wanted.files:
        name, text = _beside(desk, path)
        if f"{folder}/{name}" in texts:
            raise Twice(name)
        texts[f"{folder}/{name}"] = text
    message = desk.message(f"script({agent.id}): add {script.name}", "script-add", agent.id)
    with desk.vault.change(message, desk.author, desk.clock.now()) as change:
        if change.names(folder):
            raise AlreadySo(folder, "there already", _EDIT)
        for path, text in texts.items():
            change.write(path, text)
    return Added(agent.id, script, tuple(texts))


def listed(desk: Desk, agent_id: str | None) -> tuple[list[Listed], list[Problem]]:
    """The scripts of an agent, or of all agents whose scripts the actor may read."""
    problems: list[Problem] = []
    agents: list[Agent] = desk.readable()
    if agent_id is not None:
        agent = desk.agent(agent_id)
        desk.require("read", f"read the scripts of {agent.id}", agent)
        agents = [agent]
    scripts = Scripts(desk.vault)
    found = [Listed(one.id, script) for one in agents for script in scripts.of(one.id, problems)]
    return found, problems


def problems_of(desk: Desk, problems: list[Problem]) -> int:
    """Find everything wrong in the scripts; how many were read."""
    scripts, count = Scripts(desk.vault), 0
    for name in scripts.agents():
        if desk.roster.agents and name not in desk.roster.agents:
            what = f"scripts of {name}, who is not on the roster"
            problems.append(Problem(f"{FOLDER}/{name}", 0, what, "rename the folder, or remove it"))
        count += len(scripts.of(name, problems))
    return count


def _schema(desk: Desk, path: str) -> Any:  # noqa: ANN401 - whatever the JSON holds; it is judged
    text = desk.masked(_text(desk, path))
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as failure:
        raise NoSchema(path, str(failure)) from None


def _once(pairs: Sequence[tuple[str, Any]]) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise Twice(key)
        found[key] = value
    return found


def _no_number(name: str) -> NoReturn:
    raise NotANumber(name)


def _beside(desk: Desk, path: str) -> tuple[str, str]:
    """The name and the text of a file that is to stand beside a script."""
    name = name_of(path)
    if not re.fullmatch(SCRIPT_FILE, name) or name == ABOUT:
        do = f"name it with letters, digits, . - and _, and not {ABOUT}"
        raise UnfitFile(path, "has a name that cannot stand beside a script", do)
    text = _text(desk, path)
    if desk.masked(text) != text:
        do = "have the script read it from its environment instead"
        raise UnfitFile(path, "holds what looks like a secret, and git never forgets", do)
    return name, text


def _text(desk: Desk, path: str) -> str:
    """A file's text: a regular file of at most 256 KiB, in UTF-8, reached over no link."""
    if desk.protects(path):
        raise UnfitFile(path, "is protected", "name another file")
    if is_link(path):
        raise UnfitFile(path, "is a link", "name the file that it leads to")
    try:
        content = outside(path)
    except OSError as failure:
        why = (failure.strerror or str(failure)).lower()
        raise UnfitFile(path, f"cannot be read ({why})", "name a file") from failure
    if len(content) > FILE_BYTES:
        why = f"has more than the {FILE_BYTES:,} bytes that a file may have"
        raise UnfitFile(path, why, "shorten it")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise UnfitFile(path, "is not UTF-8", "a script's files are texts") from None
    return text.removeprefix("\ufeff") if path.endswith(".json") else text
