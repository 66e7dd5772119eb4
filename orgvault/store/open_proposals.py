"""Which proposals may still be open: by names and a glance at their notes, nothing parsed.

Most proposals of a vault are over, and stay so: who asks after every run must pay nothing for them.
"""

import re

from orgvault.domain.card import said_status
from orgvault.domain.ids import CARD_ID
from orgvault.store.vault import ORG, Vault

FOLDER = f"{ORG}/proposals"
LEDGER = f"{ORG}/ledger"
RECORD = ".yaml"
OVER = frozenset({"closed", "withdrawn"})


def is_record(name: str) -> bool:
    """Whether a file of this name holds a proposal."""
    return re.fullmatch(CARD_ID + re.escape(RECORD), name) is not None


def maybe_open(vault: Vault, pages: str) -> list[str]:
    """The ids of proposals that neither the ledger nor their notes plainly say to be over.

    `pages` is the name of the visible folder; a note that was deleted is a no.
    """
    ids = [name.removesuffix(RECORD) for name in vault.names(FOLDER) if is_record(name)]
    entries = vault.names(LEDGER) if ids else []
    return [
        card_id
        for card_id in ids
        if f"{card_id}{RECORD}" not in entries
        and not _is_over(vault, f"{pages}/Backlog/{card_id}.md")
    ]


def _is_over(vault: Vault, note: str) -> bool:
    try:
        content = vault.read(note)
    except OSError:
        return False  # something is there: whoever reads it says what
    return content is None or said_status(content) in OVER
