"""`init`, `compile`, `check`, `status`, and what holds for every command."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orgvault.cli.bug import write_down
from orgvault.cli.main import cli
from tests.harbor import BUILD, LINKS, REPOSITORY, Harbor, make_harbor

KEPANO = REPOSITORY.parent / "shared" / "vaults" / "kepano"


def contents(root: Path) -> dict[str, bytes]:
    """Every file outside `.git` and `.agents`, byte for byte."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.relative_to(root).parts[0] not in {".git", ".agents"}
    }


# ── init ────────────────────────────────────────────────────────────────────────────────────────


def test_init_makes_a_vault_of_a_plain_folder(tmp_path: Path) -> None:
    (tmp_path / "Note.md").write_text("mine", "utf-8")
    home = Harbor(tmp_path)
    made = home.json("init", "--agent", "nova")
    assert made["repository_made"] is True
    assert sorted(made["written"]) == [
        ".agents/org/.gitattributes",
        ".agents/org/.gitignore",
        ".agents/org/org-agents.json",
        ".agents/org/org.schema.json",
        ".agents/org/org.yaml",
        ".agents/org/prompts/system.md",
    ]
    assert home.git("status", "--porcelain") == "?? Note.md\n"
    assert home.subjects() == ["org(vault): init"]
    home.run("compile", "--check")
    home.run("check")
    home.finish("nova", "run-1", "--transcript", BUILD)
    assert len(home.claims("nova")) == 1


def test_init_writes_only_what_is_missing(harbor: Harbor) -> None:
    before = {p: p.read_bytes() for p in harbor.root.rglob("*") if p.is_file()}
    head = harbor.git("rev-parse", "HEAD")
    again = harbor.json("init")
    assert again["written"] == []
    assert harbor.git("rev-parse", "HEAD") == head
    (harbor.root / ".agents/org/.gitignore").unlink()
    assert harbor.json("init")["written"] == [".agents/org/.gitignore"]
    ours = {p: c for p, c in before.items() if ".git" not in p.relative_to(harbor.root).parts}
    assert {p: p.read_bytes() for p in ours} == ours


def test_git_17_init_refuses_where_git_would_never_see_it(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text(".agents/\n", "utf-8")
    told = Harbor(tmp_path).run("init", code=1)
    assert ".gitignore:1:.agents/" in told.err
    assert not (tmp_path / ".agents").exists()


def test_init_dry_run_writes_nothing(tmp_path: Path) -> None:
    home = Harbor(tmp_path)
    assert "without --dry-run" in home.run("init", "--dry-run", code=1).err
    assert list(tmp_path.iterdir()) == []
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert "would commit: org(vault): init" in home.run("init", "--dry-run").out
    assert [path.name for path in tmp_path.iterdir()] == [".git"]


@pytest.mark.parametrize("agent", ["Nova", "aux", "stats", "--x", "a" * 33, "é"])
def test_init_refuses_an_agent_that_cannot_be_one(tmp_path: Path, agent: str) -> None:
    told = Harbor(tmp_path).run("init", f"--agent={agent}", code=2)
    assert "--agent" in told.err


@pytest.mark.skipif(not KEPANO.is_dir(), reason="the shared vaults are not beside the repository")
def test_a_real_vault_stays_byte_for_byte(tmp_path: Path) -> None:
    root = tmp_path / "kepano"
    shutil.copytree(KEPANO, root)
    root.chmod(0o755)
    subprocess.run(["chmod", "-R", "u+w", root], check=True)
    home = Harbor(root)
    home.git("init", "-q")
    home.git("add", "-A")
    home.git("commit", "-q", "-m", "Mine")
    before = contents(root)
    home.run("init", "--agent", "nova")
    recordings = REPOSITORY.parent / "shared" / "transcripts"
    for number, path in enumerate(sorted(recordings.rglob("*.jsonl"))):
        home.finish("nova", f"run-{number}", "--transcript", str(path))
    assert contents(root) == before
    assert home.git("status", "--porcelain") == ""
    home.git("fsck", "--strict")
    home.run("check")


# ── compile and check ───────────────────────────────────────────────────────────────────────────


def test_compile_shows_every_problem_and_writes_nothing(harbor: Harbor) -> None:
    path = harbor.root / ".agents/org/org.yaml"
    text = path.read_text("utf-8").replace("timezone: ", "timezon: ", 1)
    path.write_text(text + "\nextra: 1\n", "utf-8")
    before = (harbor.root / ".agents/org/org-agents.json").read_bytes()
    told = harbor.run("compile", code=1)
    assert "did you mean `timezone`?" in told.err
    assert f"org.yaml:{len(text.splitlines()) + 2}: " in told.err
    assert (harbor.root / ".agents/org/org-agents.json").read_bytes() == before


def test_git_11_markers_in_org_yaml_stop_compile_and_nothing_else(harbor: Harbor) -> None:
    path = harbor.root / ".agents/org/org.yaml"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines[:3], "<<<<<<< HEAD", *lines[3:]]) + "\n", "utf-8")
    told = harbor.run("compile", code=1)
    assert "org.yaml:4: " in told.err
    assert "run `orgvault compile`" in harbor.run("memory", "nova").err
    harbor.finish("nova", "run-1", "--turns", "1")


