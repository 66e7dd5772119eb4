"""A run's prompt composed once more, from the sources that its manifest names.

The sources are read by the names of their blobs: from the working tree while they still read so,
else from git's objects.  One that nobody has committed is gone once it is edited, and is named.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from orgvault.digests import sha256
from orgvault.domain.compiled import read_roster
from orgvault.domain.composing import Sources, compose
from orgvault.domain.connector_file import read_manifest
from orgvault.domain.embeds import (
    Expanded,
    Marker,
    NoteText,
    Unread,
    depends_on_its_place,
    expand,
)
from orgvault.domain.masking import SECRET
from orgvault.domain.notes import fold_name
from orgvault.domain.parts import part
from orgvault.domain.roster import Agent
from orgvault.domain.run import KeptSection, KeptSource, Manifest, TaskSource
from orgvault.domain.snapshot import Snapshot
from orgvault.errors import OrgvaultError
from orgvault.services.desk import Desk
from orgvault.services.task_text import link_of
from orgvault.store.history import blobs
from orgvault.values import dataclass

SAME, DIFFERS, CANNOT = "same", "differs", "cannot"
# The sources of each section that are named in a manifest beside the Task's own.
_NEEDS = {"guidelines": ("template", "org", "connector"), "task": ("org",)}
_NEEDS["memory"] = ("org", "notebook", "core")


class Again:
    """A run's prompt composed once more, from the sources that its manifest names."""

    def __init__(self, desk: Desk, manifest: Manifest) -> None:
        self._desk = desk
        self._manifest = manifest
        self._blobs = _contents(desk, manifest)
        self._gone: dict[str, list[str]] = {name: [] for name in _NEEDS}
        self._texts = self._compose()

    def compared(self, section: KeptSection, text: str | None) -> tuple[str, tuple[str, ...]]:
        """Whether a section is the same when it is composed again, or why that cannot be told."""
        if gone := self._gone.get(section.name):
            return CANNOT, tuple(dict.fromkeys(gone))
        again = self._texts.get(section.name)
        if again is not None and sha256(again.encode()).hexdigest() == section.sha256:
            return SAME, ()
        if self._manifest.version != self._desk.version:
            composer = self._manifest.version
            return CANNOT, (f"composed by orgvault {composer}, this is {self._desk.version}",)
        if text is not None and text.count(SECRET) > (again or "").count(SECRET):
            return CANNOT, ("it holds a secret that is not bound, or not set, any more",)
        if section.name == "task" and _names_a_secret(self._manifest.task_source):
            return CANNOT, ("a name in it is not told by its manifest: it holds a secret",)
        return DIFFERS, ("composed again from the same sources, it reads otherwise",)

    def _compose(self) -> dict[str, str]:
        agent = self._agent()
        if agent is None:
            return {}
        sources = Sources(
            agent=agent,
            template=self._text("template"),
            template_file=self._path("template"),
            tools=self._manifest.tools,
            guidance=self._guidance(),
            task=self._task(agent),
            snapshot=Snapshot(utc_now=self._manifest.at, max_tool_calls=0),
            notebook=self._text("notebook"),
            core=self._text("core"),
            opening=None,
        )
        try:
            composed = compose(sources, self._desk.masked)
        except OrgvaultError as failure:
            self._cannot(_NEEDS, str(failure))
            return {}
        return {one.name: one.text for one in composed.sections}

    def _agent(self) -> Agent | None:
        """The agent as the roster of that time has it."""
        path, text = self._path("org"), self._text("org")
        if not path:
            self._cannot(_NEEDS, "the manifest names no roster")
        if not text:
            return None
        try:
            roster, problems = read_roster(json.loads(text), path)
        except ValueError:
            roster, problems = None, ()
        if roster is None or self._manifest.agent not in roster.agents:
            why = str(problems[0]) if problems else f"{path} of that time does not hold the agent"
            self._cannot(_NEEDS, why)
            return None
        return roster.agents[self._manifest.agent]

    def _guidance(self) -> tuple[str, ...]:
        given = []
        for one in self._manifest.sources:
            if one.name.startswith("connector/"):
                text = self._of(one)
                given.append(_guidance(text, one.path) if text else "")
        return tuple(filter(None, given))

    # ── the Task ────────────────────────────────────────────────────────────────────────────

    def _task(self, agent: Agent) -> Expanded:
        source = self._manifest.task_source
        if source.left_out:
            self._cannot(["task"], f"its manifest leaves {source.left_out} embeds or markers out")
            return _empty("")
        given = str(agent.block.get("task") or "")
        if source.path:
            text = self._note(source.path, source.blob)
            if source.subpath:
                wanted = part(text, source.subpath)
                text = text[wanted.start : wanted.end]
        elif link_of(given) is not None:  # the note was not there, or could not be read
            left = (Marker(one.source, one.target, one.reason) for one in source.markers)
            return _empty("".join(one.text for one in left))
        else:
            text = given
        notes = {one.path: NoteText(self._note(one.path, one.blob), one.blob)
                 for one in source.embeds if one.blob}  # fmt: skip
        if self._gone["task"]:
            return _empty("")
        index = _Recorded([source.path, *notes])
        decided = {
            (one.source, one.target): one.reason
            for one in source.markers
            if not depends_on_its_place(one.reason)
        }
        unknown = Unread("its manifest does not name it")
        try:
            return expand(
                text, source.path, index, lambda path: notes.get(path, unknown), lambda _: "",
                decided,
            )  # fmt: skip
        except OrgvaultError as failure:
            self._cannot(["task"], str(failure))
            return _empty("")

    def _note(self, path: str, blob: str) -> str:
        content = self._blobs.get(blob)
        if content is None:
            self._cannot(["task"], _is_gone(path, blob))
            return ""
        return content.decode(errors="replace")

    # ── sources ─────────────────────────────────────────────────────────────────────────────

    def _text(self, name: str) -> str:
        """A source's text; empty where there was none, or where it is gone."""
        one = self._source(name)
        return "" if one is None else self._of(one)

    def _path(self, name: str) -> str:
        one = self._source(name)
        return "" if one is None else one.path

    def _source(self, name: str) -> KeptSource | None:
        return next((one for one in self._manifest.sources if one.name == name), None)

    def _of(self, one: KeptSource) -> str:
        content = self._blobs.get(one.blob)
        if content is None:
            kind = one.name.partition("/")[0]
            needing = [section for section, kinds in _NEEDS.items() if kind in kinds]
            self._cannot(needing, _is_gone(one.path or one.name, one.blob))
            return ""
        return content.decode(errors="replace")

    def _cannot(self, sections: Iterable[str], why: str) -> None:
        for section in sections:
            self._gone[section].append(why)


