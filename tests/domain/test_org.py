"""org.yaml: all its keys, all its rules, every fault in one go."""

import json
from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from orgvault.domain.org_compiler import compile_org, encode_compiled, merged
from orgvault.domain.org_rules import key_of
from orgvault.domain.problem import Problem
from orgvault.domain.yaml_tree import compose

SMALL = """\
guild: {name: Harbor}
owner: sam
operators: [{name: sam, role: owner}]
agents:
  nova:
    focus: Builds
"""


def problems(text: str) -> tuple[Problem, ...]:
    compiled, found = compile_org(text, "0.1")
    assert (compiled is None) == bool(found)
    assert all(one.file == ".agents/org/org.yaml" for one in found)
    return found


def said(text: str) -> list[str]:
    return [f"{one.line}: {one.what}" for one in problems(text)]


def with_agent(lines: str) -> str:
    return SMALL + "".join(f"    {line}\n" for line in lines.splitlines())


def test_the_full_example_compiles(org_text: str) -> None:
    compiled, found = compile_org(org_text, "0.1")
    assert found == ()
    assert compiled is not None
    assert compiled["version"] == 1
    assert compiled["compiler"] == "0.1"
    assert compiled["source_sha256"] == sha256(org_text.encode()).hexdigest()
    nova = compiled["agents"]["nova"]
    assert nova["personality"] == "Careful, dry, curious."
    assert nova["voice"] == "yes"
    assert nova["max_tool_calls"] == 30
    assert nova["memory"] == {
        "tiers": ["core", "episodic", "semantic"],
        "core_budget_tokens": 2000,
        "reflect": {
            "enabled": True,
            "trigger": ["wake_done"],
            "model": "builtin/extractive",
            "min_turns": 3,
        },
        "self_improvement": {
            "enabled": True,
            "max_proposals_per_week": 2,
            "repeat_threshold": 2,
            "targets": ["own_prompt", "own_skills"],
            "requires_ship_gate": True,
        },
    }


def test_what_is_not_written_has_its_default() -> None:
    compiled, _ = compile_org(SMALL.replace("    focus: Builds", "    {}"), "0.1")
    assert compiled is not None
    assert compiled["agents"]["nova"] == {
        "id": "nova", "name": "Nova", "focus": None, "lead": None, "home": "Org/Home/nova",
        "description": None, "personality": None, "goal": None, "perspective": None,
        "style": None, "voice": None, "principles": [], "task": "[[Org/Tasks/nova]]",
        "model": None, "tools": [], "permission_mode": "default", "wakes_per_day": None,
        "max_tool_calls": 40, "listen": False, "capabilities": ["memory"], "knowledge": [],
        "notes": {"read": ["Org/Home/nova/**", "Org/Guild/**"],
                  "write": ["Org/Home/nova/**", "Org/Guild/**"]},
        "connectors": [], "secrets": [], "repositories": [],
        "client": {"command": [], "env": {}},
        "memory": {
            "tiers": ["core", "episodic", "semantic"], "core_budget_tokens": 1500,
            "reflect": {"enabled": True, "trigger": ["wake_done", "chat_end"],
                        "model": "cheap", "min_turns": 2},
            "self_improvement": {"enabled": True, "max_proposals_per_week": 1,
                                 "repeat_threshold": 2, "targets": ["own_prompt", "own_skills"],
                                 "requires_ship_gate": True},
        },
    }  # fmt: skip
    rest = {key: value for key, value in compiled.items() if key != "agents"}
    assert rest == {
        "version": 1, "compiler": "0.1", "source_sha256": rest["source_sha256"],
        "guild": {"name": "Harbor", "about": "", "description": ""},
        "owner": "sam", "operators": [{"name": "sam", "role": "owner", "email": None}],
        "timezone": "UTC", "protected": [], "pages": {"folder": "Org", "claims": False},
        "commit": {"sign": False}, "group": {"router": "recent"}, "runs": {"keep_days": None},
        "ledger": {"margin": 0.1},
    }  # fmt: skip


def test_names_and_places_follow_the_pages_folder_and_the_id() -> None:
    text = with_agent("id: nova-two\nknowledge: [.agents/skills/, Projects/]")
    compiled, _ = compile_org(text.replace("agents:", "pages: {folder: People/}\nagents:"), "0.1")
    assert compiled is not None
    (agent,) = compiled["agents"].values()
    assert (agent["id"], agent["name"]) == ("nova-two", "Nova Two")
    assert agent["home"] == "People/Home/nova-two"
    assert agent["task"] == "[[People/Tasks/nova-two]]"
    assert agent["notes"]["read"] == ["People/Home/nova-two/**", "People/Guild/**", "Projects/"]
    assert key_of(compose(text, "").value, "nova-two") == "nova"
    assert key_of(compose(text, "").value, "nova") is None


def test_no_agents_yet() -> None:
    for empty in ("", "agents:\n", "agents: {}\n"):
        compiled, found = compile_org(SMALL[: SMALL.index("agents:")] + empty, "0.1")
        assert (found, compiled and compiled["agents"]) == ((), {})


