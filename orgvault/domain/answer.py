"""Reading a model's answer: as leniently as it goes without guessing what was meant."""

import json
import re
from collections.abc import Iterator

from orgvault.values import dataclass

ANSWER_CHARS = 200_000
READ_AT_MOST = 20
_ATTEMPTS = 200
_DEEPEST = 3
_DIGITS = 15
_NOTHING = object()


@dataclass(frozen=True, kw_only=True)
class RawOperation:
    """One operation as the model wrote it, not judged yet.

    Texts that were missing or no text are empty; `claim` is None when it was no whole number.
    An item of the list that was no object at all has an empty `op`.
    """

    op: str = ""
    claim: int | None = None
    claim_starts: str = ""
    kind: str = ""
    text: str = ""
    why: str = ""
    evidence: str = ""


def read_answer(text: str) -> list[RawOperation] | None:
    """The operations of an answer in order, at most 20; None when it cannot be read.

    Content-block lists, `<think>` blocks, fences, sentences around, a bare list, one object
    alone, numbers as text, upper-case words, lone surrogates and trailing commas are tolerated.
    An answer that was cut off is not read: half of a change could be missing.  Never raises, and
    an answer of more than 200,000 characters is not looked at.
    """
    if len(text) > ANSWER_CHARS:
        return None
    found = _read(_well_formed(text), 0)
    return None if found is None else found[:READ_AT_MOST]


def read_object(text: str, known: frozenset[str]) -> dict[str, object] | None:
    """The one JSON object of an answer that has a key of `known`; None when it cannot be read.

    As lenient as `read_answer`: blocks, thoughts, fences and sentences around are tolerated, an
    object inside another is found, of several the last counts; keys come in lower case.  Never
    raises.
    """
    if len(text) > ANSWER_CHARS:
        return None
    return _object(_well_formed(text), known, 0)


def _object(text: str, known: frozenset[str], depth: int) -> dict[str, object] | None:
    if depth > _DEEPEST:
        return None
    for tidy in (str, _without_thoughts, _without_trailing_commas):
        text = tidy(text)
        value = _loads(text)
        if value is not _NOTHING:
            return _known_object(value, known, depth)
    objects = [_known_object(one, known, depth) for one in _values(text)]
    return next((one for one in reversed(objects) if one is not None), None)


def _known_object(value: object, known: frozenset[str], depth: int) -> dict[str, object] | None:
    if isinstance(value, str):
        return _object(value, known, depth + 1)
    if isinstance(value, list):
        texts = [text for text in map(_block_text, value) if text is not None]
        if texts:
            return _object("".join(texts), known, depth + 1)
        return _known_object(value[0], known, depth) if len(value) == 1 else None
    if not isinstance(value, dict):
        return None
    given = {key.strip().lower(): item for key, item in value.items()}
    if known & given.keys():
        return given
    if (inner := _block_text(value)) is not None:
        return _object(inner, known, depth + 1)
    inside = [one for one in given.values() if isinstance(one, dict | list)]
    if len(inside) == 1 and depth < _DEEPEST:
        return _known_object(inside[0], known, depth + 1)
    return None


def _read(text: str, depth: int) -> list[RawOperation] | None:
    if depth > _DEEPEST:
        return None
    value = _loads(text)
    if value is _NOTHING:
        text = _without_thoughts(text)
        value = _loads(text)
    if value is not _NOTHING:
        return _meaning(value, depth)
    found = _search(text)
    if found is None:
        tidy = _without_trailing_commas(text)
        found = _search(tidy) if tidy != text else None
    return found


def _meaning(value: object, depth: int) -> list[RawOperation] | None:
    """What a whole JSON value says; blocks and strings may hold the answer's text."""
    if isinstance(value, str):
        return _read(value, depth + 1)
    if isinstance(value, list):
        blocks = [text for text in map(_block_text, value) if text is not None]
        return _read("".join(blocks), depth + 1) if blocks else _listed(value)
    if not isinstance(value, dict):
        return None
    found = _enveloped(value)
    if found is None and _is_operation(value):
        return [_operation(value)]
    if found is None and (inner := _block_text(value)) is not None:
        return _read(inner, depth + 1)
    if found is None and "content" in value and depth < _DEEPEST:
        return _meaning(value["content"], depth + 1)
    return found


