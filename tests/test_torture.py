"""The programs of tests/torture in small: the same, with few trials."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harbor import make_harbor
from tests.torture import (
    answers,
    clocks,
    crowd,
    disk,
    histories,
    kills,
    power,
    states,
    syscalls,
    vaults,
)
from tests.torture import model as against_a_dict
from tests.torture.invariants import Vault, broken, see
from tests.torture.scene import commands, model
from tests.torture.traced import Disk
from tests.vaults import folder_in_memory

SEED = 1


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder where fsync costs nothing."""
    with folder_in_memory() as folder:
        yield folder


needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


def test_the_invariants_see_what_is_broken(memory: Path) -> None:
    harbor = make_harbor(memory)
    before = see(harbor.root)
    assert broken(harbor.root, before, set()) == []
    segment = next((harbor.root / ".agents/org/episodes/nova").glob("*.jsonl"))
    (row, *_), content = segment.read_text("utf-8").splitlines(), segment.read_bytes()
    segment.write_bytes(content + row.encode() + b"\n")
    assert any("2 times on disk" in one for one in broken(harbor.root, before, set()))
    segment.write_bytes(content[:-5])
    assert any("does not end in a newline" in one for one in broken(harbor.root, before, set()))
    segment.write_bytes(content)
    claim = next((harbor.root / ".agents/org/memory/nova/claims").glob("*.yaml"))
    text = claim.read_bytes()
    claim.write_bytes(text.replace(b"\nkind: ", b"\nkind: x"))
    assert any("was altered: kind" in one for one in broken(harbor.root, before, set()))
    claim.unlink()
    assert any("is gone" in one for one in broken(harbor.root, before, set()))
    claim.write_bytes(text)
    (harbor.root / "Areas/Log.md").write_text("another\n")
    assert any(
        "the person's file Areas/Log.md" in one for one in broken(harbor.root, before, set())
    )
    lost = {("wakes", "nova", "w-00000000.added")}
    assert any("lost" in one for one in broken(harbor.root, before, lost))
    assert sum(Vault(harbor.root).on_disk().rows.values()) > 10


def test_what_is_not_synced_may_be_lost_and_nothing_else(memory: Path) -> None:
    (memory / "f").write_bytes(b"old")
    disk_ = Disk.of(memory)
    here = str(memory)
    disk_.take([
        f'1 openat(AT_FDCWD<{here}>, "{here}/t", O_WRONLY|O_CREAT, 0644) = 3<{here}/t>',
        f'1 write(3<{here}/t>, "\\x61\\x62", 2) = 2',
        f'1 rename("{here}/t", "{here}/f") = 0',
        f'1 openat(AT_FDCWD<{here}>, "{here}/g", O_WRONLY|O_CREAT, 0644) = 3<{here}/g>',
        f'1 write(3<{here}/g>, "\\x63", 1) = 1',
        f"1 fsync(3<{here}/g>) = 0",
    ])  # fmt: skip
    chance = random.Random(SEED)  # noqa: S311 - to be repeated
    seen = {tuple(sorted(disk_.cut(6, chance, strict=False).items())) for _ in range(200)}
    contents = [dict(one) for one in seen]
    assert {one[f"{here}/f"] for one in contents} == {b"old", b"", b"a", b"ab"}
    assert {one.get(f"{here}/g") for one in contents} == {None, b"c"}


def test_two_thousand_answers() -> None:
    done, told = answers.trials(2000, SEED)
    assert told == []
    assert done["raised"] == 0
    assert sum(count for name, count in done.items() if name[0].isdigit()) > 100


def test_kills_at_random(memory: Path) -> None:
    done, wrong = kills.trials(24, SEED, memory)
    assert wrong == []
    assert done["lost"] == 0
    assert done["promised"] > 24


@needs_strace
@pytest.mark.parametrize("name", ["wake-done", "memory edit", "task add"])
def test_kills_at_system_calls(memory: Path, name: str) -> None:
    (memory / "model").mkdir()
    scene = model(memory / "model")
    done, told = syscalls.kills(scene, memory, name, commands(scene)[name], 12, SEED)
    assert told == []
    assert done["killed"] > 3


@needs_strace
def test_a_disk_that_fails(memory: Path) -> None:
    (memory / "model").mkdir()
    scene = model(memory / "model")
    done, told = disk.errors(scene, memory, "wake-done", commands(scene)["wake-done"], 60, SEED)
    assert told == []
    assert sum(done.values()) > 10


@needs_strace
def test_the_power_fails(memory: Path) -> None:
    (memory / "model").mkdir()
    scene = model(memory / "model")
    for name in ("wake-done", "memory edit", "wake add"):
        words = commands(scene)[name]
        _, told = power.cuts(scene, memory, name, words, 3, "1", strict=False)
        assert told == []


def test_a_crowd(tmp_path: Path) -> None:
    figures, wrong = crowd.crowd(tmp_path, 8, 3)
    assert wrong == []
    assert figures["writes"] == 24


def test_honest_histories(memory: Path) -> None:
    done, told = histories.trials(3, 14, str(SEED), memory)
    assert told == []
    assert done["audits"] == 6


def test_states_of_the_repository(memory: Path) -> None:
    (memory / "model").mkdir()
    done, told = states.combinations(model(memory / "model"), memory, 19, SEED)
    assert told == []
    assert sum(done.values()) > 15


def test_bad_vaults(memory: Path) -> None:
    done, told = vaults.trials(30, SEED, memory)
    assert told == []
    assert done["named"] > 5


def test_clocks(memory: Path) -> None:
    done, told = clocks.trials(60, SEED, memory)
    assert told == []
    assert sum(done.values()) == 60


def test_stories_against_a_dict(memory: Path) -> None:
    against_a_dict.stories(memory, 6, 12)
