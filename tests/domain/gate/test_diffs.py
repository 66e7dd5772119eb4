"""Rules 1 and 2: what a diff must be, and that it applies exactly or not at all."""

import pytest

from orgvault.domain.gate.diffs import read_diff
from orgvault.domain.proposal import Accepted, Refusal, Rule
from tests.domain.gate.conftest import BUILD, ORG, SKILL, Gate
from tests.domain.gate_tree import ORG_PATH, make_diff

HEAD = f"--- a/{SKILL}\n+++ b/{SKILL}\n"
SHORT = "one\ntwo\nthree\n"
MARK = "\\ No newline at end of file"


def diff(*body: str, head: str = HEAD) -> bytes:
    return (head + "".join(f"{line}\n" for line in body)).encode()


def shape(why: str) -> tuple[Rule, str]:
    return Rule.SHAPE, why


@pytest.fixture
def short(gate: Gate) -> Gate:
    gate.files[SKILL] = SHORT.encode()
    return gate


def test_a_change_of_one_line_is_accepted_with_all_that_was_judged(short: Gate) -> None:
    given = diff("@@ -1,3 +1,3 @@", " one", "-two", "+2", " three")
    answer = short.judge(given)
    assert isinstance(answer, Accepted)
    assert answer.old == SHORT.encode()
    assert answer.new == b"one\n2\nthree\n"
    assert (answer.path, answer.diff, answer.flags) == (SKILL, given, ())
    assert (answer.added, answer.removed) == (1, 1)
    (edit,) = answer.edits
    assert (edit.key, edit.before, edit.after) == (
        "body", ("one", "two", "three"), ("one", "2", "three"),
    )  # fmt: skip


def test_what_git_writes_above_a_change_is_allowed(short: Gate) -> None:
    body = ("@@ -1,3 +1,4 @@ in a section", " one", "+2", " two", " three")
    git = f"diff --git a/{SKILL} b/{SKILL}\n"
    for index in ("", "index 5626abf..814f4a4 100644\n", "index 5626abf..814f4a4\n"):
        assert isinstance(short.judge(diff(*body, head=git + index + HEAD)), Accepted)
        assert isinstance(short.judge(diff(*body, head=index + HEAD)), Accepted)
    timed = HEAD.replace("\n", "\t2026-11-20 09:14:03.000 +0100\n")
    assert isinstance(short.judge(diff(*body, head=timed)), Accepted)
    for odd in ("index 5626abf..814f4a4 120000\n", f"diff --git a/{SKILL} b/x\n", "Hello.\n"):
        said = f"`{odd.strip()[:60]}` is no part of a diff of one file"
        assert short.no(diff(*body, head=odd + HEAD)) == shape(said)
    long = "x" * 61
    assert short.no(diff(*body, head=f"{long}\n{HEAD}"))[1].startswith(f"`{long[:60]}` is no part")
    twice = "index 5626abf..814f4a4\n" * 2
    assert short.no(diff(*body, head=twice + HEAD))[0] == Rule.SHAPE


def test_hunks_apply_where_they_say_with_or_without_their_counts(short: Gate) -> None:
    short.files[SKILL] = "".join(f"{n}\n" for n in range(1, 31)).encode()
    answer = short.judge(
        diff("@@ -1 +1,2 @@", "+one", " 1", "@@ -10,2 +11,2 @@", "-10", "+ten", " 11",
             "@@ -29,2 +30 @@", " 29", "-30")
    )  # fmt: skip
    assert isinstance(answer, Accepted), answer
    lines = answer.new.decode().splitlines()
    assert lines[:2] == ["one", "1"]
    assert lines[10] == "ten"
    assert (lines[-1], len(lines), answer.added, answer.removed) == ("29", 30, 2, 2)
    assert [one.before for one in answer.edits] == [("1",), ("10", "11"), ("29", "30")]


@pytest.mark.parametrize(
    "header", ["@@ -{} +1 @@", "@@ -1,{} +1 @@", "@@ -1 +{} @@", "@@ -1 +1,{} @@"]
)
def test_numbers_of_nine_digits_are_read(short: Gate, header: str) -> None:
    short.files[SKILL] = b"one\n"
    assert isinstance(short.judge(diff(header.format(f"{1:09}"), "-one", "+1")), Accepted)
    assert short.no(diff(header.format(f"{1:010}"), "-one", "+1")) == shape("it has no hunks")
    assert short.no(diff(header.format("1,1,1"), "-one", "+1")) == shape("it has no hunks")


