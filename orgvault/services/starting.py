"""`run start`: a prompt is composed, stored as it will be sent, and handed over."""

from dataclasses import replace
from typing import TypeVar

from orgvault.domain.instants import days_before
from orgvault.domain.prompt import Composed
from orgvault.domain.run import (
    KeptEmbed,
    KeptMarker,
    KeptSection,
    Manifest,
    TaskSource,
    manifest_id,
)
from orgvault.errors import OrgvaultError
from orgvault.services.composing import Origin, Prepared, prepare
from orgvault.services.desk import Desk, sound
from orgvault.services.showing import Sent, sent
from orgvault.store.faults import RowTooLong
from orgvault.store.logs import encode
from orgvault.store.runs import Runs, to_store
from orgvault.values import dataclass

T = TypeVar("T")
# Texts that are taken out of the working tree after one start: more wait for the next.
MOST_SWEPT = 500
_NAME_CHARS = 4096


@dataclass(frozen=True)
class Started:
    """A run that was stored, and what its model is to receive."""

    manifest: Manifest
    composed: Composed
    remarks: tuple[str, ...]

    @property
    def sent(self) -> Sent:
        """What is to be sent."""
        manifest = self.manifest
        return sent(manifest.run, manifest.agent, self.composed, manifest.sections)


def new_run(desk: Desk, agent: str) -> str:
    """A fresh id for a run."""
    runs = Runs(desk.vault)
    while True:
        run = desk.new_id("run")
        if not runs.is_taken(agent, run):
            return run


def start(desk: Desk, agent_id: str, origin: Origin, run: str | None = None) -> Started:
    """Begin a run: compose its prompt and store it as one write, acknowledged at once.

    `run` is an id that `new_run` gave; without it the run gets one.  Raises what `prepare`
    raises, NotAllowed, Detached or NotRecorded, with nothing stored.
    """
    from orgvault.services.connecting import ask

    desk.require("dispatch", f"start a run of {agent_id}")
    run = run or new_run(desk, desk.agent(agent_id).id)
    prepared = prepare(desk, agent_id, origin, run, ask)
    manifest = _fitting(_manifest(desk, prepared))
    sound(manifest)
    rows, contents = to_store(manifest, prepared.composed)
    agent = manifest.agent
    message = desk.message(f"run({agent}): start {run}", "run-start", agent, run)
    desk.vault.record(message, desk.author, rows, manifest.at, contents)
    remarks = [*prepared.remarks, *_swept(desk, manifest.at)]
    return Started(manifest, prepared.composed, tuple(dict.fromkeys(remarks)))


def _manifest(desk: Desk, prepared: Prepared) -> Manifest:
    composed, origin = prepared.composed, prepared.origin
    return Manifest(
        id=manifest_id(prepared.agent.id, prepared.run),
        agent=prepared.agent.id,
        run=prepared.run,
        at=prepared.at,
        actor=desk.actor.name,
        origin=origin.kind,
        chat_seq=origin.chat_seq,
        routine=origin.routine,
        wakes=origin.wakes,
        prompt_sha256=composed.sha256,
        message_sha256=None if composed.opening is None else composed.opening.sha256,
        core_sha256=prepared.core_sha256,
        sections=kept_sections(desk, composed),
        counter=desk.counted_by(),
        sources=prepared.sources,
        task_source=_readable(prepared.task_source),
        connectors=prepared.connectors,
        neutralised=composed.neutralised,
        claims=prepared.claims,
        tools=prepared.tools,
        version=desk.version,
    )


def kept_sections(desk: Desk, composed: Composed) -> tuple[KeptSection, ...]:
    """What a manifest says of each section."""
    return tuple(
        KeptSection(
            name=one.name, sha256=one.sha256, bytes=len(one.text.encode()),
            tokens=desk.count_tokens(one.text),
        )
        for one in composed.sections
    )  # fmt: skip


def _readable(source: TaskSource) -> TaskSource:
    """Without the embeds and markers whose names are longer than a row's reader takes."""
    embeds = tuple(one for one in source.embeds if _reads(one.path, one.subpath))
    markers = tuple(one for one in source.markers if _reads(one.source, one.target, one.reason))
    return _shortened(source, embeds, markers)


def _reads(*texts: str) -> bool:
    return all(len(one) <= _NAME_CHARS for one in texts)


def _shortened(
    source: TaskSource, embeds: tuple[KeptEmbed, ...], markers: tuple[KeptMarker, ...]
) -> TaskSource:
    left_out = len(source.embeds) + len(source.markers) - len(embeds) - len(markers)
    return replace(source, embeds=embeds, markers=markers, left_out=source.left_out + left_out)


def _fitting(manifest: Manifest) -> Manifest:
    """The manifest with as many of its embeds and markers, first to last, as one row holds."""
    while True:
        try:
            encode(manifest)
        except RowTooLong:
            source = manifest.task_source
            shorter = _shortened(source, _half(source.embeds), _half(source.markers))
            if shorter == source:
                raise
            manifest = replace(manifest, task_source=shorter)
        else:
            return manifest


def _half(items: tuple[T, ...]) -> tuple[T, ...]:
    return items[: len(items) // 2]


def _swept(desk: Desk, now: str) -> list[str]:
    """Once a day, take texts that no run of the days to keep uses out of the working tree.

    They stay in git's history, where `run show` finds them.  The run has begun already: what is in
    the way of this is said, and the next start tries again.
    """
    days, runs = desk.roster.keep_run_days, Runs(desk.vault)
    if days is None or runs.swept_at() > days_before(now, 1):
        return []
    message = desk.message(f"run(texts): remove what no run of {days} days uses", "run-sweep")
    try:
        with desk.vault.change(message, desk.author, now) as change:
            unused = runs.unused_since(days_before(now, days))
            for path in unused[:MOST_SWEPT]:
                change.remove(path)
        if len(unused) <= MOST_SWEPT:
            runs.note_swept(now)
    except (OrgvaultError, OSError) as failure:
        return [f"older texts of runs stay in the working tree for now: {failure}"]
    return []
