"""A command's writes as strace saw them, and the disk as a power failure may leave it.

The model of the disk: what was written to a file and not followed by an fsync of that file may be
missing, whole or from some point on; names made, moved or removed may be missing, the latest
first, back to the last fsync of a folder (`ordered`, as a journalling file system does it) or, in
each folder for itself, back to the last fsync of that folder (`strict`, which is all that POSIX
promises).
"""

import os
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

TRACED = (
    "openat", "open", "creat", "write", "pwrite64", "fsync", "fdatasync", "rename", "renameat",
    "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "truncate",
    "ftruncate", "symlink",
)  # fmt: skip
_LINE = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+)(?:<.*>)?(?: .*)?$", re.DOTALL)


@dataclass(eq=False)
class File:
    """A file by whatever name: its content now, and what an fsync has made sure of."""

    data: bytes = b""
    sure: bytes = b""


@dataclass(frozen=True)
class Step:
    """One thing that happened, in order; `folder` is where a name changed or was made sure."""

    kind: str
    folder: str = ""
    path: str = ""
    to: str = ""
    file: File | None = None
    data: bytes = b""


@dataclass
class Disk:
    """The files below a root, by path, and the steps that were taken."""

    root: str
    files: dict[str, File] = field(default_factory=dict)
    first: dict[str, File] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    @classmethod
    def of(cls, root: Path) -> "Disk":
        """The disk as it stands, all of it sure."""
        disk = cls(str(root))
        for path in root.rglob("*"):
            if path.is_file() and not path.is_symlink():
                content = path.read_bytes()
                disk.files[str(path)] = File(content, content)
        disk.first = dict(disk.files)
        return disk

    def take(self, lines: Sequence[str]) -> None:
        """Take in a trace of `strace -f -y -xx`."""
        for call, args in _calls(lines):
            self._take(call, args)

    def _take(self, call: str, args: str) -> None:  # noqa: C901, PLR0912 - a case for each call
        names = [self._whole(_text(one)) for one in re.findall(r'"([^"]*)"', args)]
        at = re.match(r"(?:\d+|AT_FDCWD)<([^>]*)>", args)
        opened = _text(at[1]) if at else ""
        if call in {"openat", "open", "creat"}:
            path = names[0] if names else ""
            if self._inside(path) and ("O_CREAT" in args or call == "creat"):
                if path not in self.files:
                    self._step("link", path, file=File())
                elif "O_TRUNC" in args:
                    self._written(self.files[path], b"")
            elif self._inside(path) and "O_TRUNC" in args and path in self.files:
                self._written(self.files[path], b"")
        elif call == "write" and opened in self.files:
            data = _bytes(re.findall(r'"([^"]*)"', args)[0])
            self._written(self.files[opened], self.files[opened].data + data)
        elif call in {"fsync", "fdatasync"}:
            if opened in self.files:
                self.steps.append(Step("sync", file=self.files[opened]))
            elif self._inside(opened):
                self.steps.append(Step("sync folder", folder=opened))
        elif call in {"truncate", "ftruncate"}:
            path = names[0] if call == "truncate" else opened
            size = int(args.rsplit(",", 1)[1])
            if path in self.files:
                self._written(self.files[path], self.files[path].data[:size])
        elif call.startswith("rename") and self._inside(names[1]):
            self._step("rename", names[1], names[0])
        elif call.startswith("link") and self._inside(names[1]):
            self._step("link", names[1], file=self.files[names[0]])
        elif call.startswith("unlink") and self._inside(names[0]):
            self._step("unlink", names[0])

    def _written(self, file: File, data: bytes) -> None:
        file.data = data
        self.steps.append(Step("write", file=file, data=data))

    def _step(self, kind: str, path: str, source: str = "", file: File | None = None) -> None:
        step = Step(kind, str(Path(path).parent), source or path, path, file)
        self.steps.append(step)
        _name(self.files, step)

    def _whole(self, path: str) -> str:
        return os.path.normpath(f"{self.root}/{path}" if not path.startswith("/") else path)

    def _inside(self, path: str) -> bool:
        return path == self.root or path.startswith(f"{self.root}/")

    def unlike(self) -> list[str]:
        """Where the model of the disk is not what stands there: the trace was misread."""
        skipped = ("/.git/orgvault/lock", "/.git/orgvault/tidy.lock")
        stands = {
            str(path): path.read_bytes()
            for path in Path(self.root).rglob("*")
            if path.is_file() and not path.is_symlink()
        }
        ours = {path: file.data for path, file in self.files.items()}
        odd = [one for one in stands.keys() | ours.keys() if stands.get(one) != ours.get(one)]
        return sorted(one for one in odd if not one.endswith(skipped))

    def cut(self, at: int, chance: random.Random, *, strict: bool) -> dict[str, bytes]:
        """The files as power that fails after `at` steps may leave them."""
        steps = self.steps[:at]
        data = {file: file.sure for file in self.first.values()}
        sure = dict(data)
        for step in steps:
            if step.kind == "write" and step.file is not None:
                data[step.file] = step.data
                sure.setdefault(step.file, b"")
            elif step.kind == "sync" and step.file is not None:
                sure[step.file] = data.get(step.file, b"")
        names = dict(self.first)
        for step in _kept(steps, chance, strict=strict):
            _name(names, step)
        return {
            path: _left(data.get(file, b""), sure.get(file, b""), chance)
            for path, file in names.items()
        }


