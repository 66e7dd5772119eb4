"""A figure: what something of ours takes beside its reference, measured in the same run."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from statistics import median

HEAD = f"{'operation':<64} {'reference':>10} {'ours':>10} {'ratio':>7}  {'aim':<8} met"


@dataclass(frozen=True)
class Figure:
    """One line of the table: two amounts of `unit` (`s`, `bytes`, `files`, ...), and the aim.

    `at_least`: the ratio is to be that or more, else that or less.  Without an `aim`, the figure
    is only told: `quality.md` asks nothing of it.
    """

    name: str
    reference: float
    ours: float
    aim: float | None = None
    at_least: bool = False
    unit: str = "s"

    @property
    def ratio(self) -> float:
        """Ours as a multiple of the reference, or for `at_least` the other way round."""
        return self.reference / self.ours if self.at_least else self.ours / self.reference

    @property
    def met(self) -> bool:
        """Whether the aim, if there is one, is reached."""
        if self.aim is None:
            return True
        return self.ratio >= self.aim if self.at_least else self.ratio <= self.aim

    @property
    def asked(self) -> str:
        """The aim as it is written: `≤ 1.5`, `≥ 20`, or a dash."""
        if self.aim is None:
            return "–"
        return f"{'≥' if self.at_least else '≤'} {self.aim:g}"

    @property
    def verdict(self) -> str:
        """`yes`, `no`, or a dash where nothing is aimed at."""
        return "–" if self.aim is None else "yes" if self.met else "no"

    def amounts(self) -> tuple[str, str]:
        """The reference and ours, as a person reads them."""
        return amount(self.reference, self.unit), amount(self.ours, self.unit)

    def plain(self) -> dict[str, object]:
        """The figure as JSON keeps it; `figure_of` reads it again."""
        return {**asdict(self), "ratio": round(self.ratio, 4), "met": self.met}


def figure_of(plain: dict[str, object]) -> Figure:
    """The figure that `plain` was made of."""
    told = {name: plain[name] for name in Figure.__dataclass_fields__}
    return Figure(**told)  # type: ignore[arg-type]


def amount(value: float, unit: str) -> str:
    """A number with a unit that it is short in: `62 ms`, `1.31 s`, `6.8 MB`, `12`."""
    if unit == "s":
        return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"
    if unit == "bytes":
        return f"{value / 1e6:.3g} MB"
    return f"{value:,g}"


def seconds(act: Callable[[], object]) -> float:
    """How long something takes."""
    before = time.perf_counter()
    act()
    return time.perf_counter() - before


def in_turns(turns: int, *acts: Callable[[], object]) -> list[float]:
    """The median seconds of each, done one after the other, so that they share the weather."""
    times = [[seconds(act) for act in acts] for _ in range(turns)]
    return [median(column) for column in zip(*times, strict=True)]


def show(figures: Iterable[Figure]) -> list[Figure]:
    """Print each figure as it comes; all of them."""
    print(HEAD)
    return list(printed(figures))


def printed(figures: Iterable[Figure]) -> Iterator[Figure]:
    """Print each figure as it passes."""
    for one in figures:
        reference, ours = one.amounts()
        line = f"{one.name:<64} {reference:>10} {ours:>10} {one.ratio:>7.2f}"
        print(f"{line}  {one.asked:<8} {one.verdict}", flush=True)
        yield one