def test_the_encoded_form_is_sorted_stable_and_keeps_unicode(org_text: str) -> None:
    compiled, _ = compile_org(org_text.replace("Harbor", "Häfen 😀"), "0.1")
    assert compiled is not None
    text = encode_compiled(compiled)
    assert text == encode_compiled(json.loads(text))
    assert text.endswith("}\n")
    assert "Häfen 😀" in text
    assert list(json.loads(text)) == sorted(compiled)


def test_merging_is_key_by_key_and_a_list_replaces_a_list() -> None:
    assert merged({"a": [1, 2], "b": {"c": 1, "d": 2}}, {"a": [3], "b": {"d": 4}}) == {
        "a": [3], "b": {"c": 1, "d": 4},
    }  # fmt: skip


def test_every_fault_in_one_go_with_file_line_key_limit_and_remedy() -> None:
    text = """\
guild: {name: Harbor}
owner: samm
operators: [{name: sam, role: owner}]
timezone: Europe/Berln
protected: [/etc]
runs: {keep_days: 0}
defaults:
  memory: {core_budget_tokens: 99}
agents:
  nova:
    goal: 1.10
    voice: yes
    style:
    lead: nvoa
    toolz: [Read]
    capabilities: [memory_write, note]
    home: .agents/nova
    secrets: [{name: A-B}, {name: ORGVAULT_X}]
    memory:
      core_budget_tokens: 4001
      tiers: [core]
      reflect: {modle: cheap, model: off, trigger: wake_done}
      self_improvement:
        repeat_threshold: 1
        requires_ship_gate: false
        targets: [own_promt]
"""
    agent, memory = "agents.nova", "agents.nova.memory"
    assert [str(one).removeprefix(".agents/org/org.yaml:") for one in problems(text)] == [
        "2: owner: `samm` is not among the operators, did you mean `sam`?",
        "3: operators[0].role: `sam` is not the owner, samm is, write reviewer",
        "4: timezone: `Europe/Berln` is not a time zone, did you mean `Europe/Berlin`?",
        (
            "5: protected[0]: '/etc' is not a path inside the vault"
            " (relative, with `/`, without `..`),"
            " what belongs there: Paths that no agent may touch, beside the built-in ones."
        ),
        "6: runs.keep_days: 0 is below the limit of 1, write 1 or more",
        (
            "8: defaults.memory.core_budget_tokens: 99 is below the limit of 100,"
            " write a number from 100 to 4000"
        ),
        f'11: {agent}.goal: expected text, found 1.10, quote it ("1.10")',
        (
            f"12: {agent}.voice: `yes` unquoted is true or false to some readers of YAML,"
            ' quote it ("yes"), or write true or false'
        ),
        (
            f"13: {agent}.style: expected text, found nothing (null),"
            " write a text, in quotes if need be, or take the key out"
        ),
        f"14: {agent}.lead: `nvoa` is neither an agent nor an operator, did you mean `nova`?",
        f"15: {agent}.toolz: unknown key `toolz`, did you mean `tools`?",
        (
            f"16: {agent}.capabilities: `memory_write` without `memory`,"
            " add memory, or take memory_write out"
        ),
        (
            f"16: {agent}.capabilities[1]: `note` is not one of notes, scripts, browser, coding,"
            " memory, memory_write, did you mean `notes`?"
        ),
        f"17: {agent}.home: `.agents/nova` is in a dot-folder, name a visible folder",
        (
            f"18: {agent}.secrets[0].name: 'A-B' is not the name of an environment variable,"
            " what belongs there: The environment variable that holds it."
        ),
        f"18: {agent}.secrets[1].name: `ORGVAULT_X` is set by orgvault itself, rename it",
        (
            f"20: {memory}.core_budget_tokens: 4001 is above the limit of 4000,"
            " write a number from 100 to 4000"
        ),
        f"21: {memory}.tiers: `episodic` is missing, and that tier is always on, add episodic",
        (
            f"22: {memory}.reflect.model: `off` unquoted is true or false to some readers of YAML,"
            ' quote it ("off"), or write true or false'
        ),
        f"22: {memory}.reflect.modle: unknown key `modle`, did you mean `model`?",
        (
            f"22: {memory}.reflect.trigger: expected a list, found 'wake_done',"
            " write it as [one, two], or one `- ` line for each"
        ),
        (
            f"24: {memory}.self_improvement.repeat_threshold: 1 is below the limit of 2,"
            " write 2 or more"
        ),
        (
            f"25: {memory}.self_improvement.requires_ship_gate: false, but only true is allowed,"
            " take the key out"
        ),
        (
            f"26: {memory}.self_improvement.targets[0]: `own_promt` is not one of own_prompt,"
            " own_skills, did you mean `own_prompt`?"
        ),
    ]


@given(st.data())
def test_any_text_compiles_or_is_refused(data: st.DataObject) -> None:
    lines = data.draw(st.permutations(SMALL.splitlines()))
    noise = st.sampled_from(["lead: x", "  - 1", "memory:", "agents: 1", "operators: 1", "id: []"])
    text = "\n".join([*lines, *data.draw(st.lists(noise, max_size=4))])
    problems(text)