def test_headers_with_and_without_a_word_behind_them(short: Gate) -> None:
    for header in ("@@ -1 +1 @@", "@@ -1 +1 @@ ", "@@ -1 +1 @@ in a @@ section"):
        short.files[SKILL] = b"one\n"
        assert isinstance(short.judge(diff(header, "-one", "+1")), Accepted)


@pytest.mark.parametrize(
    ("index", "known"),
    [
        ("abcd..0123", True),
        ("abcd..0123 100755", True),
        (f"{'a' * 64}..{'9' * 64} 100644", True),
        ("abc..0123", False),
        ("abcd..012", False),
        (f"{'a' * 65}..0123", False),
        (f"abcd..{'9' * 65}", False),
        ("abcd..0123 100644 100644", False),
        ("abcd.x0123", False),
        ("abcg..0123", False),
    ],
)
def test_the_two_ids_that_git_writes(short: Gate, index: str, known: bool) -> None:  # noqa: FBT001
    given = diff("@@ -3 +3 @@", "-three", "+3", head=f"index {index}\n{HEAD}")
    assert isinstance(short.judge(given), Accepted) == known


@pytest.mark.parametrize(
    ("behind", "known"),
    [("\t", True), ("\t2026-11-20 09:14:03.000 +0100", True), ("\t-", True), ("\tx", False),
     ("\t\t", False), ("\tFri", False)],
)  # fmt: skip
def test_only_a_time_stands_behind_a_name(short: Gate, behind: str, known: bool) -> None:  # noqa: FBT001
    body = ("@@ -3 +3 @@", "-three", "+3")
    for head in (
        f"--- a/{SKILL}{behind}\n+++ b/{SKILL}\n",
        f"--- a/{SKILL}\n+++ b/{SKILL}{behind}\n",
    ):
        assert isinstance(short.judge(diff(*body, head=head)), Accepted) == known


def test_diff_01_lines_are_counted_in_the_body_whatever_the_header_says(short: Gate) -> None:
    more = [f"+line {n}" for n in range(100)]
    found = short.judge(diff("@@ -2,2 +2,2 @@", " two", " three", *more))
    assert found == Refusal(
        Rule.SIZE, "it changes 100 lines, at most 40 are one small change", "", 0
    )
    few = short.no(diff("@@ -1,2 +1,3 @@", " one", "+new", " two", "+more"))
    assert few == shape("line 7 of the diff is more than the hunk above it promises")


def test_forty_changed_lines_are_accepted_and_one_more_is_not(short: Gate) -> None:
    added = [f"+line {n}" for n in range(39)]
    assert isinstance(short.judge(diff("@@ -1,2 +1,40 @@", "-one", *added, " two")), Accepted)
    found = short.no(diff("@@ -1,2 +1,41 @@", "-one", *added, "+more", " two"))
    assert found == (Rule.SIZE, "it changes 41 lines, at most 40 are one small change")


@pytest.mark.parametrize(
    "body",
    [
        ("@@ -1,9 +1,9 @@", " one", "-two", "+2", " three"),
        ("@@ -1,3 +1,4 @@", " one", "-two", "+2", " three"),
        ("@@ -1,3 +1,3 @@", " one", "-two", "+2", "three"),
    ],
)
def test_diff_02_a_header_that_promises_more_than_follows(
    short: Gate, body: tuple[str, ...]
) -> None:
    assert short.no(diff(*body)) == shape("line 3 of the diff promises more lines than follow")


def test_a_line_with_no_mark_ends_a_hunk(short: Gate) -> None:
    found = short.no(diff("@@ -1,3 +1,3 @@", " one", "two", "-two", "+2", " three"))
    assert found == shape("line 3 of the diff promises more lines than follow")


