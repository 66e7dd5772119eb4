"""The index that recall asks: the terms of an agent's claims and notebook, kept between commands.

It stands in `<git common dir>/orgvault/recall/`, one SQLite file for each agent and working tree,
and is disposable.  Whether it still fits is decided by the content of every file that it was
made of, hashed each time, never by times or sizes: that takes 5 µs a file, hardly more than to
ask for its times.  A saved index is never written to: a newer one is made in memory and
put in its place in one step, so no number of processes, and none that is killed, can spoil it.
"""

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from hashlib import sha256

from orgvault.domain.ids import is_claim_id
from orgvault.domain.passage import CLAIM, NOTEBOOK, Passage
from orgvault.domain.problem import Problem
from orgvault.domain.ranking import FORMULA, rank
from orgvault.posix import O_CLOEXEC
from orgvault.store import files
from orgvault.store.recall_tables import UNREADABLE, Entry, Tables
from orgvault.store.vault import ORG, Vault
from orgvault.values import dataclass

_FOLDER = "recall"
# What the tables look like, and what is in them: another form is worthless.
_FORM = f"1 {FORMULA} {sys.byteorder}"
_CHUNK = 1 << 14
_LINKED = "it is reached by a link, which may lead anywhere, and is not read"


@dataclass(frozen=True)
class Found:
    """What a search gave: passages, best first, and what was wrong in the files."""

    passages: tuple[Passage, ...]
    problems: tuple[str, ...]


def search(vault: Vault, agent: str, query: str, count: int, clean: Callable[[str], str]) -> Found:
    """The `count` passages of an agent's memory that fit a query best.

    `clean` is what a text goes through before any of it is written down.  A claim that cannot be
    read is among the problems, and the others are searched.
    """
    problems: list[Problem] = []
    contents = read_memory(vault, agent, problems)
    path = index_path(vault, agent)
    mark = _mark(contents)
    with suppress(*UNREADABLE), closing(Tables.saved(path)) as saved:
        if saved.mark == mark:
            return _search(saved, query, count, problems)
    # What grows from a damaged index may be as damaged: then it is made of the files alone.
    with suppress(*UNREADABLE), closing(_grown(path, agent, contents, clean, mark)) as grown:
        return _kept(vault, path, grown, _search(grown, query, count, problems))
    with closing(Tables.empty(_FORM)) as made:
        _renew(made, agent, contents, clean, mark)
        return _kept(vault, path, made, _search(made, query, count, problems))


def index_path(vault: Vault, agent: str) -> str:
    """Where the index of an agent is kept: working trees of one repository share the folder."""
    tree = sha256(os.fsencode(vault.place.name)).hexdigest()[:8]
    return os.path.join(vault.private, _FOLDER, f"{agent}-{tree}.sqlite")


def read_memory(vault: Vault, agent: str, problems: list[Problem]) -> dict[str, bytes]:
    """What recall searches, by path: the files of an agent's active claims, and its notebook."""
    claims = f"{ORG}/memory/{agent}/claims"
    names = [name for name in vault.names(claims) if name.endswith(".yaml")]
    found: dict[str, bytes] = {}
    for folder, inside in ((claims, names), (f"{ORG}/memory", [f"{agent}.md"])):
        if os.path.realpath(vault.path(folder)) != vault.path(folder):
            problems.append(Problem(folder, 0, _LINKED))
            continue
        with _beginning(vault.path(folder)) as (begin, opened):
            for name in inside:
                try:
                    found[f"{folder}/{name}"] = _read(begin + name, opened)
                except (FileNotFoundError, NotADirectoryError):
                    continue
                except OSError as failure:
                    what = f"the file cannot be read ({failure.strerror or failure})"
                    what = _LINKED if failure.errno == errno.ELOOP else what
                    problems.append(Problem(f"{folder}/{name}", 0, what))
    return found


def _notebook(agent: str) -> str:
    return f"{ORG}/memory/{agent}.md"


@contextmanager
def _beginning(folder: str) -> Iterator[tuple[str, int | None]]:
    """How the names in a folder are opened: below its descriptor, where the system can do that.

    Walking the whole path for each of a thousand files would take as long again as reading them.
    """
    opened = -1
    if os.open in os.supports_dir_fd:
        with suppress(OSError):
            opened = os.open(folder, os.O_RDONLY | O_CLOEXEC)
    if opened < 0:
        yield f"{folder}/", None
        return
    try:
        yield "", opened
    finally:
        os.close(opened)


