"""Rule 5: of a skill file the body and the description, and nothing that is more than text."""

import pytest

from orgvault.domain.proposal import Edit, Refusal, Rule
from tests.domain.gate.conftest import BUILD, SKILL, Gate

COMMENT = "a comment, or takes the end of one away"
EMBED = "an embed"
LINK = "a link out of the agent's knowledge"
SCRIPT = "a script or a query"
TAG = "a section tag"
LAST = "If the build stops, read the last line first.\n"
LAST_LINE = BUILD.count("\n")


def added(gate: Gate, text: str, old: str = BUILD) -> Refusal:
    return gate.refused(SKILL, old + text + "\n", old)


@pytest.mark.parametrize(
    "text",
    [
        "4. Compare the number of pages.",
        "- [ ] A box, and ![not an embed",
        "Use `make links` or ``a ` b``.",
        "Is 3 < 4, a<b and <page> a name? Yes --> no, 100%.",
        "See [links](check-links.md), [up](#build-the-site) or [both](./check-links.md#links).",
        "See [links](../nova/check-links.md) and [x]: a colon, [^1] and a note.",
        "[^1]: A footnote.",
        "[l]: check-links.md",
        "```sh\nmake build\n```",
        "~~~python\nif a == b: pass\n~~~",
        "Data: a table | of | cells; e.g. a:b, x = `y`.",
        "Grüße 👩‍💻 می‌خواهم",
        "The task of the state is a memory of a system.",
        "a line that ends",
    ],
)
def test_text_is_accepted(gate: Gate, text: str) -> None:
    if text.startswith("- [ ]"):
        text = text.replace("![", "(")
    answer = gate.accepted(SKILL, BUILD + text + "\n")
    (edit,) = answer.edits
    assert edit.key == "body"
    assert edit.after is not None
    assert list(edit.after[-len(text.split("\n")) :]) == text.split("\n")
    assert edit.before is not None
    assert edit.before[1:] == ("", LAST.strip())
    assert answer.flags == ()


@pytest.mark.parametrize(
    ("text", "what", "words"),
    [
        ("![[note]]", EMBED, "![[note]"),
        ("!\\[[note]]", LINK, "[[note"),
        ("![a](check-links.md)", EMBED, "![a]"),
        ("\uff01[a](b)", EMBED, "![a]"),
        ("&#33;[a](b)", EMBED, "![a]"),
        ("!\u200b[a](b)", EMBED, "![a]"),
        ('<capability name="coding">', TAG, "<capability"),
        ("</capability>", TAG, "<capability"),
        ("< / Task>", TAG, "<Task"),
        ("\uff1cmemory\uff1e", TAG, "<memory"),
        ("&lt;state>", TAG, "<state"),
        ("&#x3c;guidelines", TAG, "<guidelines"),
        ("\u3008system>", TAG, "<system"),
        ("<emb\u200ded path='x'>", TAG, "<embed"),
        ("<\ntask>", TAG, "<task"),
        ("<!-- hidden -->", COMMENT, "<!--"),
        ("<!DOCTYPE html>", COMMENT, "<!"),
        ("%%hidden%%", COMMENT, "%%"),
        ("<script>", SCRIPT, "<script"),
        ("</SCRIPT >", SCRIPT, "</SCRIPT"),
        ("<iframe src='x'>", SCRIPT, "<iframe"),
        ("<img/src=x>", SCRIPT, "<img"),
        ("<a\nhref=x>", SCRIPT, "<a"),
        ("<p class='a' onclick = 'b'>", SCRIPT, "<p class='a' onclick ="),
        ("<p\nonload=b>", SCRIPT, "<p\nonload="),
        ("<b style=x>", SCRIPT, "<b style="),
        ("<% tp.date %>", SCRIPT, "<%"),
        ("<?php", SCRIPT, "<?"),
        ("Java&#115;cript:alert(1)", SCRIPT, "Javascript:"),
        ("vbscript :x", SCRIPT, "vbscript :"),
        ("data:text/html,x", SCRIPT, "data:text/"),
        ("```dataviewjs", SCRIPT, "```dataviewjs"),
        ("> ~~~ dataview", SCRIPT, "~~~ dataview"),
        ("```{query}", SCRIPT, "```{query"),
        ("`````tasks", SCRIPT, "`````tasks"),
        ("`= this.x`", SCRIPT, "`= this.x"),
        ("`$= dv.x`", SCRIPT, "`$= dv.x"),
        ("https://example.org/x", LINK, "https://example.org/x"),
        ("<HTTPS://example.org>", LINK, "HTTPS://example.org"),
        ("obsidian://open?x", LINK, "obsidian://open?x"),
        ("mailto:a@b.org", LINK, "mailto:a@b.org"),
        ("file:/etc/hosts", LINK, "file:/etc/hosts"),
        ("www.example.org", LINK, "www.example.org"),
        ("[[AGENTS]]", LINK, "[[AGENTS"),
        ("[[check-links]]", LINK, "[[check-links"),
        ("[a](../atlas/review.md)", LINK, "../atlas/review.md"),
        ("[a](%2e%2e/atlas/review.md)", LINK, "%2e%2e/atlas/review.md"),
        ("[a](../../../AGENTS.md)", LINK, "../../../AGENTS.md"),
        ("[a](../../../../AGENTS.md)", LINK, "../../../../AGENTS.md"),
        ("[a](<../atlas/re view.md>)", LINK, "../atlas/re view.md"),
        ("[a](\n../atlas/review.md)", LINK, "../atlas/review.md"),
        ("[a](/etc/hosts)", LINK, "/etc/hosts"),
        ("[a](//example.org)", LINK, "//example.org"),
        ("[a]()", LINK, ""),
        ("[a](#)", LINK, "#"),
        ("[a](missing.md)", LINK, "missing.md"),
        ("[a](.)", LINK, "."),
        ("[a]: ../atlas/review.md", LINK, "../atlas/review.md"),
        ("[a]:\n<../atlas/review.md>", LINK, "../atlas/review.md"),
    ],
)
def test_what_is_more_than_text_is_refused(gate: Gate, text: str, what: str, words: str) -> None:
    found = added(gate, text)
    assert (found.rule, found.key) == (Rule.SKILL, "")
    assert found.why == f"it adds {what}: `{words}`"
    assert LAST_LINE < found.line <= LAST_LINE + 2


