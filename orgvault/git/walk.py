"""Walking a whole history: commits, what each changed against each parent, and contents, in bulk.

One child of git for each question, whatever the length of the history.  Nothing that could make
git tell another history is believed: no replace refs, grafts or commit-graph, and every content
is hashed again.
"""

import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from orgvault.git.faults import ObjectMissing
from orgvault.git.repository import Repository

if TYPE_CHECKING:
    from orgvault.git.child import Child

FILE, LINK, SUBMODULE = "100644", "120000", "160000"
_ABSENT = "000000"
_EMPTY_TREE = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_BELIEVED = ("-c", "core.commitGraph=false")
_NO_GRAFTS = {"GIT_GRAFT_FILE": os.devnull}
_ASKED_AT_ONCE = 200  # names that fit into a pipe before anybody reads the answers
_KEPT_BYTES = 64 * 1024 * 1024
_KEPT_TREES = 500
_HEADER_WORDS = 3  # name, kind, size


class Walked(NamedTuple):
    """One commit: its name, tree and parents, who made it, when (Unix seconds), its words.

    It was `written` by its author, and committed `at`.
    """

    name: str
    tree: str
    parents: tuple[str, ...]
    author: str
    email: str
    committer_email: str
    written_s: int
    at_s: int
    message: str
    cut: bool  # it has parents, and this clone has none of them


class Entry(NamedTuple):
    """What stands at a path: its mode as git writes it, and the name of its object."""

    mode: str
    oid: str


class Delta(NamedTuple):
    """One path that differs between two trees; None where nothing stands."""

    path: str
    old: Entry | None
    new: Entry | None


