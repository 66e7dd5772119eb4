"""Runs as they are stored: rows of the runs log, and texts that stand once, by their content.

A text is `runs/texts/<two hex digits>/<sha256>.<agent>.<section>.md`.  Agent and section end the
name since git looks for deltas among files whose paths end alike: in 6,000 runs that halves what
the texts take.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

from orgvault.digests import sha256
from orgvault.domain import record
from orgvault.domain.prompt import Composed
from orgvault.domain.run import (
    MANIFEST,
    OPENING,
    KeptText,
    Manifest,
    OpeningRow,
    manifest_id,
    opening_id,
)
from orgvault.errors import UnknownRevision
from orgvault.store import files
from orgvault.store.entry import Content, Row
from orgvault.store.faults import RowTooLong, Unreadable
from orgvault.store.logs import SPOOLED, agent_in, encode, parse
from orgvault.store.vault import ORG, Vault
from orgvault.values import dataclass

T = TypeVar("T")
LOG = "runs"
TEXTS = f"{ORG}/runs/texts"
MESSAGE = "message"
# Sections that differ in each run; the others stand once, by their content.
INLINE = frozenset({"state"})
ROW, TREE, WAITING, HISTORY = "row", "working tree", "spool", "history"
_SWEPT = "runs-swept"
_NEWEST = 3  # segments


@dataclass(frozen=True)
class Found:
    """A text of a run and where it was found; None when it is nowhere.

    `altered`: in its place in the working tree stands something else.
    """

    text: str | None
    where: str = ""
    altered: bool = False


def text_path(agent: str, name: str, digest: str) -> str:
    """Where a text stands by its content; `name` is empty for a message."""
    return f"{TEXTS}/{digest[:2]}/{digest}.{agent}.{name or MESSAGE}.md"


def digest_in(file_name: str) -> str:
    """The hash that the name of a text's file gives; empty for a file that is none of ours."""
    parts = file_name.split(".")
    whole = len(parts) == len(("sha256", "agent", "section", "md")) and parts[-1] == "md"
    return parts[0] if whole and len(parts[0]) == sha256().digest_size * 2 else ""


def to_store(manifest: Manifest, composed: Composed) -> tuple[list[Row], list[Content]]:
    """The rows of a run, and the texts that they name.

    What is inline goes by its content, too, where the row would be longer than a row may be.
    Raises RowTooLong for a manifest that does not fit.
    """
    contents: list[Content] = []
    agent, run = manifest.agent, manifest.run
    whole = [(one.name, one.text, one.name in INLINE) for one in composed.sections]
    openings = [_fitted(agent, run, 0, "system", "", whole, contents)]
    if (said := composed.opening) is not None:
        openings.append(
            _fitted(agent, run, 1, "user", said.title, [("", said.text, True)], contents)
        )
    rows = [_row(manifest), *map(_row, openings)]
    return rows, list(dict.fromkeys(contents))


def _fitted(
    agent: str, run: str, index: int, role: str, title: str,
    texts: Sequence[tuple[str, str, bool]], contents: list[Content],
) -> OpeningRow:  # fmt: skip
    """An opening row; each of `texts` is a name, the text, and whether it is to be inline."""

    def made(*, inline: bool) -> OpeningRow:
        kept = tuple(_kept(name, text, inline=inline and wanted) for name, text, wanted in texts)
        return OpeningRow(
            id=opening_id(agent, run, index), agent=agent, run=run, index=index, role=role,
            title=title, texts=kept,
        )  # fmt: skip

    opening = made(inline=True)
    try:
        encode(opening)
    except RowTooLong:
        opening = made(inline=False)
    contents += (
        Content(text_path(agent, name, kept.sha256), text)
        for (name, text, _), kept in zip(texts, opening.texts, strict=True)
        if kept.text is None and kept.sha256
    )
    return opening


def _kept(name: str, text: str, *, inline: bool) -> KeptText:
    digest = None if inline and name else sha256(text.encode()).hexdigest()
    return KeptText(name=name, text=text if inline else None, sha256=digest)


def _row(one: Manifest | OpeningRow) -> Row:
    return Row(LOG, one.agent, one.id, encode(one))