def test_a_link_from_the_root_leads_to_a_file_of_the_knowledge(gate: Gate) -> None:
    for words in (
        "[[.agents/skills/nova/check-links]]",
        "[[.agents/skills/nova/check-links.md#a|b]]",
    ):
        gate.accepted(SKILL, f"{BUILD}{words}\n")
    gate.links = {
        ".agents/skills/nova/other.md": "AGENTS.md",
        ".agents/skills/nova/sub": "Projects",
    }
    gate.files["Projects/x.md"] = b""
    for words in ("[[.agents/skills/nova/other]]", "[a](other.md)", "[a](sub/x.md)"):
        assert added(gate, words).rule is Rule.SKILL


def test_halves_that_are_joined_over_two_lines(gate: Gate) -> None:
    for old, new, what in (
        ("!\n", "![[x]]\n", EMBED),
        ("(see [label] here)\n", "(see [label] here)\n[label]: /x\n", LINK),
        ("a\n\n[label]: /x\n", "a [label]\n\n[label]: /x\n", LINK),
        ("a\n\n[La  bel]: </x>\n", "a [la bel][]\n\n[La  bel]: </x>\n", LINK),
        ("word](../atlas/review.md)\n", "[\nword](../atlas/review.md)\n", LINK),
        ("task>\n", "<\ntask>\n", TAG),
        ("script>\n", "<script>\n", SCRIPT),
        ("x\nonload=1>\n", "<p\nonload=1>\n", SCRIPT),
    ):
        found = gate.refused(SKILL, BUILD + new, BUILD + old)
        assert found.why.startswith(f"it adds {what}: "), (old, found)


