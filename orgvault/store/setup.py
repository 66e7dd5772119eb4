"""Making a place for a vault: the repository around it, and the folder that marks it."""

import os
from collections.abc import Iterator

from orgvault.errors import InsideAnother, NoFolder, NoRepository, NoRepositoryYet
from orgvault.git.repository import Repository, make_repository
from orgvault.store.vault import ORG, Vault

# What a git folder has, that of a bare repository, too.
_GIT_FOLDER = ("HEAD", "objects", "refs")


def prepare(path: str, kind: type[Vault], *, make: bool) -> tuple[Vault, bool]:
    """The vault at `path`, and whether a git repository was made there since it was in none.

    `kind` may be a vault that only previews; without `make` no repository is made.  Raises
    NoFolder when there is no such folder, InsideAnother where no vault can be, NoRepositoryYet
    when a repository would have to be made.
    """
    root = os.path.realpath(path)
    if not os.path.isdir(root):
        raise NoFolder(path)
    for above in _and_above(root):
        if all(os.path.exists(os.path.join(above, one)) for one in _GIT_FOLDER):
            raise InsideAnother(path, f"git's own folder {above}")
        if above.endswith(os.sep + os.path.join(*ORG.split("/"))):
            raise InsideAnother(path, f"the folder {above} of a vault")
    made = False
    try:
        Repository(root)
    except NoRepository:
        if not make:
            raise NoRepositoryYet(root) from None
        make_repository(root)
        made = True
    return kind(root), made


def _and_above(folder: str) -> Iterator[str]:
    while True:
        yield folder
        if folder == (above := os.path.dirname(folder)):
            return
        folder = above
