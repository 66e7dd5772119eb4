"""The state of a proposal is what HEAD's values say, however a person came by them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgvault.domain.proposal import BODY, Edit, Proposal, Target
from orgvault.domain.proposal_state import Decided, State, decide
from tests.domain.conftest import ORG
from tests.domain.test_proposal_file import PROPOSAL

NOW = "2026-11-21T00:00:00Z"
LATER = "2026-12-20T09:14:03Z"
GOAL = "A site that builds."
NEW = "A site that builds from one command, everywhere."
ONE = replace(PROPOSAL, edits=(Edit(key="goal", before=(GOAL,), after=(NEW,)),))
SHIPPED = ORG.replace(f"goal: {GOAL}", f"goal: {NEW}")
PRINCIPLES = "principles: [One change at a time.]"
TWO = replace(
    ONE,
    edits=(
        *ONE.edits,
        Edit(
            key="principles",
            before=("One change at a time.",),
            after=("One change at a time.", "I install first."),
        ),
    ),
)


def state(proposal: Proposal, text: str | None, now: str = NOW) -> State:
    """The state by a file that HEAD and the working tree both hold."""
    content = None if text is None else text.encode()
    return decide(proposal, content, content, now).state


def test_DIFF_12_the_value_decides_not_what_else_the_owner_edits() -> None:  # noqa: N802
    elsewhere = ORG.replace("Builds and repairs", "Mends").replace("wakes_per_day: 12", "")
    assert elsewhere != ORG
    assert state(ONE, elsewhere) is State.OPEN
    assert state(ONE, elsewhere.replace(f"goal: {GOAL}", f"goal: {NEW}")) is State.SHIPPED
    assert state(ONE, elsewhere.replace(GOAL, "Another one.")) is State.WITHDRAWN


WRITTEN = {
    "as it is": f"goal: {NEW}",
    "in double quotes": f'goal: "{NEW}"',
    "in single quotes": f"goal:   '{NEW}'",
    "folded": "goal: >-\n      A site that builds\n      from one command,\n      everywhere.",
    "folded with an end": "goal: >\n      A site that builds from one command,\n      everywhere.",
    "line by line": "goal: |\n      A site that builds from one command,\n      everywhere.",
    "over two lines": "goal: A site that builds from one command,\n      everywhere.",
    "with a comment": f"goal: {NEW} # as nova asked",
    "with an anchor": f"goal: &goal {NEW}",
}


@pytest.mark.parametrize("how", WRITTEN)
def test_shipped_however_it_is_written(how: str) -> None:
    assert state(ONE, ORG.replace(f"goal: {GOAL}", WRITTEN[how])) is State.SHIPPED


def test_shipped_with_the_whole_file_indented_anew_reordered_and_in_crlf() -> None:
    lines = [" " * (len(line) - len(line.lstrip())) + line for line in SHIPPED.splitlines()]
    assert state(ONE, "\r\n".join(lines) + "\r\n") is State.SHIPPED
    moved = SHIPPED.replace(f"    goal: {NEW}\n", "").replace(
        "    name: Nova\n", f"    goal: {NEW}\n    name: Nova\n"
    )
    assert state(ONE, moved) is State.SHIPPED


def test_of_two_changes_the_first_leaves_it_open_and_the_second_ships_it() -> None:
    content = SHIPPED.encode()
    half = decide(TWO, content, content, NOW)
    assert half == Decided(State.OPEN, "a part of it is shipped")
    whole = SHIPPED.replace(
        PRINCIPLES, 'principles:\n      - One change at a time.\n      - "I install first."'
    )
    assert state(TWO, whole) is State.SHIPPED
    other = SHIPPED.replace(PRINCIPLES, "principles: [I install first.]")
    assert state(TWO, other) is State.WITHDRAWN


def test_the_same_words_in_another_agents_block_ship_nothing() -> None:
    assert state(ONE, ORG.replace("atlas: {}", f"atlas: {{goal: {NEW[:-1]}}}")) is State.OPEN


def test_the_block_is_found_by_its_id_where_the_key_is_another() -> None:
    renamed = SHIPPED.replace("\n  nova:\n", "\n  the-builder:\n")
    assert state(ONE, renamed) is State.SHIPPED
    assert state(ONE, renamed.replace("    id: nova\n", "")) is State.WITHDRAWN


def test_a_value_that_was_not_there_is_open_until_it_is() -> None:
    edit = Edit(key="voice", before=None, after=("Quiet.",))
    proposal = replace(ONE, edits=(edit,))
    without = ORG.replace('    voice: "yes"\n', "")
    assert state(proposal, without) is State.OPEN
    assert state(proposal, ORG) is State.WITHDRAWN
    assert state(proposal, ORG.replace('"yes"', "Quiet.")) is State.SHIPPED


def test_where_only_spaces_would_change_spaces_count() -> None:
    edit = Edit(key="goal", before=("A  b.",), after=("A b.",))
    proposal = replace(ONE, edits=(edit,))
    assert state(proposal, ORG.replace(GOAL, "'A  b.'")) is State.OPEN
    assert state(proposal, ORG.replace(GOAL, "A b.")) is State.SHIPPED


def test_a_file_that_is_being_edited_is_left_alone_even_past_the_expiry() -> None:
    found = decide(ONE, ORG.encode(), SHIPPED.encode(), LATER)
    assert (found.state, "not committed" in found.why) == (State.OPEN, True)
    assert decide(ONE, ORG.encode(), None, NOW).state is State.OPEN
    assert decide(ONE, None, ORG.encode(), NOW).state is State.OPEN


def test_line_ends_that_git_converts_are_no_edit() -> None:
    crlf = SHIPPED.replace("\n", "\r\n").encode()
    assert decide(ONE, SHIPPED.encode(), crlf, NOW).state is State.SHIPPED


def test_past_its_expiry_it_is_withdrawn_unless_it_is_shipped() -> None:
    assert state(ONE, ORG, "2026-12-20T09:14:02Z") is State.OPEN
    assert state(ONE, ORG, LATER) is State.WITHDRAWN
    assert state(ONE, SHIPPED, LATER) is State.SHIPPED


def test_a_file_that_is_gone_withdraws_it_and_one_that_cannot_be_read_waits() -> None:
    assert state(ONE, None) is State.WITHDRAWN
    broken = ORG.replace("goal: A site", "goal: [A site")
    assert state(ONE, broken) is State.OPEN
    assert state(ONE, broken, LATER) is State.WITHDRAWN


def test_a_person_who_named_the_commit_has_shipped_it_in_words_of_their_own() -> None:
    named = replace(ONE, shipped_commit="a" * 40)
    assert state(named, ORG.replace(GOAL, "In my own words.")) is State.SHIPPED


@given(st.binary() | st.text().map(str.encode))
def test_any_content_at_all_gives_a_state(content: bytes) -> None:
    for proposal in (ONE, BODY_CHANGE, replace(BODY_CHANGE, edits=(DESCRIPTION,))):
        assert decide(proposal, content, content, NOW).state in State


# ── skill files ─────────────────────────────────────────────────────────────────────────────────

SKILL = """\
---
name: build
description: Builds the site.
---
# Build

