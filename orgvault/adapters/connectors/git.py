"""The connector `git`, a program: branch, changed files and last commits of each repository.

    python -m orgvault.adapters.connectors.git

Reads `{"agent": {"repositories": [{"name", "path"}]}}` from stdin; a path is absolute, begins with
`~`, or is relative to the vault.  Nothing in a repository is changed, and nothing that its own
settings name is run: neither hooks nor filters, pagers, signature checks or remote helpers.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

MANIFEST = {
    "version": 1,
    "title": "Git",
    "state": {
        "key": "git",
        "intro": "The key `git` shows the branch, the changed files and the last commits of each of"
        " your repositories.",
        "command": ["python3", "-m", "orgvault.adapters.connectors.git"],
    },
    "prompt": {
        "guidance": "Look at `git` in State before you touch a repository. Files that somebody else"
        " has changed are theirs: leave them alone and say so."
    },
}

LIMIT_S = 4.0  # for all repositories together, within the budget of all hooks
OUTPUT_BYTES = 30_000
MOST_FILES = 50
MOST_COMMITS = 5
_WORKERS = 8
_PATH_CHARS = 200
_SUBJECT_CHARS = 120
_INHERITED = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM")
_ALWAYS = ("git", "--no-pager", "--literal-pathspecs")
_OFF = {"core.fsmonitor": "false", "core.hooksPath": os.devnull}
# What may still be shown of each repository when there are too many: files, commits.
_SHORTER = ((MOST_FILES, MOST_COMMITS), (15, 3), (5, 1), (0, 0))


def main() -> int:
    """Answer what stands on stdin."""
    told = json.load(sys.stdin)
    repositories = (told.get("agent") or {}).get("repositories") or []
    print(shown(looked_at(repositories)))  # noqa: T201 - a program's answer
    return 0


def looked_at(repositories: Sequence[dict[str, str]]) -> list[dict[str, Any]]:
    """What each repository looks like, in their order; one that cannot be told says why."""
    from concurrent.futures import ThreadPoolExecutor

    until_s = time.monotonic() + LIMIT_S
    with ThreadPoolExecutor(_WORKERS) as workers:
        return list(workers.map(lambda one: _looked_at(one, until_s), repositories))


def shown(found: Sequence[dict[str, Any]]) -> str:
    """The answer as JSON, with as many files and commits of each as all of them leave room for."""
    for files, commits in _SHORTER:
        text = json.dumps([_cut(one, files, commits) for one in found], ensure_ascii=False)
        if len(text.encode()) <= OUTPUT_BYTES:
            return text
    kept = [{"name": one["name"]} for one in found]
    while len(json.dumps(kept).encode()) > OUTPUT_BYTES:
        kept = kept[: len(kept) // 2]
    return json.dumps([*kept, {"truncated": True}])


def _cut(one: dict[str, Any], files: int, commits: int) -> dict[str, Any]:
    if "changed" not in one:
        return one
    changed = {**one["changed"], "files": one["changed"]["files"][:files]}
    return {**one, "changed": changed, "last_commits": one["last_commits"][:commits]}


def _looked_at(repository: dict[str, str], until_s: float) -> dict[str, Any]:
    path = os.path.expanduser(repository["path"])
    name = repository["name"][:_PATH_CHARS]
    if not os.path.isdir(path):
        return {"name": name, "unavailable": f"no folder {_short(repository['path'], _PATH_CHARS)}"}
    try:
        return {"name": name, **_Repository(path, until_s).state()}
    except subprocess.TimeoutExpired:
        return {"name": name, "unavailable": "git took too long"}
    except subprocess.CalledProcessError as failure:
        said = _text(failure.stderr).strip().split("\n")[0]
        return {"name": name, "unavailable": _short(said or "git failed", _PATH_CHARS)}
    except OSError as failure:
        return {"name": name, "unavailable": f"git cannot be run ({failure.strerror})"}


class _Repository:
    """One repository, read with git until a moment of the monotonic clock."""

    def __init__(self, path: str, until_s: float) -> None:
        self._path = path
        self._until_s = until_s
        self._settings = dict(_OFF)
        self._git("rev-parse", "--git-dir")  # says best what is in the way
        self._settings |= dict.fromkeys(self._programs(), "")

    def state(self) -> dict[str, Any]:
        """Its branch, changed files and last commits."""
        told = self._git(
            "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal",
            "--no-renames", "--ignore-submodules=dirty",
        )  # fmt: skip
        lines = [line for line in told.split("\0") if line]
        head = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# "))
        files = [_changed(line) for line in lines if not line.startswith("# ")]
        return {
            "branch": head.get("branch.head", ""),
            "changed": {"count": len(files), "files": files[:MOST_FILES]},
            "last_commits": self._commits() if head.get("branch.oid") != "(initial)" else [],
        }

    def _commits(self) -> list[dict[str, str]]:
        told = self._git(
            "log", f"-{MOST_COMMITS}", "-z", "--no-show-signature", "--no-color", "--no-decorate",
            "--format=%h%x01%cs%x01%s",
        )  # fmt: skip
        commits = (line.split("\x01", 2) for line in told.split("\0") if line)
        return [
            {"hash": short, "date": day, "subject": _short(subject, _SUBJECT_CHARS)}
            for short, day, subject in commits
        ]

    def _programs(self) -> list[str]:
        """The settings of the repository's own that name programs which `status` would run."""
        pattern = r"^filter\..*\.(clean|smudge|process)$"
        command = ("config", "--local", "--includes", "--name-only", "-z", "--get-regexp", pattern)
        told = self._git(*command, ok=(0, 1))
        names = [name for name in told.split("\0") if name]
        required = (f"{name.rpartition('.')[0]}.required" for name in names)
        self._settings |= dict.fromkeys(required, "false")
        return names

    def _git(self, *words: str, ok: Sequence[int] = (0,)) -> str:
        left_s = max(0.05, self._until_s - time.monotonic())
        done = subprocess.run(
            [*_ALWAYS, *words], cwd=self._path, env=self._environment(), timeout=left_s,
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
        if done.returncode not in ok:
            raise subprocess.CalledProcessError(
                done.returncode, words, output=done.stdout, stderr=done.stderr
            )
        return _text(done.stdout)

    def _environment(self) -> dict[str, str]:
        env = {
            name: text
            for name, text in os.environ.items()
            if not name.startswith("GIT_") or name in _INHERITED
        }
        for at, (name, text) in enumerate(self._settings.items()):
            env |= {f"GIT_CONFIG_KEY_{at}": name, f"GIT_CONFIG_VALUE_{at}": text}
        return {
            **env,
            "GIT_CONFIG_COUNT": str(len(self._settings)),
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "LC_ALL": "C",
        }


def _changed(line: str) -> str:
    """A file as `git status --short` shows it: two letters and the path."""
    kind, _, rest = line.partition(" ")
    if kind in {"?", "!"}:
        return f"{kind * 2} {_short(rest, _PATH_CHARS)}"
    letters = rest[:2].replace(".", " ")
    path = rest.split(" ", 9 if kind == "u" else 7)[-1]
    return f"{letters} {_short(path, _PATH_CHARS)}"


def _text(told: bytes | None) -> str:
    return (told or b"").decode(errors="replace")


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


if __name__ == "__main__":
    sys.exit(main())
