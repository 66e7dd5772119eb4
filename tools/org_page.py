"""The page of org.yaml: every key with its sentence, type, default and limits, from the records."""

from dataclasses import MISSING, Field, is_dataclass
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from orgvault.domain.forms import IN_WORDS, PROSE
from orgvault.domain.org import OrgFile
from orgvault.domain.record import Says, described, optional
from orgvault.domain.roster import BUILTIN_PROTECTED

HEAD = """\
# org.yaml

Generated from the records by `make docs`; do not edit.

`.agents/org/org.yaml` says who lives in the vault: the guild, the people, the agents. `init` writes
the first one; after that it is yours, and no command changes it. After an edit run
`orgvault compile`: it checks all of it, and writes and commits `org-agents.json`, the form that
commands read. Until then they go on with what was compiled last, and say so. Commit org.yaml
yourself.

```yaml
version: 1
guild: {name: Harbor}
owner: sam
operators:
  - {name: sam, role: owner, email: sam@example.org}
  - {name: kim, email: kim@example.org}
protected: [Areas/Health/]
defaults:
  memory:
    reflect: {model: builtin/extractive}
agents:
  nova:
    focus: Builds and repairs the site
    lead: kim
    principles:
      - One change at a time.
    knowledge: [.agents/skills/nova/]
    memory:
      core_budget_tokens: 2000
      self_improvement: {max_proposals_per_week: 2}
```

Three traps of YAML are errors here, each named with its line. A word that programs read in
different ways (`off`, `yes`, `no`, a date, `010`, `1_000`, `12:30`) must stand in quotes: `"off"`.
A number is no text and is not made one: `name: "7"`. A key that stands twice, a merge key (`<<`),
a tag (`!x`) and a second document are refused, and so is a key that does not exist.

Between the keys these rules hold:

- The owner is one of the operators, and the only one with `role: owner`. An agent and an operator
  cannot share a name, nor two operators an address.
- Nobody leads itself, and leads do not go round in a circle.
- `defaults.memory` is laid over the defaults below, and an agent's `memory` over that, key by key.
  A list replaces a list.
- The tier `episodic` is always on, and `requires_ship_gate` is always true.
- `memory_write` needs `memory`.
- Homes and the pages folder are visible folders; none is protected, and no two agents share one.
- A variable that begins with `ORGVAULT_` or `GIT_` is orgvault's own.
- Always protected, whatever you add: PROTECTED.

Two keys tell and do not bind: `max_tool_calls` stands in the State of a run, and `tools` become an
option of a client that knows it; orgvault itself stops no call. `pages.claims` is checked and
compiled, and nothing uses it yet.

In the tables – stands for a key without a default. It may be left out, unless it *must be given*.
The limits of a list hold for each of its items.
"""


def page() -> str:
    """The page, as Markdown."""
    protected = ", ".join(f"`{one}`" for one in BUILTIN_PROTECTED)
    lines = [HEAD.replace("PROTECTED", protected).rstrip("\n")]
    for record, places in _records().items():
        heading = " and ".join(f"`{place}`" for place in places if place)
        lines += ["", f"## {heading or 'The file'}", ""]
        if heading:
            lines += [_sentence(record), ""]
        lines += ["| key | holds | type | default | limits |", "|---|---|---|---|---|"]
        lines += [_row(one, about) for one, about in described(record)]
    return "\n".join(lines) + "\n"


def _records() -> dict[type[Any], list[str]]:
    """The records of org.yaml, each with the places where its keys stand."""
    found: dict[type[Any], list[str]] = {}

    def visit(record: type[Any], place: str) -> None:
        found.setdefault(record, []).append(place)
        for one, _ in described(record):
            kind, many = _kind(one.type)
            if is_dataclass(kind) and isinstance(kind, type):
                below = {"list": "[]", "mapping": ".<id>"}.get(many, "")
                visit(kind, f"{place}.{one.name}{below}".lstrip("."))

    visit(OrgFile, "")
    return found


def _sentence(record: type[Any]) -> str:
    """What a record is; its docstring begins with its name in the file where that says more."""
    said = " ".join((record.__doc__ or "").split())
    name, _, rest = said.partition(": ")
    said = rest if name.startswith("`") and name.endswith("`") else said
    return _escaped(said[:1].upper() + said[1:])


def _kind(kind: Any) -> tuple[Any, str]:  # noqa: ANN401 - any type
    """What a value is, or each value of a list or a mapping."""
    if get_origin(kind) is UnionType:
        kind = next(one for one in get_args(kind) if one is not NoneType)
    if get_origin(kind) is tuple:
        return get_args(kind)[0], "list"
    if get_origin(kind) is dict:
        return get_args(kind)[1], "mapping"
    return kind, ""


def _row(one: Field[Any], about: Says) -> str:
    kind, many = _kind(one.type)
    names = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    name = names.get(kind, "mapping")
    said = f"{many} of {name}s" if many else name
    if get_origin(one.type) is UnionType and NoneType in get_args(one.type):
        said += ", or null"
    return (
        f"| `{one.name}` | {_escaped(about.text)} | {said} | {_default(one)} | {_limits(about)} |"
    )


def _default(one: Field[Any]) -> str:
    value = one.default
    if not optional(one):
        return "*must be given*"
    if value is MISSING or value == "" or is_dataclass(value):
        return "–"
    if value is None:
        return "`null`"
    if isinstance(value, tuple):
        return f"`[{', '.join(value)}]`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _limits(about: Says) -> str:
    low, high = about.minimum, about.maximum
    found = [f"one of {', '.join(f'`{one}`' for one in about.choices)}"] if about.choices else []
    for lead, pattern in (("", about.pattern), ("each key ", about.key_pattern)):
        if pattern in IN_WORDS:
            found.append(lead + ("not empty" if pattern == PROSE else IN_WORDS[pattern]))
    if low is not None:
        found.append(f"{low:g} or more" if high is None else f"{low:g} to {high:g}")
    if about.max_chars is not None:
        found.append(f"at most {about.max_chars} characters")
    return ", ".join(found)


def _escaped(text: str) -> str:
    return text.replace("<", "\\<").replace("|", "\\|")
