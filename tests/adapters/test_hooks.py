"""Hooks: what becomes of a value, of every way to fail, and of what a hook leaves behind."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from orgvault.adapters.hooks import MARK, Ended, Hook, run_hooks, strict_json

BUDGET_S = 0.8
SLACK_S = 1.0  # of a busy machine; what is shown is that nobody waits for a sleep of 60 seconds
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "LC_ALL": "C", "OPENAI_API_KEY": "x"}


def run(
    tmp_path: Path, *scripts: str, secrets: dict[str, str] | None = None, told: object = None
) -> list[Ended]:
    """What came of shell scripts; when it returns, no process of theirs is there."""
    mark = os.urandom(8).hex()
    hooks = [Hook(("sh", "-c", one), told, secrets or {}) for one in scripts]
    began = time.monotonic()
    ended = run_hooks(hooks, str(tmp_path), ENVIRONMENT, time.monotonic, mark, BUDGET_S)
    assert time.monotonic() - began < BUDGET_S + SLACK_S
    assert marked(mark) == []
    return ended


def one(tmp_path: Path, script: str) -> Ended:
    (ended,) = run(tmp_path, script)
    return ended


def marked(mark: str) -> list[str]:
    """The processes that carry the mark in their environment, by what /proc says."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (path / "environ").read_bytes():
                found.append((path / "cmdline").read_text())
        except OSError:
            continue
    return found


def test_no_hooks_cost_nothing(tmp_path: Path) -> None:
    assert run(tmp_path) == []


def test_values_come_back_in_order(tmp_path: Path) -> None:
    slow, quick = run(tmp_path, "sleep 0.2; echo '{\"a\": [1, 2.5]}'", "echo '\"b\"'")

    assert (slow.value, slow.unavailable) == ({"a": [1, 2.5]}, None)
    assert (quick.value, quick.unavailable) == ("b", None)
    assert slow.ms >= 200 > quick.ms


def test_null_is_a_value_that_says_nothing(tmp_path: Path) -> None:
    ended = one(tmp_path, "echo null")

    assert (ended.value, ended.unavailable) == (None, None)


def test_a_hook_hears_json_and_only_the_environment_it_may(tmp_path: Path) -> None:
    script = f"""exec {sys.executable} -c '
import json, os, sys
print(json.dumps([json.load(sys.stdin), dict(os.environ), os.getcwd()]))'"""
    (ended,) = run(
        tmp_path, script, secrets={"SECRET": "sesame"}, told={"run": "r", "ä": "x" * 200}
    )

    told, environment, cwd = ended.value
    assert told == {"run": "r", "ä": "x" * 200}
    assert environment["SECRET"] == "sesame"
    assert {"PATH", "HOME", "LC_ALL", MARK} <= set(environment)
    assert "OPENAI_API_KEY" not in environment
    assert cwd == str(tmp_path)


def test_more_than_a_pipe_holds_is_told(tmp_path: Path) -> None:
    told = {"text": "x" * 300_000}

    heard, deaf = run(tmp_path, "wc -c", "echo 1", told=told)

    assert heard.value == 300_000 + len('{"text": ""}')
    assert deaf.value == 1


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo '{'", "what it printed is not JSON"),
        ("echo NaN", "what it printed is not JSON"),
        ("echo 1e999", "what it printed is not JSON"),
        ("echo '1 2'", "what it printed is not JSON"),
        ("""echo '{"a": 1, "a": 2}'""", "what it printed is not JSON"),
        (r"""printf '"\\ud800"'""", "what it printed is not JSON"),
        (r"printf '\377'", "what it printed is not JSON"),
        ("head -c 30000 /dev/zero | tr '\\0' '['", "what it printed is not JSON"),
        ("true", "it printed nothing"),
        ("echo 1; echo oh >&2; echo dear >&2; exit 3", "it exited with 3: dear"),
        ("echo 1; kill -9 $$", "it was ended by signal 9"),
        ("sleep 60", "not done after 0.8 seconds"),
        ("echo 1; exec >&- 2>&-; sleep 60", "not done after 0.8 seconds"),
        ("kill -STOP $$", "not done after 0.8 seconds"),
        ("trap '' TERM INT HUP; echo 1; while :; do sleep 1; done", "not done after 0.8 seconds"),
        ("yes", "it printed more than 32,000 bytes"),
        ("head -c 33000 /dev/zero | tr '\\0' 1; sleep 60", "it printed more than 32,000 bytes"),
    ],
)  # fmt: skip
def test_what_fails_is_unavailable(tmp_path: Path, script: str, why: str) -> None:
    ended = one(tmp_path, script)

    assert (ended.value, ended.unavailable) == (None, why)