def test_changed_lines_are_counted_on_their_own_side() -> None:
    read = read_diff(
        diff("@@ -3,3 +3,4 @@", " a", "-b", "+B", "+C", " d", "@@ -10,3 +11,2 @@", "-x", "-y", "+z",
             " q")
    )  # fmt: skip
    assert read.changed("+") == [(4, "B"), (5, "C"), (11, "z")]
    assert read.changed("-") == [(4, "b"), (10, "x"), (11, "y")]
    assert [(one.old_at, one.new_at) for one in read.hunks] == [(2, 2), (9, 10)]
    assert read.hunks[0].side("-") == ["a\n", "b\n", "d\n"]
    assert read.hunks[0].side("+") == ["a\n", "B\n", "C\n", "d\n"]


def test_every_escape_that_git_writes_in_a_name() -> None:
    body = ("@@ -1,2 +1,2 @@", "-one", "+1", " two")
    name = r'/\a\b\t\n\v\f\r\"\\\303\274\001x"'
    read = read_diff(diff(*body, head=f'--- "a{name}\n+++ "b{name}\n'))
    assert read.path == '\a\b\t\n\v\f\r"\\ü\1x'


def test_diff_02_a_header_whose_sides_do_not_end_together(short: Gate) -> None:
    found = short.no(diff("@@ -1,1 +1,3 @@", " one", "-two", "+2", " three"))
    assert found == shape("line 3 of the diff promises other numbers of lines than follow")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"Please change the goal.\n",
        b"\n\n\n",
        HEAD.encode(),
        diff("@@ ... @@", " one", "-two", "+2", " three"),
        diff("@@", " one"),
        diff("@@ -99999999999999999999 +1 @@", "-one", "+1"),
        diff("@@ -1 +1 @@x", "-one", "+1"),
        diff("@@ -\u0661 +1 @@", "-one", "+1"),
    ],
)
def test_diff_04_what_has_no_hunks(short: Gate, text: bytes) -> None:
    assert short.no(text) == shape("it has no hunks")


def test_a_refusal_of_the_whole_diff_names_no_line(short: Gate) -> None:
    assert short.judge(b"") == Refusal(Rule.SHAPE, "it has no hunks", "", 0)


@pytest.mark.parametrize(
    "head",
    ["+++ b/f\n", "", "--- a/f\n", "+++ b/f\n--- a/f\n", "--- a/f\n+++\n", "--- a/f b\n--- b/f\n"],
)
def test_diff_05_half_a_header_is_a_refusal(short: Gate, head: str) -> None:
    found = short.no(diff("@@ -1 +1 @@", "-one", "+1", head=head))
    assert found == shape("two lines `--- a/<path>` and `+++ b/<path>` must stand above its hunks")
    assert short.no(b"+++ b/f\n") == shape("it has no hunks")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("rename from x", "renames a file"),
        ("similarity index 90%", "renames or copies a file"),
        ("dissimilarity index 90%", "rewrites a file"),
        ("copy from x", "copies a file"),
        ("old mode 100644", "changes the mode of a file"),
        ("new mode 100755", "changes the mode of a file"),
        ("new file mode 100644", "creates a file"),
        ("deleted file mode 100644", "deletes a file"),
        ("Binary files a/x and b/x differ", "changes a binary file"),
        ("GIT binary patch", "changes a binary file"),
    ],
)
def test_nothing_but_content_may_change(short: Gate, line: str, what: str) -> None:
    found = short.no(diff("@@ -1,2 +1,2 @@", "-one", "+1", " two", head=f"{line}\n{HEAD}"))
    assert found == shape(f"it {what}; only the lines of one file may change")


def test_creating_deleting_moving_and_other_prefixes(short: Gate) -> None:
    body = ("@@ -1,2 +1,2 @@", "-one", "+1", " two")
    for old, new, why in (
        ("/dev/null", f"b/{SKILL}", "it creates or deletes a file"),
        (f"a/{SKILL}", "/dev/null", "it creates or deletes a file"),
        (f"a/{SKILL}", "b/AGENTS.md", "it moves a file"),
        (SKILL, SKILL, "its two names must begin with `a/` and `b/`"),
        (f"a/{SKILL}", f"a/{SKILL}", "its two names must begin with `a/` and `b/`"),
        (f"b/{SKILL}", f"b/{SKILL}", "its two names must begin with `a/` and `b/`"),
    ):
        assert short.no(diff(*body, head=f"--- {old}\n+++ {new}\n")) == shape(why)


