"""Builders of real vaults in real repositories, for the tests of every room.

home = make_vault(tmp_path / "v")     # a repository with one commit, and a Vault in it
home.record("nova", "e-1")            # one acknowledged row
home.git("status", "--porcelain")     # git as the person runs it
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from orgvault.git.repository import Identity
from orgvault.store.entry import Message, Row
from orgvault.store.vault import Vault

AT = "2026-11-20T09:14:03Z"
NOVA = Identity("nova", "nova@agents.invalid")
ATTRIBUTES = "* -text\n*.jsonl -text merge=union\n"
IGNORED = "*.torn-*\n.orgvault-tmp-*\n"
# Signing and hooks are not what most tests are about, and slow.
PLAIN = ("-c", "commit.gpgsign=false", "-c", "gc.auto=0")


@dataclass
class Home:
    """A vault at `root` in the repository at `top`, seen as its owner sees it."""

    top: Path
    root: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def vault(self) -> Vault:
        """One long-lived process's view of it; `fresh` is that of a new process."""
        return Vault(str(self.root))

    def fresh(self) -> Vault:
        """The vault as a newly started command sees it."""
        return Vault.find(str(self.root))

    def git(self, *args: str, code: int | None = 0, stdin: bytes | None = None) -> str:
        """Run git as the person does; its output."""
        return self.git_bytes(*args, code=code, stdin=stdin).decode(errors="surrogateescape")

    def git_bytes(self, *args: str, code: int | None = 0, stdin: bytes | None = None) -> bytes:
        """Run git as the person does; its output as bytes."""
        done = subprocess.run(
            ["git", *PLAIN, *args], cwd=self.top, capture_output=True, input=stdin, check=False,
            env={**os.environ, **self.environment},
        )  # fmt: skip
        if code is not None:
            assert done.returncode == code, (args, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file of the person's, relative to the repository's top."""
        place = self.top / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place

    def commit(self, message: str, *paths: str) -> str:
        """Commit paths (all, when none is given) as the person; the commit's name."""
        self.git("add", "-A", "--", *(paths or (".",)))
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.head()

    def head(self) -> str:
        """The commit that HEAD names; empty when there is none."""
        return self.git("rev-parse", "-q", "--verify", "HEAD", code=None).strip()

    @property
    def git_dir(self) -> Path:
        """The git folder of this working tree."""
        if (self.top / ".git/HEAD").exists():
            return self.top / ".git"
        return Path(self.git("rev-parse", "--absolute-git-dir").strip())

    @property
    def prefix(self) -> str:
        """What stands before a path of the vault in a path of the repository."""
        inside = os.path.relpath(self.root, self.top)
        return "" if inside == "." else f"{inside}/"

    # ── what orgvault does ──────────────────────────────────────────────────────────────────

    def record(
        self, agent: str, row_id: str, *, vault: Vault | None = None, size: int = 0
    ) -> Vault:
        """Record one row as a fresh command would; the vault, with its remarks."""
        vault = vault or self.fresh()
        vault.record(message(f"wake({agent}): {row_id}"), NOVA, [row(agent, row_id, size=size)], AT)
        return vault

    def write_texts(
        self, texts: Mapping[str, str | None], *rows: Row, vault: Vault | None = None
    ) -> Vault:
        """Change texts, with rows acknowledged before, as a fresh command would."""
        vault = vault or self.fresh()
        with vault.change(message("memory(nova): change"), NOVA, AT, rows) as change:
            for path, content in texts.items():
                if content is None:
                    change.remove(path)
                else:
                    change.write(path, content)
        return vault

    # ── what stands there ───────────────────────────────────────────────────────────────────

    def rows_on_disk(self, agent: str = "nova", log: str = "episodes") -> list[str]:
        """The ids in an agent's segments as a plain reader finds them, duplicates and all."""
        folder = self.root / ".agents/org" / log
        found = []
        for path in sorted(folder.rglob(f"*.{agent}.*.jsonl")):
            found += ids_in(path.read_bytes())
        return found

    def rows_in_head(self, agent: str = "nova", log: str = "episodes") -> list[str]:
        """The ids in an agent's segments as HEAD holds them, duplicates and all."""
        folder = f"{self.prefix}.agents/org/{log}/"
        told = self.git_bytes(
            "--literal-pathspecs", "ls-tree", "-r", "-z", "HEAD", "--", folder, code=None
        )
        lines = [line for line in told.split(b"\0") if line.endswith(b".jsonl")]
        oids = [line.split()[2] for line in lines if f".{agent}.".encode() in line]
        blobs = self.git_bytes("cat-file", "--batch", stdin=b"\n".join(oids)) if oids else b""
        return ids_in(blobs)

    def spooled(self) -> list[Path]:
        """The files in the spool."""
        return sorted((Path(self.vault.private) / "spool").glob("*.json"))

    def text_in_head(self, path: str) -> str | None:
        """What HEAD holds of a file of the vault; None when it holds none."""
        name = f"HEAD:{self.prefix}{path}"
        done = subprocess.run(
            ["git", "cat-file", "blob", name], cwd=self.top, capture_output=True, check=False
        )
        return done.stdout.decode() if done.returncode == 0 else None

    def persons(self) -> "Persons":
        """All of the person's work, byte for byte: what must be the same afterwards."""
        ours = f"{self.prefix}.agents/org/"
        index = self.git_bytes("ls-files", "-s", "-z").split(b"\0")
        status = self.git_bytes("status", "--porcelain=v2", "-z", "--untracked-files=all")
        mine = os.fsencode(ours)
        files = {
            str(path.relative_to(self.top)): path.read_bytes()
            for path in sorted(self.top.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(self.top).parts
        }
        return Persons(
            tuple(line for line in index if mine not in line),
            tuple(line for line in status.split(b"\0") if mine not in line),
            {name: content for name, content in files.items() if not name.startswith(ours)},
        )

    def fsck(self) -> None:
        """Fail when git finds fault with the repository."""
        done = subprocess.run(
            ["git", "fsck", "--strict", "--no-dangling", "--no-progress"], cwd=self.top,
            capture_output=True, check=False,
        )  # fmt: skip
        said = [
            line
            for line in (done.stdout + done.stderr).splitlines()
            if not line.startswith((b"notice:", b"dangling"))
        ]
        assert (done.returncode, said) == (0, [])


@dataclass(frozen=True)
class Persons:
    """The person's entries in the index, what status says of their files, and the files."""

    index: tuple[bytes, ...]
    status: tuple[bytes, ...]
    files: Mapping[str, bytes]


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    """A folder on a file system in memory, where there is one: there fsync costs nothing."""
    memory = Path("/dev/shm")  # noqa: S108 - the folder in it gets a random name
    base = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="orgvault-", dir=base) as folder:
        yield Path(folder)


def make_repository(top: Path, *, args: tuple[str, ...] = (), empty: bool = False) -> Home:
    """A repository with a small vault at its top; `empty`: without a commit."""
    return make_vault(top, args=args, empty=empty)


def make_vault(
    top: Path, *, below: str = "", args: tuple[str, ...] = (), empty: bool = False
) -> Home:
    """A repository at `top` with a vault in its folder `below` (at its top when that is empty).

    `args` go to `git init`; `empty` leaves the branch unborn.
    """
    top.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", *args], cwd=top, check=True)
    return plant(top, below=below, empty=empty)


def plant(top: Path, *, below: str = "", empty: bool = False) -> Home:
    """Make a vault in an existing repository, and commit it unless it is to stay `empty`."""
    root = top / below if below else top
    home = Home(top, root)
    org = root / ".agents/org"
    org.mkdir(parents=True)
    (org / ".gitattributes").write_text(ATTRIBUTES)
    (org / ".gitignore").write_text(IGNORED)
    home.write("note.md", "one\n")
    if not empty:
        home.commit("begin")
    return home


def row(agent: str, row_id: str, *, log: str = "episodes", size: int = 0) -> Row:
    """A row with an id, of at least `size` bytes."""
    plain = {"v": 1, "id": row_id, "agent": agent, "fill": "x" * size}
    return Row(log, agent, row_id, json.dumps(plain))


def message(subject: str) -> Message:
    """The words of a commit of ours."""
    return Message(subject, {"Orgvault-Op": "test", "Orgvault-Version": "0"})


def ids_in(content: bytes) -> list[str]:
    """The ids of the rows in a segment, read with nothing of orgvault's; junk is skipped."""
    found = []
    for line in content.split(b"\n"):
        try:
            found.append(str(json.loads(line)["id"]))
        except (ValueError, KeyError, TypeError):
            continue
    return found


WRITER = """
import sys
sys.path.insert(0, {tests!r})
from tests.vaults import AT, NOVA, message, row
from orgvault.store.vault import Vault
root, agent, first, count, size = sys.argv[1:6]
for number in range(int(first), int(first) + int(count)):
    vault = Vault.find(root)
    row_id = f"{{agent}}-{{number}}"
    rows = [row(agent, row_id, size=int(size))]
    vault.record(message(f"wake({{agent}}): {{row_id}}"), NOVA, rows, AT)
    print("ok", row_id, flush=True)
    for remark in vault.remarks:
        print("remark", remark, file=sys.stderr, flush=True)
"""

CHANGER = """
import sys
sys.path.insert(0, {tests!r})
from tests.vaults import AT, NOVA, message, row
from orgvault.store.vault import Vault
root, row_id, word, *paths = sys.argv[1:]
vault = Vault.find(root)
with vault.change(message("memory(nova): " + word), NOVA, AT, [row("nova", row_id)]) as change:
    for path in paths:
        if word == "remove":
            change.remove(path)
        else:
            change.write(path, word + "\\n")
    change.add(row("nova", row_id + "-r", log="reflections"))
print("ok", row_id, flush=True)
"""


def writer(root: Path, agent: str, first: int, count: int, size: int = 0) -> list[str]:
    """The command of a process that records rows and prints `ok <id>` for each."""
    code = WRITER.format(tests=str(Path(__file__).parent.parent))
    return [sys.executable, "-c", code, str(root), agent, str(first), str(count), str(size)]


def changer(root: Path, row_id: str, word: str, *paths: str) -> list[str]:
    """The command of a process that writes `word` to all paths, with two rows, as one change."""
    code = CHANGER.format(tests=str(Path(__file__).parent.parent))
    return [sys.executable, "-c", code, str(root), row_id, word, *paths]


@contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A living process that has made a lock file and keeps it open."""
    code = "import sys; f = open(sys.argv[1], 'x'); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        try:
            yield process
        finally:
            path.unlink(missing_ok=True)
