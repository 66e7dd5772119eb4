"""Making a place for a vault: the repository around it, and the folder that marks it."""

import os

from orgvault.errors import NoFolder, NoRepository, NoRepositoryYet
from orgvault.git.repository import Repository, make_repository
from orgvault.store.vault import Vault


def prepare(path: str, kind: type[Vault], *, make: bool) -> tuple[Vault, bool]:
    """The vault at `path`, and whether a git repository was made there since it was in none.

    `kind` may be a vault that only previews; without `make` no repository is made.  Raises
    NoFolder when there is no such folder, NoRepositoryYet when one would have to be made.
    """
    root = os.path.realpath(path)
    if not os.path.isdir(root):
        raise NoFolder(path)
    made = False
    try:
        Repository(root)
    except NoRepository:
        if not make:
            raise NoRepositoryYet(root) from None
        make_repository(root)
        made = True
    return kind(root), made
