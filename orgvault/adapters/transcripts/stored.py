"""A client's session files as they lie on the disk: which there are, and whose they are.

A glance reads a few lines at both ends of a file: enough to tell whose session it is and in which
order sessions happened, whatever their size.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, BinaryIO

from orgvault.adapters.transcripts import claude_code, codex
from orgvault.adapters.transcripts import lines as read
from orgvault.adapters.transcripts.counts import Fault
from orgvault.domain.instants import instant
from orgvault.values import dataclass

KNOWS = {"claude-code": claude_code.knows, "codex": codex.knows}
SUFFIX = ".jsonl"
SUB_AGENTS = "subagents"
EMPTY = Fault("empty", "is empty")
LINE_BYTES = 64 * 1024 * 1024  # a longer line is none
_TAIL_BYTES = 64 * 1024
_HEAD_LINES = 50
_TAIL_LINES = 20
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


@dataclass(frozen=True)
class Glance:
    """What both ends of a file tell; `fault` says why it cannot be read, or that it is empty.

    `parents` are the sessions that a sub-agent may belong to, the likeliest first; a session of
    its own has none.  `modified_at` is the file's own time.  A `copied` one begins with what it
    says are another session's lines; one that was not `asked` for came along with another.
    `sha256` is of the whole file, and only there when nothing else names its session.
    """

    path: str
    modified_at: str = ""
    session: str | None = None
    sub_agent: bool = False
    parents: tuple[str, ...] = ()
    started_at: str | None = None
    finished_at: str | None = None
    fault: Fault | None = None
    copied: bool = False
    asked: bool = True
    sha256: str = ""

    @property
    def order(self) -> tuple[str, bool, str, str]:
        """Puts sessions in the order in which they happened.

        A copy begins as its original does; it says that it is one, or ends later.
        """
        started = self.started_at or self.modified_at
        return started, self.copied, self.finished_at or self.modified_at, self.path


def find(paths: Iterable[str]) -> dict[str, bool]:
    """The session files at and below some paths, absolute, each once; whether it was asked for.

    In a folder every `*.jsonl` is looked at.  A file that was named also brings the sub-agents'
    files that Claude Code keeps for it: those were not asked for.
    """
    asked = [os.path.abspath(path) for path in paths]
    found: dict[str, bool] = {}
    known: set[str] = set()
    for path in asked:
        files = _below(path) if os.path.isdir(path) else iter([path])
        for one in files:
            real = os.path.realpath(one)
            if real not in known:
                known.add(real)
                found[one] = True
    for one in _kept_for([path for path in asked if not os.path.isdir(path)]):
        if os.path.realpath(one) not in known:
            known.add(os.path.realpath(one))
            found[one] = False
    return found


def _below(folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith(SUFFIX):
                yield os.path.join(place, name)


def _kept_for(paths: Sequence[str]) -> Iterator[str]:
    """Where Claude Code keeps sub-agents' files: below a session's file, in older days beside."""
    for path in paths:
        yield from _below(os.path.join(os.path.splitext(path)[0], SUB_AGENTS))
    for folder in dict.fromkeys(os.path.dirname(path) for path in paths):
        try:
            beside = sorted(os.listdir(folder))
        except OSError:
            continue
        for name in beside:
            if name.startswith("agent-") and name.endswith(SUFFIX):
                yield os.path.join(folder, name)


def glance(path: str, client: str) -> Glance:
    """Whose session a file holds, as far as its first and last lines tell."""
    try:
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):  # a pipe would be waited for, a device read for ever
            return Glance(path, fault=Fault("unreadable", "is not a regular file"))
        if about.st_size == 0:
            return Glance(path, fault=EMPTY)
        with open(path, "rb") as file:
            blank = not file.read(_TAIL_BYTES).strip()
            head = list(_first(file))
            tail = list(_last(file, about.st_size))
            known = any(map(KNOWS[client], (*head, *tail)))
            modified = instant(datetime.fromtimestamp(about.st_mtime, UTC))
            look = _claude_code if client == "claude-code" else _codex
            found = look(path, modified, head, tail)
            if known and found.session is None and not found.sub_agent:
                found = replace(found, sha256=_fingerprint(file))
    except (OSError, ValueError) as failure:
        return Glance(path, fault=unreadable(failure))
    if not known:
        return Glance(path, fault=EMPTY if blank else no_session(client, (*head, *tail)))
    return found


def no_session(client: str, values: Iterable[Mapping[str, Any]]) -> Fault:
    """A file of other lines than this client's."""
    others = {name for one in values for name, knows in KNOWS.items() if knows(one)} - {client}
    but = "".join(f" but of {other}" for other in sorted(others)[:1])
    return Fault("no_session", f"is no session of {client}{but}")


