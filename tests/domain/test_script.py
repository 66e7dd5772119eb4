"""Scripts: their file, the schema of their parameters, and what State says of them."""

import pytest

from orgvault.domain.script import Script, catalog, parameter_faults
from orgvault.domain.script_file import read_script, write_script

FILE = "script.yaml"
PARAMETERS = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "no: it is \u00e9 \u2028 text"},
        "yes": {"type": "integer", "description": "on", "default": 350, "minimum": 0.5},
    },
    "required": ["text"],
    "additionalProperties": False,
}
SCRIPT = Script(
    name="count-words",
    description="Count: words",
    command=("python3", "-c", "print('a # b')", "no"),
    parameters=PARAMETERS,
)
HEAD = "version: 1\nname: count\ndescription: d\ncommand: [python3, main.py]\n"


def test_a_written_script_reads_back() -> None:
    assert read_script(write_script(SCRIPT), FILE) == (SCRIPT, ())
    bare, problems = read_script(HEAD, FILE)
    assert problems == ()
    assert bare is not None
    assert (bare.timeout_s, bare.parameters) == (30, None)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (HEAD.replace("count", "note_get"), 2, "a tool of orgvault's own"),
        (HEAD.replace("name: count", "name: Count"), 2, "does not match"),
        (HEAD.replace("[python3, main.py]", "[]"), 4, "it is empty"),
        (HEAD.replace("[python3, main.py]", "python3 main.py"), 4, "expected a list"),
        (HEAD + "timeout_s: 0\n", 5, "below the limit of 1"),
        (HEAD + "timeout_s: 601\n", 5, "above the limit of 600"),
        (HEAD + "parameters: [a]\n", 5, "a JSON Schema is expected"),
        (HEAD + "parameters: {type: array, properties: {}}\n", 5, "type is not `object`"),
        (HEAD + "parameters: {type: object}\n", 5, "names no parameters"),
        (HEAD + "parameter: {}\n", 5, "unknown key `parameter`"),
        (HEAD.replace("version: 1", "version: 2"), 1, "format version 2"),
        (HEAD.replace("description: d", "description: no"), 3, "unquoted"),
        ("", 0, "empty"),
        ("- a\n", 1, "expected a mapping"),
    ],
)
def test_every_fault_has_its_line(text: str, line: int, what: str) -> None:
    script, problems = read_script(text, FILE)
    assert script is None
    assert [one for one in problems if what in one.what and one.line == line], problems


@pytest.mark.parametrize(
    ("name", "about", "what"),
    [
        ("a b", {"type": "string", "description": "x"}, "cannot name a parameter"),
        ("a", "string", "no schema of a parameter"),
        ("a", {"description": "x"}, "its type is missing"),
        ("a", {"type": "text", "description": "x"}, "`text` is no type"),
        ("a", {"type": "string"}, "its description is missing"),
        ("a", {"type": "string", "description": " "}, "its description is missing"),
        ("a", {"type": "object", "description": "x", "$ref": "http://x"}, "another document"),
        ("a", {"type": "number", "description": "x", "maximum": float("inf")}, "not a finite"),
        ("a", {"type": "string", "description": "x" * 20_000}, "bytes of JSON"),
    ],
)
def test_a_parameter_that_is_none_is_named(name: str, about: object, what: str) -> None:
    (fault,) = parameter_faults({"type": "object", "properties": {name: about}})
    assert what in fault.what
    assert fault.do


def test_what_is_required_is_a_parameter() -> None:
    (fault,) = parameter_faults({**PARAMETERS, "required": ["txt"]})
    assert "no parameter `txt`" in fault.what
    assert parameter_faults(PARAMETERS) == []
    assert parameter_faults(None) == []


def test_the_catalog_leaves_out_what_is_not_there() -> None:
    bare = Script(name="a", description="d\n e", command=("x",))
    assert catalog([bare, SCRIPT]) == (
        {"name": "a", "description": "d e"},
        {"name": "count-words", "description": "Count: words", "parameters": PARAMETERS},
    )


def test_a_name_that_names_a_device_is_refused() -> None:
    script, problems = read_script(HEAD.replace("name: count", "name: nul"), FILE)
    assert script is None
    assert [(one.line, one.do) for one in problems] == [(2, "rename it")]


def test_required_is_a_list() -> None:
    (fault,) = parameter_faults({**PARAMETERS, "required": "text"})
    assert (fault.path[-1], fault.do) == ("required", "write it as [one, two]")


def test_a_script_without_parameters_is_written_without_them() -> None:
    bare = Script(name="a", description="d", command=("x",))
    assert "parameters" not in write_script(bare)
    assert read_script(write_script(bare), FILE) == (bare, ())
