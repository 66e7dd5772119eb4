"""Which notes an agent may read and write, whatever its patterns say."""

from collections.abc import Mapping
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgvault.domain.gate.places import _guarded
from orgvault.domain.note_access import (
    IN_DOT_FOLDER,
    NOT_LISTED,
    OTHERS_PAGE,
    PROTECTED,
    may_write,
    why_unreadable,
)
from orgvault.domain.roster import BUILTIN_PROTECTED, Agent, Roster

ALL = ("**",)


def agent(
    read: tuple[str, ...] = ALL, write: tuple[str, ...] = ALL, home: str = "Org/Home/nova"
) -> Agent:
    notes = {"read": list(read), "write": list(write)}
    return Agent(id="nova", name="Nova", lead="sam", block={"home": home, "notes": notes})


def roster(one: Agent, pages: str = "Org", leads: Mapping[str, str] | None = None) -> Roster:
    others = {
        name: Agent(id=name, name=name.title(), lead=lead)
        for name, lead in (leads or {"atlas": "sam"}).items()
    }
    return Roster(
        guild="Harbor", owner="sam", operators=(), agents={"nova": one, **others},
        protected=(*BUILTIN_PROTECTED, "Areas/Health/", "Private/**"), pages_folder=pages,
    )  # fmt: skip


def reads(path: str, *patterns: str) -> str:
    one = agent(patterns)
    return why_unreadable(one, path, roster(one))


def writes(path: str, *patterns: str) -> bool:
    one = agent(write=patterns)
    return may_write(one, path, roster(one))


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        ("a.md", ["a.md"], ["b/a.md", "a.md/b.md", "A.md", "axmd", "a.md\n"]),
        ("a/*.md", ["a/b.md", "a/c d.md"], ["a.md", "a/b/c.md", "b/a/c.md"]),
        ("a/**", ["a/b.md", "a/b/c.md", "a/x\ny.md"], ["a", "a.md", "ab/c.md", "b/a/c.md"]),
        ("a/", ["a/b.md", "a/b/c.md"], ["a", "ab/c.md"]),
        ("a", ["a"], ["a/b.md", "a.md"]),
        ("a/**/b.md", ["a/b.md", "a/c/b.md", "a/c/d/b.md"], ["ab.md", "a/cb.md", "axx/b.md"]),
        ("**/b.md", ["b.md", "a/c/b.md"], ["ab.md", "a/b.mdx"]),
        ("a*c*e.md", ["ace.md", "abcde.md", "aec-e.md"], ["ac/e.md", "ae.md", "abcd.md"]),
        ("a**b.md", ["ab.md", "axb.md"], ["a/b.md", "a/x/b.md"]),
        ("What?.md", ["What?.md"], ["Whats.md"]),
        ("[ab](c)+.md", ["[ab](c)+.md"], ["a(c)+.md", "ac.md"]),
        ("", [], ["", "a.md"]),
        ("/", [], ["a.md"]),
        (normalize("NFD", "nöte.md"), [normalize("NFC", "nöte.md")], ["note.md"]),
        (normalize("NFC", "nöte.md"), [normalize("NFD", "nöte.md")], ["note.md"]),
    ],
)
def test_a_pattern_matches_what_it_says_and_no_more(
    pattern: str, fits: list[str], fits_not: list[str]
) -> None:
    assert [one for one in fits if reads(one, pattern)] == []
    assert [one for one in fits_not if not reads(one, pattern)] == []
    assert [one for one in fits if not writes(one, pattern)] == []
    assert [one for one in fits_not if writes(one, pattern)] == []


def test_what_is_not_listed_says_so() -> None:
    assert reads("Projects/Boat.md", "Projects/Site/**") == NOT_LISTED
    assert reads("Projects/Boat.md") == NOT_LISTED


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".agents/skills/nova/build.md", IN_DOT_FOLDER),
        ("Projects/.hidden/x.md", IN_DOT_FOLDER),
        (".env.md", IN_DOT_FOLDER),
        ("../other/x.md", IN_DOT_FOLDER),
        ("/etc/x.md", IN_DOT_FOLDER),
        ("a//b.md", IN_DOT_FOLDER),
        ("Areas/Finance/Money.md", PROTECTED),
        ("areas/finance/Money.md", PROTECTED),
        ("Areas/Health/Teeth.md", PROTECTED),
        ("Areas/Hea\u200blth/Teeth.md", PROTECTED),
        ("Private/Diary.md", PROTECTED),
        ("CURRENT/x.md", PROTECTED),
    ],
)
def test_no_pattern_opens_these(path: str, why: str) -> None:
    assert reads(path, "**", path) == why
    assert not writes(path, "**", path)


