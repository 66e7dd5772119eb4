"""`proposal`: reviewing what agents ask for, with git as the only way to apply it."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orgvault.digests import sha256
from orgvault.domain.access import Actor
from orgvault.domain.patch import unified
from orgvault.errors import AlreadySo, VaultBusy
from orgvault.services import reviewing, standing
from orgvault.store.proposals import Proposals
from tests.harbor import BUILD, Harbor, Told, make_harbor
from tests.proposals import (
    GOAL,
    NEW_GOAL,
    ORG_YAML,
    SKILL,
    a_claim,
    change_of_goal,
    change_of_lines,
    commit,
    desk,
    episodes,
    filed,
)

if TYPE_CHECKING:
    from orgvault.domain.problem import Problem

ACTORS = ("sam", "kim", "atlas", "nova", "juno")


def acting(harbor: Harbor, actor: str, *words: str, code: int | None = 0) -> Told:
    """A command as another actor gives it."""
    agent = actor in {"atlas", "nova", "juno"}
    name = "ORGVAULT_AGENT" if agent else "ORGVAULT_OPERATOR"
    return harbor.run("proposal", *words, code=code, **{name: actor})


def note(harbor: Harbor, card: str) -> Path:
    return harbor.root / "Org/Backlog" / f"{card}.md"


def set_status(harbor: Harbor, card: str, status: str) -> None:
    """Change a note's status as the owner does in Obsidian."""
    text = note(harbor, card).read_text()
    note(harbor, card).write_text(text.replace("status: open", f"status: {status}"))


def apply(harbor: Harbor, card: str, *options: str) -> None:
    harbor.git("apply", *options, f".agents/org/proposals/{card}.diff")


def status(harbor: Harbor, card: str) -> str:
    told: str = harbor.json("proposal", "show", card)["status"]
    return told


# ── filing ──────────────────────────────────────────────────────────────────────────────────────


def test_filing_writes_note_record_and_diff_and_marks_the_claim_in_one_commit(
    harbor: Harbor,
) -> None:
    claim = a_claim(harbor)
    before = harbor.git("status", "--porcelain")
    proposal = filed(harbor, claim=claim)
    changed = harbor.git("show", "--name-only", "--format=", "HEAD").split()
    assert changed == [
        f".agents/org/memory/nova/claims/{claim.id}.yaml",
        f".agents/org/proposals/{proposal.id}.diff",
        f".agents/org/proposals/{proposal.id}.yaml",
        f"Org/Backlog/{proposal.id}.md",
    ]
    marked = next(one for one in harbor.claims("nova") if one["id"] == claim.id)
    assert (marked["proposal"], marked["proposed_evidence"]) == (proposal.id, list(claim.evidence))
    assert proposal.evidence == claim.evidence
    assert harbor.git("status", "--porcelain") == before
    assert harbor.run("check").code == 0
    filed_diff = f".agents/org/proposals/{proposal.id}.diff"
    harbor.run("proposal", "check", filed_diff, "--agent", "nova")
    assert harbor.json("task", "show", proposal.id)["card"]["kind"] == "improve"
    assert proposal.id in harbor.run("task", "list").out
    (stored,) = Proposals(desk(harbor).vault).all([])
    assert stored.proposal == proposal
    assert harbor.git("cat-file", "-p", proposal.base_blob) == harbor.git(
        "show", f"{proposal.base}:{ORG_YAML}"
    )
    assert sha256(stored.diff).hexdigest() == proposal.diff_sha256


def test_a_reverse_is_a_card_of_kind_revert_with_the_same_parts(harbor: Harbor) -> None:
    first = filed(harbor)
    proposal = filed(harbor, reverts=first.id)
    card = harbor.json("task", "show", proposal.id)["card"]
    assert (card["kind"], card["memory_id"]) == ("revert", None)
    shown = harbor.json("proposal", "show", proposal.id)
    assert (shown["reverts"], shown["status"]) == (first.id, "open")
    assert shown["evidence"] == [one.run for one in episodes(desk(harbor), "nova")]


def test_a_claim_that_was_closed_meanwhile_becomes_no_card(harbor: Harbor) -> None:
    claim = a_claim(harbor)
    harbor.run("memory", "retire", claim.id, "It is solved.")
    head = harbor.git("rev-parse", "HEAD")
    with pytest.raises(AlreadySo):
        filed(harbor, claim=claim)
    assert harbor.git("rev-parse", "HEAD") == head
    assert Proposals(desk(harbor).vault).ids() == []


