"""Clients: whatever they print is heard, bounded, and read for what it is."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

from orgvault.adapters.clients import ClientResult, run_client, with_options
from tests.clients import CLAUDE, CODEX


def run(body: str, prompt: str = "", **env: str) -> ClientResult:
    code = f"import os, sys, time, json\n{body}"
    return run_client([sys.executable, "-c", code], {**os.environ, **env}, os.getcwd(), prompt)  # noqa: PTH109


def test_plain_text_gives_its_last_paragraph() -> None:
    got = run("print('I looked.\\n\\nThe feed\\nis well.\\n')")
    assert (got.exit_code, got.result) == (0, "The feed\nis well.")
    assert (got.turns, got.cost_usd, got.client) == (None, None, None)


@pytest.mark.parametrize("form", ["object", "list", "lines", "pretty", "after rubbish"])
def test_claude_code_in_every_form(form: str) -> None:
    first = {"type": "system", "subtype": "init", "session_id": "5f0c1d2e-0001"}
    printed = {
        "object": json.dumps(CLAUDE), "list": json.dumps([first, CLAUDE]),
        "lines": f"{json.dumps(first)}\n{json.dumps(CLAUDE)}",
        "pretty": json.dumps(CLAUDE, indent=1),
        "after rubbish": f"warning: old node\n{json.dumps(CLAUDE)}",
    }[form]  # fmt: skip
    got = run(f"print({printed!r})")
    assert (got.result, got.turns, got.cost_usd) == ("The feed validates again.", 7, 0.125)
    assert (got.tokens_in, got.tokens_out, got.duration_s) == (60, 40, 4.2)
    assert (got.client, got.session) == ("claude-code", "5f0c1d2e-0001")


def test_codex_events() -> None:
    got = run("".join(f"print({json.dumps(one)!r})\n" for one in CODEX))
    assert (got.result, got.session, got.client) == ("Done it.", "0199-aa", "codex")
    assert (got.exit_code, got.tokens_in, got.tokens_out, got.cost_usd) == (0, 100, 9, None)


def test_an_error_that_codex_recovered_from_is_none() -> None:
    events = ({"type": "error", "message": "reconnecting 1/5"}, *CODEX)
    got = run("".join(f"print({json.dumps(one)!r})\n" for one in events))
    assert (got.exit_code, got.result) == (0, "Done it.")


def test_hostile_figures_are_unknown() -> None:
    bad = {**CLAUDE, "num_turns": -1, "total_cost_usd": "NaN", "duration_ms": True, "usage": [],
           "session_id": "../../etc", "result": {"a": 1}}  # fmt: skip
    got = run(f"print({json.dumps(bad)!r}.replace('\"NaN\"', 'NaN'))")
    assert (got.turns, got.cost_usd, got.result, got.transcript) == (None, None, "", None)


def test_megabytes_and_an_unread_prompt_do_not_stand_still() -> None:
    body = (
        "for i in range(3000): print('x' * 3000); print('y' * 3000, file=sys.stderr)\n"
        f"print({json.dumps(CLAUDE)!r})"
    )
    got = run(body, prompt="p" * 5_000_000)
    assert (got.exit_code, got.turns) == (0, 7)
    assert 0 < len(got.stderr_tail) <= 2000


def test_rubbish_bytes() -> None:
    got = run("sys.stdout.buffer.write(bytes(range(256)) * 9); sys.exit(4)")
    assert got.exit_code == 4
    assert "\x1b" not in got.result


def test_what_a_client_leaves_running_is_ended(tmp_path: Path) -> None:
    body = (
        "import subprocess\n"
        "one = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(one.pid))\nprint('done')"
    )
    assert run(body).result == "done"
    pid = int((tmp_path / "pid").read_text("utf-8"))
    assert ends(Path(f"/proc/{pid}/stat"))


def ends(status: Path) -> bool:
    """Whether a process that was killed is gone, or will be in a moment."""
    for _ in range(100):
        try:
            if status.read_text("utf-8").split()[2] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_one_that_cannot_be_started_says_why() -> None:
    got = run_client(["/no/such"], {}, "/", "")
    assert (got.exit_code, got.result) == (
        127, "the client `/no/such` cannot be started: no such file or directory",
    )  # fmt: skip


def test_transcripts_are_named_where_they_are(tmp_path: Path) -> None:
    here = "".join(c if c.isalnum() and c.isascii() else "-" for c in os.path.realpath("."))
    claude = tmp_path / "c" / "projects" / here / "5f0c1d2e-0001.jsonl"
    codex = tmp_path / "x" / "sessions/2026/11/20" / "rollout-2026-11-20T09-14-03-0199-aa.jsonl"
    for path in (claude, codex):
        path.parent.mkdir(parents=True)
        path.write_text("", "utf-8")
    homes = {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": str(tmp_path / "x")}
    assert run(f"print({json.dumps(CLAUDE)!r})", **homes).transcript == str(claude)
    printed = "".join(f"print({json.dumps(one)!r})\n" for one in CODEX)
    assert run(printed, **homes).transcript == str(codex)
    assert run(f"print({json.dumps(CLAUDE)!r})", HOME=str(tmp_path)).transcript is None


def test_options_of_known_clients() -> None:
    block = {"model": "opus", "tools": ["Read", "Edit"], "permission_mode": "plan"}
    added = ["--model", "opus", "--allowedTools", "Read,Edit", "--permission-mode", "plan"]
    assert with_options(["claude", "-p"], block) == ["claude", "-p", *added]
    own = ["/usr/bin/claude", "-p", "--model=haiku", "--allowed-tools", "Bash"]
    assert with_options(own, block) == [*own, "--permission-mode", "plan"]
    assert with_options(["codex", "exec", "--json", "-"], block) == [
        "codex", "exec", "--json", "--model", "opus", "-",
    ]  # fmt: skip
    assert with_options(["my-client"], block) == ["my-client"]
