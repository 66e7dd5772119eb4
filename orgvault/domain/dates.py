# ruff: noqa: RUF001 - months in Cyrillic look like Latin letters
"""Dates among the words of a text, however they are written, as terms that can be compared."""

from orgvault.values import dataclass

DATE = "@"
# Names of the months, as the folded text has them, in the languages that most vaults are in.
_NAMES = (
    "january januar janvier enero gennaio janeiro januari января январь январе jan",
    "february februar fevrier febrero febbraio fevereiro februari февраля февраль феврале feb",
    "march marz mars marzo marco maart марта март марте mar",
    "april avril abril aprile апреля апрель апреле apr",
    "may mai mayo maggio maio mei мая маи мае",
    "june juni juin junio giugno junho июня июнь июне jun",
    "july juli juillet julio luglio julho июля июль июле jul",
    "august aout agosto augustus августа август августе aug",
    "september septembre septiembre settembre setembro сентября сентябрь сентябре sep sept",
    "october oktober octobre octubre ottobre outubro октября октябрь октябре oct okt",
    "november novembre noviembre novembro ноября ноябрь ноябре nov",
    "december dezember decembre diciembre dicembre dezembro декабря декабрь декабре dec dez",
)
_MONTHS = {name: month for month, names in enumerate(_NAMES, 1) for name in names.split()}
# Without a day or a year beside it, a month's name (may, march) must follow one of these.
_LEADING = "in im en em of since during until last next this early late в с до"
_BEFORE_MONTH = frozenset(_LEADING.split())
_BETWEEN = frozenset({"of", "de", "di"})
_ORDINALS = ("st", "nd", "rd", "th")
_SIGNS = frozenset("年년月월")
_YEAR_CHARS, _SHORT_CHARS = 4, 2
_LAST_MONTH, _LAST_DAY = 12, 31


@dataclass(frozen=True)
class _Date:
    """What a text says of a date; 0 is what it does not say."""

    year: int
    month: int = 0
    day: int = 0

    @property
    def terms(self) -> list[str]:
        """The terms of the date and of the month and year that it lies in."""
        found = [f"{DATE}{self.year:04}"] if self.year else []
        if self.month:
            found.append(f"{DATE}-{self.month:02}")
            if self.year:
                found.append(f"{DATE}{self.year:04}-{self.month:02}")
        if self.month and self.day:
            found.append(f"{DATE}-{self.month:02}-{self.day:02}")
            if self.year:
                found.append(f"{DATE}{self.year:04}-{self.month:02}-{self.day:02}")
        return found


def dates(split: list[str]) -> list[str]:
    """The terms of every date in a text that was split into words, each once.

    `8 May 2023`, `May 8th, 2023`, `2023-05-08`, `08.05.2023` (the day first, where it can be) and
    `2023年5月8日` give the same terms; each begins with `@`, which no word does.
    """
    found: dict[str, None] = {}
    for at, word in enumerate(split):
        if word in _MONTHS:
            date = _named(split, at)
        elif word[0].isdigit():
            date = _year_first(split, at) or _year_last(split, at)
        else:
            continue
        if date is not None:
            found.update(dict.fromkeys(date.terms))
    return list(found)


def _named(split: list[str], at: int) -> _Date | None:
    before, after = at - 1, at + 1
    day = _day(_word(split, before - 1 if _word(split, before) in _BETWEEN else before))
    if day:
        after += _word(split, after) in _BETWEEN
    else:
        day = _day(_word(split, after))
        after += bool(day)
    year = _year(_word(split, after))
    if day or year or _word(split, before) in _BEFORE_MONTH:
        return _Date(year, _MONTHS[split[at]], day)
    return None


def _year_first(split: list[str], at: int) -> _Date | None:
    """A year, with the month and the day that may follow in figures."""
    year = _year(split[at])
    if not year:
        return None
    signed = _word(split, at + 1) in _SIGNS
    rest = [word for word in split[at + 1 : at + 5] if word not in _SIGNS]
    figures = [_day(word) if signed or len(word) == _SHORT_CHARS else 0 for word in rest[:2]]
    month, day = (*figures, 0, 0)[:2]
    return _Date(year, month, day) if 0 < month <= _LAST_MONTH else _Date(year)


def _year_last(split: list[str], at: int) -> _Date | None:
    """A day and a month in figures, and a year."""
    year = _year(_word(split, at + 2))
    first, second = _day(split[at]), _day(_word(split, at + 1))
    if not (year and first and second):
        return None
    day, month = (first, second) if second <= _LAST_MONTH else (second, first)
    return _Date(year, month, day) if month <= _LAST_MONTH else None


def _word(split: list[str], at: int) -> str:
    return split[at] if 0 <= at < len(split) else ""


def _year(word: str) -> int:
    """A year of these two centuries; 0 for any other word."""
    if len(word) == _YEAR_CHARS and word.startswith(("19", "20")) and _is_figure(word):
        return int(word)
    return 0


def _day(word: str) -> int:
    """A number from 1 to 31, `8th` too; 0 for any other word."""
    word = word[:-2] if word.endswith(_ORDINALS) else word
    number = int(word) if len(word) <= _SHORT_CHARS and _is_figure(word) else 0
    return number if number <= _LAST_DAY else 0


def _is_figure(word: str) -> bool:
    return word.isascii() and word.isdigit()
