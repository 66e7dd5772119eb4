"""Rule 4: of org.yaml only the agent's own prose, and every byte else as it was."""

import pytest

from orgvault.domain.proposal import PROSE, Edit, Refusal, Rule
from tests.domain.gate.conftest import ORG, Gate
from tests.domain.gate_tree import ORG_PATH

OUTSIDE = "a comment, a blank or a mark changes outside of the values"
GOAL = "    goal: A site that builds.   # said often\n"


def refusal(gate: Gate, old: str, new: str, text: str = ORG) -> Refusal:
    assert text.count(old) == 1, (old, text.count(old))
    found = gate.refused(ORG_PATH, text.replace(old, new), text)
    assert found.rule in {Rule.ORG, Rule.WORDS}
    return found


def line_of(text: str, words: str) -> int:
    assert text.count(words) == 1, words
    return text[: text.index(words)].count("\n") + 1


def edit(gate: Gate, old: str, new: str, text: str = ORG) -> Edit:
    assert text.count(old) == 1, (old, text.count(old))
    (found,) = gate.accepted(ORG_PATH, text.replace(old, new), text).edits
    return found


@pytest.mark.parametrize(
    ("old", "new", "key", "before", "after"),
    [
        ("A site that builds.", "A site.", "goal", "A site that builds.", "A site."),
        ("A site that builds.", "'A: b'", "goal", "A site that builds.", "A: b"),
        ("dry,\n      curious.", "dry.", "personality", "Careful, dry, curious.", "Careful, dry."),
        (">-\n      Careful, dry,\n      curious.", "|\n      A\n\n      B", "personality",
         "Careful, dry, curious.", "A\n\nB\n"),
        ('"yes"', '"no"', "voice", "yes", "no"),
        ('"yes"', "Warm # hashed", "voice", "yes", None),
        ('"yes"', "\n      Warm", "voice", "yes", "Warm"),
        ('"yes"', "Warm\n      and dry", "voice", "yes", "Warm and dry"),
        ('"yes"', '"Warm\\u00e9\\\n        r"', "voice", "yes", "Warm\u00e9r"),
    ],
)  # fmt: skip
def test_a_text_may_change_in_every_style(
    gate: Gate, old: str, new: str, key: str, before: str, after: str | None
) -> None:
    if after is None:  # a comment is none of the value
        assert refusal(gate, f" {old}", f" {new}").why == OUTSIDE
        return
    found = edit(gate, f" {old}", new if new.startswith("\n") else f" {new}")
    assert found == Edit(key=key, before=(before,), after=(after,))


def test_principles_may_change_and_stay_a_list_of_texts(gate: Gate) -> None:
    first, second = "One change at a time.", "What I have not run: not finished."
    found = edit(gate, "      - One", "      - First look.\n      - One")
    assert found == Edit(
        key="principles", before=(first, second), after=("First look.", first, second)
    )
    assert edit(gate, "      - One change at a time.\n", "").after == (second,)
    block = ORG[ORG.index("\n      - One") : ORG.index("    # what it may do") - 1]
    assert edit(gate, block, ' [a, "yes"]').after == ("a", "yes")
    assert edit(gate, block, " []").after == ()
    assert edit(gate, "at a time.", "at a time.\n      # why\n      - Two").after == (
        first, "Two", second,
    )  # fmt: skip
    noted = ORG.replace('not finished."\n', 'not finished."   # why\n')
    last = "   # why\n"
    assert edit(gate, last, f"{last}      - Last.\n", noted).after == (first, second, "Last.")
    longer = noted.replace(last, f"{last}      - Last.\n")
    assert edit(gate, "      - Last.\n", "", longer).after == (first, second)
    assert edit(gate, last, f"{last}      - Last.\n      -  More\n", noted).after == (
        first, second, "Last.", "More",
    )  # fmt: skip
    assert refusal(gate, last, f"{last}      - Last. # too\n", noted).why == OUTSIDE
    assert refusal(gate, last, f"{last}      - Last.\n      # too\n", noted).why == OUTSIDE
    for bad in (" One.", " {a: b}", " [a, [b]]", " [a, {b: c}]", "", "\n      - a: b"):
        found_no = refusal(gate, block, bad)
        assert found_no == Refusal(
            Rule.ORG, "`principles` must be a list of texts", "principles",
            line_of(ORG, "principles:"),
        )  # fmt: skip
    for bad in (" [a, yes]", " [1]", " [a, ~]", ' [""]', " [' ']", " [a, 2026-01-01]"):
        found_no = refusal(gate, block, bad)
        assert found_no.key == "principles"
        assert found_no.why.endswith("put it in quotes")


