"""Rule 3: only the agent's own block and its own skill files, whatever the configuration says."""

import pytest

from orgvault.domain.gate import judge
from orgvault.domain.gate.places import check_path
from orgvault.domain.gate.refused import Refused
from orgvault.domain.proposal import Accepted, Refusal, Rule, Target
from tests.domain.gate.conftest import BUILD, ORG, SKILL, Gate
from tests.domain.gate_tree import ORG_PATH, MemoryTree, make_diff, make_roster

OLD, NEW = "# Note\n\nOne line.\n", "# Note\n\nAnother line.\n"


def target(
    gate: Gate, path: str, knowledge: object = ("**",), **roster: object
) -> Refusal | Target:
    """The answer for an honest change of a file at a path, or its target."""
    gate.files[path] = OLD.encode()
    known = {"nova": list(knowledge) if isinstance(knowledge, tuple) else knowledge}
    gate.roster = make_roster(known, **roster)  # type: ignore[arg-type]
    answer = gate.judge(make_diff(path, OLD, NEW))
    return answer.target if isinstance(answer, Accepted) else answer


def test_the_two_targets(gate: Gate) -> None:
    answer = gate.accepted(SKILL, BUILD.replace("fresh", "new"))
    assert answer.target is Target.OWN_SKILLS
    answer = gate.accepted(ORG_PATH, ORG.replace("site that", "site which"))
    assert answer.target is Target.OWN_PROMPT


def test_diff_07_paths_that_lead_out_are_refused_before_any_join(gate: Gate) -> None:
    inside = "its path must lead into the vault, without `.`, `..` or `//`"
    odd = "its path must be relative, with `/`, without odd characters"
    for path, why in (
        ("a/../../tmp/x", inside),
        ("/etc/hosts", inside),
        ("skills/../AGENTS.md", inside),
        ("./AGENTS.md", inside),
        (".agents//skills/nova/x.md", inside),
        (".agents/skills/nova/", inside),
        ("..", inside),
        ("", inside),
        ("~/x.md", odd),
        ("C:/x.md", odd),
        (".agents\\skills\\x.md", odd),
        ("x" * 1001, odd),
        ("a\x07b.md", odd),
        ("a\u2028b.md", odd),
        ("a\u2029b.md", odd),
        ("c:/x.md", odd),
    ):
        assert gate.judge(make_diff(path, OLD, NEW)) == Refusal(Rule.SHAPE, why), path
    at_most = "a/" * 400 + "x" * 200
    found = gate.judge(make_diff(at_most, OLD, NEW))
    assert found == Refusal(Rule.SHAPE, f"{at_most}: there is no such file")


def test_half_a_character_is_no_part_of_a_path() -> None:
    with pytest.raises(Refused):
        check_path("a\ud800b.md")
    check_path("ab:c/~d \ufffd.md")


@pytest.mark.parametrize(
    "path",
    [
        "AGENTS.md", "agents.MD", "Projects/AGENTS.md", "CLAUDE.md", "claude.MD", "a/b/Claude.md",
        "org-agents.json", ".claude/x.md", ".CLAUDE/x.md", "Projects/.claude/x.md", ".git/x.md",
        ".git/hooks/x.md", ".Git/x.md", "sub/.git/x.md", ".obsidian/x.md", ".github/x.md",
        ".githooks/x.md", ".husky/x.md", ".env", ".env.md", ".envrc.md", "a/.ENV.local.md",
        "CURRENT/x.md", "Projects/current/x.md", "Areas/Finance/x.md", "areas/finance/x.md",
        "Old/Areas/FINANCE/x.md", ".agents/guard.md", ".agents/guard-rules/x.md",
        ".agents/hooks/x.md", ".agents/org/prompts/system.md", ".agents/Org/x.md",
        ".agents/org/ORG.yaml", ".agents/org/memory/nova.md", "x/.agents/org/org.yaml",
        ".agents /org/x.md", "AGENTS.md.", "CLA\u200dUDE.md", "\ufeffAGENTS.md",
    ],
)  # fmt: skip
def test_smug_08_what_is_protected_stays_so_whatever_knowledge_says(gate: Gate, path: str) -> None:
    for knowledge in (("AGENTS.md", ".claude/**", ORG_PATH), ("**",), (path,)):
        found = target(gate, path, knowledge)
        assert isinstance(found, Refusal)
        assert found.rule is Rule.TARGET
        assert found.why.startswith(f"{path}: no agent may write ")


