"""Client session files, read whatever client wrote them: told apart by content, not by name."""

import os
import stat
from hashlib import sha256

from orgvault.adapters.transcripts import claude_code, codex, plain
from orgvault.adapters.transcripts.lines import read_lines
from orgvault.domain.transcript import Session
from orgvault.errors import BadFile

MOST_BYTES = 64 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024


def read_session(path: str) -> tuple[Session, str]:
    """The session in a file, and the sha256 of the whole file.

    Any bytes at all give a session: lines of a client's file that cannot be read are named in
    `skipped_lines`, and a file of no known client is one plain text.  Of a file over 64 MiB the
    rest is not looked at; the first line that was not (wholly) read is then the last of
    `skipped_lines`.  A file that is missing, unreadable or not a regular one raises BadFile.
    """
    data, digest, cut_short = _content(path)
    lines, skipped = read_lines(data, cut_short=cut_short)
    readers = (claude_code, codex)
    known = [sum(map(reader.knows, (line.value for line in lines))) for reader in readers]
    if any(known):
        return readers[known.index(max(known))].session(lines, skipped), digest
    ending = skipped[-1:] if cut_short else ()
    return plain.session(data.decode("utf-8-sig", "replace"), ending), digest


def _content(path: str) -> tuple[bytes, str, bool]:
    """The first 64 MiB of a file, the sha256 of all of it, and whether there was more."""
    try:
        # A pipe would be waited for, a device read for ever.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise BadFile(path, 0, "is not a regular file", "give a client's session file")
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES)
            digest, more = sha256(data), False
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
                more = True
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or str(fault)
        what = f"cannot be read ({why})"
        raise BadFile(path, 0, what, "give a client's session file") from None
    return data, digest.hexdigest(), more
