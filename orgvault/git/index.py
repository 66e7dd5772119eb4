"""The person's index: its lock, taken with a token that proves whose it is, and our entries in it.

The index is never written in place.  git makes the next one beside it, which is renamed over the
index while `index.lock` is ours, so that the person's staged work is carried over as it is.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from orgvault.errors import GitFailed, LockHeld
from orgvault.git import refs
from orgvault.git.child import Child
from orgvault.git.objects import TreeEntry
from orgvault.git.repository import Repository
from orgvault.posix import O_CLOEXEC, age_s, fsync_folder, holders

LOCK_WAIT_S = 1.0
_PLAIN_VERSIONS = (b"\0\0\0\2", b"\0\0\0\3")
_LONGEST = 0xFFF
_TOKEN_BYTES = 16 * 1024  # another program's lock may be a whole index


class Index:
    """The index of a working tree.

    The caller holds the vault's lock; `lock` is its descriptor, which children inherit so that
    it lasts as long as they do.
    """

    def __init__(self, repository: Repository, private: str, lock: int) -> None:
        self._repository = repository
        self._lock = lock
        self._path = os.path.join(repository.git_dir, "index")
        self._lock_path = f"{self._path}.lock"
        self._private = private
        self._token_path = os.path.join(private, "index.token")
        self._deadline = time.monotonic() + LOCK_WAIT_S

    def wait(self) -> None:
        """Clear what a dead orgvault left, then wait until the index is free.

        Raises LockHeld when that takes more than a second.
        """
        self._clear(self._token_path)
        while os.path.lexists(self._lock_path):
            self._wait_or_give_up()

    def would_wait(self) -> None:
        """As `wait`, but nothing is cleared away: an orgvault's own lock does not count."""
        while os.path.lexists(self._lock_path) and _token(_read(self._lock_path)) is None:
            if time.monotonic() > self._deadline:
                raise held(self._lock_path)
            time.sleep(0.01)

    @contextmanager
    def held(self, ref: str, oid: str) -> Iterator[None]:
        """Hold `index.lock`; the token names us, the branch and the commit.  Raises LockHeld."""
        token = {
            "orgvault": os.getpid(), "git_dir": self._repository.git_dir, "ref": ref, "oid": oid,
        }  # fmt: skip
        content = json.dumps(token).encode() + b"\n"
        _unlink(self._token_path)
        with open(self._token_path, "xb") as file:
            file.write(content)
        while not self._take(content):
            self._wait_or_give_up()
        try:
            yield
        finally:
            # Whoever removed our lock by hand may have let somebody else take it.
            if _read(self._lock_path) == content:
                os.unlink(self._lock_path)
            _unlink(self._token_path)

    def unlike(self, wanted: Mapping[str, str | None]) -> list[str]:
        """The paths that may be staged otherwise than wanted (an object's name; None: not).

        Looks for the bytes of each entry, so that git need not be asked in the usual case.
        Format: https://git-scm.com/docs/index-format (versions 2 and 3, not split).
        """
        with suppress(FileNotFoundError), open(self._path, "rb") as file:
            content = file.read()
            if content[4:8] not in _PLAIN_VERSIONS or b"link" in content:
                return list(wanted)
            return [path for path, oid in wanted.items() if not _surely(content, path, oid)]
        return [path for path, oid in wanted.items() if oid]

    def start_listing(self, paths: Sequence[str]) -> Child | None:
        """Begin to ask what is staged at some paths; `listed` has the answer."""
        if not paths:
            return None
        return self._repository.start("ls-files", "-s", "-z", "--", *paths)

    def listed(self, process: Child | None) -> dict[str, str]:
        """What is staged, by path: the object's name, or `conflict`."""
        if process is None:
            return {}
        staged = {}
        for line in self._repository.end(process).split(b"\0")[:-1]:
            about, _, path = line.partition(b"\t")
            _, oid, stage = about.decode().split()
            staged[os.fsdecode(path)] = oid if stage == "0" else "conflict"
        return staged

    @contextmanager
    def next(self, entries: Mapping[str, TreeEntry | None]) -> Iterator["NextIndex"]:
        """The index with the entries put in (None: taken out): git begins to make it at once."""
        place = os.path.join(self._private, "index.next")  # one at a time, under the vault's lock
        coming = NextIndex(self._repository, self._path, place, self._lock, entries)
        try:
            yield coming
        finally:
            coming.close()

    @contextmanager
    def replaced(self, copy: str) -> Iterator[None]:
        """A next index in the index's place; the former again if the body fails."""
        former = f"{copy}.former"
        _unlink(former)
        with suppress(FileNotFoundError):
            _link(self._path, former)
        try:
            os.replace(copy, self._path)
            try:
                fsync_folder(self._repository.git_dir)
            except OSError:
                self._put_back(former)
                raise
            try:
                yield
            except GitFailed:
                self._put_back(former)
                raise
        finally:
            _unlink(former)

    def _put_back(self, former: str) -> None:
        if os.path.exists(former):
            os.replace(former, self._path)
        else:
            _unlink(self._path)

    def _take(self, content: bytes) -> bool:
        """Make the lock with its content in one step: a crash leaves no lock without a token."""
        try:
            os.link(self._token_path, self._lock_path)
        except FileExistsError:
            return False
        except OSError:  # a file system without hard links, or two of them
            return self._write_lock(content)
        return True

    def _write_lock(self, content: bytes) -> bool:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | O_CLOEXEC
        try:
            descriptor = os.open(self._lock_path, flags, 0o644)
        except FileExistsError:
            return False
        os.write(descriptor, content)
        os.close(descriptor)
        return True

    def _wait_or_give_up(self) -> None:
        if self._clear(self._lock_path):
            return
        if time.monotonic() > self._deadline:
            raise held(self._lock_path)
        time.sleep(0.01)

    def _clear(self, path: str) -> bool:
        """Remove the locks of the dead orgvault that left this token; whether there was one.

        We hold the vault's lock, which its children shared: none of them lives.
        """
        content = _read(path)
        token = _token(content)
        if token is None:
            return not content and self._clear_empty()
        git_dir = token["git_dir"]
        if not self._is_tree_of_ours(git_dir):  # the vault was moved or copied since
            git_dir = self._repository.git_dir
        since_s = os.stat(path).st_mtime
        refs.clear_orphans(self._repository, git_dir, token["ref"], token["oid"], since_s)
        for lock in (os.path.join(git_dir, "index.lock"), path):
            if _read(lock) == content:
                _unlink(lock)
        _unlink(self._token_path)
        return True

    def _is_tree_of_ours(self, git_dir: str) -> bool:
        """Whether a git folder is that of a working tree of this repository."""
        common = self._repository.common_dir
        return git_dir == common or git_dir.startswith(os.path.join(common, "worktrees", ""))

    def _clear_empty(self) -> bool:
        """The same where a power failure has taken the token's words: its name is still a lock."""
        try:
            if not os.path.samefile(self._token_path, self._lock_path):
                return False
            since_s = os.stat(self._token_path).st_mtime
        except FileNotFoundError:
            return False
        ref = self._repository.head().ref or ""
        refs.clear_orphans(self._repository, self._repository.git_dir, ref, "", since_s)
        _unlink(self._lock_path)
        _unlink(self._token_path)
        return True

    def clear_orphans(self, ref: str, oid: str) -> None:
        """Remove the locks of an `update-ref` of ours that was killed while we hold the index."""
        since_s = os.stat(self._token_path).st_mtime
        refs.clear_orphans(self._repository, self._repository.git_dir, ref, oid, since_s)


