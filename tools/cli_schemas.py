"""Writes schemas/cli/*.schema.json: what each command prints with `--json`.

They come from the types that the services give back; with --check it only says what has drifted.
"""

import argparse
import importlib
import json
import pkgutil
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from orgvault import domain
from orgvault.adapters.kills import kill_writers
from orgvault.domain.proposal import Refusal
from orgvault.domain.run import KeptSection
from orgvault.domain.schema import DIALECT
from orgvault.services import (
    auditing,
    chatting,
    checking,
    collecting,
    compiling,
    connecting,
    curating,
    dispatching,
    doctoring,
    finishing,
    importing,
    ledger_views,
    ledgering,
    measuring,
    overview,
    proposing,
    recalling,
    redacting,
    replaying,
    reviewing,
    scheduling,
    scripting,
    setting_up,
    showing,
    tasking,
    tracing,
    verifying,
    waking,
)
from tools.schemas import ENDING, FOLDER, drift

Schema = dict[str, Any]
CLI = FOLDER / "cli"
_SCALARS: dict[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_SECTION = {"section": str, "text": str}
_SIZES = {"counter": str, "sections": list[KeptSection]}


class OneOf(tuple[Any, ...]):
    """Several answers of one command: which one, its options and the vault decide."""

    __slots__ = ()


def gives(service: Callable[..., Any], *path: int) -> Any:  # noqa: ANN401 - any type
    """The type that a service gives back, or a member of the tuple that it is."""
    kind = get_type_hints(service)["return"]
    for number in path:
        kind = get_args(kind)[number]
    return kind


ANSWERS: dict[str, Any] = {
    "init": gives(setting_up.init),
    "compile": gives(compiling.compile_roster),
    "check": gives(checking.check),
    "audit": gives(auditing.audit),
    "doctor": gives(doctoring.examine),
    "redact": gives(redacting.redact),
    "status": gives(overview.overview),
    "selftest": OneOf((gives(kill_writers), {"kills": int})),
    "wake add": {"wake": str, "agent": str},
    "wake list": {"wakes": gives(waking.list_wakes)},
    "post": gives(waking.post),
    "wake-done": gives(finishing.wake_done),
    "reflect": gives(finishing.reflect),
    "replay": gives(replaying.replay),
    "recall": {"passages": gives(recalling.recall)},
    "memory show": {"claims": gives(curating.claims)},
    "memory episodes": {"episodes": gives(curating.episodes, 0)},
    "memory stats": gives(measuring.stats, 0),
    "memory edit": {"closed": gives(curating.edit, 0), "new": gives(curating.edit, 1)},
    "memory retire": gives(curating.retire),
    "memory why": gives(tracing.why),
    "memory render": OneOf((gives(curating.render), {"agent": str, "stale": bool})),
    "stats": gives(measuring.roster, 0),
    "query": {"columns": list[dict[str, str]], "rows": list[dict[str, Any]]},
    "import claude-code": gives(importing.Importing.run),
    "import codex": gives(importing.Importing.run),
    "task add": gives(tasking.add),
    "task list": {"cards": gives(tasking.listed, 0)},
    "task show": {"card": gives(tasking.add), "text": str},
    "task redo": gives(tasking.redo),
    "task done": gives(tasking.set_status),
    "task close": gives(tasking.set_status),
    "propose-improvement": gives(proposing.propose),
    "proposal list": {"proposals": list[gives(reviewing.summary)]},  # type: ignore[misc]
    "proposal show": gives(reviewing.summary),
    "proposal check": OneOf((gives(reviewing.judged), Refusal)),
    "proposal close": gives(reviewing.summary),
    "proposal shipped": gives(reviewing.shipped),
    "proposal sync": {"settled": gives(reviewing.sync)},
    "ledger sync": gives(ledgering.sync, 0),
    "ledger list": {"entries": gives(ledger_views.listed, 0)},
    "ledger show": gives(ledger_views.show),
    "prompt preview": OneOf((showing.Sent, _SECTION, _SIZES)),
    "prompt diff": {"parts": gives(showing.diff)},
    "prompt verify": gives(verifying.verify),
    "prompt shape": {"parts": dict[str, str]},
    "run start": showing.Sent,
    "run list": {"runs": gives(showing.listed)},
    "run show": OneOf((gives(showing.stored), _SECTION)),
    "run exec": OneOf((dispatching.RunEnded, {"agent": str, "command": list[str]})),
    "dispatch": {
        "runs": list[dispatching.RunEnded | dispatching.Planned],
        "skipped": list[dispatching.Skipped],
    },
    "routine add": gives(scheduling.add),
    "routine list": {"routines": gives(scheduling.listed, 0)},
    "routine due": {"due": gives(scheduling.due, 0)},
    "routine pause": gives(scheduling.set_paused),
    "routine resume": gives(scheduling.set_paused),
    "chat post": gives(chatting.post),
    "chat list": {"messages": list[gives(chatting.listed, 0, 0)]},  # type: ignore[misc]
    "collection add": gives(collecting.add),
    "collection list": {"collections": gives(collecting.listed, 0)},
    "collection show": gives(collecting.show, 0),
    "collection check": {"files": int, "problems": gives(collecting.check, 1)},
    "record add": gives(collecting.add_record),
    "record list": {"records": gives(collecting.records, 1)},
    "script add": gives(scripting.add),
    "script list": {"scripts": gives(scripting.listed, 0)},
    "connector list": {"connectors": gives(connecting.listed)},
    "connector check": gives(connecting.checked),
    "connector try": gives(connecting.tried),
}


def main() -> int:
    """Write the schemas, or compare them; 1 when any has drifted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 on drift")
    check = parser.parse_args().check
    wanted = {file_of(command): text(command) for command in ANSWERS}
    drifted = drift(CLI, wanted)
    if check:
        for name in drifted:
            print(f"schemas/cli/{name} is not what the commands print: run `make schemas`")
        return 1 if drifted else 0
    CLI.mkdir(parents=True, exist_ok=True)
    for name in drifted:
        if name in wanted:
            (CLI / name).write_text(wanted[name], encoding="utf-8", newline="\n")
        else:
            (CLI / name).unlink()
    return 0


def file_of(command: str) -> str:
    """The name of a command's schema."""
    return f"{command.replace(' ', '-')}{ENDING}"


def text(command: str) -> str:
    """The text of a command's schema."""
    inner: dict[str, Schema] = {}
    body = _answer(ANSWERS[command], inner)
    schema = {
        "$schema": DIALECT, "$id": f"cli/{file_of(command)}",
        "title": f"What `orgvault {command} --json` prints", **body,
        **({"$defs": dict(sorted(inner.items()))} if inner else {}),
    }  # fmt: skip
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


@cache
def _quoted() -> dict[str, Any]:
    """The classes of the domain by name: some modules only name them, to start faster."""
    found: dict[str, Any] = {}
    for one in pkgutil.iter_modules(domain.__path__, "orgvault.domain."):
        module = importlib.import_module(one.name)
        own = (item for item in vars(module).items() if isinstance(item[1], type))
        found.update((name, kind) for name, kind in own if kind.__module__ == one.name)
    return found


def _answer(kind: Any, inner: dict[str, Schema]) -> Schema:  # noqa: ANN401 - any type
    """A whole answer; with `--dry-run` an object says so."""
    if isinstance(kind, OneOf):
        return {"anyOf": [_answer(one, inner) for one in kind]}
    if isinstance(kind, dict):
        shape = {name: _value(one, inner) for name, one in kind.items()}
        return _object(shape, "", previewed=True)
    if is_dataclass(kind) and isinstance(kind, type):
        return _dataclass(kind, inner, previewed=True)
    return _value(kind, inner)


def _value(kind: Any, inner: dict[str, Schema]) -> Schema:  # noqa: ANN401 - one a kind
    if kind is Any or kind is object:
        return {}
    if kind in _SCALARS:
        return {"type": _SCALARS[kind]}
    if kind is NoneType:
        return {"type": "null"}
    origin, inside = get_origin(kind), get_args(kind)
    if origin in {UnionType, typing.Union}:
        return {"anyOf": [_value(one, inner) for one in inside]}
    if origin is tuple and inside[-1] is not Ellipsis:
        return _members([_value(one, inner) for one in inside])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _value(inside[1], inner)}
    if origin is not None:  # a list, a tuple of any length, a sequence
        return {"type": "array", "items": _value(inside[0], inner)}
    if issubclass(kind, StrEnum):
        return {"type": "string", "enum": list(map(str, kind))}
    if kind.__name__ not in inner:
        inner[kind.__name__] = {}  # holds its place, should it contain itself
        inner[kind.__name__] = _named(kind, inner)
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _named(kind: type[Any], inner: dict[str, Schema]) -> Schema:
    if is_dataclass(kind):
        return _dataclass(kind, inner, previewed=False)
    hints = get_type_hints(kind)  # a NamedTuple, which is printed as an array
    return {"description": _said(kind), **_members([_value(one, inner) for one in hints.values()])}


def _dataclass(kind: Any, inner: dict[str, Schema], *, previewed: bool) -> Schema:  # noqa: ANN401
    hints = get_type_hints(kind, localns=_quoted())
    shape = {}
    for one in fields(kind):
        about = one.metadata.get("says")
        told = {"description": about.text} if about is not None else {}
        shape[one.name] = {**told, **_value(hints[one.name], inner)}
    return _object(shape, _said(kind), previewed=previewed)


def _object(shape: dict[str, Schema], said: str, *, previewed: bool) -> Schema:
    also = {"dry_run": {"const": True}} if previewed else {}
    return {
        **({"description": said} if said else {}), "type": "object",
        "properties": {**shape, **also}, "required": list(shape), "additionalProperties": False,
    }  # fmt: skip


def _members(members: list[Schema]) -> Schema:
    count = len(members)
    return {"type": "array", "prefixItems": members, "minItems": count, "maxItems": count}


def _said(kind: type[Any]) -> str:
    return " ".join((kind.__doc__ or "").split())


if __name__ == "__main__":
    sys.exit(main())
