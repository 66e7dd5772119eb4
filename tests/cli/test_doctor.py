"""`doctor`: one really broken vault for each line, and what `--fix` mends."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orgvault.domain.diagnosis import State, is_conflict_copy, is_second_copy, judge_version
from tests.harbor import BUILD, Harbor
from tests.vaults import held

ORG = ".agents/org"
Break = Callable[[Harbor], object]


def examined(harbor: Harbor, *words: str, **environment: str) -> dict[str, list[dict[str, Any]]]:
    """What doctor says, by the name of what was looked at."""
    found: dict[str, list[dict[str, Any]]] = {}
    told = harbor.run("doctor", *words, "--json", code=None, **environment)
    for one in told.json["diagnoses"]:
        found.setdefault(one["name"], []).append(one)
    faults = sum(one["state"] == "fault" for every in found.values() for one in every)
    assert told.json["faults"] == faults
    assert told.code == (1 if faults else 0)
    return found


def the(found: dict[str, list[dict[str, Any]]], name: str) -> dict[str, Any]:
    """The one answer of a name."""
    (one,) = found[name]
    return one


def git_file(harbor: Harbor, name: str, content: str = "", age_s: float = 0.0) -> Path:
    """A file in the git folder, of some age."""
    path = harbor.root / ".git" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")
    then = time.time() - age_s
    os.utime(path, (then, then))
    return path


def ours(harbor: Harbor, path: str, content: bytes = b"") -> None:
    """A file among orgvault's own."""
    place = harbor.root / ORG / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)


# ── a sound vault ───────────────────────────────────────────────────────────────────────────────


def test_a_sound_vault_has_no_fault_and_stays_as_it_is(harbor: Harbor) -> None:
    before = harbor.git("rev-parse", "HEAD")
    found = examined(harbor, CALENDAR_TOKEN="a-long-token", SITE_DEPLOY_KEY="a-long-key")
    states = {name: {one["state"] for one in every} for name, every in found.items()}
    assert states.pop("claims") == {"warning"}  # the fixture has a claim edited by hand
    assert set.union(*states.values()) == {"ok"}
    assert harbor.git("rev-parse", "HEAD") == before
    assert harbor.git("status", "--porcelain") == ""


def test_doctor_is_the_owners(harbor: Harbor) -> None:
    assert "may not examine" in harbor.run("doctor", code=4, ORGVAULT_AGENT="nova").err


# ── one defect each ─────────────────────────────────────────────────────────────────────────────


def lose_an_object(harbor: Harbor) -> None:
    oid = harbor.git("rev-parse", f"HEAD:{ORG}/org.yaml").strip()
    (harbor.root / ".git/objects" / oid[:2] / oid[2:]).unlink()


def sync_01(harbor: Harbor) -> None:
    (harbor.root / ".stfolder").mkdir()


def merge_underway(harbor: Harbor) -> None:
    git_file(harbor, "MERGE_HEAD", harbor.git("rev-parse", "HEAD"))


def shallow(harbor: Harbor) -> None:
    git_file(harbor, "shallow", harbor.git("rev-parse", "HEAD"))


def ignored(harbor: Harbor) -> None:
    (harbor.root / ".gitignore").write_text(".agents/\n", "utf-8")


def stray_branch(harbor: Harbor) -> None:
    git_file(harbor, "refs/heads/main 2", harbor.git("rev-parse", "HEAD"))


def unknown_entry(harbor: Harbor) -> None:
    git_file(harbor, "orgvault/spool/00000000000000000001-1-1-aa.json", '{"v": 99}\n')


def other_branch(harbor: Harbor) -> None:
    merge_underway(harbor)
    harbor.wake("nova")
    (harbor.root / ".git/MERGE_HEAD").unlink()
    entry = next((harbor.root / ".git/orgvault/spool").glob("*.json"))
    entry.write_text(entry.read_text("utf-8").replace("refs/heads/", "refs/heads/gone-"), "utf-8")


