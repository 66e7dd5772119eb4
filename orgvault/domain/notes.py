"""Which file of the vault a link means, resolved as Obsidian resolves it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol
from unicodedata import normalize

from orgvault.values import dataclass

NOTE = "note"
_KINDS = {
    NOTE: "md",
    "an image": "avif bmp gif jpeg jpg png svg webp",
    "a sound": "3gp flac m4a mp3 oga ogg opus wav",
    "a video": "mkv mov mp4 ogv webm",
    "a PDF": "pdf",
    "a canvas": "canvas",
    "a base, a query that only Obsidian answers": "base",
}
_KIND_OF = {extension: kind for kind, known in _KINDS.items() for extension in known.split()}
# Compiled when it is first asked for, as few texts need it.
_ALIASES = r"(?m)^(?:aliases|alias):[ \t]*(.*(?:\n[ \t]*-[ \t].*)*)"

_DEEPEST = 60  # folders; a longer path is no person's

IN_DOT_FOLDER = "dot-folders are not embedded"
OUTSIDE = "that is outside the vault"
LINKED = "a symbolic link is not followed"
MISSING = "there is no such note"


class Index(Protocol):
    """The names of a vault's files.  Paths are relative to its root, with `/`."""

    def named(self, name: str, /) -> Sequence[str]:
        """The paths of the files whose own name, folded by `fold_name`, is this."""

    def linked(self, name: str, /) -> Sequence[str]:
        """The same for symbolic links, to files and folders."""

    def size(self, path: str, /) -> int | None:
        """How many bytes a file has; None when that cannot be told."""

    def aliases(self, readable: Callable[[str], str], /) -> Mapping[str, str]:
        """The notes that may be read (`readable` gives no reason), by each folded alias."""


@dataclass(frozen=True)
class Resolved:
    """The path that a link means, or the reason why it means none."""

    path: str = ""
    reason: str = ""
    warning: str = ""


def fold_name(name: str) -> str:
    """A name as names are compared: NFC, without regard to case or the kind of a space."""
    if name.isascii():
        return name.lower()
    return normalize("NFC", normalize("NFC", name).lower().replace("\xa0", " "))


def kind_of(path: str) -> str:
    """What a file is by its extension: `NOTE`, or in words what cannot be embedded."""
    return _KIND_OF.get(_extension(path), "a file that is no note")


def resolve(link: str, source: str, index: Index) -> Resolved:
    """The file that `link` (a path without a part, trimmed) means in the note `source`.

    `source` is empty for a text that stands in no note.
    """
    folder = source.rpartition("/")[0]
    link, exact = _from_root(link, folder)
    if not link:
        return Resolved(reason=OUTSIDE)
    parts = link.split("/")
    if len(parts) > _DEEPEST or not {"", ".", ".."}.isdisjoint(parts):
        return Resolved(reason=MISSING)
    if any(part.startswith(".") for part in parts):
        return Resolved(reason=IN_DOT_FOLDER)
    for name in _file_names(link):
        found = _ranked(name, folder, index.named(fold_name(_own_name(name))), exact=exact)
        if found:
            return _best(found)
    if _is_linked(link, index, exact=exact):
        return Resolved(reason=LINKED)
    return Resolved(reason=MISSING)


def aliases(properties: str) -> Iterator[str]:
    """The aliases that a note's properties give, in each of the ways to write a list."""
    for found in re.finditer(_ALIASES, properties.replace("\r\n", "\n")):
        first, *listed = found[1].split("\n")
        words = [one.strip().removeprefix("-") for one in listed]
        if first.strip().startswith("["):
            words += first.strip().strip("[]").split(",")
        elif first.strip():
            words.append(first)
        yield from (word for one in words if (word := one.strip().strip("\"'").strip()))


def _from_root(link: str, folder: str) -> tuple[str, bool]:
    """The link without `./`, `../` and `/`, and whether it then is a path from the vault's root.

    Empty when it leads out of the vault.
    """
    if link.startswith("/"):
        return link.strip("/"), True
    if not link.startswith(("./", "../")):
        return link, False
    parts = folder.split("/") if folder else []
    for part in link.split("/"):
        if part == ".." and not parts:
            return "", True
        if part == "..":
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts), True


def _file_names(link: str) -> tuple[str, ...]:
    """What the file can be called: a note needs no extension, anything else does."""
    as_note = f"{link}.md"
    return (link, as_note) if _extension(link) in _KIND_OF else (as_note, link)


def _extension(path: str) -> str:
    name, dot, extension = _own_name(path).rpartition(".")
    return extension.lower() if name and dot else ""


def _own_name(path: str) -> str:
    return path.rpartition("/")[2]


@dataclass(frozen=True)
class _Candidate:
    rank: tuple[int, int]
    other_case: bool
    path: str


def _ranked(name: str, folder: str, paths: Sequence[str], *, exact: bool) -> list[_Candidate]:
    """The paths that fit, best first.

    A path from the root wins, then one from the source's own folder, then the shortest string.
    """
    wanted, beside = fold_name(name), fold_name(f"{folder}/{name}")
    found = []
    for path in paths:
        folded = fold_name(path)
        if folded == wanted:
            rank = (0, 0)
        elif exact or not folded.endswith(f"/{wanted}"):
            continue
        else:
            rank = (1, 0) if folded == beside else (2, len(normalize("NFC", path)))
        same_case = normalize("NFC", path).endswith(normalize("NFC", name))
        found.append(_Candidate(rank, not same_case, path))
    return sorted(found, key=lambda one: (one.rank, one.other_case, one.path))


def _best(found: list[_Candidate]) -> Resolved:
    best = found[0]
    equal = [one.path for one in found[1:] if one.rank == best.rank]
    if not equal:
        return Resolved(best.path)
    return Resolved(best.path, warning=f"{best.path} was taken, not {', '.join(equal)}")


def _is_linked(link: str, index: Index, *, exact: bool) -> bool:
    """Whether the file, or a folder on the way to it, is a symbolic link."""
    for name in _file_names(link):
        parts = name.split("/")
        for count in range(1, len(parts) + 1):
            way = "/".join(parts[:count])
            if _ranked(way, "", index.linked(fold_name(parts[count - 1])), exact=exact):
                return True
    return False
