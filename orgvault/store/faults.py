"""What can stand in the way of a write in the vault's own files, each with its own sentence."""

from orgvault.errors import BadFile, BadValue, ChangedUnderneath, VaultBusy


class Linked(BadFile):
    """A symbolic link stands where we would write, so that the write would land elsewhere."""

    def __init__(self, path: str) -> None:
        super().__init__(path, 0, "is a symbolic link", "put a file or folder in its place")


class OutsideVault(BadFile):
    """A path leads out of the vault, or into a git folder."""

    def __init__(self, path: str) -> None:
        super().__init__(path, 0, "is no path inside the vault", "name a file below its root")


class Edited(ChangedUnderneath):
    """Somebody has changed a file since it was read."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "has been changed meanwhile")


class BeingWritten(VaultBusy):
    """Another orgvault has the vault's lock."""

    def __init__(self, holder: str) -> None:
        super().__init__(f"{holder or 'another orgvault'} is writing to it", "try again")


class Unlockable(VaultBusy):
    """The vault's lock cannot be taken at all."""

    def __init__(self, folder: str, why: str) -> None:
        super().__init__(f"its lock in {folder} cannot be taken ({why})", "mend that and try again")


class NoRow(BadValue):
    """A row that no log can hold: longer than a row may be, or more than one line."""

    def __init__(self, row_id: str, limit: int) -> None:
        super().__init__("row", row_id, f"a row is one line of at most {limit} bytes")


class ShortWrite(OSError):
    """The system took only a part of a row."""

    def __init__(self) -> None:
        super().__init__("only a part of the row could be written")


class RowTooLong(ValueError):
    """A record whose line is longer than a row may be."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"a row of {size} bytes, at most {limit} fit")


class Unreadable(ValueError):
    """A line is no row; the text says what it is."""


class NotUtf8(Unreadable):
    """Bytes that are no text."""

    def __init__(self) -> None:
        super().__init__("not UTF-8")


class Marker(Unreadable):
    """A marker that an unfinished merge left."""

    def __init__(self) -> None:
        super().__init__("a conflict marker")


class NotARow(Unreadable):
    """Text that is no JSON object."""

    def __init__(self) -> None:
        super().__init__("not a row of JSON")


class KeyTwice(Unreadable):
    """An object that says two things."""

    def __init__(self) -> None:
        super().__init__("a row with the same key twice")


class NotANumber(Unreadable):
    """NaN or an infinity."""

    def __init__(self, name: str) -> None:
        super().__init__(f"a row with {name}")
