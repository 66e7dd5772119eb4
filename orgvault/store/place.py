"""Where a vault is: its folder, the repository around it, and the folder for what is not committed.

Paths of the vault are relative to its root, with `/`.
"""

import os
from collections.abc import Iterable

from orgvault.git.repository import Repository
from orgvault.posix import fsync_folders
from orgvault.store import files
from orgvault.store.faults import Linked, OutsideVault

ORG = ".agents/org"
PRIVATE = "orgvault"


class Place:
    """The files of a vault; `private` is shared by all working trees of the repository."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self.org = os.path.join(self.root, *ORG.split("/"))
        self.repository = Repository(self.root)
        self.private = os.path.join(self.repository.common_dir, PRIVATE)
        self.scratch = os.path.join(self.private, "tmp")
        inside = os.path.relpath(self.root, self.repository.top)
        self.prefix = "" if inside == os.curdir else inside.replace(os.sep, "/")

    @property
    def name(self) -> str:
        """Which working tree and vault of the repository this is; the same after a move."""
        return (
            f"{os.path.relpath(self.repository.git_dir, self.repository.common_dir)}/{self.prefix}"
        )

    def path(self, relative: str) -> str:
        """The place of a file."""
        return os.path.join(self.root, *relative.split("/"))

    def in_repository(self, relative: str) -> str:
        """A path as the repository calls it."""
        return f"{self.prefix}/{relative}" if self.prefix else relative

    def read(self, relative: str) -> bytes | None:
        """A file's content; None when there is none."""
        return files.read_bytes(self.path(relative))

    def names(self, folder: str) -> list[str]:
        """The names in a folder, sorted; none when there is no such folder."""
        return files.names_in(self.path(folder))

    def write(self, relative: str, content: bytes | None, *, settle: bool = True) -> None:
        """Put a content in a file's place, or remove the file (None), durably.

        Without `settle`, a new content is durable only once `settle` is called, which takes many
        files of one folder in one go.
        """
        place = self.path(relative)
        if content is None:
            files.remove_durably(place)
        else:
            files.replace(place, content, self.scratch, settle=settle)

    def settle(self, relative: Iterable[str]) -> None:
        """Make the names of files that were written durable."""
        folders = {os.path.dirname(self.path(one)) for one in relative}
        fsync_folders(sorted(filter(os.path.isdir, folders)))

    def check(self, relative: str) -> None:
        """Raise OutsideVault or Linked when writing to a path would land anywhere else."""
        parts = relative.split("/")
        if any(part in {"", ".", ".."} or part.casefold() == ".git" for part in parts):
            raise OutsideVault(relative)
        for count in range(1, len(parts) + 1):
            above = "/".join(parts[:count])
            if os.path.islink(self.path(above)):
                raise Linked(above)