@pytest.mark.parametrize("key", [one for one in PROSE if one not in ORG.split("nova:")[1]])
def test_an_absent_text_may_be_added(gate: Gate, key: str) -> None:
    for value, after in (("Short.", "Short."), (">-\n      Two\n      lines", "Two lines")):
        found = edit(gate, GOAL, f"    {key}: {value}\n{GOAL}")
        assert found == Edit(key=key, before=None, after=(after,))


def test_texts_may_be_added_at_every_end_of_a_block(gate: Gate) -> None:
    style = Edit(key="style", after=("Short.",))
    assert edit(gate, "  nova:\n", "  nova:\n    style: Short.\n") == style
    end = "      core_budget_tokens: 2000\n"
    assert edit(gate, end, end + "    style: Short.\n") == style
    for cut in (ORG[:-1],):
        assert edit(gate, "tokens: 2000", "tokens: 2000\n    style: Short.", cut) == style
        gone = edit(gate, "tokens: 2000\n    style: Short.", "tokens: 2000", cut.replace(
            "tokens: 2000", "tokens: 2000\n    style: Short."))  # fmt: skip
        assert gone == Edit(key="style", before=("Short.",))
    two = "    style: Short.\n    description: The builder.\n"
    new = ORG.replace(GOAL, two + GOAL)
    answer = gate.accepted(ORG_PATH, new, ORG)
    assert [one.key for one in answer.edits] == ["style", "description"]
    assert edit(gate, GOAL, f"    style:\n      Short.\n{GOAL}") == style


def test_nothing_stands_beside_a_text_on_a_last_line_without_an_end(gate: Gate) -> None:
    for beside in (" #", "   # c"):
        found = refusal(gate, "tokens: 2000", f"tokens: 2000\n    style: Short.{beside}", ORG[:-1])
        assert found.why == "`style` must be written `style: …` with nothing beside it"


def flow(block: str) -> str:
    return f"version: 1\nagents:\n  atlas: {{}}\n  nova: {block}\n"


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("{}", "{goal: x}", "goal"),
        ("{tools: [a]}", "{tools: [a], goal: x}", "goal"),
        ("{tools: [a]}", "{goal: x, tools: [a]}", "goal"),
        ("{tools: [a],\n    lead: b}", "{tools: [a],\n    goal: x,\n    lead: b}", "goal"),
        ("{goal: x, tools: [a]}", "{tools: [a]}", "goal"),
        ("{goal: x, tools: [a]}", "{goal: zed, tools: [a]}", "goal"),
    ],
)
def test_a_block_in_braces(gate: Gate, old: str, new: str, key: str) -> None:
    answer = gate.accepted(ORG_PATH, flow(new), flow(old))
    assert [one.key for one in answer.edits] == [key]


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (
            "{tools: [a], # c\n    goal: x}",
            "`goal` must be written `goal: …` with nothing beside it",
        ),
        ("{tools: [a], goal: x,}", OUTSIDE),
        ("{tools: [a], 'goal': x}", "`goal` must be written `goal: …` with nothing beside it"),
        ("{tools: [a], goal: x, model: y}", "`agents.nova.model` would be added"),
    ],
)
def test_a_block_in_braces_with_more_than_a_text(gate: Gate, new: str, why: str) -> None:
    assert gate.refused(ORG_PATH, flow(new), flow("{tools: [a]}")).why == why


def test_a_text_that_is_taken_out_raises_a_flag(gate: Gate) -> None:
    answer = gate.accepted(ORG_PATH, ORG.replace('    voice: "yes"\n', ""), ORG)
    assert answer.edits == (Edit(key="voice", before=("yes",)),)
    assert answer.flags == ("takes `voice` out",)
    # the comment that stands beside a value is nobody's but the owner's
    assert refusal(gate, GOAL, "").why == "`goal` must be written `goal: …` with nothing beside it"
    only = "agents:\n  nova:\n    goal: x\n"
    assert gate.refused(ORG_PATH, "agents:\n  nova:\n", only).key == "nova"


