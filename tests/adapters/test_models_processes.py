"""A model that hangs keeps no process alive, whatever it hangs in."""

import subprocess
import sys
import textwrap
import time
from pathlib import Path
from threading import enumerate as threads

import pytest

from orgvault.adapters.models import choose
from orgvault.errors import ModelFailed
from tests.provider import question, serving

ROOT = Path(__file__).parents[2]
ASK = """
import sys
from orgvault.adapters.models import choose
from orgvault.errors import ModelFailed
from tests.provider import question

{before}
model = choose("openai/m", {{"OPENAI_BASE_URL": sys.argv[1], "OPENAI_API_KEY": "k"}})
try:
    model.answer(question(), 1.0)
except ModelFailed as failure:
    print(failure.why)
"""
# A look-up that takes its time, as one does behind a resolver that does not answer.
SLOW_LOOK_UP = """
import socket, time
socket.getaddrinfo = lambda *given: time.sleep(30)
"""


def output_of(before: str, url: str) -> tuple[str, float]:
    """What a process that asks with a deadline of 1 s prints, and how long it lives (seconds)."""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(ASK.format(before=before)), url],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout.strip(), time.monotonic() - start


@pytest.mark.parametrize("mode", ["slow", "drip", "drip_head"])
def test_a_process_ends_with_its_deadline(mode: str) -> None:
    with serving(mode) as provider:
        said, lived_s = output_of("", f"{provider.url}/v1")
    assert said == "no answer in time"
    assert lived_s < 10


def test_a_look_up_that_hangs_ends_with_the_deadline() -> None:
    said, lived_s = output_of(SLOW_LOOK_UP, "http://models.example.org/v1")
    assert said == "no answer in time"
    assert lived_s < 10


@pytest.mark.parametrize("mode", ["slow", "drip", "drip_head"])
def test_the_connection_is_cut_so_that_its_thread_ends(mode: str) -> None:
    with serving(mode) as provider:
        model = choose("openai/m", {"OPENAI_BASE_URL": f"{provider.url}/v1"})
        assert model
        with pytest.raises(ModelFailed):
            model.answer(question(), 0.3)
        until = time.monotonic() + 5
        while any(one.name == "orgvault-model" for one in threads()):
            assert time.monotonic() < until, "the thread still waits for its server"
            time.sleep(0.02)
