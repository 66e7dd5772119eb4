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


def test_a_description_below_an_empty_line(gate: Gate) -> None:
    old = "---\n\nname: a\n---\n# A\n"
    new = old.replace("name", "description: b\nname")
    assert [one.after for one in gate.accepted(SKILL, new, old).edits] == [("b",)]
    assert gate.refused(SKILL, old, new).why == "it takes `description` out"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\\![[x]]", "![[x]]"),
        ("\\![[x]]", "\\\\![[x]]"),
        ("\\\\\\![[x]]", "\\\\![[x]]"),
        ("a\\![[x]]", "a ![[x]]"),
        ("    ![[x]]", "![[x]]"),
        ("\t![[x]]", "![[x]]"),
        (" \t![[x]]", "   ![[x]]"),
        ("   \t![[x]]", "   ![[x]]"),
    ],
)
def test_what_was_escaped_or_indented_does_not_come_alive(
    gate: Gate, before: str, after: str
) -> None:
    found = gate.refused(SKILL, f"{BUILD}a\n\n{after}\n", f"{BUILD}a\n\n{before}\n")
    assert found.rule is Rule.SKILL
    assert found.why.startswith("it adds an embed: `")
    assert found.line == LAST_LINE + 3


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(\\![[x]])", "a\\![[x]]"),
        ("(\\\\![[x]])", "a \\\\![[x]]"),
        ("   ![[x]]", "![[x]]"),
        ("    ![[x]] more", "    ![[x]] less"),
        ("[one](/x)", "[two](/x)"),
    ],
)
def test_what_stays_as_escaped_or_indented_as_it_was_may_stay(
    gate: Gate, before: str, after: str
) -> None:
    gate.accepted(SKILL, f"{BUILD}a\n\n{after}\n", f"{BUILD}a\n\n{before}\n")


def test_a_definition_does_not_come_out_of_indented_code(gate: Gate) -> None:
    found = gate.refused(SKILL, f"{BUILD}a\n\n[l]: /x\n", f"{BUILD}a\n\n    [l]: /x\n")
    assert found.why == f"{LINK}: `/x`"


def test_a_change_of_the_first_line_is_an_edit_of_the_body(gate: Gate) -> None:
    (edit,) = gate.accepted(SKILL, "# B\nx\n", "# A\nx\n").edits
    assert (edit.key, edit.before, edit.after) == ("body", ("# A", "x"), ("# B", "x"))
    (edit,) = gate.accepted(SKILL, "---\n---\n# B\n", "---\n---\n# A\n").edits
    assert (edit.key, edit.after) == ("body", ("---", "---", "# B"))


def test_a_frontmatter_in_every_form(gate: Gate) -> None:
    for mark, end in (("---", "---"), ("---\t", "---"), ("--- ", "---\t "), ("\ufeff---", "---")):
        for body in ("", "\n", "\n# A\n"):
            old = f"{mark}\nname: a\ndescription: b\n{end}{body}"
            (edit,) = gate.accepted(SKILL, old.replace("b\n", "c\n"), old).edits
            assert (edit.key, edit.after) == ("description", ("c",))
            found = gate.refused(SKILL, old.replace(": a", ": b"), old)
            assert (found.rule, found.key) == (Rule.SKILL, "name")


def test_what_begins_like_a_frontmatter_and_is_none(gate: Gate) -> None:
    why = "its frontmatter does not stand at the top, or has no end"
    for old in (
        "---\na\n",
        "--- \na\n",
        "---\t\na\n",
        "\n---\na\n---\n",
        " ---\na\n---\n",
        "\ufeff\ufeff---\na\n---\n",
        "---\na\n--- x\n",
    ):
        assert gate.refused(SKILL, f"{old}b\n", old).why == why, old
    assert gate.refused(SKILL, "\n---", "\na").why == why
    for old in ("a\n", "----\na\n", "--\na\n", "---a\n", "a\n---\n"):
        gate.accepted(SKILL, f"{old}b\n", old)
