"""Which segments were read whole and found sound: remembered beside the lock, disposable.

A segment that is full does not change any more, so that its rows need to be judged once only.
It is known by size, times and inode: whatever touches it makes it unknown again.
"""

import json
import os
from collections.abc import Mapping
from hashlib import sha256

from orgvault.store import files

Stamp = tuple[int, int, int, int]
MOST = 100_000
FEW = 32  # segments that are judged faster than a file is written


def stamp(path: str) -> Stamp | None:
    """What tells a file from what it becomes when anything touches it; None when it is gone."""
    try:
        about = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino


class Sound:
    """The sound segments of a log; `form` is what their rows were judged by."""

    def __init__(self, private: str, log: str, form: str) -> None:
        self._path = os.path.join(private, f"sound-{log}.json")
        self._form = sha256(form.encode()).hexdigest()
        self._known = _known(files.read_bytes(self._path), self._form)
        self._new: dict[str, Stamp] = {}

    def known(self, stamps: Mapping[str, Stamp]) -> set[str]:
        """Which of these paths are known to be sound as they are now."""
        return {path for path, now in stamps.items() if self._known.get(path) == list(now)}

    def found(self, stamps: Mapping[str, Stamp]) -> None:
        """Remember that these were found sound."""
        self._new.update(stamps)

    def save(self) -> None:
        """Keep what was found, when it was much; what cannot be kept is judged again."""
        if len(self._new) < FEW:
            return
        known = {**self._known, **{path: list(now) for path, now in self._new.items()}}
        newest = dict(list(known.items())[-MOST:])
        content = json.dumps({"form": self._form, "segments": newest})
        try:
            files.replace(self._path, content.encode(errors="surrogateescape"))
        except OSError:
            return


def _known(content: bytes | None, form: str) -> dict[str, list[int]]:
    try:
        data = json.loads(content or b"{}")
    except ValueError:
        return {}
    if not isinstance(data, dict) or data.get("form") != form:
        return {}
    segments = data.get("segments")
    return segments if isinstance(segments, dict) else {}