@pytest.mark.parametrize(
    ("old", "new", "key", "what"),
    [
        ("[Read, Edit]", "[Read, Edit, Bash]", "tools", "`agents.nova.tools` would change"),
        ("[Read, Edit]", "[Read, Write]", "tools", "`agents.nova.tools` would change"),
        ("[Read, Edit]", '[Read, "Edit"]', "tools", "`agents.nova.tools` would change"),
        ("mode: default", "mode: plan", "permission_mode",
         "`agents.nova.permission_mode` would change"),
        ("model: sonnet", "model: opus", "model", "`agents.nova.model` would change"),
        ("model: sonnet", 'model: "sonnet"', "model", "`agents.nova.model` would change"),
        ("day: 12", "day: 99", "wakes_per_day", "`agents.nova.wakes_per_day` would change"),
        ("[notes, memory]", "[notes, coding]", "capabilities",
         "`agents.nova.capabilities` would change"),
        ("[.agents/skills/nova/]", "[.agents/]", "knowledge",
         "`agents.nova.knowledge` would change"),
        ("tokens: 2000", "tokens: 4000", "memory",
         "`agents.nova.memory.core_budget_tokens` would change"),
        ("{name: TIDE, d", "{name: KEY, d", "secrets", "`agents.nova.secrets.name` would change"),
        ("[git]", "[git, mail]", "connectors", "`agents.nova.connectors` would change"),
        ("lead: atlas", "lead: sam", "lead", "`agents.nova.lead` would change"),
        ("name: Nova", "name: Atlas", "name", "`agents.nova.name` would change"),
        ("    goal: That", "    goal: This", "atlas.goal", "`agents.atlas.goal` would change"),
        ("    tools: [Read]", "    tools: [Bash]", "atlas.tools",
         "`agents.atlas.tools` would change"),
        ("  atlas:\n", "  zoe: {}\n  atlas:\n", "zoe", "`agents.zoe` would be added"),
        ("[Areas/Health/]", "[Areas/None/]", "protected", "`protected` would change"),
        ("guild: {name", "guild: {names", "guild.names", "`guild.names` would be added"),
        ("owner: sam\n", "owner: kim\n", "owner", "`owner` would change"),
        ("version: 1\n", "version: 1\nledger: {}\n", "ledger", "`ledger` would be added"),
        ("    permission_mode: default\n", "", "permission_mode",
         "`agents.nova.permission_mode` would be taken out"),
        ("    name: Nova\n    lead: atlas                     # an agent\n",
         "    lead: atlas                     # an agent\n    name: Nova\n", "lead",
         "`agents.nova.lead` would move"),
        ("    tools: [Read, Edit]", "    style: x\n    tools: [All]", "tools",
         "`agents.nova.tools` would change"),
    ],
)  # fmt: skip
def test_every_other_key_is_refused_by_its_name_and_line(
    gate: Gate, old: str, new: str, key: str, what: str
) -> None:
    found = refusal(gate, old, new)
    assert (found.rule, found.key, found.why) == (Rule.ORG, key, what)
    changed = ORG.replace(old, new).split("\n")
    if "taken out" in what:
        assert found.line == line_of(ORG, old)
    else:
        assert key.rpartition(".")[2] in changed[found.line - 1] or old.startswith(
            ("tokens", "{name")
        )


def test_the_line_is_the_keys_own(gate: Gate) -> None:
    assert refusal(gate, "tokens: 2000", "tokens: 2001").line == line_of(ORG, "tokens: 2000")
    assert refusal(gate, "TIDE", "KEY").line == line_of(ORG, "TIDE")
    assert refusal(gate, "    tools: [Read, Edit]", "    tools:\n      - x").line == line_of(
        ORG, "    tools: [Read, Edit]"
    )


def test_a_key_far_from_the_agent_is_named_by_two_steps(gate: Gate) -> None:
    text = ORG.replace("tools: [Read]\n", "memory: {reflect: {model: a}}\n")
    text += "defaults: {memory: {reflect: {model: b}}}\n"
    assert refusal(gate, "model: a", "model: c", text).key == "atlas.memory"
    assert refusal(gate, "model: b", "model: c", text).key == "defaults.memory"
    assert refusal(gate, "agents:\n", "agents: &a\n", text).key == "agents"


def test_the_line_of_a_key_is_not_that_of_its_value(gate: Gate) -> None:
    found = refusal(gate, GOAL, f"    hooks:\n      - x\n{GOAL}")
    assert found == Refusal(
        Rule.ORG, "`agents.nova.hooks` would be added", "hooks", line_of(ORG, "goal: A")
    )


def test_of_keys_in_another_order_the_first_is_named(gate: Gate) -> None:
    found = refusal(gate, "    permission_mode: default\n    wakes_per_day: 12\n",
                    "    wakes_per_day: 12\n    permission_mode: default\n")  # fmt: skip
    assert found == Refusal(
        Rule.ORG, "`agents.nova.wakes_per_day` would move", "wakes_per_day",
        line_of(ORG, "permission_mode"),
    )  # fmt: skip


