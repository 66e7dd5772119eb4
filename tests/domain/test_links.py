"""Embeds are found by their place, with and without the parser alike."""

from time import perf_counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.front_matter import front_matter_plugin

from orgvault.domain.links import Found, find, find_by_parser, plain_text, properties_end
from orgvault.domain.markdown import structure

PIECES = st.sampled_from(
    [
        "\n\n![[N]]\n\n",
        "\n\n",
        "<b>",
        "<",
        "\n<div>\n",
        "<!--",
        "$",
        "\\",
        "```\n",
        "~~~\n",
        "\n```",
        "`",
        "`x`",
        "![[N]]",
        "![[",
        "]]",
        "![[a b#c|d]]",
        "![x](y.md)",
        "![",
        "](",
        ")",
        "[",
        "]",
        "[a](b)",
        "[[N]]",
        "|",
        "|---|---|\n",
        "a | b\n",
        "---\n",
        "===\n",
        "> ",
        "- ",
        "1. ",
        "# ",
        "* ",
        "**",
        "_",
        "!",
        "\n",
        "\n\n",
        " ",
        "  ",
        "   ",
        "#",
        "^id",
        "[^1]: ",
        "word",
        "&amp;",
        "~~",
        "\u00a0",
        "\r\n",
        "\r",
        "%",
        "=",
        "+ ",
        ":",
        "https://x",
        "\ufeff",
        "é",
        "\u2028",
    ]
)
HARD = st.sampled_from(
    [
        "`",
        "```\n",
        "~~~\n",
        "%%",
        "%%\n",
        "$$",
        "$",
        "$$\n",
        "\\",
        "<",
        "<!--",
        "-->",
        "<div>\n",
        "    ",
        "\t",
        "<b>",
        "\0",
        "\ue000",
    ]
)
PLAIN = st.lists(PIECES, max_size=16).map("".join)
ANY = st.lists(PIECES | HARD, max_size=16).map("".join)


@settings(max_examples=3000, deadline=None)
@given(PLAIN)
def test_the_quick_way_finds_what_the_parser_finds(text: str) -> None:
    assume(plain_text(text[properties_end(text) :]) is not None)
    assert find(text) == find_by_parser(text)


@settings(max_examples=2000, deadline=None)
@given(ANY)
def test_what_is_found_stands_there_in_order(text: str) -> None:
    found = find(text)
    places = sorted([*((one.start, one.end) for one in found.embeds), *found.comments])
    ends = [found.body, *(end for _, end in places)]
    assert all(start >= before for (start, _), before in zip(places, ends, strict=False))
    assert all(text[one.start : one.start + 2] == "![" for one in found.embeds)
    assert all(text[one.end - 1] in "])" for one in found.embeds)
    assert all(text[start : start + 2] == "%%" for start, _ in found.comments)


@settings(max_examples=1000, deadline=None)
@given(
    st.lists(
        st.sampled_from(["---\n", "---", "--- \n", "a: b\n", "\n", "- x\n", " ---\n", "----\n"])
    )
)
def test_properties_end_where_the_parser_s_plugin_says(pieces: list[str]) -> None:
    """Obsidian takes exactly three dashes on both sides, the plugin takes more as well."""
    text = "".join(pieces)
    lines = text.splitlines()
    assume(all(line.rstrip() == "---" or "---" not in line for line in lines))
    parser = MarkdownIt("commonmark")
    front_matter_plugin(parser)
    first = next(iter(parser.parse(text)), None)
    last = first.map[1] if first and first.type == "front_matter" and first.map else 0
    assert properties_end(text) == len("".join(text.splitlines(keepends=True)[:last]))


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\na: b\n---\nx", "x"),
        ("---\n---\nx", "x"),
        ("---\r\na\r\n---\r\nx", "x"),
        ("\ufeff---\na\n---", ""),
        ("---\na: b\nx", "---\na: b\nx"),
        ("\n---\na\n---\nx", "\n---\na\n---\nx"),
        ("\ufeffx", "x"),
    ],
)
def test_properties_stand_between_two_lines_of_dashes(text: str, body: str) -> None:
    assert text[properties_end(text) :] == body


def test_a_link_s_target_and_an_image_s_words_hold_no_embeds() -> None:
    found = find("[a](![[N]]) ![a ![[N]] b](https://x) ![a](b.md 'c ![[N]]')")
    assert [one.path for one in found.embeds] == ["b.md"]
    assert [one.path for one in find("[![[N]]](https://x)").embeds] == ["N"]


def test_empty_ones_are_none() -> None:
    assert find("![[]] ![[ ]] ![[|x]] ![[#]] ![]() ![[a\nb]]") == Found((), (), 0)


LONG = 60_000


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "![[",
        "![",
        "![[a]",
        "[a](",
        "![](",
        '[a](b "',
        "a<!--",
        "a<?",
        "a <a b='",
        "a %% ",
        "%% a\n\n",
        "$$a\n\n",
        "> $$a\n\n",
        "$a ",
        "> ",
        "- a\n",
        "*_",
        "[]",
        "\\",
        "a <!-- -",
        "```a`\n",
        "a | b\n",
    ],
)
def test_a_hostile_text_is_read_in_bounded_time(text: str) -> None:
    began = perf_counter()
    find_by_parser(text * (LONG // len(text)) + " %% ![[N]] ](x) -->")
    assert perf_counter() - began < 30


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("a%20b.md", "a b.md"),
        ("n%C3%B6te.md", "nöte.md"),
        ("a%FFb%20c.md", "a%FFb c.md"),
        ("a%2.md", "a%2.md"),
    ],
)
def test_percent_signs_in_a_link_are_read_where_they_are_utf_8(target: str, path: str) -> None:
    (one,) = find(f"![x]({target})").embeds
    assert one.path == path


@pytest.mark.parametrize(
    ("text", "images", "comments"),
    [
        ("![![y](b.md)](a.md)", {"a.md", "b.md"}, []),
        ("| a |\n|---|\n| ![x\\|y](b.md) |\n", {"b.md"}, []),
        ("> ![one\n> two](a.md)\n", set(), []),
        ("a %%b%% c %%d", set(), [(2, 7)]),
        ("a %%%b%% c", set(), [(2, 8)]),
        ("[a %%b%% c](d)", set(), [(3, 8)]),
    ],
)
def test_what_the_parser_finds_has_its_place(
    text: str, images: set[str], comments: list[tuple[int, int]]
) -> None:
    known = structure(text)
    assert {one.target for one in known.images} == images
    for one in known.images:
        assert text[one.start : one.end].endswith(f"({one.target})")
    assert list(known.comments) == comments
