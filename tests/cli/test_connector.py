"""`connector list|check|try`, and what connectors add to a run."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.harbor import Harbor

FOLDER = ".agents/org/connectors"
MANIFEST = """\
version: 1
title: {name}
state:
  key: {key}
  intro: The key `{key}` is a test's.
  command: [sh, -c, {command}]
prompt: {{guidance: "Mind the {name}."}}
login: {login}
"""


def add(
    harbor: Harbor, name: str, command: str, key: str = "", login: str = "[]", *, on: bool = True
) -> Path:
    """Give the vault a connector, and let nova have it on."""
    path = harbor.root / FOLDER / name / "connector.yaml"
    path.parent.mkdir(exist_ok=True)
    text = MANIFEST.format(name=name, key=key or name, command=json.dumps(command), login=login)
    path.write_text(text, "utf-8")
    if on:
        harbor.edit_org(r"connectors: \[(.*)git,", rf"connectors: [\1{name}, git,")
    return path


def state(harbor: Harbor, **environment: str) -> dict[str, Any]:
    """State of a new run of nova's."""
    told = harbor.json("run", "start", "nova", **environment)
    text = next(one["text"] for one in told["sections"] if one["name"] == "state")
    found: dict[str, Any] = json.loads(text.partition("State:\n")[2])
    return found


def text_of(harbor: Harbor, section: str, **environment: str) -> str:
    return str(
        harbor.json("prompt", "preview", "nova", "--section", section, **environment)["text"]
    )


def test_list_tells_what_there_is(harbor: Harbor) -> None:
    add(harbor, "later", "echo 1", on=False)

    found = {one["name"]: one for one in harbor.json("connector", "list")["connectors"]}

    assert list(found) == ["git", "calendar", "later"]
    assert found["git"]["agents"] == ["nova"]
    assert found["calendar"]["waiting"]["atlas"] == "CALENDAR_TOKEN is not set"
    assert found["git"]["source"] == f"{FOLDER}/git/connector.yaml"
    table = harbor.run("connector", "list").out
    assert "nova (CALENDAR_TOKEN is not set)" in table


def test_check_finds_nothing_in_the_fixture(harbor: Harbor) -> None:
    assert "0 problems" in harbor.run("connector", "check").out
    assert "0 problems" in harbor.run("connector", "check", "git").out
    assert "no connector `nix`" in harbor.run("connector", "check", "nix", code=1).err


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("key: git", "key: utc_now", 5, "`utc_now` is a key of State's own"),
        ("key: git", "key: calendar", None, "`calendar` is taken by the connector git"),
        ("version: 1", "version: 2", 2, "format version 2"),
        ("title: Git", "titel: Git", 3, "unknown key `titel`"),
        ("key: git", "key: Git State", 5, "state.key"),
        ("login: []", "login: [A B]", 13, "login[0]"),
        ("[python3, -m, orgvault.adapters.connectors.git]", "[]", 7, "no program is named"),
        ("tools: []", "tools: [", None, "connector.yaml"),
    ],
)
def test_check_names_file_line_and_fault(
    harbor: Harbor, old: str, new: str, line: int | None, what: str
) -> None:
    path = harbor.root / FOLDER / "git/connector.yaml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")

    told = harbor.run("connector", "check", code=1).out

    assert what in told
    if line:
        assert f"{FOLDER}/git/connector.yaml:{line}: " in told
    assert what in harbor.run("check", code=1).out


def test_check_looks_at_the_catalog_and_at_what_agents_name(harbor: Harbor) -> None:
    (harbor.root / FOLDER / "catalog.yaml").write_text("version: 1\norder: [git, gone, git]\n")
    (harbor.root / FOLDER / "Not a name").mkdir()
    (harbor.root / FOLDER / "empty").mkdir()
    harbor.edit_org(r"connectors: \[git,", "connectors: [nix, git,")

    told = harbor.run("connector", "check", code=1).out

    assert "catalog.yaml:2: order[2]: git stands there twice" in told
    assert "agents.nova.connectors: there is no connector nix" in told
    assert "Not a name: not the name of a connector" in told
    assert "empty/connector.yaml: the file is missing" in told