def test_smug_01_a_text_that_dedents_to_a_key(gate: Gate) -> None:
    text = ORG.replace("    permission_mode: default\n", "")
    old = ">-\n      Careful, dry,\n      curious.\n"
    new = "|\n      Careful\n    permission_mode: bypass\n"
    found = refusal(gate, old, new, text)
    assert (found.key, found.line) == ("permission_mode", line_of(ORG, "curious."))
    assert found.why == "`agents.nova.permission_mode` would be added"
    assert refusal(gate, old, new).why == "`agents.nova.permission_mode` would be written twice"


def test_smug_02_a_lone_carriage_return_begins_a_line(gate: Gate) -> None:
    new = "    style: x\r    permission_mode: bypass\n" + GOAL
    found = refusal(gate, GOAL, new)
    assert found.key == "permission_mode"
    found = refusal(gate, GOAL, new, ORG.replace("    permission_mode: default\n", ""))
    assert found.why == "`agents.nova.permission_mode` would be added"
    found = refusal(gate, GOAL, "    style: x\r\n" + GOAL)
    assert (found.key, found.line) == ("style", line_of(ORG, "goal: A"))
    for mark in "\r\x85\u2028\u2029":
        old = ORG.replace("# an agent", f"# an{mark}agent")
        found = gate.refused(ORG_PATH, old.replace("A site", "The site"), old)
        assert found == Refusal(
            Rule.ORG, "a line of org.yaml ends in a way that not all readers know: mend it first",
            "", line_of(ORG, "lead: atlas"),
        )  # fmt: skip


def test_smug_02_the_first_carriage_return_is_named(gate: Gate) -> None:
    old = ORG.replace("# an agent", "# an\ragent").replace("# said", "#\rsaid")
    found = gate.refused(ORG_PATH, old.replace("A site", "The site"), old)
    assert found.line == line_of(ORG, "lead: atlas")


@pytest.mark.parametrize(
    ("merged", "key"),
    [
        ("{tools: [Bash]}", "tools"), ("{}", "<<"), ("[{tools: [Bash]}]", "tools"), ("[]", "<<"),
        ("x", "<<"),
    ],
)  # fmt: skip
def test_smug_03_a_merge_key_names_what_it_brings(gate: Gate, merged: str, key: str) -> None:
    found = refusal(gate, GOAL, f"    <<: {merged}\n{GOAL}")
    why = f"`agents.nova.{key}` would be brought by a merge key"
    assert found == Refusal(Rule.ORG, why, key, line_of(ORG, "goal: A"))


def test_smug_03_a_merge_of_an_alias(gate: Gate) -> None:
    text = ORG.replace("  atlas:\n", "  atlas: &a\n")
    found = refusal(gate, GOAL, f"    <<: *a\n{GOAL}", text)
    assert found.key == "goal"


def test_smug_04_a_text_that_another_agent_shares(gate: Gate) -> None:
    text = ORG.replace("goal: A site", "goal: &g A site").replace(
        "goal: That cards are small.", "style: x"
    )
    shared = text + "  bob:\n    goal: *g\n"
    found = gate.refused(ORG_PATH, shared.replace("A site", "The site"), shared)
    assert found == Refusal(
        Rule.ORG, "`goal` is shared by `agents.bob.goal`", "goal", line_of(text, "goal: &g")
    )
    # nobody shares it: the anchor may stay
    assert edit(gate, "&g A site", "&g The site", text).after == ("The site that builds.",)
    for new in ("The site", "&h The site"):
        assert (
            refusal(gate, "&g A site", new, text).why
            == "`goal` would get, lose or change an anchor"
        )
    assert refusal(gate, "    goal: A site", "    goal: &g A place").why == (
        "`goal` would get, lose or change an anchor"
    )
    bob = gate.refused(ORG_PATH, shared.replace("*g", "x"), shared)
    assert (bob.key, bob.why) == (
        "bob.goal", "`agents.bob.goal` would get, lose or change an anchor or an alias",
    )  # fmt: skip


def test_smug_04_an_anchor_neither_comes_nor_goes_with_a_text(gate: Gate) -> None:
    why = "`style` would get, lose or change an anchor"
    text = ORG.replace(GOAL, f"    style: &s x\n{GOAL}")
    assert gate.refused(ORG_PATH, text, ORG).why == why
    assert gate.refused(ORG_PATH, ORG, text).why == why
    assert gate.refused(ORG_PATH, text.replace("&s x", "&t y"), text).why == why


