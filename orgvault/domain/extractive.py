"""What a finished run teaches, by rule and without a model: failures and corrections that recurred.

Every claim quotes what was seen, and the same thing seen in another run gives the same text, so
that it counts as a repeat.  Nothing recurred is the normal case: then there is no operation.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from orgvault.domain.claim import ClaimKind
from orgvault.domain.cleaning import LEFT_OUT
from orgvault.domain.command_names import names
from orgvault.domain.episode import Episode
from orgvault.domain.failures import (
    Failure,
    abstracted,
    failures,
    is_shell,
    only_looks,
    rejected,
)
from orgvault.domain.folding import statement_key
from orgvault.domain.reflection import Question
from orgvault.domain.repeated import in_short, is_correction, same_thing
from orgvault.domain.statement import text_fault
from orgvault.domain.transcript import Said, Session, ToolCall
from orgvault.domain.wake import Outcome
from orgvault.values import dataclass

OPERATIONS = 5
EVIDENCE_CHARS = (12, 120)
_OF_FAILURES = 3

_ABSENT = r"(?i)no module named|cannot find|not found|not installed|enoent"
_INSTALLING = r"\b(?:install|sync|ci|add|restore|bootstrap|setup)$"
_PASSING = r"(?i)timed? ?out|connection|econn|network|locked|busy|resolve host"
# What no claim of ours quotes, beside what `text_fault` refuses: orders for later runs (they may
# come from anybody), permissions, addresses, tags.
_UNSAYABLE = (
    r"(?i)://|\bwww\.|@\w|[<>]|\byou\b|\b(?:please|always|never|ignore|disregard|forget"
    r"|remember|from now on|instructions?|upload|may|grants?|allows?|allowed to|approv\w+)\b"
    r"|\bpermission(?! denied)"
)
_QUOTING = r'.* "([^"]+)"\.'


@dataclass(frozen=True)
class Operation:
    """One operation in the order of an answer's fields; `claim` counts from 1."""

    why: str
    evidence: str
    op: str
    claim: int | None
    claim_starts: str
    kind: str
    text: str


@dataclass(frozen=True)
class _Finding:
    """Something that recurred; `known` are other words in which a claim may say the same."""

    why: str
    evidence: str
    kind: ClaimKind
    text: str
    known: tuple[str, ...] = ()


def operations(question: Question) -> tuple[Operation, ...]:
    """At most five operations, the surest first."""
    found = [*_failed(question), *_told(question), *_sent_back(question), *_blocked(question)]
    asked: list[Operation] = []
    for one in found:
        operation = _operation(one, question)
        if operation is not None and operation.text not in {other.text for other in asked}:
            asked.append(operation)
    return tuple(asked[:OPERATIONS])


def _operation(finding: _Finding, question: Question) -> Operation | None:
    if (
        not finding.evidence
        or re.search(_UNSAYABLE, finding.text)
        or text_fault(finding.text, {}, ())
    ):
        return None
    number = _claim_saying((finding.text, *finding.known), question)
    if number is None:
        return Operation(
            finding.why, finding.evidence, "add", None, "", str(finding.kind), finding.text
        )
    claim = question.claims[number - 1]
    return Operation(
        finding.why,
        finding.evidence,
        "update",
        number,
        claim.text[:60],
        str(claim.kind),
        claim.text,
    )


def _claim_saying(texts: Sequence[str], question: Question) -> int | None:
    said = {statement_key(one) for one in texts}
    fits = (n for n, claim in enumerate(question.claims, 1) if statement_key(claim.text) in said)
    return next(fits, None)


# ---------------------------------------------------------------- failing calls


def _failed(question: Question) -> list[_Finding]:
    groups: dict[tuple[str, str], list[Failure]] = {}
    for one in failures(question.session):
        groups.setdefault((one.name, one.reason), []).append(one)
    found: list[tuple[int, _Finding]] = []
    for group in groups.values():
        finding = _failure(group, question)
        known = _claim_saying((finding.text, *finding.known), question) is not None
        if len(group) > 1 or known:
            found.append((len(group), finding))
    found.sort(key=lambda one: -one[0])
    return [finding for _, finding in found[:_OF_FAILURES]]


def _failure(group: Sequence[Failure], question: Question) -> _Finding:
    one = group[0]
    doing = "run " + " then ".join(f"`{step}`" for step in one.name.split(" then "))
    doing = doing if one.shell else f"use the {one.name} tool"
    before = " before installing its dependencies"
    again = (
        f"I repeat the same failing call unchanged when I {doing}: "
        f'it fails each time with "{one.reason}".'
    )
    first, plain = (
        f'I lose a turn when I {doing}{when}: it fails with "{one.reason}".'
        for when in (before, "")
    )
    if _repeated_unchanged(group, question):
        kind, text = ClaimKind.ANTI_PATTERN, again
    else:
        kind, text = ClaimKind.FRICTION, first if _installed_after(group, question) else plain
    times = f"{len(group)} times" if len(group) > 1 else "again"
    why = f"This call failed {times} in this run in the same way."
    return _Finding(why, _line_shown(group, question), kind, text, (first, plain, again))