def test_no_secret_of_a_model_gets_into_the_note(harbor: Harbor) -> None:
    secret = "ghp_" + "a1B2" * 9
    proposal = filed(harbor, rationale=f"I used {secret} twice.")
    assert secret not in harbor.git("show", "HEAD")
    assert "I used \\[secret\\] twice." in note(harbor, proposal.id).read_text()


# ── applying, which is git's ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("autocrlf", ["false", "true", "input"])
@pytest.mark.parametrize("committed", ["lf", "crlf"])
def test_git_applies_the_diff_whatever_the_line_ends(
    harbor: Harbor, committed: str, autocrlf: str
) -> None:
    (harbor.root / ".agents/org/.gitattributes").unlink()  # else org.yaml is never converted
    path = harbor.root / ORG_YAML
    if committed == "crlf":
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    harbor.git("config", "core.autocrlf", "false")
    harbor.git("add", "-A")
    harbor.git("commit", "-qm", "line ends")
    harbor.git("config", "core.autocrlf", autocrlf)
    path.unlink()
    harbor.git("checkout", "-q", "--", ORG_YAML)
    ends = path.read_bytes().count(b"\r\n")
    old = path.read_bytes()
    proposal = filed(harbor)
    made = harbor.json("proposal", "show", proposal.id, "--branch")["branch"]
    assert harbor.git("diff", "--numstat", f"HEAD...{made['ref']}").split()[:2] == ["1", "1"]
    harbor.run("proposal", "check", f".agents/org/proposals/{proposal.id}.diff", "--agent", "nova")
    apply(harbor, proposal.id)
    assert path.read_bytes() == old.replace(GOAL.encode(), NEW_GOAL.encode())
    assert path.read_bytes().count(b"\r\n") == ends
    commit(harbor, "Take it")
    assert status(harbor, proposal.id) == "shipped"
    assert harbor.git("rev-parse", f"HEAD:{ORG_YAML}") == harbor.git(
        "rev-parse", f"{made['ref']}:{ORG_YAML}"
    )


def test_below_the_repositorys_top_the_commands_of_the_note_work(tmp_path: Path) -> None:
    outer = make_harbor(tmp_path)
    top = tmp_path / "all notes"
    outer.root.rename(tmp_path / "moved")
    top.mkdir()
    (tmp_path / "moved").rename(top / "my vault")
    (top / "my vault/.git").rename(top / ".git")
    subprocess.run(["git", "add", "-A"], cwd=top, check=True)
    subprocess.run(["git", "commit", "-qm", "below"], cwd=top, check=True)
    harbor = Harbor(top / "my vault")
    proposal = filed(harbor, root="my vault/")
    branch = harbor.json("proposal", "show", proposal.id, "--branch")["branch"]
    changed = harbor.git("diff", "--name-only", f"HEAD...{branch['ref']}").strip()
    assert changed == f"my vault/{ORG_YAML}"
    (command,) = [
        line for line in note(harbor, proposal.id).read_text().splitlines() if "git apply " in line
        and line.startswith("git")
    ]  # fmt: skip
    subprocess.run(command, cwd=harbor.root, shell=True, check=True)  # noqa: S602 - as the note says it
    assert NEW_GOAL in (harbor.root / ORG_YAML).read_text()
    harbor.git("checkout", "-q", "--", ".")
    from_top = command.replace(" .agents/", " 'my vault'/.agents/")
    subprocess.run(from_top, cwd=top, shell=True, check=True)  # noqa: S602 - the same from the top
    commit(harbor, "Take it")
    assert status(harbor, proposal.id) == "shipped"


