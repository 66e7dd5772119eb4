"""Whatever a model or its server does: the run is recorded, the reason too, and a retry works."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orgvault.adapters.clock import SystemClock, random_bytes
from orgvault.adapters.models import find
from orgvault.adapters.transcripts import read_session
from orgvault.domain.access import Actor
from orgvault.domain.reflection import Result
from orgvault.domain.wake import Reason
from orgvault.services.asking import DEADLINE_S
from orgvault.services.desk import Desk
from orgvault.services.finishing import Finished, FinishedRun, reflect, wake_done
from orgvault.services.means import Means
from orgvault.services.reflecting import Reflecting
from orgvault.services.waking import add_wake
from orgvault.store.roster import load
from orgvault.store.vault import Vault
from tests.harbor import BUILD, Harbor, make_harbor
from tests.provider import MODES, NONE, serving

LEFT_S = 0.7
# The manners in which an answer comes all the same; every other one is a fault.
FINE = {
    "good", "fenced", "prose", "given", "400_schema", "422_schema", "500_schema",
    "400_temperature", "400_limit", "400_effort",
}  # fmt: skip
FAULTS = sorted(MODES.keys() - FINE)


@dataclass
class Late:
    """The real time, on which all but a moment of a command's deadline is gone already."""

    real: SystemClock = field(default_factory=SystemClock)
    began: float | None = None

    def now(self) -> str:
        return self.real.now()

    def monotonic(self) -> float:
        if self.began is None:
            self.began = time.monotonic()
            return 0.0
        return DEADLINE_S - LEFT_S + time.monotonic() - self.began


@pytest.fixture
def harbor(tmp_path: Path) -> Harbor:
    """A harbor whose nova reflects with a model."""
    made = make_harbor(tmp_path)
    made.edit_org("model: builtin/extractive", "model: openai/tiny")
    return made


def at_work(harbor: Harbor, url: str) -> tuple[Desk, Reflecting]:
    """The owner's desk, and reflection with a provider at an address."""
    vault = Vault.find(str(harbor.root))
    roster, _ = load(vault)
    desk = Desk(vault, roster, Actor("owner", "sam"), Late(), random_bytes, "0", len)
    environment = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "sk-test-0123456789"}
    means = Means("cheap", 200, lambda name: find(name, environment), read_session)
    return desk, Reflecting(desk, means)


def finish(harbor: Harbor, url: str) -> Finished:
    """Wake nova and report its run while a provider is at that address."""
    desk, reflecting = at_work(harbor, url)
    wake = add_wake(desk, "nova", Reason.TASK, None, "")
    return wake_done(desk, FinishedRun(run="run-1", wakes=(wake,), transcript=BUILD), reflecting)


def again(harbor: Harbor, url: str) -> Finished:
    """`reflect` on the run once more."""
    desk, reflecting = at_work(harbor, url)
    return reflect(desk, FinishedRun(run="run-1", agent="nova"), reflecting)


@contextmanager
def nobody() -> Iterator[str]:
    """An address at which connections are refused."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def stands_and_can_be_tried_again(harbor: Harbor, done: Finished) -> None:
    """The episode and a reason are recorded, and a later `reflect` succeeds."""
    assert done.new
    assert done.closed
    assert done.reflection is not None
    assert done.reflection.result in {Result.FAILED, Result.UNREADABLE}
    assert done.reflection.reason
    assert [one["run"] for one in harbor.rows("episodes", "nova")][-1] == "run-1"
    (row,) = [one for one in harbor.rows("reflections", "nova") if one["run"] == "run-1"]
    assert row["reason"] == done.reflection.reason
    assert "sk-" not in str(row)
    with serving("given", text=NONE) as provider:
        retried = again(harbor, provider.url)
    assert retried.reflection is not None
    assert retried.reflection.result is Result.APPLIED
    assert [one["result"] for one in harbor.rows("reflections", "nova")][-1] == "applied"


@pytest.mark.parametrize("mode", FAULTS)
def test_every_fault_is_a_reason_and_can_be_tried_again(harbor: Harbor, mode: str) -> None:
    began = time.monotonic()
    with serving(mode) as provider:
        done = finish(harbor, provider.url)
        assert provider.asked
    assert time.monotonic() - began < 10
    stands_and_can_be_tried_again(harbor, done)


@pytest.mark.parametrize("mode", FAULTS)
def test_every_fault_of_the_repair_is_a_reason_and_can_be_tried_again(
    harbor: Harbor, mode: str
) -> None:
    began = time.monotonic()
    with serving("malformed", mode) as provider:
        done = finish(harbor, provider.url)
        assert 2 <= len(provider.asked) <= 3
    assert time.monotonic() - began < 10
    stands_and_can_be_tried_again(harbor, done)
    assert done.reflection
    assert done.reflection.calls == 2


@pytest.mark.parametrize("after", ["0", "1", "30", "Wed, 21 Oct 2026 07:28:00 GMT", "soon"])
@pytest.mark.parametrize("status", ["429", "503"])
def test_retry_after_never_passes_the_deadline(harbor: Harbor, status: str, after: str) -> None:
    began = time.monotonic()
    with serving(status, retry_after=after) as provider:
        done = finish(harbor, provider.url)
        assert 1 <= len(provider.asked) <= 2
    assert time.monotonic() - began < 10
    stands_and_can_be_tried_again(harbor, done)


def test_a_refused_connection_is_a_reason_and_can_be_tried_again(harbor: Harbor) -> None:
    with nobody() as url:
        done = finish(harbor, url)
    stands_and_can_be_tried_again(harbor, done)


@pytest.mark.parametrize("mode", sorted(FINE))
def test_every_other_manner_is_an_answer(harbor: Harbor, mode: str) -> None:
    with serving(mode) as provider:
        done = finish(harbor, provider.url)
    assert done.reflection is not None
    assert (done.reflection.result, done.reflection.reason) == (Result.APPLIED, "")


def test_cheap_with_nothing_there_is_a_skip_and_can_be_tried_again(tmp_path: Path) -> None:
    harbor = make_harbor(tmp_path)
    harbor.edit_org("model: builtin/extractive", "model: cheap")
    with nobody() as url:
        done = harbor.finish("nova", "run-1", "--transcript", BUILD, OLLAMA_HOST=url)
    assert done["episode"]["reflect_skipped"].startswith("no_model: ")
    models = [{"name": "llama4:8b", "details": {"family": "llama"}}]
    with serving("given", text=NONE, models=models) as provider:
        words = ["reflect", "nova", "--run", "run-1"]
        retried = harbor.json(*words, OLLAMA_HOST=provider.url)
    assert retried["reflection"]["result"] == "applied"
    assert retried["reflection"]["model"] == "ollama/llama4:8b"
