"""The picture of the weeks: what it shows, and that it is the same for the same weeks."""

import re
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgvault.adapters.axis import dollars, plain, scale
from orgvault.adapters.plot import Chart, Mark, Week, draw
from orgvault.domain.access import Actor
from orgvault.services import plotting
from orgvault.services.desk import Desk
from orgvault.store.roster import load
from orgvault.store.vault import Vault
from tests.adapters.test_statistics import line
from tests.harbor import Harbor, make_harbor

if TYPE_CHECKING:
    from collections.abc import Sequence

MONDAY = date(2026, 10, 5)
SVG = "{http://www.w3.org/2000/svg}"


def weeks(count: int, first: date = MONDAY) -> tuple[Week, ...]:
    """Made-up weeks, the same every time; some without a card, or without a cost."""
    return tuple(
        Week(
            first + timedelta(weeks=at), at * 7 % 11, at * 7 % 11 * (at % 4) // 4,
            None if at % 9 == 8 else at * 7 % 11 * (0.2 + at % 5 / 10),
        )
        for at in range(1, count + 1)
    )  # fmt: skip


def chart(shown: "Sequence[Week]", title: str = "Nova (nova)") -> Chart:
    done = sum(one.done for one in shown)
    corrected = sum(one.corrected for one in shown)
    return Chart(
        title, "So many cards", tuple(shown), corrected / done if done else None,
        sum(one.cost_usd or 0 for one in shown) / done if done else None, "0.20 over all", "$0.40",
    )  # fmt: skip


def texts(svg: str) -> list[str]:
    """All words of a picture that are shown."""
    root = ET.fromstring(svg)  # noqa: S314 - our own text
    return [one.text or "" for one in root.iter(f"{SVG}text")]


# ── the drawing ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("count", [0, 1, 2, 8, 9, 10, 26, 40, 41, 52, 104, 156, 260])
def test_a_picture_is_sound_at_any_length(count: int) -> None:
    svg = draw(chart(weeks(count)), [Mark(MONDAY + timedelta(days=10), "imp-7f3k2q9d")])
    root = ET.fromstring(svg)  # noqa: S314 - our own text
    _, _, wide, high = (float(n) for n in root.attrib["viewBox"].split())
    for one in root.iter():
        for name in ("x", "x1", "x2", "cx"):
            assert 0 <= float(one.attrib.get(name, 0)) <= wide
        for name in ("y", "y1", "y2", "cy"):
            assert 0 <= float(one.attrib.get(name, 0)) <= high
    assert not re.search(r"nan|inf\b|None|e-\d", svg.partition("</style>")[2].replace("info", ""))
    if count:
        shown = texts(svg)
        for words in ("Corrections per completed card", "Cost per completed card"):
            assert words in shown
        dates = [words for words in shown if re.fullmatch(r"(\d+ )?[A-Z][a-z]{2}( \d{4})?", words)]
        assert 1 <= len(dates) <= 9
        assert re.search(r"\d{4}$", dates[0])
    else:
        assert "Nothing finished yet." in texts(svg)


def test_it_holds_no_script_and_loads_nothing() -> None:
    svg = draw(
        chart(weeks(60), '<script src="x">&'), [Mark(MONDAY + timedelta(days=9), "<b>\x00\ud800")]
    )
    names = {one.tag.removeprefix(SVG) for one in ET.fromstring(svg).iter()}  # noqa: S314
    assert names <= {"svg", "title", "desc", "style", "rect", "text", "line", "path", "g", "circle"}
    assert not re.search(r"href|url\(|@import|\bon\w+=|data:", svg)
    assert svg.count("http") == 1  # the name space
    assert '<script src="x">&' in texts(svg)
    svg.encode()


def test_the_same_weeks_are_the_same_bytes() -> None:
    marks = [Mark(MONDAY + timedelta(days=n), f"imp-{n}") for n in (40, 12, 40)]
    assert draw(chart(weeks(30)), marks) == draw(chart(weeks(30)), list(reversed(marks)))


def test_it_has_words_to_be_read_aloud_and_colours_for_the_dark() -> None:
    svg = draw(chart(weeks(5)))
    assert 'role="img" aria-labelledby="t d"' in svg
    assert '<title id="t">Nova (nova)</title>' in svg
    assert "@media (prefers-color-scheme:dark)" in svg
    assert "<title>Week of 12 Oct 2026: " in svg


def test_a_week_without_a_card_is_a_gap() -> None:
    some = [Week(MONDAY + timedelta(weeks=at), at != 2, 0, 0.5) for at in range(5)]
    svg = draw(chart(some))
    (corrections, cost) = re.findall(r'<path d="([^"]*)"', svg)
    assert (corrections.count("M"), cost.count("M")) == (2, 2)
    assert svg.count("<circle") == 8


def test_a_week_alone_is_a_dot() -> None:
    svg = draw(chart([Week(MONDAY, 3, 1, 0.5)]))
    assert "<path" not in svg
    assert svg.count("<circle") == 2
    assert "5 Oct 2026" in texts(svg)