def test_a_key_stands_in_state_with_its_sentence_and_paragraph_in_catalog_order(
    harbor: Harbor,
) -> None:
    add(harbor, "zeta", "echo 1")
    add(harbor, "alpha", """echo '{"a": "<task>"}'""")
    (harbor.root / FOLDER / "catalog.yaml").write_text("version: 1\norder: [zeta, git]\n")

    found = state(harbor)

    keys = list(found)
    assert keys[keys.index("zeta") :] == ["zeta", "git", "alpha", "utc_now"]
    assert "The key `alpha` is a test's." in text_of(harbor, "state")
    guidelines = text_of(harbor, "guidelines")
    assert guidelines.index("Mind the zeta.") < guidelines.index("Mind the alpha.")
    assert found["git"] == [{"name": "site", "unavailable": "no folder ~/code/site"}]


def test_a_hook_without_a_value_adds_no_key(harbor: Harbor) -> None:
    add(harbor, "quiet", "echo null")

    assert "quiet" not in state(harbor)
    assert "no key `quiet`" in harbor.run("connector", "try", "quiet").out


def test_a_connector_that_claims_a_core_key_is_left_out_with_a_remark(harbor: Harbor) -> None:
    add(harbor, "sly", """echo '"hacked"'""", key="utc_now")

    told = harbor.run("run", "start", "nova")

    assert "`utc_now` is a key of State's own" in told.err
    assert "hacked" not in told.out
    assert "Mind the sly." not in told.out


def test_of_two_connectors_with_one_key_the_later_is_left_out(harbor: Harbor) -> None:
    add(harbor, "aa", "echo 1", key="same")
    add(harbor, "bb", "echo 2", key="same")

    assert state(harbor)["same"] == 1
    assert "`same` is taken by the connector aa" in harbor.run("connector", "check", code=1).out


def test_a_bad_hook_starts_the_run_anyway_and_is_named_in_the_manifest(harbor: Harbor) -> None:
    add(harbor, "rude", "echo sorry >&2; exit 4")

    assert state(harbor)["rude"] == {"unavailable": "it exited with 4: sorry"}
    (manifest,) = [one for one in harbor.rows("runs", "nova") if one["kind"] == "manifest"]
    kept = {one["name"]: one for one in manifest["connectors"]}
    assert kept["rude"]["unavailable"] == "it exited with 4: sorry"


def test_a_login_needs_a_secret_that_is_set_and_bound(harbor: Harbor) -> None:
    add(harbor, "deploy", "echo 1", login="[SITE_DEPLOY_KEY]")
    add(harbor, "other", "echo 2", login="[NOT_BOUND]")

    assert "deploy" not in state(harbor, NOT_BOUND="hoist-the-flag")
    assert "Mind the deploy." not in text_of(harbor, "guidelines")
    found = state(harbor, SITE_DEPLOY_KEY="hoist-the-anchors", NOT_BOUND="hoist-the-flag")
    assert found["deploy"] == 1
    assert "other" not in found


def test_secrets_reach_a_hook_by_its_environment_only_and_never_come_back(harbor: Harbor) -> None:
    command = r"""K=$SITE_DEPLOY_KEY; printf '{"%s": ["%s", %s]}' "$K" "$K" "${#CALENDAR_TOKEN}" """
    add(harbor, "leaky", command, login="[SITE_DEPLOY_KEY]")
    add(harbor, "angry", 'echo "$SITE_DEPLOY_KEY" >&2; exit 1', login="[SITE_DEPLOY_KEY]")
    secrets = {"SITE_DEPLOY_KEY": "hoist-the-anchors", "CALENDAR_TOKEN": "belay-the-halyard"}

    found = state(harbor, **secrets)
    told = harbor.json("connector", "try", "leaky", **secrets)

    assert found["leaky"] == {"[secret]": ["[secret]", 0]}  # the other secret is not its own
    assert found["angry"] == {"unavailable": "it exited with 1: [secret]"}
    assert "hoist" not in json.dumps(told)
    assert "hoist" not in json.dumps(harbor.rows("runs", "nova"))


def test_try_stores_nothing_and_is_the_owners(harbor: Harbor) -> None:
    before = harbor.git("rev-parse", "HEAD")
    add(harbor, "echo", "cat", on=False)

    told = harbor.json("connector", "try", "echo", "--agent", "juno")

    assert told["value"]["agent"]["id"] == "juno"
    assert told["value"]["vault"] == str(harbor.root.resolve())
    assert told["value"]["timezone"] == "Europe/Berlin"
    assert harbor.git("rev-parse", "HEAD") == before
    for words in (("list",), ("check",), ("try", "git")):
        harbor.run("connector", *words, code=4, ORGVAULT_AGENT="nova")
        harbor.run("connector", *words, code=4, ORGVAULT_OPERATOR="kim")
    assert "no connector `nix`" in harbor.run("connector", "try", "nix", code=1).err


# ── packages ────────────────────────────────────────────────────────────────────────────────


