"""`audit` finds nothing in what honest people, their tools and git itself make of a vault."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.audit.past import NOVA, ORG, audit, claim_file, commit, finish, segment, swap
from tests.audit.tamperings import OLD, a_claim_by_hand, a_text_removed
from tests.harbor import BUILD, LINKS, SESSIONS, Harbor

MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


def clean(vault: Harbor, *words: str) -> list[str]:
    """Audit a vault in which nothing may be found; the notes."""
    done = audit(vault, *words)
    assert done["findings"] == []
    return [one["what"] for one in done["notes"]]


def pull(vault: Harbor, other: Harbor, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Bring in what another clone has."""
    how = words or ("--no-rebase", "--no-edit")
    command = ["git", "pull", "-q", *how, str(other.root), "HEAD"]
    return subprocess.run(command, cwd=vault.root, capture_output=True, check=False)


def resolve(vault: Harbor) -> None:
    """Resolve a merge as a person does: both sides' lines, then core.md rendered again."""
    for name in vault.git("diff", "--name-only", "--diff-filter=U").split("\n"):
        if name:
            path = vault.root / name
            lines = path.read_text("utf-8").splitlines(keepends=True)
            path.write_text("".join(one for one in lines if not one.startswith(MARKERS)))
    commit(vault, "merge")
    for agent in ("atlas", "nova", "juno"):
        vault.run("memory", "render", agent)


def test_the_product_itself(vault: Harbor) -> None:
    clean(vault)
    assert clean(vault, "--since", "HEAD~5") == []
    assert clean(vault, "--since", "HEAD") == []
    for commits in range(1, int(vault.git("rev-list", "--count", "HEAD"))):
        clean(vault, "--since", f"HEAD~{commits}", "--dry-run")


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    (tmp_path / ORG).mkdir(parents=True)
    vault = Harbor(tmp_path)
    vault.git("init", "-q")
    assert clean(vault) == []
    vault.run("init")
    assert clean(vault) == []


def test_a_repository_of_the_longer_hashes(past: Path, tmp_path: Path) -> None:
    shutil.copytree(past, tmp_path / "v", ignore=shutil.ignore_patterns(".git"))
    vault = Harbor(tmp_path / "v")
    vault.git("init", "-q", "--object-format=sha256")
    commit(vault, "all")
    finish(vault, "run-8", BUILD)
    clean(vault)
    segment(vault, "status").unlink()
    commit(vault)
    assert {one["rule"] for one in audit(vault)["findings"]} == {"row-dropped"}


def test_a_vault_below_the_root_of_a_repository(vault: Harbor, tmp_path: Path) -> None:
    top = Harbor(tmp_path / "top")
    below = top.root / "my notes" / "ö"
    shutil.copytree(vault.root, below, ignore=shutil.ignore_patterns(".git"))
    top.git("init", "-q")
    top.git("add", "-A", "-f")
    top.git("commit", "-qm", "all")
    inside = Harbor(below)
    finish(inside, "run-8", BUILD)
    (top.root / "other").mkdir()
    clean(inside)
    segment(inside, "episodes").unlink()
    top.git("commit", "-qam", "oops")
    assert {one["rule"] for one in audit(inside)["findings"]} == {"row-dropped"}


def test_a_squash_of_everything(vault: Harbor) -> None:
    clean(vault)
    vault.git("checkout", "-q", "--orphan", "fresh")
    vault.git("commit", "-qm", "vault backup")
    vault.git("branch", "-M", "main")
    assert "nothing is lost" in clean(vault)[-1]
    finish(vault, "run-8", LINKS)
    clean(vault)


@pytest.mark.parametrize("back", [1, 2, 3, 5, 8, 12, 15])
def test_a_squash_of_the_latest_commits_in_the_name_of_the_person(vault: Harbor, back: int) -> None:
    clean(vault)
    vault.git("reset", "-q", "--soft", f"HEAD~{back}")
    commit(vault, "vault backup: 2026-11-28 10:00:00")
    clean(vault)


def test_a_fixup_into_a_commit_of_an_agents(vault: Harbor) -> None:
    """The person makes one commit of several, and keeps the words and the author of the first."""
    vault.run("post", "--run", "run-8", "I begin.", ORGVAULT_AGENT="nova")
    finish(vault, "run-8", BUILD)
    swap(claim_file(vault, part=OLD), "I lose a turn", "I lose two turns")
    vault.run("memory", "render", "nova")
    swap(vault.root / ORG / "org.yaml", "goal: ", "goal: Surely, ")
    commit(vault, "backup")
    vault.run("compile")
    first = vault.git("log", "--format=%H", "--grep=^Orgvault-Op: post", "-1").strip()
    vault.git("reset", "-q", "--soft", first)
    vault.git("commit", "-q", "--amend", "--no-edit", "--date", "2026-11-28T10:00:00")
    assert any("edited by hand by" in one for one in clean(vault))