def test_the_branch_is_a_commit_to_compare_pick_and_merge_and_nothing_else_changes(
    harbor: Harbor,
) -> None:
    proposal = filed(harbor)
    (harbor.root / "Daily/loose.md").write_text("loose\n")
    (harbor.root / ".git/hooks").mkdir(exist_ok=True)
    hook = harbor.root / ".git/hooks/reference-transaction"
    hook.write_text("#!/bin/sh\ntouch hook-ran\n")
    hook.chmod(0o755)

    def everything() -> tuple[str, ...]:
        index = (harbor.root / ".git/index").read_bytes().hex()
        return index, harbor.git("status", "--porcelain"), harbor.git("rev-parse", "HEAD")

    before = everything()
    made = harbor.json("proposal", "show", proposal.id, "--branch")["branch"]
    again = harbor.json("proposal", "show", proposal.id, "--branch")["branch"]
    assert everything() == before
    assert made == again
    assert made["ref"] == f"refs/orgvault/proposals/{proposal.id}"
    assert not (harbor.root / "hook-ran").exists()
    hook.unlink()
    message = harbor.git("show", "-s", "--format=%B", made["ref"])
    assert message == f"Nova: change goal\n\nProposal: {proposal.id}\n\n"
    told = harbor.git("show", "--format=%an <%ae>%n%s", "--numstat", made["ref"]).split("\n")
    assert told[:2] == ["nova <nova@agents.invalid>", "Nova: change goal"]
    assert told[-2] == f"1\t1\t{ORG_YAML}"
    harbor.git("fsck", "--strict", "--no-dangling")
    start = harbor.git("rev-parse", "HEAD").strip()
    harbor.git("cherry-pick", made["ref"])
    assert status(harbor, proposal.id) == "shipped"
    harbor.git("reset", "-q", "--hard", start)
    assert status(harbor, proposal.id) == "open"
    harbor.git("merge", "-q", "--no-ff", "-m", "Merge it", made["ref"])
    assert status(harbor, proposal.id) == "shipped"
    harbor.git("reset", "-q", "--hard", start)
    harbor.git("merge", "-q", "--squash", made["ref"])
    assert status(harbor, proposal.id) == "open"  # staged, and not committed yet
    harbor.git("commit", "-qm", "Everything of today")
    assert status(harbor, proposal.id) == "shipped"


def test_a_branch_is_only_shown_with_dry_run_and_is_peoples(harbor: Harbor) -> None:
    proposal = filed(harbor)
    told = harbor.run("proposal", "show", proposal.id, "--branch", "--dry-run")
    assert f"would commit as refs/orgvault/proposals/{proposal.id}" in told.out
    acting(harbor, "nova", "show", proposal.id, "--branch", code=4)
    assert harbor.git("for-each-ref", "refs/orgvault") == ""


def test_a_base_that_is_not_what_the_diff_was_made_on_is_said(harbor: Harbor) -> None:
    path = harbor.root / ORG_YAML
    path.write_text(path.read_text().replace("Short. Names the file", "Short. Tells the file"))
    proposal = filed(harbor)  # made on a file that is not committed
    told = harbor.run("proposal", "show", proposal.id, "--branch", code=1)
    assert "does not fit its base" in told.err


# ── how it stands ───────────────────────────────────────────────────────────────────────────────


def test_DIFF_12_sync_writes_what_the_value_in_head_says(harbor: Harbor) -> None:  # noqa: N802
    proposal = filed(harbor)
    path = harbor.root / ORG_YAML
    path.write_text(path.read_text().replace("wakes_per_day: 12", "wakes_per_day: 11"))
    commit(harbor, "Elsewhere")
    assert harbor.json("proposal", "sync") == {"settled": []}
    apply(harbor, proposal.id)
    assert harbor.json("proposal", "sync") == {"settled": []}  # not committed yet
    commit(harbor, "Mine")
    head = harbor.git("rev-parse", "HEAD").strip()
    assert harbor.json("proposal", "sync", "--dry-run")["settled"][0]["status"] == "shipped"
    assert harbor.git("rev-parse", "HEAD").strip() == head
    (settled,) = harbor.json("proposal", "sync")["settled"]
    assert (settled["id"], settled["status"]) == (proposal.id, "shipped")
    assert "\nstatus: shipped\n" in note(harbor, proposal.id).read_text()
    assert harbor.subjects(1) == [f"proposal(nova): {proposal.id} shipped"]
    assert harbor.json("proposal", "sync") == {"settled": []}
    assert harbor.git("rev-parse", "HEAD~1").strip() == head


def test_DIFF_12_another_value_withdraws_it_and_the_claim_keeps_its_mark(  # noqa: N802
    harbor: Harbor,
) -> None:
    proposal = filed(harbor, claim=a_claim(harbor))
    path = harbor.root / ORG_YAML
    path.write_text(path.read_text().replace(GOAL, "Something else."))
    commit(harbor, "Mine")
    (settled,) = harbor.json("proposal", "sync")["settled"]
    assert (settled["status"], "reads otherwise" in settled["why"]) == ("withdrawn", True)
    assert status(harbor, proposal.id) == "withdrawn"
    path.write_text(path.read_text().replace("Something else.", GOAL))
    commit(harbor, "Back")
    assert status(harbor, proposal.id) == "withdrawn"  # as its note says by now


