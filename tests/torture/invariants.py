"""What must hold of a vault after any fault: `python -m tests.torture.invariants VAULT`.

Shares no code with the writer: files are read with the standard library and PyYAML, git is asked
as a program.  `Seen` is a vault as it was before a fault; `broken` says in sentences what does
not hold any more.  As a program it says what is wrong with a vault that nothing is known about.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ORG = ".agents/org/"
PAGES = "Org/"
# What people keep in our folders: an engine write never changes it.
PERSONS = (f"{ORG}org.yaml", f"{ORG}prompts/", f"{PAGES}Tasks/", f"{PAGES}Home/", f"{PAGES}Guild/")
LOCKS = ("index.lock", "HEAD.lock", "packed-refs.lock", "config.lock")
FIXED = ("agent", "kind", "written_by", "first_seen")
CLOSING = {"closed_at", "closed_by", "reason", "superseded_by"}

# Where a row stands: its log, its agent, its id.
RowKey = tuple[str, str, str]


def git(root: Path, *args: str, stdin: bytes | None = None, ok: Iterable[int] = (0,)) -> bytes:
    """The output of git, run as the person runs it."""
    words = ["git", "-c", "gc.auto=0", "--no-optional-locks", *args]
    done = subprocess.run(words, cwd=root, input=stdin, capture_output=True, check=False)
    if done.returncode not in ok:
        raise GitFailed(args, done.returncode, done.stderr)
    return done.stdout


class GitFailed(Exception):
    """Git could not do what it can in any sound repository."""


def is_ours(path: str, prefix: str = "") -> bool:
    """Whether the engine may write a path; `prefix` is the vault's own in its repository."""
    inside = path.removeprefix(prefix)
    ours = path.startswith(prefix) and inside.startswith((ORG, PAGES))
    return ours and not inside.startswith(PERSONS)


@dataclass
class Logs:
    """The rows of a vault, and lines that are none."""

    rows: Counter[RowKey] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)

    def read(self, path: str, content: bytes) -> None:
        """Take in a segment: `.agents/org/<log>/[<agent>/]<month>-<n>.<agent>.<hex>.jsonl`."""
        log, agent = path.removeprefix(ORG).split("/")[0], path.rsplit("/", 1)[-1].split(".")[1]
        for number, line in enumerate(content.split(b"\n"), 1):
            if not line:
                continue
            try:
                self.rows[log, agent, json.loads(line)["id"]] += 1
            except (ValueError, KeyError, TypeError):
                self.bad.append(f"{path}:{number} is no row")
        if content and not content.endswith(b"\n"):
            self.bad.append(f"{path} does not end in a newline")


@dataclass
class Vault:
    """A vault as a plain reader sees it."""

    root: Path

    def private(self) -> Path:
        """The folder of the spool and the journal."""
        told = git(self.root, "rev-parse", "--git-common-dir").decode().strip()
        return (self.root / told).resolve() / "orgvault"

    def prefix(self) -> str:
        """The path of the vault in its repository: empty at the top, else with a `/` at its end."""
        return git(self.root, "rev-parse", "--show-prefix").decode().rstrip("\n")

    def files(self) -> Iterator[tuple[str, Path]]:
        """Every file outside .git, by its path in the vault."""
        return _files(str(self.root), "")

    def on_disk(self) -> Logs:
        """The rows of the files."""
        found = Logs()
        for name, path in self.files():
            if name.startswith(ORG) and name.endswith(".jsonl"):
                found.read(name, path.read_bytes())
        return found

    def in_head(self, revision: str = "HEAD") -> Logs:
        """The rows of a commit."""
        found = Logs()
        if not git(self.root, "rev-parse", "-q", "--verify", revision, ok=(0, 1)):
            return found  # an unborn branch
        told = git(self.root, "ls-tree", "-r", "-z", revision, "--", ORG)
        lines = [one.partition(b"\t") for one in told.split(b"\0") if one.endswith(b".jsonl")]
        names = [line[0].split()[2] for line in lines]
        rest = git(self.root, "cat-file", "--batch", stdin=b"\n".join(names)) if names else b""
        for head, _, path in lines:
            first, _, rest = rest.partition(b"\n")
            size = int(first.split()[2])
            if first.split()[0] != head.split()[2]:
                raise GitFailed(path, 0, first)
            found.read(path.decode(), rest[:size])
            rest = rest[size + 1 :]
        return found

    def spooled(self) -> Logs:
        """The rows of the spool."""
        found = Logs()
        for path in sorted((self.private() / "spool").glob("*.json")):
            try:
                entry = json.loads(path.read_bytes())
                found.rows.update((row[0], row[1], row[2]) for row in entry["rows"])
            except (ValueError, KeyError, TypeError):
                found.bad.append(f"the spooled {path.name} cannot be read")
        return found

    def claims(self) -> dict[tuple[str, str], list[tuple[bool, Any]]]:
        """The claims by agent and id: whether it is closed, and its keys; one of each is right."""
        found: dict[tuple[str, str], list[tuple[bool, Any]]] = {}
        for kind in ("claims", "closed"):
            for path in sorted((self.root / ORG / "memory").glob(f"*/{kind}/c-*.yaml")):
                value = _yaml(path)
                where = (path.parent.parent.name, path.stem)
                found.setdefault(where, []).append((kind == "closed", value))
        return found


