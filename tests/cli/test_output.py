"""What is shown: nothing that a model or a stranger wrote steers the terminal."""

import contextlib
import io
import json
import os
import subprocess
import sys
import termios

import pytest

from orgvault.cli import answers, output
from tests.harbor import BUILD, Harbor
from tests.provider import Provider, serving

QUOTE = "ModuleNotFoundError: No module named 'markdown'"
HOSTILE = (
    "I lose turns.\nreflection: applied\n  added c-xxxx a line that orgvault never wrote",
    "I lose \x1b[31mred\x1b]0;pwn\x07 turns.",
    "I lose \u202esnrut\u2066 turns \u200b often.",
    "I lose \x00 turns \x9b1A often\u2028again.",
)


def answer(text: str, op: str = "add") -> str:
    """An answer with one operation of this text."""
    one = {
        "why": "it cost turns", "evidence": QUOTE, "op": op, "claim": None, "claim_starts": "",
        "kind": "lesson", "text": text,
    }  # fmt: skip
    return json.dumps({"operations": [one]})


def at(provider: Provider) -> dict[str, str]:
    """The environment in which a provider is reached."""
    return {"OPENAI_BASE_URL": provider.url + "/v1", "OPENAI_API_KEY": "sk-test-0123456789"}


@pytest.fixture
def remote(harbor: Harbor) -> Harbor:
    """A harbor whose nova reflects with a model."""
    harbor.edit_org("model: builtin/extractive", "model: openai/tiny")
    return harbor


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_model_wrote_is_shown_on_one_line_and_escaped(remote: Harbor, text: str) -> None:
    words = ["reflect", "nova", "--run", "run-1", "--turns", "5", "--transcript", BUILD]
    with serving("given", text=answer(text)) as provider:
        told = remote.run(*words, code=0, **at(provider))
    again = remote.run("replay", "run-1")
    whole = remote.run("replay", "run-1", "--json")
    for out in (told.out, again.out, whole.out):
        assert all(char.isprintable() or char == "\n" for char in out), out
    assert told.out.count("\n") == 4  # the run, its summary, the reflection, its operation
    assert again.out.count("\n") == 3
    assert whole.json["reflections"][0]["operations"][0]["text"] == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext\r\n", "plain\n\ttext\r\n"),
        ("größe می\u200cکنم 👩\u200d👧 a\u3000b", "größe می\u200cکنم 👩\u200d👧 a\u3000b"),
        ("\x1b[31m\x7f\x85\r", r"\x1b[31m\x7f\x85\r"),
        ("\u202e\u200f\ufeff\u00ad", r"\u202e\u200f\ufeff\xad"),
        ("a\udce9 \U000e0041", r"a\udce9 \U000e0041"),
    ],
)
def test_only_what_steers_or_hides_is_escaped(text: str, shown: str) -> None:
    assert output.visible(text) == shown
    assert json.loads(output.as_json(json.dumps({"a": text}, ensure_ascii=False))) == {"a": text}


def test_a_cell_is_one_line(harbor: Harbor) -> None:
    harbor.run("wake", "add", "nova", "--reason", "task", "--note", "a\nb \x1b[1m \u202e")
    assert r"a\nb \x1b[1m \u202e" in harbor.run("wake", "list").out


def test_an_error_says_a_hostile_name_escaped(harbor: Harbor) -> None:
    told = harbor.run("memory", "no\x1b[31mva\u202e", code=1)
    assert r"no\x1b[31mva\u202e" in told.err


@pytest.mark.parametrize("form", answers.FORMATS)
def test_a_query_escapes_in_every_format_on_a_terminal(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", terminal)
    columns, rows = ("t\x1b",), [("\x1b[31m\u202e\u200b\x9b",)]
    if form != "table":  # which asks for the settings of a command
        told = "".join(answers.lines(form, columns, ("VARCHAR",), rows))
        assert all(char.isprintable() or char in "\r\n" for char in told)


def test_none_in_the_list_is_nothing_new(remote: Harbor) -> None:
    with serving("given", text=answer("I install things first.", "none")) as provider:
        words = ["reflect", "nova", "--run", "run-1", "--turns", "5", "--transcript", BUILD]
        told = remote.run(*words, code=0, **at(provider))
    assert "reflection: nothing new\n" in told.out
    assert "not applied yet" not in told.out


def test_the_days_cap_is_said_in_words(remote: Harbor) -> None:
    with serving() as provider:
        words = ["reflect", "nova", "--run", "run-1", "--turns", "5", "--transcript", BUILD]
        told = remote.run(*words, code=0, ORG_REFLECT_MAX_PER_DAY="0", **at(provider))
        assert provider.asked == []
    said = "the day's model calls are used up (ORG_REFLECT_MAX_PER_DAY)"
    assert f"reflection: skipped ({said})" in told.out
    assert told.err == f"orgvault: not reflected on: {said}\n"
    again = remote.run("replay", "run-1")
    assert f"no answer is stored: {said}" in again.out
    assert "0 stored answers, 0 would be judged otherwise" in again.out


def test_a_counter_that_cannot_be_kept_is_said_with_what_to_do(remote: Harbor) -> None:
    (remote.root / ".git/orgvault/calls.json").unlink(missing_ok=True)
    (remote.root / ".git/orgvault/calls.json").mkdir(parents=True)
    with serving() as provider:
        words = ["reflect", "nova", "--run", "run-1", "--turns", "5", "--transcript", BUILD]
        told = remote.run(*words, code=0, **at(provider))
        assert provider.asked == []
    assert "reflection: failed (the day's model calls cannot be counted (" in told.out
    assert "calls.json: is a directory): remove what stands there" in told.out
    assert "Error" not in told.out


def test_our_own_colours_reach_a_terminal_and_a_strangers_do_not(harbor: Harbor) -> None:
    harbor.run("wake", "add", "nova", "--reason", "task", "--note", "a \x1b[31m red note")
    ours, theirs = os.openpty()
    termios.tcsetwinsize(ours, (50, 200))
    words = ("-m", "orgvault", "wake", "list")
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    subprocess.run(
        [sys.executable, *words], cwd=harbor.root, stdout=theirs, check=True,
        env={**environment, "TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(theirs)
    told = b""
    with contextlib.suppress(OSError):  # how the end of a terminal is read
        while piece := os.read(ours, 65536):
            told += piece
    os.close(ours)
    assert b"\x1b[1m" in told
    assert b"\x1b[31m" not in told
    assert rb"a \x1b[31m red note" in told


@pytest.mark.parametrize("words", [("wake", "list"), ("task", "list"), ("memory", "nova")])
def test_with_json_nothing_is_drawn(harbor: Harbor, words: tuple[str, ...]) -> None:
    code = (
        f"import sys; from orgvault.cli.main import main; main({[*words, '--json']}); "
        "print('rich' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=harbor.root, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"
