"""`run list|show` and `prompt diff`: what was sent, as it was stored."""

from collections.abc import Iterator, Sequence
from difflib import unified_diff

from orgvault.domain.access import who_may
from orgvault.domain.prompt import Composed, Message, Section
from orgvault.domain.run import KeptSection, KeptText, Manifest
from orgvault.errors import NotAllowed
from orgvault.services.desk import Desk
from orgvault.services.run_faults import NoSuchRun, NoSuchSection, TextGone
from orgvault.store.runs import MESSAGE, Found, Runs, text_path
from orgvault.values import dataclass

MOST_LISTED = 50


@dataclass(frozen=True)
class StoredText:
    """One text that was sent: a section of the system message, or the message after it.

    `sha256` is what it is to have; empty for one whose row gives none.
    """

    name: str
    title: str
    sha256: str
    found: Found


@dataclass(frozen=True)
class StoredRun:
    """A run with all its texts, in the order in which they were sent."""

    manifest: Manifest
    texts: tuple[StoredText, ...]

    def text(self, name: str) -> str:
        """A section's text, or with `message` that of the message after the system message.

        Raises NoSuchSection or TextGone.
        """
        for one in self.texts:
            if one.name == name:
                return self._whole(one)
        raise NoSuchSection(name, [one.name for one in self.texts])

    @property
    def composed(self) -> Composed:
        """What the model received, put together again.  Raises TextGone."""
        sections = tuple(
            Section(one.name, self._whole(one)) for one in self.texts if one.name != MESSAGE
        )
        said = [Message(one.title, self._whole(one)) for one in self.texts if one.name == MESSAGE]
        return Composed(sections, said[0] if said else None, self.manifest.neutralised)

    def _whole(self, one: StoredText) -> str:
        if one.found.text is None:
            path = text_path(self.manifest.agent, one.name, one.sha256)
            raise TextGone(self.manifest.run, one.name, path)
        return one.found.text


@dataclass(frozen=True)
class Compared:
    """One part of two prompts: how the second differs, as a unified diff; empty when it does not.

    `only_in` is the run that alone has it.
    """

    name: str
    diff: str
    only_in: str | None = None


@dataclass(frozen=True)
class SentSection:
    """One section as it is sent, and what it takes."""

    name: str
    text: str
    sha256: str
    bytes: int
    tokens: int


@dataclass(frozen=True)
class Sent:
    """What a model receives; `run` is empty for one that was not started."""

    run: str
    agent: str
    sections: tuple[SentSection, ...]
    message: Message | None
    neutralised: int


def sent(run: str, agent: str, composed: Composed, kept: Sequence[KeptSection]) -> Sent:
    """A composed prompt with the measures of its sections."""
    sections = tuple(
        SentSection(one.name, one.text, size.sha256, size.bytes, size.tokens)
        for one, size in zip(composed.sections, kept, strict=True)
    )
    return Sent(run, agent, sections, composed.opening, composed.neutralised)


def listed(desk: Desk, agent: str | None, limit: int) -> list[Manifest]:
    """The latest runs of an agent, or of all whose rows the actor may read; newest first."""
    if agent is not None:
        desk.require("read", f"read the runs of {agent}", desk.agent(agent))
    agents = [agent] if agent is not None else [one.id for one in desk.readable()]
    runs = Runs(desk.vault)
    found = [one for name in agents for one in runs.manifests(name, limit)]
    return sorted(found, key=lambda one: (one.at, one.run), reverse=True)[:limit]


def manifest_of(desk: Desk, run: str) -> Manifest:
    """The manifest of a run that the actor may read.

    Raises NoSuchRun; for an agent NotAllowed, whether there is none or it is another's.
    """
    found = Runs(desk.vault).find([one.id for one in desk.readable()], run)
    if found is None and not desk.actor.is_person:
        raise NotAllowed(desk.actor.name, f"read {run}", who_may("read"))
    if found is None:
        raise NoSuchRun(run)
    return found


def stored(desk: Desk, run: str) -> StoredRun:
    """A run with its texts, those that are still to be found.  Raises as `manifest_of`."""
    manifest = manifest_of(desk, run)
    return StoredRun(manifest, tuple(_texts(Runs(desk.vault), manifest)))