class NextIndex:
    """An index in the making at `place`: begun before the lock is ours, while objects are synced.

    It is made of the index that stands there as it begins, and anew if that is another once we
    hold the lock.
    """

    def __init__(
        self, repository: Repository, path: str, place: str, lock: int,
        entries: Mapping[str, TreeEntry | None],
    ) -> None:  # fmt: skip
        self._repository = repository
        self._path = path
        self._place = place
        self._lock = lock
        self._entries = entries
        self._begin()

    def made(self) -> str:
        """Its file, durable.  Call it while the lock is ours."""
        good = self._ended()
        if self._mark != _mark(self._path):
            self._begin()
            good = self._ended()
        if not good:
            self._from_objects()
        with open(self._place, "rb") as file:
            os.fsync(file.fileno())
        return self._place

    def close(self) -> None:
        """Leave nothing of it."""
        self._making.kill()
        self._clear()

    def _clear(self) -> None:
        _unlink(self._place)
        _unlink(f"{self._place}.lock")

    def _begin(self) -> None:
        """Let git read our working files, so that the entries carry their times and sizes.

        Without those, plumbing such as `git diff-files` takes our files for changed until the
        next `git status`.
        """
        self._copy()
        self._mark = _mark(self._place)
        self._making = self._update(["--stdin"], [os.fsencode(path) for path in self._entries])

    def _ended(self) -> bool:
        """Wait for git; whether the result is exactly ours.

        It is not where somebody has just edited a file, or a filter applies to it.
        """
        try:
            self._repository.end(self._making)
        except GitFailed:
            return False
        with open(self._place, "rb") as file:
            content = file.read()
        return all(
            bytes.fromhex(entry.oid) in content if entry else not self._exists(path)
            for path, entry in self._entries.items()
        )

    def _from_objects(self) -> None:
        nothing = "0" * (64 if self._repository.object_format == "sha256" else 40)
        self._copy()
        lines = [
            f"{entry.mode if entry else 0} {entry.oid if entry else nothing}\t".encode()
            + os.fsencode(path)
            for path, entry in self._entries.items()
        ]
        self._making = self._update(["--index-info"], lines)
        self._repository.end(self._making)

    def _update(self, how: Sequence[str], lines: Sequence[bytes]) -> Child:
        """Start git on the file at `place`; it writes no objects, which are ours to make sure."""
        making = self._repository.start(
            "update-index", "--add", "--remove", "--info-only", "-z", *how,
            env={"GIT_INDEX_FILE": self._place}, keep=[self._lock],
        )  # fmt: skip
        making.feed(b"".join(line + b"\0" for line in lines))
        return making

    def _copy(self) -> None:
        self._clear()  # a killed orgvault's, whose git is dead, too: it held the vault's lock
        with suppress(FileNotFoundError):
            _link(self._path, self._place)  # git writes another file, too, and renames it

    def _exists(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self._repository.top, path))


