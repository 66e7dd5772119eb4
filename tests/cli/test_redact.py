"""`redact`: a secret is found wherever it stands, and taken out of history with all else kept."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.harbor import Harbor
from tests.proposals import SKILL, change_of_lines, filed

SECRET = "hunter2-correct-horse"
OTHER = 'quo"ted-secret-ü'
ORG = ".agents/org"


def everything(harbor: Harbor) -> bytes:
    """All contents, messages and names that git has, of whatever can still be reached."""
    told = harbor.git("rev-list", "--objects", "--all", "--no-object-names").split()
    asked = "\n".join(told).encode()

    done = subprocess.run(
        ["git", "cat-file", "--batch"],
        cwd=harbor.root,
        input=asked,
        capture_output=True,
        check=True,
    )
    return done.stdout


@pytest.fixture
def leaky(harbor: Harbor) -> Harbor:
    """A vault whose history has a secret: in a note, a row, a message, a tag, another branch."""
    harbor.run("audit")
    harbor.git("tag", "before")
    note = harbor.root / "Secret note.md"
    note.write_bytes(b"one\r\nthe key is " + SECRET.encode() + b"\r\nthree")
    harbor.git("add", "-A")
    harbor.git("commit", "-q", "-m", "A note")
    harbor.finish("nova", "run-1", "--turns", "3")
    harbor.git("tag", "-a", "-m", f"with {SECRET}", "v1")
    harbor.git("checkout", "-q", "-b", "topic")
    (harbor.root / "Topic.md").write_text(f"also {SECRET}\n", "utf-8")
    harbor.git("add", "-A")
    harbor.git("commit", "-q", "-m", f"Say {SECRET} aloud")
    harbor.git("checkout", "-q", "main")
    note.write_bytes(b"one\r\nno key\r\nthree")
    harbor.git("commit", "-q", "-am", "Better not")
    harbor.git("merge", "-q", "--no-ff", "-m", "Merge", "topic")
    return harbor


def redact(harbor: Harbor, *words: str, code: int = 0) -> str:
    """Redact the secret; what was said, which must never be the secret."""
    told = harbor.run("redact", "--value-from-env", "KEY", *words, code=code, KEY=SECRET)
    assert SECRET not in told.out + told.err
    return told.out + told.err


def test_it_is_found_and_nothing_is_changed(leaky: Harbor) -> None:
    before = leaky.git("for-each-ref")
    told = json.loads(redact(leaky, "--json"))
    assert told["rewritten"] is None
    found = told["found"]
    assert found["tracked"] == ["Topic.md"]
    assert len(found["blobs"]) == 2
    subjects = {leaky.git("show", "-s", "--format=%s", one).strip() for one in found["commits"]}
    assert subjects == {"A note", "Say hunter2-correct-horse aloud", "Merge"}
    assert len(found["tags"]) == 1
    assert leaky.git("for-each-ref") == before
    assert "force-with-lease" in redact(leaky)


def test_it_is_taken_out_of_every_ref_and_file(leaky: Harbor) -> None:
    heads = leaky.git("rev-parse", "HEAD", "before").split()
    count = int(leaky.git("rev-list", "--count", "HEAD"))
    shown = redact(leaky, "--rewrite", "--dry-run")
    assert "force-with-lease" in shown
    assert leaky.git("rev-parse", "HEAD").strip() == heads[0]
    told = json.loads(redact(leaky, "--rewrite", "--json"))
    assert SECRET.encode() not in everything(leaky)
    assert (leaky.root / "Topic.md").read_text("utf-8") == "also [secret]\n"
    assert leaky.git("status", "--porcelain") == ""
    leaky.git("fsck", "--strict")
    assert int(leaky.git("rev-list", "--count", "HEAD")) == count + 1
    assert leaky.git("rev-parse", "before").strip() == heads[1]  # nothing changed so far back
    assert "with [secret]" in leaky.git("cat-file", "tag", "v1")
    assert "Say [secret] aloud" in leaky.subjects()
    old = leaky.git("show", "HEAD~2:Secret note.md")
    assert old == "one\r\nno key\r\nthree"
    assert leaky.git("show", "v1:Secret note.md") == "one\r\nthe key is [secret]\r\nthree"
    said = leaky.git("log", "-1", "--format=%B")
    assert "Orgvault-Op: redact" in said
    parent = leaky.git("rev-parse", "HEAD~1").strip()
    assert f"Orgvault-Redacted: {heads[0]} {parent}" in said
    assert told["rewritten"]["old_head"] == heads[0]
    lines = Path(told["rewritten"]["map"]).read_text("utf-8").splitlines()
    assert len(lines) == 1 + told["rewritten"]["commits"]


def test_only_the_secret_differs(leaky: Harbor) -> None:
    before = leaky.git("log", "--format=%T %an %ae %at %cn %ce %ct", "main").splitlines()
    rows = leaky.rows("episodes", "nova")
    redact(leaky, "--rewrite")
    after = leaky.git("log", "--format=%T %an %ae %at %cn %ce %ct", "main").splitlines()[1:]
    assert [one.split(" ", 1)[1] for one in after] == [one.split(" ", 1)[1] for one in before]
    assert leaky.rows("episodes", "nova") == rows


def test_an_audit_takes_it_for_what_it_is(leaky: Harbor) -> None:
    assert leaky.run("audit").code == 0
    redact(leaky, "--rewrite")
    told = leaky.run("audit", code=None)
    assert told.code == 0, told.out
    leaky.run("check")
    leaky.finish("nova", "run-2", "--turns", "1")


def test_afterwards_the_old_objects_can_go(leaky: Harbor) -> None:
    redact(leaky, "--rewrite")
    assert len(json.loads(redact(leaky, "--json"))["found"]["blobs"]) == 2  # reflogs keep them
    leaky.git("reflog", "expire", "--expire=now", "--all")
    leaky.git("gc", "-q", "--prune=now")
    told = redact(leaky)
    assert "it stands nowhere here" in told or "in git: 0 commits, 0 contents, 0 tags" in told


def test_rows_and_what_json_makes_of_a_secret(harbor: Harbor) -> None:
    segment = next((harbor.root / ORG / "episodes/nova").glob("2026-10*.jsonl"))
    first, *rest = segment.read_text("utf-8").splitlines()
    row = json.loads(first)
    row["summary"] = f"I used {OTHER} twice: {OTHER}"
    segment.write_text("\n".join([json.dumps(row), *rest]) + "\n", "utf-8")
    harbor.git("commit", "-qam", "Leak")
    ids = [one["id"] for one in harbor.rows("episodes", "nova")]
    harbor.run("redact", "--find", OTHER, "--rewrite")
    rows = harbor.rows("episodes", "nova")
    assert [one["id"] for one in rows] == ids
    assert rows[0]["summary"] == "I used [secret] twice: [secret]"
    assert segment.read_text("utf-8").splitlines()[1:] == rest


def test_signatures_that_would_be_false_are_dropped_and_others_stay(leaky: Harbor) -> None:
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----"

    def sign(revision: str, message: str) -> str:
        """A commit on a revision that claims to be signed."""
        parent = leaky.git("rev-parse", revision).strip()
        lines = leaky.git("cat-file", "commit", revision).partition("\n\n")[0].splitlines()
        tree, *people = [one for one in lines if not one.startswith("parent")]
        content = "\n".join([tree, f"parent {parent}", *people, signature, "", message, ""])
        done = subprocess.run(
            ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
            cwd=leaky.root, input=content.encode(), capture_output=True, check=True,
        )  # fmt: skip
        return done.stdout.decode().strip()

    clean, leak = sign("before", "clean"), sign("main", f"has {SECRET}")
    leaky.git("branch", "clean", clean)
    leaky.git("reset", "-q", "--soft", leak)
    redact(leaky, "--rewrite")
    assert leaky.git("rev-parse", "clean").strip() == clean
    told = leaky.git("cat-file", "commit", "HEAD~1")
    assert told.endswith("\n\nhas [secret]\n")
    assert "gpgsig" not in told
    leaky.git("fsck", "--strict")


def test_prompts_of_runs_are_no_longer_what_was_sent(harbor: Harbor) -> None:
    started = harbor.json("run", "start", "nova", "--message", f"Use {SECRET} now")
    told = redact(harbor, "--rewrite")
    assert "says that those texts are not what was sent" in told
    assert "is not the one it names: a secret was taken out" in harbor.run("audit").err
    shown = harbor.run("prompt", "verify", started["run"], code=1)
    assert "message      stored: changed" in shown.out
    assert "use [secret] now" in harbor.run("run", "show", started["run"]).out.lower()


def test_what_was_made_of_it_is_to_be_made_anew(harbor: Harbor) -> None:
    harbor.edit_org("goal: That", f"goal: That {SECRET}")
    harbor.git("commit", "-q", "-am", "A goal")
    told = redact(harbor, "--rewrite")
    assert "org.yaml had it: `orgvault compile`" in told
    assert "proposals had it" not in told
    harbor.run("compile")
    harbor.git("commit", "-q", "-am", "compiled", "--allow-empty")
    harbor.run("check")
    harbor.run("audit")


def test_a_proposal_has_the_hash_of_what_it_says_now(harbor: Harbor) -> None:
    skill = harbor.root / SKILL
    old = skill.read_bytes()
    last = old.decode().splitlines()[-1]
    change = change_of_lines(SKILL, old, (last,), (last, f"I say {SECRET} at the door."))
    card = filed(harbor, change).id
    assert "proposals had it" in redact(harbor, "--rewrite")
    assert "I say [secret] at the door." in harbor.run("proposal", "show", card).out
    harbor.run("check")
    assert "proposal-changed" not in harbor.run("audit", code=None).out
    harbor.run("proposal", "close", card, "No.")


def test_it_is_found_in_spool_and_untracked_files(harbor: Harbor) -> None:
    (harbor.root / "Loose.md").write_text(SECRET, "utf-8")
    spool = harbor.root / ".git/orgvault/spool"
    spool.mkdir(parents=True)
    (spool / "0-1-1-aa.json").write_text(SECRET, "utf-8")
    told = redact(harbor)
    assert "untracked  Loose.md" in told
    assert "in git: nowhere, so that there is nothing to rewrite" in told
    assert ".git       orgvault/spool/0-1-1-aa.json   (it waits to be committed" in told


def test_what_only_reflogs_keep_is_no_reason_to_rewrite_again(leaky: Harbor) -> None:
    redact(leaky, "--rewrite")
    before = leaky.git("for-each-ref")
    told = json.loads(redact(leaky, "--rewrite", "--json"))
    assert (told["rewritten"], bool(told["to_do"])) == (None, True)
    assert leaky.git("for-each-ref") == before


# ── what is refused ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("value", ["", "short", "[secret]"])
def test_values_that_would_hit_ordinary_words(harbor: Harbor, value: str) -> None:
    harbor.run("redact", "--value-from-env", "KEY", code=1, KEY=value)
    harbor.run("redact", code=2)
    harbor.run("redact", "--find", "x" * 9, "--value-from-env", "KEY", code=2)


def test_it_is_the_owners(leaky: Harbor) -> None:
    leaky.run("redact", "--find", SECRET, code=4, ORGVAULT_AGENT="nova")


def dirty(harbor: Harbor) -> None:
    (harbor.root / "Topic.md").write_text("changed", "utf-8")


def staged(harbor: Harbor) -> None:
    dirty(harbor)
    harbor.git("add", "-A")


def operation(harbor: Harbor) -> None:
    (harbor.root / ".git/MERGE_HEAD").write_text(harbor.git("rev-parse", "HEAD"), "utf-8")


def shallow(harbor: Harbor) -> None:
    (harbor.root / ".git/shallow").write_text(harbor.git("rev-parse", "before"), "utf-8")


def worktree(harbor: Harbor) -> None:
    harbor.git("worktree", "add", "-q", "../other", "topic")


def stash(harbor: Harbor) -> None:
    dirty(harbor)
    harbor.git("stash")


def named(harbor: Harbor) -> None:
    (harbor.root / f"{SECRET}.md").write_text("x", "utf-8")
    harbor.git("add", "-A")
    harbor.git("commit", "-q", "-m", "A name")


def detached(harbor: Harbor) -> None:
    harbor.git("checkout", "-q", "--detach")


def notes(harbor: Harbor) -> None:
    harbor.git("notes", "add", "-m", "a note on a commit")


def borrowed(harbor: Harbor) -> None:
    (harbor.root / ".git/objects/info/alternates").write_text("/nowhere\n", "utf-8")


@pytest.mark.parametrize(
    "obstacle",
    [dirty, staged, operation, shallow, worktree, stash, named, detached, notes, borrowed],
)
def test_a_history_that_cannot_be_rewritten_soundly_is_left_alone(
    leaky: Harbor, obstacle: object
) -> None:
    assert callable(obstacle)
    obstacle(leaky)
    before = leaky.git("for-each-ref"), leaky.git("status", "--porcelain")
    told = redact(leaky, "--rewrite", code=1)
    assert "nothing was redacted" in told
    assert "nothing was redacted" in redact(leaky, "--rewrite", "--dry-run", code=1)
    assert (leaky.git("for-each-ref"), leaky.git("status", "--porcelain")) == before


def test_a_branch_that_moves_meanwhile_leaves_all_as_it_was(leaky: Harbor) -> None:
    lock = leaky.root / ".git/refs/heads/topic.lock"
    lock.write_text("", "utf-8")
    before = leaky.git("for-each-ref")
    told = redact(leaky, "--rewrite", code=1)
    assert "cannot lock ref 'refs/heads/topic'" in told
    assert leaky.git("for-each-ref") == before
    assert leaky.git("status", "--porcelain") == ""


# ── killed on the way ───────────────────────────────────────────────────────────────────────────

# A git that kills whoever has called it before, or after, it does one thing.
DEADLY = """\
#!/bin/sh
case "$*" in *"{step}"*) {before} {git} "$@"; {after} exit;; esac
exec {git} "$@"
"""


@pytest.mark.parametrize("step", ["read-tree -m", "update-ref -m orgvault redact", "commit-tree"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_anywhere_it_is_begun_anew_or_done(
    leaky: Harbor, tmp_path: Path, step: str, when: str
) -> None:
    folder, kill = tmp_path / "bin", "kill -9 $PPID;"
    folder.mkdir()
    text = DEADLY.format(
        step=step, git=shutil.which("git"), before=kill if when == "before" else "",
        after=kill if when == "after" else "",
    )  # fmt: skip
    (folder / "git").write_text(text, "utf-8")
    (folder / "git").chmod(0o755)
    refs = leaky.git("for-each-ref")
    words = [sys.executable, "-m", "orgvault", "redact", "--find", SECRET, "--rewrite"]
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    killed = subprocess.run(words, cwd=leaky.root, env=environment, check=False)
    assert killed.returncode == -9
    while (leaky.root / ".git/index.lock").exists():
        time.sleep(0.01)  # git itself was not killed and ends in peace
    time.sleep(0.1)
    if leaky.git("status", "--porcelain"):
        assert "the working tree is not clean" in redact(leaky, "--rewrite", code=1)
        leaky.git("reset", "-q", "--hard")
    if leaky.git("for-each-ref") == refs:
        redact(leaky, "--rewrite")
    else:
        assert (step, when) in {
            ("update-ref -m orgvault redact", one) for one in ("before", "after")
        }
    assert SECRET.encode() not in everything(leaky)
    assert leaky.git("status", "--porcelain") == ""
    leaky.git("fsck", "--strict")


def test_tags_on_contents_and_folders_are_rewritten(harbor: Harbor) -> None:
    (harbor.root / "loose").write_text(f"only {SECRET}\n", "utf-8")
    (harbor.root / "Note.md").write_text(f"{SECRET}\n", "utf-8")
    blob = harbor.git("hash-object", "-w", "loose").strip()
    (harbor.root / "loose").unlink()
    harbor.git("add", "Note.md")
    harbor.git("commit", "-q", "-m", "A note")
    harbor.git("tag", "plain", blob)
    harbor.git("tag", "-a", "-m", "a key", "annotated", blob)
    harbor.git("tag", "folder", "HEAD^{tree}")
    redact(harbor, "--rewrite")
    assert SECRET.encode() not in everything(harbor)
    assert harbor.git("cat-file", "blob", "annotated^{blob}") == "only [secret]\n"
    assert harbor.git("cat-file", "blob", "folder:Note.md") == "[secret]\n"
    harbor.git("fsck", "--strict")


@pytest.mark.parametrize(
    "written",
    [
        json.dumps(json.dumps({"key": "pä/ss\nword-22"})),
        json.dumps({"key": "pä/ss\nword-22"}).replace("/", "\\/"),
        '{"key": "p\\u00E4/ss\\nword-22"}',
    ],
)
def test_what_json_and_json_in_json_make_of_it_is_found(harbor: Harbor, written: str) -> None:
    (harbor.root / "Note.md").write_text(written, "utf-8")
    harbor.git("add", "Note.md")
    harbor.git("commit", "-q", "-m", "A note")
    harbor.run("redact", "--find", "pä/ss\nword-22", "--rewrite")
    assert "word-22" not in (harbor.root / "Note.md").read_text("utf-8")
    assert b"word-22" not in everything(harbor)


def test_what_is_said_where_it_is_not_found_or_not_given(harbor: Harbor) -> None:
    assert "base64 say, is not looked for" in redact(harbor)
    told = harbor.run("redact", "--value-from-env", "NOWHERE_TO_BE_SEEN", code=2)
    assert "the variable NOWHERE_TO_BE_SEEN is not set" in told.err
    assert "nowhere" in harbor.run("redact", "--find", "aaaaaaaa\udcff\udcfe").out


def test_names_of_files_and_branches_are_found(harbor: Harbor) -> None:
    (harbor.root / f"{SECRET}.md").touch()
    harbor.git("branch", SECRET)
    harbor.git("pack-refs", "--all")
    told = harbor.json("redact", "--find", SECRET)["found"]
    assert told["untracked"] == ["[secret].md"]
    said = harbor.run("redact", "--find", SECRET).out
    (line,) = [one for one in said.splitlines() if "packed-refs" in one]
    assert "never remove it: rename the branch" in line


def test_touched_files_are_no_changed_ones(leaky: Harbor) -> None:
    for path in (leaky.root / ORG).rglob("*.yaml"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    redact(leaky, "--rewrite")
    assert SECRET.encode() not in everything(leaky)


def test_a_lock_of_another_program_is_said(leaky: Harbor) -> None:
    lock = leaky.root / ".git/index.lock"
    lock.write_bytes(b"")
    assert "another program holds index.lock" in redact(leaky, "--rewrite", code=1)
    lock.unlink()


def test_a_stash_that_is_older_than_the_secret_stays(harbor: Harbor) -> None:
    path = harbor.root / "Kitchen.md"
    path.write_text("flour\n", "utf-8")
    harbor.git("add", "-A")
    harbor.git("commit", "-q", "-m", "Kitchen")
    for words in ("salt", "sugar"):
        path.write_text(f"flour\n{words}\n", "utf-8")
        harbor.git("stash")
    (harbor.root / "Leak.md").write_text(f"key: {SECRET}\n", "utf-8")
    harbor.git("add", "-A")
    harbor.git("commit", "-q", "-m", "Leak")
    assert "rewritten: " in redact(harbor, "--rewrite")
    assert "[secret]" in (harbor.root / "Leak.md").read_text("utf-8")
    harbor.git("stash", "pop")
    assert path.read_text("utf-8") == "flour\nsugar\n"
    harbor.git("checkout", "-q", "--", ".")
    harbor.git("stash", "pop")
    assert path.read_text("utf-8") == "flour\nsalt\n"


def test_what_is_left_to_do_begins_with_the_rewriting(leaky: Harbor) -> None:
    first = "Left to do:\n  take it out of history: the same command with --rewrite"
    assert first in redact(leaky)
    (leaky.root / "Loose.md").write_text("x")
    leaky.git("add", "Loose.md")
    told = redact(leaky, "--rewrite", "--dry-run", code=1)
    assert ("the working tree is not clean" in told, "Left to do" in told) == (True, False)
    leaky.git("rm", "-q", "-f", "Loose.md")
    assert first not in redact(leaky, "--rewrite")
