"""Whatever state the person's repository is in: rows are acknowledged, and nothing is disturbed."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orgvault.errors import Detached, ForeignRepository, VaultBusy
from orgvault.git.history import (
    in_history,
    last_before,
    newest_changes,
    past_contents,
    snapshot,
    touching,
)
from orgvault.store.vault import Vault
from tests.vaults import Home, make_vault, plant, row

Abort = Callable[[Home], None]


def two_branches(home: Home) -> None:
    """`main` and `other`, which cannot be merged without a conflict in note.md."""
    home.git("switch", "-q", "-c", "other")
    home.write("note.md", "theirs\n")
    home.commit("theirs")
    home.git("switch", "-q", "main")
    home.write("note.md", "ours\n")
    home.commit("ours")


def merge(home: Home) -> None:
    home.git("merge", "-q", "other", code=1)


def rebase(home: Home) -> None:
    home.git("rebase", "-q", "other", code=1)


def cherry_pick(home: Home) -> None:
    home.git("cherry-pick", "other", code=1)


def revert(home: Home) -> None:
    home.write("note.md", "again\n")
    home.commit("again")
    home.git("revert", "--no-edit", "HEAD~2", code=1)


def bisect(home: Home) -> None:
    for number in range(4):
        home.write("n.md", f"{number}\n")
        home.commit(str(number))
    home.git("bisect", "start", "HEAD", "HEAD~4")


def apply_mail(home: Home) -> None:
    patch = home.git_bytes("format-patch", "-1", "--stdout", "other")
    home.git("am", "-q", stdin=patch, code=128)


STATES: dict[str, tuple[Callable[[Home], None], tuple[str, ...], str]] = {
    "merge": (merge, ("merge", "--abort"), "a merge"),
    "rebase": (rebase, ("rebase", "--abort"), "a rebase"),
    "cherry-pick": (cherry_pick, ("cherry-pick", "--abort"), "a cherry-pick"),
    "revert": (revert, ("revert", "--abort"), "a revert"),
    "bisect": (bisect, ("bisect", "reset"), "a bisect"),
    "am": (apply_mail, ("am", "--abort"), "`git am`"),
}


@pytest.mark.parametrize("state", STATES)
def test_git_10_12_an_operation_in_progress(home: Home, state: str) -> None:
    enter, abort, said = STATES[state]
    two_branches(home)
    home.record("nova", "e-0")
    home.write("untouched.md", "mine\n")
    enter(home)
    before = home.persons()
    whole = sorted(str(path) for path in home.top.rglob("*") if ".git/" not in str(path))

    vault = home.record("nova", "e-1")
    assert vault.remarks == [f"recorded, to be committed later: {said} is in progress"]
    assert home.rows_on_disk() == (["e-0"] if state != "rebase" else [])
    assert len(home.spooled()) == 1
    with pytest.raises(VaultBusy, match=said) as refused:
        home.write_texts({"Org/a.md": "x\n"}, row("nova", "e-2"))
    assert refused.value.exit_code == 75
    seen = [line.row["id"] for line in home.fresh().logs.lines("episodes", "nova", [])]
    assert seen[-2:] == ["e-1", "e-2"]
    assert home.persons() == before
    assert sorted(str(p) for p in home.top.rglob("*") if ".git/" not in str(p)) == whole

    home.git(*abort)
    home.git("symbolic-ref", "HEAD")
    home.record("nova", "e-3")
    assert home.rows_in_head() == ["e-0", "e-1", "e-2", "e-3"]
    assert home.spooled() == []


def test_a_rebase_that_is_finished_keeps_what_was_recorded_meanwhile(home: Home) -> None:
    two_branches(home)
    rebase(home)
    home.record("nova", "e-1")
    home.write("note.md", "both\n")
    home.git("add", "note.md")
    home.git("-c", "core.editor=true", "rebase", "--continue")
    home.record("nova", "e-2")
    assert home.rows_in_head() == ["e-1", "e-2"]


def test_an_unmerged_file_after_a_stash_pop_stays_unmerged(home: Home) -> None:
    home.write("note.md", "stashed\n")
    home.git("stash", "-q")
    home.write("note.md", "other\n")
    home.commit("other")
    home.git("stash", "pop", "-q", code=1)
    before = home.persons()
    assert home.record("nova", "e-1").remarks == []
    home.write_texts({"Org/a.md": "x\n"})
    assert home.rows_in_head() == ["e-1"]
    unmerged = [line for line in home.persons().index if line.endswith(b"\tnote.md")]
    assert len(unmerged) == 3
    assert unmerged == [line for line in before.index if line.endswith(b"\tnote.md")]
    assert b"u UU" in b"".join(home.persons().status)


def test_git_13_a_detached_head(home: Home) -> None:
    home.record("nova", "e-1")
    home.git("switch", "-q", "--detach")
    with pytest.raises(Detached, match="check out a branch") as refused:
        home.record("nova", "e-2")
    assert refused.value.exit_code == 75
    for rows in ((), (row("nova", "e-3"),)):
        with pytest.raises(Detached):
            home.write_texts({"Org/a.md": "x\n"}, *rows)
    assert [line.row["id"] for line in home.fresh().logs.lines("episodes", "nova", [])] == ["e-1"]
    assert home.spooled() == []


def test_git_14_an_unborn_branch(memory: Path) -> None:
    home = make_vault(memory / "v", empty=True)
    home.write("draft.md", "staged\n")
    home.git("add", "draft.md")
    assert list(home.fresh().logs.lines("episodes", "nova", [])) == []
    home.record("nova", "e-1")
    assert home.rows_in_head() == ["e-1"]
    assert home.git("rev-list", "--count", "HEAD") == "1\n"
    assert "A  draft.md" in home.git("status", "--porcelain")
    home.write_texts({"Org/a.md": "x\n"})
    home.fsck()


def test_linked_worktrees_share_the_spool_and_each_drains_its_own_branch(home: Home) -> None:
    home.record("nova", "e-0")
    tree = home.top.parent / "tree"
    home.git("worktree", "add", "-q", "-b", "side", str(tree))
    side = Home(tree, tree)
    two_branches(home)
    merge(home)
    home.record("nova", "main-1")
    side.record("nova", "side-1")
    assert side.rows_in_head() == ["e-0", "side-1"]
    assert [row["id"] for row in rows_seen(side)] == ["e-0", "side-1"]
    assert [row["id"] for row in rows_seen(home)] == ["e-0", "main-1"]
    side.write_texts({"Org/a.md": "side\n"})
    home.git("merge", "--abort")
    home.record("nova", "main-2")
    assert home.rows_in_head() == ["e-0", "main-1", "main-2"]
    assert side.git("status", "--porcelain") == home.git("status", "--porcelain") == ""


def rows_seen(home: Home) -> list[dict[str, object]]:
    return [line.row for line in home.fresh().logs.lines("episodes", "nova", [])]


def test_a_submodule(memory: Path) -> None:
    inner = make_vault(memory / "inner")
    outer = memory / "outer"
    outer.mkdir()
    for args in (("init", "-q"), ("submodule", "--quiet", "add", str(inner.top), "vault")):
        subprocess.run(["git", "-c", "protocol.file.allow=always", *args], cwd=outer, check=True)
    home = Home(outer / "vault", outer / "vault")
    home.record("nova", "e-1")
    home.write_texts({"Org/a.md": "x\n"})
    assert home.rows_in_head() == ["e-1"]
    assert (outer / ".git/modules/vault/orgvault/lock").exists()
    home.fsck()


def test_a_shallow_clone(home: Home, memory: Path) -> None:
    home.record("nova", "e-1")
    clone = memory / "clone"
    subprocess.run(
        ["git", "clone", "-q", "--depth", "1", f"file://{home.top}", str(clone)], check=True
    )
    copy = Home(clone, clone)
    copy.record("nova", "e-2")
    assert copy.rows_in_head() == ["e-1", "e-2"]


@pytest.mark.parametrize(
    "settings",
    [
        ("core.autocrlf=true",),
        ("core.autocrlf=true", "core.safecrlf=true"),
        ("core.splitIndex=true",),
        ("core.untrackedCache=true",),
        ("index.version=4",),
        ("feature.manyFiles=true",),
        ("core.logAllRefUpdates=false",),
        ("core.sharedRepository=group",),
        ("core.trustctime=false", "core.checkStat=minimal"),
        ("core.ignoreStat=true",),
        ("core.quotePath=false", "core.precomposeUnicode=true"),
        ("user.useConfigOnly=true",),
        ("i18n.commitEncoding=latin1",),
        ("receive.denyCurrentBranch=refuse", "push.gpgSign=if-asked"),
    ],
)
def test_settings_of_the_persons(home: Home, settings: tuple[str, ...]) -> None:
    home.write("note.md", "staged\n")
    home.git("add", "note.md")
    for setting in settings:
        home.git("config", *setting.split("=", 1))
    home.git("update-index", "--force-write-index")
    before = home.persons()
    home.record("nova", "e-1")
    home.write_texts({"Org/a.md": "one\n", "Org/b.md": "b\n"}, row("nova", "e-2"))
    home.write_texts({"Org/a.md": "two\n", "Org/b.md": None})
    assert home.rows_in_head() == ["e-1", "e-2"]
    assert home.text_in_head("Org/a.md") == "two\n"
    assert home.git("status", "--porcelain") == "M  note.md\n"
    assert [line for line in home.persons().index if b"Org/" not in line] == list(before.index)
    home.fsck()


def test_git_26_the_same_text_again_is_no_commit(home: Home) -> None:
    home.git("config", "core.autocrlf", "true")
    home.write_texts({"Org/a.md": "one\ntwo\n"})
    head = home.head()
    home.write_texts({"Org/a.md": "one\ntwo\n"})
    assert home.head() == head


@pytest.mark.parametrize("cone", [True, False])
def test_a_sparse_checkout(home: Home, *, cone: bool) -> None:
    home.write("big/folder/file.md", "big\n")
    home.write_texts({"Org/a.md": "one\n"})
    home.commit("big")
    home.git("sparse-checkout", "init", *(["--cone", "--sparse-index"] if cone else ["--no-cone"]))
    home.git("sparse-checkout", "set", *([".agents"] if cone else ["/.agents/", "/note.md"]))
    assert not (home.top / "big").exists()
    home.record("nova", "e-1")
    home.write_texts({"Org/b.md": "two\n"})
    assert home.rows_in_head() == ["e-1"]
    assert home.text_in_head("Org/a.md") == "one\n"
    assert home.text_in_head("Org/b.md") == "two\n"
    assert home.git("status", "--porcelain", "--untracked-files=no") == ""
    home.fsck()


def test_a_sha256_repository(memory: Path) -> None:
    home = make_vault(memory / "v", args=("--object-format=sha256",))
    home.record("nova", "e-1")
    home.write_texts({"Org/a.md": "x\n", "Org/b.md": "x\n"})
    home.write_texts({"Org/a.md": None})
    assert len(home.head()) == 64
    assert home.rows_in_head() == ["e-1"]
    home.fsck()


def test_everything_only_in_packs(home: Home) -> None:
    home.record("nova", "e-1")
    home.write_texts({"Org/a.md": "x\n"})
    home.git("gc", "-q", "--prune=now")
    home.git("pack-refs", "--all")
    assert not list((home.git_dir / "objects").glob("[0-9a-f][0-9a-f]/*"))
    home.record("nova", "e-2")
    home.write_texts({"Org/a.md": "y\n"})
    assert home.rows_in_head() == ["e-1", "e-2"]
    home.fsck()


def test_git_variables_of_another_repository(
    home: Home, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_vault(memory / "other")
    before = other.head(), other.persons()
    for name in ("GIT_DIR", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, str(other.top / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.top / ".git/index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.top))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other.top / ".git/objects"))
    monkeypatch.setenv("GIT_COMMITTER_NAME", "somebody")
    home.record("nova", "e-1")
    for name in [name for name in os.environ if name.startswith("GIT_") and "CONFIG" not in name]:
        monkeypatch.delenv(name)
    assert (other.head(), other.persons()) == before
    assert home.rows_in_head() == ["e-1"]
    assert home.git("log", "-1", "--format=%cn") == "Sam\n"


def test_without_an_identity_orgvault_is_the_committer(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "gitconfig"
    empty.write_text("")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(empty))
    home.record("nova", "e-1")
    told = home.git("log", "-1", "--format=%an <%ae> %cn <%ce> %ad", "--date=iso")
    assert told == (
        "nova <nova@agents.invalid> orgvault <orgvault@localhost.invalid> "
        "2026-11-20 09:14:03 +0000\n"
    )
    home.fsck()


HOOKS = (
    "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction",
    "post-index-change", "post-rewrite", "pre-auto-gc", "fsmonitor-watchman",
)  # fmt: skip


def test_git_21_no_hook_ever_runs(home: Home, tmp_path: Path) -> None:
    for name in HOOKS:
        hook = home.git_dir / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho {name} >>'{tmp_path}/ran'\necho x >> note.md\nexit 1\n")
        hook.chmod(0o755)
    home.git("config", "core.fsmonitor", str(home.git_dir / "hooks/fsmonitor-watchman"))
    home.record("nova", "e-1")
    home.write_texts({"Org/a.md": "x\n"}, row("nova", "e-2"))
    assert not (tmp_path / "ran").exists()
    assert (home.top / "note.md").read_text() == "one\n"
    assert home.rows_in_head() == ["e-1", "e-2"]
    home.git("config", "--unset", "core.fsmonitor")
    assert home.git("status", "--porcelain") == ""


GPG = {
    "works": "#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho 'a signature'\n",
    "fails": "#!/bin/sh\necho 'no secret key' >&2\nexit 2\n",
    "hangs": "#!/bin/sh\nsleep 60 & \nsleep 60\n",
}


@pytest.mark.parametrize("gpg", GPG)
def test_git_19_signing(home: Home, tmp_path: Path, gpg: str) -> None:
    program = tmp_path / "gpg"
    program.write_text(GPG[gpg])
    program.chmod(0o755)
    home.git("config", "commit.gpgsign", "true")
    home.git("config", "gpg.program", str(program))
    assert home.record("nova", "e-1").remarks == []
    assert "gpgsig" not in home.git("cat-file", "commit", "HEAD")
    two_branches(home)
    merge(home)
    home.record("nova", "e-2")
    home.git("merge", "--abort")

    vault = home.fresh()
    vault.sign = True
    home.record("nova", "e-3", vault=vault)
    assert home.rows_in_head() == ["e-1", "e-2", "e-3"]
    signed = "gpgsig" in home.git("cat-file", "commit", "HEAD")
    assert signed == (gpg == "works")
    name, address, written, committed = home.git("log", "-1", "--format=%cn|%ce|%at|%ct").split("|")
    assert (name, address, written) == ("Sam", "sam@example.org", committed.strip())
    assert len(vault.remarks) == (0 if signed else 1)
    assert all(remark.startswith("not signed") for remark in vault.remarks)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_git_24_a_repository_of_another_user(home: Home) -> None:
    home.record("nova", "e-1")
    for place in (home.top, *home.top.rglob("*")):
        os.lchown(place, 12345, 12345)
    with pytest.raises(ForeignRepository, match=r"safe\.directory") as refused:
        home.record("nova", "e-2")
    assert (refused.value.exit_code, home.spooled()) == (1, [])
    with pytest.raises(ForeignRepository):
        home.write_texts({"Org/a.md": "x\n"})
    repository = home.fresh().repository
    for ask in (
        lambda: list(newest_changes(repository, "note.md")),
        lambda: touching(repository, ["note.md"]),
        lambda: snapshot(repository, "HEAD"),
        lambda: last_before(repository, "2026-11-20T09:14:03Z"),
        lambda: in_history(repository, "HEAD"),
        lambda: list(past_contents(repository, "HEAD", "note.md")),
    ):
        with pytest.raises(ForeignRepository):
            ask()
    home.git("config", "--global", "--add", "safe.directory", str(home.top))
    try:
        home.record("nova", "e-2")
        assert home.rows_in_head() == ["e-1", "e-2"]
    finally:
        home.git("config", "--global", "--unset-all", "safe.directory")


def test_a_branch_that_stands_for_another(home: Home) -> None:
    home.git("symbolic-ref", "refs/heads/trunk", "refs/heads/main")
    home.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    home.record("nova", "e-1")
    assert home.rows_in_head() == ["e-1"]
    assert home.git("rev-parse", "main") == home.git("rev-parse", "trunk")


def test_a_vault_that_was_moved_finishes_what_was_begun(home: Home) -> None:
    moved = home.top.parent / "moved"
    home.record("nova", "e-1")
    home.top.rename(moved)
    vault = Vault.find(str(moved / ".agents"))
    assert [line.row["id"] for line in vault.logs.lines("episodes", "nova", [])] == ["e-1"]


def test_a_vault_planted_in_a_repository_with_work(memory: Path) -> None:
    top = memory / "repo"
    top.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=top, check=True)
    home = plant(top, below="v", empty=True)
    home.write("note.md", "first\n")
    home.commit("note")
    home.record("nova", "e-1")
    assert home.rows_in_head() == ["e-1"]


def test_during_a_rebase_of_a_branch_without_rows_those_recorded_meanwhile_are_seen(
    home: Home,
) -> None:
    two_branches(home)
    home.git("rm", "-r", "-q", "--ignore-unmatch", ".agents")
    home.git("commit", "-q", "--allow-empty", "-m", "no vault yet")
    rebase(home)
    assert list(home.fresh().logs.lines("episodes", "nova", [])) == []
    home.record("nova", "e-1")
    assert [line.row["id"] for line in home.fresh().logs.lines("episodes", "nova", [])] == ["e-1"]