def _kept(steps: Sequence[Step], chance: random.Random, *, strict: bool) -> Iterator[Step]:
    """The changes of names that survive."""
    named = [n for n, one in enumerate(steps) if one.kind in {"link", "rename", "unlink"}]
    folders = {steps[n].folder if strict else "" for n in named}
    until: dict[str, int] = {}
    for folder in sorted(folders):
        synced = [
            n
            for n, one in enumerate(steps)
            if one.kind == "sync folder" and (not strict or one.folder == folder)
        ]
        floor = max(synced, default=-1)
        later = [n for n in named if n > floor and (not strict or steps[n].folder == folder)]
        until[folder] = chance.choice([floor, *later])
    for n in named:
        if n <= until[steps[n].folder if strict else ""]:
            yield steps[n]


def _left(data: bytes, sure: bytes, chance: random.Random) -> bytes:
    if data == sure:
        return data
    choice = chance.random()
    if choice < 0.4:
        return sure
    if choice < 0.6 and data.startswith(sure):
        return data[: chance.randint(len(sure), len(data))]
    return data if choice < 0.9 else sure


def _name(names: dict[str, File], step: Step) -> None:
    if step.kind == "unlink":
        names.pop(step.path, None)
    elif step.kind == "rename":
        moved = names.pop(step.path, None)
        if moved is not None:
            names[step.to] = moved
        inside = f"{step.path}/"
        for path in [one for one in names if one.startswith(inside)]:
            names[f"{step.to}/{path.removeprefix(inside)}"] = names.pop(path)
    elif step.file is not None:
        names[step.to] = step.file


def _calls(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The calls that succeeded, in the order in which they ended."""
    begun: dict[str, str] = {}
    for line in lines:
        pid = line.split(" ", 1)[0]
        if line.endswith("<unfinished ...>"):
            begun[pid] = line.removesuffix("<unfinished ...>").rstrip()
            continue
        if resumed := re.match(r"\d+ +<\.\.\. \w+ resumed>(.*)", line, re.DOTALL):
            line = begun.pop(pid, "") + resumed[1]  # noqa: PLW2901 - its two halves
        if (found := _LINE.match(line)) and int(found[4]) >= 0:
            yield found[2], found[3]


def _bytes(escaped: str) -> bytes:
    return bytes.fromhex(escaped.replace("\\x", ""))


def _text(escaped: str) -> str:
    if not escaped.startswith("\\x"):
        return escaped
    return os.fsdecode(_bytes(escaped))
