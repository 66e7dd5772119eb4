"""Splicing: one value of org.yaml changed in its own style, and every other byte as it was."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgvault.domain.patch import unified
from orgvault.domain.splice import (
    FOUND_OFTEN,
    LEFT_EMPTY,
    NO_BLOCK,
    NO_CHANGE,
    NO_PLACE,
    NOT_FOUND,
    NOT_PROSE,
    NOT_READABLE,
    NOT_TEXT,
    NOTHING_TO_FIND,
    Unspliced,
    prose,
    swapped,
    with_value,
    with_words,
)
from tests.torture.splices import AGENTS, big_org, run

FILE = ".agents/org/org.yaml"


def nova(block: str) -> str:
    """An org.yaml whose nova has these lines."""
    lines = "".join(f"    {line}\n" if line else "\n" for line in block.split("\n"))
    return f"# mine\nagents:\n  atlas:\n    goal: x\n  nova:  # here\n{lines}  zoe: {{goal: yo}}\n"


def changed(before: str, key: str, *wanted: str) -> str:
    """The lines of nova's block once a value is spliced in; also tried with CR LF."""
    text = with_value(nova(before), "nova", key, wanted)
    assert isinstance(text, str), text
    crlf = with_value(nova(before).replace("\n", "\r\n"), "nova", key, wanted)
    assert crlf == text.replace("\n", "\r\n")
    head, tail = nova("@").split("    @\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    lines = text[len(head) : len(text) - len(tail)].split("\n")[:-1]
    return "\n".join(line.removeprefix("    ") for line in lines)


FOLDED = "goal: >-   # said once\n  Careful and dry. Would rather know\n  than guess.\n\n  Always."
LONG = "I install before I build, and I look at what was installed before I go on to the next step"
SPLICES = {
    "plain": ("goal: One thing.   # why", "goal", ["Two things."], "goal: Two things.   # why"),
    "plain to quoted": ("goal: One  # w", "goal", ["One: two"], 'goal: "One: two"  # w'),
    "plain to single": ("goal: One", "goal", ['#1 is "x"'], "goal: '#1 is \"x\"'"),
    "a word that others misread": ("goal: One", "goal", ["no"], 'goal: "no"'),
    "single quotes": ("goal: 'It''s so'  # w", "goal", ["It's 'my'"], "goal: 'It''s ''my'''  # w"),
    "double quotes": ('goal: "a \\"b\\" c"', "goal", ['a "b" \\ d'], 'goal: "a \\"b\\" \\\\ d"'),
    "escapes that stay": ('goal: "\\u00e9 a\\tb c"', "goal", ["é a\tb d"],
                          'goal: "\\u00e9 a\\tb d"'),
    "quoted over lines": ("goal: 'one two\n  three four'", "goal", ["one 2 three four"],
                          "goal: 'one 2\n  three four'"),
    "plain over lines": ("goal: one two\n  three", "goal", ["one two: 3 three"],
                         'goal: "one two: 3\n  three"'),
    "literal": ("goal: |\n  one\n    two\n\n  three", "goal", ["one\n    2\n\nthree\n"],
                "goal: |\n  one\n      2\n\n  three"),
    "literal, a line more": ("goal: |-\n  one\n  two", "goal", ["one\nand\ntwo"],
                             "goal: |-\n  one\n  and\n  two"),
    "literal, other end": ("goal: |  # w\n  one", "goal", ["one and"], "goal: |-  # w\n  one and"),
    "kept lines": ("goal: |+\n  one\n\n\nname: Al", "goal", ["1\n\n\n"],
                   "goal: |+\n  1\n\n\nname: Al"),
    "folded": (FOLDED, "goal", ["Careful and dry. Would rather ask than guess.\nAlways."],
               FOLDED.replace("know", "ask")),
    "folded across a break": (FOLDED, "goal", ["Careful and dry. Would rather wait.\nAlways."],
                              FOLDED.replace("know\n  than guess.", "wait.")),
    "folded, wrapped": (
        FOLDED, "goal", [f"Careful and dry. Would rather know than guess. {LONG}.\nAlways."],
        FOLDED.replace("than guess.", f"than guess. {LONG[:-10]}\n  next step."),
    ),
    "a text that lines indent": ("goal: >2\n    one\n  two", "goal", ["  one\n3\n"],
                                 "goal: >2\n    one\n  3"),
    "no value": ("goal:   # none yet\nname: Al", "goal", ["Mine."],
                 "goal: Mine.   # none yet\nname: Al"),
    "null": ("goal: ~", "goal", ["Mine."], "goal: Mine."),
    "no key": ("name: Al  # w\nstyle: s\ntools: [a]", "goal", ["Mine."],
               "name: Al  # w\nstyle: s\ngoal: Mine.\ntools: [a]"),
    "no prose": ("name: Al  # w\ntools: [a]", "goal", ["- x"],
                 'name: Al  # w\ngoal: "- x"\ntools: [a]'),
    "no principles": ("name: Al", "principles", ["a", "b: c"],
                      'name: Al\nprinciples:\n  - "a"\n  - "b: c"'),
    "empty list": ("principles: []  # w", "principles", ["a"], 'principles: ["a"]  # w'),
    "list without a value": ("principles:\nname: Al", "principles", ["a"],
                             'principles: ["a"]\nname: Al'),
    "flow list": ("principles: [a, 'b']  # w", "principles", ["a", "b", "c, d"],
                  "principles: [a, 'b', 'c, d']  # w"),
    "flow list, first": ("principles: [a, b]", "principles", ["z", "a", "b"],
                         "principles: [z, a, b]"),
    "flow list, an item": ("principles: [a, b]", "principles", ["a", "b]"],
                           'principles: [a, "b]"]'),
    "flow list, shorter": ("principles: [a, b, c]", "principles", ["a", "c"], "principles: [a, c]"),
    "block list": ("principles:\n  - a  # w\n  # more\n  - b\ngoal: g", "principles",
                   ["a", "b", "c"], "principles:\n  - a  # w\n  # more\n  - b\n  - c\ngoal: g"),
    "empty quotes": ("goal: ''  # w", "goal", ["it's"], "goal: 'it''s'  # w"),
    "quoted, a line continued": ('goal: "one \\\n  two three"', "goal", ["one two 3"],
                                 'goal: "one \\\n  two 3"'),
    "folded, a word that fills the line": (
        f"goal: >-\n  {'a' * 120}", "goal", ["a" * 121], f"goal: >-\n  {'a' * 121}",
    ),
    "folded, with a line set apart": (
        "goal: >-\n  one two", "goal", ["one\n  two\nthree"], "goal: >-\n  one\n    two\n  three",
    ),
    "flow list, last out": ("principles: [a, b]", "principles", ["a"], "principles: [a]"),
    "block list, first": ("principles:\n  - b  # w\n  - c", "principles", ["a", "b", "c"],
                          "principles:\n  - a\n  - b  # w\n  - c"),
    "block list, not indented": ("principles:\n- a\n- b", "principles", ["a", "c", "b"],
                                 "principles:\n- a\n- c\n- b"),
    "block list, an item": ("principles:\n  - a  # w\n  - 'b'", "principles", ["a", "it's"],
                            "principles:\n  - a  # w\n  - 'it''s'"),
    "block list, shorter": ("principles:\n  - a\n  # w\n  - b", "principles", ["b"],
                            "principles:\n  # w\n  - b"),
    "block list, emptied": ("principles:\n- a\n- b\ngoal: g", "principles", [],
                            "principles:\n  []\ngoal: g"),
    "after a folded item": ("principles:\n  - >-\n    a\n    b\n\ngoal: g", "principles",
                            ["a b", "c"],
                            "principles:\n  - >-\n    a\n    b\n  - c\n\ngoal: g"),
}  # fmt: skip


@pytest.mark.parametrize("name", SPLICES)
def test_every_style_keeps_its_own(name: str) -> None:
    before, key, wanted, after = SPLICES[name]
    assert changed(before, key, *wanted) == after


def test_a_block_in_braces_and_one_without_anything() -> None:
    text = "agents:\n  a: {name: A}\n  b: {}\n  c:\n  d: ~  # w\n  e: {principles: [x], goal: yo}\n"
    for agent, key, wanted, line in (
        ("a", "goal", "one, two", '  a: {name: A, goal: "one, two"}\n'),
        ("b", "goal", "one", "  b: {goal: one}\n"),
        ("c", "goal", "one", "  c:\n    goal: one\n"),
        ("d", "principles", "one", "  d:   # w\n    principles:\n      - one\n"),
        ("e", "voice", "one", "  e: {principles: [x], goal: yo, voice: one}\n"),
    ):
        new = with_value(text, agent, key, [wanted])
        assert isinstance(new, str)
        assert line in new
        assert len(unified("o", text.encode(), new.encode()).splitlines()) < 14


def test_the_last_line_of_a_file_without_a_newline() -> None:
    new = with_value("agents:\n  nova:\n    goal: x", "nova", "voice", ["so"])
    assert new == "agents:\n  nova:\n    goal: x\n    voice: so"


def test_an_agent_is_known_by_its_id_and_else_by_its_key() -> None:
    text = "agents:\n  one: {id: two, goal: a}\n  two: {id: one, goal: b}\n"
    assert prose(text, "one") == {"goal": ("b",)}
    assert with_value(text, "two", "goal", ["c"]) == text.replace("goal: a", "goal: c")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("agents: {nova: {goal: x", NOT_READABLE),
        ("agents:\n  nova:\n    goal: x\n    goal: z\n", NOT_READABLE),
        ("agents:\n  nova: &a\n    goal: x\n  b: *a\n", NO_BLOCK),
        ("agents:\n  b: &a {goal: x}\n  nova: *a\n", NO_BLOCK),
        ("agents:\n  atlas: {goal: x}\n", NO_BLOCK),
        ("agents: [nova]\n", NO_BLOCK),
        ("", NOT_READABLE),
        ("agents:\n  nova: {goal: &g x, voice: *g}\n", NOT_TEXT),
        ("agents:\n  nova: {voice: &g x, goal: *g}\n", NOT_TEXT),
        ("agents:\n  nova: {goal: {a: b}}\n", NOT_TEXT),
        ("agents:\n  nova: {goal: [a]}\n", NO_PLACE),
    ],
)  # fmt: skip
def test_what_cannot_be_changed_in_its_place_is_refused(text: str, why: Unspliced) -> None:
    assert with_value(text, "nova", "goal", ["new"]) == why


