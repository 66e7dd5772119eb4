"""Cards as notes that a person may rearrange."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgvault.domain.card import Card, said_status
from orgvault.domain.card_file import card_body, closed, read_card, with_status, write_card

FILE = "Org/Backlog/t-7f3k2q9d.md"
AT = "2026-11-20T09:14:03Z"
CARD = Card(
    id="t-7f3k2q9d", kind="task", status="open", title='Fix: the "build"', author="sam",
    agent="nova", created=AT,
)  # fmt: skip
WRITTEN = f"""\
---
version: 1
id: t-7f3k2q9d
kind: task
status: open
title: "Fix: the \\"build\\""
author: sam
assignee: ""
agent: nova
created: {AT}
---
# Why

---
status: not this one
"""
REARRANGED = f"""\
---
tags:
  - no
  - 2026-01-02
due: 2026-01-02
title: 'Fix: the "build"'
done: no
created: {AT}
notes: |
  status: nor this
status: "open"   # mine
author: sam
assignee:
agent: nova
kind: task
2024: !odd {{<<: 1}}
id: t-7f3k2q9d
---
"""


def faults(text: str) -> list[str]:
    card, problems = read_card(text, FILE)
    assert (card is None) == bool(problems)
    return [str(one).removeprefix(f"{FILE}:") for one in problems]


def test_a_card_is_written_flat_with_its_body() -> None:
    body = WRITTEN[WRITTEN.index("# Why") :]
    assert write_card(CARD, body) == WRITTEN
    assert card_body(WRITTEN) == body
    assert read_card(WRITTEN, FILE) == (CARD, ())


def test_a_rearranged_note_with_keys_of_the_persons_own_is_read() -> None:
    for text in (REARRANGED, "\ufeff" + REARRANGED, REARRANGED.replace("\n", "\r\n")):
        assert read_card(text, FILE) == (CARD, ())


@pytest.mark.parametrize("text", [WRITTEN, REARRANGED])
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_another_status_changes_that_line_only(text: str, start: str, end: str) -> None:
    before = start + text.replace("\n", end)
    after = with_status(before, "done")
    card, problems = read_card(after, FILE)
    assert problems == ()
    assert card is not None
    assert card.status == "done"
    lines = list(zip(before.split(end), after.split(end), strict=True))
    ((old, new),) = [(old, new) for old, new in lines if old != new]
    assert new in {"status: done", "status: done   # mine"}
    assert after.replace(new, old, 1) == before


def test_a_status_without_a_value_is_filled_in() -> None:
    text = WRITTEN.replace("status: open\n", "status:\n")
    assert with_status(text, "closed") == text.replace("status:\n", "status: closed\n")
    text = WRITTEN.replace("status: open\n", "status: # soon\n")
    assert read_card(with_status(text, "closed"), FILE)[1] == ()


@pytest.mark.parametrize(
    "text",
    ["", "no frontmatter", "---\nid: x\n---\n", "---\na: b: c\n---\n", "---\nstatus: [a]\n---\n"],
)
def test_a_note_without_a_status_is_refused(text: str) -> None:
    assert faults(text) != []
    with pytest.raises(ValueError, match="no status"):
        with_status(text, "done")


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("kind: task", "kind: taks", "4: kind: `taks` is not one of"),
        ("status: open", "status: no", "5: status: `no` unquoted is true or false"),
        ("status: open\n", "", "2: the key `status` is missing"),
        ("author: sam", "author: 1", '7: author: expected text, found 1, quote it ("1")'),
        ("author: sam", "author: sam\nauthor: kim", "8: the key `author` is written twice"),
        ("version: 1", "version: 2", "2: format version 2, and this orgvault knows 1"),
        ("---\nversion", "version", "1: no frontmatter"),
        ("agent: nova", "<<<<<<< HEAD\nagent: nova", "9: a conflict marker of git"),
    ],
)
def test_a_fault_with_its_line(before: str, after: str, fault: str) -> None:
    assert faults(WRITTEN.replace(before, after, 1))[0].startswith(fault)


TITLES = st.text(max_size=300)


@given(TITLES, TITLES.filter(lambda text: len(text) <= 100), TITLES)
def test_what_is_written_is_read_back_the_same(title: str, author: str, body: str) -> None:
    card = Card(
        id="imp-7f3k2q9d", kind="improve", status="open", title=title, author=author, created=AT
    )
    text = write_card(card, body)
    assert read_card(text, FILE) == (card, ())
    assert card_body(text) == body
    assert with_status(with_status(text, "shipped"), "open") == text


@given(st.text() | st.lists(st.sampled_from(REARRANGED.splitlines()), max_size=16).map("\n".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    faults(text)
    faults(f"---\n{text}\n---\n")


@pytest.mark.parametrize(
    ("note", "status"),
    [
        (b'---\nx: 1\nstatus: "Closed"  # w\n---\n', "closed"),
        (b"\xef\xbb\xbf---\r\nx: [\r\nstatus: open\r\n---\r\n", "open"),
        (b"---\nx: 1\n---\nstatus: open\n", ""),
        (b"status: open\n", ""),
        (b"---\nstatus: \xff\n---\n", ""),
    ],
)
def test_a_status_is_told_whatever_else_a_note_holds(note: bytes, status: str) -> None:
    assert said_status(note) == status


def test_a_key_that_would_swallow_its_status_is_not_closed() -> None:
    with pytest.raises(ValueError, match="no status"):
        closed("---\n{status, x: 1}\n---\n", "Not now.")
