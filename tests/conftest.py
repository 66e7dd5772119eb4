"""Keeps every test, and every process that a test starts, away from the person's own machine.

Home, git's configuration, provider keys, time zone and locale are ours; nothing but this machine
itself can be reached over a socket; and the run fails if the person's home changed meanwhile.
"""

import inspect
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

GIT_CONFIG = """\
[user]
\tname = Sam
\temail = sam@example.org
[init]
\tdefaultBranch = main
"""

OUR_OWN = ("GIT_", "ORGVAULT_", "ORG_")
PROVIDERS = (
    "ANTHROPIC_",
    "AWS_",
    "AZURE_",
    "CLAUDE",
    "CODEX_",
    "GEMINI_",
    "GOOGLE_",
    "GROQ_",
    "MISTRAL_",
    "OLLAMA_",
    "OPENAI_",
    "OPENROUTER_",
)
PLACES_AND_LOOKS = ("CLICOLOR", "FORCE_COLOR", "LANG", "LC_", "NO_COLOR", "SSH_", "XDG_")
FOREIGN_PREFIXES = (*OUR_OWN, *PROVIDERS, *PLACES_AND_LOOKS)
FOREIGN_SUFFIXES = ("_API_KEY", "_AUTH_TOKEN", "_PROXY")
FOREIGN_NAMES = {"COLUMNS", "EDITOR", "LINES", "PAGER", "VISUAL"}


# What a shell starts in the background ignores ^C, and so would every process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def refuse_the_network(event: str, args: tuple[object, ...]) -> None:
    """Audit hook: a RuntimeError for every look-up or connection that would leave this machine.

    Not an OSError, which the code under test might take for a network that happens to be down.
    The hook's source stands alone, since child processes get a copy of it.
    """
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        address = args[1]
        host = address[0] if isinstance(address, tuple) else None
    elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        host = args[0]
    else:
        return
    if isinstance(host, bytes):
        host = host.decode()
    if not isinstance(host, str) or host in {"", "localhost", "::1"}:
        return
    if host.startswith("127.") and host.replace(".", "").isdigit():
        return
    sentence = f"a test tried to reach {host!r} over the network ({event})"
    raise RuntimeError(sentence)


def pytest_configure() -> None:
    """Close the network before any test module is imported."""
    sys.addaudithook(refuse_the_network)


@pytest.fixture(scope="session", autouse=True)
def isolation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Put an environment of our own in place, and look at the person's home before and after."""
    watched = places_in_home(os.environ)
    before = listing(watched)
    person = dict(os.environ)
    replace_environment(own_environment(person, tmp_path_factory.mktemp("isolated")))
    yield
    replace_environment(person)
    touched = sorted(set(listing(watched).items()) ^ set(before.items()))
    if touched:
        names = "\n".join(sorted({f"  {path}" for path, _ in touched}))
        pytest.fail(f"The tests touched the real home:\n{names}", pytrace=False)


def places_in_home(environment: Mapping[str, str]) -> list[Path]:
    """Give the files and folders of the person that git or orgvault could write to."""
    home = Path(environment.get("HOME") or Path.home())
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    return [
        home / ".gitconfig",
        config / "git",
        config / "orgvault",
        home / ".config" / "orgvault",
        home / ".cache" / "orgvault",
        home / ".local" / "share" / "orgvault",
        home / ".local" / "state" / "orgvault",
    ]


def listing(places: list[Path]) -> dict[Path, int]:
    """Give the modification time, in nanoseconds, of all that exists at and below the places."""
    paths = [path for place in places for path in (place, *place.rglob("*"))]
    return {path: path.lstat().st_mtime_ns for path in paths if os.path.lexists(path)}


def own_environment(person: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Give the person's environment less all that is theirs, with a home inside the folder."""
    home = folder / "home"
    (home / ".config").mkdir(parents=True)
    (home / ".gitconfig").write_text(GIT_CONFIG, "utf-8")
    startup = folder / "startup"
    startup.mkdir()
    (startup / "sitecustomize.py").write_text(guard_of_children(), "utf-8")
    kept = {name: value for name, value in person.items() if not is_foreign(name)}
    return kept | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_ALLOW_PROTOCOL": "file",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(startup), person.get("PYTHONPATH")])),
        "TZ": "UTC",
    }


def is_foreign(name: str) -> bool:
    """Whether a variable would let the person's own settings into a test."""
    upper = name.upper()
    return (
        upper in FOREIGN_NAMES
        or upper.startswith(FOREIGN_PREFIXES)
        or upper.endswith(FOREIGN_SUFFIXES)
    )


def guard_of_children() -> str:
    """Give the source of a module that closes the network in every Python that a test starts.

    Python imports a `sitecustomize` from PYTHONPATH by itself, unless started with -I, -E or -S.
    """
    source = inspect.getsource(refuse_the_network)
    return f"import sys\n\n{source}\n\nsys.addaudithook(refuse_the_network)\n"


def replace_environment(wanted: Mapping[str, str]) -> None:
    """Make the wanted variables the only ones, for this process and for its children."""
    for name in set(os.environ) - set(wanted):
        del os.environ[name]
    os.environ.update(wanted)
    time.tzset()
