"""The composed message: whole, section by section, and what is left out of it when."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orgvault.adapters.packaged import template
from orgvault.domain.compiled import read_roster
from orgvault.domain.composing import compose
from orgvault.domain.memory_section import core_block
from orgvault.domain.offer import offered
from orgvault.domain.prompt import Message
from orgvault.domain.run import DIRECT, SCHEDULE
from orgvault.domain.snapshot import ConnectorKey, Snapshot
from orgvault.errors import BrokenTemplate
from tests.embeds_vault import Shelf
from tests.prompts import AT, VALUE, a_task, an_agent, masked, section, sources

GOLDEN = Path(__file__).parents[1] / "golden"
VAULT = Path(__file__).parents[2] / "fixtures/vault"
ORG = VAULT / ".agents/org"
HEADING = "### Your Memory"


def rich() -> str:
    """The message of the fixture's nova, with something in every part of it."""
    roster, _ = read_roster(json.loads((ORG / "org-agents.json").read_text("utf-8")), "")
    assert roster is not None
    nova = roster.agents["nova"]
    notes = {
        path: (VAULT / path).read_text("utf-8")
        for path in ("Org/Tasks/nova.md", "Projects/Site/Style guide.md")
    }
    members = ({"name": one.name, "focus": one.focus or ""} for one in roster.agents.values())
    said = {"seq": 41, "sentBy": "Atlas", "at": AT, "text": "@nova is the <site> up?"}
    columns = [{"name": "title", "type": "text"}]
    snapshot = Snapshot(
        utc_now=AT,
        max_tool_calls=60,
        about=roster.about,
        description=roster.description,
        members=tuple(members),
        operators=tuple({"name": one.name, "role": one.role} for one in roster.operators),
        history=(said,),
        collections=({"name": "faults", "access": "write", "columns": columns},),
        scripts=({"name": "tides", "parameters": {"type": "object"}},),
        environment=tuple(nova.block["secrets"]),
        repositories=({"name": "site", "path": "~/code/site", "default_branch": "main"},),
        connectors=(
            ConnectorKey("git", "The key `git` shows your branches.", {"site": {"branch": "main"}}),
            ConnectorKey("calendar", "", {"unavailable": "it took too long"}),
        ),
    )
    given = sources(
        nova,
        template=template("system.md"),
        tools=offered(nova, DIRECT, reads_collections=True, own_tools=["tides"]),
        guidance=("Look at `git` before you touch a repository.",),
        task=Shelf(notes).expand(notes["Org/Tasks/nova.md"], "Org/Tasks/nova.md"),
        snapshot=snapshot,
        notebook=(ORG / "memory/nova.md").read_text("utf-8"),
        core=(ORG / "memory/nova/core.md").read_text("utf-8"),
    )
    return compose(given, masked).system


def bare() -> str:
    """The message of an agent that has nothing, and has never run."""
    agent = an_agent()
    tools = offered(agent, SCHEDULE, reads_collections=False)
    return compose(sources(agent, template=template("system.md"), tools=tools), masked).system


@pytest.mark.parametrize(("name", "make"), [("rich", rich), ("bare", bare)])
def test_the_message_is_the_golden_one(name: str, make: Callable[[], str]) -> None:
    """`UPDATE_GOLDEN=1 pytest …` writes it anew."""
    path = GOLDEN / f"prompt_{name}.txt"
    shown = make()
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(shown, "utf-8")
    assert shown == path.read_text("utf-8")


def test_equal_prefixes_carry_no_clock() -> None:
    later = Snapshot(utc_now="2027-01-01T00:00:00Z", max_tool_calls=2, about="Changed.")
    one, two = (compose(sources(snapshot=it), masked) for it in (sources().snapshot, later))
    assert one.sections[:2] == two.sections[:2]
    assert one.sections[2] != two.sections[2]


# ── Guidelines ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("# Guidelines\n\nWork.\n", "Work."),
        ("\ufeff\n# Guidelines\r\nWork.\r\n", "Work."),
        ("# Guidelines\n# Guidelines\n", "# Guidelines"),
        ("# Guidelines of ours\n", "# Guidelines of ours"),
        ("Work.\n\n# Guidelines\n", "Work.\n\n# Guidelines"),
        ("## Guidelines\n", "## Guidelines"),
        ("# Guidelines", ""),
    ],
)
def test_one_leading_heading_is_dropped(text: str, left: str) -> None:
    identity = "You are Nova. Your id is nova. Your home is Org/Home/nova."
    found = section(sources(template=text), "guidelines")
    assert found == (f"{left}\n\n{identity}" if left else identity)


def test_guidance_follows_the_identity_in_its_order() -> None:
    found = section(sources(guidance=("Second.\n", "First.")), "guidelines")
    assert found.endswith("Your home is Org/Home/nova.\n\nSecond.\n\nFirst.")


