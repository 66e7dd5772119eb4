"""Diffs made from two contents, which git and we put back on the first; and diffs as words."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgvault.domain.patch import applied, unified
from orgvault.domain.word_diff import Mark, words

OLD = b"".join(b"line %d\n" % number for number in range(20))
NEW = OLD.replace(b"line 3\n", b"line three\n").replace(b"line 17\n", b"")
CASES = {
    "two hunks": (OLD, NEW),
    "no newline at the end": (OLD[:-1], NEW[:-1]),
    "CRLF": (OLD.replace(b"\n", b"\r\n"), NEW.replace(b"\n", b"\r\n")),
    "appended": (OLD, OLD + b"more\n"),
    "a form feed and a separator are no line ends": (b"a\x0cb\xe2\x80\xa8c\nd\n", b"a\x0cb\nd\n"),
}


@pytest.mark.parametrize("path", ["a.md", "my notes/ü b.md", 'quo"te\\d/a.md'])
@pytest.mark.parametrize("case", CASES)
def test_git_puts_it_on_and_gets_the_new_content(tmp_path: Path, case: str, path: str) -> None:
    old, new = CASES[case]
    place = tmp_path / path
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(old)
    subprocess.run(
        ["git", "apply", "-"], cwd=tmp_path, input=unified(path, old, new), check=True,
        capture_output=True,
    )  # fmt: skip
    assert place.read_bytes() == new


@pytest.mark.parametrize("case", ["two hunks", "no newline at the end", "CRLF"])
def test_we_put_it_on_what_git_holds_in_either_line_end(case: str) -> None:
    old, new = CASES[case]
    diff = unified("a.md", old, new)
    assert applied(diff, old) == new
    if case == "CRLF":
        assert applied(diff, OLD) == NEW
    else:
        crlf = old.replace(b"\n", b"\r\n")
        assert applied(diff, crlf) == new.replace(b"\n", b"\r\n")
    assert applied(diff, old.replace(b"line 4", b"line four")) is None
    assert applied(b"junk", old) is None


def test_alike_contents_have_no_diff() -> None:
    assert unified("a.md", OLD, OLD) == b""


LINES = st.lists(st.sampled_from(["a b\n", "a  c\n", "", "\n", "-x\n", "+y\n", "@@\n"]), max_size=8)


@given(LINES, LINES)
def test_words_lose_nothing_of_either_side(before: list[str], after: list[str]) -> None:
    old, new = "".join(before), "".join(after)
    diff = unified("a", old.encode(), new.encode()).decode()
    pieces = [one for one in words(diff) if one.mark is not Mark.HEAD]
    hunks = [line[:1] for line in diff.splitlines()[3:]]
    for mark, side, sign in ((Mark.GONE, old, "-"), (Mark.NEW, new, "+")):
        shown = "".join(text for kind, text in pieces if kind in {Mark.SAME, mark})
        told = [line[1:] for line in diff.splitlines(keepends=True)[3:] if line[:1] in {" ", sign}]
        if not any(line.startswith("\\") for line in diff.splitlines()):
            assert shown == "".join(told)
            assert shown in side or "@" in hunks


def test_words_that_change_side_by_side_are_one_change() -> None:
    diff = unified("a", b"I run make first.\n", b"I read the notes first.\n").decode()
    assert [(one.mark, one.text) for one in words(diff)][-4:] == [
        (Mark.SAME, "I "), (Mark.GONE, "run make"), (Mark.NEW, "read the notes"),
        (Mark.SAME, " first.\n"),
    ]  # fmt: skip


def test_a_line_about_a_missing_newline_is_no_word_of_either_side() -> None:
    diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n same\n-old\n\\ No newline at end of file\n+new\n"
    pieces = list(words(diff))
    assert "No newline" not in "".join(one.text for one in pieces)
    told = {mark: "".join(one.text for one in pieces if one.mark is mark) for mark in Mark}
    assert (told[Mark.SAME], told[Mark.GONE].strip(), told[Mark.NEW].strip()) == (
        "same\n", "old", "new",
    )  # fmt: skip