def test_what_was_only_code_or_a_comment_does_not_come_alive(gate: Gate) -> None:
    for before, after in (
        ("```\n![[x]]\n```\n", "![[x]]\n"),
        ("```\n![[x]]\n```\n", "```\n```\n![[x]]\n"),
        ("~~~~ md\n![[x]]\n~~~\n~~~~\n", "~~~~ md\n~~~~\n![[x]]\n~~~\n"),
        ("- ```\n  ![[x]]\n  ```\n", "- \n  ![[x]]\n"),
        ("`![[x]]`\n", "![[x]]\n"),
        ("``![[x]]``\n", "`` ![[x]]``` \n"),
    ):
        found = gate.refused(SKILL, BUILD + after, BUILD + before)
        assert found.why == f"it adds {EMBED}: `![[x]`", (before, found)
    for before, after, mark in (
        ("<!--\n[[x]]\n-->\n", "[[x]]\n-->\n", "<!--"),
        ("<!--\n[[x]]\n-->\n", "<!--\n[[x]]\n", "-->"),
        ("<!--\n[[x]]\n-->\n", "<!-- -->\n[[x]]\n-->\n", "-->"),
        ("%%\n[[x]]\n%%\n", "[[x]]\n", "%%"),
    ):
        found = gate.refused(SKILL, BUILD + after, BUILD + before)
        assert found.why == f"it adds {COMMENT}: `{mark}`", (before, found)
    inside = BUILD + "```\n![[x]] and more\n```\n"
    gate.accepted(SKILL, inside.replace("more", "less"), inside)


def test_what_the_owner_put_there_stays_when_its_line_is_changed(gate: Gate) -> None:
    answer = gate.accepted(SKILL, BUILD.replace("3. See", "3. Look at"))
    assert answer.edits[0].after is not None
    old = BUILD + "<capability name='coding'>![[x]] `= a` <!-- b -->\n"
    gate.accepted(SKILL, old.replace("![[x]]", "now ![[x]]"), old)
    found = gate.refused(SKILL, old.replace("![[x]]", "![[x]] ![[x]]"), old)
    assert found == Refusal(Rule.SKILL, f"it adds {EMBED}: `![[x]`", "", LAST_LINE + 1)


def test_the_line_of_what_is_taken_away(gate: Gate) -> None:
    old = BUILD + "%%\nx\n"
    found = gate.refused(SKILL, BUILD + "x\n", old)
    assert found == Refusal(Rule.SKILL, f"it adds {COMMENT}: `%%`", "", LAST_LINE + 1)


def test_of_the_frontmatter_the_description_may_change(gate: Gate) -> None:
    before = "Build the site and look at the result"
    for value, after in (
        ("Build it", "Build it"),
        ('"Build: it"', "Build: it"),
        (">-\n  Build\n  it", "Build it"),
    ):
        answer = gate.accepted(SKILL, BUILD.replace(before, value))
        assert answer.edits == (Edit(key="description", before=(before,), after=(after,)),)
    both = BUILD.replace(before, "Build it").replace(LAST, "If it stops, look.\n")
    answer = gate.accepted(SKILL, both)
    assert [one.key for one in answer.edits] == ["description", "body"]
    lines = f"description: {before}\n"
    found = gate.refused(SKILL, BUILD.replace(lines, ""))
    assert found == Refusal(Rule.SKILL, "it takes `description` out", "description", 3)
    bare = BUILD.replace(lines, "")
    assert gate.accepted(SKILL, BUILD, bare).edits == (Edit(key="description", after=(before,)),)


