"""Collections: a folder each with its collection.yaml, and their records as files or notes."""

import re
from collections.abc import Collection as Some

from orgvault.domain.collection import NOTES, Collection, Record
from orgvault.domain.collection_file import (
    read_collection,
    read_note,
    read_record,
    write_collection,
    write_note,
    write_record,
)
from orgvault.domain.frontmatter import FRONTMATTER
from orgvault.domain.ids import AGENT_ID, RECORD_ID
from orgvault.domain.problem import Problem
from orgvault.errors import BadFile
from orgvault.store.change import Tree
from orgvault.store.files import text_of
from orgvault.store.vault import ORG
from orgvault.values import dataclass

FOLDER = f"{ORG}/collections"
SHAPE = "collection.yaml"
_RESTORE = "save it as UTF-8"


@dataclass(frozen=True)
class StoredRecord:
    """A record with its file: path relative to the vault, and the whole text."""

    record: Record
    path: str
    text: str


class Collections:
    """The collections of a vault, or of a change of it; `pages` is the visible folder.

    With `agents`, grants to others are problems too.
    """

    def __init__(self, vault: Tree, pages: str, agents: Some[str] | None = None) -> None:
        self._tree = vault
        self._pages = pages
        self._agents = agents

    @staticmethod
    def path(name: str) -> str:
        """Where the shape of a collection stands."""
        return f"{FOLDER}/{name}/{SHAPE}"

    def all(self, problems: list[Problem]) -> list[Collection]:
        """Every collection, by name; what is none goes to `problems`."""
        found = []
        for name in self._tree.names(FOLDER):
            if name.startswith("."):
                continue
            if not re.fullmatch(AGENT_ID, name):
                problems.append(Problem(f"{FOLDER}/{name}", 0, *_NO_COLLECTION))
                continue
            before = len(problems)
            shape = self.get(name, problems)
            if shape is not None:
                found.append(shape)
            elif len(problems) == before:
                what = f"there is no {SHAPE} in it"
                do = "restore it from git, or remove the folder"
                problems.append(Problem(f"{FOLDER}/{name}", 0, what, do))
        return found

    def get(self, name: str, problems: list[Problem]) -> Collection | None:
        """One collection; None when there is none of that name, or it cannot be relied on."""
        if not re.fullmatch(AGENT_ID, name):
            return None
        path = self.path(name)
        text = self._text(path, problems)
        if text is None:
            return None
        shape, faults = read_collection(text, path, self._pages, self._agents)
        problems.extend(faults)
        if shape is not None and shape.name != name:
            what = f"it holds the collection {shape.name} under another name"
            problems.append(Problem(path, 0, what, f"write `name: {name}`, or rename the folder"))
            return None
        return shape

    def folder(self, shape: Collection) -> str:
        """Where the records of a collection stand."""
        if shape.store == NOTES and shape.folder is not None:
            return shape.folder.rstrip("/")
        return f"{FOLDER}/{shape.name}/records"

    def record_path(self, shape: Collection, record_id: str) -> str:
        """Where a record stands."""
        return f"{self.folder(shape)}/{record_id}{_ending(shape)}"

    @staticmethod
    def shaped(shape: Collection) -> str:
        """The text of a new collection's file."""
        return write_collection(shape)

    @staticmethod
    def written(shape: Collection, record: Record, body: str = "") -> str:
        """The text of a record's file; `body` is what stands below a note's keys."""
        if shape.store == NOTES:
            return write_note(record, shape, body)
        return write_record(record, shape)

    def records(self, collection: Collection, problems: list[Problem]) -> list[Record]:
        """Every record of a collection, by id; files that are none go to `problems`."""
        return [one.record for one in self.stored(collection, problems)]

    def stored(self, shape: Collection, problems: list[Problem]) -> list[StoredRecord]:
        """Every record of a collection with its file, by id."""
        found, folder, ending = [], self.folder(shape), _ending(shape)
        for name in self._tree.names(folder):
            if not name.endswith(ending) or not re.fullmatch(RECORD_ID, name[: -len(ending)]):
                self._report(shape, f"{folder}/{name}", problems)
                continue
            one = self.record(shape, name[: -len(ending)], problems)
            if one is not None:
                found.append(one)
        return found

    def record(
        self, shape: Collection, record_id: str, problems: list[Problem]
    ) -> StoredRecord | None:
        """One record; None when there is none of that id, or it cannot be read."""
        if not re.fullmatch(RECORD_ID, record_id):
            return None
        path = self.record_path(shape, record_id)
        text = self._text(path, problems)
        if text is None:
            return None
        read = read_note if shape.store == NOTES else read_record
        record, faults = read(text, path, shape)
        problems.extend(faults)
        if record is not None and record.id != record_id:
            what = f"the file holds {record.id} under another name"
            do = f"name it {record.id}{_ending(shape)} again (a sync tool's copy: remove it)"
            problems.append(Problem(path, 0, what, do))
            return None
        return None if record is None else StoredRecord(record, path, text)

    def _report(self, shape: Collection, path: str, problems: list[Problem]) -> None:
        """Say that a file is no record; a note of the person's own beside them is none of ours."""
        name = path.rpartition("/")[2]
        if name.startswith("."):
            return
        if shape.store == NOTES:
            text = self._text(path, []) if name.endswith(".md") else None
            keys = FRONTMATTER.match(text or "")
            ours = rf"^collection:[ \t]*[\"']?{re.escape(shape.name)}[\"']?[ \t]*\r?$"
            if keys is None or not re.search(ours, keys["keys"], re.MULTILINE):
                return
        problems.append(Problem(path, 0, *_NO_RECORD))

    def _text(self, path: str, problems: list[Problem]) -> str | None:
        """A file's text, unless a link stands in its way: it might lead out of the vault."""
        try:
            self._tree.check(path)
        except BadFile as fault:
            what = str(fault).removeprefix(f"{path}: ")
            problems.append(Problem(path, 0, f"it is not read: {what}"))
            return None
        return text_of(self._tree.read, path, problems, _RESTORE)


def _ending(shape: Collection) -> str:
    return ".md" if shape.store == NOTES else ".yaml"


_NO_COLLECTION = (
    "not the name of a collection, so it is not loaded",
    "a small letter, then up to 31 of a-z, 0-9 and -",
)
_NO_RECORD = ("not the name of a record, so it is not loaded", "a sync tool's copy? remove it")