def test_smug_04_whatever_holds_the_text_may_be_shared(gate: Gate) -> None:
    for place, path in (("  nova:", "bob"), ("agents:", "copy")):
        text = ORG.replace(f"{place}\n", f"{place} &n\n")
        text += "  bob: *n\n" if path == "bob" else "copy: *n\n"
        found = gate.refused(ORG_PATH, text.replace("A site", "The site"), text)
        assert found.why == f"`goal` is shared by `{'agents.bob' if path == 'bob' else 'copy'}`"
        found = gate.refused(ORG_PATH, text.replace('    voice: "yes"\n', ""), text)
        assert found.why.startswith("`voice` is shared by")
        found = gate.refused(ORG_PATH, text.replace(GOAL, f"    style: x\n{GOAL}"), text)
        assert found.why.startswith("`style` is shared by")
    text = ORG.replace("- One change", "- &one One change") + "copy: [{a: *one}]\n"
    found = gate.refused(ORG_PATH, text.replace("One change at", "One step at"), text)
    assert found.why == "`principles` is shared by `copy.a`"
    text = ORG.replace("- One change at a time.", "- &one One change at a time.")
    text = text.replace("{name: Harbor}", "{name: Harbor, &k x: y}")
    assert edit(gate, "at a time", "at once", text).key == "principles"
    keyed = ORG.replace("goal: A site", "goal: &g A site") + "copy: {*g : x}\n"
    found = gate.refused(ORG_PATH, keyed.replace("A site", "The site"), keyed)
    assert found.why == "`copy.The site that builds.` would be added"


def test_an_alias_is_no_text_to_change(gate: Gate) -> None:
    text = ORG.replace("name: Nova", "name: &n Nova").replace('"yes"', "*n")
    assert refusal(gate, "*n", "x", text).why == "`voice` has a tag or an alias"
    named = ORG.replace("name: Nova", "name: &n Nova")
    assert refusal(gate, " A site that builds.", " *n", named).why == "`goal` has a tag or an alias"
    listed = text.replace("- One change at a time.", "- *n")
    assert refusal(gate, "not finished", "finished", listed).why == (
        "`principles` has a tag or an alias"
    )
    assert edit(gate, "A site", "The site", text).key == "goal"


@pytest.mark.parametrize("key", ["tools", '"tools"', '"\\x74ools"', "!!str tools", "? tools\n    "])
def test_smug_05_a_second_key_in_every_disguise(gate: Gate, key: str) -> None:
    found = refusal(gate, GOAL, f"    {key}: [Bash]\n{GOAL}")
    assert (found.rule, found.key) == (Rule.ORG, "tools")
    assert found.why == "`agents.nova.tools` would be written twice"
    assert found.line in {line_of(ORG, "    tools: [Read, Edit]") + 1 + key.count("\n"),
                          line_of(ORG, "goal: A")}  # fmt: skip


@pytest.mark.parametrize("key", ["goal", '"goal"', '"\\x67oal"', "!!str goal"])
def test_smug_05_a_second_text(gate: Gate, key: str) -> None:
    found = refusal(gate, "    model: s", f"    {key}: x\n    model: s")
    assert (found.key, found.why) == ("goal", "`agents.nova.goal` would be written twice")


def test_smug_05_a_second_text_above_the_first(gate: Gate) -> None:
    found = refusal(gate, GOAL, f"    goal: x\n{GOAL}")
    why = "`agents.nova.goal` would be written twice"
    assert found == Refusal(Rule.ORG, why, "goal", line_of(ORG, "goal: A") + 1)
    twice = ORG.replace(GOAL, f"    goal: x\n{GOAL}")
    found = gate.refused(ORG_PATH, twice.replace("goal: x", "goal: y"), twice)
    assert (found.rule, found.why) == (Rule.ORG, "`agents.nova.goal` would change")
    found = gate.refused(ORG_PATH, ORG, twice)
    assert (found.rule, found.why) == (Rule.ORG, "`agents.nova.goal` would be taken out")


@pytest.mark.parametrize(
    "key", ['"style"', '"st\\x79le"', "!!str style", "&a style", "? style\n    "]
)
def test_smug_05_an_added_text_whose_key_is_no_plain_word(gate: Gate, key: str) -> None:
    found = refusal(gate, GOAL, f"    {key}: x\n{GOAL}")
    assert found.why == "`style` must be written `style: …` with nothing beside it"
    assert found.key == "style"


def test_smug_05_an_added_text_whose_key_is_an_alias(gate: Gate) -> None:
    text = ORG.replace("name: Harbor", "name: &k style")
    for key in ("*k:", "*k :"):
        found = refusal(gate, GOAL, f"    {key} x\n{GOAL}", text)
        assert found.why == "`style` must be written `style: …` with nothing beside it"