@pytest.mark.parametrize(
    "path",
    [
        ".agents/skills/.hidden/x.md",
        ".skills/x.md",
        "Projects/.x.md",
        ".agents/skills/.x.md",
        ".agents/.hidden/x.md",
    ],
)
def test_dot_folders_beside_the_agents_one_are_closed(gate: Gate, path: str) -> None:
    assert target(gate, path) == Refusal(Rule.TARGET, f"{path}: no agent may write in a dot-folder")


def test_a_refusal_names_the_place(gate: Gate) -> None:
    for place in (".claude/", ".obsidian/", ".github/", ".githooks/", ".husky/", ".git/", ".env*"):
        path = f"Projects/{place.rstrip('/*')}/x.md"
        why = f"{path}: no agent may write there ({place})"
        assert target(gate, path) == Refusal(Rule.TARGET, why)


@pytest.mark.parametrize(
    "path",
    [
        "AGENTS.md/x.md.md"[10:], "Projects/AGENTS rules.md", "Projects/my.env.md",
        "Projects/CURRENTLY/x.md", "Areas/Finances/x.md", "Finance/x.md", "Areas/x.md",
        ".agents/skills/nova/x.MD", ".agents/guides/x.md", "git/x.md", "claude/x.md",
    ],
)  # fmt: skip
def test_neighbours_of_what_is_protected_are_open(gate: Gate, path: str) -> None:
    assert target(gate, path) is Target.OWN_SKILLS


def test_the_owners_protected_places_add_and_never_remove(gate: Gate) -> None:
    places = ("Areas/Health/", "**/Private/**", "Secret*", "", "Deep/*/Inner")
    for path in (
        "Areas/Health/x.md", "areas/health/x.md", "a/Private/x.md", "SecretPlans/x.md",
        "x/Areas/Health/y/z.md", "Deep/one/Inner/x.md", "Areas/Health",
    ):  # fmt: skip
        found = target(gate, path, protected=places)
        assert isinstance(found, Refusal), path
        assert found.rule is Rule.TARGET
    for path in ("Areas/Healthy/x.md", "Deep/Inner/x.md", "My Secret/x.md"):
        assert target(gate, path, protected=places) is Target.OWN_SKILLS
    gate.files[ORG_PATH] = ORG.encode()
    gate.roster = make_roster(protected=(".agents/",))
    found = gate.refused(ORG_PATH, ORG.replace("site that", "site which"))
    assert found == Refusal(Rule.TARGET, f"{ORG_PATH}: no agent may write there (.agents/)")


def test_a_protected_place_is_read_as_leniently_as_people_write(gate: Gate) -> None:
    for place, path in (
        ("Deep\\Down", "Deep/Down/x.md"),
        ("./Deep/./Down/", "Deep/Down/x.md"),
        ("/Deep//Down", "a/deep/DOWN/x.md"),
        ("X", "X/x.md"),
        ("**/Deep/**", "Deep/x.md"),
        ("Deep.md/**/**", "Deep.md"),
        ("D??p/[a-d]own", "Deep/Down/x.md"),
    ):
        why = f"{path}: no agent may write there ({place})"
        assert target(gate, path, protected=(place,)) == Refusal(Rule.TARGET, why)
    for place, path in (("**", "Deep/x.md"), ("..", "Deep/x.md"), ("Deep/**/Down", "Deep/x.md")):
        assert target(gate, path, protected=(place,)) is Target.OWN_SKILLS


@pytest.mark.parametrize(
    ("hooks", "closed"),
    [
        ("Tools/Hooks", True), ("tools/hooks/", True), ("./Tools/Hooks", True), ("Tools", True),
        (".", True), ("", False), ("Tools/Hook", False), ("Hooks", False),
        ("Tools/Hooks/sub", False),
    ],
)  # fmt: skip
def test_the_folder_of_git_hooks_is_closed(gate: Gate, hooks: str, closed: bool) -> None:  # noqa: FBT001
    gate.hooks = hooks
    found = target(gate, path := "Tools/Hooks/x.md")
    why = f"{path}: git runs programs from there (core.hooksPath)"
    assert found == (Refusal(Rule.TARGET, why) if closed else Target.OWN_SKILLS)


