"""`propose-improvement`: one card because of one claim, or exit 3 and the reason."""

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.harbor import Harbor
from tests.provider import Provider, serving

ORG = ".agents/org/org.yaml"
SKILL = ".agents/skills/nova/build-site.md"
CLAIM = "commit the public folder"  # a friction of the fixture's nova, seen in four runs
GOAL = "A site that builds on any machine, and that nobody has to think about."
CLEAN = "A site that builds on any machine, from a clean tree."


def change(**more: object) -> str:
    """An answer that asks for a change; a good one, unless `more` says otherwise."""
    said = {
        "path": ORG, "key": "goal", "find": GOAL, "replace": CLEAN,
        "rationale": "I keep committing what is ignored. A goal that says so would stop me.",
    }  # fmt: skip
    return json.dumps({**said, **more})


def skill(find: str, replace: str) -> str:
    """An answer that asks for a change of nova's skill file."""
    return change(path=SKILL, key=None, find=find, replace=replace)


@pytest.fixture
def remote(harbor: Harbor) -> Harbor:
    """A harbor whose nova reflects with a model."""
    harbor.edit_org("model: builtin/extractive", "model: openai/tiny")
    harbor.git("commit", "-qam", "a model")
    return harbor


def at(provider: Provider) -> dict[str, str]:
    """The environment in which a provider is reached."""
    return {"OPENAI_BASE_URL": provider.url + "/v1", "OPENAI_API_KEY": "sk-test-0123456789"}


def words(harbor: Harbor, *more: str) -> list[str]:
    """The command that proposes because of the fixture's claim."""
    return ["propose-improvement", "nova", "--memory-id", harbor.claim("nova", CLAIM)["id"], *more]


def rows(harbor: Harbor) -> list[dict[str, Any]]:
    """The rows of questions for a proposal."""
    return [row for row in harbor.rows("reflections", "nova") if row["asked"] == "proposal"]


def cards(harbor: Harbor) -> list[str]:
    return sorted(path.stem for path in (harbor.root / "Org/Backlog").glob("imp-*.md"))


def propose(harbor: Harbor, text: str, *more: str, code: int = 0, **environment: str) -> str:
    """Propose with a model that says this; what the command printed, or why it was refused."""
    with serving("given", text=text) as provider:
        reached = {**at(provider), **environment}
        told = harbor.run(*words(harbor, *more), code=code, **reached)
    return told.err if code else told.out


# ── a good answer ───────────────────────────────────────────────────────────────────────────────


def test_a_good_answer_becomes_a_card_that_git_can_apply(remote: Harbor) -> None:
    before = (remote.root / ORG).read_bytes()
    shown = propose(remote, change())
    (card,) = cards(remote)
    claim = remote.claim("nova", CLAIM)
    assert shown.startswith(f"Org/Backlog/{card}.md\n")
    assert f"-    goal: {GOAL}\n+    goal: {CLEAN}\n" in shown
    assert (claim["proposal"], claim["proposed_evidence"]) == (card, claim["evidence"])
    assert remote.subjects(1) == [f"proposal(nova): {card} from {claim['id']}"]
    (row,) = rows(remote)
    assert (row["result"], row["card"], row["claim_id"]) == ("applied", card, claim["id"])
    assert (row["calls"], row["trigger"], row["run"]) == (1, "command", claim["evidence"][-1])
    assert row["prompt_sha256"]
    assert remote.git("status", "--porcelain") == ""
    # Nothing but a person changes the file.
    assert (remote.root / ORG).read_bytes() == before
    remote.git("apply", f".agents/org/proposals/{card}.diff")
    assert (remote.root / ORG).read_bytes() == before.replace(GOAL.encode(), CLEAN.encode())
    base, path = remote.json("proposal", "show", card)["base"], f".agents/org/proposals/{card}.yaml"
    assert base == remote.git("rev-parse", "HEAD~1").strip()
    blob = remote.git("rev-parse", f"{base}:{ORG}").strip()
    assert f"base_blob: {blob}" in (remote.root / path).read_text().replace('"', "")


def test_the_model_sees_the_claim_its_runs_and_the_agents_own_files_only(remote: Harbor) -> None:
    with serving("given", text=change()) as provider:
        remote.run(*words(remote), code=0, **at(provider))
        (asked,) = provider.asked
    said = asked.body["messages"][0]["content"]
    claim = remote.claim("nova", CLAIM)
    assert claim["text"] in said
    assert all(run in said for run in claim["evidence"])
    assert GOAL in said
    assert SKILL in said
    assert "A review says what would make it good." not in said  # atlas's
    assert "permission_mode" not in said
    assert asked.body["response_format"]["json_schema"]["name"] == "change"


