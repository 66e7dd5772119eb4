"""The note of a proposal: a model's words are only words there, whatever they are."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from orgvault.domain.card_file import closed, read_card, write_card
from orgvault.domain.episode import Episode
from orgvault.domain.proposal_card import as_text, body, card, fenced
from orgvault.domain.wake import Outcome, Reason
from tests.domain.test_proposal_file import PROPOSAL

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# What Obsidian and its common plugins act on, wherever it stands unescaped.
ACTIVE = re.compile(r"\[\[|!\[|%%|<|::|(?<!\\)(?:://|[#^$*_`=~|@{}\[\]])|[Ww]{3}\.")
HOSTILE = [
    "[[Home]] and ![[Areas/Finance/2026 accounts]]",
    "[here](https://example.org) ![x](http://example.org/p.png) <https://example.org>",
    "see https://example.org, www.example.org or sam@example.org and obsidian://open?vault=x",
    "<img src=x onerror=alert(1)> <script>x</script> <!-- x --> &lt;b&gt; &#x3c;",
    "#tag and text #another/tag",
    "a block ^block-id",
    "%%hidden%%",
    "# Heading\n## Another\nUnderlined\n===\nAnd\n---",
    "> [!danger] Callout\n> body",
    "- [ ] a task\n* item\n+ item\n1. one\n2) two",
    "$x$ and $$y$$",
    "<% tp.file.delete() %> {{title}} `= this.file.name` `$= dv.pages()`",
    "```dataview\nLIST\n```\n~~~js\nx\n~~~",
    "    indented code\n\ttabbed",
    "key:: value and [key:: value]",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "**bold** _it_ ~~gone~~ ==marked== [^1] ^[note]",
    "---\nstatus: shipped\n---",
    "a\\\nb  \nc",
    "\u202ereversed\u202c zero\u200bwidth\u2028line\x00\x1b[31m",
]


def rendered(text: str) -> str:
    """What a reader sees; fails when it is anything but paragraphs of text."""
    seen: list[str] = []
    for token in MARKDOWN.parse(text):
        assert token.type in {"paragraph_open", "paragraph_close", "inline"}, token
        for child in token.children or ():
            assert child.type in {"text", "softbreak", "text_special"}, child
            seen.append("\n" if child.type == "softbreak" else child.content)
        seen.append("\n" if token.type == "paragraph_close" else "")
    return "".join(seen)


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_show_as_they_are_and_do_nothing(words: str) -> None:
    shown = as_text(words)
    assert ACTIVE.search(shown.replace("\\\\", "")) is None, shown
    assert re.sub(r"\s+", "", rendered(shown)) == visible(words)


@given(st.text() | st.text("[]()!<>#^%$`*_~=:|@{}&\\-+. \n\t1aw/"))
def test_any_words_are_only_text(words: str) -> None:
    shown = as_text(words)
    assert re.sub(r"\s+", "", rendered(shown)) == visible(words)
    assert "[[" not in shown
    assert "<" not in shown
    assert "%%" not in shown


def visible(words: str) -> str:
    """Words without spaces and without what cannot be seen."""
    return re.sub(r"\s+", "", "".join(c for c in words if not hidden(c)))


def hidden(char: str) -> bool:
    from unicodedata import category

    return category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and char not in "\u200c\u200d"


def test_paragraphs_and_lines_stay() -> None:
    assert as_text("One.\nTwo.\n\n\n\n  Three.\n") == "One.\nTwo.\n\nThree."


def test_a_fence_is_longer_than_any_inside_it() -> None:
    assert fenced("x\n", "diff") == "```diff\nx\n```"
    assert fenced("+````\n ``\n", "diff") == "`````diff\n+````\n ``\n`````"


EPISODE = Episode(
    id="e-1", agent="nova", run="run:1", wakes=(), reason=Reason.TASK, card=None,
    outcome=Outcome.DONE, exit_code=0, turns=3, cost_usd=None, duration_s=None, tokens_in=None,
    tokens_out=None, model=None, summary="I worked: [[x]] #y", log=None, transcript=None,
    prompt_sha256=None, core_sha256=None, client=None, session=None, session_cost_usd=None,
    reflect_skipped=None, started_at=None, finished_at="2026-11-20T09:14:03Z",
)  # fmt: skip
DIFF = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+```\n"


def test_the_note_shows_reason_evidence_diff_and_commands() -> None:
    text = body(PROPOSAL, "I [[lose]] a turn.", [EPISODE], DIFF, "")
    assert "I \\[\\[lose\\]\\] a turn." in text
    assert "- `run:1` (2026-11-20, done): I worked: \\[\\[x\\]\\] \\#y" in text
    assert "orgvault memory why c-7f3k2q9d" in text
    assert f"````diff\n{DIFF.decode()}````" in text
    assert "\ngit apply .agents/org/proposals/imp-7f3k2q9d.diff\n" in text
    assert "orgvault proposal close imp-7f3k2q9d" in text
    assert "git diff HEAD...refs/orgvault/proposals/imp-7f3k2q9d" in text
    assert '- Look twice: it speaks of permissions: "run without asking"' in text


def test_a_vault_below_the_repositorys_top_says_so_to_git() -> None:
    text = body(PROPOSAL, "", [], DIFF, "my notes/vault")
    assert "git apply --directory='my notes/vault' .agents/org/proposals/" in text


def test_a_diff_that_a_plugin_would_run_is_not_shown() -> None:
    text = body(PROPOSAL, "", [], DIFF + b" <% tp.file.delete() %>\n", "")
    assert "<%" not in text
    assert "Templater" in text


def test_the_frontmatter_is_flat_and_is_read_back() -> None:
    made = card(PROPOSAL, "Nova")
    text = write_card(made, "\nbody\n")
    assert read_card(text, "x.md") == (made, ())
    assert text.splitlines()[1:-3] == [
        "version: 1", "id: imp-7f3k2q9d", "kind: improve", "status: open",
        'title: "Nova: change goal, principles"', "author: nova", 'assignee: ""', "agent: nova",
        "created: 2026-11-20T09:14:03Z", "memory_id: c-7f3k2q9d", "target: own_prompt",
        "expires: 2026-12-20T09:14:03Z",
        'flags: ["it speaks of permissions: \\"run without asking\\""]',
    ]  # fmt: skip


def test_a_reverse_is_a_card_of_another_kind() -> None:
    made = card(replace(PROPOSAL, reverts="imp-00000000", memory_id=None), "Nova")
    assert (made.kind, made.title) == ("revert", "Undo imp-00000000: goal, principles")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_closing_changes_two_lines_and_is_read_back(end: str) -> None:
    text = write_card(card(PROPOSAL, "Nova"), "\nbody\n").replace("\n", end)
    said = "No: 'it' is \"too\" # broad"
    made = closed(text, said)
    read, _ = read_card(made, "")
    assert read is not None
    assert (read.status, read.reason) == ("closed", said)
    assert [line for line in made.split(end) if line not in text.split(end)] == [
        "status: closed", 'reason: "No: \'it\' is \\"too\\" # broad"',
    ]  # fmt: skip
    again = closed(made, "Another.")
    assert len(again.split(end)) == len(made.split(end))
    with pytest.raises(ValueError, match="status"):
        closed("---\n{id: x}\n---\n", "why")


def test_a_frontmatter_in_braces_is_not_torn_apart() -> None:
    keys = "id: imp-7f3k2q9d, kind: improve, status: open, title: x, author: nova"
    text = f'---\n{{{keys}, created: "2026-11-20T09:14:03Z"}}\n---\n'
    assert read_card(text, "")[0] is not None
    with pytest.raises(ValueError, match="status"):
        closed(text, "why")
