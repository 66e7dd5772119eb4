"""What `doctor` says: one thing looked at, how it stands, what to do; and the names it knows."""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from orgvault.domain.masking import BOUND_CHARS
from orgvault.values import dataclass

_SHOWN = 5


class State(StrEnum):
    """How one thing stands."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True)
class Diagnosis:
    """One thing that was looked at: its name, how it stands, one sentence, what to do about it.

    `fixed` says what `--fix` did (or, in a preview, would do); empty where it did nothing.
    """

    name: str
    state: State
    what: str
    do: str = ""
    fixed: str = ""

    def __str__(self) -> str:
        lines = [f"{self.state:<8} {self.name}: {self.what}"]
        lines += [f"{'':<8} do: {self.do}"] if self.do else []
        lines += [f"{'':<8} fixed: {self.fixed}"] if self.fixed else []
        return "\n".join(lines)


def ok(name: str, what: str) -> Diagnosis:
    """A thing that stands as it should."""
    return Diagnosis(name, State.OK, what)


def warning(name: str, what: str, do: str) -> Diagnosis:
    """A thing that may come to harm, or that only the owner can judge."""
    return Diagnosis(name, State.WARNING, what, do)


def fault(name: str, what: str, do: str) -> Diagnosis:
    """A thing that keeps orgvault from working, or a loss."""
    return Diagnosis(name, State.FAULT, what, do)


def in_short(names: Iterable[str]) -> str:
    """The first few of many names, and how many more there are."""
    every = list(names)
    more = len(every) - _SHOWN
    shown = ", ".join(every[:_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def count_of(count: int, one: str, many: str = "") -> str:
    """`1 file`, `3 files`."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def age_in_words(seconds: float) -> str:
    """`3 days`, `1 hour`: the largest whole unit."""
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return count_of(int(seconds // size), name)
    return count_of(max(0, int(seconds)), "second")


# ── git ─────────────────────────────────────────────────────────────────────────────────────────

# `update-ref --stdin` knows transactions (start, prepare, commit) since then: writing needs them.
OLDEST_GIT = (2, 28)
# `core.fsync` is obeyed since then: before, a power failure may take back a branch's last move.
DURABLE_GIT = (2, 36)


def version_of(text: str) -> tuple[int, ...]:
    """The numbers in `git version 2.39.5 (Apple Git-154)`; none where there are none."""
    found = re.search(r"\d+(?:\.\d+)+", text)
    return tuple(map(int, found[0].split("."))) if found else ()


def judge_version(text: str) -> Diagnosis:
    """Whether this git can do what a write needs."""
    version = version_of(text)
    said = ".".join(map(str, version)) or text.strip() or "of no version that can be read"
    oldest, durable = (".".join(map(str, one)) for one in (OLDEST_GIT, DURABLE_GIT))
    if version < OLDEST_GIT:
        return fault(
            "git", f"git {said}; writing needs {oldest}", f"install git {durable} or newer"
        )
    if version < DURABLE_GIT:
        what = f"git {said} does not make the move of a branch durable"
        return warning("git", what, f"install git {durable} or newer, against power failures")
    return ok("git", f"git {said}")


def lost_objects(told: str) -> list[str]:
    """What `git fsck` found missing or broken, line by line, without what merely dangles."""
    lines = (line.strip() for line in told.splitlines())
    return [
        line
        for line in lines
        if line and not line.startswith(("dangling ", "notice: ", "Checking ", "warning "))
    ]


# ── sync tools ──────────────────────────────────────────────────────────────────────────────────

_MARKS = {
    ".stfolder": "Syncthing", ".stversions": "Syncthing", ".dropbox": "Dropbox",
    ".dropbox.cache": "Dropbox", ".dropbox.device": "Dropbox", ".sync": "Resilio Sync",
    ".nextcloudsync.log": "Nextcloud", ".owncloudsync.log": "ownCloud",
    ".tmp.drivedownload": "Google Drive", ".tmp.driveupload": "Google Drive",
    ".tmp.icloud": "iCloud", ".insync": "Insync", ".seafile-data": "Seafile",
    ".849C9593-D756-4E56-8D6E-42412F2A707B": "OneDrive",
}  # fmt: skip
_FOLDERS = (
    (re.compile(r"dropbox( \(.*\))?", re.IGNORECASE), "Dropbox"),
    (re.compile(r"onedrive( ?[-–].*)?", re.IGNORECASE), "OneDrive"),
    (
        re.compile(r"iclouddrive|icloud drive|com~apple~clouddocs|mobile documents", re.IGNORECASE),
        "iCloud",
    ),
    (re.compile(r"google ?drive|my drive|googledrive-.*", re.IGNORECASE), "Google Drive"),
    (re.compile(r"nextcloud", re.IGNORECASE), "Nextcloud"),
    (re.compile(r"pcloud( ?drive)?", re.IGNORECASE), "pCloud"),
)
_DATABASES = re.compile(r"\.(?:_sync|sync)_[0-9a-z]+\.db(?:-wal|-shm)?")
_COPIES = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}"  # Syncthing
    r"|conflicted copy|in konflikt stehende kopie|copie en conflit"  # Dropbox, Nextcloud
    r"|\(case conflict|\(conflict\b|_conflict-\d{8}|\[conflict",  # others of them
    re.IGNORECASE,
)
# `name (1).yaml` (Google Drive), `name 2.yaml` (iCloud), what patch and editors leave.
_SECOND = re.compile(r"\(\d+\)(?:\.[a-z0-9]+)?$|. \d+(?:\.[a-z0-9]+)?$|\.orig$|\.rej$|~$")


def sync_tool_of_mark(name: str) -> str:
    """The sync tool that leaves a file or folder of this name in what it syncs; empty: none."""
    return _MARKS.get(name, "Nextcloud or ownCloud" if _DATABASES.fullmatch(name) else "")


def sync_tool_of_folder(name: str) -> str:
    """The sync tool that keeps its files in a folder of this name; empty: none."""
    return next((tool for pattern, tool in _FOLDERS if pattern.fullmatch(name)), "")


def is_conflict_copy(name: str) -> bool:
    """Whether a file's name says that a sync tool made it of two versions."""
    return bool(_COPIES.search(name))


def is_second_copy(name: str) -> bool:
    """Whether a name is one that none of our own files has, and a copy of one would have."""
    return is_conflict_copy(name) or bool(_SECOND.search(name))


# ── secrets ─────────────────────────────────────────────────────────────────────────────────────


def judge_secrets(bound: Sequence[str], values: Sequence[str]) -> list[Diagnosis]:
    """The bound secrets by name, never by value; `values` are those of this environment."""
    if not bound:
        return [ok("secrets", "none are bound to agents")]
    pairs = list(zip(bound, values, strict=True))
    found = []
    if short := [name for name, value in pairs if 0 < len(value) < BOUND_CHARS]:
        what = f"under {BOUND_CHARS} characters, so not masked in what is written"
        found.append(warning("secrets", f"{in_short(short)}: {what}", "give a longer value"))
    if unset := [name for name, value in pairs if not value]:
        what = f"not set here, so not masked either: {in_short(unset)}"
        found.append(warning("secrets", what, "set them where orgvault and its dispatcher run"))
    return found or [ok("secrets", f"{count_of(len(pairs), 'secret')} bound, set and masked")]
