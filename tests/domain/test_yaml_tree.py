"""One dialect, every value with its place, every text answered."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from orgvault.domain.yaml_builder import DEPTH_MAX, VALUES_MAX
from orgvault.domain.yaml_scalars import quoted, scalar, trap, written
from orgvault.domain.yaml_tree import _UNREADABLE, CHARACTERS_MAX, Document, compose

FILE = "a.yaml"


def read(text: str) -> Document:
    return compose(text, FILE)


def said(text: str) -> list[tuple[int, str]]:
    return [(one.line, one.what) for one in read(text).problems]


def only(text: str) -> tuple[int, str]:
    (problem,) = said(text)
    return problem


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("", None), ("~", None), ("null", None), ("Null", None), ("NULL", None),
        ("true", True), ("True", True), ("TRUE", True), ("false", False), ("tRUE", "tRUE"),
        ("0", 0), ("12", 12), ("-3", -3), ("+4", 4), ("0x1F", 31),
        ("999999999999999999", 10**18 - 1),
        ("1.5", 1.5), ("1.10", 1.1), (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("-1.5E-2", -0.015),
        (".inf", float("inf")), ("-.INF", float("-inf")),
        ("nothing", "nothing"), (".agents/skills/", ".agents/skills/"), ("1.2.3", "1.2.3"),
        ("run-0412", "run-0412"), ("12 apples", "12 apples"), ("0xZZ", "0xZZ"), ("-", "-"),
    ],
)  # fmt: skip
def test_a_plain_word_has_one_meaning(word: str, value: object) -> None:
    found = scalar(word)
    assert (found, type(found)) == (value, type(value))
    assert not trap(word)


@pytest.mark.parametrize(
    "word",
    [
        "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF",
        "y", "Y", "n", "N", "=",
        "2026-01-02", "2026-01-02T03:04:05Z", "2026-01-02 03:04:05 +01:00", "2026-1-2",
        "1:30", "190:20:30", "12:30:45.5", "0o10", "010", "08", "0b11", "1_000", "1_0.5", "0x1_F",
        "9999999999999999999", "0.12345678901234567890",
    ],
)  # fmt: skip
def test_a_trap_is_its_text_and_reported_with_its_key_and_line(word: str) -> None:
    document = read(f"a: 1\nb:\n  - c: {word}\n")
    assert document.value == {"a": 1, "b": [{"c": word}]}
    (problem,) = document.problems
    assert (problem.file, problem.line) == (FILE, 3)
    assert problem.what.startswith(f"b[0].c: `{word}` unquoted is ")
    assert problem.do.startswith(f'quote it ("{word}")')
    assert document.is_trap(("b", 0, "c"))
    assert read(f'b: "{word}"').problems == ()


def test_points_in_time_are_text_where_a_file_says_so() -> None:
    assert compose("at: 2026-11-20T09:14:03Z", FILE, instants=True).problems == ()
    assert compose("at: 2026-11-20", FILE, instants=True).problems != ()


@given(st.text(max_size=8, alphabet="yesnoYNtrue~nul0123456789abxXoO_.:-+eEfFTZ ="))
def test_what_is_no_trap_means_the_same_to_other_readers(word: str) -> None:
    """YAML 1.2 as ruamel reads it agrees wherever we report nothing."""
    if trap(word) or word != word.strip() or word.startswith("- ") or word == "-":
        return
    if word.endswith(":") or ": " in word or word.startswith(("=", ":")):
        return
    if re.match(r"[-+]?\.[0-9]+[eE][0-9]", word):
        return  # a number to the core schema; ruamel asks for a sign in the exponent
    theirs = YAML(typ="safe", pure=True)
    assert theirs.load(f"k: {word}") == {"k": scalar(word)} or ".nan" in word.lower()


@given(st.text())
@example("\ufffd\x85\u2028\u2029\ufeff\ufffe\x7f\x9f")
def test_quoted_text_reads_back_the_same(text: str) -> None:
    assert read(f"k: {quoted(text)}\nl: 1").value == {"k": text, "l": 1}
    assert read(f"k: [{written(text)}, {written(text)}]").value == {"k": [text, text]}
    assert read(f"k: {written(text)}").problems == ()


def test_yaml_05_keys_that_are_no_text_are_errors_with_their_line() -> None:
    text = 'agents:\n  no: 1\n  null: 2\n  1.10: 3\n  2026-01-02: 4\n  0o10: 5\n  1: 6\n  "1": 7\n'
    assert [line for line, _ in said(text)] == [2, 3, 4, 5, 6, 7, 8]
    assert [what for _, what in said(text)] == [
        "agents.no: `no` unquoted is true or false to some readers of YAML",
        "the key `null` is not text",
        "the key `1.10` is not text",
        "agents.2026-01-02: `2026-01-02` unquoted is a date to some readers of YAML",
        "agents.0o10: `0o10` unquoted is a number of another base or form to some readers of YAML",
        "the key `1` is not text",
        "the key `1` is written twice, first on line 7",
    ]


@pytest.mark.parametrize("again", ["tools", '"tools"', r'"\x74ools"', "'tools'", "!!str tools"])
def test_a_key_written_twice_however_it_is_spelled(again: str) -> None:
    text = f"tools: [Read]\nother: 1\n{again}: [Bash]\n"
    assert (3, "the key `tools` is written twice, first on line 1") in said(text)
    assert read(text).value == {"tools": ["Read"], "other": 1}


def test_merge_keys_tags_directives_documents_are_named() -> None:
    assert only("a: &a {x: 1}\nb:\n  <<: *a\n") == (
        3, "a merge key (`<<`), which can hide what it brings along",
    )  # fmt: skip
    assert only("a: !!python/name:os.system x")[1] == "a tag (`python/name:os.system`)"
    assert only("a: ! x")[1] == "a tag (`!`)"
    assert only("a: 1\n---\nb: 2\n") == (2, "a second YAML document begins")
    assert only("%YAML 1.1\n---\na: 1\n")[1] == "a YAML directive (a line that begins with %)"
    assert only("? [a]\n: 1\n")[1] == "a key that is a list or a mapping"
    assert read('"<<": 1').value == {"<<": 1}
    assert said("---\na: 1\n...\n") == []


def test_aliases_are_followed_and_bounded() -> None:
    document = read("a: &a {x: [1]}\nb: *a\n")
    assert (document.value, document.problems) == ({"a": {"x": [1]}, "b": {"x": [1]}}, ())
    assert document.line_of(("b", "x", 0)) == 1
    bomb = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 20))
    assert "aliases that unfold to over" in only(f"a0: &a0 [1]\n{bomb}")[1]
    deep = "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 200))
    assert "aliases that unfold" in only(f"a0: &a0 [1]\n{deep}")[1]
    assert only("a: &a [*a]\n")[1] == "`*a` stands inside what it points to"
    assert only("a: *b\n")[1] == "`*b` points to nothing"
    assert only("a: &a 1\nb: &a 2\n") == (2, "the anchor `&a` is set twice")


def test_conflict_markers_are_named_with_their_lines() -> None:
    text = "a: 1\n<<<<<<< HEAD\nb: 2\n||||||| base\n=======\nb: 3\n>>>>>>> theirs\n"
    assert only(text) == (2, "a conflict marker of git (`<<<<<<<`)")
    assert only("a: 1\r\n=======\r\nb: 3\r\n") == (2, "a conflict marker of git (`=======`)")
    assert read(text).value is None


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a:\n\tb: 1\n", 2, "a tab where YAML allows none"),
        ("a: b: c\n", 1, "a `: ` inside an unquoted text"),
        ("a: 'x\nb: 1\n", 1, "a quote that is never closed"),
        ("a: 1\nb: [1\n", 3, "no `,` or `]`"),
        ("a: @x\n", 1, "an unquoted text that begins with `@`"),
        ("a: 1\nb\nc: 2\n", 3, "a key without `:`"),
        ("a:\n  - b\n c: 1\n", 3, "no key where one is expected"),
    ],
)
def test_a_syntax_error_in_plain_words(text: str, line: int, words: str) -> None:
    document = read(text)
    assert document.value is None
    (problem,) = document.problems
    assert (problem.line, bool(problem.do)) == (line, True)
    assert problem.what.startswith(words)


def test_all_problems_in_one_go_up_to_a_syntax_error() -> None:
    assert [line for line, _ in said("a: 1\na: 2\nb: \x00\nc: !x 1\nd: [\n")] == [3, 4, 6]
    assert [line for line, _ in said("a: 1\na: 2\nb: \x00\nc: !x 1\nd: no\n")] == [2, 3, 4, 5]


def test_unreadable_characters_are_named_and_the_rest_is_still_read() -> None:
    document = read("a: x\x00y\nb: x\u2028y\nc: \ud800\nd: 1\n")
    assert [(one.line, one.what[-8:]) for one in document.problems] == [
        (1, "(U+0000)"), (2, "(U+2028)"), (3, "(U+D800)"),
    ]  # fmt: skip
    assert isinstance(document.value, dict)
    assert document.value["d"] == 1


def test_bytes_that_are_not_utf_8_are_not_guessed() -> None:
    text = "a: 1\nname: H\xe4fen\n".encode("latin-1").decode(errors="replace")
    assert only(text) == (2, "bytes that are not UTF-8 (U+FFFD stands for them)")


def test_a_byte_order_mark_is_tolerated_and_counts_as_a_character() -> None:
    text = "\ufeffa: é\nb: '😀x'\n"
    document = read(text)
    assert (document.value, document.problems) == ({"a": "é", "b": "😀x"}, ())
    node = document.node(("b",))
    assert node is not None
    assert text[node.start : node.end] == "'😀x'"


def test_sizes_are_bounded() -> None:
    assert only("a" * (CHARACTERS_MAX + 1))[0] == 0
    assert "nested deeper than 100" in only("[" * (DEPTH_MAX + 1) + "]" * (DEPTH_MAX + 1))[1]
    assert read("[" * DEPTH_MAX + "]" * DEPTH_MAX).problems == ()
    for hostile in (
        "[" * 900_000,
        "{a: " * 200_000,
        "[]," * 300_000,
        "- " * 400_000,
        "'" * 999_999,
    ):
        assert read(hostile).problems


LINES = """\
top: 1
block:
  inner:
    - a
    - key: >-
        folded
        text
