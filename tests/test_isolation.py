"""The tests' own isolation really holds, here and in the processes that tests start."""

import os
import pwd
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

# Reserved for documentation (RFC 5737): nobody is there, should the guard ever fail.
NOWHERE = "192.0.2.1"

CONNECT = f"import socket; socket.create_connection(({NOWHERE!r}, 80), timeout=0.1)"


def output_of(*command: str, cwd: Path) -> str:
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def test_home_is_a_folder_of_the_tests() -> None:
    person = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert Path.home() == Path(os.environ["HOME"]) != person
    assert Path(os.environ["XDG_CONFIG_HOME"]) == Path.home() / ".config"
    assert sorted(path.name for path in Path.home().iterdir()) == [".config", ".gitconfig"]


def test_git_reads_only_our_configuration(tmp_path: Path) -> None:
    assert output_of("git", "config", "--list", cwd=tmp_path).splitlines() == [
        "user.name=Sam",
        "user.email=sam@example.org",
        "init.defaultbranch=main",
    ]


def test_git_makes_commits_as_sam_on_main(tmp_path: Path) -> None:
    output_of("git", "init", "-q", cwd=tmp_path)
    output_of("git", "commit", "-q", "--allow-empty", "-m", "first", cwd=tmp_path)
    line = output_of("git", "log", "--format=%an <%ae> %cd %D", "--date=format:%z", cwd=tmp_path)
    assert line == "Sam <sam@example.org> +0000 HEAD -> main\n"


def test_nothing_of_the_person_is_in_the_environment() -> None:
    ours = {"GIT_ALLOW_PROTOCOL", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_TERMINAL_PROMPT"}
    prefixes = ("GIT_", "ORGVAULT_", "ORG_", "ANTHROPIC_", "OPENAI_", "OLLAMA_")
    assert {name for name in os.environ if name.startswith(prefixes)} == ours
    assert not [name for name in os.environ if name.upper().endswith(("_API_KEY", "_PROXY"))]


def test_time_and_text_are_the_same_everywhere(tmp_path: Path) -> None:
    assert time.tzname == ("UTC", "UTC")
    assert os.environ["LC_ALL"] == "C.UTF-8"
    assert output_of("date", "+%Z", cwd=tmp_path) == "UTC\n"


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_a_connection_to_another_machine_is_refused(kind: socket.SocketKind) -> None:
    with (
        socket.socket(socket.AF_INET, kind) as ours,
        pytest.raises(RuntimeError, match=r"192\.0\.2\.1"),
    ):
        ours.connect((NOWHERE, 80))


def test_a_datagram_to_another_machine_is_refused() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours,
        pytest.raises(RuntimeError, match=r"192\.0\.2\.1"),
    ):
        ours.sendto(b"hello", (NOWHERE, 9))


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org"])
def test_a_name_is_not_even_looked_up(host: str) -> None:
    with pytest.raises(RuntimeError, match=host):
        urllib.request.urlopen(f"http://{host}/", timeout=0.1)


def test_this_machine_can_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("localhost", port), timeout=5):
            pass


def test_a_unix_socket_can_be_reached(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with (
        socket.socket(socket.AF_UNIX) as server,
        socket.socket(socket.AF_UNIX) as client,
    ):
        server.bind(path)
        server.listen()
        client.connect(path)


def test_a_child_process_is_isolated_too(tmp_path: Path) -> None:
    home = output_of(
        sys.executable, "-c", "import pathlib; print(pathlib.Path.home())", cwd=tmp_path
    )
    assert home == f"{Path.home()}\n"
    refused = subprocess.run(
        [sys.executable, "-c", CONNECT], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert refused.returncode == 1
    assert f"a test tried to reach '{NOWHERE}' over the network" in refused.stderr


def test_git_reaches_no_other_machine(tmp_path: Path) -> None:
    asked = subprocess.run(
        ["git", "ls-remote", f"https://{NOWHERE}/vault.git"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert asked.returncode == 128
    assert "transport 'https' not allowed" in asked.stderr