def test_a_skill_file_can_be_changed_as_well(remote: Harbor) -> None:
    text = skill("2. Run `make build`.", "2. Run `git status`, then `make build`.")
    assert "+2. Run `git status`, then `make build`.\n" in propose(remote, text)
    (card,) = cards(remote)
    assert remote.json("proposal", "show", card)["target"] == "own_skills"
    remote.git("apply", "--check", f".agents/org/proposals/{card}.diff")


def test_json_has_the_proposal_and_the_diff(remote: Harbor) -> None:
    made = json.loads(propose(remote, change(), "--json"))
    assert made["proposal"]["id"] == cards(remote)[0]
    assert made["card"] == f"Org/Backlog/{made['proposal']['id']}.md"
    assert made["diff"].startswith("diff --git a/.agents/org/org.yaml")
    assert made["reflection"]["card"] == made["proposal"]["id"]


def test_a_dry_run_shows_the_diff_and_writes_nothing(remote: Harbor) -> None:
    head = remote.git("rev-parse", "HEAD")
    shown = propose(remote, change(), "--dry-run")
    assert f"+    goal: {CLEAN}" in shown
    assert "would commit: proposal(nova): imp-" in shown
    assert (cards(remote), rows(remote)) == ([], [])
    assert remote.git("rev-parse", "HEAD") == head
    assert remote.git("status", "--porcelain") == ""
    assert json.loads((remote.root / ".git/orgvault/calls.json").read_text())["made"] == 1


def test_without_a_model_one_principle_states_the_claim(harbor: Harbor) -> None:
    text = harbor.claim("nova", CLAIM)["text"]
    shown = harbor.run(*words(harbor)).out
    assert f"+      - {text}" in shown or text in shown.replace("''", "'")
    assert rows(harbor)[0]["calls"] == 0


# ── answers that are refused ────────────────────────────────────────────────────────────────────