def test_an_expired_one_is_withdrawn(harbor: Harbor) -> None:
    old, young = filed(harbor, days_ago=30), filed(harbor, days_ago=29)
    (settled,) = harbor.json("proposal", "sync")["settled"]
    assert (settled["id"], settled["why"]) == (old.id, f"it expired on {old.expires[:10]}")
    listed = harbor.json("proposal", "list")["proposals"]
    assert [one["id"] for one in listed] == [young.id]


def test_of_the_note_only_the_status_is_read_and_deleting_it_is_a_no(harbor: Harbor) -> None:
    denied, withdrawn, boast, gone = (filed(harbor) for _ in range(4))
    set_status(harbor, denied.id, "closed")
    set_status(harbor, withdrawn.id, "withdrawn")
    set_status(harbor, boast.id, "shipped")
    note(harbor, gone.id).unlink()
    found = {
        one["id"]: one["status"] for one in harbor.json("proposal", "list", "--all")["proposals"]
    }
    assert found == {
        denied.id: "closed", withdrawn.id: "withdrawn", boast.id: "open", gone.id: "closed"
    }  # fmt: skip
    assert harbor.json("proposal", "sync") == {"settled": []}
    entry = harbor.root / f".agents/org/ledger/{boast.id}.yaml"
    entry.parent.mkdir()
    entry.write_text("version: 1\n")
    assert status(harbor, boast.id) == "shipped"
    text = note(harbor, denied.id).read_text().replace("status: closed", "status: open")
    note(harbor, denied.id).write_text(text.replace("target: own_prompt", "target: own_skills"))
    assert harbor.json("proposal", "show", denied.id)["target"] == "own_prompt"
    assert status(harbor, denied.id) == "open"


def test_a_note_that_cannot_be_read_closes_nothing_and_is_reported(harbor: Harbor) -> None:
    proposal = filed(harbor)
    note(harbor, proposal.id).write_text("no frontmatter\n")
    told = harbor.run("proposal", "list", "--json")
    assert [one["status"] for one in told.json["proposals"]] == ["open"]
    assert "no frontmatter" in told.err
    harbor.run("proposal", "close", proposal.id, "why", code=1)


def test_where_nothing_is_open_no_file_is_parsed(harbor: Harbor) -> None:
    proposal = filed(harbor)
    harbor.run("proposal", "close", proposal.id, "No.")
    (harbor.root / f".agents/org/proposals/{proposal.id}.yaml").write_text("not: [YAML")
    problems: list[Problem] = []
    assert standing.unsettled(desk(harbor), problems) == []
    assert problems == []
    assert standing.everything(desk(harbor), problems) == []
    assert len(problems) == 1


def test_a_note_in_an_odd_form_is_named_and_keeps_no_other_from_being_settled(
    harbor: Harbor,
) -> None:
    odd, plain = filed(harbor, days_ago=31), filed(harbor, days_ago=31)
    set_status(harbor, odd.id, "|-\n  open")
    told = harbor.run("proposal", "sync", "--json")
    assert [one["id"] for one in told.json["settled"]] == [plain.id]
    assert f"Org/Backlog/{odd.id}.md" in told.err
    assert status(harbor, odd.id) == "withdrawn"
    assert "on a line" in harbor.run("proposal", "close", odd.id, "No.", code=1).err


def test_sync_says_when_the_vault_cannot_be_written_to(harbor: Harbor) -> None:
    filed(harbor, days_ago=31)
    (harbor.root / ".git/MERGE_HEAD").write_text(harbor.git("rev-parse", "HEAD"))
    with pytest.raises(VaultBusy):
        reviewing.sync(desk(harbor))
    harbor.run("proposal", "sync", code=75)


def test_lines_of_a_skill_ship_like_values(harbor: Harbor) -> None:
    path = harbor.root / SKILL
    lines = path.read_text().splitlines()
    before, after = tuple(lines[-2:]), (lines[-2], "Install before you build.", lines[-1])
    accepted = change_of_lines(SKILL, path.read_bytes(), before, after)
    proposal = filed(harbor, accepted)
    assert status(harbor, proposal.id) == "open"
    apply(harbor, proposal.id)
    path.write_text(path.read_text().replace("Install before", "  Install before"))
    commit(harbor, "Mine", SKILL)
    assert status(harbor, proposal.id) == "shipped"