def _files(folder: str, inside: str) -> Iterator[tuple[str, Path]]:
    for one in os.scandir(folder):
        name = inside + one.name
        if one.is_dir(follow_symlinks=False):
            yield from _files(one.path, f"{name}/") if name != ".git" else ()
        elif name != ".git" and (one.is_symlink() or one.is_file()):  # of a worktree
            yield name, Path(one.path)


def _loaded(text: str) -> Any:  # noqa: ANN401 - whatever stands there
    return yaml.load(text, yaml.CSafeLoader)


def _yaml(path: Path) -> Any:  # noqa: ANN401 - whatever stands there
    try:
        return _loaded(path.read_text("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as fault:
        return f"{path.name}: {str(fault).splitlines()[0]}"


@dataclass(frozen=True)
class Seen:
    """A vault at one moment: what must be the same later, and what must not be lost."""

    head: str
    branch: str
    index: tuple[bytes, ...]
    status: tuple[bytes, ...]
    persons: Mapping[str, bytes]
    rows: Counter[RowKey]
    claims: Mapping[tuple[str, str], list[tuple[bool, Any]]]


def see(root: Path) -> Seen:
    """A vault as it stands."""
    vault = Vault(root)
    prefix = vault.prefix()
    index = git(root, "ls-files", "-s", "-z", "--full-name").split(b"\0")
    status = git(root, "status", "--porcelain=v2", "-z", "--untracked-files=all").split(b"\0")
    return Seen(
        git(root, "rev-parse", "-q", "--verify", "HEAD", ok=(0, 1)).decode().strip(),
        git(root, "symbolic-ref", "-q", "HEAD", ok=(0, 1)).decode().strip(),
        tuple(one for one in index if not is_ours(_path(one), prefix)),
        tuple(one for one in status if not is_ours(_path_of_status(one), prefix)),
        {name: path.read_bytes() for name, path in vault.files() if not is_ours(name)},
        vault.on_disk().rows,
        vault.claims(),
    )


def _path(entry: bytes) -> str:
    return entry.partition(b"\t")[2].decode(errors="surrogateescape")


def _path_of_status(line: bytes) -> str:
    """The path of a line of `status --porcelain=v2`."""
    kinds = {b"1": 8, b"2": 9, b"u": 10, b"?": 1}
    parts = line.split(b" ", kinds.get(line[:1], 0))
    return parts[-1].decode(errors="surrogateescape")


def promised(root: Path) -> set[RowKey]:
    """The rows that a vault has taken on: those of HEAD and of the spool, whole files only."""
    vault = Vault(root)
    return set(vault.in_head().rows) | set(vault.spooled().rows)


def persons_work(root: Path, before: Seen) -> list[str]:
    """What of the person's work is not as it was."""
    now = see(root)
    wrong = [] if now.branch == before.branch else [f"HEAD names {now.branch or 'no branch'}"]
    if now.index != before.index:
        wrong.append(f"the person's index: {_unlike(before.index, now.index)}")
    if now.status != before.status:
        wrong.append(f"the person's status: {_unlike(before.status, now.status)}")
    names = before.persons.keys() | now.persons.keys()
    changed = [name for name in names if before.persons.get(name) != now.persons.get(name)]
    return wrong + [f"the person's file {name} is another" for name in sorted(changed)]


def _unlike(old: tuple[bytes, ...], new: tuple[bytes, ...]) -> str:
    gone, come = [one for one in old if one not in new], [one for one in new if one not in old]
    return f"gone {gone[:3]}, new {come[:3]}"


def broken(root: Path, before: Seen, held: Iterable[RowKey]) -> list[str]:
    """What does not hold of a vault in which the next command has settled what a fault left."""
    try:
        wrong = persons_work(root, before)
        wrong += rows_at_rest(root, set(before.rows) | set(held))
        wrong += commits_since(root, before.head)
        wrong += unparsed(root) + memory(root, before)
        wrong += repository(root)
    except (GitFailed, OSError) as failure:
        return [f"git fails: {failure}"]
    return wrong


def rows_at_rest(root: Path, held: set[RowKey], *, waits: bool = False) -> list[str]:
    """What is wrong with the rows; `waits` where the spool is not expected to be empty."""
    vault = Vault(root)
    disk, head, spool = vault.on_disk(), vault.in_head(), vault.spooled()
    wrong = [*disk.bad, *(f"in HEAD, {one}" for one in head.bad), *spool.bad]
    for name, logs in (("on disk", disk), ("in HEAD", head)):
        wrong += [f"{key} is {n} times {name}" for key, n in logs.rows.items() if n > 1]
    gone = held - set(disk.rows) - (set(spool.rows) if waits else set())
    wrong += [f"lost: {key} is not on disk" for key in sorted(gone)]
    gone = held - set(head.rows) - (set(spool.rows) if waits else set())
    wrong += [f"lost: {key} is not in HEAD" for key in sorted(gone)]
    if not waits:
        wrong += [f"{key} is still spooled" for key in sorted(spool.rows)]
        odd = set(disk.rows) ^ set(head.rows)
        wrong += [f"{key} is only on disk or only in HEAD" for key in sorted(odd)]
        wrong += [f"a journal is left: {one.name}" for one in _journals(vault)]
    return wrong


def _journals(vault: Vault) -> list[Path]:
    return sorted((vault.private() / "journal").glob("*.json"))


def commits_since(root: Path, head: str) -> list[str]:
    """What is wrong with the commits since one: others' paths, or not made by orgvault."""
    if not head:
        return []
    ancestor = subprocess.run(
        ["git", "merge-base", "--is-ancestor", head, "HEAD"], cwd=root, check=False
    )
    wrong = [] if ancestor.returncode == 0 else ["HEAD no longer has the old HEAD in it"]
    told = git(root, "diff", "--name-only", "-z", "--no-renames", head, "HEAD").decode()
    paths, prefix = [one for one in told.split("\0") if one], Vault(root).prefix()
    wrong += [f"{one} was committed and is not ours" for one in paths if not is_ours(one, prefix)]
    bodies = git(root, "log", "-z", "--format=%B", f"{head}..HEAD").decode().split("\0")
    wrong += [
        f"a commit without our trailer: {body.splitlines()[:1]}"
        for body in bodies
        if body.strip() and "Orgvault-Op: " not in body
    ]
    dirty = git(root, "status", "--porcelain", "-z", "--", ORG, PAGES).decode().split("\0")
    return wrong + [f"not committed: {one}" for one in dirty if one and is_ours(one[3:], prefix)]


def unparsed(root: Path) -> list[str]:
    """The machine's files that another reader cannot read."""
    wrong = []
    for path in sorted((root / ORG).rglob("*")):
        name = path.relative_to(root).as_posix()
        if not path.is_file() or path.is_symlink():
            continue
        if path.suffix in {".yaml", ".yml"}:
            value = _yaml(path)
            wrong += [f"{name}: {value}"] if isinstance(value, str) else []
        elif path.suffix == ".json":
            try:
                json.loads(path.read_bytes())
            except ValueError as fault:
                wrong.append(f"{name}: {fault}")
        elif ".orgvault-tmp-" in name or ".torn-" in name:
            continue
    for path in sorted((root / PAGES / "Backlog").glob("*.md")):
        head = path.read_text("utf-8").split("---\n")
        if len(head) < 3 or not isinstance(_loaded(head[1]), dict):
            wrong.append(f"{path.name} has no frontmatter")
    return wrong


def memory(root: Path, before: Seen) -> list[str]:
    """What is wrong with the claims: gone, twice, altered otherwise than by a close."""
    now = Vault(root).claims()
    wrong = [f"claim {key} is there {len(found)} times" for key, found in now.items() if found[1:]]
    for key, found in before.claims.items():
        (was_closed, old), (closed, new) = found[0], now.get(key, [(False, None)])[0]
        if new is None:
            wrong.append(f"claim {key} is gone")
        elif not isinstance(new, dict) or not isinstance(old, dict):
            wrong += [] if new == old else [f"claim {key}: {new}"]
        else:
            wrong += _altered(key, old, new, was_closed=was_closed, closed=closed)
    for (agent, name), found in now.items():
        after = found[0][1].get("superseded_by") if isinstance(found[0][1], dict) else None
        if after and (agent, after) not in now:
            wrong.append(f"claim {name} names {after}, which is not there")
    return wrong + _core(root, now)


def _altered(
    key: tuple[str, str], old: dict[str, Any], new: dict[str, Any], *, was_closed: bool,
    closed: bool,
) -> list[str]:  # fmt: skip
    if was_closed:
        return [] if closed and old == new else [f"the closed claim {key} is another"]
    other = [name for name in (*FIXED, "text") if name in old and old[name] != new.get(name)]
    if not closed:
        other += sorted(CLOSING & {name for name, value in new.items() if value is not None})
    elif not {"closed_at", "closed_by"} <= new.keys():
        other.append("closed_at")
    seen = (old.get("times_seen", 0), new.get("times_seen", 0))
    other += ["times_seen"] if seen[1] < seen[0] else []
    return [f"claim {key} was altered: {', '.join(other)}"] if other else []


def _core(root: Path, now: Mapping[tuple[str, str], list[tuple[bool, Any]]]) -> list[str]:
    """Where a core.md holds a line that no active claim says (it may leave claims out)."""
    wrong = []
    for path in sorted((root / ORG / "memory").glob("*/core.md")):
        agent = path.parent.name
        said = {
            _flat(found[0][1]["text"])
            for (whose, _), found in now.items()
            if whose == agent and not found[0][0] and isinstance(found[0][1], dict)
        }
        lines = [one for one in path.read_text("utf-8").splitlines() if one.startswith("- (")]
        texts = [one.partition("×) ")[2] for one in lines]
        wrong += [f"core.md of {agent}: {one}" for one in texts if _flat(one) not in said]
    return wrong


def _flat(text: str) -> str:
    return "".join(one for one in text.casefold() if one.isalnum())


def repository(root: Path) -> list[str]:
    """What git finds wrong with itself."""
    folder = root / git(root, "rev-parse", "--git-dir").decode().strip()
    wrong = [f"{name} is left" for name in LOCKS if (folder / name).exists()]
    wrong += [f"{one.name} is left" for one in (folder / "refs").rglob("*.lock")]
    done = subprocess.run(
        ["git", "fsck", "--strict", "--no-dangling", "--no-progress"], cwd=root,
        capture_output=True, check=False, text=True,
    )  # fmt: skip
    said = [
        one
        for one in (done.stdout + done.stderr).splitlines()
        if one and not one.startswith(("notice:", "dangling"))
    ]
    return wrong + [f"fsck: {one}" for one in said[:5]]


def main(folder: str) -> int:
    """Say what is wrong with a vault; 1 when something is."""
    root = Path(folder).resolve()
    wrong = rows_at_rest(root, set(), waits=True) + unparsed(root)
    wrong += memory(root, see(root)) + repository(root)
    print("\n".join(wrong) or "nothing is wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