def test_names_that_git_quotes(gate: Gate) -> None:
    path = '.agents/skills/nova/Pr\u00fcfliste "neu"\t\\.md'
    gate.files[path] = SHORT.encode()
    body = ("@@ -1,2 +1,2 @@", "-one", "+1", " two")
    name = r".agents/skills/nova/Pr\303\274fliste \"neu\"\t\\.md"
    found = gate.no(diff(*body, head=f'--- "a/{name}"\n+++ "b/{name}"\n'))
    assert found == shape("its path must be relative, with `/`, without odd characters")
    gate.files[path := '.agents/skills/nova/Pr\u00fcf "neu".md'] = SHORT.encode()
    name = r".agents/skills/nova/Pr\303\274f \"neu\".md"
    answer = gate.judge(diff(*body, head=f'--- "a/{name}"\n+++ "b/{name}"\n'))
    assert isinstance(answer, Accepted)
    assert answer.path == path
    for bad, why in (
        (r"\x41", "a file's name is quoted in no way that git knows"),
        (r"\477", "a file's name is quoted in no way that git knows"),
        ('a"b', "a file's name is quoted in no way that git knows"),
        (r"\303", "a file's name is not UTF-8"),
    ):
        assert gate.no(diff(*body, head=f'--- "a/{bad}"\n+++ "b/{bad}"\n')) == shape(why)


def test_diff_09_invented_context_is_refused_with_the_line_that_is_another(short: Gate) -> None:
    for body, line in (
        (("@@ -1,3 +1,3 @@", " one", "-zwei", "+2", " three"), 2),
        (("@@ -1,3 +1,3 @@", " eins", "-two", "+2", " three"), 1),
        (("@@ -2,3 +2,3 @@", " one", "-two", "+2", " three"), 2),
        (("@@ -1,4 +1,4 @@", " one", "-two", "+2", " three", " four"), 4),
        (("@@ -9,2 +9,2 @@", "-one", "+1", " two"), 9),
        (("@@ -1,3 +1,3 @@", " one ", "-two", "+2", " three"), 1),
    ):
        found = short.judge(diff(*body))
        assert found == Refusal(Rule.SHAPE, "its lines are not those of the file", "", line), body


def test_hunks_stand_in_order_and_their_numbers_agree(short: Gate) -> None:
    short.files[SKILL] = b"1\n2\n3\n4\n5\n6\n"
    first, second = (
        ("@@ -1,2 +1,2 @@", "-1", "+one", " 2"),
        ("@@ -4,2 +4,2 @@", "-4", "+four", " 5"),
    )
    assert isinstance(short.judge(diff(*first, *second)), Accepted)
    found = short.judge(diff(*second, *first))
    assert found == Refusal(Rule.SHAPE, "its hunks overlap, or are not in order", "", 1)
    overlapping = ("@@ -2,2 +2,2 @@", "-2", "+two", " 3")
    found = short.judge(diff(*first, *overlapping))
    assert found == Refusal(Rule.SHAPE, "its hunks overlap, or are not in order", "", 2)
    moved = ("@@ -4,2 +5,2 @@", *second[1:])
    found = short.judge(diff(*first, *moved))
    why = "a hunk's numbers of old and new lines do not agree"
    assert found == Refusal(Rule.SHAPE, why, "", 4)


def test_a_hunk_without_context_below_stands_at_the_end_or_git_would_not_apply_it(
    short: Gate,
) -> None:
    found = short.judge(diff("@@ -2 +2 @@", "-two", "+2"))
    assert found == Refusal(Rule.SHAPE, "a hunk ends without a line of context", "", 2)
    assert isinstance(short.judge(diff("@@ -3 +3 @@", "-three", "+3")), Accepted)
    assert isinstance(short.judge(diff("@@ -3,0 +4 @@", "+four")), Accepted)
    # unidiff takes these for a creation and a deletion
    for body in (("@@ -0,0 +1 @@", "+zero"), ("@@ -1,3 +0,0 @@", "-one", "-two", "-three")):
        assert short.no(diff(*body)) == shape("unidiff reads it in another way")
    short.files[SKILL] = b"one"
    emptied = short.judge(diff("@@ -1 +1,0 @@", "-one", MARK))
    assert emptied == Refusal(
        Rule.SHAPE, "a hunk's numbers of old and new lines do not agree", "", 1
    )