1. Fetch.
2. Run `make build`.
3. Look.
"""
DESCRIPTION = Edit(key="description", before=("Builds the site.",), after=("Builds and looks.",))
LINES = Edit(
    key=BODY,
    before=("1. Fetch.", "2. Run `make build`.", "3. Look."),
    after=("1. Fetch.", "2. Run `make deps`.", "3. Run `make build`.", "4. Look."),
)
BODY_CHANGE = replace(
    ONE, target=Target.OWN_SKILLS, path=".agents/skills/nova/build.md", edits=(LINES,)
)
BUILT = SKILL.replace("\n".join(LINES.before or ()), "\n".join(LINES.after or ()))


def test_lines_are_found_wherever_they_stand_and_however_they_are_indented() -> None:
    assert state(BODY_CHANGE, SKILL) is State.OPEN
    assert state(BODY_CHANGE, BUILT) is State.SHIPPED
    assert state(BODY_CHANGE, "intro\n\n" + BUILT + "more\n") is State.SHIPPED
    ragged = "".join(f"   {line} \t\r\n" for line in BUILT.splitlines())
    assert state(BODY_CHANGE, ragged) is State.SHIPPED
    assert state(BODY_CHANGE, SKILL.replace("Fetch", "Pull")) is State.WITHDRAWN


def test_lines_added_at_an_end_are_shipped_although_the_old_ones_still_stand() -> None:
    edit = Edit(key=BODY, before=("3. Look.",), after=("3. Look.", "4. Say so."))
    proposal = replace(BODY_CHANGE, edits=(edit,))
    assert state(proposal, SKILL) is State.OPEN
    assert state(proposal, SKILL + "4. Say so.\n") is State.SHIPPED


def test_lines_taken_out_at_an_end_are_open_although_the_new_ones_stand_already() -> None:
    edit = Edit(
        key=BODY, before=("2. Run `make build`.", "3. Look."), after=(LINES.before or ())[1:2]
    )
    proposal = replace(BODY_CHANGE, edits=(edit,))
    assert state(proposal, SKILL) is State.OPEN
    assert state(proposal, SKILL.replace("3. Look.\n", "")) is State.SHIPPED


def test_new_lines_that_stand_twice_or_beside_the_old_ones_are_not_shipped() -> None:
    assert state(BODY_CHANGE, BUILT + BUILT) is State.WITHDRAWN
    assert state(BODY_CHANGE, SKILL + BUILT) is State.OPEN


def test_a_description_is_a_value_of_the_frontmatter() -> None:
    proposal = replace(BODY_CHANGE, edits=(DESCRIPTION,))
    assert state(proposal, SKILL) is State.OPEN
    shipped = SKILL.replace("Builds the site.", '"Builds and looks."')
    assert state(proposal, shipped) is State.SHIPPED
    assert state(replace(proposal, edits=(DESCRIPTION, LINES)), shipped) is State.OPEN
    assert state(proposal, SKILL.partition("# Build")[2]) is State.WITHDRAWN
