"""`audit` finds what somebody has done to a vault, by the name of the rule that it breaks."""

import shutil
import zlib

import pytest

from tests.audit.past import NOVA, ORG, audit, claim_file, commit, rules, segment, swap
from tests.audit.tamperings import (
    BY_A_PERSON,
    BY_AN_AGENT,
    OURS,
    Tampering,
    a_cost_changed,
    a_count_raised,
    a_line_added_to_the_core,
    a_segment_removed,
    an_active_claim_deleted,
    the_last_row_dropped,
    words_edited_by_hand,
)
from tests.harbor import Harbor
from tests.vaults import folder_in_memory


def cases(table: dict[str, list[Tampering]]) -> list[object]:
    """Each tampering with the rule that it breaks."""
    return [
        pytest.param(rule, one, id=f"{rule}-{one.__name__}")
        for rule, found in table.items()
        for one in found
    ]


@pytest.mark.parametrize(("rule", "tampering"), cases(BY_A_PERSON))
def test_a_tampering_is_found_in_its_commit(vault: Harbor, rule: str, tampering: Tampering) -> None:
    tampering(vault)
    name = commit(vault)
    found = audit(vault, code=1)["findings"]
    assert (rule, name) in {(one["rule"], one["commit"]) for one in found}
    assert all(one["commit"] == name for one in found)
    assert all(one["what"] and one["means"] for one in found)


@pytest.mark.parametrize(("rule", "tampering"), cases(BY_AN_AGENT))
def test_what_a_person_may_is_found_when_an_agent_did_it(
    vault: Harbor, rule: str, tampering: Tampering
) -> None:
    tampering(vault)
    name = commit(vault, "backup", "--author", NOVA)
    assert (rule, name) in {
        (one["rule"], one["commit"]) for one in audit(vault, code=1)["findings"]
    }


@pytest.mark.parametrize(
    ("rule", "tampering"),
    [
        ("row-changed", a_cost_changed),
        ("row-dropped", a_segment_removed),
        ("claim-deleted", an_active_claim_deleted),
        ("count-unproven", a_count_raised),
        ("core-foreign-line", a_line_added_to_the_core),
    ],
)
def test_a_tampering_that_was_put_right_stays_in_history(
    vault: Harbor, rule: str, tampering: Tampering
) -> None:
    tampering(vault)
    name = commit(vault)
    vault.git("checkout", "-q", "HEAD~1", "--", ".")
    commit(vault, "put right")
    found = [(one["rule"], one["commit"]) for one in audit(vault)["findings"]]
    assert found.count((rule, name)) == 1
    assert [one for one, _ in found].count(rule) == 1  # to put it right breaks no rule again


def test_one_line_says_commit_path_rule_what_and_what_it_means(vault: Harbor) -> None:
    the_last_row_dropped(vault)
    name = commit(vault)
    told = vault.run("audit", code=1)
    path = segment(vault, "episodes").relative_to(vault.root)
    first, last = told.out.splitlines()
    assert first.startswith(f"{name} {path}: row-dropped: rows are gone: e-")
    assert first.endswith("(what was acknowledged is gone: restore it from the parent)")
    assert last.endswith("1 findings")


def test_the_whole_folder_as_a_link(vault: Harbor) -> None:
    folder, away = vault.root / ".agents", vault.root.parent / "agents"
    folder.rename(away)
    folder.symlink_to(away)
    vault.git("add", "-A")
    vault.git("commit", "-qm", "backup")
    found = audit(vault)["findings"]
    assert (".agents", "link") in {(one["path"], one["rule"]) for one in found}
    assert {"row-dropped", "claim-deleted"} <= {one["rule"] for one in found}


def test_a_row_taken_out_where_it_stands_twice(vault: Harbor) -> None:
    path = segment(vault, "status")
    copy = path.with_name("2026-11-0077.nova.abcd.jsonl")
    shutil.copy(path, copy)
    commit(vault)
    assert rules(vault) == set()
    copy.unlink()
    commit(vault)
    assert rules(vault) == {"segment-shrunk"}


def test_a_count_raised_while_the_file_could_not_be_read(vault: Harbor) -> None:
    path = claim_file(vault, part=OURS)
    whole = path.read_text()
    path.write_text("[" + whole)
    commit(vault)
    path.write_text(whole)
    a_count_raised(vault)
    name = commit(vault)
    found = audit(vault)["findings"]
    assert ("count-unproven", name) in {(one["rule"], one["commit"]) for one in found}