def test_diff_11_two_files_are_refused_together(gate: Gate) -> None:
    own = make_diff(SKILL, BUILD, BUILD.replace("fresh", "new"))
    other = make_diff("AGENTS.md", "# Rules\n", "# Rule\n")
    git = b"diff --git a/AGENTS.md b/AGENTS.md\nindex 5626abf..814f4a4 100644\n"
    for both in (own + other, own + git + other, other + own, own + own):
        assert gate.no(both) == shape("it is about more than one file; a proposal changes one")
    assert gate.no(own + b"-- \n2.39.2\n")[0] == Rule.SHAPE


def test_what_follows_the_last_hunk_is_refused(short: Gate) -> None:
    body = ("@@ -1,2 +1,2 @@", "-one", "+1", " two")
    for more in ("", " three", "-- ", "\\ No newline", "@@ -9 +9 @@ x @@y"):
        assert short.no(diff(*body, more))[0] == Rule.SHAPE
    assert short.no(diff(*body)[:-1]) == shape("its last line does not end")


def test_a_diff_that_changes_nothing(short: Gate) -> None:
    idle = ("@@ -1 +1 @@", " one")
    changed = ("@@ -2,2 +2,2 @@", "-two", "+2", " three")
    for body in (idle, (*idle, *changed), ("@@ -1,0 +1,0 @@",)):
        assert short.no(diff(*body)) == shape("a hunk of it changes nothing")
    same = short.no(diff("@@ -1,2 +1,2 @@", "-one", "+one", " two"))
    assert same == shape("it changes nothing")


def test_bytes_that_are_no_text_and_too_many_of_them(short: Gate) -> None:
    assert short.no(b"\xff" + diff("@@ -1 +1 @@", "-one", "+1")) == shape("it is not UTF-8 text")
    most = diff("@@ -3 +3 @@", "-three", "+" + "x" * (64 * 1024))[: 64 * 1024 - 1] + b"\n"
    assert isinstance(short.judge(most), Accepted)
    assert short.no(most + b"\n") == shape("it has 65,537 bytes, at most 65,536 are read")
    line = diff("@@ -1,2 +1,2 @@", "-one", "+1", " two")
    short.files[SKILL] = b"one\ntwo\n\xff"
    assert short.no(line) == shape("the file is not UTF-8 text")
    short.files[SKILL] = b"one\ntwo\n\0"
    assert short.no(line) == shape("the file is not a text of at most 1,000,000 characters")
    short.files[SKILL] = b"one\ntwo\n" + b"x" * (1_000_000 - 8)
    answer = short.judge(line)
    assert isinstance(answer, Refusal)
    assert answer.rule is Rule.SKILL  # for which it is too long as well
    short.files[SKILL] += b"x"
    assert short.no(line) == shape("the file is not a text of at most 1,000,000 characters")


def test_an_empty_line_of_context_may_have_lost_its_blank(short: Gate) -> None:
    short.files[SKILL] = b"one\n\nthree\n"
    answer = short.judge(diff("@@ -1,3 +1,3 @@", "-one", "+1", "", " three"))
    assert isinstance(answer, Accepted)
    assert answer.new == b"1\n\nthree\n"


def test_a_file_without_a_last_newline_keeps_it_so(short: Gate) -> None:
    short.files[SKILL] = b"one\ntwo"
    answer = short.judge(diff("@@ -1,2 +1,2 @@", " one", "-two", MARK, "+2", MARK))
    assert isinstance(answer, Accepted)
    assert answer.new == b"one\n2"
    answer = short.judge(diff("@@ -1,2 +1,2 @@", "-one", "+1", " two", MARK))
    assert isinstance(answer, Accepted)
    assert answer.new == b"1\ntwo"
    ended = short.judge(diff("@@ -1,2 +1,2 @@", " one", "-two", MARK, "+2"))
    assert ended == Refusal(Rule.SHAPE, "it does not keep the end of the file", "", 2)
    assert short.no(diff("@@ -1,2 +1,2 @@", "-one", "+1", " two"))[1] == (
        "its lines are not those of the file"
    )
    short.files[SKILL] = b"one\ntwo\n"
    for body in (
        ("@@ -1,2 +1,2 @@", " one", "-two", "+2", MARK),
        ("@@ -1,2 +1,1 @@", "-one", "-two", "+1", MARK),
    ):
        assert short.no(diff(*body)) == shape("it does not keep the end of the file")
    assert short.no(diff("@@ -1,2 +1,2 @@", "-one", "+1", MARK, " two"))[1] == (
        "it does not keep the end of the file"
    )