# ── the verbs ───────────────────────────────────────────────────────────────────────────────────


def test_closing_keeps_the_reason_where_a_reader_finds_it(harbor: Harbor) -> None:
    proposal = filed(harbor)
    text = note(harbor, proposal.id).read_text()
    harbor.run("proposal", "close", proposal.id, "  ", code=2)
    harbor.run("proposal", "close", proposal.id, "x" * 2001, code=2)
    harbor.run("proposal", "close", proposal.id, 'Too "broad":\nno.', "--dry-run")
    assert note(harbor, proposal.id).read_text() == text
    closed = harbor.json("proposal", "close", proposal.id, 'Too "broad":\nno.')
    assert (closed["status"], closed["why"]) == ("closed", 'Too "broad": no.')
    assert note(harbor, proposal.id).read_text() == text.replace(
        "status: open\n", 'status: closed\nreason: "Too \\"broad\\": no."\n'
    )
    assert harbor.json("proposal", "show", proposal.id)["why"] == 'Too "broad": no.'
    harbor.run("proposal", "close", proposal.id, "Again.", code=1)
    assert harbor.subjects(1) == [f"proposal(nova): close {proposal.id}"]
    assert "proposal close" in harbor.run("task", "done", proposal.id, code=1).err
    assert "proposal close" in harbor.run("task", "close", proposal.id, code=1).err


def test_a_person_says_which_commit_shipped_it_in_other_words(harbor: Harbor) -> None:
    proposal = filed(harbor)
    path = harbor.root / ORG_YAML
    path.write_text(path.read_text().replace(GOAL, "In my own words."))
    name = commit(harbor, "Mine")
    assert status(harbor, proposal.id) == "withdrawn"
    harbor.run("proposal", "sync")
    harbor.run("proposal", "shipped", proposal.id, "--commit", "no-such", code=1)
    harbor.run("proposal", "shipped", proposal.id, "--commit", "--all", code=1)
    aside = harbor.json("proposal", "show", proposal.id, "--branch")["branch"]["commit"]
    assert (
        "no commit" in harbor.run("proposal", "shipped", proposal.id, "--commit", aside, code=1).err
    )
    recorded = harbor.json("proposal", "shipped", proposal.id, "--commit", "HEAD~1")
    assert recorded["shipped_commit"] == name
    (stored,) = Proposals(desk(harbor).vault).all([])
    assert stored.proposal.shipped_commit == name
    assert status(harbor, proposal.id) == "shipped"
    assert "status: shipped" in note(harbor, proposal.id).read_text()
    harbor.run("proposal", "shipped", proposal.id, "--commit", name, code=1)
    harbor.run("proposal", "close", proposal.id, "No.", code=1)


def test_the_list_has_the_open_ones_newest_first(harbor: Harbor) -> None:
    older, newer = filed(harbor, days_ago=2), filed(harbor, days_ago=1)
    harbor.run("proposal", "close", older.id, "No.")
    assert [one["id"] for one in harbor.json("proposal", "list")["proposals"]] == [newer.id]
    every = harbor.json("proposal", "list", "--all")["proposals"]
    assert [one["id"] for one in every] == [newer.id, older.id]
    assert f"{newer.id}  nova   open" in harbor.run("proposal", "list").out


def test_words_are_marked_without_a_terminal(harbor: Harbor) -> None:
    proposal = filed(harbor)
    told = harbor.run("proposal", "show", proposal.id, "--word-diff").out
    assert "any machine, [-and that nobody has to think about-]{+from one command+}." in told
    assert "\x1b" not in told
    plain = harbor.run("proposal", "show", proposal.id).out
    assert f"-    goal: {GOAL}\n+    goal: {NEW_GOAL}\n" in plain
    assert f"git apply .agents/org/proposals/{proposal.id}.diff" in plain


@pytest.mark.parametrize("options", [(), ("--no-color",)])
def test_words_are_coloured_on_a_terminal(harbor: Harbor, options: tuple[str, ...]) -> None:
    proposal = filed(harbor)
    ours, theirs = os.openpty()
    words = ("-m", "orgvault", "proposal", "show", proposal.id, "--word-diff", *options)
    subprocess.run([sys.executable, *words], cwd=harbor.root, stdout=theirs, check=True)
    os.close(theirs)
    told = b""
    with contextlib.suppress(OSError):  # how the end of a terminal is read
        while piece := os.read(ours, 65536):
            told += piece
    os.close(ours)
    assert (b"\x1b[32mfrom one command\x1b[0m" in told) is not bool(options)
    assert (b"{+from one command+}" in told) is bool(options)


