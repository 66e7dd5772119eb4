"""The ids of everything, and what is refused as one."""

import re

from orgvault.digests import sha256

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"

AGENT_ID = r"[a-z][a-z0-9-]{0,31}"
CLAIM_ID = r"c-[0-9a-hjkmnp-tv-z]{8}"
WAKE_ID = r"w-[0-9a-hjkmnp-tv-z]{8}"
CARD_ID = r"(?:t|imp)-[0-9a-hjkmnp-tv-z]{8}"
RUN_ID = r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}"
STARTED_RUN = r"run-[0-9a-hjkmnp-tv-z]{8}"  # the id of a run that orgvault itself has started
ROUTINE_ID = AGENT_ID
RECORD_ID = r"r-[0-9a-hjkmnp-tv-z]{8}"
ROW_ID = r"[a-z][a-z0-9.-]{0,63}"
SHA256 = r"[0-9a-f]{64}"
INSTANT = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?"
    r"(?:Z|[+-][0-9]{2}:[0-9]{2})"
)

# Windows opens a device for these names whatever the folder or the ending
# (https://learn.microsoft.com/windows/win32/fileio/naming-a-file).
DEVICE_NAMES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))]
)
# Verbs of the command groups that also take an agent: `memory stats` must stay unambiguous.
_VERBS = (
    "add all check close compile diff done due edit episodes exec import list pause post preview "
    "query redo render resume retire run shape shipped show start stats sync try verify why"
)
VERBS = frozenset(_VERBS.split())


def random_id(prefix: str, randomness: bytes) -> str:
    """`prefix-` and 8 Crockford base-32 characters from 5 random bytes."""
    return f"{prefix}-{_base32(randomness[:5])}"


def random_row_id(prefix: str, randomness: bytes) -> str:
    """A row's id: `prefix-` and 16 characters from 10 random bytes; rows are many."""
    return f"{prefix}-{_base32(randomness[:10])}"


def derived_id(prefix: str, *parts: str) -> str:
    """An id that the same parts always give, in every clone: `prefix-` and 16 characters.

    A row recorded twice (a retry, two clones) so has one id and counts once.
    """
    return f"{prefix}-{_base32(sha256(chr(10).join(parts).encode()).digest()[:10])}"


def derived_wake_id(*parts: str) -> str:
    """A wake's id that the same parts always give, so that a wake is made once."""
    return random_id("w", sha256(chr(10).join(parts).encode()).digest())


def agent_id_fault(text: str) -> str:
    """Why `text` cannot be an agent's id; empty when it can."""
    if not re.fullmatch(AGENT_ID, text):
        return f"`{text}` is not an agent id: a small letter, then up to 31 of a-z, 0-9 and -"
    if text in DEVICE_NAMES:
        return f"`{text}` is a device name on some systems and cannot name a file"
    if text in VERBS:
        return f"`{text}` is a verb of the command line and cannot be an agent's id"
    return ""


def is_run_id(text: str) -> bool:
    """Whether `text` may be a run id."""
    return re.fullmatch(RUN_ID, text) is not None


def is_started_run(text: str) -> bool:
    """Whether `text` is the id of a run that orgvault itself may have started."""
    return re.fullmatch(STARTED_RUN, text) is not None


def is_wake_id(text: str) -> bool:
    """Whether `text` is the id of a wake of ours."""
    return re.fullmatch(WAKE_ID, text) is not None


def is_claim_id(text: str) -> bool:
    """Whether `text` is a claim's id."""
    return re.fullmatch(CLAIM_ID, text) is not None


def file_name(run: str) -> str:
    """A run id as part of a file name that every file system takes."""
    return "".join(c if c.isalnum() or c in "-_" else f"%{ord(c):02X}" for c in run)


def _base32(data: bytes) -> str:
    number, size = int.from_bytes(data, "big"), len(data) * 8 // 5
    return "".join(CROCKFORD[number >> 5 * (size - 1 - i) & 31] for i in range(size))
