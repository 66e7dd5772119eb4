"""The parts of system.md: kept or dropped, and every mistake named by its line."""

import pytest

from orgvault.domain.capability_parts import PARTS, problems, resolve
from orgvault.errors import BrokenTemplate

FILE = ".agents/org/prompts/system.md"
TEMPLATE = """\
Before.

<capability name="notes">
Of notes.
</capability>
<capability name="scripts">
Of scripts.
</capability>

Work <capability name="coding">with a shell</capability><capability name="no_coding">without one
</capability>.

After.
"""


def resolved(text: str, *held: str) -> str:
    return resolve(text, frozenset(held), FILE)


def said(text: str) -> list[str]:
    return [f"{one.line}: {one.what}" for one in problems(text, FILE)]


def test_parts_are_kept_without_their_tags_or_dropped() -> None:
    assert resolved(TEMPLATE, "notes", "coding") == (
        "Before.\n\nOf notes.\n\nWork with a shell.\n\nAfter.\n"
    )
    assert resolved(TEMPLATE, "notes", "scripts", "no_coding") == (
        "Before.\n\nOf notes.\n\nOf scripts.\n\nWork without one\n.\n\nAfter.\n"
    )
    assert resolved(TEMPLATE) == "Before.\n\nWork .\n\nAfter.\n"
    assert said(TEMPLATE) == []


@pytest.mark.parametrize("name", PARTS)
def test_every_part_has_its_own_condition(name: str) -> None:
    text = "".join(f'<capability name="{one}">{one};</capability>' for one in PARTS)
    assert resolved(text, name) == f"{name};"


def test_double_brackets_and_other_tags_are_text() -> None:
    text = "[[name]] <b>x</b> {{ name }} {% if x %} the capability of <task>\n"
    assert resolved(text) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('a\n<capability name="sailing">x</capability>', ['2: no capability part is called "sail']),
        ('\n\n<capability name="notes">x', ['3: the part "notes" is never closed']),
        ("x\n</capability>\n", ["2: no part is open here"]),
        (
            '<capability name="notes">\n<capability name="memory">\n</capability>\n</capability>',
            ["2: a part inside another one", "4: no part is open here"],
        ),
        ("<capability name='notes'>", ["1: not a capability tag as it is written"]),
        ("<capability name=notes>", ["1: not a capability tag as it is written"]),
        ('<capability  name="notes">', ["1: not a capability tag as it is written"]),
        ('<Capability name="notes">', ["1: not a capability tag as it is written"]),
        ('<capability name="notes" >', ["1: not a capability tag as it is written"]),
        ('<capability name="">', ["1: not a capability tag as it is written"]),
        ('<capability name="notes"/>', ["1: not a capability tag as it is written"]),
        ("<capability>", ["1: not a capability tag as it is written"]),
        ("< /capability>", ["1: not a capability tag as it is written"]),
        ("</capability >", ["1: not a capability tag as it is written"]),
        ('x <capability name="notes"', ["1: not a capability tag as it is written"]),
        ("`<capability`", ["1: not a capability tag as it is written"]),
    ],
)
def test_every_mistake_is_named_with_its_line(text: str, wanted: list[str]) -> None:
    found = said(text)
    assert len(found) >= len(wanted)
    assert all(any(one.startswith(start) for one in found) for start in wanted), found
    assert all(one.file == FILE and one.do for one in problems(text, FILE))
    with pytest.raises(BrokenTemplate):
        resolved(text, *PARTS)


def test_all_mistakes_are_told_in_one_go_with_what_to_do() -> None:
    text = 'a\n<capability name="note">x</capability>\n</capability>\n<capability name="memory">'
    with pytest.raises(BrokenTemplate) as told:
        resolved(text)
    lines = str(told.value).splitlines()
    assert lines[0] == (f'{FILE}:2: no capability part is called "note", did you mean "notes"?')
    assert [line.split(":")[1] for line in lines] == ["2", "3", "4"]
    assert told.value.exit_code == 1