HOSTILE = {
    "another file": (change(path="AGENTS.md", key=None), "another file"),
    "out of the vault": (change(path="../../.ssh/config", key=None), "another file"),
    "another's skill": (change(path=".agents/skills/juno/digest.md", key=None), "another file"),
    "the compiled roster": (change(path=".agents/org/org-agents.json", key=None), "another file"),
    "a key that is no prose": (change(key="tools", find="Bash"), "only the prose"),
    "a permission by its text": (change(key=None, find="permission_mode: default"), "not occur"),
    "another agent's words": (change(find="Calm and fair."), "not occur"),
    "words that occur often": (change(find="a"), "more than once"),
    "nothing to find": (change(find=None), "there is a value already"),
    "nothing left": (change(replace=""), "left empty"),
    "no change": (change(replace=GOAL), "nothing would change"),
    "no reason": (change(rationale=" "), "no reason"),
    "an invisible mark": (change(replace="A site\u202e that builds."), "by the gate (words)"),
    "a rewrite": (skill("It names the page.", "x\n" * 60), "by the gate (size)"),
    "an embed": (skill("It names the page.", "![[Areas/Finance/2026 accounts]]"), "by the gate"),
    "the skill's permissions": (skill("allowed-tools: [Read, Bash]", "x"), "not occur"),
    "far too long": (change(replace="x" * 5_000), "too long"),
    "a secret": (change(replace="Use ghp_0123456789abcdefghijABCDEFGHIJ012345."), "a secret"),
    "not readable": ("I would rather not.", "cannot be read"),
    "nothing asked": (change(path=None, key=None), "sees no change"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_may_not_be_proposed_is_refused_with_its_reason(remote: Harbor, name: str) -> None:
    text, why = HOSTILE[name]
    before = remote.git("ls-files", "-s")
    told = propose(remote, text, code=3)
    assert why in told
    assert cards(remote) == []
    (row,) = rows(remote)
    assert row["result"] in {"refused", "unreadable", "applied"}
    assert (row["result"] == "applied") == (name == "nothing asked")
    assert why.partition(" (")[0] in row["reason"]
    assert (row["card"], row["calls"]) == (None, 1)
    kept = [line for line in remote.git("ls-files", "-s").splitlines() if "reflections" not in line]
    assert kept == [line for line in before.splitlines() if "reflections" not in line]
    assert "ghp_" not in remote.git("log", "-1", "-p")


def test_a_key_in_the_words_stays_words(remote: Harbor) -> None:
    propose(remote, change(replace="One.\n    tools: [All]\n    permission_mode: bypass"))
    (card,) = cards(remote)
    remote.git("apply", f".agents/org/proposals/{card}.diff")
    remote.run("compile")
    compiled = json.loads((remote.root / ".agents/org/org-agents.json").read_text("utf-8"))
    assert compiled["agents"]["nova"]["permission_mode"] == "default"
    assert "All" not in compiled["agents"]["nova"]["tools"]


# ── no answer ───────────────────────────────────────────────────────────────────────────────────


def test_a_provider_that_is_down_is_a_failure_in_the_log(remote: Harbor) -> None:
    with serving("500") as provider:
        told = remote.run(*words(remote), code=1, **at(provider))
    assert "openai/tiny did not answer" in told.err
    assert [(row["result"], row["calls"]) for row in rows(remote)] == [("failed", 1)]
    assert cards(remote) == []
    propose(remote, change())  # nothing keeps the next try from being made


def test_the_days_cap_is_the_reflections(remote: Harbor) -> None:
    with serving("given", text=change()) as provider:
        told = remote.run(*words(remote), code=3, ORG_REFLECT_MAX_PER_DAY="0", **at(provider))
        assert provider.asked == []
    assert "the day's model calls are used up" in told.err
    assert [(row["result"], row["calls"]) for row in rows(remote)] == [("skipped", 0)]


def test_a_lost_counter_counts_questions_for_a_proposal_too(remote: Harbor) -> None:
    propose(remote, change(path=None, key=None), code=3)
    (remote.root / ".git/orgvault/calls.json").unlink()
    assert "used up" in propose(remote, change(), code=3, ORG_REFLECT_MAX_PER_DAY="1")


@pytest.mark.parametrize("setting", ["off", "openai/tiny"])
def test_no_model_no_question(remote: Harbor, setting: str) -> None:
    remote.edit_org("model: openai/tiny", "model: cheap")
    told = remote.run(*words(remote), code=3, ORG_REFLECT_MODEL=setting)
    assert "the model is off" in told.err or "no model (OPENAI_API_KEY is not set)" in told.err
    assert rows(remote) == []


# ── who, and what ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "who", [{"ORGVAULT_AGENT": "nova"}, {"ORGVAULT_AGENT": "atlas"}, {"ORGVAULT_OPERATOR": "kim"}]
)
def test_only_the_owner_may(harbor: Harbor, who: dict[str, str]) -> None:
    claim_id = harbor.claim("nova", CLAIM)["id"]
    told = harbor.run("propose-improvement", "nova", "--memory-id", claim_id, code=4, **who)
    assert "the owner may" in told.err
    assert cards(harbor) == []


def test_a_claim_of_that_agent_by_the_beginning_of_its_id(harbor: Harbor) -> None:
    claim_id = harbor.claim("nova", CLAIM)["id"]
    assert "no claim" in harbor.run("propose-improvement", "nova", "--memory-id", "zz", code=1).err
    told = harbor.run("propose-improvement", "atlas", "--memory-id", claim_id, code=1)
    assert f"no claim `{claim_id}`" in told.err
    assert "no agent" in harbor.run("propose-improvement", "x", "--memory-id", "c", code=1).err
    harbor.run("propose-improvement", "nova", "--memory-id", claim_id[2:7])
    assert len(cards(harbor)) == 1


def test_a_lesson_and_a_target_that_is_off_are_not_eligible(harbor: Harbor) -> None:
    lesson = next(one for one in harbor.claims("nova") if one["kind"] == "lesson")
    told = harbor.run("propose-improvement", "nova", "--memory-id", lesson["id"], code=3)
    assert "only a friction or an anti-pattern" in told.err
    harbor.edit_org(r"self_improvement: \{targets: \[own_prompt, own_skills\]\}",
                    "self_improvement: {enabled: false}")  # fmt: skip
    assert "is disabled" in harbor.run(*words(harbor), code=3).err


def test_a_target_that_is_not_enabled_is_neither_shown_nor_changed(remote: Harbor) -> None:
    remote.edit_org(r"targets: \[own_prompt, own_skills\]\}", "targets: [own_skills]}")
    remote.git("commit", "-qam", "skills only")
    with serving("given", text=change()) as provider:
        told = remote.run(*words(remote), code=3, **at(provider))
        assert GOAL not in provider.asked[0].body["messages"][0]["content"]
    assert "another file" in told.err


# ── once more ───────────────────────────────────────────────────────────────────────────────────


def test_an_open_card_a_full_week_and_a_denial(remote: Harbor) -> None:
    propose(remote, change())
    assert "open card" in propose(remote, change(), code=3)
    (card,) = cards(remote)
    remote.run("proposal", "close", card, "I like it as it is")
    assert "no further run has shown it" in propose(remote, change(), code=3)
    fresh_evidence(remote)
    assert "in the last 7 days" in propose(remote, change(), code=3)
    remote.edit_org("max_proposals_per_week: 1", "max_proposals_per_week: 9")
    remote.git("commit", "-qam", "nine a week")
    assert "the same change was proposed before" in propose(remote, change(), code=3)
    propose(remote, change(replace="A site that builds."))
    assert len(cards(remote)) == 2


def test_a_note_that_is_deleted_is_a_no(harbor: Harbor) -> None:
    harbor.run(*words(harbor))
    (harbor.root / f"Org/Backlog/{cards(harbor)[0]}.md").unlink()
    assert "no further run has shown it" in harbor.run(*words(harbor), code=3).err


def fresh_evidence(harbor: Harbor) -> None:
    """One more run behind the claim, as a reflection would add it."""
    claim = harbor.claim("nova", CLAIM)
    path = harbor.root / f".agents/org/memory/nova/claims/{claim['id']}.yaml"
    text = path.read_text("utf-8")
    last = claim["evidence"][-1]
    head, _, tail = text.partition("evidence: [")
    text = f"{head}evidence: [{tail.replace(f'{last}]', f'{last}, run-9999]', 1)}"
    text = text.replace(
        f"times_seen: {claim['times_seen']}", f"times_seen: {claim['times_seen'] + 1}"
    )
    path.write_text(text, "utf-8")
    harbor.git("commit", "-qam", "one more run")
    assert harbor.claim("nova", CLAIM)["evidence"][-1] == "run-9999"


# ── meanwhile ───────────────────────────────────────────────────────────────────────────────────


def meanwhile(harbor: Harbor, text: str, act: Callable[[], object], code: int) -> str:
    """Propose, with something done while the model thinks; what was said."""
    command = words(harbor)
    with serving("thoughtful", text=text) as provider:

        def wait() -> None:
            while not provider.asked:
                threading.Event().wait(0.01)
            act()

        other = threading.Thread(target=wait)
        other.start()
        told = harbor.run(*command, code=code, **at(provider))
        other.join()
    return told.err if code else told.out


def test_the_claim_is_edited_meanwhile(remote: Harbor) -> None:
    claim = remote.claim("nova", CLAIM)
    path = remote.root / f".agents/org/memory/nova/claims/{claim['id']}.yaml"
    edited = path.read_text("utf-8").replace("I lose a turn", "I lose an hour")
    told = meanwhile(remote, change(), lambda: path.write_text(edited, "utf-8"), 3)
    assert "the claim changed while the model was asked" in told
    assert path.read_text("utf-8") == edited
    assert (cards(remote), rows(remote)[0]["result"]) == ([], "refused")


def test_org_yaml_is_being_edited_meanwhile(remote: Harbor) -> None:
    path = remote.root / ORG
    edited = path.read_text("utf-8").replace("Builds and repairs", "Builds")
    told = meanwhile(remote, change(), lambda: path.write_text(edited, "utf-8"), 3)
    assert "changes that are not committed" in told
    assert path.read_text("utf-8") == edited
    assert cards(remote) == []


def test_org_yaml_is_committed_meanwhile_and_the_diff_is_made_anew(remote: Harbor) -> None:
    path = remote.root / ORG
    edited = path.read_text("utf-8").replace("version: 1\n", "version: 1\n# mine\n# mine too\n", 1)

    def commit() -> None:
        path.write_text(edited, "utf-8")
        remote.git("commit", "-qm", "mine", "--", ORG)

    meanwhile(remote, change(), commit, 0)
    (card,) = cards(remote)
    remote.git("apply", "--check", f".agents/org/proposals/{card}.diff")
    assert (
        remote.json("proposal", "show", card)["base"] == remote.git("rev-parse", "HEAD~1").strip()
    )


def test_the_words_are_gone_meanwhile(remote: Harbor) -> None:
    path = remote.root / ORG
    edited = path.read_text("utf-8").replace(GOAL, "Something else.")

    def commit() -> None:
        path.write_text(edited, "utf-8")
        remote.git("commit", "-qm", "mine", "--", ORG)

    assert "does not occur" in meanwhile(remote, change(), commit, 3)
    assert cards(remote) == []