def test_no_key_but_prose_and_no_list_for_a_text() -> None:
    assert with_value(nova("tools: [a]"), "nova", "tools", ["b"]) == NOT_PROSE
    assert with_value(nova("goal: a"), "nova", "goal", ["b", "c"]) == NOT_PROSE
    assert with_value(nova("goal: a"), "nova", "goal", ["a"]) == NO_CHANGE
    assert swapped({}, "permission_mode", "", "bypass") == NOT_PROSE


VALUES = {"goal": ("One goal. One way.",), "principles": ("Be kind.", "Be dry.")}


@pytest.mark.parametrize(
    ("key", "find", "replace", "gives"),
    [
        ("goal", "One way", "Two ways", ("goal", ("One goal. Two ways.",))),
        ("", "One way", "Two ways", ("goal", ("One goal. Two ways.",))),
        ("goal", "One", "Two", FOUND_OFTEN),
        ("", "Be", "Stay", FOUND_OFTEN),
        ("voice", "One", "Two", NOT_FOUND),
        ("goal", "one way", "two", NOT_FOUND),
        ("principles", "dry", "warm", ("principles", ("Be kind.", "Be warm."))),
        ("principles", "", " Be\nsoon. ", ("principles", ("Be kind.", "Be dry.", "Be soon."))),
        ("voice", "", "Low.", ("voice", ("Low.",))),
        ("goal", "", "More.", NOTHING_TO_FIND),
        ("", "", "More.", NOTHING_TO_FIND),
        ("voice", " ", " ", LEFT_EMPTY),
        ("principles", "Be dry.", "", LEFT_EMPTY),
        ("goal", "One way", "One way", NO_CHANGE),
    ],
)
def test_words_are_found_in_one_value(key: str, find: str, replace: str, gives: object) -> None:
    assert swapped(VALUES, key, find, replace) == gives