def unreadable(failure: Exception) -> Fault:
    """A file that the system does not let us read."""
    why = getattr(failure, "strerror", None) or str(failure)
    return Fault("unreadable", f"cannot be read ({why})")


def _fingerprint(file: BinaryIO) -> str:
    digest = sha256()
    file.seek(0)
    while chunk := file.read(1024 * 1024):
        digest.update(chunk)
    return digest.hexdigest()


def raw_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; what is too long to be one comes in parts."""
    while raw := file.readline(LINE_BYTES):
        yield raw


def _first(file: BinaryIO) -> Iterator[Mapping[str, Any]]:
    """The objects of the first lines, until one says whose it is, when, and who spoke."""
    file.seek(0)
    left = {"session", "time", "spoken"}
    for number, raw in enumerate(raw_lines(file)):
        for value in read.objects(raw):
            yield value
            left -= _told(value)
        if not left or number >= _HEAD_LINES:
            return


def _last(file: BinaryIO, size: int) -> Iterator[Mapping[str, Any]]:
    """The same of the last lines, the last one first; a cut-off one is left out."""
    file.seek(max(0, size - _TAIL_BYTES))
    lines = file.read(_TAIL_BYTES).split(b"\n")
    left = {"session", "time", "spoken"}
    for raw in reversed(lines[1:][-_TAIL_LINES:] if size > _TAIL_BYTES else lines[-_TAIL_LINES:]):
        for value in read.objects(raw):
            yield value
            left -= _told(value)
        if not left:
            return


def _told(value: Mapping[str, Any]) -> set[str]:
    told = {"session"} if claude_code.session_id(value) or codex.head(value) else set()
    told |= {"time"} if read.time(value.get("timestamp")) else set()
    return told | ({"spoken"} if _spoken(value) else set())


def _spoken(value: Mapping[str, Any]) -> bool:
    return read.kind(value) in {"user", "assistant", "response_item", "item.completed"}


def _times(values: Sequence[Mapping[str, Any]]) -> list[str]:
    return [found for one in values if (found := read.time(one.get("timestamp")))]


def _claude_code(
    path: str, modified: str, head: Sequence[Mapping[str, Any]], tail: Sequence[Mapping[str, Any]]
) -> Glance:
    """A session is named as its file, where a line says so; else as its last lines say.

    A resumed session may begin with the lines, and the ids, of the one before.
    """
    name = os.path.splitext(os.path.basename(path))[0]
    ids = [found for one in (*tail, *head) if (found := claude_code.session_id(one))]
    own = name if name in ids else next(iter(ids), None)
    spoken = [one for one in (*head, *tail) if _spoken(one)]
    owner = _owner(path)
    aside = bool(spoken) and all(one.get("isSidechain") is True for one in spoken)
    aside = aside or owner in ids
    parents = tuple(dict.fromkeys(filter(None, (owner, own)))) if aside else ()
    started, finished = _times(head), _times(tail)
    return Glance(
        path, modified, None if aside else own, aside, parents,
        min(started, default=None), finished[0] if finished else None,
        copied=any(
            one.get("forkedFrom") or claude_code.session_id(one) not in {own, None} for one in head
        ),
    )  # fmt: skip


def _owner(path: str) -> str | None:
    """The session in whose folder a sub-agent's file lies (`<session>/subagents/…`)."""
    above = os.path.dirname(path).split(os.sep)
    return ["", *above][above.index(SUB_AGENTS)] if SUB_AGENTS in above else None


def _codex(
    path: str, modified: str, head: Sequence[Mapping[str, Any]], tail: Sequence[Mapping[str, Any]]
) -> Glance:
    """A session is named by its head, else by its file (`rollout-<time>-<id>.jsonl`)."""
    about = next((found for one in head if (found := codex.head(one))), {})
    named = re.search(rf"({_UUID})\.jsonl\Z", os.path.basename(path))
    threads = [read.name(one.get("thread_id")) for one in head]
    own = codex.session_id(about) or next(filter(None, threads), None)
    own = own or (named[1] if named else None)
    parent = codex.parent(about) if codex.is_sub_agent(about) else None
    started, finished = _times(head), _times(tail)
    return Glance(
        path, modified, own, codex.is_sub_agent(about), (parent,) if parent else (),
        min(started, default=None), finished[0] if finished else None,
    )  # fmt: skip
