"""An agent's Task: the text that org.yaml gives it, or the note that it names, embeds in place."""

from collections.abc import Callable
from dataclasses import replace

from orgvault.domain.embeds import Expanded, Marker, Read, Unread, expand
from orgvault.domain.links import find
from orgvault.domain.note_access import may_write, why_unreadable
from orgvault.domain.notes import MISSING, Index, resolve
from orgvault.domain.parts import part
from orgvault.domain.roster import Agent
from orgvault.domain.run import KeptEmbed, KeptMarker, TaskSource
from orgvault.errors import EmbedBudgetExceeded
from orgvault.services.desk import Desk
from orgvault.store.note_index import NoteIndex
from orgvault.store.note_reader import NoteReader
from orgvault.values import dataclass

NO_TASK = "there is no note of its Task yet"
PROTECTED = "that is a protected place"


@dataclass(frozen=True)
class TaskText:
    """A Task with its embeds in place, where it came from, and what there is to say about it."""

    expanded: Expanded
    source: TaskSource
    remarks: tuple[str, ...]


def task_text(desk: Desk, agent: Agent) -> TaskText:
    """The Task of an agent.  A note that is not there, or cannot be read, leaves a marker.

    Raises EmbedBudgetExceeded.
    """
    index: Index = NoteIndex(desk.vault.place)
    read = NoteReader(desk.vault.place)
    given = str(agent.block.get("task") or "")
    link = link_of(given)
    if link is None:
        return _told(desk, agent, expanded_for(desk, agent, given, "", index, read), TaskSource())
    path, subpath = link
    note, reason = _found(desk, path, index)
    text, blob = "", ""
    if not reason:
        known = read(note)
        if isinstance(known, Unread):
            reason = known.reason
        else:
            text, blob = known.text, known.blob
    if subpath and not reason:
        wanted = part(text, subpath)
        text, reason = text[wanted.start : wanted.end], wanted.reason
    if not reason:
        expanded = expanded_for(desk, agent, text, note, index, read)
        source = TaskSource(path=note, subpath=subpath, blob=blob)
        return _told(desk, agent, expanded, source)
    if reason == MISSING and given == _default(desk, agent):
        return TaskText(_empty(""), TaskSource(), (f"{agent.id}: {NO_TASK} ({path}.md)",))
    marker = Marker("", f"{path}#{subpath}" if subpath else path, reason)
    return _told(desk, agent, _empty(marker.text, marker), TaskSource())


def expanded_for(
    desk: Desk, agent: Agent, text: str, source: str, index: Index, read: Read
) -> Expanded:
    """A text with what it embeds, as far as the agent may read it.

    Raises EmbedBudgetExceeded.
    """
    try:
        return expand(text, source, index, read, _readable(desk, agent))
    except EmbedBudgetExceeded as failure:
        raise failure.masked(desk.masked) from None


def _readable(desk: Desk, agent: Agent) -> Callable[[str], str]:
    return lambda path: why_unreadable(agent, path, desk.roster)


def link_of(task: str) -> tuple[str, str] | None:
    """The note and the part of it that a Task names, when it is nothing but a link."""
    words = task.strip()
    if not (words.startswith("[[") and words.endswith("]]")):
        return None
    found = find(f"!{words}").embeds
    if len(found) != 1 or (found[0].start, found[0].end) != (0, len(words) + 1):
        return None
    return found[0].path, found[0].subpath


def _found(desk: Desk, path: str, index: Index) -> tuple[str, str]:
    """The note of a Task, or the reason why there is none; one where it says needs no index."""
    exact = path if path.lower().endswith(".md") else f"{path}.md"
    folder, _, name = exact.rpartition("/")
    plain = bool(folder) and not any(one.startswith(".") for one in exact.split("/"))
    if plain and name in desk.vault.names(folder):
        note, reason = exact, ""
    else:
        resolved = resolve(path, "", index)
        note, reason = resolved.path, resolved.reason
    if not reason and desk.protects_own(note):
        reason = PROTECTED
    return note, reason


def _default(desk: Desk, agent: Agent) -> str:
    return f"[[{desk.roster.pages_folder.rstrip('/')}/Tasks/{agent.id}]]"


def _empty(text: str, *markers: Marker) -> Expanded:
    return Expanded(text, (), markers, (), 0, 0)


def _told(desk: Desk, agent: Agent, expanded: Expanded, source: TaskSource) -> TaskText:
    told = replace(
        source,
        writable=bool(source.path) and may_write(agent, source.path, desk.roster),
        embeds=tuple(
            KeptEmbed(
                path=one.path,
                subpath=one.subpath,
                blob=one.blob,
                bytes=one.bytes,
                depth=one.depth,
                writable=may_write(agent, one.path, desk.roster),
            )
            for one in expanded.embeds
        ),
        markers=tuple(
            KeptMarker(source=one.source, target=one.target, reason=one.reason)
            for one in expanded.markers
        ),
    )
    left = (f"{agent.id}: {one.text.strip('[]')}" for one in expanded.markers)
    remarks = map(desk.masked, (*expanded.warnings, *left))
    return TaskText(expanded, _masked(told, desk.masked), tuple(remarks))


def _masked(source: TaskSource, masked: Callable[[str], str]) -> TaskSource:
    """The same without secrets: a note's name, or what is to be embedded, may hold one."""
    return replace(
        source,
        path=masked(source.path),
        subpath=masked(source.subpath),
        embeds=tuple(
            replace(one, path=masked(one.path), subpath=masked(one.subpath))
            for one in source.embeds
        ),
        markers=tuple(
            KeptMarker(
                source=masked(one.source), target=masked(one.target), reason=masked(one.reason)
            )
            for one in source.markers
        ),
    )
