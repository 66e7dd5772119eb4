"""Rewriting a history so that some contents read otherwise; all else stays byte for byte.

Commits keep their order, parents, people and times.  One that nothing changes, on a history that
nothing changes, keeps its name.  Signatures of what changes are dropped: they would be false.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from orgvault.git.objects import FOLDER, Objects, TreeEntry
from orgvault.git.repository import Repository

SUBMODULE = "160000"
_SYNC_EVERY = 2000  # commits whose new objects are in memory together
_SIGNATURE = re.compile(rb"\n(?:gpgsig|gpgsig-sha256) [^\n]*(?:\n [^\n]*)*")
_SIGNED_TAG = re.compile(rb"-----BEGIN (?:PGP|SSH) SIGNATURE-----.*", re.DOTALL)


class Rewriting:
    """One rewriting: `change` gives the new bytes of a content, a message, a name of a person.

    `dirty` are the blobs that it changes.  Nothing is named by a ref until the caller does so.
    """

    def __init__(
        self, repository: Repository, change: Callable[[bytes], bytes], dirty: frozenset[str]
    ) -> None:
        self._repository = repository
        self._change = change
        self._dirty = dirty
        self._objects = Objects(repository)
        self._trees: dict[str, str] = {}
        self._blobs: dict[str, str] = {}
        self.commits: dict[str, str] = {}  # old names to new ones, of those that change

    def run(self, refs: Mapping[str, str]) -> dict[str, str]:
        """Rewrite all that these refs name; the new name of each ref's object."""
        try:
            for count, name in enumerate(self._every(refs)):
                self._commit(name)
                if count % _SYNC_EVERY == _SYNC_EVERY - 1:
                    self._objects.sync()
            named = {ref: self._named(oid) for ref, oid in refs.items()}
            self._objects.sync()
            return named
        finally:
            self._objects.close()

    def _every(self, refs: Mapping[str, str]) -> Iterator[str]:
        """All commits, parents before children."""
        asked = "".join(f"{oid}\n" for oid in dict.fromkeys(refs.values())).encode()
        words = ("-c", "core.commitGraph=false", "rev-list", "--topo-order", "--reverse", "--stdin")
        yield from self._repository.git(*words, stdin=asked).decode().split()

    def _commit(self, name: str) -> None:
        content = self._objects.read(name)
        head, gap, message = content.partition(b"\n\n")
        lines, tree = head.split(b"\n"), ""
        for number, line in enumerate(lines):
            key, _, value = line.partition(b" ")
            if key == b"tree":
                tree = self._tree(value.decode())
                lines[number] = b"tree " + tree.encode()
            elif key == b"parent":
                lines[number] = (
                    b"parent " + self.commits.get(value.decode(), value.decode()).encode()
                )
            else:
                lines[number] = self._change(line)
        made = b"\n".join(lines) + gap + self._change(message)
        if made != content:
            head, gap, message = made.partition(b"\n\n")
            made = _SIGNATURE.sub(b"", head) + gap + message
            self.commits[name] = self._objects.write("commit", made)

    def _tree(self, oid: str) -> str:
        if oid not in self._trees:
            entries, changed = self._objects.tree(oid), False
            for name, entry in entries.items():
                new = entry.oid
                if entry.mode == FOLDER:
                    new = self._tree(entry.oid)
                elif entry.mode != SUBMODULE and entry.oid in self._dirty:
                    new = self._blob(entry.oid)
                if new != entry.oid:
                    entries[name], changed = TreeEntry(entry.mode, new), True
            self._trees[oid] = self._objects.write_tree(entries) if changed else oid
        return self._trees[oid]

    def _blob(self, oid: str) -> str:
        if oid not in self._blobs:
            made = self._objects.write("blob", self._change(self._objects.read(oid)))
            self._blobs[oid] = made
        return self._blobs[oid]

    def _named(self, oid: str) -> str:
        """The new name of what a ref names: a commit, a tree, a content, or a tag of one."""
        if oid in self.commits:
            return self.commits[oid]
        kind = self._repository.git("cat-file", "-t", oid).decode().strip()
        if kind == "tree":
            return self._tree(oid)
        if kind == "blob":
            return self._blob(oid) if oid in self._dirty else oid
        if kind != "tag":
            return oid
        content = self._objects.read(oid)
        line, _, rest = content.partition(b"\n")
        target = line.partition(b" ")[2].decode()
        new = self._named(target)
        made = b"object " + new.encode() + b"\n" + self._change(rest)
        return self._objects.write("tag", _SIGNED_TAG.sub(b"", made)) if made != content else oid
