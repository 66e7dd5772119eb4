"""org-agents.json as every command reads it."""

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgvault.domain.compiled import FILE, read_roster
from orgvault.domain.org_compiler import compile_org, encode_compiled
from orgvault.domain.roster import MemorySettings, Roster

SMALL: dict[str, Any] = {
    "version": 1,
    "owner": "sam",
    "operators": [{"name": "sam", "role": "owner"}],
    "agents": {"nova-two": {}, "atlas": {"memory": {"core_budget_tokens": 2000}}},
}


def roster(data: object) -> Roster:
    found, problems = read_roster(data, FILE)
    assert problems == ()
    assert found is not None
    return found


def refused(data: object) -> list[str]:
    found, problems = read_roster(data, FILE)
    assert found is None
    assert all(one.file == FILE for one in problems)
    return [one.what for one in problems]


def changed(**keys: object) -> dict[str, object]:
    return {**SMALL, **keys}


def test_what_was_compiled_is_read(org_text: str) -> None:
    compiled, _ = compile_org(org_text, "0.1")
    assert compiled is not None
    found = roster(json.loads(encode_compiled(compiled)))
    assert (found.guild, found.owner, found.pages_folder) == ("Harbor", "sam", "Org")
    assert [one.role for one in found.operators] == ["owner", "reviewer"]
    assert found.protected == (".git/", ".env*", "CURRENT/", "Areas/Finance/", "Areas/Health/")
    assert found.source_sha256 == compiled["source_sha256"]
    nova = found.agents["nova"]
    assert (nova.id, nova.name, nova.lead) == ("nova", "Nova", "atlas")
    assert (nova.memory.core_budget_tokens, nova.memory.reflect.min_turns) == (2000, 3)
    assert nova.memory_fault == ""
    assert nova.block == compiled["agents"]["nova"]
    assert found.agents["atlas"].lead is None


@pytest.mark.parametrize(
    ("secrets", "what"),
    [
        ("x", "agents.a.secrets: expected a list"),
        ({"name": "X"}, "agents.a.secrets: expected a list"),
        (["X"], "agents.a.secrets[0]: expected a `name`"),
        ([{"name": "X"}, {"x": 1}], "agents.a.secrets[1]: expected a `name`"),
        ([{"name": 7}], "agents.a.secrets[0]: expected a `name`"),
        ([{"name": "\ud800"}], "agents.a.secrets[0]: expected a `name`"),
    ],
)
def test_secrets_are_a_list_of_names(secrets: object, what: str) -> None:
    (said,) = refused(changed(agents={"a": {"secrets": secrets}}))
    assert said.startswith(what)


def test_a_missing_block_or_key_means_its_default() -> None:
    found = roster(SMALL)
    assert found.agents["nova-two"].name == "Nova Two"
    assert found.agents["nova-two"].memory == MemorySettings()
    assert found.agents["atlas"].memory == MemorySettings(core_budget_tokens=2000)
    assert (found.guild, found.pages_folder, found.sign_commits) == ("", "Org", False)
    assert roster({"owner": "sam"}).agents == {}


def test_the_built_in_protection_stays_whatever_the_file_says() -> None:
    assert "CURRENT/" in roster(changed(protected=[])).protected


@pytest.mark.parametrize(
    ("memory", "words"),
    [
        ({"core_budget_tokens": 4001}, "core_budget_tokens: 4001 is above the limit of 4000"),
        ({"core_budget_tokens": 99}, "core_budget_tokens: 99 is below the limit of 100"),
        ({"core_budget_tokens": True}, "expected a whole number, found true"),
        ({"self_improvement": {"repeat_threshold": 1}}, "repeat_threshold: 1 is below"),
        ({"self_improvement": {"requires_ship_gate": False}}, "only true is allowed"),
        ({"self_improvement": {"targets": ["AGENTS.md"]}}, "targets[0]: `AGENTS.md` is not one"),
        ({"tiers": ["core"]}, "`episodic` is missing"),
        ({"repeat_treshold": 2}, "unknown key `repeat_treshold`"),
        ([], "expected a mapping, found a list"),
    ],
)
def test_an_invalid_memory_block_is_named_and_only_its_agent_has_the_defaults(
    memory: object, words: str
) -> None:
    found = roster(changed(agents={"nova": {"memory": memory}, "atlas": SMALL["agents"]["atlas"]}))
    nova = found.agents["nova"]
    assert nova.memory_fault.startswith(f"{FILE}: agents.nova.memory: ")
    assert words in nova.memory_fault
    assert nova.memory == MemorySettings()
    assert found.agents["atlas"].memory.core_budget_tokens == 2000


def test_every_fault_of_a_memory_block_is_said() -> None:
    memory = {"core_budget_tokens": 1, "x": 1, "self_improvement": {"requires_ship_gate": False}}
    fault = roster(changed(agents={"nova": {"memory": memory}})).agents["nova"].memory_fault
    assert fault.count("; ") == 2


def test_a_newer_version_is_refused_by_name() -> None:
    assert refused({"version": 2, "whatever": []}) == [
        "format version 2, and this orgvault knows 1"
    ]


def test_every_other_fault_in_one_go() -> None:
    data = {
        "operators": [{"name": "sam", "role": "king"}, 1],
        "protected": [1],
        "guild": {"name": 1},
        "pages": [],
        "commit": {"sign": "yes"},
        "agents": {"aux": {"name": 1}, "nova": [], "b": {"id": "c"}},
    }
    assert refused(data) == [
        "operators[0].role: `king` is not one of owner, reviewer",
        "operators[1].expected a mapping, found 1",
        "pages: expected a mapping",
        "guild.name: expected a text",
        "owner: expected a text",
        "agents.aux: `aux` is a device name on some systems and cannot name a file",
        "agents.aux.name: expected a text",
        "agents.nova: expected a mapping",
        "agents.b.id: another id than the key",
        "protected: expected a list of texts",
        "commit.sign: expected true or false",
    ]


def test_git_28_and_git_30_no_such_agent_is_read() -> None:
    for name in ("aux", "Ada", "stats", "../x"):
        assert refused(changed(agents={name: {}})) != []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.sampled_from([*SMALL, "guild", "protected", "pages", "commit"]), JSON, JSON)
def test_any_json_is_read_or_refused(key: str, value: object, whole: object) -> None:
    for data in (whole, changed(**{key: value}), changed(agents={"nova": value})):
        found, problems = read_roster(data, FILE)
        assert (found is None) == bool(problems)


def test_reading_the_roster_imports_neither_yaml_nor_the_compiler() -> None:
    code = (
        "import sys; from orgvault.domain.compiled import read_roster; "
        "read_roster({'owner': 'sam', 'agents': {'nova': {}}}, ''); "
        "print(*[name for name in sys.modules if name.startswith(('ruamel', '_ruamel', "
        "'orgvault.domain.org', 'orgvault.domain.yaml', 'difflib', 'zoneinfo'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""


def test_numbers_of_the_guild_are_kept_and_what_is_none_is_named() -> None:
    found = roster(changed(ledger={"margin": 1}, runs={"keep_days": 30}))
    assert (found.ledger_margin, found.keep_run_days) == (1.0, 30)
    for margin in (True, "0.1", -0.1, 1.5):
        assert refused(changed(ledger={"margin": margin})) == [
            "ledger.margin: expected a number from 0 to 1"
        ]
    for days in (0, 1.5, True, "30"):
        assert refused(changed(runs={"keep_days": days})) == [
            "runs.keep_days: expected a number of days, or null"
        ]
