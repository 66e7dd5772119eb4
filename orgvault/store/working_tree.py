"""The working files of a vault as the gate sees them: what each name is, links not followed."""

import os
import stat

from orgvault.store.files import read_bytes
from orgvault.store.vault import Vault


class WorkingTree:
    """The files of a vault; paths are relative to it, with `/`."""

    def __init__(self, vault: Vault) -> None:
        self._root = vault.root

    def kind(self, path: str, /) -> str:
        """`file`, `folder`, or `link` for a link and all below it; empty for nothing else.

        Nothing is also what lies outside the vault, and what is no file (a pipe, a device).
        """
        here = self._root
        parts = path.split("/")
        if any(part in {"", ".", ".."} or "\0" in part for part in parts):
            return ""
        mode = 0
        for part in parts:
            here = os.path.join(here, part)
            try:
                mode = os.lstat(here).st_mode
            except (OSError, ValueError):
                return ""
            if stat.S_ISLNK(mode):
                return "link"
        return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else ""

    def read(self, path: str, /) -> bytes | None:
        """A file's content; None when there is none, or only by way of a link."""
        if self.kind(path) != "file":
            return None
        return read_bytes(os.path.join(self._root, *path.split("/")))

    def real(self, path: str, /) -> str | None:
        """Where a path leads once every link is followed; None outside the vault."""
        if "\0" in path:
            return None
        return _inside(self._root, os.path.realpath(os.path.join(self._root, *path.split("/"))))


def hooks_folder(vault: Vault) -> str:
    """The folder that git's setting core.hooksPath names, relative to the vault.

    Empty where none is set, and where it lies outside the vault.
    """
    given = vault.repository.hooks_path
    if not given:
        return ""
    place = os.path.join(vault.repository.top, given)
    return _inside(vault.root, os.path.realpath(place)) or ""


def _inside(root: str, place: str) -> str | None:
    """A place relative to a folder, with `/`; empty for the folder itself, None outside it."""
    inside = os.path.relpath(place, root).replace(os.sep, "/")
    if inside == os.curdir:
        return ""
    return None if inside == os.pardir or inside.startswith(f"{os.pardir}/") else inside
