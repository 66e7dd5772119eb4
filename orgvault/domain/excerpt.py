"""What a model may see of a run: a masked excerpt within a token budget, failures first."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from orgvault.domain.cleaning import LEFT_OUT, Cleaner
from orgvault.domain.failures import rejected, telling_line
from orgvault.domain.masking import SECRET, mentions_protected
from orgvault.domain.transcript import Item, Said, Session, ToolCall
from orgvault.values import dataclass

BUDGET_TOKENS = 3000

_FAILURE_CHARS = (400, 900)
_WORDS_CHARS = 600
# Characters shown of a call and of its result: the first pair with which all of a run's calls fit.
_LADDER = ((300, 400), (200, 160), (120, 60), (80, 0))
_BREAKS = r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]"


@dataclass(frozen=True)
class Part:
    """One piece of an excerpt; `source` is `user`, `assistant`, `call` or `result`.

    A `result` is what a tool answered: data that anyone may have written.
    """

    source: str
    text: str


@dataclass(frozen=True)
class Excerpt:
    """The text a model is shown, piece by piece; `masked` counts the secrets replaced."""

    parts: tuple[Part, ...]
    masked: int = 0


def excerpt(
    session: Session,
    count_tokens: Callable[[str], int],
    *,
    budget: int = BUDGET_TOKENS,
    cut: tuple[str, ...] = (),
    protected: tuple[str, ...] = (),
    values: tuple[str, ...] = (),
) -> Excerpt:
    """What a model may see of a session, so that `text` of it is within `budget` tokens.

    Failing calls first (at most half of the budget, the latest first to go), then the other calls
    in order, then what the user said and the assistant's last words (a fifth is kept for both).
    `cut` are texts, such as the agent's core block, whose lines of 12 or more characters vanish
    wherever they stand; `values` are bound secrets; `protected` adds to the built-in places.
    """
    view = _View(Cleaner(cut, values), protected)
    calls = [one for one in session.items if isinstance(one, ToolCall)]
    failing = [one for one in calls if _failing(one)]
    others = [one for one in calls if not _failing(one)]

    def cost(parts: Sequence[Part]) -> int:
        return count_tokens(_rendered(parts))

    room = budget - count_tokens(_fenced("", 3))
    first, _ = _fitting((view.call(one, *_FAILURE_CHARS) for one in failing), cost, room // 2)
    last, _ = _fitting(view.words(session.items), cost, max(room // 5, room // 2 - cost(first)))
    last.reverse()
    middle, left = list[Part](), room - cost(first) - cost(last)
    for shown in _LADDER:
        middle, whole = _fitting((view.call(one, *shown) for one in others), cost, left)
        if whole:
            break
    parts = [*first, *middle, *last]
    # Tokens of joined texts need not add up: the sum decides.
    while parts and count_tokens(text(Excerpt(tuple(parts)))) > budget:
        parts.pop(len(first) + len(middle) - 1 if middle else -1)
        middle = middle[:-1]
    return Excerpt(tuple(parts), sum(part.text.count(SECRET) for part in parts))


def text(shown: Excerpt) -> str:
    """The excerpt as data between fences.

    Each part stands below its source (`[call]`), its lines set in by one space, so that no part
    can pass for another or for the end of the data.
    """
    body = _rendered(shown.parts)
    longest = max((len(run) for run in re.findall(r"`{3,}", body)), default=2)
    return _fenced(body, longest + 1)


def prepared(
    session: Session, *, cut: tuple[str, ...] = (), values: tuple[str, ...] = ()
) -> tuple[Session, int]:
    """The session with memory lines cut out and secrets masked, and how many were masked.

    Of each text at most some 4,000 characters stay, from both ends.
    """
    cleaner = Cleaner(cut, values)
    items = tuple(cleaner.item(one) for one in session.items)
    return replace(session, items=items), cleaner.masked


class _View:
    """Items as parts of an excerpt, cleaned when they are asked for: most of a long run is not."""

    def __init__(self, cleaner: Cleaner, protected: tuple[str, ...]) -> None:
        self._cleaner = cleaner
        self._protected = protected
        self._clean: dict[int, Item] = {}

    def call(self, call: ToolCall, shown: int, of_result: int) -> list[Part]:
        """A call and its result; nothing when it names a protected place, which it then shows."""
        if self._hidden(call.input):
            return []
        clean = self._cleaned(call)
        assert isinstance(clean, ToolCall)  # noqa: S101 - cleaning changes texts only
        parts = [Part("call", f"{clean.tool}: {_shortened(clean.input, shown)}")]
        result = clean.result.strip("\n")
        if result.strip() and of_result and not self._hidden(call.result):
            why = telling_line(result) if clean.failed else ""
            parts.append(Part("result", _shortened(result, of_result, keep=why)))
        return parts

    def words(self, items: Sequence[Item]) -> Iterator[list[Part]]:
        """The assistant's last words, then the user's, the latest first."""
        said = [one for one in reversed(items) if isinstance(one, Said) and one.text.strip()]
        last = [one for one in said if one.by == "assistant"][:1]
        for one in (*last, *(one for one in said if one.by == "user")):
            clean = self._cleaned(one)
            if isinstance(clean, Said) and not self._hidden(one.text):
                yield [Part(clean.by, _shortened(clean.text.strip(), _WORDS_CHARS))]

    def _cleaned(self, item: Item) -> Item:
        if id(item) not in self._clean:
            self._clean[id(item)] = self._cleaner.item(item)
        return self._clean[id(item)]

    def _hidden(self, told: str) -> bool:
        return mentions_protected(told, self._protected)


def _failing(call: ToolCall) -> bool:
    return call.failed and not rejected(call.result)


def _fitting(
    groups: Iterable[list[Part]], cost: Callable[[Sequence[Part]], int], room: int
) -> tuple[list[Part], bool]:
    """The parts of the first groups that fit into `room`, and whether all did."""
    chosen: list[Part] = []
    for group in groups:
        room -= cost(group)
        if room < 0:
            return chosen, False
        chosen += group
    return chosen, True


def _shortened(raw: str, limit: int, keep: str = "") -> str:
    """At most about `limit` characters, without the middle; `keep`, a line of it, stays."""
    if len(raw) <= limit:
        return raw
    head, tail = raw[: limit * 2 // 5], raw[len(raw) - limit * 3 // 5 :]
    kept = keep[: limit // 3]
    if kept and kept not in head and kept not in tail:
        head, tail = head[: limit // 3], tail[-(limit // 3) :]
        return f"{head} {LEFT_OUT} {kept} {LEFT_OUT} {tail}"
    return f"{head} {LEFT_OUT} {tail}"


def _rendered(parts: Sequence[Part]) -> str:
    lines: list[str] = []
    for part in parts:
        lines.append(f"[{part.source}]\n")
        lines += [f" {line}\n" for line in re.split(_BREAKS, part.text)]
    return "".join(lines)


def _fenced(body: str, ticks: int) -> str:
    return f"{'`' * ticks}data\n{body}{'`' * ticks}\n"