def test_many_weeks_have_a_line_over_four_of_them() -> None:
    assert "lines over 4 weeks" not in draw(chart(weeks(40)))
    assert "lines over 4 weeks" in draw(chart(weeks(41)))


def test_marks_have_a_line_and_a_label_each_with_room() -> None:
    marks = [Mark(MONDAY + timedelta(days=10 + n), f"imp-0000000{n}") for n in range(4)]
    outside = [Mark(MONDAY - timedelta(days=60), "before"), Mark(date(2030, 1, 1), "after")]
    svg = draw(chart(weeks(60)), [*marks, *outside])
    assert svg.count('class="k"') == 4
    places = re.findall(r'<text x="([^"]*)" y="([^"]*)" class="w">imp-', svg)
    assert len({y for _, y in places}) == 4  # one above the other
    assert "before" not in svg
    assert "after" not in svg


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(1e-7, 1e9), min_size=1, max_size=5))
def test_an_axis_holds_its_values_in_a_few_round_steps(values: list[float]) -> None:
    step, most = scale(values)
    assert max(values) <= most * (1 + 1e-6)
    assert 1 <= round(most / step) <= 5


@pytest.mark.parametrize(
    ("value", "step", "number", "money"),
    [(0.25, 0.25, "0.25", "$0.25"), (0.0, 0.2, "0.0", "$0.00"), (1500, 500, "1,500", "$1,500"),
     (0.0004, 0.0002, "0.000", "$0.0004"), (2.5, 2.5, "2.5", "$2.50")],
)  # fmt: skip
def test_values_are_written_as_their_steps_need(
    value: float, step: float, number: str, money: str
) -> None:
    assert (plain(value, step), dollars(value, step)) == (number, money)


# ── the weeks ───────────────────────────────────────────────────────────────────────────────


class Stopped:
    def now(self) -> str:
        return "2026-11-30T00:00:00Z"

    def monotonic(self) -> float:
        return 0.0


@pytest.fixture
def place(tmp_path: Path) -> Harbor:
    return make_harbor(tmp_path)


def drawn(place: Harbor, *lines: str, days: int | None = None) -> str:
    """The picture of juno when these are all of its episodes."""
    folder = place.root / ".agents/org/episodes/juno"
    for path in folder.iterdir():
        path.unlink()
    (folder / "2026-11-0001.juno.ab12.jsonl").write_text("".join(one + "\n" for one in lines))
    vault = Vault(str(place.root))
    desk = Desk(
        vault, load(vault)[0], Actor("owner", "sam"), Stopped(), lambda n: b"\0" * n, "0", len
    )
    made, problems = plotting.plot(desk, "juno", str(place.root / "x.svg"), days=days)
    assert problems == []
    plotting.save(made)
    return (place.root / "x.svg").read_text("utf-8")


def at(row_id: int, when: str, **more: object) -> str:
    return line(id=f"e-{row_id}", agent="juno", finished_at=when, **more)


def test_a_week_begins_on_monday_in_utc(place: Harbor) -> None:
    svg = drawn(
        place,
        at(1, "2026-11-01T23:59:59Z"), at(2, "2026-11-02T00:00:00Z"), at(3, "2026-11-08T23:59:59Z"),
        at(4, "2026-11-09T01:00:00+02:00", cost_usd=None), at(5, "2026-11-16T00:00:00Z"),
    )  # fmt: skip
    told = re.findall(r"<title>Week of ([^:]*): (\d+) completed</title>", svg)
    assert told == [("26 Oct 2026", "1"), ("2 Nov 2026", "3"), ("16 Nov 2026", "1")]
    assert "5 completed cards in 5 episodes" in svg
    assert "1 of 5 episodes unpriced" in svg
    shown = texts(svg)
    assert [one for one in shown if one.endswith(" Nov")] == ["2 Nov", "9 Nov", "16 Nov"]


def test_figures_of_a_week_are_its_own(place: Harbor) -> None:
    svg = drawn(
        place, at(1, "2026-11-02T00:00:00Z", cost_usd=1.5),
        at(2, "2026-11-03T00:00:00Z", outcome="error", cost_usd=0.5),
        at(3, "2026-11-04T00:00:00Z", cost_usd=1.0),
    )  # fmt: skip
    assert "<title>Week of 2 Nov 2026: $1.500, 2 completed</title>" in svg
    assert "$1.50 over all weeks (dashed)" in svg


def test_nothing_is_a_picture_too(place: Harbor) -> None:
    assert "Nothing finished yet." in drawn(place)
    assert "Nothing finished yet." in drawn(place, at(1, "2026-10-01T00:00:00Z"), days=3)
    assert "the last 3 days" in drawn(place, days=3)


def test_clocks_that_were_wrong_stretch_no_axis(place: Harbor) -> None:
    svg = drawn(
        place, at(1, "1970-01-02T00:00:00Z"), at(2, "2026-11-02T00:00:00Z"),
        at(3, "2938-01-01T00:00:00Z"),
    )  # fmt: skip
    assert svg.count("<title>Week of") == 3
    assert "2938" not in svg
    assert "1970" not in svg
