"""The round steps of an axis, and how values and days are written beside it."""

from collections.abc import Sequence
from datetime import date
from math import ceil, floor, log10

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NOTHING = 1e-9


def scale(values: Sequence[float]) -> tuple[float, float]:
    """The step of an axis from 0, and where it ends: three or four steps of a round number."""
    most = max(values, default=0.0)
    if most < _NOTHING:
        return 0.5, 1.0
    rough = most / 3.5
    ten = 10.0 ** floor(log10(rough))
    step = next(one * ten for one in (1, 2, 2.5, 5, 10) if one * ten >= rough)
    return step, step * max(ceil(most / step - 1e-9), 1)


def _digits(step: float) -> int:
    """How many decimals tell the steps of an axis apart."""
    places = int(max(0, -floor(log10(step))))
    return places + int(round(step * 10**places, 6) % 1 > 0)


def plain(value: float, step: float) -> str:
    """A value, with as many decimals as tell the steps apart."""
    return f"{value:,.{min(_digits(step), 3)}f}"


def dollars(value: float, step: float) -> str:
    """An amount, likewise; cents always where there are any."""
    places = min(_digits(step), 6)
    return f"${value:,.{max(places, 2) if places else 0}f}"


def day(when: date, *, year: bool = True) -> str:
    """A day as people write it: 5 Oct 2026."""
    return f"{when.day} {month(when, year=year)}"


def month(when: date, *, year: bool = True) -> str:
    """A month as people write it, in the same words on every machine: Oct 2026."""
    return _MONTHS[when.month - 1] + (f" {when.year}" if year else "")