def _read(name: str, folder: int | None) -> bytes:
    """A file's content, in a third of the time of `open`.

    OSError for anything but a file, without waiting on it; a link is none, wherever it leads.
    """
    flags = os.O_RDONLY | O_CLOEXEC | files.O_NONBLOCK | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(name, flags, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", name)
        content = os.read(descriptor, _CHUNK)
        if len(content) == _CHUNK:
            with os.fdopen(os.dup(descriptor), "rb") as rest:
                content += rest.read()
    finally:
        os.close(descriptor)
    return content


def _mark(contents: dict[str, bytes]) -> str:
    """A hash of everything that an index depends on."""
    lengths = "".join(f"{path}\n{len(content)}\n" for path, content in contents.items())
    said = sha256(f"{_FORM}\n{len(lengths)}\n{lengths}".encode(errors="surrogateescape"))
    said.update(b"".join(contents.values()))
    return said.hexdigest()


def _search(tables: Tables, query: str, count: int, problems: list[Problem]) -> Found:
    best = rank(query, tables)[:count]
    said = (*map(str, problems), *tables.problems())
    return Found(tuple(map(tables.passage, best)), said)


# ── making a newer one ──────────────────────────────────────────────────────────────────────


def _kept(vault: Vault, path: str, newer: Tables, found: Found) -> Found:
    """What was found in an index, which then is kept for the next command."""
    with suppress(OSError):  # where nothing can be kept, the next command makes it anew
        files.replace(path, newer.image(), vault.place.scratch)
    return found


def _grown(
    path: str, agent: str, contents: dict[str, bytes], clean: Callable[[str], str], mark: str
) -> Tables:
    """The saved index, in memory and brought up to date; any of `UNREADABLE` when it is no use."""
    with closing(Tables.saved(path)) as saved, ExitStack() as failing:
        if saved.form != _FORM:
            raise LookupError(path)
        grown = saved.copy()
        failing.callback(grown.close)
        _renew(grown, agent, contents, clean, mark)
        failing.pop_all()
        return grown


def _renew(
    tables: Tables, agent: str, contents: dict[str, bytes], clean: Callable[[str], str], mark: str
) -> None:
    # A sync tool's copy of a claim is no claim: `check` reports it.
    ours = {path: contents[path] for path in contents if _is_memory(path, agent)}
    known = tables.files()
    for path in sorted(known.keys() - ours.keys()):
        _replace(tables, path, [])
        tables.drop_file(path)
    hashes = {path: files.fingerprint(content) for path, content in ours.items()}
    changed = {path: ours[path] for path in ours if known.get(path) != hashes[path]}
    notebook = changed.pop(_notebook(agent), None)
    entries: dict[str, list[Entry]] = {}
    problems: list[Problem] = []
    if changed:
        entries = _claims(agent, changed, clean, problems)
    if notebook is not None:
        entries[_notebook(agent)] = _sections(agent, notebook, clean)
    for path, found in entries.items():
        _replace(tables, path, found)
        tables.put_file(path, hashes[path], [str(one) for one in problems if one.file == path])
    tables.finish(mark)


def _is_memory(path: str, agent: str) -> bool:
    name = path.rpartition("/")[2].removesuffix(".yaml")
    return path == _notebook(agent) or is_claim_id(name)


def _replace(tables: Tables, path: str, entries: Iterable[Entry]) -> None:
    """Make these the passages of a file; what only moved in it is not indexed again."""
    stand = {replace(old, place=0, line=None): (key, old) for key, old in tables.entries(path)}
    for entry in entries:
        key, old = stand.pop(replace(entry, place=0, line=None), (0, entry))
        if not key:
            tables.add(entry)
        elif (old.place, old.line) != (entry.place, entry.line):
            tables.move(key, entry.place, entry.line)
    for key, old in stand.values():
        tables.remove(key, old)


@dataclass(frozen=True)
class _Changed:
    """The files that changed, as a tree."""

    contents: dict[str, bytes]

    def read(self, path: str, /) -> bytes | None:
        """A file's content."""
        return self.contents.get(path)

    def names(self, folder: str, /) -> list[str]:
        """The names in a folder."""
        return [
            name for path in self.contents for at, _, name in [path.rpartition("/")] if at == folder
        ]


def _claims(
    agent: str, changed: dict[str, bytes], clean: Callable[[str], str], problems: list[Problem]
) -> dict[str, list[Entry]]:
    from orgvault.store.claims import ACTIVE, Claims

    entries: dict[str, list[Entry]] = {path: [] for path in changed}
    for stored in Claims(_Changed(changed)).load(agent, ACTIVE, problems):
        one = stored.claim
        if one.active:
            dates = f"{one.first_seen[:10]} {one.last_seen[:10]}"
            entries[stored.path] = [
                Entry(
                    file=stored.path, source=CLAIM, context=one.first_seen, place=0, id=one.id,
                    kind=str(one.kind), heading=None, line=None,
                    text=_written(clean(one.text)), dates=dates,
                )
            ]  # fmt: skip
    return entries


def _sections(agent: str, content: bytes, clean: Callable[[str], str]) -> list[Entry]:
    """The sections of a notebook; each is named as Obsidian links to it, one of a kind."""
    from orgvault.domain.sections import sections

    entries = []
    used: dict[str, int] = {}
    for place, one in enumerate(sections(content.decode(errors="replace"))):
        headings = [clean(heading) for heading in one.headings]
        name = "#".join([agent, *headings])
        used[name] = number = used.get(name, 0) + 1
        entries.append(
            Entry(
                file=_notebook(agent), source=NOTEBOOK, context="", place=place,
                id=f"{name} ({number})" if number > 1 else name,
                kind=None, heading=" > ".join(headings) or None, line=one.line,
                text=clean(one.text), dates="",
            )
        )  # fmt: skip
    return entries


def _written(text: str) -> str:
    """A text as UTF-8 can hold it."""
    return text.encode(errors="replace").decode()
