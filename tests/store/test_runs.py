"""Runs in a vault: rows and texts, read back byte for byte wherever they have come to stand."""

from dataclasses import replace
from pathlib import Path

import pytest

from orgvault.digests import sha256
from orgvault.domain.prompt import Composed, Message, Section
from orgvault.domain.run import KeptSection, KeptText, Manifest, TaskSource, manifest_id
from orgvault.store.faults import RowTooLong
from orgvault.store.runs import (
    HISTORY,
    ROW,
    TREE,
    WAITING,
    Found,
    Runs,
    digest_in,
    text_path,
    to_store,
)
from orgvault.store.vault import Vault
from tests.vaults import NOVA, Home, make_vault, message

LARGE = "x" * 70_000
PLAIN = Composed(
    (
        Section("guidelines", "Be plain.\r\n\u2028Be kind. "),
        Section("task", "Mend the feed.\n"),
        Section("state", 'State:\n{"utc_now": 1}'),
        Section("memory", ""),
    ),
    Message("Group Chat info", 'Group Chat info: {"latestMessage": "ahoy \U0001f44b"}'),
    0,
)


def manifest(composed: Composed, run: str, *, at: str, agent: str = "nova") -> Manifest:
    return Manifest(
        id=manifest_id(agent, run), agent=agent, run=run, at=at, actor="sam", origin="group",
        prompt_sha256=composed.sha256, counter="words", sources=(), task_source=TaskSource(),
        sections=tuple(
            KeptSection(name=one.name, sha256=one.sha256, bytes=len(one.text.encode()), tokens=1)
            for one in composed.sections
        ),
        neutralised=0, version="0",
    )  # fmt: skip


def record(
    home: Home, composed: Composed, run: str, at: str = "2026-11-20T09:14:03Z", agent: str = "nova"
) -> Manifest:
    made = manifest(composed, run, at=at, agent=agent)
    rows, contents = to_store(made, composed)
    home.fresh().record(message(f"run({agent}): start {run}"), NOVA, rows, at, contents)
    return made


def read(vault: Vault, made: Manifest) -> tuple[Composed, list[str]]:
    """A run as it is read back, and where each text was found."""
    runs = Runs(vault)
    system, *after = runs.opening(made)
    hashes = {one.name: one.sha256 for one in made.sections}
    found = [(one.name, runs.text("nova", one, hashes[one.name])) for one in system.texts]
    said = [(row.title, runs.text("nova", one, one.sha256 or "")) for row in after
            for one in row.texts]  # fmt: skip
    texts = tuple(Section(name, _there(one)) for name, one in found)
    opening = Message(said[0][0], _there(said[0][1])) if said else None
    return Composed(texts, opening, 0), [one.where for _, one in (*found, *said)]


def _there(found: Found) -> str:
    assert found.text is not None
    return found.text


def test_texts_stand_once_by_their_content_and_state_and_message_in_the_rows(
    tmp_path: Path,
) -> None:
    home = make_vault(tmp_path / "v")
    first = record(home, PLAIN, "run-00000001")
    second = record(home, replace(PLAIN, opening=None), "run-00000002")

    assert read(home.fresh(), first) == (PLAIN, [TREE, TREE, ROW, TREE, ROW])
    assert read(home.fresh(), second)[0] == replace(PLAIN, opening=None)
    paths = list(Runs(home.vault).paths())
    assert len(paths) == 3
    for path in paths:
        content = (home.root / path).read_bytes()
        assert digest_in(path.rpartition("/")[2]) == sha256(content).hexdigest()
        assert home.git_bytes("cat-file", "blob", f"HEAD:{path}") == content
    assert home.git("status", "--porcelain") == ""


