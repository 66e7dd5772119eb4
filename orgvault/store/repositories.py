"""The repositories that agents work in, which stand anywhere on this machine."""

import os

from orgvault.errors import OrgvaultError
from orgvault.git.repository import Repository


def default_branch(path: str) -> str:
    """The branch that work in a repository starts from; empty where there is none.

    `~` in the path is the person's home.
    """
    try:
        return Repository(os.path.expanduser(path)).default_branch()
    except (OrgvaultError, OSError):
        return ""