def _search(text: str) -> list[RawOperation] | None:
    """The operations inside a text that is not JSON as a whole: the last answer counts.

    An object that breaks off or is malformed hides its parts: single operations are then not
    picked out of it, only a list that is whole.
    """
    envelopes: list[list[RawOperation]] = []
    lists: list[list[RawOperation]] = []
    single: list[RawOperation] = []
    nothing, broken = False, False
    for value in _values(text):
        if value is None:
            broken = True
        elif isinstance(value, list):
            found = _listed(value)
            nothing = nothing or found == []
            lists += [found] if found else []
        else:
            found = _enveloped(value)
            envelopes += [found] if found is not None else []
            single += [_operation(value)] if found is None and _is_operation(value) else []
    if envelopes or lists:
        return (envelopes or lists)[-1]
    return None if broken or not (single or nothing) else single


def _values(text: str) -> Iterator[dict[str, object] | list[object] | None]:
    """Each outermost JSON object or list in a text; None for one that is broken."""
    at = 0
    for _ in range(_ATTEMPTS):
        start = re.compile(r"[\[{]").search(text, at)
        if start is None:
            return
        try:
            value, at = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            at = start.end()
            if re.compile(r'\{\s*"|\[\s*\{').match(text, start.start()):
                yield None
        else:
            yield value
    yield None


def _enveloped(value: dict[str, object]) -> list[RawOperation] | None:
    keys = {key.strip().lower(): key for key in value}
    if "operations" not in keys:
        return None
    held = value[keys["operations"]]
    if held is None:
        return []
    if isinstance(held, dict):
        held = [held]
    return [_operation(item) for item in held] if isinstance(held, list) else None


def _listed(value: list[object]) -> list[RawOperation] | None:
    if value and not any(_is_operation(item) for item in value):
        return None
    return [_operation(item) for item in value]


def _is_operation(value: object) -> bool:
    return isinstance(value, dict) and any(key.strip().lower() == "op" for key in value)


def _operation(value: object) -> RawOperation:
    if not isinstance(value, dict):
        return RawOperation()
    given = {key.strip().lower(): item for key, item in value.items()}
    return RawOperation(
        op=_text(given.get("op")).lower(),
        claim=_number(given.get("claim")),
        claim_starts=_text(given.get("claim_starts")),
        kind=re.sub(r"[\s-]+", "_", _text(given.get("kind")).lower()),
        text=_text(given.get("text")),
        why=_text(given.get("why")),
        evidence=_text(given.get("evidence")),
    )


def _text(value: object) -> str:
    return _well_formed(value).strip() if isinstance(value, str) else ""


def _number(value: object) -> int | None:
    if isinstance(value, str):
        written = re.fullmatch(r"\s*#?(-?[0-9]{1,9})\.?\s*", value)
        return int(written[1]) if written else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _block_text(value: object) -> str | None:
    """The text of a content block (`{"type": "text", "text": …}`), empty for another block."""
    if not isinstance(value, dict) or _is_operation(value):
        return None
    if not isinstance(value.get("type"), str):
        return None
    text = value.get("text")
    return text if isinstance(text, str) else ""


def _without_thoughts(text: str) -> str:
    """The text without `<think>` blocks; one that never ends hides the rest of the text.

    Some chat templates leave out the opening tag, so a closing one alone hides what is before.
    """
    kept: list[str] = []
    open_tags = 0
    for piece in re.split(r"(</?think(?:ing)?>)", text, flags=re.IGNORECASE):
        if re.fullmatch(r"<think(?:ing)?>", piece, re.IGNORECASE):
            open_tags += 1
        elif re.fullmatch(r"</think(?:ing)?>", piece, re.IGNORECASE):
            kept = kept if open_tags else []
            open_tags = max(0, open_tags - 1)
        elif not open_tags:
            kept.append(piece)
    return "".join(kept)


def _without_trailing_commas(text: str) -> str:
    string = r'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))'
    return re.sub(string + r"|,(?=\s*[}\]])", lambda m: m[1] or "", text, flags=re.DOTALL)


def _well_formed(text: str) -> str:
    """The text without lone surrogates (and halves that stood apart put together)."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


def _whole(digits: str) -> int | None:
    """A number of the answer; one of many digits numbers nothing, and converting it is slow."""
    return int(digits) if len(digits) <= _DIGITS else None


_DECODER = json.JSONDecoder(strict=False, parse_int=_whole)


def _loads(text: str) -> object:
    try:
        return _DECODER.decode(text.strip("\ufeff \t\r\n"))
    except (ValueError, RecursionError):
        return _NOTHING
