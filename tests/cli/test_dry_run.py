"""`--dry-run` asks what the write itself would ask, and changes nothing."""

import pytest

from tests.harbor import Harbor

CLAIM = "c-6eqjp2wb"
EDIT = ("memory", "edit", CLAIM, "I do it in another way now.")
ADD = ("wake", "add", "nova", "--reason", "task")


def everything(harbor: Harbor) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(harbor.root.rglob("*"))
        if path.is_file() and path.name != "tokens.json"  # a cache of ours
    }


def merging(harbor: Harbor) -> None:
    (harbor.root / ".git/MERGE_HEAD").write_text(harbor.git("rev-parse", "HEAD"))


def detached(harbor: Harbor) -> None:
    harbor.git("checkout", "-q", "--detach")


def locked(harbor: Harbor) -> None:
    (harbor.root / ".git/index.lock").write_text("")


def staged(harbor: Harbor) -> None:
    path = harbor.root / f".agents/org/memory/nova/claims/{CLAIM}.yaml"
    text = path.read_text()
    path.write_text(text + "# mine\n")
    harbor.git("add", "--", str(path))
    path.write_text(text)


@pytest.mark.parametrize("state", [merging, detached, locked, staged])
def test_a_text_is_refused_as_the_write_itself_is(harbor: Harbor, state: object) -> None:
    assert callable(state)
    state(harbor)
    before = everything(harbor)
    dry = harbor.run(*EDIT, "--dry-run", code=None)
    assert everything(harbor) == before
    real = harbor.run(*EDIT, code=None)
    assert real.code in {75, 5}
    assert (dry.code, dry.out) == (real.code, real.out)
    assert dry.err.split(" has been there")[0] == real.err.split(" has been there")[0]


@pytest.mark.parametrize("state", [merging, locked])
def test_rows_carry_the_remark_that_they_will_wait(harbor: Harbor, state: object) -> None:
    assert callable(state)
    state(harbor)
    before = everything(harbor)
    dry = harbor.run(*ADD, "--dry-run")
    assert everything(harbor) == before
    why = "to be committed later: "
    assert why in dry.err
    real = harbor.run(*ADD)
    dry_why, real_why = (told.err.split(why)[1].split(" has been")[0] for told in (dry, real))
    assert dry_why == real_why


def test_rows_on_a_detached_head_are_refused(harbor: Harbor) -> None:
    detached(harbor)
    dry, real = harbor.run(*ADD, "--dry-run", code=75), harbor.run(*ADD, code=75)
    assert dry.err == real.err


def test_at_rest_a_dry_run_shows_what_would_be_committed(harbor: Harbor) -> None:
    before = everything(harbor)
    assert "would commit: memory(nova)" in harbor.run(*EDIT, "--dry-run").out
    assert everything(harbor) == before


def test_a_claim_in_both_folders_is_not_retired_again(harbor: Harbor) -> None:
    folder = harbor.root / ".agents/org/memory/nova"
    text = (folder / f"claims/{CLAIM}.yaml").read_bytes()
    harbor.run("memory", "retire", CLAIM, "the first reason")
    (folder / f"claims/{CLAIM}.yaml").write_bytes(text)
    told = harbor.run("memory", "retire", CLAIM, "the second reason", code=None)
    assert told.code == 1
    assert "the first reason" in (folder / f"closed/{CLAIM}.yaml").read_text()
    assert CLAIM not in harbor.run("memory", "nova").out