def test_words_of_a_skill_are_found_in_its_body_once() -> None:
    text = "---\nname: build\n---\n# Build\n\nRun the build.\nThen look.\n"
    assert with_words(text, "Run the", "Install, then run the") == text.replace(
        "Run the", "Install, then run the"
    )
    assert with_words(text.replace("\n", "\r\n"), "build.\nThen", "build,\nthen") == text.replace(
        "\n", "\r\n"
    ).replace("build.\r\nThen", "build,\r\nthen")
    assert with_words(text, "name", "title") == NOT_FOUND  # in the frontmatter only
    assert with_words(text, "the", "a") == with_words(text, "Run the", "Run a")
    assert with_words(text + text, "Run", "x") == FOUND_OFTEN
    assert with_words(text, "", "x") == NOTHING_TO_FIND
    assert with_words(text, "Run", "Run") == NO_CHANGE
    assert with_words("only this", "only this", " ") == LEFT_EMPTY


ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
STYLES = ("goal: a b\n", "name: some\n",
          "goal: 'a b'\n", 'goal: "a b"\n', "goal: |\n  a b\n", "goal: >-\n  a\n  b\n",
          "goal: a\n  b\n", "goal:\n")  # fmt: skip


@settings(max_examples=300)
@given(st.sampled_from(STYLES), ANY)
def test_whatever_is_wanted_is_what_is_read_or_nothing_is_written(style: str, wanted: str) -> None:
    before = nova(style.rstrip("\n"))
    text = with_value(before, "nova", "goal", [wanted])
    if isinstance(text, Unspliced):
        assert text in {NO_PLACE, NO_CHANGE}
        # What YAML cannot say at all, or what stands there already.
        assert text is NO_PLACE or wanted in {"a b", "a b\n"}
        return
    read = prose(text, "nova")
    assert not isinstance(read, Unspliced)
    assert read.get("goal", ("",)) == (wanted,)
    assert prose(text, "zoe") == {"goal": ("yo",)}


