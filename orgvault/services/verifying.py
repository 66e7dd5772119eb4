"""`prompt verify`: what was stored against its hashes, and composed again from the same sources.

State and the message after the system message are snapshots: only their hashes can be checked.
"""

from collections.abc import Iterator

from orgvault.digests import sha256
from orgvault.domain.prompt import Section, message
from orgvault.domain.run import Manifest
from orgvault.services.desk import Desk
from orgvault.services.rebuilding import DIFFERS, Again
from orgvault.services.showing import StoredRun, StoredText, stored
from orgvault.store.runs import Runs
from orgvault.values import dataclass

OK, CHANGED, MISSING = "ok", "changed", "missing"
SNAPSHOT = "snapshot"
_STATE = "state"


@dataclass(frozen=True)
class Checked:
    """One text of a run: whether it is what was sent, and whether it can be composed again.

    `where` says where it was found; `why` what is wrong, or what is gone.
    """

    name: str
    stored: str
    where: str
    rebuilt: str
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verified:
    """A run's prompt, checked; `prompt` is the whole system message against its hash.

    `rows`: what is wrong with the run's rows beside its texts.
    """

    run: str
    agent: str
    at: str
    version: str
    prompt: str
    parts: tuple[Checked, ...]
    rows: tuple[str, ...]
    ok: bool


def verify(desk: Desk, run: str) -> Verified:
    """Check what was stored of a run.  Raises as `showing.stored`; writes nothing."""
    kept = stored(desk, run)
    again = Again(desk, kept.manifest)
    parts = tuple(_checked(one, kept.manifest, again) for one in kept.texts)
    prompt, rows = _whole(kept), tuple(_rows(desk, kept))
    texts_are = all(one.stored == OK and one.rebuilt != DIFFERS for one in parts)
    return Verified(
        run=run,
        agent=kept.manifest.agent,
        at=kept.manifest.at,
        version=kept.manifest.version,
        prompt=prompt,
        parts=parts,
        rows=rows,
        ok=prompt == OK and texts_are and not rows,
    )


def describe(done: Verified) -> str:
    """What was checked, as a person reads it."""
    lines = [f"{done.run} of {done.agent}, {done.at}: the system message is {done.prompt}"]
    for one in done.parts:
        where = f" ({one.where})" if one.where else ""
        lines.append(f"  {one.name:<12} stored: {one.stored}{where}; rebuilt: {one.rebuilt}")
        lines += [f"    {why}" for why in one.why]
    lines += [f"  rows: {why}" for why in done.rows]
    return "\n".join(lines)


def _rows(desk: Desk, kept: StoredRun) -> Iterator[str]:
    """What is wrong with the rows of a run: in themselves, with each other, or against git."""
    manifest, runs = kept.manifest, Runs(desk.vault)
    for what in runs.unlike_committed(manifest):
        yield f"the row `{what}` is not as it was committed"
    texts = {one.name: one.found.text for one in kept.texts}
    for one in manifest.sections:
        text = texts.get(one.name)
        if text is not None and len(text.encode()) != one.bytes:
            yield f"{one.name} does not have the {one.bytes:,} bytes that the manifest gives it"
    state = texts.get(_STATE)
    if state is not None and not state.endswith(f'"utc_now": "{manifest.at}"\n}}'):
        yield f"State does not end with the {manifest.at} that the manifest gives"
    rows = {row.index: row for row in runs.opening(manifest)}
    hashes = [(one.name, one.sha256) for one in manifest.sections]
    named = [(one.name, one.sha256) for one in rows[0].texts] if 0 in rows else hashes
    if [name for name, _ in named] != [name for name, _ in hashes] or any(
        digest not in {None, wanted} for (_, digest), (_, wanted) in zip(named, hashes, strict=True)
    ):
        yield "the system message's row and the manifest name other sections"
    if (1 in rows) != (manifest.message_sha256 is not None):
        yield "the manifest and the rows disagree on whether a message follows"


def _whole(kept: StoredRun) -> str:
    names = {one.name for one in kept.manifest.sections}
    found = [(one.name, one.found.text) for one in kept.texts if one.name in names]
    sections = tuple(Section(name, text) for name, text in found if text is not None)
    if len(sections) < len(found):
        return MISSING
    digest = sha256(message(sections).encode()).hexdigest()
    return OK if digest == kept.manifest.prompt_sha256 else CHANGED


def _checked(one: StoredText, manifest: Manifest, again: Again) -> Checked:
    state, why = _stored(one)
    section = next((s for s in manifest.sections if s.name == one.name), None)
    if section is None or one.name == _STATE:
        return Checked(one.name, state, one.found.where, SNAPSHOT, why)
    rebuilt, reasons = again.compared(section, one.found.text)
    return Checked(one.name, state, one.found.where, rebuilt, (*why, *reasons))


def _stored(one: StoredText) -> tuple[str, tuple[str, ...]]:
    if one.found.text is None:
        return MISSING, ("it is neither in the working tree nor in this clone's history",)
    if one.found.altered:
        return CHANGED, (f"its file was altered; as it was sent, it is in the {one.found.where}",)
    if one.sha256 and sha256(one.found.text.encode()).hexdigest() != one.sha256:
        return CHANGED, ("it does not have the hash that was recorded",)
    return OK, ()
