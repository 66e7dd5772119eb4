"""Scripts: commands that an agent may run, each with its files and the parameters it takes."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orgvault.domain.forms import ONE_LINE, PROSE
from orgvault.domain.ids import DEVICE_NAMES
from orgvault.domain.offer import BUILT_IN
from orgvault.domain.record import Violation, says
from orgvault.values import dataclass

SCRIPT_NAME = r"[a-z][a-z0-9_-]{0,31}"
SCRIPT_FILE = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}"
TIMEOUT_S = (1, 600)
PARAMETERS_BYTES = 16 * 1024
_PARAMETER = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"
_TYPES = ("string", "integer", "number", "boolean", "array", "object")


@dataclass(frozen=True, kw_only=True)
class Script:
    """`scripts/<agent>/<name>/script.yaml`: what is run, and with which parameters.

    `parameters` is a JSON Schema of an object; a script that has them is a tool of its own name.
    """

    version: int = says("Format version of the file.", default=1, minimum=1, maximum=1)
    name: str = says("Its name; the folder is named after it.", pattern=SCRIPT_NAME)
    description: str = says("What it does.", pattern=PROSE, max_chars=1000)
    command: tuple[str, ...] = says(
        "The command, word by word, run in the script's folder.", pattern=ONE_LINE, max_chars=400
    )
    timeout_s: int = says(
        "After how many seconds it is stopped.", default=30, minimum=TIMEOUT_S[0],
        maximum=TIMEOUT_S[1],
    )  # fmt: skip
    parameters: dict[str, Any] | None = says(
        "A JSON Schema of the object that it reads from stdin.", default=None
    )


def catalog(scripts: Sequence[Script]) -> tuple[Mapping[str, Any], ...]:
    """What State says of an agent's scripts: name, description, and parameters if there are any."""
    return tuple(
        {
            "name": one.name,
            "description": " ".join(one.description.split()),
            **({"parameters": one.parameters} if one.parameters is not None else {}),
        }
        for one in scripts
    )


def broken_rules(script: Script) -> list[Violation]:
    """What must hold between the keys of a script.yaml beside what each says."""
    return [*_name(script), *_command(script), *parameter_faults(script.parameters)]


def parameter_faults(parameters: object) -> list[Violation]:
    """Everything wrong in a script's parameters; the paths begin with `parameters`."""
    if parameters is None:
        return []
    above = ("parameters",)
    if not isinstance(parameters, Mapping):
        return [Violation(above, "a JSON Schema is expected", _AN_OBJECT)]
    if size := _too_large(parameters):
        what = f"{size} bytes of JSON, at most {PARAMETERS_BYTES} are allowed"
        return [Violation(above, what, "shorten it")]
    found = [*_plain_json(parameters, above)]
    if parameters.get("type") != "object":
        found.append(Violation((*above, "type"), "the schema's type is not `object`", _AN_OBJECT))
    properties = parameters.get("properties")
    if not isinstance(properties, Mapping):
        what = "`properties` names no parameters"
        return [*found, Violation((*above, "properties"), what, _AN_OBJECT)]
    found += [
        fault
        for name, about in properties.items()
        for fault in _property(str(name), about, (*above, "properties", str(name)))
    ]
    return [*found, *_required(parameters.get("required", []), properties, (*above, "required"))]


def _name(script: Script) -> Iterator[Violation]:
    if script.name in BUILT_IN:
        yield Violation(("name",), f"`{script.name}` is a tool of orgvault's own", "rename it")
    elif script.name in DEVICE_NAMES:
        yield Violation(("name",), f"`{script.name}` is a device name on some systems", "rename it")


def _command(script: Script) -> Iterator[Violation]:
    if not script.command:
        yield Violation(("command",), "it is empty", "write the words of the command")


def _property(name: str, about: object, at: tuple[str, ...]) -> Iterator[Violation]:
    if not re.fullmatch(_PARAMETER, name):
        do = "name it with letters, digits, - and _, up to 64"
        yield Violation(at, f"`{name}` cannot name a parameter", do, at_key=True)
    if not isinstance(about, Mapping):
        yield Violation(at, "no schema of a parameter", "write {type: string, description: …}")
        return
    kind = about.get("type")
    if kind not in _TYPES:
        what = "its type is missing" if kind is None else f"`{kind}` is no type"
        yield Violation((*at, "type"), what, f"write one of {', '.join(_TYPES)}")
    described = about.get("description")
    if not isinstance(described, str) or not described.strip():
        what = "its description is missing"
        yield Violation((*at, "description"), what, "say what it is, in quotes if need be")


def _required(
    required: object, properties: Mapping[str, object], at: tuple[str, ...]
) -> Iterator[Violation]:
    if not isinstance(required, list | tuple):
        yield Violation(at, "expected a list of parameters", "write it as [one, two]")
        return
    for name in required:
        if not isinstance(name, str) or name not in properties:
            do = f"`properties` has {', '.join(map(str, properties)) or 'none'}"
            yield Violation(at, f"no parameter `{name}`", do)


def _plain_json(value: object, at: tuple[str | int, ...]) -> Iterator[Violation]:
    """What no JSON Schema of ours holds: other documents, and numbers that are none."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            if key in {"$ref", "$dynamicRef", "$schema", "$id"}:
                what = f"`{key}` leads to another document"
                yield Violation((*at, str(key)), what, "write the schema out", at_key=True)
            yield from _plain_json(one, (*at, str(key)))
    elif isinstance(value, list | tuple):
        for index, one in enumerate(value):
            yield from _plain_json(one, (*at, index))
    elif isinstance(value, float) and (value != value or abs(value) == float("inf")):  # noqa: PLR0124 - NaN
        yield Violation(at, f"{value} is not a finite number", "write a number")


def _too_large(parameters: Mapping[str, Any]) -> int:
    """The size of the parameters as JSON, in bytes, when it is over the limit; else 0."""
    size = len(json.dumps(parameters, ensure_ascii=False).encode(errors="replace"))
    return size if size > PARAMETERS_BYTES else 0


_AN_OBJECT = "write {type: object, properties: {name: {type: string, description: …}}}"