class Runs:
    """The runs of a vault."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    # ── rows ────────────────────────────────────────────────────────────────────────────────

    def manifest(self, agent: str, run: str) -> Manifest | None:
        """The manifest of an agent's run; looks among the newest first and parses one row."""
        row_id = manifest_id(agent, run)
        return _read(Manifest, self._rows(agent, row_id).get(row_id))

    def is_taken(self, agent: str, run: str) -> bool:
        """Whether a run of the newest segments or the spool has that id.

        Older ones are not looked at, so that beginning a run costs the same for ever: that 40
        random bits meet one of ten thousand old runs happens once in a hundred million starts.
        """
        row_id = manifest_id(agent, run)
        return row_id in self._rows(agent, row_id, newest=_NEWEST)

    def find(self, agents: Iterable[str], run: str) -> Manifest | None:
        """The manifest of a run of any of these agents."""
        found = (self.manifest(agent, run) for agent in agents)
        return next((one for one in found if one is not None), None)

    def manifests(self, agent: str, limit: int | None = None) -> list[Manifest]:
        """The manifests of an agent's runs, newest first."""
        return list(islice(self._manifests(agent), limit))

    def opening(self, manifest: Manifest) -> list[OpeningRow]:
        """The rows that a run opens with, in their order."""
        ids = [opening_id(manifest.agent, manifest.run, index) for index in (0, 1)]
        rows = self._rows(manifest.agent, *ids)
        found = (_read(OpeningRow, rows.get(one)) for one in ids)
        return [one for one in found if one is not None]

    def _manifests(self, agent: str) -> Iterator[Manifest]:
        for line in self._vault.logs.newest_lines(LOG, agent):
            if line.row.get("kind") == MANIFEST:
                one = _read(Manifest, line.row)
                if one is not None:
                    yield one

    def _rows(
        self, agent: str, *row_ids: str, newest: int | None = None
    ) -> dict[str, dict[str, Any]]:
        """Rows by their ids, from the newest segments (so many) and the spool.

        The search ends where the first is: the others came after it.
        """
        logs = self._vault.logs
        waiting = [row.line for row in logs.spooled() if (row.log, row.agent) == (LOG, agent)]
        paths = islice(reversed(logs.segments(LOG, agent)), newest)
        segments = (logs.content(path) for path in paths)
        found: dict[str, dict[str, Any]] = {}
        for content in chain(["\n".join(waiting).encode()], segments):
            for one in row_ids:
                if one not in found and (row := _row_in(content, one)) is not None:
                    found[one] = row
            if row_ids[0] in found:
                break
        return found

    def unlike_committed(self, manifest: Manifest) -> list[str]:
        """The rows of a run, by what they are, that git's HEAD has otherwise, or has alone."""
        from orgvault.store.history import at

        agent, run = manifest.agent, manifest.run
        ids = {
            manifest.id: MANIFEST,
            **{opening_id(agent, run, index): f"{OPENING} {index}" for index in (0, 1)},
        }
        try:
            committed = at(self._vault, "HEAD")
        except UnknownRevision:  # nothing is committed yet
            return []
        folder = os.path.relpath(self._vault.logs.folder(LOG, agent), self._vault.root)
        names = [one for one in committed.names(folder) if agent_in(one) == agent]
        held: dict[str, dict[str, Any]] = {}
        for name in reversed(names):
            content = committed.read(f"{folder}/{name}") or b""
            held |= {one: row for one in ids if (row := _row_in(content, one)) is not None}
            if held:
                break
        here = self._rows(agent, *ids)
        return [ids[one] for one in ids if one in held and here.get(one) != held[one]]

    # ── texts ───────────────────────────────────────────────────────────────────────────────

    def text(self, agent: str, kept: KeptText, digest: str) -> Found:
        """A text by its row: from there, the working tree, the spool or git's history."""
        if kept.text is not None:
            return Found(kept.text, ROW)
        path = text_path(agent, kept.name, digest)

        def is_it(content: bytes) -> bool:
            return sha256(content).hexdigest() == digest

        try:
            content = self._vault.read(path)
            altered = content is not None and not is_it(content)
        except OSError:  # something else stands there, or it may not be read
            content, altered = None, True
        if content is not None and not altered:
            return Found(content.decode(), TREE)
        if (waiting := self._vault.content_waiting(path)) is not None:
            return Found(waiting, WAITING, altered)
        from orgvault.store.history import ever_held

        content = ever_held(self._vault, path, is_it)
        if content is not None:
            return Found(content.decode(), HISTORY, altered)
        return Found(None, altered=altered)

    def paths(self) -> Iterator[str]:
        """The paths of all texts in the working tree."""
        for folder in self._vault.names(TEXTS):
            for name in self._vault.names(f"{TEXTS}/{folder}"):
                yield f"{TEXTS}/{folder}/{name}"

    def unused_since(self, moment: str) -> list[str]:
        """The paths of the texts in the working tree that no run since an instant uses."""
        used: set[str] = set()
        for agent in self._vault.logs.agents(LOG):
            used.update(self._used_since(agent, moment))
        return [path for path in self.paths() if _is_text(path) and path not in used]

    def _used_since(self, agent: str, moment: str) -> Iterator[str]:
        named: dict[str, set[str]] = {}
        recent: set[str] = set()
        for line in self._vault.logs.newest_lines(LOG, agent):
            # A row stands in a segment of its own month or a later one.
            if line.file != SPOOLED and os.path.basename(line.file)[:7] < moment[:7]:
                break
            if line.row.get("kind") == OPENING:
                opening = _read(OpeningRow, line.row)
                if opening is not None:
                    named.setdefault(opening.run, set()).update(texts_of(opening))
            elif str(line.row.get("at")) >= moment:
                recent.add(str(line.row.get("run")))
        for run in recent:
            yield from named.get(run, ())

    # ── when old texts were last looked for ─────────────────────────────────────────────────

    def swept_at(self) -> str:
        """When texts that no run uses any more were last looked for; empty for never."""
        content = files.read_bytes(os.path.join(self._vault.private, _SWEPT)) or b""
        return content.decode(errors="replace").strip()

    def note_swept(self, at: str) -> None:
        """Remember it.  What is remembered may be lost: then they are looked for once more."""
        from orgvault.store.preview import Preview

        if not isinstance(self._vault, Preview):
            place = os.path.join(self._vault.private, _SWEPT)
            files.replace(place, at.encode() + b"\n")


def texts_of(opening: OpeningRow) -> Iterator[str]:
    """The paths of the texts that an opening row names."""
    for one in opening.texts:
        if one.text is None and one.sha256:
            yield text_path(opening.agent, one.name, one.sha256)


def _is_text(path: str) -> bool:
    return bool(digest_in(path.rpartition("/")[2]))


def _row_in(content: bytes, row_id: str) -> dict[str, Any] | None:
    needle = b'"%s"' % row_id.encode()
    at = content.find(needle)
    while at >= 0:
        start = content.rfind(b"\n", 0, at) + 1
        end = content.find(b"\n", at)
        end = len(content) if end < 0 else end
        try:
            row = parse(content[start:end])
        except Unreadable:
            row = {}
        if row.get("id") == row_id:
            return row
        at = content.find(needle, end)
    return None


def _read(kind: type[T], row: dict[str, Any] | None) -> T | None:
    return None if row is None else record.read(kind, row)[0]
