"""What must hold between the keys of org.yaml."""

import pytest

from orgvault.domain.org_compiler import compile_org
from orgvault.domain.problem import Problem

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


def test_yaml_05_agents_that_are_no_text() -> None:
    keys = ["no", "null", "1.10", "2026-01-02", "0o10", "1", '"1"']
    text = SMALL[: SMALL.index("  nova")] + "".join(f"  {key}: {{}}\n" for key in keys)
    assert sorted({one.line for one in problems(text)}) == [5, 6, 7, 8, 9, 10, 11]
    assert problems(SMALL.replace("  nova:", "  no:")) != ()
    assert problems(SMALL.replace("  nova:", '  "no":')) == ()
    for word in ("no", "null", "1.10", "2026-01-02", "0o10", "2026-01-02T03:04:05Z", "1:30", "~"):
        (problem,) = problems(with_agent(f"goal: {word}"))
        assert problem.line == 7
        assert "agents.nova.goal: " in problem.what
        assert "quote" in problem.do


def test_git_11_conflict_markers_are_named_with_their_line(org_text: str) -> None:
    broken = org_text.replace(
        "owner: sam\n", "<<<<<<< HEAD\nowner: sam\n=======\nowner: kim\n>>>>>>> other\n"
    )
    (problem,) = problems(broken)
    assert str(problem).startswith(".agents/org/org.yaml:4: a conflict marker of git (`<<<<<<<`)")


@pytest.mark.parametrize(("one", "other"), [("Ada", "ada"), ("ada", "ADA"), ("é", "e\u0301")])
def test_git_28_agents_that_are_one_name_to_a_file_system(one: str, other: str) -> None:
    found = said(SMALL.replace("  nova:", f"  {one}: {{}}\n  {other}:"))
    assert f"6: agents.{other}: `{other}` and `{one}` are one name to many file systems" in found


def test_git_28_ids_count_wherever_they_are_written() -> None:
    text = with_agent("id: atlas") + "  atlas: {}\n"
    assert said(text) == [
        "8: agents.atlas: two have the name `atlas` (agents and operators share one list of names)",
    ]


@pytest.mark.parametrize("name", ["aux", "con", "nul", "com1", "lpt9", "stats", "edit"])
def test_git_30_device_names_and_verbs_are_no_agents(name: str) -> None:
    (problem,) = problems(SMALL.replace("  nova:", f"  {name}:"))
    assert f"agents.{name}: `{name}` is a" in problem.what
    (problem,) = problems(with_agent(f"id: {name}"))
    assert (problem.line, problem.what[: len("agents.nova.id")]) == (7, "agents.nova.id")


@pytest.mark.parametrize("name", ["reflection", "hand", "operator", "user"])
def test_words_that_stand_for_something_else_are_no_names(name: str) -> None:
    assert said(SMALL.replace("  nova:", f"  {name}:")) == [
        f"5: agents.{name}: `{name}` is a word of orgvault's own"
    ]