flow: {x: [1, 2],
  y1: 3}
nothing:
"""


@pytest.mark.parametrize(
    ("path", "line", "key_line"),
    [
        ((), 1, 1),
        (("top",), 1, 1),
        (("block",), 2, 2),
        (("block", "inner"), 3, 3),
        (("block", "inner", 0), 4, 4),
        (("block", "inner", 1, "key"), 5, 5),
        (("flow", "x", 1), 8, 8),
        (("flow", "y1"), 9, 9),
        (("nothing",), 10, 10),
        (("block", "missing", "deeper"), 2, 2),
        (("missing",), 1, 1),
        (("top", 0, "x"), 1, 1),
    ],
)
def test_lines(path: Sequence[str | int], line: int, key_line: int) -> None:
    document = read(LINES)
    assert document.line_of(path) == line
    assert document.line_of(path, at_key=True) == key_line
    assert compose(LINES, FILE, first_line=11).line_of(path) == line + 10


def test_a_value_below_its_key_has_its_own_line() -> None:
    document = read("a:\n  long text\n")
    assert (document.line_of(("a",)), document.line_of(("a",), at_key=True)) == (2, 1)


def test_an_empty_text_has_no_tree() -> None:
    for text in ("", "# only a comment\n", "\ufeff"):
        document = read(text)
        assert (document.root, document.value, document.problems) == (None, None, ())
        assert document.line_of(("a",)) == 0


PIECES = [
    "a", "b", ": ", ":\n", "- ", "\n", "\n  ", "\n\t", "[", "]", "{", "}", ", ", "&x ", "*x",
    "!!str ", "!t ", "<<: ", "'", '"', "|", ">-\n", "# c", "---\n", "...\n", "%YAML 1.1\n", "? ",
    "\\x41", "\x00", "\ufeff", "\x85", "\r\n", "\r", "no", "1.10", "2026-01-02", "<<<<<<< x\n",
    "\ud800", "😀", "@", "`",
]  # fmt: skip


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=40).map("".join)))
def test_every_text_is_answered(text: str) -> None:
    document = read(text)
    assert document.root is not None or document.problems or not document.value
    lines = text.count("\n") + text.count("\r") + 2
    for problem in document.problems:
        assert 0 <= problem.line <= lines
        assert str(problem)
    if document.root is not None:
        assert 0 <= document.root.start <= document.root.end <= len(text)


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_what_has_no_problem_means_the_same_to_ruamel(text: str) -> None:
    document = read(text)
    if document.problems or document.root is None:
        return
    theirs = YAML(typ="safe", pure=False).load(text.removeprefix("\ufeff"))
    assert document.value == theirs


def test_every_character_that_is_let_through_is_one_that_the_parser_reads() -> None:
    every = [chr(code) for code in range(0x20, 0x110000) if not 0xD800 <= code < 0xE000]
    legal = [one for one in every if one not in '"\\' and not _UNREADABLE.match(one)]
    for begin in range(0, len(legal), CHARACTERS_MAX // 2):
        text = "".join(legal[begin : begin + CHARACTERS_MAX // 2])
        assert read(f'a: "{text}"\n').value == {"a": text}


def test_of_what_is_unreadable_the_first_twenty_are_named() -> None:
    assert [line for line, _ in said("- \x01\n" * 25)] == list(range(1, 21))


def test_more_values_than_anybody_writes_are_refused() -> None:
    assert said("[" + "a," * (VALUES_MAX + 1) + "]") == [(1, "more than 100,000 values")]