@pytest.mark.parametrize("files", [1, 2, 3, 4])
@pytest.mark.parametrize("subject", ["edit", "run-2", "imp-", "run-1"])
def test_a_sweep_in_the_middle_of_a_change_of_ours(vault: Harbor, subject: str, files: int) -> None:
    """The tool commits the first files of a change; our own commit then brings the others."""
    ours = vault.git("log", "--format=%H", f"--grep=^[a-z]*(nova).*{subject}", "-1").strip()
    paths = written_first(vault, ours)[:files]
    last = vault.git("rev-parse", "HEAD").strip()
    vault.git("checkout", "-q", f"{ours}~1")
    for path in paths:
        there = vault.git("ls-tree", ours, "--", path)
        vault.git(*(["checkout", ours, "--"] if there else ["rm", "-q"]), path)
    vault.git("commit", "-qm", "vault backup")
    vault.git("checkout", ours, "--", ".")
    gone = vault.git(
        "diff", "--no-renames", "--name-only", "--diff-filter=D", f"{ours}~1", ours
    ).split()
    vault.git("rm", "-q", "--cached", "--ignore-unmatch", "--", "nothing", *gone)
    vault.git("commit", "-q", "--allow-empty", "-C", ours)
    assert vault.git("diff", "--cached", ours) == ""
    vault.git("cherry-pick", "--allow-empty", f"{ours}..{last}") if ours != last else None
    clean(vault)


def written_first(vault: Harbor, commit: str) -> list[str]:
    """The files of a commit in the order in which they are written: texts, then rows."""
    paths = vault.git("diff", "--name-only", "--no-renames", f"{commit}~1", commit).split()
    order = ("Org/", "proposals", "claims", "closed", "core.md")

    def rank(path: str) -> tuple[int, bool]:
        removed = not vault.git("ls-tree", commit, "--", path)
        place = [at for at, part in enumerate(order) if part in path]
        return (place[0] if place else len(order), removed)

    return sorted(paths, key=rank)


def test_a_persons_commit_of_everything_between_ours(vault: Harbor) -> None:
    lock = vault.root / ".git/index.lock"
    for run in ("run-8", "run-9"):
        (vault.root / "Daily.md").write_text(run)
        wake = vault.wake("nova")
        lock.touch()
        vault.run("wake-done", wake, "--run", run, "--transcript", LINKS)
        lock.unlink()
        clean(vault)  # rows wait in the spool
        commit(vault, "vault backup")
    vault.run("reflect", "nova", "--run", "run-9", "--transcript", LINKS)
    clean(vault)


def test_two_clones_merged_again_and_again(vault: Harbor, other: Harbor) -> None:
    clean(vault)
    for turn in range(3):
        vault.wake("nova", "manual")
        vault.run("post", "Here.", "--agent", "nova", "--run", f"run-v{turn}")
        other.wake("nova", "manual")
        other.wake("juno", "manual")
        other.run("post", "There.", "--agent", "nova", "--run", f"run-o{turn}")
        assert pull(vault, other).returncode == 0
        if turn != 1:
            assert pull(other, vault).returncode == 0
    clean(vault)
    other.run("wake-done", "x-1", "--agent", "juno", "--run", "run-k", "--result", "done: ok")
    vault.run("wake-done", "x-2", "--agent", "nova", "--run", "run-l", "--result", "done: ok")
    pull(vault, other)
    pull(other, vault)
    clean(vault)
    clean(other)


def test_two_clones_that_learned_apart(vault: Harbor, other: Harbor) -> None:
    finish(vault, "run-8", BUILD)
    other.wake("atlas", "manual")
    other.run("memory", "retire", claim_file(other, part=OLD).stem, "No longer so.")
    pull(vault, other)
    resolve(vault)
    clean(vault)


def test_a_rebase_of_one_clone_on_the_other(vault: Harbor, other: Harbor) -> None:
    for number in range(3):
        vault.wake("nova", "manual")
        other.wake("nova", "manual")
        other.run("post", "There.", "--agent", "juno", "--run", f"run-o{number}")
    assert pull(other, vault, "--rebase").returncode == 0
    clean(other)
    assert pull(vault, other).returncode == 0
    clean(vault)


