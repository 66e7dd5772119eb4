"""Taking a secret's value out of bytes, and what a person has to do about the copies elsewhere."""

import re
from collections.abc import Sequence
from json import dumps

from orgvault.domain.masking import BOUND_CHARS, SECRET

_ESCAPED = re.compile(r"\\u([0-9a-f]{4})")
_OFFERED = (
    "change the secret where it is used: whoever has had a copy has the old one",
    "git push --force-with-lease --all && git push --force-with-lease --tags   (each remote)",
    "delete the clones and backups that others have, or redact in each of them as well",
    "git reflog expire --expire=now --all && git gc --prune=now   (old objects, and all stashes)",
)
_FIRST = "take it out of history: the same command with --rewrite; only then what follows"
_SENT = (
    "prompts of runs had it and keep the hash under which they were sent: `prompt verify` rightly "
    "says that those texts are not what was sent, and `audit` notes it"
)
_COMPILED = "org.yaml had it: `orgvault compile`"
_FILED = (
    "proposals had it and have the hash of what they say now: look at them again, `proposal show`"
)


def why_not(value: str) -> str:
    """Why a value cannot be looked for; empty when it can.  It never says the value."""
    if len(value.strip()) < BOUND_CHARS:
        return f"a value of fewer than {BOUND_CHARS} characters stands in ordinary words"
    if value in SECRET:
        return "that is what stands in the place of a secret"
    return ""


def forms(value: str) -> tuple[bytes, ...]:
    """The value as it may be written: plainly, as JSON, as JSON in JSON; the longest first."""
    once = {one for text in {value} for one in _in_json(text)}
    texts = {value, *once, *(one for text in once for one in _in_json(text))}
    encoded = {one.encode("utf-8", "surrogateescape") for one in texts}
    return tuple(sorted(encoded, key=len, reverse=True))


def _in_json(text: str) -> set[str]:
    """A text as different programs write it in JSON: slashes and letters escaped, or not."""
    plain = {dumps(text)[1:-1], dumps(text, ensure_ascii=False)[1:-1]}
    loud = {_ESCAPED.sub(lambda found: f"\\u{found[1].upper()}", one) for one in plain}
    return {one for way in plain | loud for one in (way, way.replace("/", "\\/"))}


def holds(content: bytes, wanted: Sequence[bytes]) -> bool:
    """Whether a content holds the value in any form."""
    return any(one in content for one in wanted)


def redacted(content: bytes, wanted: Sequence[bytes]) -> bytes:
    """The content with the value replaced in all forms, and every other byte kept."""
    for one in wanted:
        content = content.replace(one, SECRET.encode())
    return content


def left_to_do(*, rewritten: bool, source: bool, filed: bool, sent: bool) -> tuple[str, ...]:
    """What no program can do for the person, in order.

    `rewritten`: it is out of history already, `source`: org.yaml had it, `filed`: a proposal,
    `sent`: a prompt of a run.
    """
    more = ((_COMPILED, source), (_FILED, filed), (_SENT, sent))
    first = () if rewritten else (_FIRST,)
    return (*first, *_OFFERED, *(text for text, had in more if had))
