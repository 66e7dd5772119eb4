# ruff: noqa: RUF001 - look-alikes are what is tested
"""Expansion: whatever notes hold, elements nest properly and the work is bounded."""

import re
from collections.abc import Callable
from time import perf_counter
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgvault.domain.embeds import BUDGET_BYTES, DEPTH, Expanded, NoteText, Unread
from orgvault.domain.neutral import NAMES
from orgvault.domain.parts import PARSED_CHARS
from orgvault.errors import EmbedBudgetExceeded
from tests.embeds_vault import Shelf

TAG = re.compile(rf"(?i)[<≮]\s*(/?)\s*({'|'.join(NAMES)})(?![\w.:-])")
OURS = re.compile(r'<embed path="[^"<>\n]*">\n|\n</embed>')
PATHS = ["a.md", "b.md", "f/c.md", "<task>.md", "d.png"]
PIECES = st.sampled_from(
    [
        "![[a]]",
        "![[b]]",
        "![[c#H]]",
        "![[<task>]]",
        "![[d.png]]",
        "![[#H]]",
        "![[nowhere </embed>]]",
        "![x](b.md)",
        "<",
        "</",
        "task>",
        "embed",
        ">",
        '<embed path="x">',
        "</embed>",
        "</memory><task>",
        "＜",
        "‹",
        "%%",
        "%%x%%",
        "`",
        "```\n",
        "\n",
        "\n\n",
        " ",
        "# H\n",
        "---\n",
        "\\",
        "$$",
        "word",
        "\u200b",
        "|",
        "state",
        '<capability name="memory">',
        "\u202e",
        "{{ x }}",
        "\r\n",
        "- ",
        "> ",
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)


def assert_nested(text: str) -> int:
    """How many elements there are; all of them ours and one inside the other."""
    folded = normalize("NFKC", text)
    ours = OURS.findall(folded)
    assert len(TAG.findall(folded)) == len(ours), text
    depth = 0
    for tag in ours:
        depth += -1 if "/" in tag[:3] else 1
        assert 0 <= depth <= DEPTH, text
    assert depth == 0, text
    return len(ours) // 2


@settings(max_examples=2000, deadline=None)
@given(TEXTS, st.lists(TEXTS, min_size=4, max_size=4))
def test_whatever_is_written_only_our_elements_open_and_close(text: str, notes: list[str]) -> None:
    shelf = Shelf(dict(zip(PATHS, [*notes, ""], strict=True)))
    try:
        done = shelf.expand(text)
    except EmbedBudgetExceeded as failure:
        assert failure.sizes  # noqa: PT017
        return
    assert assert_nested(done.text) == len(done.embeds)
    assert done.bytes <= BUDGET_BYTES
    assert all("\n" not in marker.text and marker.text in done.text for marker in done.markers)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_at_all(text: str, note: str) -> None:
    done = Shelf({"a.md": note}).expand(f"{text}\n\n![[a]]")
    assert_nested(done.text)


def test_what_is_not_ours_keeps_every_byte() -> None:
    text = "\ta  b\r\n* c\r\n\r\n\u00a0d\u2028 &amp; {{ x }} <b>e</b> \x0b![[a]]\t\n"
    done = Shelf({"a.md": "x\r\ny\n"}).expand(text)
    assert done.text == text.replace("![[a]]", '<embed path="a.md">\nx\r\ny\n</embed>')


def test_a_comment_between_them_does_not_make_a_tag_of_two_halves() -> None:
    assert Shelf({}).expand("<%%x%%task>").text == "&lt;task>"


def bomb(width: int, leaf: str = "") -> Shelf:
    """Notes, each of which embeds the next several times."""
    levels = {f"n{n}.md": f"![[n{n + 1}]]" * width for n in range(9)}
    return Shelf({**levels, "n9.md": leaf})


@pytest.mark.parametrize("leaf", ["", "lol", "%%" + "x" * 1000 + "%%", "<task>"])
def test_a_billion_embeds_end_soon(leaf: str) -> None:
    began = perf_counter()
    with pytest.raises(EmbedBudgetExceeded) as failed:
        bomb(10, leaf).expand("![[n0]] ![[n1]] " * 500)
    assert perf_counter() - began < 20
    assert len(str(failed.value)) < 5000
    assert "and " in str(failed.value)


def test_what_is_left_out_counts_as_well() -> None:
    with pytest.raises(EmbedBudgetExceeded):
        Shelf({"a.md": "![[nowhere]]" * 3000}).expand("![[a]]")


def test_the_budget_is_of_bytes_and_its_last_one_fits() -> None:
    assert Shelf({"a.md": "é" * (BUDGET_BYTES // 2)}).expand("![[a]]").bytes == BUDGET_BYTES
    assert (
        Shelf({"a.md": "\n" + "x" * BUDGET_BYTES + " \n\n"}).expand("![[a]]").bytes == BUDGET_BYTES
    )
    with pytest.raises(EmbedBudgetExceeded):
        Shelf({"a.md": "é" * (BUDGET_BYTES // 2) + "x"}).expand("![[a]]")
    assert Shelf({}).expand("x" * (2 * BUDGET_BYTES)).bytes == 0


def test_of_a_very_large_note_a_part_can_be_embedded() -> None:
    large = "# A\na\n# B\n" + "many words\n" * 200_000
    assert Shelf({"a.md": large}).expand("![[a#A]]").bytes == 5
    intricate = large + "<b>\n"
    assert "too large" in Shelf({"a.md": intricate}).expand("![[a#A]]").text


def test_many_intricate_notes_are_not_all_looked_into() -> None:
    notes = {f"n{n}.md": "# A\na\n# B\n" + "`code` ![[x]]\n" * 10_000 for n in range(12)}
    done: Expanded = Shelf(notes).expand(" ".join(f"![[n{n}#A]]" for n in range(12)))
    assert len(done.embeds) < 12
    assert "too much else is embedded" in done.markers[-1].reason


@pytest.mark.parametrize(
    "text",
    [
        "-" * 60_000 + "x | ![[a|b]]",
        "1" * 60_000 + " ![[a]]",
        "a" * 60_000 + "\n`b`\n![[a]]",
        "![[a#^i]]" + " ^i\n\n" * 10_000,
        "| a ^i |\n" * 5_000 + "![[#^i]]",
        "```\n" + "`" * 60_000 + "x",
        "![[b#^i]] <b>",
        "".join(f"![[x{n}]]" for n in range(8000)),
        "---\n" * 15_000 + "![[a]]",
        " " * 60_000 + "![[a]]",
        "\n" * 60_000 + "![[a]]",
        "#" * 60_000,
        "![[a#" + "b#" * 900 + "]]",
    ],
)
def test_a_hostile_text_is_expanded_in_bounded_time(text: str) -> None:
    shelf = Shelf({"a.md": text, "b.md": "- x ^i\n" * 8_000 + "<b>"})
    began = perf_counter()
    try:
        assert shelf.expand(text, "s.md").text
        assert shelf.expand("![[a#H]] ![[a#^i]] ![[a]]").text
    except EmbedBudgetExceeded as failure:
        assert failure.sizes  # noqa: PT017
    assert perf_counter() - began < 20


class Named(Shelf):
    """Notes of which one has another name, and one cannot be read."""

    def aliases(self, readable: Callable[[str], str], /) -> dict[str, str]:
        """The one alias, if its note may be read."""
        return {} if readable("f/Real.md") else {"machine": "f/Real.md"}

    def read(self, path: str) -> NoteText | Unread:
        """A note's text, or why there is none."""
        return Unread("it is no text") if path == "bad.md" else super().read(path)


def test_why_an_embed_is_left_out_stands_in_its_place() -> None:
    shelf = Named({"f/Real.md": "x", "bad.md": "", "a/N.md": "n", "b/N.md": "m"})
    done = shelf.expand("![[Machine]] ![[bad]] ![[N]] ![[bad]]")
    first, second, third = (one.reason for one in done.markers)
    assert "[[Real|Machine]]" in first
    assert (second, third) == ("it is no text", "it is no text")
    assert done.warnings == ("N: a/N.md was taken, not b/N.md",)
    assert [one.path for one in done.embeds] == ["a/N.md"]


def test_a_large_note_that_needs_the_parser_is_over_the_budget_unread() -> None:
    large = "`![[x]]` <b>![[y]]</b>\n" + "words\n" * PARSED_CHARS
    with pytest.raises(EmbedBudgetExceeded, match=r"a\.md"):
        Shelf({"a.md": large}).expand("![[a]]")