def test_jsonl_05_a_ruined_compiled_file_is_read_from_head(harbor: Harbor) -> None:
    path = harbor.root / ".agents/org/org-agents.json"
    path.write_bytes(b"\0" * 1900)
    told = harbor.run("memory", "nova")
    assert "the one in HEAD is used" in told.err
    harbor.run("compile")
    assert harbor.git("status", "--porcelain") == ""


def test_compile_check_fails_when_stale(harbor: Harbor) -> None:
    path = harbor.root / ".agents/org/org.yaml"
    path.write_text(path.read_text("utf-8") + "# a remark\n", "utf-8")
    assert "orgvault compile" in harbor.run("compile", "--check", code=1).err
    assert "has changed since it was compiled" in harbor.run("status").err
    harbor.run("compile")
    harbor.run("compile", "--check")


def test_check_names_every_file_that_is_wrong(harbor: Harbor) -> None:
    org = harbor.root / ".agents/org"
    (log,) = (org / "episodes/atlas").glob("2026-11*.jsonl")
    with log.open("ab") as file:
        file.write(b"not a row\n" + b'{"v":1,"id":"e-x","agent":"atlas"}\n')
    (claim, *_) = sorted((org / "memory/juno/claims").glob("*.yaml"))
    claim.write_text(claim.read_text("utf-8").replace("kind: ", "kind: un"), "utf-8")
    core = org / "memory/atlas/core.md"
    core.write_text(core.read_text("utf-8") + "more\n", "utf-8")
    (harbor.root / "Org/Backlog/t-8h3w6r1d.md").write_text("no frontmatter\n", "utf-8")
    told = harbor.run("check", code=1)
    lines = len(log.read_text("utf-8").splitlines())
    assert f"{log.name}:{lines - 1}: this line is not a row of JSON" in told.out
    assert f"{log.name}:{lines}: " in told.out
    assert f"{claim.name}:" in told.out
    assert "memory/atlas/core.md: not what the claims render to" in told.out
    assert "Org/Backlog/t-8h3w6r1d.md:1: " in told.out


# ── every command ───────────────────────────────────────────────────────────────────────────────


def test_every_command_has_a_help_with_an_example() -> None:
    import click

    def walk(group: click.Group, words: list[str]) -> list[tuple[list[str], click.Command]]:
        found = []
        with click.Context(group) as context:
            for name in group.list_commands(context):
                command = group.get_command(context, name)
                if isinstance(command, click.Group):
                    found += walk(command, [*words, name])
                elif command is not None:
                    found.append(([*words, name], command))
        return found

    commands = walk(cli, [])
    assert len(commands) > 20
    for words, command in commands:
        assert command.help, words
        assert "Example:" in (command.epilog or ""), words


@pytest.mark.parametrize(
    "words",
    [
        ("status",),
        ("check",),
        ("compile",),
        ("wake", "list", "--all"),
        ("task", "list", "--all"),
        ("memory", "nova", "--all"),
        ("memory", "episodes", "nova"),
        ("memory", "stats", "nova"),
    ],
    ids=" ".join,
)
def test_json_is_one_object_and_nothing_else(harbor: Harbor, words: tuple[str, ...]) -> None:
    assert isinstance(json.loads(harbor.run(*words, "--json").out), dict)
    assert isinstance(json.loads(harbor.run("--json", *words).out), dict)


def test_no_vault_is_said(tmp_path: Path) -> None:
    told = Harbor(tmp_path).run("status", code=1)
    assert "no vault at" in told.err
    assert "orgvault init" in told.err


def test_the_vault_is_found_from_below_by_option_and_by_environment(harbor: Harbor) -> None:
    below = Harbor(harbor.root / "Projects" / "Site")
    assert below.json("status")["actor"] == "sam"
    outside = Harbor(harbor.root.parent)
    assert outside.json("-C", str(harbor.root), "status")["actor"] == "sam"
    assert outside.json("status", ORGVAULT_VAULT=str(harbor.root))["actor"] == "sam"


