"""An agent's weeks as a picture: two small panels over one time axis, as an SVG of our own.

A library that draws charts takes longer to import than everything else that `stats` does.  The
same chart gives the same bytes: no date of its making, no random ids, no fonts of its own, no
script, and nothing that is loaded from elsewhere.  Colours are those of Okabe and Ito, which
people with any colour vision can tell apart (https://jfly.uni-koeln.de/color/).
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from itertools import pairwise

from orgvault.adapters.axis import day, dollars, month, plain, scale
from orgvault.adapters.svg import Size, circle, group, line, number, path, picture, rect, text
from orgvault.values import dataclass

WIDTH, LEFT, RIGHT = 760.0, 60.0, 730.0
PANEL, STRIP, GAP = 116.0, 44.0, 42.0
TOP, FOOT, MARK_ROW = 96.0, 34.0, 16.0
_FEW_WEEKS = 9  # each has its own label
_MANY_WEEKS, _SPAN = 40, 4  # of more weeks the line is drawn over four of them
_LABEL_CHARS = 40
_CHAR = 6.1  # how wide a letter of a label is, at most on average
_STYLE = """
text{font:11px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;fill:#57606a;\
font-variant-numeric:tabular-nums}
.bg{fill:#fff}.h{font-size:17px;font-weight:600;fill:#1f2328}.t{font-size:13px;font-weight:600;\
fill:#1f2328}.f{font-size:13px;font-weight:600;fill:#1f2328}
.e{text-anchor:end}.m{text-anchor:middle}.g{stroke:#e4e8ec}.z{stroke:#afb8c1}.b{fill:#c3ced9}
.a{stroke:#d55e00}.c{stroke:#0072b2}.af{fill:#d55e00}.cf{fill:#0072b2}
.l{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.w{paint-order:stroke;stroke:#fff;stroke-width:5px;stroke-linejoin:round}.s{opacity:.4}
.o{stroke-width:1.2;stroke-dasharray:5 4;opacity:.75}.k{stroke:#6e7781;stroke-dasharray:2 3}
@media (prefers-color-scheme:dark){
text{fill:#9aa5b1}.bg{fill:#15191f}.h,.t,.f{fill:#e8ecf1}.g{stroke:#2a313a}.z{stroke:#566270}
.b{fill:#414d5a}.a{stroke:#f0a04b}.af{fill:#f0a04b}.c{stroke:#56b4e9}.cf{fill:#56b4e9}
.k{stroke:#8b96a3}.w{stroke:#15191f}}
"""


@dataclass(frozen=True)
class Week:
    """What finished in the week that begins on a Monday (UTC); the cost is None when unknown."""

    monday: date
    done: int
    corrected: int
    cost_usd: float | None


@dataclass(frozen=True)
class Mark:
    """A day that something happened on: a proposal was shipped, for example."""

    day: date
    label: str


@dataclass(frozen=True)
class Chart:
    """What is drawn: consecutive weeks, and the two figures of all of them together."""

    title: str
    subtitle: str
    weeks: tuple[Week, ...]
    corrections: float | None
    cost_usd: float | None
    corrections_note: str
    cost_note: str


@dataclass(frozen=True)
class _Panel:
    title: str
    note: str
    overall: float | None
    values: tuple[float | None, ...]
    line: tuple[float | None, ...]
    said: Callable[[float, float], str]  # a value, on an axis of such steps
    colour: str


def draw(chart: Chart, marks: Sequence[Mark] = ()) -> str:
    """The chart as the text of an SVG file."""
    rows = _mark_rows(chart, marks)
    top = TOP + MARK_ROW * (1 + max(rows.values(), default=-1))
    bottom = top + 2 * PANEL + 2 * GAP + STRIP
    size = Size(WIDTH, bottom + FOOT)
    smooth = f"; lines over {_SPAN} weeks" if _span(chart.weeks) > 1 else ""
    parts = [
        rect(0, 0, size.width, size.height, "bg", round_by=8),
        text(LEFT - 40, 32, _short(chart.title, 70), "h"),
        text(LEFT - 40, 52, _short(chart.subtitle + smooth, 118)),
    ]
    if chart.weeks:
        parts += [_mark_line(chart, mark, row, top, bottom) for mark, row in rows.items()]
        parts += [_mark_label(chart, mark, row, top) for mark, row in rows.items()]
        parts += _body(chart, top)
    else:
        parts.append(text(WIDTH / 2, (top + bottom) / 2, "Nothing finished yet.", "t m"))
    about = f"{chart.subtitle}. {chart.corrections_note}. {chart.cost_note}."
    return picture(size, chart.title, about, _STYLE, parts)


def _body(chart: Chart, top: float) -> Iterator[str]:
    weeks = chart.weeks
    corrected = [(float(week.corrected), week.done) for week in weeks]
    cost = [(week.cost_usd or 0.0, 0 if week.cost_usd is None else week.done) for week in weeks]
    panels = (
        _Panel(
            "Corrections per completed card", chart.corrections_note, chart.corrections,
            _together(corrected, 1), _together(corrected, _span(weeks)), plain, "a",
        ),
        _Panel(
            "Cost per completed card", chart.cost_note, chart.cost_usd,
            _together(cost, 1), _together(cost, _span(weeks)), dollars, "c",
        ),
    )  # fmt: skip
    for at, panel in enumerate(panels):
        yield from _drawn(panel, weeks, top + at * (PANEL + GAP))
    strip = top + 2 * (PANEL + GAP)
    yield from _bars(weeks, strip)
    yield from _dates(weeks, strip + STRIP)


def _span(weeks: Sequence[Week]) -> int:
    """Over how many weeks a line is drawn: single ones of a long time are noise."""
    return _SPAN if len(weeks) > _MANY_WEEKS else 1


def _together(parts: Sequence[tuple[float, int]], span: int) -> tuple[float | None, ...]:
    """For each week, what it and those before it (`span` in all) come to for each card."""
    found = []
    for at, (_, own) in enumerate(parts):
        some = parts[max(0, at - span + 1) : at + 1]
        cards = sum(done for _, done in some)
        found.append(sum(part for part, _ in some) / cards if cards and (own or span > 1) else None)
    return tuple(found)


def _drawn(panel: _Panel, weeks: Sequence[Week], top: float) -> Iterator[str]:
    """One panel: its name and figure, the grid, the weeks, the figure of all as a dashed line."""
    step, most = scale([one for one in (*panel.values, panel.overall) if one is not None])

    def height(value: float) -> float:
        return top + PANEL * (1 - value / most)

    yield text(LEFT, top - 12, panel.title, "t w")
    yield text(RIGHT, top - 12, panel.note, "e w")
    for at in range(round(most / step) + 1):
        y = height(at * step)
        yield line(LEFT, y, RIGHT, y, "g" if at else "z")
        yield text(LEFT - 8, y + 4, panel.said(at * step, step), "e")
    if panel.overall is not None:
        y = height(panel.overall)
        yield line(LEFT, y, RIGHT, y, f"{panel.colour} o")
    points = [
        None if value is None else (_centre(weeks, at), height(value))
        for at, value in enumerate(panel.line)
    ]
    yield path(_runs(points), f"l {panel.colour}")
    radius, kind = (2.0, f"{panel.colour}f s") if _span(weeks) > 1 else (3.5, f"{panel.colour}f")
    for at, (week, value) in enumerate(zip(weeks, panel.values, strict=True)):
        if value is not None:
            told = f"{panel.said(value, step / 100)}, {week.done} completed"
            dot = circle(_centre(weeks, at), height(value), radius, kind)
            yield group(f"Week of {day(week.monday)}: {told}", dot)


def _bars(weeks: Sequence[Week], top: float) -> Iterator[str]:
    """The number of completed cards: how much the weeks above rest on."""
    most = max(week.done for week in weeks)
    slot = (RIGHT - LEFT) / len(weeks)
    wide = max(min(slot * 0.7, 28.0), min(slot, 1.5))
    yield text(LEFT, top - 10, "Completed cards", "t w")
    for at, week in enumerate(weeks):
        tall = STRIP * week.done / most if most else 0
        bar = rect(_centre(weeks, at) - wide / 2, top + STRIP - tall, wide, tall, "b")
        if week.done:
            yield group(f"Week of {day(week.monday)}: {week.done} completed", bar)
    yield line(LEFT, top + STRIP, RIGHT, top + STRIP, "z")
    yield text(LEFT - 8, top + STRIP + 4, "0", "e")
    if most:
        yield line(LEFT, top, RIGHT, top, "g")
        yield text(LEFT - 8, top + 4, f"{most:,}", "e")


def _dates(weeks: Sequence[Week], y: float) -> Iterator[str]:
    """The time axis: each Monday, or months that leave room for their names."""
    first = weeks[0].monday
    if len(weeks) <= _FEW_WEEKS:
        for at, week in enumerate(weeks):
            year = at == 0 or week.monday.year != weeks[at - 1].monday.year
            yield text(_centre(weeks, at), y + 18, day(week.monday, year=year), "m")
        return
    last = weeks[-1].monday + timedelta(days=6)
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    every = next(step for step in (1, 2, 3, 6, 12, 24, 60) if months / step <= _FEW_WEEKS)
    named = 0
    for at in range(first.year * 12 + first.month - 1, last.year * 12 + last.month):
        begins = date(at // 12, at % 12 + 1, 1)
        if at % every or begins < first:
            continue
        x = _x(weeks, begins)
        if x > RIGHT - 20:
            break
        yield line(x, y, x, y + 5, "z")
        yield text(x, y + 18, month(begins, year=begins.month == 1 or not named), "m")
        named += 1


# ── marks ───────────────────────────────────────────────────────────────────────────────────


def _mark_rows(chart: Chart, marks: Sequence[Mark]) -> dict[Mark, int]:
    """The marks within the weeks, each with a row above the panels in which its label has room."""
    rows: dict[Mark, int] = {}
    ends: list[float] = []
    for mark in sorted(set(marks), key=lambda one: (one.day, one.label)):
        since = (mark.day - chart.weeks[0].monday).days if chart.weeks else -1
        if not 0 <= since < 7 * len(chart.weeks):
            continue
        begin, end = _label_span(chart.weeks, mark)
        row = next((at for at, taken in enumerate(ends) if taken < begin), len(ends))
        ends[row : row + 1] = [end + _CHAR]
        rows[mark] = row
    return rows


def _mark_line(chart: Chart, mark: Mark, row: int, top: float, bottom: float) -> str:
    x = _x(chart.weeks, mark.day)
    drawn = line(x, _mark_y(row, top) + 4, x, bottom, "k")
    return group(f"{day(mark.day)}: {mark.label}", drawn)


def _mark_label(chart: Chart, mark: Mark, row: int, top: float) -> str:
    begin, _ = _label_span(chart.weeks, mark)
    return text(begin, _mark_y(row, top), _short(mark.label, _LABEL_CHARS), "w")


def _mark_y(row: int, top: float) -> float:
    return top - 30 - MARK_ROW * row


def _label_span(weeks: Sequence[Week], mark: Mark) -> tuple[float, float]:
    wide = _CHAR * len(_short(mark.label, _LABEL_CHARS))
    begin = min(max(_x(weeks, mark.day) - wide / 2, LEFT - 40), RIGHT - wide)
    return begin, begin + wide


# ── places ────────────────────────────────────────────────────────────────────────


def _runs(points: Sequence[tuple[float, float] | None]) -> str:
    """The lines between neighbours; a week without a value is a gap."""
    drawn: list[str] = []
    before: tuple[float, float] | None = None
    for here, following in pairwise((*points, None)):
        if here is not None and (before is not None or following is not None):
            drawn.append(f"{'M' if before is None else 'L'}{number(here[0])} {number(here[1])}")
        before = here
    return "".join(drawn)


def _centre(weeks: Sequence[Week], at: int) -> float:
    return LEFT + (RIGHT - LEFT) * (at + 0.5) / len(weeks)


def _x(weeks: Sequence[Week], day: date) -> float:
    return LEFT + (RIGHT - LEFT) * (day - weeks[0].monday).days / (7 * len(weeks))


def _short(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"
