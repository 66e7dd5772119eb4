"""Where a secret's value stands in a repository, and the one rewriting that takes it out."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256

from orgvault.domain.redaction import holds, redacted
from orgvault.errors import CannotRedact, GitFailed
from orgvault.git.rewriting import Rewriting
from orgvault.store import files, head_record
from orgvault.store.entry import Message
from orgvault.store.vault import NOBODY, Identity, Vault
from orgvault.values import dataclass

_CHUNK = 1 << 20
_DIFF = r"\.agents/org/proposals/[^/]*\.diff$"
_SKIPPED = ("refs/remotes/",)
_STASH = "refs/stash"
_CANNOT = ("refs/notes/", "refs/replace/", _STASH)


@dataclass(frozen=True)
class Found:
    """Where a value stands: paths of files, paths below .git, commits, and odd places in git.

    `tracked` are files that git has, `untracked` those that it has not, both relative to the
    repository's top; `private` are relative to the git folder (the spool, caches, reflogs).
    `blobs` are contents in git, `commits` the commits that brought one in or say it themselves;
    `names` are folders in git in which a file's name has it.
    """

    tracked: tuple[str, ...]
    untracked: tuple[str, ...]
    private: tuple[str, ...]
    blobs: tuple[str, ...]
    commits: tuple[str, ...]
    tags: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def anywhere(self) -> bool:
        """Whether it stands anywhere at all."""
        return any((self.tracked, self.untracked, self.private, *self.in_git))

    @property
    def in_git(self) -> tuple[tuple[str, ...], ...]:
        """What of it is in git's objects."""
        return self.blobs, self.commits, self.tags, self.names


@dataclass(frozen=True)
class Rewritten:
    """What a rewriting did: HEAD before and after, how many commits and refs have new names.

    `map` is the file that has each old and new name, for whoever has to translate one.
    """

    old_head: str
    new_head: str
    commits: int
    refs: tuple[str, ...]
    map: str