def test_a_tag_on_the_whole_text(gate: Gate) -> None:
    found = refusal(gate, "# The roster", "--- !!map\n# The roster")
    assert found == Refusal(Rule.ORG, "the whole text would get, lose or change a tag", "", 1)


def test_keys_that_are_no_text(gate: Gate) -> None:
    assert refusal(gate, GOAL, f"    ? [tools]\n    : x\n{GOAL}").key == "a list as key"
    assert refusal(gate, GOAL, f"    ? {{a: b}}\n    : x\n{GOAL}").key == "a mapping as key"
    assert refusal(gate, '    voice: "yes"', '    "voice": "no"').why == (
        "`agents.nova.voice` would change"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# The roster", "%YAML 1.1\n---\n# The roster"),
        ("# The roster", "---\n# The roster"),
        ("version: 1", "--- !!map\nversion: 1"),
        ("      core_budget_tokens: 2000\n", "      core_budget_tokens: 2000\n...\n"),
        ("      core_budget_tokens: 2000\n", "      core_budget_tokens: 2000\n---\nx: y\n"),
        ("# what it may do", "# what it does"),
        ("    # what it may do\n", ""),
        ("   # said often", "  # said often"),
        ("   # said often", ""),
        ("   # added", "   # added\n\n"),
        ("    model: sonnet", "    model:  sonnet"),
        ("sonnet\n", "sonnet \n"),
        ("Only people edit", "Agents edit"),
        ("      curious.\n", "      curious.\n\n"),
    ],
)
def test_smug_06_what_stands_outside_of_the_values_stays(gate: Gate, old: str, new: str) -> None:
    assert refusal(gate, old, new).rule is Rule.ORG


def test_smug_06_a_byte_outside_is_named_by_its_line(gate: Gate) -> None:
    found = refusal(gate, "# what it may do", "# what it does")
    assert found == Refusal(Rule.ORG, OUTSIDE, "", line_of(ORG, "# what it may do"))
    both = ORG.replace("A site", "The long site").replace("# what it may do", "# what it did")
    found = gate.refused(ORG_PATH, both, ORG)
    assert found == Refusal(Rule.ORG, OUTSIDE, "", line_of(ORG, "# what it may do"))
    found = refusal(gate, GOAL, f"    style: x\n\n{GOAL}")
    assert found == Refusal(Rule.ORG, OUTSIDE, "", line_of(ORG, "goal: A") + 1)
    end = ORG + "# the end\n"
    found = gate.refused(ORG_PATH, ORG, end)
    assert found == Refusal(Rule.ORG, OUTSIDE, "", ORG.count("\n") + 1)
    found = refusal(gate, GOAL, f"    style: x # c\n{GOAL}")
    assert found.why == "`style` must be written `style: …` with nothing beside it"
    found = refusal(gate, GOAL, f"    'style':\n      x\n{GOAL}")
    assert found.line == line_of(ORG, "goal: A")
    found = refusal(gate, GOAL, f"    style: # c\n      x\n{GOAL}")
    assert found.why == "`style` must be written `style: …` with nothing beside it"


def test_smug_06_the_first_byte_counts_too(gate: Gate) -> None:
    new = ORG.replace("A site", "The site")
    found = gate.refused(ORG_PATH, f" \n{new}", f"#\n{ORG}")
    assert found == Refusal(Rule.ORG, OUTSIDE, "", 1)
    found = gate.refused(ORG_PATH, f"\n{new}".replace("# what it", "# what she"), f"\n{ORG}")
    assert found == Refusal(Rule.ORG, OUTSIDE, "", line_of(ORG, "# what it") + 1)


def test_smug_06_a_directive_that_stood_there_may_stay(gate: Gate) -> None:
    text = "---\n" + ORG + "...\n"
    assert edit(gate, "A site", "The site", text).key == "goal"
    found = gate.refused(ORG_PATH, "%YAML 1.2\n" + text, text)
    assert found == Refusal(Rule.ORG, OUTSIDE, "", 1)
    text = "%YAML 1.2\n" + text
    assert edit(gate, "A site", "The site", text).key == "goal"
    assert refusal(gate, "YAML 1.2", "YAML 1.1", text) == Refusal(Rule.ORG, OUTSIDE, "", 1)