@given(st.text(max_size=200), ANY)
def test_any_file_at_all_is_answered(text: str, wanted: str) -> None:
    assert isinstance(with_value(text, "nova", "goal", [wanted]), str | Unspliced)
    assert isinstance(with_words(text, wanted, "x"), str | Unspliced)


@pytest.mark.parametrize(("seed", "line_end"), [(1, "\n"), (2, "\r\n")])
def test_forty_edits_in_a_row_touch_only_their_values_and_pass_the_gate(
    seed: int, line_end: str
) -> None:
    assert big_org(seed, AGENTS).count("\r") == big_org(seed, AGENTS).count("\n") * (
        "\r" in line_end
    )
    done = run(20, seed)
    assert done["edits"] == 20
    assert done["lines"] < 5 * 20


@pytest.mark.parametrize(
    "path", ["org.yaml", "Notes of Nova/a b.yaml", "Küche/日本.yaml", 'q"\\.yaml']
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_git_applies_the_diff_of_a_splice(tmp_path: Path, path: str, end: str, last: str) -> None:
    old = nova(FOLDED).rstrip("\n").replace("\n", end) + last.replace("\n", end)
    new = with_value(
        old, "nova", "goal", ["Careful and wet. Would rather know than guess.\nNever."]
    )
    last_line = with_value(old, "zoe", "goal", ["z"])
    git(tmp_path, "init", "-q")
    place = tmp_path / path
    place.parent.mkdir(parents=True, exist_ok=True)
    for wanted in (new, last_line):
        assert isinstance(wanted, str)
        place.write_bytes(old.encode())
        diff = unified(path, old.encode(), wanted.encode())
        git(
            tmp_path,
            "apply",
            "--check",
            "--whitespace=error-all",
            "-p1",
            stdin=diff,
            ok=end == "\n",
        )
        git(tmp_path, "apply", stdin=diff)
        assert place.read_bytes() == wanted.encode()


def git(folder: Path, *words: str, stdin: bytes = b"", ok: bool = True) -> None:
    done = subprocess.run(
        ["git", "-c", "core.autocrlf=false", *words], cwd=folder, input=stdin, capture_output=True,
        check=False,
    )  # fmt: skip
    assert not ok or done.returncode == 0, done.stderr


def test_a_block_text_that_ends_with_the_file() -> None:
    before = "agents:\n  nova:\n    goal: |-\n      one\n      two"
    assert with_value(before, "nova", "goal", ("one\n2",)) == before.replace("two", "2")
    before = before.replace("|-", "|")
    assert with_value(before, "nova", "goal", ("one\n2",)) == before.replace("two", "2")


def test_of_a_file_with_a_fault_there_is_no_prose() -> None:
    assert prose("agents: {nova: {goal: [}}", "nova") == NOT_READABLE
    assert prose("agents: {nova: {goal: x, tools: [a]}}", "nova") == {"goal": ("x",)}


def test_what_is_a_list_and_what_is_a_text_stay_so() -> None:
    assert with_value(nova("goal: [a]"), "nova", "goal", ("b",)) == NO_PLACE
    assert with_value(nova("principles: a"), "nova", "principles", ("b",)) == NO_PLACE


@pytest.mark.parametrize(
    ("text", "key", "wanted"),
    [
        (nova("? principles"), "principles", ["a"]),
        (nova("? goal"), "goal", ["a"]),
        (nova("? principles\n: - a\n  - b"), "principles", ["z", "a", "b"]),
        ("agents: {nova, zoe: {}}\n", "goal", ["a"]),
        ("agents:\n  ? nova\n", "goal", ["a"]),
    ],
)
def test_where_no_way_of_writing_it_reads_right_nothing_is_written(
    text: str, key: str, wanted: list[str]
) -> None:
    assert with_value(text, "nova", key, wanted) == NO_PLACE


def test_a_list_of_which_every_item_needs_other_quotes_is_tried_only_so_often() -> None:
    def items(count: int) -> str | Unspliced:
        before = nova("principles:" + "".join(f"\n  - a{n}" for n in range(count)))
        return with_value(before, "nova", "principles", [f"b{n}: x" for n in range(count)])

    few = items(2)
    assert isinstance(few, str)
    assert prose(few, "nova") == {"principles": ("b0: x", "b1: x")}
    assert items(9) == NO_PLACE


def test_a_block_whose_lines_end_as_on_an_old_mac_becomes_one_line() -> None:
    text = "agents:\r  nova:\r    goal: |\r      some words\r    style: x\r"
    new = with_value(text, "nova", "goal", ["other words"])
    assert new == 'agents:\r  nova:\r    goal: "other words"\r    style: x\r'
