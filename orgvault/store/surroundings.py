"""What stands around and among a vault's files, for `doctor`: sync tools, modes, space, copies."""

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import field

from orgvault.domain.diagnosis import (
    is_conflict_copy,
    is_second_copy,
    sync_tool_of_folder,
    sync_tool_of_mark,
)
from orgvault.posix import clock_ns, owned_by_another
from orgvault.store import files
from orgvault.store.segments import TORN
from orgvault.store.spool import Spool, written_ns
from orgvault.store.vault import ORG, Vault
from orgvault.values import dataclass

_TEXTS = (".yaml", ".jsonl", ".json", ".md", ".diff")
_WRITTEN_BY_US = (".jsonl", "core.md", "org-agents.json")
_NS = 10**9


@dataclass(frozen=True)
class Odd:
    """Files of ours that are not as we write them, by path relative to the vault."""

    copies: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    not_utf8: list[str] = field(default_factory=list)
    nul: list[str] = field(default_factory=list)
    crlf: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Waiting:
    """The spool: how many writes wait, the age of the oldest in seconds, what cannot be used.

    `refs` are the branches that the entries belong to; `unreadable` are paths.
    """

    count: int
    oldest_s: float
    refs: tuple[str, ...]
    unreadable: tuple[str, ...]
    journal: bool


@dataclass(frozen=True)
class Mode:
    """A folder or file of the vault and what others on this machine may do with it."""

    path: str
    mode: int
    uid: int
    foreign: bool

    @property
    def written_by_others(self) -> bool:
        """Whether every user of the machine may write it."""
        return bool(self.mode & stat.S_IWOTH)

    @property
    def written_by_group(self) -> bool:
        """Whether the users of its group may write it."""
        return bool(self.mode & stat.S_IWGRP)

    @property
    def read_by_others(self) -> bool:
        """Whether every user of the machine may read it."""
        return bool(self.mode & stat.S_IROTH)


class Surroundings:
    """The files of a vault and around it."""

    def __init__(self, vault: Vault, pages_folder: str) -> None:
        self._vault = vault
        self._pages = pages_folder

    def sync_tools(self) -> list[str]:
        """The sync tools that seem to have this folder, as `Syncthing (.stfolder)`."""
        found = []
        folder = self._vault.root
        while True:
            if tool := sync_tool_of_folder(os.path.basename(folder)):
                found.append(f"{tool} ({folder})")
            marks = ((sync_tool_of_mark(name), name) for name in files.names_seen_in(folder))
            found += [f"{tool} ({os.path.join(folder, name)})" for tool, name in marks if tool]
            above = os.path.dirname(folder)
            if above == folder:
                return found
            folder = above

    def git_is_left_out(self) -> bool:
        """Whether Syncthing is told to leave the git folder alone."""
        content = files.read_bytes(os.path.join(self._vault.repository.top, ".stignore")) or b""
        lines = (line.strip() for line in content.decode(errors="replace").splitlines())
        return any(line.strip("/") in {".git", ".git/**", ".git/*"} for line in lines)

    def odd_files(self) -> Odd:
        """Look at every file of ours once."""
        odd = Odd()
        for path in self._ours():
            name = path.rpartition("/")[2]
            if TORN in name:
                odd.torn.append(path)
            elif is_conflict_copy(name) or (path.startswith(f"{ORG}/") and is_second_copy(name)):
                odd.copies.append(path)
            elif name.endswith(_TEXTS):
                self._look_into(path, odd)
        return odd

    def odd_refs(self) -> list[str]:
        """Files that a sync tool has put among the branches (`main 2`): git stumbles on them."""
        place = os.path.join(self._vault.repository.common_dir, "refs")
        return sorted(
            os.path.join(above, name)
            for above, _, names in os.walk(place)
            for name in names
            if is_second_copy(name) or " " in name
        )

    def waiting(self) -> Waiting:
        """What is acknowledged and not yet committed, of all branches."""
        spool = Spool(self._vault.private, self._vault.place.name)
        names, unreadable = spool.names(), list[str]()
        entries = spool.entries(names, unreadable)
        oldest = min(map(written_ns, names), default=clock_ns())
        spool.journal(unreadable)
        folder = os.path.join(self._vault.private, "journal")
        kept = (name for name in files.names_seen_in(folder) if name.endswith(".unreadable"))
        unreadable += [os.path.join(folder, name) for name in kept]
        refs = tuple(dict.fromkeys(one.ref for one in entries.values()))
        age_s = max(0.0, (clock_ns() - oldest) / _NS)
        return Waiting(len(names), age_s, refs, tuple(unreadable), spool.has_journal())

    def modes(self) -> list[Mode]:
        """Owner and mode of the vault, its git folder and what decides in them."""
        git = self._vault.repository.common_dir
        inside = ("", "config", "hooks", "objects", "refs", "HEAD", "orgvault")
        places = [self._vault.root, self._vault.org, *(os.path.join(git, one) for one in inside)]
        return [_mode(path.rstrip(os.sep)) for path in places if os.path.exists(path)]

    def open_to_others(self) -> bool:
        """Whether other users can get as far as the vault's folder: each one above lets them in."""
        folder = self._vault.root
        while True:
            if not os.stat(folder).st_mode & stat.S_IXOTH:
                return False
            above = os.path.dirname(folder)
            if above == folder:
                return True
            folder = above

    def ignores_case(self) -> bool:
        """Whether the file system takes `.AGENTS` for `.agents`."""
        return os.path.isdir(os.path.join(self._vault.root, *ORG.upper().split("/")))

    def free_bytes(self) -> int:
        """What is left on the disk of the git folder, for this user."""
        return shutil.disk_usage(self._vault.repository.common_dir).free

    def _ours(self) -> Iterator[str]:
        """Every file of ours, relative to the vault; links are not followed."""
        for folder in (ORG, self._pages):
            for above, folders, names in os.walk(self._vault.path(folder)):
                folders.sort()
                inside = os.path.relpath(above, self._vault.root).replace(os.sep, "/")
                yield from (f"{inside}/{name}" for name in sorted(names))

    def _look_into(self, path: str, odd: Odd) -> None:
        try:
            content = self._vault.read(path)
        except OSError:
            odd.unread.append(path)
            return
        if content is None:
            return
        if b"\0" in content:
            odd.nul.append(path)
        elif not _is_utf8(content):
            odd.not_utf8.append(path)
        if b"\r\n" in content and path.startswith(f"{ORG}/") and _written_by_us(path):
            odd.crlf.append(path)


def _written_by_us(path: str) -> bool:
    claim = path.endswith(".yaml") and ("/claims/" in path or "/closed/" in path)
    return claim or path.endswith(_WRITTEN_BY_US)


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _mode(path: str) -> Mode:
    about = os.stat(path)
    return Mode(path, stat.S_IMODE(about.st_mode), about.st_uid, owned_by_another(path))
