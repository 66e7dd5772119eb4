"""Rule 5 to the letter: where a link leads, what is code, and which line a refusal names."""

import pytest

from orgvault.domain.proposal import Refusal, Rule
from tests.domain.gate.conftest import BUILD, SKILL, Gate

EMBED = "it adds an embed: `![[x]`"
LINK = "it adds a link out of the agent's knowledge"
LAST_LINE = BUILD.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "[a](check%2Dlinks.md)",
        "[a](check%2dlinks.md)",
        "[a](%63heck-links.md#top)",
        "[[.agents/skills/nova/check-links|how to check]]",
        "[[.agents/skills/nova/check-links.md]]",
        "[[.agents/skills/nova/check-links.MD]]",
        "[a](../nova/../nova/check-links.md)",
    ],
)
def test_a_link_is_decoded_before_it_is_followed(gate: Gate, text: str) -> None:
    gate.files[".agents/skills/nova/check-links.MD"] = b""
    gate.accepted(SKILL, f"{BUILD}{text}\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("```\nfirst\n![[x]]\n```\n", "first\n![[x]]\n"),
        ("~~~ a`b\n![[x]]\n~~~\n", "![[x]]\n"),
        ("~~~\n``` \n![[x]]\n~~~\n", "~~~\n~~~\n![[x]]\n"),
        ("```\n``` x\n![[x]]\n```\n", "```\n```\n![[x]]\n"),
    ],
)
def test_a_fence_holds_until_it_is_closed(gate: Gate, before: str, after: str) -> None:
    found = gate.refused(SKILL, BUILD + after, BUILD + before)
    assert (found.rule, found.why) == (Rule.SKILL, EMBED)


def test_backticks_with_one_behind_them_are_no_fence(gate: Gate) -> None:
    gate.accepted(SKILL, f"{BUILD}![[x]]\n", f"{BUILD}``` a`b\n![[x]]\n")


def test_a_definition_does_not_come_out_of_code(gate: Gate) -> None:
    found = gate.refused(SKILL, f"{BUILD}[l]: /x\n", f"{BUILD}```\n[l]: /x\n```\n")
    assert found == Refusal(Rule.SKILL, f"{LINK}: `/x`", "", LAST_LINE + 1)


def test_a_definition_that_leads_nowhere(gate: Gate) -> None:
    found = gate.refused(SKILL, f"{BUILD}[l]: (x)\n", BUILD)
    assert (found.rule, found.line) == (Rule.SKILL, LAST_LINE + 1)
    assert found.why.startswith(LINK)
    assert "X" not in found.why


def test_the_line_is_the_one_that_holds_the_words(gate: Gate) -> None:
    found = gate.refused(SKILL, f"{BUILD}Fine.\n![[x]]\nFine.\n", BUILD)
    assert found == Refusal(Rule.SKILL, EMBED, "", LAST_LINE + 2)


def test_sixty_characters_of_what_was_found_are_shown(gate: Gate) -> None:
    address = "https://example.org/" + "0123456789" * 5
    found = gate.refused(SKILL, f"{BUILD}{address}\n", BUILD)
    assert found.why == f"{LINK}: `{address[:60]}`"


def test_blanks_make_no_difference(gate: Gate) -> None:
    found = gate.refused(SKILL, f"{BUILD}vbscript \t :x\n", BUILD)
    assert found.why == "it adds a script or a query: `vbscript :`"