def held(path: str) -> LockHeld:
    """The refusal that names a lock, its age and who has it open."""
    return LockHeld(path, _age(age_s(path) or 0.0), holders(path))


def _surely(content: bytes, path: str, oid: str | None) -> bool:
    name = os.fsencode(path)
    if oid is None:
        return name + b"\0" not in content
    length = min(len(name), _LONGEST).to_bytes(2, "big")  # flags: stage 0, nothing special
    return bytes.fromhex(oid) + length + name + b"\0" in content


def _token(content: bytes) -> dict[str, str] | None:
    try:
        token = json.loads(content)
    except ValueError:
        return None
    names = {"orgvault", "git_dir", "ref", "oid"}
    return token if isinstance(token, dict) and names <= token.keys() else None


def _age(seconds: float) -> str:
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'' if count == 1 else 's'}"
    return "less than a second"


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_TOKEN_BYTES)
    except FileNotFoundError:
        return b""


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def _mark(path: str) -> tuple[int, ...] | None:
    """What tells a file from any other that had or gets its name; None when there is none."""
    try:
        about = os.stat(path)
    except FileNotFoundError:
        return None
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


def _link(path: str, to: str) -> None:
    """Give a file a second name; where there are no hard links, a copy with its mode and times.

    The times count: to git a file as new as the index may have changed unseen.
    """
    try:
        os.link(path, to)
    except FileNotFoundError:
        raise
    except OSError:
        about = os.stat(path)
        with open(path, "rb") as source, open(to, "wb") as target:
            target.write(source.read())  # `shutil` costs every cold command 2 ms
            os.fchmod(target.fileno(), about.st_mode & 0o777)
        os.utime(to, ns=(about.st_atime_ns, about.st_mtime_ns))
