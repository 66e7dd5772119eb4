"""Runs: what a model received when a run was started, and from which sources it was composed."""

from orgvault.domain.ids import AGENT_ID, CLAIM_ID, INSTANT, ROW_ID, RUN_ID, SHA256, derived_id
from orgvault.domain.instants import normal
from orgvault.domain.record import says
from orgvault.values import dataclass

DIRECT, GROUP, SCHEDULE = ORIGINS = ("direct", "group", "schedule")
MANIFEST, OPENING = KINDS = ("manifest", "opening")
BLOB = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_BYTES = 10**12


@dataclass(frozen=True, kw_only=True)
class KeptSection:
    """One section of the system message, as it was sent."""

    name: str = says("Name of the element, like `guidelines`.", pattern=r"[a-z]+")
    sha256: str = says("Of its text, without the element's tags.", pattern=SHA256)
    bytes: int = says("UTF-8 bytes of that text.", minimum=0, maximum=_BYTES)
    tokens: int = says("Tokens of that text.", minimum=0, maximum=_BYTES)


@dataclass(frozen=True, kw_only=True)
class KeptSource:
    """A file that a section was composed from, by its blob in git."""

    name: str = says(
        "What it is: template, org, notebook, core, or connector/<name>.",
        pattern=r"[a-z]+(?:/[a-z0-9_-]+)?",
    )
    path: str = says("Path in the vault; empty for one that a package brings.", max_chars=4096)
    blob: str = says("Name of its content in git.", pattern=BLOB)


@dataclass(frozen=True, kw_only=True)
class KeptEmbed:
    """A note that the Task embeds."""

    path: str = says("Path in the vault.", max_chars=4096)
    subpath: str = says("Heading or block, as it was written.", default="", max_chars=4096)
    blob: str = says("Name of the note's content; empty for the Task's own note.", default="")
    bytes: int = says("UTF-8 bytes of what stands in it.", minimum=0, maximum=_BYTES)
    depth: int = says("1 for an embed of the Task itself.", minimum=1, maximum=100)
    writable: bool = says("Whether the agent may write that note.", default=False)


@dataclass(frozen=True, kw_only=True)
class KeptMarker:
    """An embed that was left out."""

    source: str = says("The note that it stands in; empty for an inline Task.", max_chars=4096)
    target: str = says("What was to be embedded.", max_chars=4096)
    reason: str = says("Why it was not.", max_chars=4096)


@dataclass(frozen=True, kw_only=True)
class TaskSource:
    """Where the Task came from: a note, or org.yaml itself (then path and blob are empty)."""

    path: str = says("Path of the note.", default="", max_chars=4096)
    subpath: str = says("The part of the note that is the Task.", default="", max_chars=4096)
    blob: str = says("Name of its content in git.", default="")
    writable: bool = says("Whether the agent may write that note.", default=False)
    embeds: tuple[KeptEmbed, ...] = says("The notes that it embeds, in order.", default=())
    markers: tuple[KeptMarker, ...] = says("What it could not embed.", default=())
    left_out: int = says(
        "How many more of both there were than the row can hold.", default=0, minimum=0
    )


@dataclass(frozen=True, kw_only=True)
class KeptConnector:
    """What a connector did when the run was started."""

    name: str = says("Name of the connector.", max_chars=100)
    ms: int = says("Milliseconds until it answered or was given up.", minimum=0, maximum=10**9)
    unavailable: str | None = says(
        "Why its State key says `unavailable`.", default=None, max_chars=500
    )


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The first row of a run in `runs/<agent>/`: all that is known of how it was composed."""

    v: int = says("Format version of the row.", default=1, minimum=1, maximum=1)
    id: str = says("Row id, derived from agent and run.", pattern=ROW_ID)
    kind: str = says("Which row of a run this is.", default=MANIFEST, choices=(MANIFEST,))
    agent: str = says("The agent that runs.", pattern=AGENT_ID)
    run: str = says("The run.", pattern=RUN_ID)
    at: str = says("When it was composed (UTC).", pattern=INSTANT, normal=normal)
    actor: str = says("Who started it.", max_chars=200)
    origin: str = says("What started it.", choices=ORIGINS)
    chat_seq: int | None = says("Message of the group chat it answers (group).", default=None)
    routine: str | None = says("The routine that is due (schedule).", default=None)
    wakes: tuple[str, ...] = says("The wakes it took.", default=(), pattern=RUN_ID)
    prompt_sha256: str = says("Of the whole system message.", pattern=SHA256)
    message_sha256: str | None = says(
        "Of the message after it; null without one.", default=None, pattern=SHA256
    )
    core_sha256: str | None = says("Of the core block in it.", default=None, pattern=SHA256)
    counter: str = says("What counted the tokens.", max_chars=100)
    sections: tuple[KeptSection, ...] = says("The sections, in order.")
    sources: tuple[KeptSource, ...] = says("What they were composed from.")
    task_source: TaskSource = says("Where the Task came from.")
    connectors: tuple[KeptConnector, ...] = says("The connectors that were asked.", default=())
    neutralised: int = says("Tags in vault texts that were made harmless.", minimum=0)
    claims: tuple[str, ...] = says("Claims in the core block.", default=(), pattern=CLAIM_ID)
    tools: tuple[str, ...] = says("The tools that the run offers.", default=())
    version: str = says("The orgvault that composed it.", max_chars=100)


@dataclass(frozen=True, kw_only=True)
class KeptText:
    """A text of a row: inline, or by the hash under which it stands in `runs/texts/`.

    A section has its hash in the manifest, so only a message gives it beside an inline text.
    """

    name: str = says("Name of the section; empty for a plain message.", default="")
    text: str | None = says("The text itself.", default=None)
    sha256: str | None = says("Hash of the text.", default=None, pattern=SHA256)


@dataclass(frozen=True, kw_only=True)
class OpeningRow:
    """One message that a run opens with."""

    v: int = says("Format version of the row.", default=1, minimum=1, maximum=1)
    id: str = says("Row id, derived from agent, run and index.", pattern=ROW_ID)
    kind: str = says("Which row of a run this is.", default=OPENING, choices=(OPENING,))
    agent: str = says("The agent that runs.", pattern=AGENT_ID)
    run: str = says("The run.", pattern=RUN_ID)
    index: int = says("Its place: 0 is the system message.", minimum=0, maximum=1)
    role: str = says("Who speaks.", choices=("system", "user"))
    title: str = says("`Group Chat info`, `Schedule wake-up`, or empty.", default="")
    texts: tuple[KeptText, ...] = says("What it says: one text, or the sections in order.")


def manifest_id(agent: str, run: str) -> str:
    """The id of the one manifest that a run can have."""
    return derived_id("n", agent, run)


def opening_id(agent: str, run: str, index: int) -> str:
    """The id of a run's opening row."""
    return derived_id("o", agent, run, str(index))
