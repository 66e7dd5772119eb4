"""Honest changes of every sort are accepted, and what is accepted is what was asked for."""

import pytest

from orgvault.domain.proposal import LIST, PROSE, Accepted
from orgvault.domain.yaml_node import Node
from orgvault.domain.yaml_tree import compose
from tests.domain.gate.conftest import BUILD, SKILL, Gate
from tests.domain.gate_tree import ORG_PATH, big_org, make_diff

TEXTS = (
    "Plain words that stay.",
    "'It''s \"so\": fine'",
    '"Quoted: yes # no comment \\u00e9"',
    ">-\n      folded one\n      and two",
    "|\n      line one\n      line two",
    "plain over\n      two lines",
    "Grüße — 日本語 🎉",
)
LISTS = (
    "[one thing, 'two: things']",
    '\n      - One.\n      - "Two: more."',
    '["yes"]',
    "\n    - not indented\n    - second",
)


def end(text: str, node: Node) -> int:
    last = node.children[-1] if node.style == "block" and node.children else node
    return last.start + len(text[last.start : last.end].rstrip("\n"))


def changed(text: str, key: str, written: str) -> str | None:
    """The text with another value of nova's, or one that it had not; None where that cannot be.

    A block of lines cannot stand where a comment follows the value on its line.
    """
    node = compose(text, "").node(("agents", "nova", key))
    space = "" if written.startswith("\n") else " "
    if node is None:
        at = text.index("\n", text.index("    lead: sam", text.index("  nova:"))) + 1
        return f"{text[:at]}    {key}:{space}{written}\n{text[at:]}"
    start, stop = len(text[: node.start].rstrip(" \n")), end(text, node)
    follows = text[stop : text.index("\n", stop)]
    above = text[text.rfind("\n", 0, start) + 1 : start]
    if "#" in above or (follows.strip() and written[:1] in {"|", ">", "\n"}):
        return None
    if written.startswith("[") and "\n    -" in text[start:stop]:
        return None if "#" in follows else f"{text[:start]} {written}{text[stop:]}"
    return f"{text[:start]}{space}{written}{text[stop:]}"


@pytest.mark.parametrize("key", PROSE)
@pytest.mark.parametrize("seed", range(4))
def test_every_text_in_every_style(gate: Gate, seed: int, key: str) -> None:
    text = big_org(seed, 60)
    accepted = 0
    for written in LISTS if key == LIST else TEXTS:
        new = changed(text, key, written)
        if new is None or new == text:
            continue
        answer = gate.accepted(ORG_PATH, new, text)
        value = compose(new, "").value
        assert isinstance(value, dict)
        said = value["agents"]["nova"][key]
        (edit,) = answer.edits
        assert (edit.key, edit.after) == (key, tuple(said) if key == LIST else (said,))
        assert answer.flags == ()
        accepted += 1
    assert accepted or key == LIST


@pytest.mark.parametrize("context", [1, 3, 10])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_with_any_context_and_either_line_end(gate: Gate, context: int, ends: str) -> None:
    text = big_org(3, 200)
    new = text.replace("    description: ", "    description: Calm ", 1)
    old, new = (one.replace("\n", ends) for one in (text, new))
    gate.files[ORG_PATH] = old.encode()
    answer = gate.judge(make_diff(ORG_PATH, old, new, context=context))
    assert isinstance(answer, Accepted)
    assert answer.new == new.encode()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("on a fresh branch", "on a new branch"),
        ("2. Run `make build`.\n", "2. Run `make setup`.\n3. Run `make build`.\n"),
        ("2. Run `make build`.\n", ""),
        ("# Build the site", "# How to build the site"),
        ("read the last line first", "read the *last* line **first**"),
        ("first.\n", "first.\n\n## More\n\n- One\n- Two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"),
        ("first.\n", "first.\n\n> A quote.\n\n```sh\nmake -C site build && echo done\n```\n"),
        ("first.\n", "first.\n\nSee [the links](./check-links.md).\n"),
        ("first.\n", "first.\n\n- [ ] Looked\n- [x] Read\n\n---\n\nThe end.\n"),
        ("first.\n", "first. It names the page; a < b, x -> y, 5 % off, 3 * 4.\n"),
        ("look at the result", "read the last line"),
        ("If the build", "When the build"),
    ],
)
def test_skill_files(gate: Gate, old: str, new: str) -> None:
    assert BUILD.count(old) == 1
    assert gate.accepted(SKILL, BUILD.replace(old, new)).flags == ()
