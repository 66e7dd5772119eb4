"""A commit beside the branch: objects and a ref of our own; HEAD, index and files stay as they are.

It is made on demand, for a person to compare with, cherry-pick or merge.
"""

import os
from collections.abc import Sequence

from orgvault.git.faults import ObjectMissing
from orgvault.git.objects import FILE, FOLDER, Objects, TreeEntry
from orgvault.git.repository import Identity, Repository
from orgvault.values import dataclass


@dataclass(frozen=True)
class Aside:
    """One file's new content (`path` from the repository's top) on top of a commit.

    The same values give the same commit, however often it is made.
    """

    base: str
    path: str
    content: bytes
    message: str
    author: Identity
    committer: Identity
    at_s: int


def put_aside(repository: Repository, ref: str, aside: Aside) -> str:
    """Make the commit and have `ref` name it; its name.

    No hook runs, and it is not signed.  Raises GitFailed, ObjectMissing when the base is gone.
    """
    repository.trusted()
    objects = Objects(repository)
    try:
        root = objects.root(aside.base)
        if root is None:
            raise ObjectMissing(aside.base)
        tree = _with(objects, root, os.fsencode(aside.path).split(b"/"), aside.content)
        when = f"{aside.at_s} +0000"
        lines = [
            f"tree {tree}",
            f"parent {aside.base}",
            f"author {_written(aside.author)} {when}",
            f"committer {_written(aside.committer)} {when}",
            "",
            aside.message,
        ]
        commit = objects.write("commit", "\n".join(lines).encode(errors="backslashreplace"))
        objects.sync()
    finally:
        objects.close()
    # Our ref itself: were it a symbolic one, the branch behind it would move.
    repository.git("update-ref", "--no-deref", "-m", "orgvault proposal", ref, commit)
    return commit


def _with(objects: Objects, tree: str, names: Sequence[bytes], content: bytes) -> str:
    """A tree with another content of one file, which keeps its mode."""
    entries = objects.tree(tree)
    name, *below = names
    there = entries.get(name)
    if below:
        above = there.oid if there and there.mode == FOLDER else objects.write_tree({})
        entries[name] = TreeEntry(FOLDER, _with(objects, above, below, content))
    else:
        mode = there.mode if there else FILE
        entries[name] = TreeEntry(mode, objects.write("blob", content))
    return objects.write_tree(entries)


def _written(who: Identity) -> str:
    clean = {ord(c): None for c in "<>\n\0"}
    return f"{who.name.translate(clean).strip()} <{who.email.translate(clean).strip()}>"