class Walk:
    """The objects of a repository, read for somebody who looks at all of them."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._reader: Child | None = None
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._kept_bytes = 0
        self._trees: OrderedDict[str, dict[str, Entry]] = OrderedDict()
        self.altered: set[str] = set()  # objects whose content does not fit their name

    @property
    def empty_tree(self) -> str:
        """The name of the tree without a file."""
        return _EMPTY_TREE[self._repository.object_format]

    def close(self) -> None:
        """End the reading process, if one was needed."""
        if self._reader is not None:
            self._reader.finish()
            self._reader = None

    def commits(self, tip: str, since: str = "") -> list[Walked]:
        """The commits that `tip` stands on, parents before children; none that `since` has."""
        asked = ["rev-list", "--header", "--parents", "--topo-order", "--reverse", tip]
        asked += [f"^{since}"] if since else []
        told = self._repository.git(*_BELIEVED, *asked, "--", env=_NO_GRAFTS)
        return [_commit(one) for one in told.split(b"\0") if one.strip()]

    def commit(self, name: str) -> Walked | None:
        """One commit; None when its object is not there any more."""
        asked = ("rev-list", "--header", "--parents", "-1", name, "--")
        told = self._repository.git(*_BELIEVED, *asked, ok=(0, 128), env=_NO_GRAFTS)
        return _commit(told.rstrip(b"\0")) if told.strip() else None

    def named(self, revision: str) -> str | None:
        """The name of the commit that a revision means; None when there is none."""
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        told = self._repository.git(*asked, ok=(0, 1, 128)).decode().strip()
        return told if told.isalnum() else None  # of a range: `^` and a name, or two

    def replaced(self) -> list[str]:
        """The objects that a replace ref has git read otherwise."""
        told = self._repository.git("for-each-ref", "--format=%(refname)", "refs/replace/")
        return [one.rpartition("/")[2] for one in told.decode().splitlines()]

    def deltas(self, pairs: Sequence[tuple[str, str]], folder: str) -> Iterator[list[Delta]]:
        """What differs below a folder between each pair of trees, in their order."""
        asked = "".join(f"{old} {new}\n" for old, new in pairs).encode()
        told = self._repository.git(
            "diff-tree", "--stdin", "-r", "-z", "--no-renames", "--ignore-submodules=none",
            "--", folder, stdin=asked,
        )  # fmt: skip
        at = 0
        for old, new in pairs:
            at += len(old) + len(new) + 2
            found: list[Delta] = []
            while told[at : at + 1] == b":":
                middle = told.index(b"\0", at)
                end = told.index(b"\0", middle + 1)
                found.append(_delta(told[at + 1 : middle], told[middle + 1 : end]))
                at = end + 1
            yield found

    def contents(self, oids: Iterable[str]) -> dict[str, bytes]:
        """The contents of many blobs.  Raises ObjectMissing."""
        wanted = dict.fromkeys(oids)
        found = {oid: kept for oid in wanted if (kept := self._kept.get(oid)) is not None}
        missing = (oid for oid in wanted if oid not in found)
        while asked := list(islice(missing, _ASKED_AT_ONCE)):
            for oid, content in zip(asked, self._ask(asked), strict=True):
                found[oid] = content
                self._keep(oid, content)
        return found

    def content(self, oid: str) -> bytes:
        """The content of one blob.  Raises ObjectMissing."""
        return self.contents([oid])[oid]

    def entry(self, tree: str, path: str) -> Entry | None:
        """What stands at a path (with `/`) below a tree."""
        found: Entry | None = Entry("40000", tree)
        for name in path.split("/"):
            if found is None or found.mode != "40000":
                return None
            found = self.tree(found.oid).get(name)
        return found

    def files(self, tree: str, folder: str) -> dict[str, Entry]:
        """Everything below a folder of a tree that is no folder, by path from the tree."""
        top = self.entry(tree, folder) if folder else Entry("40000", tree)
        waiting = [(folder, top)] if top is not None else []
        found: dict[str, Entry] = {}
        while waiting:
            path, one = waiting.pop()
            if one.mode == "40000":
                waiting += [
                    (f"{path}/{name}" if path else name, below)
                    for name, below in self.tree(one.oid).items()
                ]
            else:
                found[path] = one
        return found

    def tree(self, oid: str) -> dict[str, Entry]:
        """The entries of a tree, by name."""
        known = self._trees.get(oid)
        if known is None:
            known = {} if oid == self.empty_tree else _tree(self._ask([oid])[0], len(oid) // 2)
            self._trees[oid] = known
            if len(self._trees) > _KEPT_TREES:
                self._trees.popitem(last=False)
        return known

    def _keep(self, oid: str, content: bytes) -> None:
        self._kept[oid] = content
        self._kept_bytes += len(content)
        while self._kept_bytes > _KEPT_BYTES and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            self._kept_bytes -= len(gone)

    def _ask(self, oids: Sequence[str]) -> list[bytes]:
        if self._reader is None:
            self._reader = self._repository.start("cat-file", "--batch")
        self._reader.send("".join(f"{oid}\n" for oid in oids).encode())
        return [self._answer(self._reader, oid) for oid in oids]

    def _answer(self, reader: "Child", oid: str) -> bytes:
        from hashlib import new

        head = reader.line().split()
        if len(head) != _HEADER_WORDS:
            raise ObjectMissing(oid)
        content = reader.read(int(head[2]) + 1)[:-1]
        made = new(self._repository.object_format, b"%s %s\0" % (head[1], head[2]))
        made.update(content)
        if made.hexdigest() != oid:
            self.altered.add(oid)
        return content


def _commit(told: bytes) -> Walked:
    """A commit of `rev-list --header --parents`, which puts four blanks before its words."""
    names, _, raw = told.partition(b"\n")
    head, _, body = raw.partition(b"\n\n")
    name, *parents = names.decode().split()
    facts: dict[bytes, bytes] = {}
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        facts.setdefault(key, value)
    author, email, written_s = _who(facts.get(b"author", b""))
    _, committer, at_s = _who(facts.get(b"committer", b""))
    words = "\n".join(line.removeprefix("    ") for line in _text(body).split("\n"))
    return Walked(
        name, facts[b"tree"].decode(), tuple(parents), author, email, committer, written_s, at_s,
        words, cut=b"parent" in facts and not parents,
    )  # fmt: skip


def _who(line: bytes) -> tuple[str, str, int]:
    name, _, rest = line.rpartition(b" <")
    email, _, when = rest.partition(b"> ")
    seconds = when.split(b" ")[0]
    return _text(name), _text(email), int(seconds) if seconds.isdigit() else 0


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace")


def _delta(head: bytes, path: bytes) -> Delta:
    old_mode, new_mode, old, new, _ = head.decode().split(" ")
    return Delta(
        os.fsdecode(path),
        None if old_mode == _ABSENT else Entry(old_mode, old),
        None if new_mode == _ABSENT else Entry(new_mode, new),
    )


def _tree(content: bytes, size: int) -> dict[str, Entry]:
    found = {}
    at = 0
    while at < len(content):
        space = content.index(b" ", at)
        end = content.index(b"\0", space)
        name, oid = os.fsdecode(content[space + 1 : end]), content[end + 1 : end + 1 + size].hex()
        found[name] = Entry(content[at:space].decode(), oid)
        at = end + 1 + size
    return found
