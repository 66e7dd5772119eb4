"""A notebook by heading section."""

from hypothesis import given
from hypothesis import strategies as st

from orgvault.domain.sections import Section, sections

MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# A",
            "## B",
            "### C ##",
            "text",
            "",
            "  ",
            "---",
            "```",
            "````",
            "~~~",
            "# ",
            "#no",
            "a: b",
        ]
    )
    | st.text(max_size=10),
    max_size=20,
).map("\n".join)


def test_a_section_is_its_headings_its_own_text_and_its_line() -> None:
    text = "Before.\n\n# One\n\ntext\nmore\n\n## Two ##\n\n- item\n\n# Three\nlast"
    assert sections(text) == [
        Section((), "Before.", 1),
        Section(("One",), "text\nmore", 3),
        Section(("One", "Two"), "- item", 8),
        Section(("Three",), "last", 12),
    ]


def test_a_heading_that_only_holds_others_is_no_section_and_an_empty_leaf_is() -> None:
    found = sections("# Top\n\n## Empty\n\n## Full\nx\n# Last\n")
    assert [one.headings for one in found] == [("Top", "Empty"), ("Top", "Full"), ("Last",)]
    assert [one.text for one in found] == ["", "x", ""]


def test_depths_may_be_skipped() -> None:
    found = sections("### Deep\na\n# Top\nb\n#### Deeper\nc\n## Two\nd")
    assert [one.headings for one in found] == [
        ("Deep",), ("Top",), ("Top", "Deeper"), ("Top", "Two"),
    ]  # fmt: skip


def test_a_fence_hides_headings_until_a_fence_of_its_kind_closes_it() -> None:
    text = "# A\n````sh\n# not\n```\n# nor\n````\n# B\n~~~\n# not\n```\n~~~ x\n# nor\n~~~\n# C\nend"
    assert [one.headings for one in sections(text)] == [("A",), ("B",), ("C",)]


def test_an_open_fence_runs_to_the_end() -> None:
    assert [one.headings for one in sections("# A\n```\n# not")] == [("A",)]


def test_what_only_looks_like_a_heading_is_text() -> None:
    text = "#tag\n####### seven\n    # indented\n\\# escaped\ninline # sign"
    assert sections(text) == [Section((), text, 1)]


def test_frontmatter_is_dropped_and_lines_are_counted_on() -> None:
    assert sections("---\ntags: [a]\n# note\n---\n\n# A\nx\n") == [Section(("A",), "x", 6)]
    assert sections("\ufeff---\na: b\n...\nx") == [Section((), "x", 4)]
    assert sections("---\nopen") == [Section((), "---\nopen", 1)]


def test_line_ends_of_any_kind() -> None:
    assert sections("# A\r\nx\r\n# B\ry") == [Section(("A",), "x", 1), Section(("B",), "y", 3)]


def test_nothing_gives_nothing() -> None:
    assert sections("") == sections(" \n\n") == sections("---\na: b\n---\n") == []


@given(MARKDOWN)
def test_any_text_is_cut_in_order_and_nothing_is_said_twice(text: str) -> None:
    found = sections(text)
    lines = [one.line for one in found]
    assert lines == sorted(set(lines))
    there = [line.rstrip() for line in text.replace("\r", "\n").split("\n")]
    kept = [line.rstrip() for one in found for line in one.text.split("\n")]
    for line in set(kept) - {""}:
        assert kept.count(line) <= there.count(line)