def test_git_13_on_a_detached_head_reads_work_and_writes_answer_75(harbor: Harbor) -> None:
    wake = harbor.wake("nova")
    harbor.git("checkout", "-q", "--detach")
    assert [w["id"] for w in harbor.json("wake", "list")["wakes"]] == [wake]
    for words in (["wake-done", wake, "--run", "r"], ["wake", "add", "nova", "--reason", "task"]):
        told = harbor.run(*words, code=75)
        assert "check out a branch" in told.err
    assert harbor.git("status", "--porcelain") == ""


def test_git_14_an_unborn_branch_lists_nothing_and_gets_its_root_commit(tmp_path: Path) -> None:
    home = make_harbor(tmp_path)
    shutil.rmtree(home.root / ".git")
    home.git("init", "-q")
    assert home.json("wake", "list")["wakes"] == []
    home.finish("nova", "run-1", "--turns", "1")
    assert home.git("rev-list", "--count", "HEAD").strip() == "2"


def test_git_10_during_a_merge_runs_wait_and_texts_answer_75(harbor: Harbor) -> None:
    note = harbor.root / "Projects/Site/merge.md"
    for branch, text in (("theirs", "a"), ("main", "b")):
        if branch == "theirs":
            harbor.git("checkout", "-q", "-b", branch)
        else:
            harbor.git("checkout", "-q", branch)
        note.write_text(text, "utf-8")
        harbor.git("add", "-A")
        harbor.git("commit", "-q", "-m", text)
    wake = harbor.wake("nova")
    subprocess.run(["git", "merge", "-q", "theirs"], cwd=harbor.root, check=False)
    head = harbor.git("rev-parse", "HEAD")
    told = harbor.run("wake-done", wake, "--run", "run-1", "--transcript", BUILD)
    assert "a merge is in progress" in told.err
    assert harbor.git("rev-parse", "HEAD") == head
    seen = harbor.json("memory", "episodes", "nova")["episodes"]
    assert [one["episode"]["run"] for one in seen][-1] == "run-1"
    assert harbor.json("wake", "list")["wakes"] == []
    claim = harbor.claims("nova")[0]["id"]
    assert "a merge is in progress" in harbor.run("memory", "retire", claim, "x", code=75).err
    assert harbor.json("status")["operation"] == "a merge"
    harbor.git("merge", "--abort")
    # The stored answer is applied by the agent's next run.
    harbor.finish("nova", "run-2", "--transcript", LINKS)
    evidence = [c["evidence"] for c in harbor.claims("nova") if "make build" in c["text"]]
    assert evidence == [["run-1", "run-2"]]
    assert harbor.json("status")["waiting"] == 0
    harbor.run("check")


def test_what_the_system_refuses_is_one_sentence(harbor: Harbor) -> None:
    path = harbor.root / ".agents/org/org-agents.json"
    path.unlink()
    path.mkdir()
    told = harbor.run("status", code=1)
    assert told.err == f"orgvault: {path}: Is a directory\n"


def test_a_bug_is_one_sentence_and_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)  # it is chosen once in a process
    assert write_down(ZeroDivisionError("x"), debug=False) == 70
    said = capsys.readouterr().err
    (log,) = tmp_path.iterdir()
    assert str(log) in said
    assert "Traceback" not in said
    assert "ZeroDivisionError: x" in log.read_text("utf-8")


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full", "| true"])
def test_a_stdout_that_takes_nothing_is_no_bug(harbor: Harbor, redirection: str) -> None:
    words = f"{sys.executable} -m orgvault status {redirection}"
    done = subprocess.run(
        ["bash", "-c", words], cwd=harbor.root, capture_output=True, text=True, check=False
    )
    assert "bug" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["statu"], "orgvault status"),
        (["wake_done"], "orgvault wake-done"),
        (["memory", "epsiodes", "nova"], "orgvault memory episodes"),
        (["wake", "ad", "nova"], "orgvault wake add"),
    ],
)
def test_a_mistyped_command_is_answered_with_what_is_near(
    harbor: Harbor, words: list[str], near: str
) -> None:
    assert f"did you mean `{near}`?" in harbor.run(*words, code=2).err


def test_init_inside_a_vault_is_refused_unless_its_folder_is_named(harbor: Harbor) -> None:
    inside = Harbor(harbor.root / "Projects")
    assert "is inside the vault" in inside.run("init", code=1).err
    assert not (inside.root / ".agents").exists()
    inside.run("init", str(inside.root), "--agent", "pia")
    assert inside.json("status")["agents"][0]["agent"] == "pia"