def _repeated_unchanged(group: Sequence[Failure], question: Question) -> bool:
    """Whether a call was made again as it was, with nothing done in between that could help."""
    if re.search(_PASSING, group[0].reason):
        return False
    for one, other in pairwise(group):
        between = question.session.items[one.at + 1 : other.at]
        helped = any(
            item.by == "user" if isinstance(item, Said) else not (item.failed or only_looks(item))
            for item in between
        )
        if one.input == other.input and not helped:
            return True
    return False


def _installed_after(group: Sequence[Failure], question: Question) -> bool:
    """Whether something absent was installed after the last failure, and the call then worked."""
    one, installed = group[-1], False
    if not one.shell or not re.search(_ABSENT, one.reason):
        return False
    for item in question.session.items[one.at + 1 :]:
        if isinstance(item, ToolCall) and is_shell(item.tool) and not item.failed:
            told = names(item.input)
            if installed and one.name in told:
                return True
            installed = installed or any(re.search(_INSTALLING, name) for name in told)
    return False


def _line_shown(group: Sequence[Failure], question: Question) -> str:
    """The line that says why, quoted as it stands in the excerpt; "" when none does."""
    lines = {one.line.strip() for one in group}
    reasons = {abstracted(one.line) for one in group}
    for part in question.excerpt.parts:
        if part.source != "result":
            continue
        for piece in re.split(rf"\n|{re.escape(LEFT_OUT)}", part.text):
            shown = piece.strip()
            if shown and (shown in lines or abstracted(shown) in reasons):
                quote = _quote(shown)
                if quote:
                    return quote
    return ""


def _quote(text: str) -> str:
    least, most = EVIDENCE_CHARS
    quote = text[:most].strip()
    return quote if len(quote) >= least else ""


# ---------------------------------------------------------------- corrections and blocks


def _told(question: Question) -> list[_Finding]:
    """What the user had to say more than once in this run, after the task itself."""
    found = []
    for group in same_thing([in_short(one) for one in _corrections(question.session)]):
        short = min(group, key=len)
        text = f'I had to be told more than once in one run "{short}".'
        why = f"The user said this {len(group)} times in this run."
        evidence = _words_shown(group, question, {"user"})
        found.append(
            _Finding(
                why, evidence, ClaimKind.PREFERENCE, text, _claims_quoting(text, short, question)
            )
        )
    return found


def _corrections(session: Session) -> list[str]:
    """What the user said against what the agent did: after a refused call, or in such words."""
    found: list[str] = []
    given = refused = False
    for item in session.items:
        if isinstance(item, ToolCall):
            refused = rejected(item.result)
        elif item.by == "user":
            if given and (refused or is_correction(item.text)):
                found.append(item.text)
            given, refused = True, False
    return found


def _sent_back(question: Question) -> list[_Finding]:
    """What reviewers sent this agent's work back for more than once, if this run is about it."""
    card, found = question.episode.card, []
    for group in same_thing([in_short(one.why) for one in question.corrections]):
        short = min(group, key=len)
        text = f'My work was sent back more than once with "{short}".'
        evidence = _words_shown(group, question, {"user", "assistant"})
        cards = {one.card for one in question.corrections if in_short(one.why) in group}
        if not evidence and card in cards:
            evidence = _quote(question.episode.summary)
        why = f"Reviewers sent work back for this {len(group)} times lately."
        known = _claims_quoting(text, short, question)
        found.append(_Finding(why, evidence, ClaimKind.LESSON, text, known))
    return found


def _blocked(question: Question) -> list[_Finding]:
    """A run that was blocked for the reason that blocked a recent one."""
    reason = _why_blocked(question.episode)
    before = [_why_blocked(one) for one in question.recent if one.run != question.episode.run]
    if not any(same_thing([reason, other]) for other in before):
        return []
    text = f'I was blocked more than once by the same thing, "{abstracted(in_short(reason))}".'
    evidence = _quote(reason.removesuffix("…")) or _quote(question.episode.summary)
    known = _claims_quoting(text, reason, question)
    why = "A recent run was blocked for the same reason."
    return [_Finding(why, evidence, ClaimKind.FRICTION, text, known)]


def _why_blocked(episode: Episode) -> str:
    """The reason in the summary of a blocked run; "" when there is none."""
    found = re.search(r"was blocked[^:]*: (.*)", episode.summary)
    return found[1] if found and episode.outcome is Outcome.BLOCKED else ""


def _words_shown(group: Sequence[str], question: Question, sources: set[str]) -> str:
    for part in question.excerpt.parts:
        if part.source in sources:
            for line in part.text.split("\n"):
                if same_thing([in_short(line), group[0]]) and _quote(line.strip()):
                    return _quote(line.strip())
    return ""


def _claims_quoting(text: str, short: str, question: Question) -> tuple[str, ...]:
    """The claims that say such a thing of the same words."""
    lead = text.partition('"')[0]
    quoting = (
        (claim.text, match[1])
        for claim in question.claims
        if claim.text.startswith(lead) and (match := re.fullmatch(_QUOTING, claim.text))
    )
    return tuple(said for said, quoted in quoting if same_thing([quoted, short]))
