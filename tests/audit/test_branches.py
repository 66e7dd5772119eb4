"""`audit` finds nothing where what two branches did to one claim comes together, or is made one."""

import os
import subprocess
from collections.abc import Callable

import pytest

from tests.audit.past import ORG, audit, claim_file, commit, finish, swap
from tests.audit.tamperings import OLD
from tests.audit.test_honest import clean
from tests.harbor import BUILD, LINKS, Harbor

LATER = "2031-01-01T00:00:00Z"
EDITED = ("I lose a turn", "I lose two turns")


def sees_it_again(vault: Harbor) -> None:
    finish(vault, "run-8", LINKS)


def a_person_edits_it(vault: Harbor) -> None:
    swap(claim_file(vault, part=OLD), *EDITED)
    commit(vault, "my own words")


def closes_it(vault: Harbor) -> None:
    vault.run("memory", "retire", claim_file(vault, part=OLD).stem, "No longer so.")


def apart(vault: Harbor, here: Callable[[Harbor], None], there: Callable[[Harbor], None]) -> None:
    """Do one thing on `main`, another on a branch that leaves it now; end on the branch."""
    vault.git("checkout", "-q", "-b", "branch")
    there(vault)
    vault.git("checkout", "-q", "main")
    here(vault)
    vault.git("checkout", "-q", "branch")
    vault.git("config", "user.name", "Kim")  # who brings it together


def brought(vault: Harbor, *words: str) -> bool:
    """Whether git brings them together by itself, at some later time."""
    git = ["git", "-c", "core.editor=true", *words]
    at = {**os.environ, "GIT_COMMITTER_DATE": LATER}
    done = subprocess.run(git, cwd=vault.root, capture_output=True, check=False, env=at)
    return done.returncode == 0


def settled(vault: Harbor, *words: str, keep: str) -> None:
    """Bring them together, and where git asks, take the closed claim, and one side's of the rest.

    Which is then rendered again, as `check` asks.
    """
    done = brought(vault, *words)
    while not done:
        for name in set(vault.git("diff", "--name-only", "--diff-filter=U").split("\n")) - {""}:
            if "/claims/" in name:
                vault.git("rm", "-q", "--cached", name)
                (vault.root / name).unlink(missing_ok=True)
            else:
                vault.git("checkout", keep, "--", name)
                vault.git("add", name)
        done = brought(vault, words[0], "--continue") or "rebase" not in words
        if "merge" in words and (vault.root / ".git/MERGE_HEAD").exists():
            vault.git("commit", "-q", "--no-edit")
    for agent in ("atlas", "nova", "juno"):
        vault.run("memory", "render", agent)


@pytest.mark.parametrize("keep", ["--ours", "--theirs"])
@pytest.mark.parametrize("how", ["merge", "rebase"])
@pytest.mark.parametrize("other", [sees_it_again, a_person_edits_it])
@pytest.mark.parametrize("closed_here", [False, True])
def test_a_claim_closed_on_one_branch_while_the_other_goes_on_with_it(
    vault: Harbor, other: Callable[[Harbor], None], how: str, keep: str, *, closed_here: bool
) -> None:
    here, there = (closes_it, other) if closed_here else (other, closes_it)
    apart(vault, here, there)
    settled(vault, how, "main", keep=keep)
    clean(vault)
    assert list((vault.root / ORG / "memory/nova/closed").glob("*.yaml"))


def test_what_a_person_edits_renders_and_takes_back_before_it_is_committed(vault: Harbor) -> None:
    path = claim_file(vault, part=OLD)
    swap(path, *EDITED)
    vault.run("memory", "render", "nova")
    swap(path, EDITED[1], "I lose three turns")
    assert any("not what the claims render to" in one for one in clean(vault))
    commit(vault, "better words")
    assert any("nobody has committed" in one for one in clean(vault))
    vault.git("checkout", "-q", "HEAD~2", "--", str(path))
    commit(vault, "the old words")
    clean(vault)
    vault.run("memory", "render", "nova")
    clean(vault)


@pytest.mark.parametrize("verb", ["retire", "edit"])
def test_a_lead_that_is_an_agent_corrects_what_a_person_has_not_committed(
    vault: Harbor, verb: str
) -> None:
    path = claim_file(vault, part=OLD)
    swap(path, *EDITED)
    vault.run("memory", verb, path.stem, "It is over.", ORGVAULT_AGENT="atlas")
    assert any("edited by hand" in one for one in clean(vault))