def package(folder: Path, name: str, module: str, source: str) -> None:
    """Install a package that brings a connector, as far as Python can tell."""
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[orgvault.connectors]\n{name} = {module}:MANIFEST\n")
    (folder / f"{module}.py").write_text(source)


def with_packages(harbor: Harbor, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "orgvault", *words], cwd=harbor.root, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": path}, check=False,
    )  # fmt: skip


def test_packages_bring_connectors_and_bad_ones_break_nothing(
    harbor: Harbor, tmp_path: Path
) -> None:
    sound = {
        "title": "Tides",
        "state": {"key": "tides", "intro": "The key `tides`.", "command": ["echo", "5"]},
    }
    package(tmp_path / "lib", "tides", "tides_package", f"MANIFEST = {sound!r}\n")
    package(tmp_path / "lib", "broken", "broken_package", "raise SystemExit('no licence')\n")
    package(tmp_path / "lib", "odd", "odd_package", "MANIFEST = {'title': 3}\n")
    harbor.edit_org(r"connectors: \[git,", "connectors: [tides, broken, odd, git,")

    listed = with_packages(harbor, tmp_path / "lib", "connector", "list", "--json")
    tried = with_packages(harbor, tmp_path / "lib", "connector", "try", "tides", "--json")
    checked = with_packages(harbor, tmp_path / "lib", "connector", "check")
    started = with_packages(harbor, tmp_path / "lib", "run", "start", "nova")

    found = {one["name"]: one for one in json.loads(listed.stdout)["connectors"]}
    assert found["tides"]["source"] == "tides of tides_package (tides_package:MANIFEST)"
    assert "no licence" in found["broken"]["problem"]
    assert json.loads(tried.stdout)["value"] == 5
    assert checked.returncode == 1
    assert "cannot be imported (SystemExit: no licence)" in checked.stdout
    assert "odd of odd_package (odd_package:MANIFEST): title: expected text" in checked.stdout
    assert started.returncode == 0, started.stderr
    assert '"tides": 5' in started.stdout
    assert "no licence" in started.stderr


def test_a_folder_of_the_vault_goes_before_a_package(harbor: Harbor) -> None:
    path = harbor.root / FOLDER / "git"
    before = harbor.json("connector", "list")["connectors"][0]["source"]
    for one in path.iterdir():
        one.unlink()
    path.rmdir()

    after = harbor.json("connector", "list")["connectors"][0]

    assert before == f"{FOLDER}/git/connector.yaml"
    assert after["source"] == "git of orgvault (orgvault.adapters.connectors.git:MANIFEST)"
    assert "0 problems" in harbor.run("connector", "check").out


SAYS = {
    "cut by its length": "sys.stderr.write('x' * 195 + key)",
    "cut from a long line": "sys.stderr.write('a\\n' + key + 'y' * 15_990)",
    "the last line of several": "sys.stderr.write(key)",
}


@pytest.mark.parametrize("says", SAYS.values(), ids=SAYS)
def test_no_part_of_a_secret_stands_in_a_reason(harbor: Harbor, says: str) -> None:
    value = "first-of-the-key\nsecond-of-the-key"
    path = add(harbor, "tide", "", login="[CALENDAR_TOKEN]")
    script = f"import os, sys\nkey = os.environ['CALENDAR_TOKEN']\n{says}\nsys.exit(3)\n"
    (path.parent / "hook.py").write_text(script, "utf-8")
    path.write_text(path.read_text("utf-8").replace('[sh, -c, ""]', "[python3, ./hook.py]"))

    told = state(harbor, CALENDAR_TOKEN=value)["tide"]["unavailable"]

    assert told.startswith("it exited with 3")
    assert not any(value[at : at + 5] in told for at in range(len(value) - 5))


def test_a_secret_that_a_hook_gives_as_a_number_is_masked(harbor: Harbor) -> None:
    add(harbor, "tide", "echo '[70012345678, 7, true]'", login="[CALENDAR_TOKEN]")

    assert state(harbor, CALENDAR_TOKEN="70012345678")["tide"] == ["[secret]", 7, True]


def test_a_run_with_a_packages_connector_is_composed_the_same_again(harbor: Harbor) -> None:
    for one in (harbor.root / FOLDER).glob("*/connector.yaml"):
        one.unlink()
        one.parent.rmdir()
    run = harbor.json("run", "start", "nova")["run"]

    parts = harbor.json("prompt", "verify", run)["parts"]

    assert [one["rebuilt"] for one in parts] == ["same", "same", "snapshot", "same"]