def old_claim(harbor: Harbor) -> None:
    path = next((harbor.root / ORG / "memory/nova/claims").glob("*.yaml"))
    lines = path.read_text("utf-8").splitlines(keepends=True)
    dated = ["last_seen: 2020-01-01T00:00:00Z\n" if x.startswith("last_seen") else x for x in lines]
    dated = [
        "first_seen: 2020-01-01T00:00:00Z\n" if x.startswith("first_seen") else x for x in dated
    ]
    path.write_text("".join(dated), "utf-8")


def future_row(harbor: Harbor) -> None:
    path = next((harbor.root / ORG / "episodes/nova").glob("2026-11*.jsonl"))
    text = path.read_text("utf-8").splitlines()
    ours(harbor, "episodes/nova/2999-01-0001.nova.aaaa.jsonl", b"")
    row = text[-1].replace("2026-11", "2999-01").replace('"id": "e-', '"id": "e-x')
    row = row.replace('"id":"e-', '"id":"e-x')
    ours(harbor, "episodes/nova/2999-01-0001.nova.aaaa.jsonl", f"{row}\n".encode())


def crlf(harbor: Harbor) -> None:
    path = next((harbor.root / ORG / "memory/nova/claims").glob("*.yaml"))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def stale_roster(harbor: Harbor) -> None:
    path = harbor.root / ORG / "org.yaml"
    path.write_text(path.read_text("utf-8") + "# a remark\n", "utf-8")


def broken_roster(harbor: Harbor) -> None:
    path = harbor.root / ORG / "org.yaml"
    path.write_text(path.read_text("utf-8") + "extra: 1\n", "utf-8")


def no_template(harbor: Harbor) -> None:
    (harbor.root / ORG / "prompts/system.md").unlink()


def open_git(harbor: Harbor) -> None:
    for folder in (harbor.root, *harbor.root.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o001)
    (harbor.root / ".git").chmod(0o777)


def shared_git(harbor: Harbor) -> None:
    (harbor.root / ".git/objects").chmod(0o775)