class Redaction:
    """A repository as far as one value is concerned; `wanted` are its forms."""

    def __init__(self, vault: Vault, wanted: Sequence[bytes]) -> None:
        self._vault = vault
        self._repository = vault.repository
        self._wanted = wanted

    # ── finding ─────────────────────────────────────────────────────────────────────────────

    def find(self) -> Found:
        """Look through the working tree, the git folder, and every object there is."""
        kinds: dict[str, list[str]] = {"blob": [], "commit": [], "tag": [], "tree": []}
        for kind, oid in self._objects(self._wanted):
            kinds[kind].append(oid)
        known = set(self._lines("ls-files", "-z"))
        files_here = list(self._holding(self._repository.top, {".git"}))
        private = self._holding(self._repository.common_dir, {"objects"})
        said = set(kinds["commit"])
        commits = said | self._bringing(frozenset(kinds["blob"]))
        return Found(
            tuple(self._shown(one) for one in files_here if one in known),
            tuple(self._shown(one) for one in files_here if one not in known),
            tuple(map(self._shown, private)), tuple(kinds["blob"]), tuple(sorted(commits)),
            tuple(kinds["tag"]), tuple(kinds["tree"]),
        )  # fmt: skip

    def _objects(self, wanted: Sequence[bytes]) -> Iterator[tuple[str, str]]:
        """The kind and name of every object that holds one of these, reachable or not."""
        asked = self._repository.start(
            "cat-file", "--batch-all-objects", "--unordered", "--buffer", "--batch"
        )
        try:
            while header := asked.line():
                oid, kind, size = header.decode().split()
                if holds(asked.read(int(size) + 1), wanted):
                    yield kind, oid
        finally:
            asked.finish()

    def _bringing(self, blobs: frozenset[str]) -> set[str]:
        """The commits, of any ref or reflog, that put one of these contents somewhere."""
        if not blobs:
            return set()
        names = self._repository.git("rev-list", "--all", "--reflog")
        told = self._repository.git(
            "diff-tree", "--stdin", "-r", "-m", "--root", "--no-renames", stdin=names
        )
        found, commit = set[str](), ""
        for line in told.split(b"\n"):
            if not line.startswith(b":"):
                commit = line.decode() or commit
            elif line.split(b" ", 4)[3].decode() in blobs:
                found.add(commit)
        return found

    def _holding(self, top: str, left_out: set[str]) -> Iterator[str]:
        """The files below a folder that hold the value or are named so, relative to it.

        Links are not followed.
        """
        for above, folders, names in os.walk(top):
            folders[:] = sorted(one for one in folders if one not in left_out)
            for name in sorted(names):
                path = os.path.join(above, name)
                named = holds(os.fsencode(name), self._wanted)
                if named or (not os.path.islink(path) and self._file_holds(path)):
                    yield os.path.relpath(path, top).replace(os.sep, "/")

    def _shown(self, path: str) -> str:
        """A path as it may be shown: it may have the value in it."""
        return os.fsdecode(redacted(os.fsencode(path), self._wanted))

    def _file_holds(self, path: str) -> bool:
        overlap, before = max(map(len, self._wanted)), b""
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK):
                if holds(before + chunk, self._wanted):
                    return True
                before = chunk[-overlap:]
        return False

    # ── rewriting ───────────────────────────────────────────────────────────────────────────

    def refuse(self, found: Found) -> None:
        """Raise CannotRedact where history cannot be rewritten soundly as things stand."""
        for why, do in self._obstacles(found):
            raise CannotRedact(why, do)

    def _obstacles(self, found: Found) -> Iterator[tuple[str, str]]:
        yield from self._of_the_moment()
        yield from self._of_the_clone()
        for ref in self._refs():
            if ref.startswith(_CANNOT) and not (ref == _STASH and self._is_older(found)):
                do = "`git stash pop`" if ref == _STASH else "drop it"
                yield f"{ref} names commits by their old names", f"{do}, or redact by hand"
        if self._lines("status", "--porcelain", "-z", "--untracked-files=no"):
            yield "the working tree is not clean", "commit what you have changed"
        if found.names:
            yield "the name of a file or folder has it", "redact by hand (git filter-repo)"

    def _is_older(self, found: Found) -> bool:
        """Whether no stash stands on a commit that would get a new name."""
        stashes = self._repository.git("log", "-g", "--format=%H", _STASH)
        kept = self._repository.git("rev-list", "--stdin", stdin=stashes).decode().split()
        return not set(found.commits).intersection(kept)

    def _of_the_moment(self) -> Iterator[tuple[str, str]]:
        repository = self._repository
        if operation := repository.operation():
            yield f"{operation} is in progress", "finish or abort it"
        if repository.head().ref is None or repository.head().oid is None:
            yield "HEAD is on no branch, or there is no commit", "`git switch` to your branch"
        if os.path.exists(os.path.join(repository.git_dir, "index.lock")):
            yield "another program holds index.lock", "let it finish, or see `orgvault doctor`"
        if repository.message_open():
            yield "a commit message is open in an editor", "finish that commit"
        if self._vault.waiting():
            yield "acknowledged writes wait to be committed", "see `orgvault doctor`"

    def _of_the_clone(self) -> Iterator[tuple[str, str]]:
        shared, repository = self._repository.common_dir, self._repository
        if repository.is_shallow:
            yield "the clone is shallow", "`git fetch --unshallow`"
        if files.names_in(os.path.join(shared, "worktrees")) or repository.git_dir != shared:
            yield "the repository has several working trees", "`git worktree remove` all but one"
        if os.path.exists(os.path.join(shared, "objects", "info", "alternates")):
            yield "its objects are partly in another repository", "redact in a full clone"
        if "extensions.partialclone" in repository.settings:
            yield "the clone has only a part of the objects", "redact in a full clone"

    def rewrite(
        self, found: Found, message: Message, author: Identity, at: str
    ) -> Rewritten | None:
        """Take the value out of every commit, branch and tag, and out of the tracked files.

        None when no ref leads to it: then only reflogs and the like keep it.

        Refs move in one transaction, after all new objects are on the disk; a last commit says
        that it was done.  Raises CannotRedact or VaultBusy with every ref where it was.
        """
        with self._vault.locked():
            self.refuse(found)
            refs, head = self._refs(), self._repository.head()
            hashes = self._hashes(found)
            records = (oid for kind, oid in self._objects(list(hashes)) if kind == "blob")
            dirty = frozenset(found.blobs).union(records if hashes else ())
            rewriting = Rewriting(self._repository, partial(self._changed, hashes), dirty)
            named = rewriting.run(refs)
            if named == refs:
                return None
            branch, old = head.ref or "", head.oid or ""
            new = named[branch] = self._record(named[branch], old, message, author, at)
            place = self._keep_map(rewriting.commits, old, at)
            self._move(old, new, {ref: (refs[ref], oid) for ref, oid in named.items()})
            head_record.rename_commits(self._vault, rewriting.commits)
            moved = tuple(ref for ref, oid in named.items() if refs[ref] != oid)
            return Rewritten(old, new, len(rewriting.commits), moved, place)

    def _hashes(self, found: Found) -> dict[bytes, bytes]:
        """The hashes under which diffs that have the value were filed, old to new.

        With the old one a proposal would count as altered, and nobody could close it.
        """
        names = (one for one in found.tracked if re.search(_DIFF, one))
        filed = [self._repository.git("cat-file", "blob", f"HEAD:{name}") for name in names]
        return {_sha(one): _sha(redacted(one, self._wanted)) for one in filed}

    def _changed(self, hashes: Mapping[bytes, bytes], content: bytes) -> bytes:
        content = redacted(content, self._wanted)
        for old, new in hashes.items():
            content = content.replace(old, new)
        return content

    def _refs(self) -> dict[str, str]:
        """The refs that are rewritten, and what each names; symbolic ones follow by themselves."""
        told = self._repository.git("for-each-ref", "--format=%(objectname) %(refname) %(symref)")
        fields = (line.split(" ") for line in told.decode(errors="surrogateescape").splitlines())
        return {
            ref: oid
            for oid, ref, symbolic in fields
            if not symbolic and not ref.startswith(_SKIPPED)
        }

    def _move(self, old: str, new: str, refs: dict[str, tuple[str, str]]) -> None:
        """Files and index first: cut off here, no ref has moved and `git status` tells."""
        # Files that were only touched would be taken for changed ones.
        self._repository.git("update-index", "-q", "--refresh", ok=(0, 1))
        self._repository.git("read-tree", "-m", "-u", old, new)
        lines = [f"update {ref}\0{now}\0{was}\0" for ref, (was, now) in refs.items() if was != now]
        said = os.fsencode("".join(["start\0", *lines, "prepare\0", "commit\0"]))
        words = ("-c", "core.fsync=committed,reference", "update-ref", "-m", "orgvault redact")
        try:
            self._repository.git(*words, "--no-deref", "-z", "--stdin", stdin=said)
        except GitFailed:
            self._repository.git("read-tree", "-m", "-u", new, old)
            raise

    def _keep_map(self, commits: dict[str, str], old: str, at: str) -> str:
        name = f"{at[:10]}-{old[:10]}.map"
        place = os.path.join(self._vault.private, "redacted", name)
        files.make_folder(os.path.dirname(place))
        lines = (f"{before} {after}\n" for before, after in commits.items())
        files.replace(place, "".join(["old new\n", *lines]).encode())
        return place

    def _record(self, parent: str, old: str, message: Message, author: Identity, at: str) -> str:
        """A commit that changes no file and says that, and from what to what, was redacted."""
        told = {**message.trailers, "Orgvault-Redacted": f"{old} {parent}"}
        committer = self._repository.identity or NOBODY
        env = {
            f"GIT_{role}_{key}": value
            for role, who in (("AUTHOR", author), ("COMMITTER", committer))
            for key, value in (("NAME", who.name), ("EMAIL", who.email), ("DATE", at))
        }
        words = str(Message(message.subject, told)).encode(errors="backslashreplace")
        asked = ("commit-tree", "-p", parent, f"{parent}^{{tree}}")
        return self._repository.git(*asked, stdin=words, env=env).decode().strip()

    def _lines(self, *words: str) -> list[str]:
        told = self._repository.git(*words).decode(errors="surrogateescape")
        return [one for one in told.split("\0") if one]


def _sha(content: bytes) -> bytes:
    return sha256(content).hexdigest().encode()