@pytest.mark.parametrize(
    "path",
    [
        "AGENTS.md",
        "Projects/agents.md",
        "CLAUDE.md",
        "Projects/CLAUDE.MD",
        ".claude/x.md",
        "Org/Agents/nova.md",
        "Org/Claims/nova/c-00000001.md",
        "Org/Backlog/t-00000001.md",
        "Org/Tasks/nova.md",
        "Org/Home/atlas/x.md",
        "Org/Home/novas/x.md",
        "Org/Home/nova.md",
        "org/backlog/x.md",
        "ORG/Tasks/nova.md",
        "Org/Guild.md",
    ],
)
def test_no_pattern_lets_an_agent_write_these(path: str) -> None:
    assert not writes(path, "**", path)


@pytest.mark.parametrize("path", ["Org/Home/nova/x.md", "Org/Guild/x.md", "Projects/x.md", "x.md"])
def test_all_else_is_written_as_the_patterns_say(path: str) -> None:
    assert writes(path, "**")
    assert not writes(path, "Elsewhere/**")


def test_a_home_elsewhere_is_its_own_and_the_usual_one_is_not() -> None:
    one = agent(home="Org/Rooms/nova/")
    assert may_write(one, "Org/Rooms/nova/x.md", roster(one))
    assert not may_write(one, "Org/Home/nova/x.md", roster(one))
    one = agent()
    assert may_write(one, "Org/Home/nova/x.md", roster(one, pages="People/Org"))
    assert not may_write(one, "People/Org/Tasks/nova.md", roster(one, pages="People/Org/"))


@pytest.mark.parametrize("pattern", ["**", "Nothing/**"])
def test_pages_follow_the_row_of_their_agent_and_no_pattern(pattern: str) -> None:
    one = agent((pattern,))
    around = roster(one, leads={"atlas": "sam", "juno": "nova"})
    for path, why in (
        ("Org/Agents/nova.md", ""),
        ("Org/Claims/nova/c-00000001.md", ""),
        ("Org/Agents/juno.md", ""),  # which it leads
        ("Org/Claims/juno/c-00000001.md", ""),
        ("Org/Agents/atlas.md", OTHERS_PAGE),
        ("org/agents/ATLAS.md", OTHERS_PAGE),
        ("Org/Claims/atlas/deep/c-00000001.md", OTHERS_PAGE),
        ("Org/Agents/gone.md", OTHERS_PAGE),
        ("Org/Claims/stray.md", OTHERS_PAGE),
    ):
        assert why_unreadable(one, path, around) == why, path


def test_an_agent_without_patterns_reads_and_writes_nothing() -> None:
    blocks: list[dict[str, Any]] = [{}, {"notes": None}, {"notes": {"read": None, "write": []}}]
    for block in blocks:
        one = Agent(id="nova", name="Nova", block=block)
        assert why_unreadable(one, "x.md", roster(one)) == NOT_LISTED
        assert not may_write(one, "Org/Home/nova/x.md", roster(one))


STEPS = [
    *("Org", "org", "Home", "nova", "atlas", "Guild", "Gui\u200bld", "Tasks", "Agents", "Ärger"),
    *("Areas", "areas", "Finance", "Health", "CURRENT", "current", "Private", "a", ".", ".."),
    *(".claude", ".git", ".env", ".envrc", ".agents", ".obsidian", "AGENTS.md", "Home."),
]
NAMES = ["x.md", "AGENTS.md", "agents.md.", "CLAUDE.md", "CLA\u200dUDE.md", "Org-Agents.json"]
PATHS = st.tuples(st.lists(st.sampled_from(STEPS), max_size=3), st.sampled_from(NAMES))


@settings(max_examples=3000, deadline=None)
@given(PATHS.map(lambda one: "/".join([*one[0], one[1]])))
def test_what_the_gate_guards_no_agent_writes(path: str) -> None:
    one = agent()
    if _guarded(path, one, roster(one), ""):
        assert not may_write(one, path, roster(one))


def test_many_stars_take_no_longer_than_one() -> None:
    assert reads("a" * 4000 + ".txt", "*a" * 100 + "*.md") == NOT_LISTED
