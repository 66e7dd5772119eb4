"""A text with what it embeds in its place, as it goes into a prompt."""

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType

from orgvault.domain.links import Embed, find, needs_parser, plain_text, properties_end
from orgvault.domain.neutral import neutral
from orgvault.domain.notes import MISSING, NOTE, Index, fold_name, kind_of, resolve
from orgvault.domain.parts import PARSED_CHARS, Part, part
from orgvault.errors import EmbedBudgetExceeded
from orgvault.values import dataclass

BUDGET_BYTES = 1 << 16
DEPTH = 10
# What one text may make us read: of all notes, and of those that need the parser.
READ_CHARS = 1 << 24
HARD_CHARS = 1 << 19
# How far an expansion that is too large is measured, to say what makes it so.
_MEASURED = 8
_TARGET_CHARS = 160

CYCLE = "it would embed itself: "
TOO_DEEP = f"more than {DEPTH} embeds inside each other"
TOO_MUCH = "too much else is embedded to look into it"
NOWHERE = "this text stands in no note"

_BLANK_LINES = re.compile(r"\A(?:[ \t]*(?:\r\n?|\n))+")
_LINE_END = re.compile(r"[ \t]*(?:\r\n?|\n)")
_ATTRIBUTE = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


@dataclass(frozen=True)
class NoteText:
    """A note as it was read: its text and the name of its blob in git."""

    text: str
    blob: str


@dataclass(frozen=True)
class Unread:
    """Why a note could not be read."""

    reason: str


Read = Callable[[str], NoteText | Unread]
Readable = Callable[[str], str]


@dataclass(frozen=True)
class Embedded:
    """What stands in an `<embed>`: UTF-8 bytes of all between its tags, nested embeds included.

    `blob` is empty for a part of the text itself.
    """

    path: str
    subpath: str
    blob: str
    bytes: int
    depth: int = 1  # 1 for one in the text itself


@dataclass(frozen=True)
class Marker:
    """An embed that was left out: the note it stands in, what it wanted, and why it got none."""

    source: str
    target: str
    reason: str

    @property
    def text(self) -> str:
        """The line that stands in its place."""
        target = _one_line(self.target)
        cut = f"{target[:_TARGET_CHARS]}…" if len(target) > _TARGET_CHARS else target
        return f"[not embedded: {neutral(cut)[0]}: {neutral(_one_line(self.reason))[0]}]"


@dataclass(frozen=True)
class Expanded:
    """A text with its embeds in place, what came in, what did not, and what was changed."""

    text: str
    embeds: tuple[Embedded, ...]
    markers: tuple[Marker, ...]
    warnings: tuple[str, ...]
    neutralised: int
    comments: int

    @property
    def bytes(self) -> int:
        """The UTF-8 bytes that count in the budget."""
        return sum(one.bytes for one in self.embeds if one.depth == 1)