def test_an_agent_is_no_operator() -> None:
    (found,) = said(SMALL.replace("  nova:", "  sam:"))
    assert found.startswith("5: agents.sam: two have the name `sam`")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SMALL.replace("role: owner", "role: reviewer"), "`sam` is the owner"),
        (SMALL.replace(", role: owner", ""), "`sam` is the owner"),
        (
            SMALL.replace("role: owner}", "role: owner}, {name: kim, role: owner}"),
            "`kim` is not the owner, sam is",
        ),
        (SMALL.replace("role: owner}", "role: owner}, {name: sam}"), "two have the name `sam`"),
        (
            SMALL.replace("role: owner}", "role: owner, email: a@b}, {name: kim, email: A@b}"),
            "`A@b` is another operator's",
        ),
        (with_agent("lead: nova"), "`nova` would lead itself"),
        (with_agent("lead: a") + "  a: {lead: nova}\n", "in a circle (nova → a → nova)"),
        (with_agent("home: Org/Home/b") + "  b: {}\n", "`Org/Home/b` is the home of nova too"),
        (with_agent("home: ../x"), "is not a path inside the vault"),
        (with_agent("home: a//b"), "is not a path inside the vault"),
        (with_agent("knowledge: [a/../../b]"), "is not a path inside the vault"),
        (with_agent("knowledge: ['a\\b']"), "is not a path inside the vault"),
        (with_agent("notes: {read: [~/x]}"), "is not a path inside the vault"),
        (with_agent("notes: {write: ['C:/x']}"), "is not a path inside the vault"),
        (with_agent("secrets: [{name: A}, {name: A}]"), "`A` is set twice"),
        (with_agent("client: {env: {GIT_DIR: x}}"), "`GIT_DIR` is set by orgvault itself"),
        (with_agent("client: {env: {PORT: 80}}"), "expected text, found 80"),
        (with_agent("memory: {reflect: {model: gpt}}"), "does not match"),
        (with_agent("wakes_per_day: -1"), "-1 is below the limit of 0"),
        (with_agent("name: '  '"), "is not one line of text"),
        (with_agent('name: "a\\nb"'), "is not one line of text"),
        (SMALL.replace("agents:", "timezone: ../../etc/passwd\nagents:"), "is not a time zone"),
        (SMALL.replace("agents:", "pages: {folder: .hidden}\nagents:"), "is in a dot-folder"),
        (SMALL.replace("owner: sam\n", ""), "the key `owner` is missing"),
        ("[]", "expected a mapping, found a list"),
        ("", "the file is empty"),
    ],
)
def test_a_broken_rule(text: str, words: str) -> None:
    found = said(text)
    assert any(words in one for one in found), found


@pytest.mark.parametrize(
    "lines",
    [
        "lead: sam",
        "memory: {reflect: {model: openai/gpt-4o-mini}}",
        'memory: {reflect: {model: "off"}}',
        "memory: {self_improvement: {requires_ship_gate: true, repeat_threshold: 3}}",
        "memory: {}",
        "wakes_per_day: null",
        "principles: []",
    ],
)
def test_what_is_allowed(lines: str) -> None:
    assert problems(with_agent(lines)) == ()


def test_limits_cannot_hide_behind_aliases_or_merge_keys() -> None:
    hidden = SMALL + "    memory: &m {core_budget_tokens: 9000}\n  b:\n    memory: *m\n"
    assert [one for one in said(hidden) if "9000 is above" in one] == [
        "7: agents.b.memory.core_budget_tokens: 9000 is above the limit of 4000",
        "7: agents.nova.memory.core_budget_tokens: 9000 is above the limit of 4000",
    ]
    merging = SMALL + "    memory:\n      <<: {core_budget_tokens: 9000}\n"
    assert said(merging) == ["8: a merge key (`<<`), which can hide what it brings along"]


def test_a_newer_format_is_refused_by_name_and_nothing_else_is_looked_at() -> None:
    assert said("version: 2\nnew: {things: 1}\n") == [
        "1: format version 2, and this orgvault knows 1"
    ]


@pytest.mark.parametrize("folder", ["Areas/Finance", "current", "Areas/Health", "areas/finance/x"])
def test_pages_do_not_stand_in_a_protected_place(folder: str) -> None:
    text = f"pages: {{folder: {folder}}}\nprotected: [Areas/Health/]\n{SMALL}"
    assert said(text) == [f"1: pages.folder: `{folder}` is a protected place"]


@pytest.mark.parametrize("agent", ["növa", "nova\u0301", "\uff4eova", "нova"])
def test_git_29_ids_are_ascii(agent: str) -> None:
    found = said(SMALL.replace("  nova:", f"  {agent}:"))
    assert any(f"`{agent}` is not an agent id" in one for one in found)


def test_what_is_no_entry_is_told_once_and_hides_no_other() -> None:
    text = SMALL.replace("role: owner}", "role: owner}, 7, {name: sam}")
    assert [one for one in said(text) if "expected a mapping, found 7" in one]
    assert [one for one in said(text) if "two have the name `sam`" in one]
    text = with_agent("secrets: [{name: A}, 7, {description: x}, {name: A}]")
    assert [one for one in said(text) if "`A` is set twice" in one]
    assert [one for one in said(text) if "the key `name` is missing" in one]