def test_a_packed_repository_leaves_no_process_behind(harbor: Harbor) -> None:
    proposal = filed(harbor)
    harbor.git("gc", "-q")
    assert status(harbor, proposal.id) == "open"
    harbor.json("proposal", "show", proposal.id, "--branch")
    harbor.git("fsck", "--strict", "--no-dangling")


def test_check_runs_the_gate_on_a_diff_from_anywhere(harbor: Harbor) -> None:
    old = (harbor.root / ORG_YAML).read_bytes()
    good = harbor.root.parent / "good.diff"
    good.write_bytes(unified(ORG_YAML, old, change_of_goal(old).new))
    told = harbor.json("proposal", "check", str(good), "--agent", "nova")
    assert (told["accepted"], told["target"], told["added"], told["removed"]) == (
        True, "own_prompt", 1, 1,
    )  # fmt: skip
    assert told["edits"] == [{"key": "goal", "before": [GOAL], "after": [NEW_GOAL]}]
    assert NEW_GOAL in harbor.run("proposal", "check", str(good), "--agent", "nova").out
    bad = harbor.root.parent / "bad.diff"
    wider = old.replace(b"tools: [Read, Edit, Write, Grep", b"tools: [Read, Edit, WebFetch, Grep")
    assert wider != old
    bad.write_bytes(unified(ORG_YAML, old, wider))
    refused = harbor.run("proposal", "check", str(bad), "--agent", "nova", "--json", code=3)
    assert refused.json["accepted"] is False
    assert {"rule", "why", "key", "line"} < set(refused.json)
    assert refused.json["key"] == "tools"
    assert "tools" in harbor.run("proposal", "check", str(bad), "--agent", "nova", code=3).err
    harbor.run("proposal", "check", str(good), "--agent", "atlas", code=3)
    harbor.run("proposal", "check", str(good), "--agent", "nobody", code=1)
    harbor.run("proposal", "check", "no-such.diff", "--agent", "nova", code=2)
    big = harbor.root.parent / "big.diff"
    big.write_bytes(b"x" * 200_000)
    harbor.run("proposal", "check", str(big), "--agent", "nova", code=3)


# Each command with what each actor gets: nova is led by atlas, juno by kim.
MATRIX = {
    ("list",): (0, 0, 0, 0, 0),
    ("show", "{novas}"): (0, 0, 0, 0, 4),
    ("show", "{junos}"): (0, 0, 4, 4, 0),
    ("show", "imp-00000000"): (1, 1, 4, 4, 4),
    ("show", "{novas}", "--branch"): (0, 0, 4, 4, 4),
    ("check", "{diff}", "--agent", "nova"): (0, 4, 4, 4, 4),
    ("close", "{novas}", "why"): (0, 0, 4, 4, 4),
    ("close", "imp-00000000", "why"): (1, 1, 4, 4, 4),
    # Who may is told that this commit did not ship it.
    ("shipped", "{novas}", "--commit", "HEAD"): (1, 1, 4, 4, 4),
    ("sync",): (0, 4, 4, 4, 4),
}


def test_who_may_do_what(harbor: Harbor) -> None:
    novas = filed(harbor).id
    org = (harbor.root / ORG_YAML).read_bytes()
    diff = harbor.root.parent / "x.diff"
    diff.write_bytes(unified(ORG_YAML, org, change_of_goal(org).new))
    junos = filed(harbor, agent="juno").id
    names = {"novas": novas, "junos": junos, "diff": str(diff)}
    got = {
        words: tuple(
            acting(harbor, who, *(w.format(**names) for w in words), "--dry-run", code=None).code
            for who in ACTORS
        )
        for words in MATRIX
    }
    assert got == MATRIX
    listed = {who: acting(harbor, who, "list", "--all", "--json").json for who in ACTORS}
    seen = {who: {one["id"] for one in told["proposals"]} for who, told in listed.items()}
    assert seen == {
        "sam": {novas, junos}, "kim": {novas, junos}, "atlas": {novas}, "nova": {novas},
        "juno": {junos},
    }  # fmt: skip
    missing, anothers = (
        acting(harbor, "nova", "show", card, code=4).err.replace(card, "X")
        for card in ("imp-00000000", junos)
    )
    assert missing == anothers