def expand(
    text: str, source: str, index: Index, read: Read, readable: Readable,
    decided: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> Expanded:  # fmt: skip
    """The text, which stands in the note `source` (empty: in none), with what it embeds.

    `readable` gives the reason why the agent may not read a path; empty when it may.  Properties
    and comments are dropped, also those of the text itself.  `decided` gives reasons why embeds
    (the note that they stand in, what they want) were left out before, to expand a text as it
    was.  Raises EmbedBudgetExceeded when the embedded text is larger than 64 KiB.  The work is
    bounded, whatever the notes hold.
    """
    return _Expansion(index, read, readable, decided).all_of(text, source)


def depends_on_its_place(reason: str) -> bool:
    """Whether a marker's reason lies in the embeds around it, so that it cannot be `decided`."""
    return reason.startswith(CYCLE) or reason == TOO_DEEP


class _Full(Exception):
    """One embed of the text is by itself far larger than all may be."""


@dataclass(frozen=True)
class _Place:
    """Where we are: the note, and the embeds on the way down to it."""

    path: str
    chain: tuple[tuple[str, str], ...]

    def names(self) -> str:
        return " → ".join(_target(path, sub) or "this text" for path, sub in self.chain)


@dataclass(frozen=True)
class _Memory:
    """What need not be found out twice."""

    notes: dict[str, NoteText | Unread] = field(default_factory=dict)
    paths: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    parts: dict[tuple[str, str], Part] = field(default_factory=dict)
    aliases: list[Mapping[str, str]] = field(default_factory=list)  # one, once it is needed


class _Expansion:
    def __init__(
        self, index: Index, read: Read, readable: Readable,
        decided: Mapping[tuple[str, str], str],
    ) -> None:  # fmt: skip
        self._index, self._read, self._readable = index, read, readable
        self._decided = decided
        self._known = _Memory()
        self._embeds: list[Embedded] = []
        self._markers: list[Marker] = []
        self._warnings: list[str] = []
        self._neutralised = self._comments = 0
        self._read_chars = self._hard_chars = 0
        self._spent = self._limit = 0

    def all_of(self, text: str, source: str) -> Expanded:
        self._known.notes[source] = NoteText(text, "")
        place = _Place(source, ((source, ""),))
        expanded = self._spliced(text, Part(find(text).body, len(text)), place)
        done = Expanded(
            expanded, tuple(self._embeds), tuple(self._markers),
            tuple(dict.fromkeys(self._warnings)), self._neutralised, self._comments,
        )  # fmt: skip
        if done.bytes > BUDGET_BYTES:
            raise self._too_large(source)
        return done

    def _spliced(self, text: str, wanted: Part, place: _Place) -> str:
        """A part of a text; embeds in place, comments cut, all else harmless."""
        found = find(text)
        cuts = [_whole_line(text, *one) for one in found.comments]
        cuts += [wanted.mark] if wanted.mark else []
        places: list[tuple[int, int, Embed | None]] = [(*one, None) for one in cuts]
        places += [(one.start, one.end, one) for one in found.embeds]
        done, own = wanted.start, ""
        pieces: list[str] = []
        for start, end, embed in sorted(places, key=lambda one: one[:2]):
            if start >= wanted.end or end <= done:
                continue
            own += text[done:start]
            done = min(end, wanted.end)
            if embed is None:
                continue
            pieces += [self._own(own, place), self._put(embed, place)]
            own = ""
        self._comments += sum(wanted.start <= start < wanted.end for start, _ in found.comments)
        pieces.append(self._own(own + text[done : wanted.end], place))
        return "".join(pieces)

    def _own(self, text: str, place: _Place) -> str:
        harmless, count = neutral(text)
        self._neutralised += count
        self._spend(harmless, place)
        return harmless

    def _put(self, embed: Embed, place: _Place) -> str:
        """What stands in an embed's place: the element, or a marker."""
        path, reason = "", self._decided.get((place.path, embed.target), "")
        if not reason:
            path, reason = self._path(embed, place)
            reason = reason or self._refusal(embed, path, place)
        note = Unread(reason) if reason else self._note(path)
        if isinstance(note, NoteText):
            found = self._part(path, embed.subpath, note.text)
            if not found.reason:
                return self._element(embed, path, note, found, place)
            note = Unread(found.reason)
        marker = Marker(place.path, embed.target, note.reason)
        self._markers.append(marker)
        self._spend(marker.text, place)
        return marker.text

    def _path(self, embed: Embed, place: _Place) -> tuple[str, str]:
        """The path that an embed means, or the reason why it means none."""
        if not embed.path:
            return place.path, "" if place.path else NOWHERE
        folder = place.path.rpartition("/")[0]
        known = self._known.paths.get((embed.path, folder))
        if known is None:
            resolved = resolve(embed.path, place.path, self._index)
            if resolved.warning:
                self._warnings.append(f"{embed.path}: {resolved.warning}")
            reason = resolved.reason
            if reason == MISSING and (real := self._alias(embed.path)):
                reason = f"{MISSING}; {real} has that as an alias: write [[{real}|{embed.path}]]"
            known = self._known.paths[embed.path, folder] = (resolved.path, reason)
        return known

    def _alias(self, name: str) -> str:
        if not self._known.aliases:
            self._known.aliases.append(self._index.aliases(self._readable))
        path = self._known.aliases[0].get(fold_name(name), "")
        return path.rpartition("/")[2].removesuffix(".md")

    def _refusal(self, embed: Embed, path: str, place: _Place) -> str:
        """Why a file cannot be embedded here, without reading it."""
        if path != place.path and (reason := self._readable(path)):
            return reason
        if (kind := kind_of(path)) != NOTE:
            size = self._index.size(path)
            name = path.rpartition("/")[2]
            return f"{kind}, {name}" + (f", {size:,} bytes" if size is not None else "")
        if (path, _part_name(embed.subpath)) in place.chain:
            return f"{CYCLE}{place.names()} → {_target(path, embed.subpath)}"
        return TOO_DEEP if len(place.chain) > DEPTH else ""

    def _note(self, path: str) -> NoteText | Unread:
        note = self._known.notes.get(path)
        if note is None:
            note = self._read(path)
            if isinstance(note, NoteText):
                self._read_chars += len(note.text)
                self._hard_chars += _hard_chars(note.text)
                if self._read_chars > READ_CHARS or self._hard_chars > HARD_CHARS:
                    note = Unread(TOO_MUCH)
            self._known.notes[path] = note
        return note

    def _part(self, path: str, subpath: str, text: str) -> Part:
        found = self._known.parts.get((path, subpath))
        if found is None:
            found = self._known.parts[path, subpath] = part(text, subpath)
            if found.twice:
                self._warnings.append(
                    f"{_target(path, subpath)}: there are several, of which the first was taken"
                )
        return found

    def _element(self, embed: Embed, path: str, note: NoteText, wanted: Part, place: _Place) -> str:
        depth = len(place.chain)
        if depth == 1:
            self._begin(place)
        at = len(self._embeds)
        self._embeds.append(Embedded(path, embed.subpath, note.blob, 0, depth))
        harmless, count = neutral(_attribute(path))
        self._neutralised += count
        opening, closing = f'<embed path="{harmless}">\n', "\n</embed>"
        self._spend(opening + closing, place)
        inner = _Place(path, (*place.chain, (path, _part_name(embed.subpath))))
        content, size, before = "", 0, self._spent
        try:
            content = _trimmed(self._content(note.text, wanted, inner))
            size = _size(content)
        except _Full:
            size = self._spent - before
            if depth > 1:
                raise
        finally:
            self._embeds[at] = Embedded(path, embed.subpath, note.blob, size, depth)
        return f"{opening}{content}{closing}"

    def _content(self, text: str, wanted: Part, place: _Place) -> str:
        if len(text) > PARSED_CHARS and needs_parser(text):
            self._spend(text, place)  # raises _Full: that is more than all embeds may hold
        return self._spliced(text, wanted, place)

    def _begin(self, place: _Place) -> None:
        """Begin to count what one embed of the text itself holds."""
        if self._spent > _MEASURED * BUDGET_BYTES:
            raise self._too_large(place.path)
        self._limit = self._spent + 2 * BUDGET_BYTES  # white space is not yet taken off the ends

    def _spend(self, text: str, place: _Place) -> None:
        """Count what goes into an embed; raise _Full when one is far larger than all may be."""
        if len(place.chain) > 1:
            self._spent += _size(text)
            if self._spent > self._limit:
                raise _Full

    def _too_large(self, source: str) -> EmbedBudgetExceeded:
        sizes = [
            ("  " * (one.depth - 1) + _target(one.path, one.subpath), one.bytes)
            for one in self._embeds
        ]
        return EmbedBudgetExceeded(source, BUDGET_BYTES, sizes)


def _hard_chars(text: str) -> int:
    """How much of a note the parser may be asked about."""
    body = text[properties_end(text) :]
    return len(body) if len(body) <= PARSED_CHARS and plain_text(body) is None else 0


def _target(path: str, subpath: str) -> str:
    return f"{path}#{subpath}" if subpath else path


def _part_name(subpath: str) -> str:
    return "#".join(" ".join(one.split()) for one in fold_name(subpath).split("#") if one.strip())


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def _attribute(path: str) -> str:
    """A path as the value of an attribute, on one line."""
    escaped = path.translate(_ATTRIBUTE)
    return "".join(char if char.isprintable() else f"&#{ord(char)};" for char in escaped)


def _one_line(text: str) -> str:
    return "".join(char for char in " ".join(text.split()) if char.isprintable())


def _trimmed(text: str) -> str:
    """Without blank lines before and white space after it."""
    return _BLANK_LINES.sub("", text).rstrip()


def _whole_line(text: str, start: int, end: int) -> tuple[int, int]:
    """A cut, with the line's end where the line holds nothing else."""
    before = text[max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1 : start]
    after = _LINE_END.match(text, end)
    return (start - len(before), after.end()) if after and not before.strip() else (start, end)