@pytest.mark.parametrize(
    "word",
    [
        "yes", "No", "on", "OFF", "y", "N", "true", "False", "null", "~", "1", "-3", "0x1F", "1.5",
        "1e3", ".inf", ".nan", "1_000", "010", "0o10", "0b11", "1:30", "190:20:30", "2026-01-02",
        "2026-01-02 03:04:05", "2026-01-02T03:04:05Z", "=", "<<", '""', "''", '" "', '"\\n"',
    ],
)  # fmt: skip
def test_yaml_03_a_word_that_is_no_text_to_every_reader(gate: Gate, word: str) -> None:
    why = "must be text that nobody reads as something else: put it in quotes"
    found = refusal(gate, '"yes"', word)
    assert found == Refusal(Rule.ORG, f"`voice` {why}", "voice", line_of(ORG, "voice:"))
    if '"' not in word and "'" not in word:
        if word != "yes":  # that would only be another quote
            assert edit(gate, '"yes"', f"'{word}'").after == (word,)
        assert edit(gate, '"yes"', f"{word} it is").after == (f"{word} it is",)


def test_yaml_03_quotes_elsewhere_are_untouched(gate: Gate) -> None:
    answer = gate.accepted(ORG_PATH, ORG.replace("A site", "The site"), ORG)
    assert b'    voice: "yes"\n' in answer.new


def test_yaml_02_one_line_changes_beside_a_long_one(gate: Gate) -> None:
    long = ORG.replace("A site that builds.", ("A site that builds on any machine. " * 8).strip())
    answer = gate.accepted(ORG_PATH, long.replace('"yes"', '"no"'), long)
    changed = [
        (old, new)
        for old, new in zip(answer.old.splitlines(), answer.new.splitlines(), strict=True)
        if old != new
    ]
    assert changed == [(b'    voice: "yes"', b'    voice: "no"')]


def test_a_value_keeps_its_kind(gate: Gate) -> None:
    for bad in ("[a, b]", "{a: b}", "", "*x"):
        found = refusal(gate, " A site that builds.", f" {bad}".rstrip())
        assert found.rule is Rule.ORG
    assert refusal(gate, " A site that builds.", " [a]").why == "`goal` must be one text"
    found = refusal(gate, " A site that builds.", " {a: !!str b}")
    assert found.why == "`goal` must be one text"
    assert refusal(gate, " A site that builds.", " !!str a").why == "`goal` has a tag or an alias"
    for old in ("", "12", "true", "~"):
        text = ORG.replace('"yes"', old)
        assert gate.refused(ORG_PATH, ORG, text).why == "`voice` is no text today"
    tagged = ORG.replace('"yes"', '!!str "yes"')
    assert gate.refused(ORG_PATH, ORG, tagged).why == "`voice` has a tag or an alias"
    listed = ORG.replace('"yes"', "[yes]")
    assert gate.refused(ORG_PATH, ORG, listed).why == "`voice` must be one text"


def test_tags_and_anchors_elsewhere_neither_come_nor_go(gate: Gate) -> None:
    for old, new, what in (
        ("sonnet", "!!str sonnet", "would get, lose or change a tag"),
        ("[git]", "!!seq [git]", "would get, lose or change a tag"),
        ("sonnet", "&m sonnet", "would get, lose or change an anchor or an alias"),
        (
            "    model: sonnet",
            "    &m model: sonnet",
            "would get, lose or change an anchor or an alias",
        ),
        ("    model: sonnet", "    'model': sonnet", "would change"),
    ):
        found = refusal(gate, old, new)
        assert (found.key, found.line) == (
            "connectors" if "git" in old else "model", line_of(ORG, old),
        )  # fmt: skip
        assert found.why.endswith(what)
    text = ORG.replace("sonnet", "!!str sonnet").replace("[git]", "&c [git]")
    assert edit(gate, "A site", "The site", text).key == "goal"


def test_an_old_trap_elsewhere_is_no_hindrance_and_one_in_the_value_may_be_mended(
    gate: Gate,
) -> None:
    text = ORG.replace("model: sonnet", "model: no").replace('"yes"', "yes")
    assert edit(gate, "A site", "The site", text).key == "goal"
    assert edit(gate, "voice: yes", 'voice: "yes"', text) == Edit(
        key="voice", before=("yes",), after=("yes",)
    )
    found = refusal(gate, "    model: no\n", "    model: no\n    style: off\n", text)
    assert (found.key, found.line) == ("style", line_of(text, "    model: no") + 1)
    new = text.replace(GOAL, "    goal: A place.   # said often\n")
    found = gate.refused(
        ORG_PATH, new.replace("    voice: yes", "    style: x\n    voice: no"), text
    )
    assert (found.key, found.line) == ("voice", line_of(text, "    voice: yes") + 1)