BROKEN: dict[str, tuple[Break, str, str, str]] = {
    # what breaks it, which line, its state, words in it
    "objects": (lose_an_object, "objects", "fault", "missing blob"),
    "SYNC-01": (sync_01, "sync tools", "warning", "Syncthing"),
    "SYNC-02": (
        lambda h: ours(
            h, "memory/nova/claims/c-7f3k2q9d.sync-conflict-20260101-120000-ABCDEFG.yaml"
        ),
        "conflict copies", "warning", "c-7f3k2q9d.sync-conflict-20260101-120000-ABCDEFG.yaml",
    ),
    "iCloud": (
        lambda h: ours(h, "org 2.yaml"), "conflict copies", "warning", f"{ORG}/org 2.yaml",
    ),
    "a branch of a sync tool": (stray_branch, "sync tools", "fault", "main 2"),
    "detached": (lambda h: h.git("checkout", "-q", "--detach"), "state", "warning", "detached"),
    "merge": (merge_underway, "state", "warning", "a merge is in progress"),
    "shallow": (shallow, "state", "warning", "shallow"),
    "GIT-17": (ignored, "ignored", "fault", ".gitignore:1:.agents/"),
    "GIT-19": (lambda h: h.git("config", "commit.gpgsign", "true"), "signing", "ok", "not signed"),
    "torn": (
        lambda h: ours(h, "episodes/nova/2026-11-0001.nova.a562.jsonl.torn-1f", b'{"i'),
        "torn rows", "warning", "a562.jsonl.torn-1f",
    ),
    "NUL": (lambda h: ours(h, "routines/x.yaml", b"a\0b"), "encodings", "fault", "NUL"),
    "latin-1": (lambda h: ours(h, "routines/x.yaml", b"\xe9"), "encodings", "fault", "not UTF-8"),
    "CR LF": (crlf, "line ends", "warning", "CR LF"),
    "an entry of a newer orgvault": (unknown_entry, "spool", "fault", "newer orgvault"),
    "an entry of a branch that is gone": (other_branch, "spool", "warning", "gone-"),
    "a claim of long ago": (old_claim, "claims", "warning", "1 claim not seen for a year"),
    "a claim that cannot be read": (
        lambda h: ours(h, "memory/nova/claims/c-7f3k2q9d.yaml", b"nothing"),
        "claims", "fault", "c-7f3k2q9d.yaml",
    ),
    "a clock that is behind": (future_row, "clock", "warning", "2999-01"),
    "a stale roster": (stale_roster, "roster", "warning", "is not what"),
    "a broken roster": (broken_roster, "roster", "warning", "does not compile"),
    "no roster": (lambda h: (h.root / ORG / "org.yaml").unlink(), "roster", "fault", "is missing"),
    "no template": (no_template, "template", "fault", "is missing"),
    "a .git that all may write": (open_git, "modes", "fault", "any user of this machine"),
    "a .git that a group may write": (shared_git, "modes", "warning", "a group may write"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_each_defect_has_its_line(harbor: Harbor, case: str) -> None:
    defect, name, state, words = BROKEN[case]
    assert words not in str(examined(harbor).get(name))
    defect(harbor)
    said = [one for one in examined(harbor)[name] if words in one["what"]]
    assert [one["state"] for one in said] == [state]
    assert state == "ok" or said[0]["do"]


def test_sync_01_a_sync_tool_and_a_lost_object_are_both_told(harbor: Harbor) -> None:
    sync_01(harbor)
    lose_an_object(harbor)
    told = harbor.run("doctor", code=1)
    assert "warning  sync tools: Syncthing" in told.out
    assert "fault    objects: `git fsck` misses" in told.out


def test_syncthing_that_leaves_git_alone_is_no_warning(harbor: Harbor) -> None:
    sync_01(harbor)
    (harbor.root / ".stignore").write_text("// mine\n/.git\n", "utf-8")
    assert the(examined(harbor), "sync tools")["state"] == "ok"


def test_sync_tools_are_told_by_the_folders_above(harbor: Harbor) -> None:
    moved = harbor.root.parent / "Dropbox" / "harbor"
    moved.parent.mkdir()
    harbor.root.rename(moved)
    assert "Dropbox" in the(examined(Harbor(moved)), "sync tools")["what"]


def test_hooks_are_named_and_not_run(harbor: Harbor) -> None:
    hook = git_file(harbor, "hooks/pre-commit", "#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    assert "pre-commit in " in the(examined(harbor), "hooks")["what"]
    harbor.git("config", "core.hooksPath", "my-hooks")
    (harbor.root / "my-hooks").mkdir()
    hook.rename(harbor.root / "my-hooks/commit-msg")
    assert "commit-msg in " in the(examined(harbor), "hooks")["what"]


def test_signing_as_org_yaml_says(harbor: Harbor) -> None:
    harbor.git("config", "commit.gpgsign", "true")
    harbor.edit_org("sign: false", "sign: true")
    assert "orgvault signs" in the(examined(harbor), "signing")["what"]


def test_rows_that_wait_are_told_with_their_age(harbor: Harbor) -> None:
    merge_underway(harbor)
    harbor.wake("nova")
    assert "1 acknowledged write" in the(examined(harbor), "spool")["what"]
    (entry,) = (harbor.root / ".git/orgvault/spool").glob("*.json")
    then = time.time_ns() - 3 * 86400 * 10**9
    entry.rename(entry.with_name(f"{then:020d}{entry.name[20:]}"))
    said = the(examined(harbor), "spool")
    assert (said["state"], "the oldest for 3 days" in said["what"]) == ("warning", True)


def test_secrets_are_named_and_never_shown(harbor: Harbor) -> None:
    told = harbor.run("doctor", code=None, CALENDAR_TOKEN="hunter2", SITE_DEPLOY_KEY="")
    assert "CALENDAR_TOKEN: under 8 characters" in told.out
    assert "not masked either: SITE_DEPLOY_KEY" in told.out
    assert "hunter2" not in told.out + told.err


def test_no_secrets_are_no_news(tmp_path: Path) -> None:
    fresh = Harbor(tmp_path)
    fresh.run("init")
    assert the(examined(fresh), "secrets")["what"] == "none are bound to agents"


def test_git_24_a_repository_of_another_user(harbor: Harbor) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another user")
    os.chown(harbor.root / ".git", 12345, 12345)
    found = examined(harbor)
    assert "safe.directory" in the(found, "owner")["what"]
    assert the(found, "owner")["state"] == "fault"
    assert any("of another user" in one["what"] for one in found["modes"])


def test_the_level_of_isolation_is_told_as_it_is(harbor: Harbor) -> None:
    open_git(harbor)
    (harbor.root / ".git").chmod(0o755)
    said = the(examined(harbor), "isolation")["what"]
    assert said.startswith("level 0: ")
    assert "can read the vault" in said
    harbor.root.chmod(0o700)
    assert "cannot read the vault" in the(examined(harbor), "isolation")["what"]


# ── what is mended ──────────────────────────────────────────────────────────────────────────────

LOCKS = ("index.lock", "HEAD.lock", "refs/heads/topic.lock", "packed-refs.lock", "config.lock")


@pytest.mark.parametrize("name", LOCKS)
def test_git_02_a_lock_that_nobody_holds_is_offered_and_removed(harbor: Harbor, name: str) -> None:
    lock = git_file(harbor, name, age_s=3600)
    said = the(examined(harbor), "locks")
    assert (said["state"], said["fixed"]) == ("fault", "")
    assert "for 1 hour; no process of yours has it open" in said["what"]
    assert "--fix" in said["do"]
    assert "would remove" in the(examined(harbor, "--fix", "--dry-run"), "locks")["fixed"]
    assert lock.exists()
    said = the(examined(harbor, "--fix"), "locks")
    assert (said["state"], said["fixed"]) == ("ok", f"removed {lock}")
    assert not lock.exists()
    assert the(examined(harbor, "--fix"), "locks")["what"].startswith("no lock")


def test_a_young_lock_stays(harbor: Harbor) -> None:
    lock = git_file(harbor, "index.lock", age_s=30)
    assert the(examined(harbor, "--fix"), "locks")["state"] == "warning"
    assert lock.exists()


def test_a_lock_that_somebody_has_open_stays(harbor: Harbor) -> None:
    lock = harbor.root / ".git/index.lock"
    with held(lock) as process:
        os.utime(lock, (1, 1))
        said = the(examined(harbor, "--fix"), "locks")
        assert (said["state"], f"({process.pid})" in said["what"]) == ("warning", True)
        assert lock.exists()


def test_a_lock_stays_while_git_waits_for_an_editor(harbor: Harbor) -> None:
    (harbor.root / "Note.md").write_text("more", "utf-8")
    harbor.git("add", "-A")
    script = harbor.root.parent / "editor"
    script.write_text("#!/bin/sh\ntouch opened\nwhile test -e opened; do sleep 0.05; done\n")
    script.chmod(0o755)
    command = ["git", "commit", "-a"]
    with subprocess.Popen(
        command, cwd=harbor.root, env={**os.environ, "GIT_EDITOR": str(script)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as committing:  # fmt: skip
        opened = harbor.root / "opened"
        while not opened.exists():
            assert committing.poll() is None
            time.sleep(0.02)
        lock = harbor.root / ".git/index.lock"
        assert lock.exists()
        os.utime(lock, (1, 1))
        said = the(examined(harbor, "--fix"), "locks")
        assert (said["state"], "git" in said["what"]) == ("warning", True)
        assert lock.exists()
        opened.unlink()
        committing.wait()


def test_the_lock_of_a_dead_orgvault_is_left_to_the_next_write(harbor: Harbor) -> None:
    git_file(harbor, "index.lock", '{"orgvault": 1, "git_dir": "x"}\n', age_s=3600)
    said = the(examined(harbor, "--fix"), "locks")
    assert (said["state"], "next write" in said["do"]) == ("warning", True)


@pytest.mark.parametrize("name", [".gitattributes", ".gitignore"])
@pytest.mark.parametrize("content", [None, "# mine\n*.yaml text", "# mine\n!.orgvault-tmp-*\n"])
def test_missing_attributes_are_written_below_what_is_the_persons(
    harbor: Harbor, name: str, content: str | None
) -> None:
    path, line = harbor.root / ORG / name, {".gitattributes": "attributes"}.get(name, "ignore file")
    if content is None:
        path.unlink()
    else:
        path.write_text(content, "utf-8")
    harbor.git("commit", "-qam", "Mine")
    said = the(examined(harbor), line)
    assert (said["state"], "--fix" in said["do"]) == ("fault", True)
    assert "would write" in the(examined(harbor, "--fix", "--dry-run"), line)["fixed"]
    assert harbor.git("status", "--porcelain") == ""
    assert the(examined(harbor, "--fix"), line)["fixed"] == f"wrote {ORG}/{name}"
    assert path.read_text("utf-8").startswith(content or "# Written by orgvault")
    assert the(examined(harbor), line)["state"] == "ok"
    assert harbor.subjects(1) == [f"org(vault): mend {name}"]


def test_attributes_that_are_no_text_are_left_to_the_person(harbor: Harbor) -> None:
    path = harbor.root / ORG / ".gitattributes"
    path.write_bytes(b"\xff\xfe*.yaml text\n")
    harbor.git("commit", "-qam", "Mine")
    said = the(examined(harbor, "--fix"), "attributes")
    assert (said["state"], said["do"]) == ("fault", "save it as UTF-8, then --fix")
    assert path.read_bytes() == b"\xff\xfe*.yaml text\n"


def test_attributes_that_others_overrule_are_told(harbor: Harbor) -> None:
    git_file(harbor, "info/attributes", "*.yaml text eol=crlf\n")
    harbor.git("config", "core.autocrlf", "true")
    said = the(examined(harbor, "--fix"), "attributes")
    assert (said["state"], ".git/info" in said["do"]) == ("fault", True)
    assert "core.autocrlf is true" in said["what"]


def test_doctor_works_where_no_write_does(harbor: Harbor) -> None:
    harbor.finish("nova", "run-1", "--transcript", BUILD)
    for path in (".git/index.lock", ".git/MERGE_HEAD"):
        (harbor.root / path).write_text("", "utf-8")
    (harbor.root / ORG / ".gitattributes").unlink()
    told = harbor.run("doctor", "--fix", code=1)
    assert "fault    attributes: the vault is busy" in told.out


# ── the names it knows ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("git version 2.20.1", State.FAULT), ("git version 2.30.2", State.WARNING),
        ("git version 2.39.5 (Apple Git-154)", State.OK),
        ("git version 2.45.1.windows.1", State.OK),
        ("nonsense", State.FAULT),
    ],
)  # fmt: skip
def test_versions_of_git(said: str, state: State) -> None:
    assert judge_version(said).state == state


@pytest.mark.parametrize(
    "name",
    [
        "core.sync-conflict-20260101-120000-ABCDEFG.md",
        "core (Sam's conflicted copy 2026-01-01).md",
        "core (conflict 2026-01-01).md",
    ],
)  # fmt: skip
def test_conflict_copies_have_telling_names(name: str) -> None:
    assert is_conflict_copy(name)


@pytest.mark.parametrize("name", ["org 2.yaml", "core (1).md", "org.yaml.orig", "org.yaml~"])
def test_second_copies_are_told_among_our_own_files_only(name: str) -> None:
    assert is_second_copy(name)
    assert not is_conflict_copy(name)


@pytest.mark.parametrize(
    "name", ["core.md", "2026-11-0001.nova.a562.jsonl", "c-7f3k2q9d.yaml", "r-q7d1m6xs.yaml"]
)
def test_our_own_names_are_none(name: str) -> None:
    assert not is_second_copy(name)