def test_of_the_pages_only_the_own_home_and_the_guilds(gate: Gate) -> None:
    why = "these pages are the engine's and the owner's"
    for path in (
        "Org/Agents/nova.md",
        "Org/Home/atlas/x.md",
        "org/Tasks/nova.md",
        "Org/Backlog/t.md",
    ):
        assert target(gate, path) == Refusal(Rule.TARGET, f"{path}: {why}")
    for path in ("Org/Home/nova/x.md", "Org/Guild/x.md", "Organs/x.md"):
        assert target(gate, path) is Target.OWN_SKILLS
    moved = {"pages_folder": "Team/Pages", "homes": {"nova": "Team/Pages/Rooms/n/"}}
    for path in ("Team/Pages/x.md", "Team/Pages/Home/nova/x.md"):
        assert target(gate, path, **moved) == Refusal(Rule.TARGET, f"{path}: {why}")
    for path in ("Team/x.md", "Team/Pages/Rooms/n/x.md", "Team/Pages/Guild/x.md"):
        assert target(gate, path, **moved) is Target.OWN_SKILLS
    assert target(gate, "Org/Home/nova/x.md", homes={"nova": ""}) is Target.OWN_SKILLS
    for pages in ("Team/Pages/", "/Team/Pages", "Xanadu"):
        path = f"{pages.strip('/')}/Tasks/x.md"
        assert target(gate, path, pages_folder=pages) == Refusal(Rule.TARGET, f"{path}: {why}")
    assert target(gate, "Org/Home/nova/x.md", homes={"nova": "/"}) is Target.OWN_SKILLS
    for home, path in (("X", "Org/Home/nova/x.md"), ("/Org/Rooms/X/", "Org/Rooms/Y/x.md")):
        found = target(gate, path, homes={"nova": home})
        assert found == Refusal(Rule.TARGET, f"{path}: {why}")
    odd = {"nova": 1}
    assert target(gate, "Org/Home/nova/x.md", homes=odd) is Target.OWN_SKILLS


@pytest.mark.parametrize(
    ("entry", "path", "known"),
    [
        (".agents/skills/nova/", ".agents/skills/nova/x.md", True),
        (".agents/skills/nova", ".agents/skills/nova/a/x.md", True),
        ("./.agents/skills/nova//", ".agents/skills/nova/x.md", True),
        (".agents/skills/nov", ".agents/skills/nova/x.md", False),
        (".agents/skills/nova/x.md", ".agents/skills/nova/x.md", True),
        (".agents/skills/nova/y.md", ".agents/skills/nova/x.md", False),
        (".agents/skills/Nova", ".agents/skills/nova/x.md", False),
        (".agents/skills/*.md", ".agents/skills/x.md", True),
        (".agents/skills/*.md", ".agents/skills/nova/x.md", False),
        (".agents/skills/*", ".agents/skills/nova/x.md", False),
        (".agents/skills/*/", ".agents/skills/nova/x.md", True),
        (".agents/skills/**", ".agents/skills/nova/x.md", True),
        (".agents/skills/**/x.md", ".agents/skills/x.md", True),
        (".agents/skills/**/x.md", ".agents/skills/a/b/x.md", True),
        (".agents/skills/**/x.md", ".agents/skills/a/b/y.md", False),
        (".agents/**/nova/**/x.md", ".agents/a/nova/x.md", True),
        (".agents/skills/**", "Projects/x.md", False),
        ("*.md/**", "Projects/x.md", False),
        ("Notes/?.md", "Notes/x.md", True),
        ("Notes/[xy].md", "Notes/x.md", True),
        ("Notes/*", "Notes/x.md", True),
        ("Note?", "Notes/x.md", False),
        ("Note?/", "Notes/x.md", True),
        ("Note[s]/", "Notes/x.md", True),
        ("*/*/x.md", "a/x.md", False),
        ("*/*/x.md", "a/b/x.md", True),
        ("**/[nm]ova/?.md", "s/nova/x.md", True),
        ("**/[nm]ova/?.md", "s/nova/xy.md", False),
        ("skills/../.agents/skills", ".agents/skills/x.md", False),
        ("", ".agents/skills/x.md", False),
        ("/", ".agents/skills/x.md", False),
        (".agents/skills/", ".agents/skills/x.txt", False),
        (".agents/skills/", ".agents/skills/x.md.txt", False),
        ("Pru\u0308f/", "Pr\u00fcf/x.md", True),
    ],
)
def test_what_an_entry_of_knowledge_covers(gate: Gate, entry: str, path: str, known: bool) -> None:  # noqa: FBT001
    found = target(gate, path, ("Elsewhere/", entry))
    why = f"{path}: it is not in the knowledge of nova"
    assert found == (Target.OWN_SKILLS if known else Refusal(Rule.TARGET, why))