# ── who ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("op", "agent", "actor"),
    [
        ("memory-edit", "nova", "juno"), ("memory-retire", "nova", "kim"),
        ("wake-done", "nova", "nova"), ("compile", "", "kim"), ("task-add", "", "nova"),
        ("post", "nova", "juno"), ("proposal-close", "nova", "nova"), ("import", "nova", "nobody"),
    ],
)  # fmt: skip
def test_an_actor_whom_the_access_table_does_not_allow(
    vault: Harbor, op: str, agent: str, actor: str
) -> None:
    trailers = f"Orgvault-Op: {op}\nOrgvault-Agent: {agent}\nOrgvault-Actor: {actor}"
    commit(vault, f"memory(nova): {op}\n\n{trailers}")
    assert rules(vault) == {"actor-not-allowed"}


def test_a_run_started_in_the_name_of_one_who_may_not(vault: Harbor) -> None:
    vault.json("run", "start", "nova", "--message", "Look.")
    path = segment(vault, "runs")
    row = next(one for one in path.read_text("utf-8").splitlines()[::-1] if '"actor":"sam"' in one)
    swap(path, row, row.replace('"actor":"sam"', '"actor":"nova"'))
    vault.git("reset", "-q", "--soft", "HEAD~1")
    commit(vault)
    told = audit(vault)
    assert any("is nova's; may" in one["what"] for one in told["findings"]), told


def test_rows_that_an_agent_commits_by_hand_are_a_note(vault: Harbor) -> None:
    vault.wake("nova", "manual")
    vault.git("reset", "-q", "--soft", "HEAD~1")
    commit(vault, "work", "--author", NOVA)
    told = audit(vault)
    assert any("came with a commit of Nova's own" in one["what"] for one in told["notes"]), told


def test_an_agent_that_poses_as_the_owner(vault: Harbor) -> None:
    message = "org(roster): compile\n\nOrgvault-Op: compile\nOrgvault-Actor: sam"
    commit(vault, message, "--author", NOVA)
    assert rules(vault) == {"actor-posing"}


# ── histories ───────────────────────────────────────────────────────────────────────────────


def test_a_merge_that_drops_the_rows_of_one_side(vault: Harbor) -> None:
    vault.git("checkout", "-q", "-b", "other", "HEAD~1")
    vault.wake("juno", "manual")
    vault.git("checkout", "-q", "-")
    vault.git("merge", "-q", "-s", "ours", "-m", "merge", "other")
    found = audit(vault)["findings"]
    assert {one["rule"] for one in found} == {"row-dropped"}
    assert found[0]["commit"] == vault.git("rev-parse", "--short=10", "HEAD").strip()


def test_a_force_push_that_drops_rows(vault: Harbor) -> None:
    assert rules(vault) == set()
    vault.git("reset", "-q", "--hard", "HEAD~4")
    assert rules(vault) == {"history-lost"}
    assert rules(vault) == {"history-lost"}  # it is not forgotten by looking twice
    vault.git("reset", "-q", "--hard", "ORIG_HEAD")
    assert rules(vault) == set()


def test_a_squash_that_drops_rows(vault: Harbor) -> None:
    assert rules(vault) == set()
    vault.git("reset", "-q", "--soft", "HEAD~6")
    path = segment(vault, "wakes")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    commit(vault, "vault backup")
    assert rules(vault) == {"history-lost"}


def test_an_amended_commit_that_changes_a_claim(vault: Harbor) -> None:
    vault.git("commit", "-q", "--allow-empty", "-m", "empty")
    assert rules(vault) == set()
    an_active_claim_deleted(vault)
    vault.git("commit", "-qa", "--amend", "-m", "empty")
    assert rules(vault) == {"claim-deleted", "history-lost"}


def test_commits_that_are_gone_for_good_are_missed_by_their_counts(vault: Harbor) -> None:
    assert rules(vault) == set()
    for ref in vault.git("for-each-ref", "--format=%(refname)", "refs/orgvault").split():
        vault.git("update-ref", "-d", ref)
    vault.git("reset", "-q", "--hard", "HEAD~4")
    vault.git("reflog", "expire", "--expire=now", "--all")
    vault.git("gc", "-q", "--prune=now")
    assert rules(vault) == {"history-lost"}


def test_the_record_moved_to_the_rewritten_branch(vault: Harbor) -> None:
    assert rules(vault) == set()
    (ref,) = vault.git("for-each-ref", "--format=%(refname)", "refs/orgvault/audited").split()
    vault.git("reset", "-q", "--hard", "HEAD~4")
    vault.git("update-ref", ref, "HEAD")
    assert rules(vault) == {"history-lost"}


def test_a_dry_run_records_nothing(vault: Harbor) -> None:
    vault.run("audit", "--dry-run")
    assert vault.git("for-each-ref", "refs/orgvault/audited") == ""
    assert not (vault.root / ".git/orgvault/audited").exists()


