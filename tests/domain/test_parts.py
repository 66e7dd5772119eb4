"""Parts of notes are the same whether the parser is asked or not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgvault.domain.links import plain_text
from orgvault.domain.parts import FOOTNOTE, NO_BLOCK, PARSED_CHARS, TOO_LARGE, Part, part

PIECES = st.sampled_from(
    [
        "# H\n",
        "## H\n",
        "# G ##\n",
        "# `H`\n",
        "#H\n",
        "> # H\n",
        "- # H\n",
        " # H\n",
        "H\n===\n",
        "H\n---\n",
        "words\n",
        "words ^id\n",
        "\n",
        "\n^id\n",
        "- item ^id\n",
        "  - child\n",
        "> quote\n",
        "1. one\n",
        "| a |\n",
        "|---|\n",
        "```\n",
        "`code`\n",
        "---\n",
        "two ^other\n",
        "^id",
        "    # H\n",
        "é ^id\n",
    ]
)


@settings(max_examples=2000, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join), st.sampled_from(["H", "G", "H#H", "G#H", "^id"]))
def test_the_quick_way_finds_what_the_parser_finds(text: str, subpath: str) -> None:
    """HTML at the end, in a paragraph of its own, has the parser asked."""
    longer = f"{text}\n\n<b>\n"
    quick, parsed = part(text, subpath), part(longer, subpath)
    end = min(parsed.end, len(text))
    assert quick == Part(parsed.start, end, parsed.mark, parsed.twice, parsed.reason)


def test_html_has_the_parser_asked() -> None:
    assert plain_text("words") == "words"
    assert plain_text("words\n\n<b>\n") is None


@pytest.mark.parametrize("subpath", ["", "#", " # "])
def test_no_part_is_the_whole_without_its_properties(subpath: str) -> None:
    text = "---\na: b\n---\nbody"
    assert text[slice(*_span(part(text, subpath)))] == "body"


def _span(found: Part) -> tuple[int, int]:
    return found.start, found.end


def test_headings_are_not_looked_for_in_code_and_properties() -> None:
    text = "---\n# H\n---\n```\n# H\n```\n# H\nthis\n"
    assert text[slice(*_span(part(text, "H")))] == "# H\nthis\n"


def test_an_id_ends_its_block() -> None:
    assert part("a ^id b\n", "^id").reason == NO_BLOCK
    assert part("a ^id2\n", "^id").reason == NO_BLOCK
    assert part("a^id\n", "^id").reason == NO_BLOCK
    assert part("words\n\n^id\n", "^id").reason == NO_BLOCK
    assert part("a\n", "H#[^1]").reason == FOOTNOTE


def test_an_id_that_can_be_none_is_not_looked_for() -> None:
    assert part("words ^!\n", "^!").reason == NO_BLOCK


def test_an_id_in_a_large_text_is_found_where_it_stands_plainly_and_else_not_at_all() -> None:
    large = "words\n\n" * (PARSED_CHARS // 7 + 1)
    assert _span(part(f"{large}here ^id\n", "^id")) == (len(large), len(large) + len("here ^id"))
    assert part(f"{large}- here ^id\n", "^id").reason == TOO_LARGE


def test_an_id_in_a_second_paragraph_is_its_item_s() -> None:
    text = "- one\n\n  two ^id\n- three\n"
    found = part(text, "^id")
    assert text[found.start : found.end] == "- one\n\n  two ^id"