def test_an_old_text_that_cannot_be_compared_is_to_be_mended_first(gate: Gate) -> None:
    for text, what, line in (
        (ORG + "x: [\n", "not readable as YAML (did not find expected node content)", 35),
        ("# nothing\n", "it is empty", 0),
        (ORG.replace("owner: sam", "<<<<<<< ours"), "a conflict marker of git (`<<<<<<<`)", 4),
    ):
        found = gate.refused(ORG_PATH, text + "# more\n", text)
        assert (found.rule, found.key, found.line) == (Rule.ORG, "", line)
        assert found.why == f"org.yaml cannot be read today; mend it first: {what}"
    found = gate.refused(ORG_PATH, ORG + "x: [\n", ORG)
    assert found.why.startswith(
        "org.yaml cannot be read any more once this is shipped: not readable"
    )
    twice = ORG.replace("  nova:\n", "  nova: {}\n  nova:\n")
    found = gate.refused(ORG_PATH, twice.replace("A site", "The site"), twice)
    assert found == Refusal(
        Rule.ORG, "`nova` must stand there once", "nova", line_of(ORG, "  nova:") + 2
    )
    thrice = "agents: {nova: {},\n  nova: {},\n  nova: {}}\n"
    found = gate.refused(ORG_PATH, f"{thrice}y: z\n", thrice)
    assert (found.key, found.line) == ("nova", 3)
    for text in ("agents: {nova: *a}\nx: &a {}\n", "agents: {nova: x}\n", "agents: {nova: [x]}\n"):
        found = gate.refused(ORG_PATH, text + "y: z\n", text)
        assert found == Refusal(Rule.ORG, "`agents.nova` is no mapping of its own", "nova", 1)
    gone = gate.refused(ORG_PATH, "agents: {novas: {}}\n", "agents: {nova: {}}\n")
    assert gone == Refusal(Rule.ORG, "`nova` must stand there once", "nova", 1)
    gone = gate.refused(ORG_PATH, "agent: {nova: {}}\n", "agents: {nova: {}}\n")
    assert gone == Refusal(Rule.ORG, "`agents` must stand there once", "nova", 1)
    gone = gate.refused(ORG_PATH, "agents: [nova]\n", "agents: {nova: {}}\n")
    assert gone == Refusal(Rule.ORG, "`nova` must stand there once", "nova", 1)


def test_an_agents_block_may_have_another_key(gate: Gate) -> None:
    text = ORG.replace("  nova:\n    name: Nova\n", "  builder:\n    id: nova\n")
    assert edit(gate, "A site", "The site", text).key == "goal"
    assert refusal(gate, "id: nova", "id: atlas", text).key == "id"
    gone = text.replace("id: nova", "id: vega")
    found = gate.refused(ORG_PATH, gone.replace("A site", "The site"), gone)
    assert found == Refusal(Rule.TARGET, "org.yaml has no block of nova")


@pytest.mark.parametrize(
    "char", ["\x85", "\u2028", "\u2029", "\x01", "\x7f", "\x9f", "\ufeff", "\ufffe"]
)
def test_characters_that_end_lines_for_some_or_show_as_nothing(gate: Gate, char: str) -> None:
    for new in (f'"a{char}b"', f"a{char}b"):
        assert refusal(gate, '"yes"', new).rule in {Rule.ORG, Rule.WORDS}
    found = refusal(gate, "A site", f"A{char}site")
    assert found.key == "goal"
    found = refusal(gate, "# what it may do", f"# what it may{char}do")
    assert found.rule is Rule.ORG


def test_tabs(gate: Gate) -> None:
    assert refusal(gate, "    model: sonnet", "\tmodel: sonnet").rule is Rule.ORG
    assert refusal(gate, "A site", "A\tsite").rule is Rule.WORDS
    assert refusal(gate, GOAL, "    style:\tx\n" + GOAL).rule is Rule.ORG
    found = refusal(gate, "at a time.\n", "at a moment.\n      # a\x01b\n")
    assert found == Refusal(
        Rule.ORG, "a character that YAML does not allow (U+0001)", "",
        line_of(ORG, "      - One") + 1,
    )  # fmt: skip


def test_a_value_that_is_only_written_in_another_way_is_no_change(gate: Gate) -> None:
    found = refusal(gate, '"yes"', "'yes'")
    why = "`voice` would be written in another way, and say the same"
    assert found == Refusal(Rule.ORG, why, "voice", line_of(ORG, "voice:"))


def test_every_line_of_a_text_stands_deeper_than_its_key(gate: Gate) -> None:
    for value in ("'one\n    tools: x'", "'one\n  tools: x'", '"one\n\n    two"'):
        found = refusal(gate, '"yes"', value)
        assert found.why == "`voice` has a line that is not indented below its key", value
    assert edit(gate, '"yes"', "'one\n     two'").after == ("one two",)
