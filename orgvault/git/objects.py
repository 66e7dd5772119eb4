"""Git objects: read from the loose files or from git, written durably, loose or as one pack.

Formats: https://git-scm.com/docs/gitformat-pack (loose objects are zlib over
`<type> <size> NUL <content>`, named by the hash of that; a pack holds many).
"""

import os
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from orgvault.digests import digest
from orgvault.git.faults import ObjectMissing
from orgvault.git.pack import Pending, packed
from orgvault.git.repository import Repository
from orgvault.posix import O_CLOEXEC, fsync_files, fsync_folders

if TYPE_CHECKING:
    from orgvault.git.child import Child

FILE = "100644"
FOLDER = "40000"
# From so many objects on one pack is made of them instead of a file for each.
PACKED_FROM = 200
_HEADER_WORDS = 3  # name, kind, size


class TreeEntry(NamedTuple):
    """One name in a tree: its mode as git writes it (`100644`, `40000`, …) and its object.

    A tuple, since a write in a vault of years makes five hundred of them.
    """

    mode: str
    oid: str


Tree = dict[bytes, TreeEntry]


class Objects:
    """The object store of a repository; what is made is in it, durably, after `sync`."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._folder = os.path.join(repository.common_dir, "objects")
        self._reader: Child | None = None
        self._pending: dict[str, Pending] = {}
        self._trees: dict[str, Tree] = {}

    def close(self) -> None:
        """End the reading process, if one was needed."""
        if self._reader is not None:
            self._reader.finish()
            self._reader = None

    def hash(self, kind: str, content: bytes) -> str:
        """The name that an object has."""
        return digest(self._repository.object_format, _framed(kind, content)).hex()

    def read(self, oid: str) -> bytes:
        """The content of an object; GitFailed when it is missing."""
        if oid in self._pending:
            return self._pending[oid].content
        try:
            with open(self._path(oid), "rb") as file:
                return zlib.decompress(file.read()).partition(b"\0")[2]
        except (FileNotFoundError, zlib.error):
            return self._read_by_git(oid)

    def tree(self, oid: str) -> Tree:
        """The entries of a tree, by name."""
        if oid not in self._trees:
            self._trees[oid] = _parse_tree(self.read(oid), len(oid) // 2)
        return dict(self._trees[oid])

    def root(self, commit: str | None) -> str | None:
        """The tree of a commit."""
        if commit is None:
            return None
        return self.read(commit)[5 : 5 + len(commit)].decode()

    def entry(self, root: str | None, path: str) -> TreeEntry | None:
        """What stands at `path` (with `/`) below a tree."""
        found = TreeEntry(FOLDER, root) if root else None
        for name in os.fsencode(path).split(b"/"):
            if found is None or found.mode != FOLDER:
                return None
            found = self.tree(found.oid).get(name)
        return found

    def write(self, kind: str, content: bytes, grown_from: str | None = None) -> str:
        """Make an object and return its name; it is in the repository after `sync`.

        `grown_from` names a blob whose content this one begins with, if there is one.
        """
        oid = self.hash(kind, content)
        if oid not in self._pending and not _freshened(self._path(oid)):
            self._pending[oid] = Pending(kind, content, grown_from)
        return oid

    def write_tree(self, entries: Tree) -> str:
        """Write a tree; names are ordered as git orders them (a folder as if it ended in /)."""
        ordered = sorted(entries.items(), key=lambda item: item[0] + b"/" * _is_tree(item[1]))
        content = b"".join(
            b"%s %s\0%s" % (entry.mode.encode(), name, bytes.fromhex(entry.oid))
            for name, entry in ordered
        )
        oid = self.write("tree", content)
        self._trees[oid] = dict(entries)
        return oid

    def sync(self) -> None:
        """Put all objects made into the repository, durably."""
        if len(self._pending) < PACKED_FROM:
            self._write_loose()
        else:
            self._write_pack()
        self._pending.clear()

    def _write_loose(self) -> None:
        """One file for each object, as git does for a commit."""
        names: list[tuple[str, str]] = []
        folders: set[str] = set()
        try:
            self._write_scratch(names, folders)
        except OSError:
            for scratch, _ in names:
                _unlink(scratch)
            raise
        for scratch, path in names:
            os.replace(scratch, path)
        fsync_folders(sorted(folders))

    def _write_scratch(self, names: list[tuple[str, str]], folders: set[str]) -> None:
        for oid, (kind, content, _) in self._pending.items():
            path = self._path(oid)
            folder = os.path.dirname(path)
            if not os.path.isdir(folder):
                self._make_folder(folder)
                folders.add(self._folder)
            # git sweeps up leftovers with this prefix (`git prune`, `git gc`).
            scratch = os.path.join(folder, f"tmp_obj_{os.urandom(8).hex()}")
            names.append((scratch, path))
            folders.add(folder)
            _write_file(scratch, zlib.compress(_framed(kind, content), 1))
        fsync_files([scratch for scratch, _ in names])

    def _write_pack(self) -> None:
        """One pack for all: a backlog of a thousand writes has seven thousand objects."""
        pack = packed(self._pending, self._repository.object_format)
        self._repository.git("-c", "core.fsync=committed", "index-pack", "--stdin", stdin=pack)
        fsync_folders([os.path.join(self._folder, "pack"), self._folder])

    def _make_folder(self, folder: str) -> None:
        os.makedirs(folder, exist_ok=True)
        # As git does in a repository that several users share.
        os.chmod(folder, os.stat(self._folder).st_mode & 0o7777)

    def _path(self, oid: str) -> str:
        return os.path.join(self._folder, oid[:2], oid[2:])

    def _read_by_git(self, oid: str) -> bytes:
        if self._reader is None:
            self._reader = self._repository.start("cat-file", "--batch")
        self._reader.send(f"{oid}\n".encode())
        told = self._reader.line().split()
        if len(told) != _HEADER_WORDS:
            raise ObjectMissing(oid)
        return self._reader.read(int(told[2]) + 1)[:-1]


def _framed(kind: str, content: bytes) -> bytes:
    return b"%s %d\0" % (kind.encode(), len(content)) + content


def _freshened(path: str) -> bool:
    """Whether a sound object is there already; as git does, marked as new, lest it be pruned."""
    try:
        os.utime(path)
        return os.stat(path).st_size > 0
    except OSError:
        return False


def _is_tree(entry: TreeEntry) -> bool:
    return entry.mode == FOLDER


def _parse_tree(content: bytes, size: int) -> Tree:
    found: Tree = {}
    at = 0
    while at < len(content):
        space = content.index(b" ", at)
        end = content.index(b"\0", space)
        oid = content[end + 1 : end + 1 + size].hex()
        found[content[space + 1 : end]] = TreeEntry(content[at:space].decode(), oid)
        at = end + 1 + size
    return found


def _write_file(path: str, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | O_CLOEXEC, 0o444)
    try:
        while content:
            content = content[os.write(descriptor, content) :]
    except OSError:
        _unlink(path)
        raise
    finally:
        os.close(descriptor)


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)