def test_compile_says_that_its_source_is_the_owners_to_commit(harbor: Harbor) -> None:
    path = harbor.root / ".agents/org/org.yaml"
    path.write_text(path.read_text("utf-8") + "# a remark\n", "utf-8")
    assert "git commit .agents/org/org.yaml" in harbor.run("compile").err
    harbor.git("commit", "-q", "-am", "org")
    assert harbor.run("compile").err == ""


def test_git_12_during_a_rebase_the_branchs_own_wakes_and_runs_are_known(harbor: Harbor) -> None:
    note = harbor.root / "Daily" / "both.md"
    harbor.git("checkout", "-q", "-b", "theirs")
    note.write_text("theirs\n", "utf-8")
    harbor.git("add", "-A")
    harbor.git("commit", "-q", "-m", "theirs")
    harbor.git("checkout", "-q", "main")
    note.write_text("mine\n", "utf-8")
    harbor.git("add", "-A")
    harbor.git("commit", "-q", "-m", "mine")
    harbor.finish("nova", "old", "--turns", "1")
    wake = harbor.wake("nova")
    subprocess.run(["git", "rebase", "-q", "theirs"], cwd=harbor.root, check=False)
    told = harbor.run("wake-done", wake, "--run", "run-1", "--turns", "1")
    assert "a rebase is in progress" in told.err
    assert harbor.json("wake", "list")["wakes"] == []
    again = harbor.json("wake-done", wake, "--run", "old", "--turns", "1")
    assert again["new"] is False
    harbor.git("rebase", "--abort")
    harbor.wake("juno")  # whoever writes next commits what waited
    assert harbor.json("wake", "list", "--agent", "nova")["wakes"] == []
    assert len([r for r in harbor.rows("episodes", "nova") if r["run"] == "run-1"]) == 1
    assert len([r for r in harbor.rows("episodes", "nova") if r["run"] == "old"]) == 1
    harbor.run("check")


def test_without_the_core_tier_there_is_no_core(harbor: Harbor) -> None:
    harbor.edit_org(r"tiers: \[core, ", "tiers: [")
    assert "the core tier is off" in harbor.run("check", code=1).out
    harbor.run("memory", "render", "nova")
    assert not (harbor.root / ".agents/org/memory/nova/core.md").exists()


def test_a_segment_that_cannot_be_read_hides_no_other_problem(harbor: Harbor) -> None:
    org = harbor.root / ".agents/org"
    wakes, status = max((org / "wakes").glob("*.nova.*")), org / "status"
    wakes.unlink()
    wakes.mkdir()
    (one, *_, other) = sorted(status.glob("*.nova.*"))
    other.unlink()
    other.symlink_to(other.name)
    one.write_bytes(b"\0" * 64)
    said = harbor.run("check", code=1).out
    for path, what in (
        (wakes, "cannot be read (is a directory)"),
        (other, "cannot be read (too many levels of symbolic links)"),
        (one, "64 NUL bytes"),
    ):
        assert any(path.name in line and what in line for line in said.splitlines()), said
    assert "wakes" in harbor.run("wake", "list", code=None).err  # who relies on it fails


def test_reflecting_where_nothing_can_be_written_is_refused(harbor: Harbor) -> None:
    harbor.finish("nova", "run-told", "--result", "It is built.", ORG_REFLECT_MODEL="off")
    harbor.git("switch", "-q", "--detach")
    words = ("reflect", "nova", "--run", "run-told", "--transcript", BUILD)
    assert "HEAD is detached" in harbor.run(*words, code=75).err
    harbor.git("switch", "-q", "-")
    assert harbor.json(*words)["reflection"]["result"] == "applied"


@pytest.mark.parametrize("inside", [".git", ".git/refs", ".agents/org", ".agents/org/memory"])
def test_no_vault_is_made_among_the_files_of_git_or_of_a_vault(harbor: Harbor, inside: str) -> None:
    head = harbor.git("rev-parse", "HEAD")
    told = harbor.run("init", str(harbor.root / inside), code=1)
    assert "name the folder of your notes" in told.err
    assert harbor.git("rev-parse", "HEAD") == head
    assert harbor.git("status", "--porcelain") == ""


def test_no_vault_is_made_in_a_bare_repository(harbor: Harbor, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare")], check=True)
    assert "git's own folder" in harbor.run("init", str(tmp_path / "bare"), code=1).err


def test_an_audit_of_one_commit_after_another_takes_none_for_lost(harbor: Harbor) -> None:
    harbor.git("branch", "one")
    harbor.run("wake", "add", "nova", "--reason", "task")
    harbor.git("switch", "-q", "--detach", "main")
    harbor.run("audit")
    harbor.git("switch", "-q", "--detach", "one")
    harbor.run("audit")