@dataclass(frozen=True)
class _Recorded:
    """An index of the notes that a manifest names, and of no others."""

    paths: Sequence[str]

    def named(self, name: str, /) -> Sequence[str]:
        """The paths whose own name is this."""
        return [path for path in self.paths if fold_name(path.rpartition("/")[2]) == name]

    def linked(self, name: str, /) -> Sequence[str]:
        """None: what a link led to was left out, and is decided."""
        del name
        return ()

    def size(self, path: str, /) -> int | None:
        """Not known."""
        del path
        return None

    def aliases(self, readable: object, /) -> Mapping[str, str]:
        """None: what they were good for stands in a marker's reason."""
        del readable
        return {}


def _contents(desk: Desk, manifest: Manifest) -> dict[str, bytes]:
    """The contents of all sources of a run that can still be had, by the names of their blobs."""
    wanted = {one.blob: one.path for one in manifest.sources}
    wanted |= {one.blob: one.path for one in manifest.task_source.embeds if one.blob}
    if manifest.task_source.blob:
        wanted[manifest.task_source.blob] = manifest.task_source.path
    found = {}
    for blob, path in wanted.items():
        content = _as_it_stands(desk, path)
        if content is not None and desk.vault.blob(content) == blob:
            found[blob] = content
    found |= _of_packages(desk, manifest)
    return {**blobs(desk.vault, wanted.keys() - found.keys()), **found}


def _of_packages(desk: Desk, manifest: Manifest) -> dict[str, bytes]:
    """What packages brought that still bring the same: git never had it."""
    brought = [one for one in manifest.sources if not one.path]
    if not brought:
        return {}
    from orgvault.services.connecting import packaged

    contents = {one.blob: packaged(one.name.partition("/")[2]) for one in brought}
    return {
        blob: content
        for blob, content in contents.items()
        if content is not None and desk.vault.blob(content) == blob
    }


def _guidance(manifest: str, path: str) -> str:
    """The paragraph that a connector's manifest gives; empty when it gives none."""
    found, _ = read_manifest(manifest, path)
    return "" if found is None else found.manifest.prompt.guidance


def _names_a_secret(source: TaskSource) -> bool:
    """Whether a name of a note, or what was to be embedded, was masked."""
    names = [source.path, source.subpath]
    names += [text for one in source.embeds for text in (one.path, one.subpath)]
    names += [text for one in source.markers for text in (one.source, one.target, one.reason)]
    return any(SECRET in one for one in names)


def _as_it_stands(desk: Desk, path: str) -> bytes | None:
    try:
        return desk.vault.read(path) if path else None
    except OSError:  # a folder, or forbidden, by now: git may have it
        return None


def _is_gone(path: str, blob: str) -> str:
    return f"{path} at {blob[:10]} is gone"


def _empty(text: str) -> Expanded:
    return Expanded(text, (), (), (), 0, 0)
