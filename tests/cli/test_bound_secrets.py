"""A bound secret's value stands in no byte that orgvault writes or sends, wherever it turns up."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.clients import Client
from tests.harbor import Harbor, make_harbor

VALUE = 'tide"token\\4711-kept\n-apart'  # as JSON and YAML write it, it reads otherwise
PLAIN = "tide-token-4711-kept-apart"


@pytest.fixture
def harbor(tmp_path: Path) -> Harbor:
    return make_harbor(tmp_path)


def written(harbor: Harbor) -> bytes:
    """Every object that git holds since the owner's last commit, and every file of orgvault's."""
    listed = harbor.git("rev-list", "--objects", "HEAD", "--not", "owners").splitlines()
    names = "".join(f"{line.split()[0]}\n" for line in listed)
    objects = subprocess.run(
        ["git", "cat-file", "--batch"], cwd=harbor.root, input=names.encode(),
        capture_output=True, check=True,
    ).stdout  # fmt: skip
    private = [one for one in (harbor.root / ".git/orgvault").rglob("*") if one.is_file()]
    logs = [one for one in (harbor.root / ".agents/org").rglob("*.jsonl") if one.is_file()]
    return b"".join([objects, *(one.read_bytes() for one in [*private, *logs])])


@pytest.mark.parametrize("value", [PLAIN, VALUE], ids=["plain", "with-quotes"])
def test_prompt_05_a_value_in_notes_chat_hooks_and_results(
    harbor: Harbor, tmp_path: Path, value: str
) -> None:
    line = value.replace("\n", " ")
    client = Client(tmp_path, f"print('done: it works with ' + {value!r})")
    hook = harbor.root / ".agents/org/connectors/tide/connector.yaml"
    hook.parent.mkdir()
    (hook.parent / "hook.py").write_text(
        "import json, os, sys; json.dump({'said': os.environ['CALENDAR_TOKEN'], "
        "os.environ['CALENDAR_TOKEN']: 1}, sys.stdout)\n",
        "utf-8",
    )
    hook.write_text(
        "version: 1\ntitle: Tide\nstate: {key: tide, intro: The tide., "
        "command: [python3, ./hook.py]}\nlogin: [CALENDAR_TOKEN]\n",
        "utf-8",
    )
    harbor.edit_org(r"connectors: \[git, calendar\]", "connectors: [git, tide]")
    words = ", ".join(f'"{one}"' for one in client.command)
    harbor.edit_org(
        r"command: \[claude, -p, --output-format, json\]\n      env",
        f"command: [{words}]\n      env",
    )
    plan = harbor.root / "Projects/Site/Site plan.md"
    plan.write_text(
        plan.read_text("utf-8").replace("## Now\n", f"## Now\n\nWith {value}.\n"), "utf-8"
    )
    notebook = harbor.root / ".agents/org/memory/nova.md"
    notebook.write_text(notebook.read_text("utf-8") + f"\n## Keys\n\n{value}\n", "utf-8")
    harbor.git("add", "-A")
    harbor.git("commit", "-q", "-m", "A token in my notes")
    harbor.git("branch", "owners")
    bound: dict[str, Any] = {"CALENDAR_TOKEN": value}

    harbor.run("chat", "post", f"@nova The token is {value}", **bound)
    harbor.run("task", "add", f"Renew {line}", "--agent", "nova", "--body", value, **bound)
    harbor.run("routine", "add", "nova", "renew", "--cron", "0 9 * * *", f"Use {value}", **bound)
    shown = harbor.run("run", "start", "nova", "--message", f"Use {value}", **bound)
    preview = harbor.run("prompt", "preview", "nova", "--group", "1", **bound)
    done = harbor.run("dispatch", "--once", "--agent", "nova", **bound)

    (call,) = client.calls
    assert '"tide": {' in str(call["prompt"])
    assert "[secret]" in str(call["prompt"])
    told = [shown.out, shown.err, preview.out, preview.err, done.out, done.err, str(call["prompt"])]
    parts = [
        one for one in value.replace("\\", "\n").replace('"', "\n").split("\n") if len(one) > 7
    ]
    for part in (value, *parts[:1]):
        assert all(part not in text for text in told)
        assert part.encode() not in written(harbor)
    assert harbor.rows("episodes", "nova")[-1]["summary"]


def test_prompt_05_names_are_told_and_values_never(harbor: Harbor) -> None:
    told = harbor.run("run", "start", "nova", "--format", "openai", CALENDAR_TOKEN=PLAIN).out
    assert "CALENDAR_TOKEN" in told
    assert PLAIN not in told