@pytest.mark.parametrize("both_ways", [False, True])
def test_a_branch_squashed_into_the_other(vault: Harbor, *, both_ways: bool) -> None:
    vault.git("checkout", "-q", "-b", "feature")
    vault.wake("nova", "manual")
    vault.git("checkout", "-q", "main")
    vault.wake("nova", "manual")
    vault.wake("juno", "manual")
    if both_ways:
        vault.git("checkout", "-q", "feature")
        vault.git("merge", "-q", "--no-edit", "main")
        vault.git("checkout", "-q", "main")
    vault.git("merge", "-q", "--squash", "feature")
    commit(vault, "Squashed")
    notes = clean(vault)
    assert any("squashed merge" in one for one in notes) is both_ways


def test_the_repository_tidied(vault: Harbor) -> None:
    clean(vault)
    vault.git("gc", "-q", "--prune=now", "--aggressive")
    vault.git("commit-graph", "write", "--reachable")
    clean(vault)


def test_words_of_a_commit_changed(vault: Harbor) -> None:
    clean(vault)
    vault.git("commit", "-q", "--amend", "-m", "Other words")
    assert "nothing is lost" in clean(vault)[-1]


def test_a_cherry_pick_and_a_revert_of_a_persons_note(vault: Harbor) -> None:
    vault.git("checkout", "-q", "-b", "feature", "HEAD~2")
    vault.run("post", "There.", "--agent", "juno", "--run", "run-o")
    vault.git("checkout", "-q", "main")
    vault.git("cherry-pick", "feature")
    (vault.root / "Daily.md").write_text("today")
    commit(vault, "note")
    vault.git("revert", "--no-edit", "HEAD")
    clean(vault)


# ── hands ───────────────────────────────────────────────────────────────────────────────────


def test_a_claim_edited_by_hand_and_rendered(vault: Harbor) -> None:
    path = claim_file(vault, part=OLD)
    swap(path, "I lose a turn", "I lose two turns")
    commit(vault, "my own words")
    assert any("older than the claims" in one for one in clean(vault))
    vault.run("memory", "render", "nova")
    assert any("edited by hand by Sam" in one for one in clean(vault))
    finish(vault, "run-8", BUILD)
    clean(vault)


def test_the_kind_of_a_claim_edited_by_hand_and_rendered(vault: Harbor) -> None:
    swap(claim_file(vault, part=OLD), "kind: friction", "kind: lesson")
    vault.run("memory", "render", "nova")
    clean(vault)
    commit(vault, "backup")
    clean(vault)


def test_a_claim_edited_by_hand_rendered_and_retired_later(vault: Harbor) -> None:
    path = claim_file(vault, part=OLD)
    swap(path, "I lose a turn", "I lose two turns")
    vault.run("memory", "render", "nova")
    commit(vault, "backup")
    clean(vault)
    swap(path, "I lose two turns", "I lose three turns")
    vault.run("memory", "render", "nova")
    commit(vault, "backup")
    clean(vault)
    vault.run("memory", "retire", path.stem, "No more.")
    clean(vault)


def test_a_claim_edited_by_hand_and_not_committed_before_the_next_run(vault: Harbor) -> None:
    swap(claim_file(vault, part=OLD), "I lose a turn", "I lose two turns")
    finish(vault, "run-8", BUILD)
    assert any("not committed yet" in one for one in clean(vault))
    commit(vault, "my own words")
    clean(vault)


def test_a_claim_written_by_hand(vault: Harbor) -> None:
    a_claim_by_hand(vault)
    commit(vault, "my own claim")
    vault.run("memory", "render", "nova")
    assert any("by hand" in one for one in clean(vault))
    vault.run("memory", "retire", "c-00000001", "It was a try.")
    clean(vault)


def test_a_claim_closed_by_hand(vault: Harbor) -> None:
    path = claim_file(vault, part=OLD)
    closing = 'closed_at: 2026-11-28T10:00:00Z\nclosed_by: sam\nreason: "No."\n'
    path.write_text(path.read_text() + closing)
    path.rename(vault.root / ORG / "memory/nova/closed" / path.name)
    commit(vault)
    clean(vault)


def test_a_lead_that_is_an_agent_corrects(vault: Harbor) -> None:
    name = claim_file(vault, part=OLD).stem
    vault.run("memory", "edit", name, "I never commit the public folder.", ORGVAULT_AGENT="atlas")
    clean(vault)


def test_org_yaml_edited_and_not_yet_compiled(vault: Harbor) -> None:
    swap(vault.root / ORG / "org.yaml", "permission_mode: ", "permission_mode: x")
    commit(vault, "half way")
    assert any("orgvault compile" in one for one in clean(vault))
    vault.run("compile")
    assert not any("HEAD's" in one for one in clean(vault))


