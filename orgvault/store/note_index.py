r"""The names of all files of a vault, by which links are resolved; kept between commands.

It stands in `<git common dir>/orgvault/notes/`, one file for each working tree, and is disposable.
What it says of a folder counts only while that folder's times, which every change of a name in it
moves, are the ones that were seen; and only when they were two seconds old at that time, for
times are coarse and a change right after the look could leave them equal.  All other folders are
looked into again.  So the index costs one `stat` a folder, and says what stands there now.

Dot-folders, and vaults inside the vault (a folder that holds `.obsidian`), are left out.

The file is a checksum, one line of JSON (the folders), and then, by folder, what links are
looked up in: `\0<folded name>//<path>` for a file, `\0/<folded name>//<path>` for a symbolic
link.  A path has no NUL and no `//`, so a name is found by looking for it as it stands, without
reading the rest.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from zlib import crc32

from orgvault.digests import sha256
from orgvault.domain.links import properties_end
from orgvault.domain.notes import aliases, fold_name
from orgvault.posix import O_CLOEXEC, clock_ns
from orgvault.store import files
from orgvault.store.note_reader import LIMIT_S, within
from orgvault.store.place import Place

_FOLDER = "notes"
_FORM = 1
_BETWEEN = b"\0//"
_SETTLED_NS = 2_000_000_000
# Properties are at a note's beginning, and a suggestion is worth no more.
_HEAD_BYTES = 1 << 12
_FEW = 64

# Of a folder: device, inode, the two times (in ns; nothing where they say nothing), its folders.
_Folder = tuple[tuple[int, ...], list[str]]


class NoteIndex:
    """The names of a vault's files as they are at the first question.

    `now_ns` is the clock that the times of files are made by.
    """

    def __init__(self, place: Place, now_ns: Callable[[], int] = clock_ns) -> None:
        self._now_ns = now_ns
        self._root = place.root
        self._scratch = place.scratch
        tree = sha256(os.fsencode(place.name)).hexdigest()[:8]
        self._saved = os.path.join(place.private, _FOLDER, f"{tree}.index")
        self._names: bytes | None = None
        self._table: dict[str, list[str]] | None = None
        self._asked = 0

    def named(self, name: str, /) -> Sequence[str]:
        """The paths of the files whose own name, folded, is this."""
        return self._find(name) if _is_name(name) else []

    def linked(self, name: str, /) -> Sequence[str]:
        """The same for symbolic links, to files and folders."""
        return self._find(f"/{name}") if _is_name(name) else []

    def size(self, path: str, /) -> int | None:
        """How many bytes a file has; None when that cannot be told."""
        try:
            return os.lstat(os.path.join(self._root, *path.split("/"))).st_size
        except OSError:
            return None

    def aliases(self, readable: Callable[[str], str], /) -> Mapping[str, str]:
        """The notes that may be read, by each folded alias; those found within 5 seconds."""
        notes = [path for path in self.paths() if path.lower().endswith(".md")]
        allowed = sorted(path for path in notes if not readable(path))
        found: dict[str, str] = {}
        with suppress(TimeoutError):
            within(LIMIT_S, lambda: self._read_aliases(allowed, found))
        return dict(found)

    def paths(self) -> Iterator[str]:
        """The paths of all files, links left out."""
        for entry in self._known().split(b"\0"):
            name, _, path = entry.partition(b"//")
            if path and not name.startswith(b"/"):
                yield path.decode()

    def _read_aliases(self, paths: list[str], found: dict[str, str]) -> None:
        for path in paths:
            with suppress(OSError):
                head = _head(f"{self._root}/{path}")
                if b"alias" in head:
                    text = head.decode(errors="replace")
                    for alias in aliases(text[: properties_end(text)]):
                        found.setdefault(fold_name(alias), path)

    def _find(self, key: str) -> Sequence[str]:
        """The paths of a key: searched for as it stands, or, when many are asked, in a table."""
        names, self._asked = self._known(), self._asked + 1
        if self._asked > _FEW:
            if self._table is None:
                self._table = _table(names)
            return self._table.get(key, ())
        wanted = f"\0{key}//".encode(errors="replace")
        found = []
        at = names.find(wanted)
        while at >= 0:
            begin = at + len(wanted)
            end = names.find(b"\0", begin)
            found.append(names[begin : end if end >= 0 else len(names)].decode())
            at = names.find(wanted, begin)
        return found

    def _known(self) -> bytes:
        if self._names is None:
            self._names = self._up_to_date()
        return self._names

    def _up_to_date(self) -> bytes:
        before, blocks = _read(self._saved)
        walk = _Walk(self._root, before, blocks, self._now_ns)
        walk.visit("")
        names = _BETWEEN.join(walk.blocks.values())
        if walk.folders != before or walk.blocks != blocks:
            head = json.dumps([_FORM, list(walk.folders.items())]).encode()
            content = sealed(head + b"\n" + names)
            with suppress(OSError):  # where nothing can be kept, the next command looks anew
                files.replace(self._saved, content, self._scratch)
        return names


class _Walk:
    """Goes through the folders, looking only into those that changed."""

    def __init__(
        self,
        root: str,
        before: dict[str, _Folder],
        blocks: dict[str, bytes],
        now_ns: Callable[[], int],
    ) -> None:
        self._root, self._before, self._blocks, self._now_ns = root, before, blocks, now_ns
        self.folders: dict[str, _Folder] = {}
        self.blocks: dict[str, bytes] = {}

    def visit(self, folder: str) -> None:
        """A folder and those in it."""
        todo = [folder]
        while todo:
            one = todo.pop()
            inner = self._look(one)
            todo += [f"{one}/{name}" if one else name for name in inner]

    def _look(self, folder: str) -> list[str]:
        place = os.path.join(self._root, *folder.split("/")) if folder else self._root
        now = self._now_ns()
        try:
            stamp = _stamp(place)
            known = self._before.get(folder)
            if known is None or known[0] != stamp:
                settled = max(stamp[2:]) <= now - _SETTLED_NS
                inner, block = _listed(place, folder)
                known = (stamp if settled else (), inner)
            else:
                block = self._blocks[folder]
        except OSError:  # gone meanwhile, or closed to us
            return []
        self.folders[folder], self.blocks[folder] = known, block
        return known[1]


def _stamp(place: str) -> tuple[int, ...]:
    """What a change of any name in a folder changes."""
    found = os.lstat(place)
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _listed(place: str, folder: str) -> tuple[list[str], bytes]:
    """The folders in a folder, and the entries of its files and links."""
    inner, entries = [], []
    begin = f"{folder}/" if folder else ""
    with os.scandir(place) as found:
        for one in found:
            name = one.name
            if name.startswith("."):
                if name == ".obsidian" and folder:
                    return [], b""
            elif one.is_dir(follow_symlinks=False):
                inner.append(name)
            else:
                kind = "/" if one.is_symlink() else ""
                entries.append(f"\0{kind}{fold_name(name)}//{begin}{name}")
    entries.sort()
    try:
        block = "".join(entries).encode()
    except UnicodeEncodeError:  # no text can give such a name
        block = "".join(filter(_is_text, entries)).encode()
    return sorted(inner), block


def _is_text(name: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _table(names: bytes) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in names.decode().split("\0"):
        key, _, path = entry.partition("//")
        if path:
            found.setdefault(key, []).append(path)
    return found


def _head(place: str) -> bytes:
    """The beginning of a file, in a fifth of the time of `open`; all notes are looked into."""
    flags = os.O_RDONLY | O_CLOEXEC | files.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(place, flags | getattr(os, "O_BINARY", 0))
    try:
        return os.read(descriptor, _HEAD_BYTES)
    finally:
        os.close(descriptor)


def _is_name(name: str) -> bool:
    return bool(name) and "/" not in name and "\0" not in name


def sealed(content: bytes) -> bytes:
    """A content as it is kept: its checksum on a line before it."""
    return b"%08x\n" % crc32(content) + content


def _read(path: str) -> tuple[dict[str, _Folder], dict[str, bytes]]:
    """What was kept; nothing when it is not as it was written, or in another form."""
    try:
        kept = files.read_bytes(path) or b""
    except OSError:
        return {}, {}
    content = kept.partition(b"\n")[2]
    if kept != sealed(content):
        return {}, {}
    head, _, names = content.partition(b"\n")
    form, listed = json.loads(head)
    if form != _FORM:
        return {}, {}
    folders = {name: (tuple(stamp), inner) for name, (stamp, inner) in listed}
    return folders, dict(zip(folders, names.split(_BETWEEN), strict=True))