def test_an_agent_gone_from_the_roster_leaves_its_proposals_to_people(harbor: Harbor) -> None:
    proposal = filed(harbor)
    assert reviewing.listed(desk(harbor), closed=True)[0][0].stored.proposal == proposal
    at = desk(harbor, Actor("agent", "atlas"))
    del at.roster.agents["nova"]
    assert reviewing.listed(at, closed=True) == ([], [])


@pytest.mark.parametrize("damage", ["created: 2026-11-30", "title:", "flags: x", "tags: [a, b"])
@pytest.mark.parametrize("said", ["closed", '"closed"', "Closed"])
def test_a_no_is_heard_whatever_else_the_note_holds(harbor: Harbor, damage: str, said: str) -> None:
    card = filed(harbor).id
    note = harbor.root / f"Org/Backlog/{card}.md"
    key = damage.partition(":")[0]
    lines = [line for line in note.read_text("utf-8").splitlines() if not line.startswith(key)]
    lines[1:1] = [damage]
    note.write_text("\n".join(lines).replace("status: open", f"status: {said}"), "utf-8")
    shown = harbor.run("proposal", "show", card, "--json", code=None).json
    assert shown["status"] == "closed"
    assert harbor.json("proposal", "list")["proposals"] == []


def test_a_note_that_cannot_be_read_is_named_with_its_line(harbor: Harbor) -> None:
    card = filed(harbor).id
    note = harbor.root / f"Org/Backlog/{card}.md"
    note.write_text(note.read_text("utf-8").replace("created: ", "created: on "), "utf-8")
    told = harbor.run("proposal", "close", card, "no", code=1)
    assert f"Org/Backlog/{card}.md:" in told.err
    assert "created" in told.err


def test_only_a_commit_that_can_have_shipped_it_counts(harbor: Harbor) -> None:
    before = commit_of(harbor)
    proposal = filed(harbor)
    path = harbor.root / ORG_YAML
    path.write_text(path.read_text().replace(GOAL, "In my own words."))
    mine = commit(harbor, "Mine")
    (harbor.root / "Other.md").write_text("x\n")
    harbor.git("add", "Other.md")
    other = commit(harbor, "Another", "Other.md")
    for wrong in (before, proposal.base, other):
        told = harbor.run("proposal", "shipped", proposal.id, "--commit", wrong, code=1)
        assert f"{wrong[:10]} did not ship {proposal.id}" in told.err
        assert ORG_YAML in told.err
    harbor.run("proposal", "shipped", proposal.id, "--commit", mine)
    harbor.run("ledger", "sync")
    told = harbor.run("proposal", "shipped", proposal.id, "--commit", mine, code=1)
    assert "in the ledger already" in told.err


def test_a_closed_proposal_is_not_shipped_by_word(harbor: Harbor) -> None:
    proposal = filed(harbor)
    harbor.run("proposal", "close", proposal.id, "Too broad.")
    path = harbor.root / ORG_YAML
    path.write_text(path.read_text().replace(GOAL, "In my own words."))
    mine = commit(harbor, "Mine")
    told = harbor.run("proposal", "shipped", proposal.id, "--commit", mine, code=1)
    assert f"{proposal.id} is closed" in told.err


def test_a_symbolic_ref_in_the_place_of_ours_moves_no_branch(harbor: Harbor) -> None:
    proposal = filed(harbor)
    ref = f"refs/orgvault/proposals/{proposal.id}"
    harbor.git("symbolic-ref", ref, "refs/heads/main")
    head = commit_of(harbor)
    made = harbor.json("proposal", "show", proposal.id, "--branch")["branch"]["commit"]
    assert commit_of(harbor) == head
    assert harbor.git("rev-parse", ref).strip() == made


def commit_of(harbor: Harbor) -> str:
    return harbor.git("rev-parse", "HEAD").strip()


def test_a_dry_run_leaves_no_cache(harbor: Harbor) -> None:
    cache = harbor.root / ".git/orgvault/tokens.json"
    wake = harbor.wake("nova")
    cache.unlink(missing_ok=True)
    harbor.run("wake-done", wake, "--run", "run-1", "--transcript", BUILD, "--dry-run")
    assert not cache.exists()