def diff(desk: Desk, first: str, second: str) -> list[Compared]:
    """What two runs were told, compared part by part.  Raises as `manifest_of`, or TextGone."""
    runs = [stored(desk, run) for run in (first, second)]
    names = dict.fromkeys(one.name for run in runs for one in run.texts)
    return [_compared(name, *runs) for name in names]


def _compared(name: str, first: StoredRun, second: StoredRun) -> Compared:
    have = [run for run in (first, second) if any(one.name == name for one in run.texts)]
    before, after = (run.text(name) if run in have else "" for run in (first, second))
    files = [f"{run.manifest.run}/{name}" for run in (first, second)]
    lines = list(
        unified_diff(before.splitlines(), after.splitlines(), files[0], files[1], lineterm="")
    )
    only_in = have[0].manifest.run if len(have) == 1 else None
    if before != after and not lines:
        lines = ["(they differ only in how lines end)"]
    return Compared(name, "\n".join(lines), only_in)


def _texts(runs: Runs, manifest: Manifest) -> Iterator[StoredText]:
    hashes = {one.name: one.sha256 for one in manifest.sections}
    rows = {row.index: row for row in runs.opening(manifest)}
    system = rows[0].texts if 0 in rows else ()
    kept = {one.name: one for one in system}
    for name, digest in hashes.items():
        text = kept.get(name) or KeptText(name=name, sha256=digest)
        yield StoredText(name, "", digest, runs.text(manifest.agent, text, digest))
    wanted = manifest.message_sha256 or ""
    title = rows[1].title if 1 in rows else ""
    said = rows[1].texts if 1 in rows else ()
    for one in said or ((KeptText(sha256=wanted),) if wanted else ()):
        digest = wanted or one.sha256 or ""
        yield StoredText(MESSAGE, title, digest, runs.text(manifest.agent, one, digest))


def describe(run: StoredRun) -> str:
    """A run as a person reads it: how its prompt came about, then the prompt."""
    one = run.manifest
    about = [
        f"{one.run} of {one.agent}, {one.at}, started by {one.actor} ({origin(one)})",
        f"by orgvault {one.version}; {one.neutralised} tags made harmless; tokens: {one.counter}",
    ]
    about += [f"  {s.name:<12} {s.tokens:>7} tokens  {s.bytes:>8} bytes" for s in one.sections]
    about += [f"from {s.name}: {s.path or 'a package'} at {s.blob[:10]}" for s in one.sources]
    task = one.task_source
    about += [f"from task: {task.path} at {task.blob[:10]}"] if task.path else []
    about += [
        f"{'  ' * e.depth}embeds {e.path}{'#' + e.subpath if e.subpath else ''}, {e.bytes} bytes"
        + (" (the agent may write it)" if e.writable else "")
        for e in task.embeds
    ]
    about += [f"  not embedded: {m.target}: {m.reason}" for m in task.markers]
    about += [f"  and {task.left_out} more embeds or markers"] if task.left_out else []
    about += [
        f"connector {c.name}: {c.ms} ms{', ' + c.unavailable if c.unavailable else ''}"
        for c in one.connectors
    ]
    about += [f"claims: {', '.join(one.claims)}"] if one.claims else []
    about += [f"tools: {', '.join(one.tools) or 'none'}"]
    shown = [f"── {part.name} ──\n{_shown(part)}" for part in run.texts]
    return "\n\n".join(["\n".join(about), *shown])


def origin(manifest: Manifest) -> str:
    """What started a run, in words."""
    if manifest.chat_seq is not None:
        return f"group message {manifest.chat_seq}"
    return f"routine {manifest.routine}" if manifest.routine else manifest.origin


def _shown(part: StoredText) -> str:
    return "(its text is gone)" if part.found.text is None else part.found.text


def describe_diff(parts: list[Compared]) -> str:
    """Two prompts compared, as a person reads it."""
    lines = []
    for one in parts:
        if one.only_in:
            lines.append(f"{one.name}: only in {one.only_in}")
        elif not one.diff:
            lines.append(f"{one.name}: the same")
        if one.diff:
            lines.append(one.diff)
    return "\n".join(lines)
