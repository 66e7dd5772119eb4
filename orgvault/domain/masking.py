"""Secrets and protected places: what must stand in nothing that a model reads or git keeps."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from json import dumps
from math import log2
from unicodedata import normalize

SECRET = "[secret]"  # noqa: S105 - stands in a secret's place
BOUND_CHARS = 8
# Bits a character: of a value that looks drawn by lot, and of one that is no mere repetition.
_RANDOM_BITS = 3.5
_VARIED_BITS = 2.5
_LONG_CHARS = 20
PROTECTED = (".git/", ".env*", "CURRENT/", "Areas/Finance/")

_Hide = Callable[[re.Match[str]], str]

# Keys that announce a secret (`DB_PASSWORD=`, `"apiKey": `, `--token `).  They stand at the end
# of the name: `token_count` and `tokens` are no secrets.
_KEY = (
    r"(?<![A-Za-z0-9])[\w.-]{0,40}?(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key"
    r"|access[_-]?key(?:[_-]?id)?|account[_-]?key|private[_-]?key|secret[_-]?key(?:[_-]?base)?"
    r"|encryption[_-]?key|signature|credentials?|auth[_-]?key)"
)
_ASSIGNED = rf"""(?ix)(?P<lead>(?P<key>{_KEY})\\?["'`]?
    (?:\s{{0,3}}(?::=|=>|[:=])\s{{0,3}}|(?<=\w)[ ](?=[^\s-])))
    (?P<quote>\\?["'`])?(?P<value>(?(quote)[^"'`\s\\]{{6,}}|[^\s"'`,;&|<>(){{}}\[\]\\]{{6,}}))"""
_STAND_IN = (
    r"(?i)[$<{\[%(*]|x{3,}|\.{3}|…|(?:your|my|the|some|example|dummy|changeme|placeholder|redacted"
    r"|process\.env|os\.environ|none|null|true|false|undefined|string|str|input|self\.)\b"
)


def _whole(match: re.Match[str]) -> str:
    del match
    return SECRET


def _second(match: re.Match[str]) -> str:
    """Hide what follows the first group; it says what kind of secret it was."""
    return match[0] if re.match(_STAND_IN, match[2]) else match[1] + SECRET


def _assigned(match: re.Match[str]) -> str:
    value = match["value"]
    spaced = match["lead"].endswith(" ") and not re.search(r"[:=>]\s*$", match["lead"])
    if spaced and not match["key"].startswith("-"):
        return match[0]
    password = re.search(r"passw|pwd|passphrase", match["key"], re.IGNORECASE) is not None
    # `DB_PASSWORD=correcthorse` is as plain as a quoted one; `password=value` may be code.
    plain = bool(match["quote"]) or (match["key"].isupper() and match["lead"].endswith("="))
    if re.match(_STAND_IN, value) or not _looks_secret(value, password=password, plain=plain):
        return match[0]
    return match["lead"] + (match["quote"] or "") + SECRET


def _looks_secret(value: str, *, password: bool, plain: bool) -> bool:
    if value.isdigit():
        return password and len(value) >= BOUND_CHARS
    if re.fullmatch(r"[A-Za-z_]+(?:[._:/-][A-Za-z_]+)*", value):  # a name, a path or a word
        wild = re.search(r"[a-z][A-Z].*[a-z][A-Z].*[A-Z]", value) is not None
        return (password and plain and len(value) >= BOUND_CHARS) or (
            wild and len(value) >= _LONG_CHARS and _entropy(value) > _RANDOM_BITS
        )
    if re.match(r"\.{0,2}/|[A-Za-z]:\\|[a-z+]+://", value):
        return False
    mixed = re.search(r"\d", value) is not None or re.search(r"[^\w.:/-]", value) is not None
    return mixed and (password or (len(value) >= BOUND_CHARS and _entropy(value) > _VARIED_BITS))


def _entropy(text: str) -> float:
    """Bits a character."""
    counts = [text.count(one) / len(text) for one in set(text)]
    return -sum(share * log2(share) for share in counts)


def _told(match: re.Match[str]) -> str:
    value = match[2]
    if re.match(_STAND_IN, value) or not _looks_secret(value, password=True, plain=False):
        return match[0]
    return match[1] + SECRET


_PRIVATE_KEY = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?s:.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
)
# Of a key whose beginning was cut away.
_PRIVATE_KEY_END = (
    r"(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/=]{16,}(?:\s|\\n)+){1,100}"
    r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
)
# What a secret looks like by itself, each with the publisher's own prefix where there is one.
# The first words of a row are literals of which one must stand in the text (case-folded) for the
# pattern to be tried, or even compiled: most texts hold none, and looking costs next to nothing.
_TABLE: tuple[tuple[str, str, _Hide], ...] = (
        # private keys: PEM, OpenSSH, PGP, age; cut-off ones up to the end of the text
        (
            "-----begin",
            _PRIVATE_KEY,
            _whole,
        ),
        ("-----end", _PRIVATE_KEY_END, _whole),
        ("age-secret-key-1", r"AGE-SECRET-KEY-1[A-Z0-9]{20,}", _whole),
        # clouds
        ("akia asia abia acca", r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b", _whole),
        ("aiza", r"(?<![\w-])AIza[\w-]{35}", _whole),
        ("ya29.", r"(?<!\w)ya29\.[\w-]{20,}", _whole),
        ("gocspx-", r"(?<!\w)GOCSPX-[\w-]{20,}", _whole),
        ("dop_v1_", r"\bdop_v1_[0-9a-f]{64}\b", _whole),
        ("dapi", r"\bdapi[0-9a-f]{32}\b", _whole),
        # code hosts and package registries
        ("gh", r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{20,}", _whole),
        ("github_pat_", r"(?<![A-Za-z0-9])github_pat_\w{22,}", _whole),
        ("gl", r"(?<![A-Za-z0-9])gl(?:pat|dt|rt|ptt|ft|soat|imt|cbt|agent)-[\w-]{20,}", _whole),
        ("npm_", r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,}", _whole),
        ("pypi-", r"(?<![\w-])pypi-[\w-]{40,}", _whole),
        # chat
        ("xox xapp-", r"(?<![A-Za-z0-9])(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}", _whole),
        ("hooks.slack.com", r"(hooks\.slack\.com/(?:services|workflows)/)([\w/-]{20,})", _second),
        ("/webhooks/", r"(discord(?:app)?\.com/api/webhooks/\d+/)([\w-]{20,})", _second),
        (":aa", r"(?<!\w)\d{8,10}:AA[\w-]{33}(?![\w-])", _whole),  # Telegram
        # payment, mail
        ("k_live_ k_test_", r"(?<![A-Za-z0-9])[rs]k_(?:live|test)_\w{10,}", _whole),
        ("whsec_", r"(?<![A-Za-z0-9])whsec_[\w+/=]{20,}", _whole),
        ("sg.", r"(?<!\w)SG\.[\w-]{16,}\.[\w-]{16,}", _whole),
        # models: OpenAI, Anthropic, OpenRouter (`sk-ant-`, `sk-or-`), Hugging Face, Groq, xAI
        ("sk-", r"(?<![\w-])sk-(?=[\w-]*\d)[\w-]{20,}", _whole),
        ("hf_ gsk_ xai-", r"(?<![A-Za-z0-9])(?:hf_|gsk_|xai-)(?=\w*\d)[A-Za-z0-9]{25,}", _whole),
        # anybody's
        ("eyj", r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?", _whole),  # JWT
        ("bearer", r"\b((?i:bearer)\s+)([\w.~+/-]{16,}=*)", _second),
        ("basic", r"\b((?i:authorization:\s{0,3}basic)\s+)([\w.~+/-]{8,}=*)", _second),
        ("://", r"((?<!\w)[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s/:@\"']{0,100}:)([^\s/@\"']{1,200})(?=@)",
         _second),
)  # fmt: skip
# Said in a sentence: "The password of the server is …".
_TOLD_WORDS = (
    "password passphrase passcode passwd pwd passwort kennwort passe contrase senha пароль 密码"
    " 密碼 口令 رمز گذرواژه كلمة کلمه"
)
_TOLD = (
    r"((?i:(?:\b(?:password|passphrase|passcode|passwd|pwd|passwort|kennwort|mot de passe"
    r"|contrase(?:ñ|n)a|senha|парол\w{1,2}|رمز|گذرواژه|كلمة (?:المرور|السر)|کلمه عبور)\b"
    r"|密码|密碼|口令)"
    r"(?:[ \t]+[^\s.;:=]{1,30}){0,6}?[^\S\n]*"
    r"(?:\b(?:is|was|ist|war|lautet|est|es|era|это)\b|[:\uff1a\u2014\u2013-]|是|为|為|(?<=[\u0600-\u06ff]))"
    r"[^\S\n]*[\"'`“«]?))(?=[^\s\"'`]{0,200}[\d!@#$%^&*_+])([^\s\"'`”»]{5,200}[^\s\"'`”».,;:!?)。])"
)
_ANNOUNCING = ("pass", "pwd", "secret", "token", "api", "key", "signature", "credential")
_ANNOUNCED = (
    r"passw|passphrase|pwd|secret|token|api.?key|apikey|(?:access|account|private|encryption|auth)"
    r"[_-]?key|signature|credential"
)


def mask(text: str) -> tuple[str, int]:
    """The text with every secret we know the look of replaced by `[secret]`, and how many.

    What only looks random (hashes, uuids, paths) stays: see `_TABLE` and `_KEY`.
    """
    folded, count = text.casefold(), 0

    def counted(hide: _Hide) -> _Hide:
        def replaced(match: re.Match[str]) -> str:
            nonlocal count
            new = hide(match)
            count += new != match[0]
            return new

        return replaced

    for literals, pattern, hide in _TABLE:
        if any(literal in folded for literal in literals.split()):
            text = re.sub(pattern, counted(hide), text)
    # Most texts announce no secret, and need no pattern to be compiled for that.
    if any(word in folded for word in _ANNOUNCING) and re.search(_ANNOUNCED, folded):
        text = re.sub(_ASSIGNED, counted(_assigned), text)
    if any(word in folded for word in _TOLD_WORDS.split()):
        text = re.sub(_TOLD, counted(_told), text)
    return text, count


def mask_values(text: str, values: Iterable[str]) -> tuple[str, int]:
    """The text without these very values (a bound secret's).

    Also as JSON writes them, with other line ends, and on one line.  Values under 8 characters
    are left: they would hit ordinary words.
    """
    count = 0
    for value in sorted({one for one in values if len(one) >= BOUND_CHARS}, key=len, reverse=True):
        for written in _forms(value):
            count += text.count(written)
            text = text.replace(written, SECRET)
    return text, count


def _forms(value: str) -> Iterable[str]:
    """How a value may be written."""
    lines = value.replace("\r\n", "\n")
    forms = [value]
    if lines.split() != [value]:  # there is white space in it
        forms += [lines, lines.replace("\n", "\r\n"), " ".join(value.split())]
    written = ((one, dumps(one)[1:-1], dumps(one, ensure_ascii=False)[1:-1]) for one in forms)
    found = dict.fromkeys(text for texts in written for text in texts)
    return [one for one in found if len(one) >= BOUND_CHARS]


def mentions_protected(text: str, protected: tuple[str, ...] = ()) -> bool:
    """Whether the text names a protected place: the built-in list, and what is passed.

    Compared NFC and case-folded, as a path: `.environment` and the word `current` are none.  A
    name of one plain word (`CURRENT/`) is recognised with its slash in any case, and without
    one where it stands as a path by itself: quoted, after a slash, or after `cd` and its like.
    """
    folded = same_name(text)
    places = tuple(dict.fromkeys((*PROTECTED, *protected)))
    # As above: a text that holds no protected name's beginning needs no pattern.
    if not any(_beginning(one) in folded for one in places):
        return False
    return _places(places).search(folded) is not None or _bare(places).search(text) is not None


def same_name(path: str) -> str:
    """How paths are compared: NFC, and case-folded as some file systems do it."""
    return normalize("NFC", normalize("NFC", path).casefold())


_BEFORE = r"(?<![\w.@-])"
_SLASH = r"(?:[\\/]+(?:\.[\\/]+)*)"


def _beginning(place: str) -> str:
    folded = normalize("NFC", place).casefold().replace("\\", "/")
    return folded.strip("/").partition("/")[0].partition("*")[0]


@lru_cache(maxsize=64)
def _places(protected: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(_place(normalize("NFC", one).casefold()) for one in protected))


def _place(name: str) -> str:
    if name == ".env*":
        return _BEFORE + r"\.env(?:rc)?(?![\w])(?:[._-][\w.-]*)?"
    parts = [
        re.escape(part).replace(r"\*", r"[^\s\\/]*") for part in re.split(r"[\\/]+", name) if part
    ]
    if not parts:
        return r"(?!)"
    if name.endswith(("/", "\\")) and len(parts) == 1 and parts[0][0].isalnum():
        return _BEFORE + parts[0] + _SLASH
    ending = "" if name.endswith("*") else r"(?![\w-])(?!\.\w)"
    return _BEFORE + _SLASH.join(parts) + ending


@lru_cache(maxsize=64)
def _bare(protected: tuple[str, ...]) -> re.Pattern[str]:
    # `CURRENT/`, which is built in, is always one.
    words = [
        re.escape(one.rstrip("/"))
        for one in protected
        if re.fullmatch(r"\w[\w-]*/", one) and not one.islower()
    ]
    before = r"(?:(?<=[\"'`/\\])|(?<=\bcd )|(?<=\bls )|(?<=\bdu )|(?<=\btree )|(?<=\bfind ))"
    return re.compile(before + "(?:" + "|".join(words) + r")(?=[\"'`\\]|\s|$)")
