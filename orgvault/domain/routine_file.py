"""Routines as files: one key a line; a person's own file is changed at one value only."""

from datetime import datetime

from orgvault.domain.format_version import newer_format
from orgvault.domain.problem import Problem
from orgvault.domain.record import described
from orgvault.domain.routine import FORMAT, Routine, when_fault
from orgvault.domain.yaml_record import read_document
from orgvault.domain.yaml_scalars import quoted, written
from orgvault.domain.yaml_tree import compose

_QUOTED = frozenset({"cron", "window", "instruction", "created", "resumed"})


def read_routine(text: str, file: str, now: datetime) -> tuple[Routine | None, tuple[Problem, ...]]:
    """The routine in a file's text, or None and every problem with its line.

    `now` (aware, in the vault's time zone) is when an occurrence is looked for.
    """
    document = compose(text, file, instants=True)
    if newer := newer_format(document.value, FORMAT, file, document.line_of(("version",))):
        return None, newer
    routine, problems = read_document(Routine, document)
    if routine is None:
        return None, problems
    what, do = when_fault(routine.cron, routine.window, now)
    if what:
        key = "cron" if routine.cron else "window"
        return None, (Problem(file, document.line_of((key,)), what, do),)
    if not routine.instruction.strip():
        line = document.line_of(("instruction",))
        return None, (Problem(file, line, "the instruction is empty", "say what is to be done"),)
    return routine, ()


def write_routine(routine: Routine) -> str:
    """The text of a new routine's file; keys without a value are left out."""
    lines = []
    for one, _ in described(Routine):
        value = getattr(routine, one.name)
        if value not in {None, ""}:
            lines.append(f"{one.name}: {_scalar(one.name, value)}")
    return "".join(f"{line}\n" for line in lines)


def with_values(text: str, changes: dict[str, bool | str]) -> str | None:
    """The file's text with other values of some keys and every other byte as it was.

    A key that is not there is added at the end.  None when the file cannot be changed so.
    """
    for key, value in changes.items():
        document = compose(text, "", instants=True)
        root, node = document.root, document.node((key,))
        new = _scalar(key, value)
        if root is None or root.kind != "mapping" or root.style != "block":
            return None
        if node is None:
            text = f"{text.rstrip()}\n{key}: {new}\n"
        elif node.kind != "scalar" or node.style in {"|", ">"} or node.anchor:
            return None
        else:
            space = " " if node.start == node.end else ""
            text = "".join([text[: node.start], space, new, text[node.end :]])
    read, wanted = compose(text, "", instants=True).value, changes
    ok = isinstance(read, dict) and all(read.get(key) == value for key, value in wanted.items())
    return text if ok else None


def _scalar(name: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    return quoted(str(value)) if name in _QUOTED else written(str(value))