@pytest.mark.parametrize("knowledge", [None, ".agents/skills/", {"a": 1}, [1, None], []])
def test_knowledge_that_is_no_list_of_texts_covers_nothing(gate: Gate, knowledge: object) -> None:
    found = target(gate, SKILL, knowledge)
    assert found == Refusal(Rule.TARGET, f"{SKILL}: it is not in the knowledge of nova")


def test_links_are_followed_in_knowledge_and_refused_in_paths(gate: Gate) -> None:
    gate.links = {"Skills": ".agents/skills", "out": None, "Notes": "Org"}
    path = ".agents/skills/nova/x.md"
    assert target(gate, path, ("Skills/nova",)) is Target.OWN_SKILLS
    assert target(gate, path, ("Skills/*/",)) is Target.OWN_SKILLS
    assert isinstance(target(gate, path, ("out", "out/**")), Refusal)
    for link in ("Skills/nova/x.md", "Notes/x.md"):
        gate.files[link] = OLD.encode()
        why = f"{link}: a link stands on the way to it"
        assert gate.judge(make_diff(link, OLD, NEW)) == Refusal(Rule.SHAPE, why)
    gate.links = {path: "AGENTS.md"}
    why = f"{path}: a link stands on the way to it"
    assert target(gate, path) == Refusal(Rule.SHAPE, why)


def test_an_entry_of_knowledge_does_not_climb(gate: Gate) -> None:
    gate.links = {"Notes/..": "Vault"}
    why = "Vault/x.md: it is not in the knowledge of nova"
    for entry in ("Notes/..", "Notes/../**"):
        assert target(gate, "Vault/x.md", (entry,)) == Refusal(Rule.TARGET, why)


class Elsewhere(MemoryTree):
    """A vault in which no path leads to where it says."""

    def __init__(self, leads_to: str | None) -> None:
        super().__init__({ORG_PATH: ORG.encode()})
        self.leads_to = leads_to

    def real(self, path: str, /) -> str | None:
        del path
        return self.leads_to


@pytest.mark.parametrize("leads_to", [None, "AGENTS.md", ".agents/org/org.yml"])
def test_a_path_that_leads_elsewhere(leads_to: str | None) -> None:
    given = make_diff(ORG_PATH, ORG, ORG.replace("A site", "The site"))
    found = judge(given, agent="nova", roster=make_roster(), tree=Elsewhere(leads_to))
    assert found == Refusal(Rule.SHAPE, f"{ORG_PATH}: it leads to another place")


def test_a_file_that_is_not_there_or_no_file(gate: Gate) -> None:
    for path in ("Projects/x.md", ".agents/skills", ".agents/skills/nova/build-site.md/x.md"):
        found = gate.judge(make_diff(path, OLD, NEW))
        assert found == Refusal(Rule.SHAPE, f"{path}: there is no such file")


def test_an_agent_that_is_nobody(gate: Gate) -> None:
    gate.agent = "zoe"
    found = gate.refused(SKILL, BUILD.replace("fresh", "new"))
    assert found == Refusal(Rule.TARGET, "zoe is not on the roster")
    gate.agent = "atlas"
    assert gate.refused(SKILL, BUILD.replace("fresh", "new")).rule is Rule.TARGET