def test_a_shallow_clone(vault: Harbor) -> None:
    with folder_in_memory() as folder:
        for depth in range(1, int(vault.git("rev-list", "--count", "HEAD"))):
            place = folder / f"clone-{depth}"
            vault.git("clone", "-q", "--depth", str(depth), f"file://{vault.root}", str(place))
            clone = Harbor(place)
            assert rules(clone) == {"history-cut-off"}, depth
        the_last_row_dropped(clone)
        commit(clone)
        assert rules(clone) == {"history-cut-off", "row-dropped"}


def test_a_graft(vault: Harbor) -> None:
    the_last_row_dropped(vault)
    commit(vault)
    head, root = vault.git("rev-parse", "HEAD", "HEAD~3").split()
    (vault.root / ".git/info").mkdir(exist_ok=True)
    (vault.root / ".git/info/grafts").write_text(f"{head} {root}\n")
    assert rules(vault) == {"history-grafted", "row-dropped"}


def test_a_replaced_object(vault: Harbor) -> None:
    the_last_row_dropped(vault)
    bad = commit(vault)
    vault.git("replace", bad, "HEAD~1")
    assert rules(vault) == {"history-replaced", "row-dropped"}


def test_an_object_written_over_in_its_place(vault: Harbor) -> None:
    path = f"{ORG}/memory/nova/core.md"
    oid = vault.git("rev-parse", f"HEAD:{path}").strip()
    place = vault.root / ".git/objects" / oid[:2] / oid[2:]
    content = zlib.decompress(place.read_bytes()).replace(b"I lose", b"I wins")
    place.chmod(0o644)
    place.write_bytes(zlib.compress(content))
    assert "object-altered" in rules(vault)


def test_only_the_owner_audits(vault: Harbor) -> None:
    told = vault.run("audit", code=4, ORGVAULT_AGENT="nova")
    assert "the owner" in told.err


def test_since_names_a_commit_that_is_not_there(vault: Harbor) -> None:
    assert "no commit `nowhere`" in vault.run("audit", "--since", "nowhere", code=1).err


def test_a_hand_edit_is_a_note(vault: Harbor) -> None:
    words_edited_by_hand(vault)
    name = commit(vault)
    done = audit(vault, code=0)
    assert done["findings"] == []
    (note,) = [one for one in done["notes"] if "edited by hand by" in one["what"]]
    assert note["commit"] == name
    assert "two turns" in note["what"]


def test_a_merge_that_drops_a_proposal_of_one_side(vault: Harbor) -> None:
    vault.git("switch", "-q", "-c", "side")
    (filed,) = (vault.root / ORG / "proposals").glob("*.yaml")
    copy = filed.with_name("imp-22222222.yaml")
    copy.write_text(filed.read_text("utf-8").replace(filed.stem, copy.stem), "utf-8")
    commit(vault, "another proposal")
    vault.git("switch", "-q", "-")
    (vault.root / "Home.md").write_text("x\n")
    commit(vault, "a note")
    vault.git("merge", "-q", "--no-ff", "--no-commit", "side")
    vault.git("rm", "-q", "-f", str(copy))
    name = commit(vault, "merged")
    found = {(one["rule"], one["commit"]) for one in audit(vault, code=1)["findings"]}
    assert ("proposal-deleted", name) in found


def test_a_loss_that_was_seen_is_not_hidden_by_a_squash(vault: Harbor) -> None:
    assert rules(vault) == set()
    the_last_row_dropped(vault)
    commit(vault, "drop")
    assert rules(vault) == {"row-dropped"}
    assert rules(vault, "--since", "HEAD") == set()
    vault.git("reset", "-q", "--soft", "HEAD~6")
    commit(vault, "vault backup")
    assert "history-lost" in rules(vault)


def test_what_came_after_a_loss_is_kept_in_mind_too(vault: Harbor) -> None:
    the_last_row_dropped(vault)
    commit(vault, "drop")
    assert rules(vault) == {"row-dropped"}
    vault.wake("juno", "manual")
    assert rules(vault) == {"row-dropped"}
    vault.git("reset", "-q", "--hard", "HEAD~1")
    assert rules(vault) == {"row-dropped", "history-lost"}


@pytest.mark.parametrize("given", ["nonsense", "HEAD~2..HEAD", "^HEAD", "2026-12-01"])
def test_since_takes_one_commit(vault: Harbor, given: str) -> None:
    told = vault.run("audit", "--since", given, code=1)
    assert told.err == f"orgvault: no commit `{given}`: give a revision (one commit, no range)\n"
