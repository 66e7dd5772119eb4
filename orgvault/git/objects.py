"""Git objects: read from the loose files or from git, written loose and durable.

Format: https://git-scm.com/docs/gitformat-pack (loose objects are zlib over
`<type> <size> NUL <content>`, named by the hash of that).
"""

import hashlib
import os
import zlib

from orgvault.git.faults import ObjectMissing
from orgvault.git.repository import Popen, Repository
from orgvault.posix import O_CLOEXEC, fsync_files, fsync_folders
from orgvault.values import dataclass

FILE = "100644"
FOLDER = "40000"
_HEADER_WORDS = 3  # name, kind, size


@dataclass(frozen=True)
class TreeEntry:
    """One name in a tree: its mode as git writes it (`100644`, `40000`, …) and its object."""

    mode: str
    oid: str


Tree = dict[bytes, TreeEntry]


class Objects:
    """The object store of a repository; `sync` makes what was written durable."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._folder = os.path.join(repository.common_dir, "objects")
        self._reader: Popen | None = None
        self._unsynced: list[tuple[str, str]] = []
        self._new_folders: set[str] = set()
        self._written: set[str] = set()
        self._trees: dict[str, Tree] = {}

    def close(self) -> None:
        """End the reading process, if one was needed."""
        if self._reader is not None:
            self._reader.communicate()
            self._reader = None

    def hash(self, kind: str, content: bytes) -> str:
        """The name that an object has."""
        return hashlib.new(self._repository.object_format, _framed(kind, content)).hexdigest()

    def read(self, oid: str) -> bytes:
        """The content of an object; GitFailed when it is missing."""
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

    def write(self, kind: str, content: bytes) -> str:
        """Write an object and return its name; it is durable after `sync`."""
        oid = self.hash(kind, content)
        path = self._path(oid)
        if oid in self._written or _freshened(path):
            return oid
        folder = os.path.dirname(path)
        if not os.path.isdir(folder):
            self._make_folder(folder)
        # git sweeps up leftovers with this prefix (`git prune`, `git gc`).
        scratch = os.path.join(folder, f"tmp_obj_{os.urandom(8).hex()}")
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | O_CLOEXEC, 0o444)
        try:
            _write_all(descriptor, zlib.compress(_framed(kind, content), 1))
        except OSError:
            os.unlink(scratch)
            raise
        finally:
            os.close(descriptor)
        self._unsynced.append((scratch, path))
        self._written.add(oid)
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
        """Give all written objects their names, durably."""
        fsync_files([scratch for scratch, _ in self._unsynced])
        for scratch, path in self._unsynced:
            os.replace(scratch, path)
        folders = {os.path.dirname(path) for _, path in self._unsynced}
        fsync_folders(sorted(folders | self._new_folders))
        self._unsynced.clear()
        self._new_folders.clear()

    def _make_folder(self, folder: str) -> None:
        os.makedirs(folder, exist_ok=True)
        # As git does in a repository that several users share.
        os.chmod(folder, os.stat(self._folder).st_mode & 0o7777)
        self._new_folders.add(self._folder)

    def _path(self, oid: str) -> str:
        return os.path.join(self._folder, oid[:2], oid[2:])

    def _read_by_git(self, oid: str) -> bytes:
        if self._reader is None:
            self._reader = self._repository.start("cat-file", "--batch")
        reader = self._reader
        if reader.stdin is None or reader.stdout is None:
            raise ObjectMissing(oid)
        try:
            reader.stdin.write(f"{oid}\n".encode())
            reader.stdin.flush()
        except BrokenPipeError:
            raise ObjectMissing(oid) from None
        told = reader.stdout.readline().split()
        if len(told) != _HEADER_WORDS:
            raise ObjectMissing(oid)
        return reader.stdout.read(int(told[2]) + 1)[:-1]


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


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]