def test_an_edited_claim_is_seen_again_before_the_edit_is_committed(vault: Harbor) -> None:
    swap(claim_file(vault, part=OLD), ": it is ignored", ": yes, it is ignored")
    finish(vault, "run-8", LINKS)
    clean(vault)


@pytest.mark.parametrize("back", [1, 2, 3])
def test_a_core_that_is_older_than_an_edit_squashed_with_it(vault: Harbor, back: int) -> None:
    finish(vault, "run-8", BUILD)
    finish(vault, "run-9", LINKS)
    a_person_edits_it(vault)
    vault.git("reset", "-q", "--soft", f"HEAD~{back}")
    commit(vault, "vault backup")
    assert any("older than the claims" in one for one in clean(vault))


def test_a_core_that_is_older_than_the_part_that_is_looked_at(vault: Harbor) -> None:
    a_person_edits_it(vault)
    vault.run("post", "Here.", "--agent", "nova", "--run", "run-8")
    vault.edit_org(r"core_budget_tokens: \d+", "core_budget_tokens: 100")
    commit(vault)
    for since in ("HEAD~1", "HEAD~2", "HEAD~3", "HEAD~4"):
        assert any("memory render" in one for one in clean(vault, "--since", since))


def test_cores_that_git_merges_line_by_line(vault: Harbor) -> None:
    """It is what neither branch rendered, and not what the claims of both render to."""

    def renames(vault: Harbor) -> None:
        vault.run("memory", "edit", claim_file(vault, part=OLD).stem, "I leave it out.")

    apart(vault, sees_it_again, renames)
    brought(vault, "merge", "main")
    core = vault.root / ORG / "memory/nova/core.md"
    vault.git("checkout", "--theirs", "--", str(core))
    vault.git("add", "-A")
    vault.git("commit", "-q", "--no-edit")
    told = audit(vault)
    assert not any(one["rule"].startswith("core") for one in told["findings"])


def test_a_message_of_an_agent_that_has_another_name_by_now(vault: Harbor) -> None:
    def speaks(vault: Harbor) -> None:
        vault.run("chat", "post", "Hello @nova", ORGVAULT_AGENT="juno")

    def leaves(vault: Harbor) -> None:
        vault.edit_org(r"(?m)^  juno:", "  june:")
        commit(vault, "a new name")

    apart(vault, leaves, speaks)
    assert brought(vault, "rebase", "main")
    clean(vault)


def test_a_text_that_was_stored_and_removed_within_one_commit(vault: Harbor) -> None:
    vault.edit_org(r"keep_days: \w+", "keep_days: 1000")
    commit(vault, "short memory")
    finish(vault, "run-8", LINKS)  # what nova remembers is another text then
    vault.run("run", "start", "nova", "--message", "Once more.")
    for path in (vault.root / ORG / "runs/texts").rglob("*.md"):
        path.unlink()
    vault.git("reset", "-q", "--soft", "HEAD~1")
    vault.git("add", "-A")
    vault.git("commit", "-q", "-m", "vault backup")
    assert {one["rule"] for one in audit(vault)["findings"]} == {"text-missing"}
    assert brought(vault, "commit", "-q", "--amend", "--no-edit", "--date", LATER)
    clean(vault)


def test_a_claim_whose_words_a_redaction_has_changed(vault: Harbor) -> None:
    words = "git says so each time"
    vault.run("redact", "--find", words, "--rewrite")
    told = audit(vault)
    assert not any(one["rule"].startswith("claim") for one in told["findings"]), told


@pytest.mark.parametrize("words", ["I lose a turn", "It builds."])
def test_another_clone_takes_over_a_redacted_history(
    vault: Harbor, other: Harbor, words: str
) -> None:
    clean(other)
    vault.run("redact", "--find", words, "--rewrite")
    vault.run("compile")
    other.git("fetch", "-q", str(vault.root), "HEAD")
    other.git("reset", "-q", "--hard", "FETCH_HEAD")
    assert any("a secret was taken out" in one for one in clean(other))
    clean(other)