def test_a_section_tag_in_the_template_and_a_part_in_guidance_are_text() -> None:
    part = '<capability name="notes">x</capability>'
    found = section(sources(template="See <task>.", guidance=(part,)), "guidelines")
    assert found.startswith("See &lt;task>.\n")
    assert found.endswith('&lt;capability name="notes">x&lt;/capability>')


def test_a_broken_template_stops_it() -> None:
    with pytest.raises(BrokenTemplate, match=r"system\.md:2: "):
        compose(sources(template='a\n<capability name="x">b</capability>'), masked)


# ── Task ────────────────────────────────────────────────────────────────────────────────────────


def test_the_persona_stands_labelled_and_in_order() -> None:
    block = {
        "principles": ["One change\nat a time.", "Never two."], "voice": "v", "style": "s",
        "perspective": "p", "goal": "g", "personality": "y", "description": "d",
    }  # fmt: skip
    found = section(sources(an_agent(**block), task=a_task("Mend it.")), "task")
    assert found.partition("\n\n")[2] == (
        "Description: d\n\nPersonality: y\n\nGoal: g\n\nPerspective: p\n\nStyle: s\n\nVoice: v\n\n"
        "Principles:\n- One change\n  at a time.\n- Never two.\n\nTask:\n\nMend it."
    )


def test_without_persona_and_text_only_the_intro_stands() -> None:
    found = section(sources(an_agent(goal=None, voice="", principles=None)), "task")
    assert "\n" not in found
    assert "operator's standing purpose" in found
    assert "do not rewrite it" in found


def test_memory_write_is_named_in_the_task_only_where_it_is_offered() -> None:
    assert "not yours to edit with `memory_write`" in section(
        sources(tools=("memory_write",)), "task"
    )
    assert "memory_write" not in section(sources(), "task")


# ── Memory ──────────────────────────────────────────────────────────────────────────────────────


def test_memory_is_there_when_it_is_on() -> None:
    names = [one.name for one in compose(sources(an_agent("memory")), masked).sections]
    assert names == ["guidelines", "task", "state", "memory"]
    off = sources(an_agent("notes"), notebook="Mine.", core="- x")
    assert [one.name for one in compose(off, masked).sections] == names[:3]


def test_nothing_yet_is_an_empty_body() -> None:
    assert section(sources(an_agent("memory")), "memory") == HEADING
    empty = "<!-- c -->\n\n# What Nova has learned\n\n> Left out for lack of room: 0\n"
    assert section(sources(an_agent("memory"), core=empty, notebook="\n \n"), "memory") == HEADING


def test_the_notebook_goes_before_the_core_without_its_comment() -> None:
    core = "<!-- orgvault core 1: generated -->\n\n# What Nova has learned\n\n- (lesson) x\n"
    given = sources(an_agent("memory"), notebook="---\na: 1\n---\nMine.\r\n\r\nAll.\n", core=core)
    assert section(given, "memory") == (
        f"{HEADING}\n\nMine.\n\nAll.\n\n# What Nova has learned\n\n- (lesson) x"
    )
    assert core_block(core) == "# What Nova has learned\n\n- (lesson) x"
    assert core_block("") == ""


def test_the_write_rules_stand_only_where_the_tool_is_offered() -> None:
    agent = an_agent("memory", "memory_write")
    ruled = section(sources(agent, tools=("memory_write",), notebook="Mine."), "memory")
    assert ruled.startswith(f"{HEADING}\n\nYour notebook")
    assert ruled.endswith("\n\nMine.")
    assert "memory_write" not in section(sources(agent, notebook="Mine."), "memory")


# ── all of it ───────────────────────────────────────────────────────────────────────────────────


def test_what_follows_the_message_is_given_on() -> None:
    opening = Message("", "Go.")
    assert compose(sources(opening=opening), masked).opening is opening


def test_every_source_is_masked() -> None:
    agent = an_agent("memory", name=f"N {VALUE}", goal=VALUE, home=VALUE, tools=[VALUE])
    notes = {f"{VALUE}.md": VALUE}
    given = sources(
        agent, template=f"{VALUE} {{client_tools}}", guidance=(VALUE,), notebook=VALUE,
        core=VALUE, task=Shelf(notes).expand(f"{VALUE} ![[{VALUE}]]"),
    )  # fmt: skip
    text = compose(given, masked).system
    assert VALUE not in text
    assert text.count("[secret]") == 11
    assert '<embed path="[secret].md">\n[secret]\n</embed>' in text


def test_what_was_made_harmless_is_counted_over_all_sources() -> None:
    given = sources(
        an_agent("memory", name="<task>", goal="<state>"), notebook="<memory>", core="</memory>",
        guidance=("<embed>",), task=Shelf({"a.md": "<task>"}).expand("</task> ![[a]]"),
        template="<task>",
    )  # fmt: skip
    assert compose(given, masked).neutralised == 8
