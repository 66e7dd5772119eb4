"""What the text of a claim may be: one statement of one's own, harmless to whoever reads it."""

import re
from collections.abc import Mapping
from enum import StrEnum
from unicodedata import category, name, normalize

from orgvault.domain import other_languages, phrases
from orgvault.domain.claim import TEXT_CHARS
from orgvault.domain.folding import fold, has_tag, plain_words, posing
from orgvault.domain.masking import SECRET, mask, mentions_protected

SHORTEST = 3
JOINERS = "\u200c\u200d"
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Characters that show as nothing although Unicode counts them as letters, marks or symbols.
_BLANKS = (
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0"
    "\U000e0100-\U000e01ef]"
)
NO_SPACES = r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
# For names also Hangul, whose particles follow a word without a space.
UNSPACED = (
    r"[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u318f\u31f0-\u31ff\u3400-\u9fff"
    r"\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)
# What no agent may write, beside the protected places.
GUARDED = (
    "AGENTS.md",
    "CLAUDE.md",
    ".claude/",
    ".githooks/",
    ".agents/",
    "org.yaml",
    "org-agents.json",
)


class Fault(StrEnum):
    """Why a text makes no claim.  Fixed sentences, since the stats count by them."""

    LINES = "more than one line"
    INVISIBLE = "control, invisible or bidirectional characters"
    SHORT = "shorter than 3 characters"
    LONG = "longer than 400 characters"
    METADATA = "metadata or generated text, not a statement"
    SHELL = "a shell line, not a statement"
    FRAGMENT = "a fragment, not a whole statement"
    QUESTION = "a question, not a statement"
    OTHER_AGENT = "names another agent outside a handoff"
    MASKED = "holds a secret"
    PROTECTED = "names a protected path"
    TAG = "holds a section tag or an embed"
    ORDER = "an instruction to the reader, not a statement"
    PERMISSION = "grants a permission"
    GUARDED = "names a file that no agent may write"


def text_fault(text: str, others: Mapping[str, str], protected: tuple[str, ...]) -> str:
    """Why `text` may not become a claim; empty when it may.

    `others` are the ids of the other agents with their display names, `protected` the vault's
    protected places beside the built-in ones.  Reflection's claims and an agent's
    `memory edit` are judged by it; a person's edit is not.
    """
    return statement_fault(text, others, protected) or grant_fault(text)


def statement_fault(text: str, others: Mapping[str, str], protected: tuple[str, ...]) -> str:
    """The checks on what the text is and whom it names: everything but permissions."""
    return (
        _shape_fault(text)
        or _name_fault(text, others)
        or _content_fault(text, protected)
        or _order_fault(text)
    )


def grant_fault(text: str) -> str:
    """The checks on permissions, and on files that no agent may write."""
    words = plain_words(text)
    if any(re.search(phrases.PERMISSIONS, one) for one in words):
        return Fault.PERMISSION
    # Asked as protected places: the same comparison as for the person's own list.
    return Fault.GUARDED if mentions_protected(normalize("NFKC", text), GUARDED) else ""


def command_in(text: str) -> bool:
    """Whether the text, as a whole, reads as a line for a shell rather than as a sentence."""
    if re.match(r"[$%>#]\s|PS [A-Z]:|[\w.-]+@[\w.-]+:\S*[$#]\s|(?:export\s+)?[A-Z_]+=\S", text):
        return True
    if re.match(r"(?:\.{1,2}|~)/\S", text) and not _has_sentence(text):
        return True
    if not re.match(rf"(?:{phrases.PROGRAMS}|{phrases.WORDY_PROGRAMS})(?![^\s;|&])", text):
        return False
    return re.search(r"&&|\|\||\s\|\s|\$\(|\s>{1,2}\s", text) is not None or not _has_sentence(text)


def has_invisible(text: str) -> bool:
    """Control, bidirectional and invisible characters; joiners only where a script needs them.

    Persian words and emoji are joined by U+200C and U+200D; beside a Latin letter or digit
    these can only hide a word.
    """
    if text.isascii():
        return not text.isprintable()
    joined = (
        rf"[A-Za-z0-9][{JOINERS}]|[{JOINERS}][A-Za-z0-9]|[{JOINERS}]{{2}}|[A-Za-z][\ufe0e\ufe0f]"
    )
    return re.search(joined, normalize("NFKC", text)) is not None or any(
        (c not in JOINERS and category(c) in _HIDDEN) or re.match(_BLANKS, c) for c in text
    )


def _has_sentence(text: str) -> bool:
    unquoted = re.sub(r"'[^']*'|\"[^\"]*\"", " ", text)
    return re.search(rf"\b(?:{phrases.SENTENCE_WORDS})\b", unquoted.casefold()) is not None


def _shape_fault(text: str) -> str:
    if len(text.splitlines()) > 1:
        return Fault.LINES
    if has_invisible(text):
        return Fault.INVISIBLE
    if len(text) < SHORTEST:
        return Fault.SHORT
    if len(text) > TEXT_CHARS:
        return Fault.LONG
    if _is_metadata(text):
        return Fault.METADATA
    if command_in(text):
        return Fault.SHELL
    if _is_fragment(text):
        return Fault.FRAGMENT
    return Fault.QUESTION if text.rstrip("'\"”»)").endswith(("?", "？", "؟")) else ""


def _is_metadata(text: str) -> bool:
    folded = fold(text)
    marks = r"[-*+•#|>=~{}\[\]<@/\\;%&]"
    field = rf"'?(?:{phrases.FIELDS})(?: id| code)?'?\s*[:=]"
    logged = r"\d{4}-\d\d-\d\d[t ]\d\d:\d\d|\[?(?:info|debug|warn|warning|error|trace)\b[\]:]"
    return (
        re.match(rf"{marks}(?!\w)|{marks}{{2}}|[{{\[<|#]|\d+[.)]\s", text) is not None
        or re.match(rf"{field}|{logged}", folded) is not None
        # what a tool printed: `make: vitepress: command not found`
        or re.match(r"[\w./+-]+(?:\[\d+\])?: (?:\S+: |\*{3} )", folded) is not None
        or re.match(r"(?:npm err!|npm error|fatal:|error:|panic:) ", folded) is not None
        or re.match(
            r"\S+: .*(?:command not found|no such file or directory|permission denied)", folded
        )
        is not None
        or re.match(r"traceback \(most recent|diff -git|index [0-9a-f]{7,}\.\.", folded) is not None
        or re.search(
            r"\bdo not edit\b.{0,20}$|\b(?:code|file|auto-?) ?generated by\b"
            r"|\bgenerated from the claims\b|\bseen \d+×|\borgvault core \d",
            folded,
        )
        is not None
    )


def _is_fragment(text: str) -> bool:
    folded = fold(text)
    if not any(c.isalpha() for c in text):
        return True
    if " " not in folded and not re.search(NO_SPACES, text):
        return True
    if folded.isascii() and folded.count(" ") == 1 and not folded.endswith((".", "!")):
        return True
    if re.match(r"[,.;:!?)\]}]", folded) or re.search(r"(?:[,;:(\[{-]|\.{2,})$", folded):
        return True
    if re.match(r"(?:because|which|whose|than|due to|so that) ", folded) and (
        text[0].islower() or "," not in text
    ):
        return True
    if text[0].islower() and re.match(r"(?:and|or|but|then|that|to|of) ", folded):
        return True
    if re.search(r" (?:and|or|but|because|the|an?|of|to|with|for|if|when|my)$", folded):
        return True
    opened = any(text.count(a) > text.count(b) for a, b in ("()", "[]", "{}", "“”", "«»"))
    return opened or text.count('"') % 2 == 1 or text.count("`") % 2 == 1


def _name_fault(text: str, others: Mapping[str, str]) -> str:
    """Another agent's `@id` in any case, or its name as written: a name may be a plain word."""
    text = normalize("NFKC", text)
    return _name_in(text, others) or _name_in(posing(text), others)


def _name_in(text: str, others: Mapping[str, str]) -> str:
    for agent, display in others.items():
        mention = rf"@(?i:{re.escape(agent)})(?!-+[A-Za-z0-9_])"
        if written := re.escape(normalize("NFKC", display).strip()):
            mention += rf"|@?{written}"
        for found in re.finditer(mention, text):
            if _stands_alone(found) and not _is_handoff(
                fold(text[: found.start()]), fold(text[found.end() :])
            ):
                return Fault.OTHER_AGENT
    return ""


def _stands_alone(found: re.Match[str]) -> bool:
    """Whether no letter, digit or mark beside a name makes it a part of a longer word.

    Letters of another script do not, nor those of scripts that are written without spaces.
    """
    text, bare = found.string, found[0].lstrip("@")
    before, after = text[: found.start()][-1:], text[found.end() :][:1]
    return not _joins(before, bare[:1]) and not _joins(after, bare[-1:])


def _joins(char: str, edge: str) -> bool:
    if not re.match(r"\w", char) or re.match(UNSPACED, edge) or re.match(UNSPACED, char):
        return False
    return not char.isalpha() or _script(char) == _script(edge) or not edge.isalpha()


def _script(char: str) -> str:
    return name(char, "").partition(" ")[0]


def _is_handoff(before: str, after: str) -> bool:
    """Whether what stands around a name makes its bearer the giver or the receiver of work."""
    to, of = phrases.HANDOFF_TO, phrases.HANDOFF_FROM
    near = r"\b[^.;!?]{0,80}?\b"
    taken = r"(?:a|an|the|my|its|each|every|all|half|work|unfinished|finished|cards?)\b"
    return (
        re.search(rf"\b(?:{to}){near}to$|\b(?:{of}){near}from$", before) is not None
        or re.search(r"\b(?:handoffs?|handovers?|hand over) (?:to|with|from)$", before) is not None
        or (re.search(rf"\b(?:{to})$", before) is not None and re.match(taken, after) is not None)
        or re.match(rf"(?:\w+ )?(?:{to}){near}(?:me|us)\b", after) is not None
    )


def _content_fault(text: str, protected: tuple[str, ...]) -> str:
    plain = normalize("NFKC", text)
    if SECRET in text or mask(text)[1] or mask(plain)[1]:
        return Fault.MASKED
    if mentions_protected(plain, protected):
        return Fault.PROTECTED
    opened = re.search(r"<\s*[/!?%]|!\[", plain) is not None
    return Fault.TAG if opened or has_tag(text) or has_tag(plain) else ""


def _order_fault(text: str) -> str:
    """Orders; one that stands in quotes after a colon is reported, not given."""
    soon = rf"(?!(?:\S+ ){{0,3}}(?:{phrases.FINITE})\b)"
    starts = (
        rf"(?:^'?|[.!;:] )(?:{phrases.IMPERATIVES})(?= )"
        rf"|(?:^'?|[.!;] )(?:{phrases.NOUNISH_IMPERATIVES}) {soon}"
        rf"|(?:^'?|[.!;] )(?:{phrases.LEADING_CLAUSES})"
        rf"(?:(?:please|always|never|then) )?(?:{phrases.NOUNISH_IMPERATIVES}) {soon}"
        rf"|{other_languages.BEGINNING}(?:{other_languages.IMPERATIVES})"
    )
    # A line end that was written out (`\n`) begins a sentence for whoever reads it.
    for words in plain_words(re.sub(r"\\+[nrt]", ". ", text)):
        if re.search(starts, words) or re.search(phrases.ORDERS, words):
            return Fault.ORDER
    return ""