def test_32000_bytes_are_allowed_and_one_more_is_not(tmp_path: Path) -> None:
    most, more = (
        f"printf '\"'; head -c {n} /dev/zero | tr '\\0' a; printf '\"'" for n in (31_998, 31_999)
    )

    fits, does_not = run(tmp_path, most, more)

    assert fits.value == "a" * 31_998
    assert does_not.unavailable == "it printed more than 32,000 bytes"


def test_prompt_04_a_child_that_keeps_the_pipe_and_33000_bytes(tmp_path: Path) -> None:
    keeps, prints = run(tmp_path, "sleep 60 & echo 1", "head -c 33000 /dev/zero | tr '\\0' 1")

    assert keeps.unavailable == "it left a process running that holds its output"
    assert prints.unavailable == "it printed more than 32,000 bytes"


@pytest.mark.parametrize(
    "left", ["sleep 60", "setsid sleep 60", "(sleep 60 & sleep 60 &)", "setsid sh -c 'sleep 60 &'"]
)
def test_children_that_let_go_of_the_pipe_are_ended(tmp_path: Path, left: str) -> None:
    ended = one(tmp_path, f"{left} >/dev/null 2>&1 </dev/null & echo 1")

    assert ended.value == 1


def test_a_child_in_a_session_of_its_own_that_keeps_the_pipe_is_ended(tmp_path: Path) -> None:
    ended = one(tmp_path, "setsid sleep 60 & echo 1")

    assert ended.unavailable == "it left a process running that holds its output"


def test_one_bad_hook_harms_no_other(tmp_path: Path) -> None:
    *bad, good = run(tmp_path, "sleep 60", "yes", "exit 1", "yes >&2", "echo '{\"ok\": true}'")

    assert all(each.unavailable for each in bad)
    assert good.value == {"ok": True}


def test_programs_are_found_in_the_connectors_folder_and_nowhere_else(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    program = folder / "hook"
    program.write_text("#!/bin/sh\necho 7\n")
    program.chmod(0o755)
    (folder / "hook.py").write_text("print(8)\n")
    (tmp_path / "outside").write_text("#!/bin/sh\necho 9\n")
    (tmp_path / "outside").chmod(0o755)
    (folder / "link").symlink_to(tmp_path / "outside")
    words = [("./hook",), ("python3", "./hook.py"), ("./../outside",), ("./link",), ("no-such",)]
    hooks = [Hook(one, None, {}, str(folder)) for one in words] + [Hook(("./hook",), None, {})]

    ended = run_hooks(hooks, str(tmp_path), ENVIRONMENT, time.monotonic, "m", 5.0)

    assert [one.value for one in ended] == [7, 8, None, None, None, None]
    outside = "its program is not in the connector's folder"
    missing = "its program cannot be started (no such file or directory)"
    assert [one.unavailable for one in ended[2:]] == [outside, outside, missing, outside]


def test_a_module_is_not_taken_from_the_vault(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("print('hijacked')\n")
    hook = Hook(("python3", "-m", "orgvault.adapters.connectors.git"), {"agent": {}}, {})

    (ended,) = run_hooks([hook], str(tmp_path), ENVIRONMENT, time.monotonic, "m", 5.0)

    assert (ended.value, ended.unavailable) == ([], None)


@pytest.mark.parametrize("text", [b"[1, 1.5, null, true]", b' {"a": {"b": []}}\n', '"ö"'.encode()])
def test_strict_json_reads_what_everybody_reads_alike(text: bytes) -> None:
    value: Any = strict_json(text)

    assert value is not None


def test_a_failure_on_the_way_leaves_nothing_running(tmp_path: Path) -> None:
    times = iter([0.0, 0.0, 0.0])
    mark = os.urandom(8).hex()

    def clock() -> float:
        try:
            return next(times)
        except StopIteration:
            raise KeyboardInterrupt from None

    hook = Hook(("sleep", "60"), None, {})
    with pytest.raises(KeyboardInterrupt):
        run_hooks([hook], str(tmp_path), ENVIRONMENT, clock, mark, 5.0)

    assert marked(mark) == []