@pytest.mark.parametrize(
    ("old", "new", "key", "line", "why"),
    [
        ("[Read, Bash]", "[Read]", "allowed-tools", 4, "`allowed-tools` would change"),
        ("[Read, Bash]", "[Read, Bash, Write]", "allowed-tools", 4, "`allowed-tools` would change"),
        ("name: build-site", "name: deploy", "name", 2, "`name` would change"),
        ("name: build-site\n", "name: build-site\nmodel: x\n", "model", 3,
         "`model` would be added"),
        ("name: build-site\n", "name: build-site\n---\n", "allowed-tools", 4,
         "`allowed-tools` would be taken out"),
        ("result\n", "result\n---\n", "allowed-tools", 4, "`allowed-tools` would be taken out"),
        ("result\n", "result\nhooks: {}\n", "hooks", 4, "`hooks` would be added"),
        ("Build the site and", "[Build]\n#", "description", 3, "`description` must be one text"),
        ("Build the site and look at the result", "yes", "description", 3,
         "`description` must be text that nobody reads as something else: put it in quotes"),
        ("Build the site and look at the result", '"x"\n"allowed-tools": []', "allowed-tools", 5,
         "`allowed-tools` would be written twice"),
        ("name: build", "# c\nname: build", "", 2,
         "a comment, a blank or a mark changes outside of the values"),
        ("allowed-tools: [", "allowed-tools:  [", "", 4,
         "a comment, a blank or a mark changes outside of the values"),
        ("name: build-site", "name: [", "", 3, None),
    ],
)  # fmt: skip
def test_the_rest_of_the_frontmatter_is_permissions(
    gate: Gate, old: str, new: str, key: str, line: int, why: str | None
) -> None:
    found = gate.refused(SKILL, BUILD.replace(old, new, 1))
    assert (found.rule, found.key) == (Rule.SKILL, key)
    assert found.why == (why or "its frontmatter cannot be read as YAML")
    assert found.line == line or why is None


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ('"\\x3ctask>"', f"{TAG}: `<task`"),
        ('"\\u003c!-- a"', f"{COMMENT}: `<!--`"),
        ('"!\\x5b[a]]"', f"{EMBED}: `![[a]`"),
        ("'<script>'", f"{SCRIPT}: `<script`"),
    ],
)
def test_a_description_is_only_text_however_it_is_written(
    gate: Gate, value: str, what: str
) -> None:
    found = gate.refused(SKILL, BUILD.replace("Build the site and look at the result", value))
    assert found == Refusal(Rule.SKILL, f"it adds {what}", "", 3)


def test_the_marks_of_the_frontmatter_stay(gate: Gate) -> None:
    description = BUILD.replace("look at the result", "look")
    marks = Refusal(Rule.SKILL, "it changes the marks around the frontmatter", "", 1)
    for new in (
        description.replace("---\nname", "--- \nname"),
        description.replace("Bash]\n---\n", "Bash]\n---  \n"),
        BUILD.replace("---\nname", "--- \nname"),
    ):
        assert gate.refused(SKILL, new) == marks
    where = Refusal(Rule.SKILL, "its frontmatter does not stand at the top, or has no end")
    for new in ("\n" + BUILD, BUILD.replace("Bash]\n---\n", "Bash]\n----\n"), "\ufeff\n" + BUILD):
        assert gate.refused(SKILL, new) == where
        assert gate.refused(SKILL, BUILD, new) == where
    body = BUILD[BUILD.index("# Build") :]
    for one, other in ((body, BUILD), (BUILD, body)):
        found = gate.refused(SKILL, other, one)
        assert found == Refusal(Rule.SKILL, "it adds a frontmatter, or takes it away", "", 1)
    gate.accepted(SKILL, body + "---\nMore.\n", body)
    empty = "---\n---\n# A\n"
    found = gate.refused(SKILL, "---\ndescription: a\n---\n# A\n", empty)
    assert found == Refusal(Rule.SKILL, "its frontmatter cannot be read as YAML", "", 2)
    gate.accepted(SKILL, "---\n---\n# B\n", empty)


def test_each_hunk_of_the_body_is_an_edit(gate: Gate) -> None:
    old = "# A\n" + "".join(f"{n}\n" for n in range(30))
    new = old.replace("\n5\n", "\nfive\n").replace("\n25\n", "\n")
    answer = gate.accepted(SKILL, new, old)
    first, second = answer.edits
    assert (first.key, first.before, first.after) == (
        "body", ("2", "3", "4", "5", "6", "7", "8"), ("2", "3", "4", "five", "6", "7", "8"),
    )  # fmt: skip
    assert second.after == ("22", "23", "24", "26", "27", "28")


def test_the_words_of_a_link_that_stands_there_may_change(gate: Gate) -> None:
    old = BUILD + "See [the page](https://example.org/page) first.\n"
    gate.accepted(SKILL, old.replace("the page", "their page"), old)


def test_a_skill_too_long_to_look_through_is_refused(gate: Gate) -> None:
    body = BUILD + "Look first.\n" * ((99_900 - len(BUILD)) // 12)
    fits = body + "x" * (100_000 - len(body) - 1) + "\n"
    assert len(fits) == 100_000
    gate.accepted(SKILL, fits.replace("xx", "xy", 1), fits)
    found = gate.refused(SKILL, fits.replace("xx", "xyx", 1), fits)
    why = "it has 100,001 characters, at most 100,000 are looked through"
    assert found == Refusal(Rule.SKILL, why)
