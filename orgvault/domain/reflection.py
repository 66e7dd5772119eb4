"""What a reflection is asked, what it answered, and the row that records every call."""

from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from orgvault.domain.claim import Claim
from orgvault.domain.episode import Correction, Episode
from orgvault.domain.ids import AGENT_ID, CARD_ID, CLAIM_ID, INSTANT, ROW_ID, RUN_ID, SHA256
from orgvault.domain.instants import normal
from orgvault.domain.record import says
from orgvault.domain.transcript import Session
from orgvault.domain.wake import Trigger
from orgvault.values import dataclass

if TYPE_CHECKING:
    from orgvault.domain.excerpt import Excerpt
    from orgvault.domain.proposal_prompt import Wish
    from orgvault.domain.roster import Agent


class Result(StrEnum):
    """How a reflection ended."""

    APPLIED = "applied"
    SKIPPED = "skipped"
    FAILED = "failed"
    UNREADABLE = "unreadable"
    REPOSITORY_BUSY = "repository_busy"
    REFUSED = "refused"  # a change that was asked for and may not be proposed


class Asked(StrEnum):
    """What a model was asked for."""

    MEMORY = "memory"
    PROPOSAL = "proposal"


# What `reflect --run R` tries again; `applied` (also with no operation) is final.
RETRYABLE = frozenset({Result.SKIPPED, Result.FAILED, Result.UNREADABLE})


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One operation of an answer and what became of it."""

    op: str = says("add, update, delete or none, as asked.", max_chars=40)
    claim: int | None = says("The number of the claim in the list, as read.", default=None)
    claim_starts: str = says("The first words of that claim, as given.", default="", max_chars=1000)
    kind: str = says("The kind of claim, as given.", default="", max_chars=40)
    text: str = says("The text, as given.", default="", max_chars=4000)
    why: str = says("The model's reason.", default="", max_chars=4000)
    evidence: str = says("The quote it rests on.", default="", max_chars=2000)
    verdict: str = says("accepted, or why it was dropped.", max_chars=400)
    claim_id: str | None = says("The claim it concerned or made.", default=None, pattern=CLAIM_ID)
    claim_sha256: str | None = says(
        "Hash of that claim's file as the model saw it.", default=None, pattern=SHA256
    )
    effect: str = says(
        "What was done: added, repeated, superseded, closed, or nothing.",
        default="nothing",
        choices=("added", "repeated", "superseded", "closed", "nothing"),
    )


@dataclass(frozen=True, kw_only=True)
class Reflection:
    """One row of `reflections/`: one model call, or why there was none."""

    v: int = says("Format version of the row.", default=1, minimum=1, maximum=1)
    id: str = says("Row id.", pattern=ROW_ID)
    agent: str = says("Whose memory.", pattern=AGENT_ID)
    run: str = says("The run reflected on.", pattern=RUN_ID)
    at: str = says("When (UTC).", pattern=INSTANT, normal=normal)
    trigger: Trigger = says("What asked for it.")
    result: Result = says("How it ended.")
    reason: str = says("Why it was skipped, failed or deferred.", default="", max_chars=400)
    model: str | None = says("Which model answered.", default=None, max_chars=200)
    prompt_sha256: str | None = says("Hash of what it was sent.", default=None, pattern=SHA256)
    tokens_in: int | None = says("Tokens read; null when unknown.", default=None, minimum=0)
    tokens_out: int | None = says("Tokens written; null when unknown.", default=None, minimum=0)
    cost_usd: float | None = says("Cost in US dollars; null when unknown.", default=None, minimum=0)
    ms: int | None = says("Milliseconds the call took.", default=None, minimum=0)
    calls: int = says("Model calls made, a repair included.", default=0, minimum=0)
    answer: str | None = says("The raw answer, secrets masked.", default=None)
    operations: tuple[Verdict, ...] = says("Each operation with its verdict.", default=())
    asked: Asked = says(
        "memory: operations on the claims; proposal: a change because of one claim.",
        default=Asked.MEMORY,
    )
    claim_id: str | None = says(
        "Of a proposal: the claim behind it.", default=None, pattern=CLAIM_ID
    )
    card: str | None = says(
        "Of a proposal: the card that was filed.", default=None, pattern=CARD_ID
    )


@dataclass(frozen=True)
class Run:
    """A finished run that is to be reflected on."""

    agent: "Agent"
    episode: Episode
    session: Session
    trigger: Trigger


@dataclass(frozen=True)
class Question:
    """Everything a model may see of one run, and nothing else.

    `claims` are numbered from 1 in this order.  `prompt` is the whole text for a language
    model; `builtin/extractive` looks at the rest.  All texts are masked already.
    """

    episode: Episode
    excerpt: "Excerpt"
    session: Session
    claims: tuple[Claim, ...]
    recent: tuple[Episode, ...]
    corrections: tuple[Correction, ...]
    prompt: str


@dataclass(frozen=True)
class Answer:
    """What came back: raw text (untrusted), and what the provider said of tokens and cost."""

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


class Model(Protocol):
    """A thing that answers a question; real providers and fakes alike.

    Every call returns within `deadline_s` seconds or raise `ModelFailed`.  `metered`: they cost
    a call of the day's cap.
    """

    name: str
    metered: bool

    def answer(self, question: Question, deadline_s: float) -> Answer:
        """Answer with a JSON text as the prompt asks for it."""

    def repair(self, text: str, deadline_s: float) -> Answer | None:
        """The same answer in the asked form; None from a model that needs no repair."""

    def propose(self, wish: "Wish", deadline_s: float) -> Answer:
        """Answer with a change of the agent's own files, as a JSON text; or with none."""