def test_org_yaml_compiled_and_not_yet_committed(vault: Harbor) -> None:
    swap(vault.root / ORG / "org.yaml", "permission_mode: ", "permission_mode: x")
    vault.run("compile")
    assert any("`git commit .agents/org/org.yaml`" in one for one in clean(vault))
    commit(vault)
    clean(vault)


def test_another_budget_before_the_core_is_rendered_again(vault: Harbor) -> None:
    vault.edit_org(r"core_budget_tokens: \d+", "core_budget_tokens: 100")
    commit(vault)
    clean(vault)


def test_a_proposal_merged_from_its_own_branch(vault: Harbor) -> None:
    (filed,) = (vault.root / ORG / "proposals").glob("*.diff")
    vault.git("apply", "-R", str(filed))
    commit(vault, "not yet")
    vault.git("apply", str(filed))
    message = f"A proposal\n\nProposal: {filed.stem}"
    commit(vault, message, "--author", NOVA)
    vault.run("compile")
    clean(vault)
    swap(vault.root / ORG / "org.yaml", "permission_mode: ", "permission_mode: x")
    commit(vault, message, "--author", NOVA)
    assert "persons-file-by-agent" in {one["rule"] for one in audit(vault)["findings"]}


def test_a_torn_row_that_was_swept_up_and_set_aside(vault: Harbor) -> None:
    path = segment(vault, "wakes")
    with path.open("ab") as file:
        file.write(b'{"v":1,"id":"w-')
    commit(vault, "vault backup")
    vault.wake("nova", "manual")
    commit(vault, "vault backup")
    clean(vault)
    assert vault.git("status", "--porcelain") == ""


def test_a_sync_tools_copy_of_a_segment(vault: Harbor) -> None:
    path = segment(vault, "wakes")
    shutil.copy(path, path.with_name(path.name.replace(".jsonl", ".sync-conflict-2026.jsonl")))
    commit(vault, "vault backup")
    clean(vault)


def test_an_entry_taken_out_to_be_measured_anew(vault: Harbor) -> None:
    (entry,) = (vault.root / ORG / "ledger").glob("*.yaml")
    entry.unlink()
    commit(vault, "measure anew")
    assert any("measured anew" in one for one in clean(vault))
    vault.run("ledger", "sync")
    clean(vault)


def test_texts_of_runs_that_the_owner_keeps_for_a_time_only(vault: Harbor) -> None:
    vault.edit_org(r"keep_days: \w+", "keep_days: 30")
    commit(vault)
    a_text_removed(vault)
    commit(vault)
    clean(vault)
    vault.run("run", "start", "nova", "--message", "Once more.")
    clean(vault)


def test_imported_sessions(vault: Harbor) -> None:
    vault.run(
        "import", "claude-code", "--agent", "nova", str(SESSIONS), code=None,
        ORG_REFLECT_MODEL="off",
    )  # fmt: skip
    clean(vault)


def test_many_processes_at_once(vault: Harbor) -> None:
    command = [sys.executable, "-m", "orgvault", "wake", "add", "nova", "--reason", "manual"]
    running = [
        subprocess.Popen(command, cwd=vault.root, stdout=subprocess.DEVNULL) for _ in range(6)
    ]
    for number in range(4):
        subprocess.run(["git", "add", "-A"], cwd=vault.root, check=False, capture_output=True)
        words = ["git", "commit", "-qm", f"vault backup {number}"]
        subprocess.run(words, cwd=vault.root, check=False, capture_output=True)
    assert [one.wait() for one in running] == [0] * 6
    clean(vault)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\xff\xfe", b"- a\n", b"id: [a\n", b"a: &a [x]\nb: *a\n", b"? [a]\n: b\n",
        b"times_seen: " + b"9" * 9_000, "times_seen: ²\nevidence: []\ntext: a\n".encode(),
        b"evidence: [[[[]]]]\ntimes_seen: 1\ntext: a\n", b"[" * 20_000,
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_claim_is_a_note_and_no_traceback(vault: Harbor, content: bytes) -> None:
    path = claim_file(vault, part=OLD)
    whole = path.read_bytes()
    path.write_bytes(content)
    (vault.root / ORG / "memory/nova/claims/c-00000003.yaml").write_bytes(content)
    commit(vault, "half-typed")
    done = audit(vault)
    assert any("not readable" in one["what"] for one in done["notes"])
    assert {one["rule"] for one in done["findings"]} == {"claim-deleted"}
    path.write_bytes(whole)
    commit(vault, "mended")
    clean(vault)
