"""Rule 6 of the gate: what no added text may hold, and what a person should look at twice."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from orgvault.domain.folding import plain_words
from orgvault.domain.gate.diffs import Diff
from orgvault.domain.gate.refused import Refused
from orgvault.domain.masking import mask
from orgvault.domain.phrases import ORDERS, PERMISSIONS
from orgvault.domain.proposal import Edit, Rule
from orgvault.domain.statement import Fault, grant_fault, has_invisible

TOO_LONG = "is too long to be looked through for what reads as a wider permission"
_READ_CHARS = 20_000  # once folded; one character can fold to eighteen
_SHOWN_CHARS = 60
_LIMITS = (
    r"(?:tools?|permissions?|permission_mode|capabilit\w+|guards?|guardrails?|gates?"
    r"|limits?|budgets?|hooks?|rules?|reviews?|reviewers?|approvals?|checks?|restrictions?"
    r"|safety|instructions?|owner|lead|protected|sandbox|policy|policies)"
)
# Text that reads as leave to do more than before, beside what is a claim's grant or order.
_WIDENING = (
    rf"\b(?:ignor|bypass|circumvent|disabl|disregard|overrid|evad|skip|work around|get around)"
    rf"(?:e|es|ed|en|p?ing|s)?\b[^.;]{{0,40}}?\b{_LIMITS}\b"
    r"|\b(?:run|act|go ahead|proceed|commit|push|merge|deploy|write|delete|edit|change|install"
    r"|work)\b[^.;]{0,40}?\bwithout (?:\w+ ){0,3}(?:asking|approval|permission|review|confirmation"
    r"|checking|waiting|consent|leave)\b"
    r"|\b(?:full|unlimited|unrestricted|root|admin|write) (?:access|permissions?|rights)\b"
    r"|\b(?:bypasspermissions|acceptedits|dangerously|yolo|sudo)\b"
    r"|\b(?:never|no need to|need not|don't|do not) (?:\w+ ){0,2}(?:ask|wait for|request)\b"
    r"|\byou (?:may|can|are free to) (?:\w+ ){0,3}(?:ignore|skip|bypass)\b"
)
_SUSPICIOUS = re.compile(f"(?:{_WIDENING}|{PERMISSIONS}|{ORDERS})")


def word_flags(diff: Diff, edits: Sequence[Edit]) -> tuple[str, ...]:
    """Refuse secrets and hidden characters in what is added; warnings for the card otherwise."""
    _no_hidden(diff.changed("+"), diff.changed("-"), "")
    for edit in edits:  # quotes in YAML can write any character
        _no_hidden(_lines(edit.after), _lines(edit.before), edit.key)
    _no_secret(diff, edits)
    found = [
        flag
        for edit in edits
        for flag in _widening("\n".join(edit.before or ()), "\n".join(edit.after or ()))
    ]
    return tuple(dict.fromkeys(found))


def _lines(texts: Sequence[str] | None) -> list[tuple[int, str]]:
    return [(0, line) for text in texts or () for line in text.split("\n")]


def _no_hidden(
    added: Sequence[tuple[int, str]], removed: Sequence[tuple[int, str]], key: str
) -> None:
    """Refuse what the claims' rule calls invisible, unless a removed line has it as often."""
    spent = Counter(char for _, text in removed for char in text)
    for line, text in added:
        hidden = {char for char in set(text) if has_invisible(char)}
        spent.subtract(char for char in text if char in hidden)
        visible = "".join(char for char in text if char not in hidden)
        if any(spent[char] < 0 for char in hidden) or has_invisible(visible):
            raise Refused(Rule.WORDS, f"an added line holds {Fault.INVISIBLE}", key, line)


def _no_secret(diff: Diff, edits: Sequence[Edit]) -> None:
    for line, text in diff.changed("+"):
        if mask(text)[1]:
            raise Refused(Rule.WORDS, "an added line holds a secret", "", line)
    for edit in edits:
        if mask("\n".join(edit.after or ()))[1] > mask("\n".join(edit.before or ()))[1]:
            raise Refused(Rule.WORDS, f"`{edit.key}` would hold a secret", edit.key)


def _widening(before: str, after: str) -> Iterator[str]:
    """Flags for what reads as more leave than before."""
    known = " ".join(plain_words(before))
    for words in plain_words(after):
        if len(words) > _READ_CHARS:
            yield TOO_LONG
        for found in _SUSPICIOUS.finditer(words[:_READ_CHARS]):
            if found[0] not in known:
                yield f"reads as a wider permission: `{found[0][:_SHOWN_CHARS]}`"
    if grant_fault(after[:_READ_CHARS]) == Fault.GUARDED != grant_fault(before):
        yield "names a file that no agent may write"