def test_the_marker_is_read_in_one_form_and_place_only(short: Gate) -> None:
    short.files[SKILL] = b"one\ntwo"
    why = "`\\` begins no line but the one that says a last line has no end"
    for body in (
        ("@@ -1,2 +1,2 @@", MARK, " one", "-two", MARK, "+2", MARK),
        ("@@ -1,2 +1,2 @@", " one", "-two", MARK, MARK, "+2", MARK),
        ("@@ -1,2 +1,2 @@", " one", "-two", "\\ none", "+2", MARK),
    ):
        assert short.no(diff(*body)) == shape(why)


def test_a_crlf_file_is_judged_as_lf_and_written_back_as_crlf(short: Gate) -> None:
    short.files[SKILL] = SHORT.replace("\n", "\r\n").encode()
    body = ("@@ -1,3 +1,3 @@", " one", "-two", "+2", " three")
    git = ("@@ -1,3 +1,3 @@", *(f"{line}\r" for line in body[1:]))
    for given in (diff(*body), diff(*git), diff(*body).replace(b"\n", b"\r\n")):
        answer = short.judge(given)
        assert isinstance(answer, Accepted), answer
        assert answer.old == b"one\r\ntwo\r\nthree\r\n"
        assert answer.new == b"one\r\n2\r\nthree\r\n"
        assert answer.edits[0].after == ("one", "2", "three")
    mixed = diff("@@ -1,3 +1,3 @@", " one", "-two", "+2\r", " three")
    assert short.no(mixed)[0] == Rule.WORDS
    open_end = b"one\r\ntwo\r\nthree"
    short.files[SKILL] = open_end
    answer = short.judge(diff(*git[:-1], " three", MARK))
    assert isinstance(answer, Accepted)
    assert answer.new == b"one\r\n2\r\nthree"


def test_line_ends_that_are_mixed_or_not_the_files(short: Gate) -> None:
    body = ("@@ -1,3 +1,3 @@", " one", "-two", "+2", " three")
    found = short.no(diff(*body).replace(b"\n", b"\r\n"))
    assert found == shape("its lines end with CR LF, those of the file do not")
    assert short.no(diff(body[0], *(f"{line}\r" for line in body[1:])))[1] == (
        "its lines are not those of the file"
    )
    short.files[SKILL] = b"one\r\ntwo\nthree\r\n"
    why = "the file's lines end with LF and with CR LF: make them one first"
    assert short.judge(diff(*body)) == Refusal(Rule.SHAPE, why, "", 2)


def test_a_diff_ends_all_of_its_lines_in_one_way(short: Gate) -> None:
    short.files[SKILL] = SHORT.replace("\n", "\r\n").encode()
    lines = diff("@@ -1,3 +1,3 @@", " one", "-two", "+2", " three").split(b"\n")[:-1]
    assert isinstance(short.judge(b"".join(line + b"\r\n" for line in lines)), Accepted)
    for at in range(len(lines)):
        ends = [b"\r\n"] * len(lines)
        ends[at] = b"\n"
        odd = b"".join(line + end for line, end in zip(lines, ends, strict=True))
        assert short.no(odd)[0] is Rule.SHAPE, at
    for at in range(3):  # above the body, whose lines may have those of the file
        ends = [b"\n"] * len(lines)
        ends[at] = b"\r\n"
        odd = b"".join(line + end for line, end in zip(lines, ends, strict=True))
        assert short.no(odd)[0] is Rule.SHAPE, at
    assert short.no(b"@@ -1 +1 @@\r") == shape("it has no hunks")
    assert short.no(b"@@ -1 +1 @@\r\n")[1].startswith("two lines `---")


def test_a_bom_stays_where_it_is(gate: Gate) -> None:
    old = "\ufeff" + ORG
    new = old.replace("A site that builds.", "A site that stands.")
    assert gate.accepted(ORG_PATH, new, old).new.startswith(b"\xef\xbb\xbf# The")
