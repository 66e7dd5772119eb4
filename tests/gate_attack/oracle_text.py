"""What a change brings that no text may hold: more than text in skills, odd characters."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

import yaml

from orgvault.domain.proposal import Accepted

FORBIDDEN = (
    r"(?<!\\)!\s{0,9}\[",
    (
        r"(?i)(?<!\\)</?\s{0,9}(?:capability|guidelines|task|state|memory|script|style|iframe|img|svg|object|embed"
        r"|form|meta|base|link|a)\b"
    ),
    r"(?i)<[^<>]{0,300}\son\w{1,30}\s{0,9}=",
    r"<!--",
    r"<[!?%]",
    r"(?i)javascript:|data:text",
)
LINKS = (
    r"(?<!\\)\[\[([^\]\n]{0,300})\]\]",
    r"(?<!\\)\[[^\[\]]{0,99}\]\(\s{0,9}<?([^)\s>]{0,300})",
    r"(?m)^[ >*+\d.)-]{0,9}\[[^\]]{1,300}\]:\s{0,9}<?(\S{0,300}?)>?$",
    r"<((?:[A-Za-z][A-Za-z0-9+.-]{1,30}:|[^@\s<>]{1,60}@)[^>\s]{0,300})>",
    r"((?:https?|ftp|file|obsidian|mailto)://?[^\s)>\]]{1,300})",
)
OWN_NOTES = {"look-around", "build", "Über uns", "CLAUDE"}


def lf(content: bytes) -> str:
    """A file's text with LF."""
    return content.decode().replace("\r\n", "\n")


def skill_faults(answer: Accepted) -> list[str]:
    """What is new in a skill file that may not be."""
    old, new = lf(answer.old), lf(answer.new)
    found = []
    heads = [_frontmatter(one) for one in (old, new)]
    if (heads[0] is None) != (heads[1] is None):
        found.append("frontmatter comes or goes")
    elif heads[0] is not None and heads[1] is not None and heads[0] != heads[1]:
        found += _frontmatter_faults(heads[0], heads[1])
    # What was code and is no more counts as new.
    for before, after in ((old, new), (_without_code(old), _without_code(new))):
        for pattern in (*FORBIDDEN, *LINKS):
            more = Counter(re.findall(pattern, after)) - Counter(re.findall(pattern, before))
            found += [f"{one!r} is new" for one in more if pattern in FORBIDDEN or not _is_own(one)]
    uses = [Counter(_uses(one)) for one in (old, new)]
    found += [f"{one} is put to use" for one in uses[1] - uses[0] if not _is_own(one)]
    return [*found, *_edit_faults(old, new, answer)]


def _without_code(text: str) -> str:
    text = re.sub(r"(?ms)^(`{3,}|~{3,}).*?(?:^\1[`~]*[ ]*$|\Z)", "", text)
    text = re.sub(r"(?m)^(?: {4}|\t).*$", "", text)
    return re.sub(r"(`+)[^`\n]+\1(?!`)", "", text)


def _uses(text: str) -> Iterator[str]:
    """The targets of defined links, once for each time that they are used."""
    defined = dict(re.findall(r"(?m)^ {0,3}\[([^\[\]\n]{1,99})\]:[ ]{0,9}<?([^\s>]{1,300})", text))
    for label in re.findall(r"(?<!\\)\[([^\[\]\n]{1,99})\](?![(:\[])", text):
        if label in defined:
            yield defined[label]


def _edit_faults(old: str, new: str, answer: Accepted) -> Iterator[str]:
    """What the gate says of the change, against both texts."""
    if not answer.edits:
        yield "no edit says what changes"
    for edit in answer.edits:
        for text, lines in ((old, edit.before), (new, edit.after)):
            if edit.key == "body" and "\n".join(lines or ()) not in text:
                yield f"the gate says {lines}, which stands nowhere"
            if edit.key == "description" and lines is not None:
                head = _loaded(_frontmatter(text) or "")
                if head is not None and lines != (head.get("description"),):
                    yield f"the gate says {lines}, PyYAML {head}"
        if edit.key not in {"body", "description"}:
            yield f"{edit.key} is no key of a skill"


def _frontmatter_faults(old: str, new: str) -> list[str]:
    before, after = _loaded(old), _loaded(new)
    if before is None:
        return []  # no opinion where PyYAML cannot read what stands there
    if after is None:
        return ["PyYAML cannot read the frontmatter any more"]
    rest = [[(key, one[key]) for key in one if key != "description"] for one in (before, after)]
    lines = [
        re.sub(r"(?ms)^(?:!!str )?[\"']?description[\"']?[ ]?:.*?(?=^\S|\Z)", "", one)
        for one in (old, new)
    ]
    found = []
    if rest[0] != rest[1] or lines[0] != lines[1]:
        found.append("frontmatter changes beside the description")
    if not isinstance(after.get("description"), str):
        found.append("description is no text")
    return found


def _loaded(text: str) -> dict[str, object] | None:
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    return value if isinstance(value, dict) else None


def _frontmatter(text: str) -> str | None:
    found = re.match(r"---[ \t]*\n(.*?\n)---[ \t]*(?:\n|\Z)", text, re.DOTALL)
    return found[1] if found else None


def _is_own(target: str) -> bool:
    name = target.split("|", maxsplit=1)[0].split("#", maxsplit=1)[0].strip()
    return not name or name.removesuffix(".md").rsplit("/", 1)[-1] in OWN_NOTES


SECRETS = (
    r"\bAKIA[0-9A-Z]{16}\b",
    r"gh[pousr]_[A-Za-z0-9]{36}",
    r"sk-ant-[\w-]{20,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    r"xox[bap]-[\w-]{20,}",
    r"eyJ[\w-]{10,99}\.eyJ[\w-]{10,99}\.[\w-]{10,99}",
)
JOINERS = "\u200c\u200d"


def character_faults(answer: Accepted) -> Iterator[str]:
    """Secrets, control, bidirectional and invisible characters that are new."""
    sides = []
    for content, at in ((answer.old, 0), (answer.new, 1)):
        values = [one for edit in answer.edits for one in ((edit.before, edit.after)[at] or ())]
        sides.append((lf(content), "\n".join(values)))
    for old, new in zip(*sides, strict=True):
        hidden = [
            Counter(c for c in one if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"})
            for one in (old, new)
        ]
        more = [c for c in hidden[1] - hidden[0] if c not in JOINERS and c != "\n"]
        if more:
            yield f"characters {more!a} are new"
        for pattern in SECRETS:
            if Counter(re.findall(pattern, new)) - Counter(re.findall(pattern, old)):
                yield "a secret is new"
