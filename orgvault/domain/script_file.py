"""A script's script.yaml: read with every problem, written once, then the owner's to edit."""

import json
from dataclasses import replace

from orgvault.domain.format_version import newer_format
from orgvault.domain.forms import dotted
from orgvault.domain.problem import Problem
from orgvault.domain.script import Script, broken_rules
from orgvault.domain.yaml_record import read_document
from orgvault.domain.yaml_scalars import quoted, written
from orgvault.domain.yaml_tree import compose

FORMAT = 1


def read_script(text: str, file: str) -> tuple[Script | None, tuple[Problem, ...]]:
    """The script in a file's text, or None and every problem with its line."""
    document = compose(text, file)
    value = document.value if isinstance(document.value, dict) else {}
    if newer := newer_format(value, FORMAT, file, document.line_of(("version",))):
        return None, newer
    # A schema may hold anything, so no description of a record says what it is.
    described = {key: one for key, one in value.items() if key != "parameters"}
    known = described if isinstance(document.value, dict) else document.value
    script, problems = read_document(Script, document, known)
    if script is None:
        return None, problems
    script = replace(script, parameters=value.get("parameters"))
    wrong = [
        Problem(
            file, document.line_of(one.path, at_key=one.at_key),
            f"{dotted(one.path)}: {one.what}", one.do,
        )
        for one in broken_rules(script)
    ]  # fmt: skip
    return (None, tuple(sorted(wrong))) if wrong else (script, ())


def write_script(script: Script) -> str:
    """The text of a new script.yaml; its parameters stand as JSON, which YAML reads too."""
    lines = [
        f"version: {script.version}",
        f"name: {written(script.name)}",
        f"description: {quoted(script.description)}",
        f"command: [{', '.join(map(written, script.command))}]",
        f"timeout_s: {script.timeout_s}",
    ]
    if script.parameters is not None:
        shown = json.dumps(script.parameters, ensure_ascii=True, allow_nan=False, indent=2)
        first, *rest = shown.splitlines()
        lines += [f"parameters: {first}", *(f"  {line}" for line in rest)]
    return "".join(f"{line}\n" for line in lines)