@pytest.mark.parametrize("size", [66_000, 400_000])
def test_what_no_row_can_hold_goes_by_its_content_too(tmp_path: Path, size: int) -> None:
    home = make_vault(tmp_path / "v")
    state = Section("state", "é<" * (size // 3))
    large = Composed((*PLAIN.sections[:2], state), Message("", "y" * size), 0)

    made = record(home, large, "run-00000001")

    assert read(home.fresh(), made) == (large, [TREE, TREE, TREE, TREE])


def test_a_manifest_that_no_row_can_hold_is_refused() -> None:
    made = replace(manifest(PLAIN, "run-00000001", at="2026-11-20T09:14:03Z"), tools=(LARGE,))

    with pytest.raises(RowTooLong):
        to_store(made, PLAIN)


def test_in_a_merge_a_run_waits_whole_and_is_read_from_the_spool(tmp_path: Path) -> None:
    home = in_a_merge(tmp_path)
    made = record(home, PLAIN, "run-00000001")

    assert Runs(home.fresh()).manifest("nova", "run-00000001") == made
    assert read(home.fresh(), made) == (PLAIN, [WAITING, WAITING, ROW, WAITING, ROW])
    assert not (home.root / ".agents/org/runs").exists()

    home.git("merge", "--abort")
    home.record("nova", "e-after")
    assert read(home.fresh(), made) == (PLAIN, [TREE, TREE, ROW, TREE, ROW])


def test_texts_that_have_left_the_working_tree_are_read_from_history(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v", below="deep/vault[1]")
    made = record(home, PLAIN, "run-00000001")
    home.write_texts(dict.fromkeys(Runs(home.vault).paths()))

    assert list(Runs(home.fresh()).paths()) == []
    assert read(home.fresh(), made) == (PLAIN, [HISTORY, HISTORY, ROW, HISTORY, ROW])


def test_texts_of_a_merged_branch_that_left_them_are_read_from_history(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v")
    home.git("switch", "-q", "-c", "other")
    made = record(home, PLAIN, "run-00000001")
    home.write_texts(dict.fromkeys(Runs(home.vault).paths()))
    home.git("switch", "-q", "main")
    home.write("n.md", "n\n")
    home.commit("n")
    home.git("merge", "-q", "--no-edit", "other")

    assert read(home.fresh(), made)[0] == PLAIN


def test_a_text_that_somebody_has_altered_is_said_and_read_from_history(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v")
    record(home, PLAIN, "run-00000001")
    task = PLAIN.sections[1]
    home.write(text_path("nova", "task", task.sha256), "Sink the feed.\n")

    found = Runs(home.fresh()).text("nova", KeptText(name="task"), task.sha256)

    assert found == Found(task.text, HISTORY, altered=True)


def test_a_text_that_never_was_is_not_found(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v")

    assert Runs(home.fresh()).text("nova", KeptText(name="task"), "0" * 64) == Found(None)


def test_manifests_are_found_by_run_and_listed_newest_first(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v")
    large = Composed((Section("state", "z" * 50_000),), None, 0)
    made = [
        record(home, large, f"run-0000000{n}", f"2026-1{n % 3}-20T09:14:03Z") for n in (0, 1, 2)
    ]
    theirs = record(home, PLAIN, "run-00000009", agent="atlas")
    runs = Runs(home.fresh())

    assert [runs.manifest("nova", one.run) for one in made] == made
    assert runs.manifest("nova", "run-00000009") is None
    assert runs.manifest("nova", "run-zzzzzzzz") is None
    assert runs.find(["nova", "atlas"], "run-00000009") == theirs
    assert runs.manifests("nova") == made[::-1]
    assert runs.manifests("nova", 1) == [made[2]]


def test_an_id_is_taken_once_a_run_has_it_in_its_row_or_the_spool(tmp_path: Path) -> None:
    home = in_a_merge(tmp_path)
    assert not Runs(home.fresh()).is_taken("nova", "run-00000001")
    record(home, PLAIN, "run-00000001")
    assert Runs(home.fresh()).is_taken("nova", "run-00000001")

    home.git("merge", "--abort")
    home.record("nova", "e-after")

    assert Runs(home.fresh()).is_taken("nova", "run-00000001")
    assert not Runs(home.fresh()).is_taken("atlas", "run-00000001")


def test_only_texts_that_no_recent_run_uses_are_unused(tmp_path: Path) -> None:
    home = make_vault(tmp_path / "v")
    old, new, shared = (Section("task", word) for word in ("old", "new", "shared"))
    guidelines = Section("guidelines", "same")
    for number, (task, at) in enumerate(
        [(old, "2026-09-01"), (shared, "2026-09-02"), (new, "2026-11-19"), (shared, "2026-11-20")]
    ):
        composed = Composed((guidelines, task), None, 0)
        record(home, composed, f"run-0000000{number}", f"{at}T09:14:03Z")
    gone = record(home, Composed((Section("task", "theirs"),), None, 0), "run-00000007",
                  "2026-09-01T09:14:03Z", agent="atlas")  # fmt: skip
    runs = Runs(home.fresh())

    unused = [text_path("nova", "task", old.sha256)]
    unused += [text_path("atlas", "task", gone.sections[0].sha256)]
    assert sorted(runs.unused_since("2026-11-19T09:14:03Z")) == sorted(unused)
    assert runs.unused_since("2026-01-01T00:00:00Z") == []


def in_a_merge(tmp_path: Path) -> Home:
    home = make_vault(tmp_path / "v")
    home.git("switch", "-q", "-c", "other")
    home.write("note.md", "theirs\n")
    home.commit("theirs")
    home.git("switch", "-q", "main")
    home.write("note.md", "ours\n")
    home.commit("ours")
    home.git("merge", "-q", "other", code=1)
    return home
