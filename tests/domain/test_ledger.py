"""The ledger's verdicts: planted effects, the schedule, and what counts."""

from collections import Counter
from dataclasses import replace

import pytest

from benchmarks.ledger import EFFECTS, Effect, Result, episode, verdicts
from orgvault.domain.episode import Episode
from orgvault.domain.instants import days_before
from orgvault.domain.ledger import (
    Compared,
    Entry,
    Verdict,
    Window,
    before_shipping,
    in_words,
    judge,
    measured,
    next_look,
    other_models,
    others_shipped,
    window,
)
from orgvault.domain.ledger_file import read_entry, write_entry
from orgvault.domain.wake import Outcome

SHIPPED = "2026-03-16T09:00:00Z"
KEEP, REVERT, OPEN = Verdict.KEEP, Verdict.REVERT, Verdict.NOT_ENOUGH_EVIDENCE
MARGIN = 0.1


# ── planted effects ─────────────────────────────────────────────────────────────────────────


def test_the_clear_ones_are_right_in_95_of_100() -> None:
    results = [
        Result(effect, 60, Counter(verdicts(effect, 60, 2)))
        for effect in EFFECTS
        if Result(effect, 60, Counter()).clear
    ]
    assert {told for one in results for told in one.right} == {KEEP, REVERT}
    right = sum(one.share * one.verdicts.total() for one in results)
    assert right >= 0.95 * sum(one.verdicts.total() for one in results)
    assert all(one.share >= 0.9 for one in results)


def test_where_nothing_changed_nothing_is_undone() -> None:
    none = next(one for one in EFFECTS if one.name == "none")
    told = Counter(verdicts(none, 12, 2))
    assert told[REVERT] <= 0.05 * told.total()
    assert told[OPEN] >= 0.8 * told.total()


def test_too_little_is_always_not_enough() -> None:
    worse = Effect("much worse", 3, 5)
    for verdict in verdicts(worse, 0.5, 3):
        assert verdict is OPEN


# ── the rule ────────────────────────────────────────────────────────────────────────────────


def side(
    first: float, done: int, corrected: int, costs: float | None
) -> tuple[Window, list[Episode]]:
    """A window of done episodes that cost alike, from a day after shipping on."""
    since = days_before(SHIPPED, -first)
    found = [
        episode(f"e-{first:g}-{number}", days_before(since, -number * 13 / max(done, 1)), done=True,
                cost=None if costs is None else costs * (1 + 0.2 * (number % 2)))
        for number in range(done)
    ]  # fmt: skip
    made = window(found, {one.id for one in found[:corrected]}, since, days_before(since, -14))
    return made, found


def told(before: tuple[int, int, float | None], after: tuple[int, int, float | None]) -> Verdict:
    """The verdict on (done, corrected, cost of each) before and after."""
    (was, old), (now, new) = side(-14, *before), side(0, *after)
    return judge("imp-00000000", was, now, [*old, *new], MARGIN).verdict


def test_fewer_than_five_completed_cards_say_nothing() -> None:
    assert told((4, 0, 1.0), (400, 400, 9.0)) is OPEN
    assert told((400, 0, 1.0), (4, 4, 9.0)) is OPEN
    assert told((400, 0, 1.0), (5, 5, 9.0)) is REVERT


def test_either_number_alone_asks_for_undoing() -> None:
    assert told((60, 6, 1.0), (60, 40, 0.5)) is REVERT
    assert told((60, 40, 1.0), (60, 6, 2.0)) is REVERT


def test_one_that_is_better_and_one_that_nobody_can_tell_is_not_enough() -> None:
    assert told((60, 40, 1.0), (60, 6, 0.5)) is KEEP
    assert told((20, 7, 1.0), (20, 7, 0.5)) is OPEN


def test_a_little_worse_than_the_margin_allows_is_kept_when_it_is_certain() -> None:
    assert told((4000, 3000, 1.0), (4000, 3090, 1.05)) is KEEP
    assert told((4000, 3000, 1.0), (4000, 3090, 1.2)) is REVERT


def test_where_no_cost_is_known_corrections_decide() -> None:
    assert told((60, 40, None), (60, 6, None)) is KEEP
    assert told((60, 6, None), (60, 40, None)) is REVERT
    assert told((60, 40, None), (60, 6, 1.0)) is OPEN


def test_work_that_is_never_sent_back_is_not_worse_once_there_is_enough_of_it() -> None:
    assert told((30, 0, 1.0), (30, 0, 0.5)) is KEEP
    assert told((29, 0, 1.0), (30, 0, 0.5)) is OPEN
    assert told((60, 0, 1.0), (60, 0, 2.0)) is REVERT


def test_unpriced_episodes_do_not_make_a_change_look_cheap() -> None:
    was, old = side(-14, 60, 30, 1.0)
    now, new = side(0, 60, 5, 1.0)
    half = [replace(one, cost_usd=None) if n % 2 else one for n, one in enumerate(old)]
    was = window(half, {one.id for one in half[:30]}, was.since, was.until)
    found = judge("imp-00000000", was, now, [*half, *new], MARGIN)
    assert was.priced == 30
    assert found.cost is not None
    assert found.cost.low < 1.15
    assert found.cost.high < 1.2


# ── windows and looks ───────────────────────────────────────────────────────────────────────


def test_a_window_counts_as_the_statistics_do() -> None:
    since, until = before_shipping(SHIPPED)
    assert (since, until) == (days_before(SHIPPED, 14), SHIPPED)
    moments = [days_before(since, 1 / 86400), since, days_before(until, 1 / 86400), until]
    found = [episode(f"e-{n}", when, done=True, cost=0.1 * n) for n, when in enumerate(moments)]
    blocked = replace(found[2], id="e-9", outcome=Outcome.BLOCKED, cost_usd=None)
    made = window([*found, blocked], {"e-1", "e-3", "e-9"}, since, until)
    assert (made.episodes, made.done, made.corrected, made.priced) == (3, 2, 2, 2)
    assert made.cost_usd == 0.3
    assert window([blocked], set(), since, until).cost_usd is None


def test_the_looks_are_at_two_weeks_and_each_week_up_to_eight() -> None:
    looks, when = [], next_look(SHIPPED)
    while when is not None:
        looks.append(when)
        when = next_look(SHIPPED, when)
    assert looks == [days_before(SHIPPED, -7 * weeks) for weeks in range(2, 9)]


def entry(**more: object) -> Entry:
    """An entry that waits for its first look."""
    was, _ = side(-14, 20, 5, 1.0)
    made = Entry(
        card="imp-7f3k2q9d", agent="nova", memory_id="c-7f3k2q9d", shipped_commit="1" * 40,
        shipped_at=SHIPPED, shipped_by='Sam "the owner"', before=was, next_at=next_look(SHIPPED),
    )  # fmt: skip
    return replace(made, **more)  # type: ignore[arg-type]


def test_nothing_is_measured_before_its_time_or_after_its_verdict() -> None:
    early = days_before(SHIPPED, -13.99)
    assert measured(entry(), [], set(), MARGIN, early) == entry()
    done = entry(next_at=None, verdict=KEEP)
    assert measured(done, [], set(), MARGIN, days_before(SHIPPED, -99)) == done


def test_however_late_the_looks_are_taken_in_turn() -> None:
    _, old = side(-14, 60, 5, 1.0)
    _, new = side(0, 60, 0, 1.0)
    ids = {one.id for one in (*old[:5], *new[:40])}
    made = entry(before=window(old, ids, *before_shipping(SHIPPED)))
    now = days_before(SHIPPED, -80)
    found = measured(made, [*old, *new], ids, MARGIN, now)
    assert (found.verdict, found.next_at, found.measured_at) == (REVERT, None, now)
    assert found.after is not None
    assert found.after.until == days_before(SHIPPED, -14)


# ── what else may be behind it ──────────────────────────────────────────────────────────────


def test_other_changes_in_the_windows_are_named() -> None:
    after, _ = side(0, 5, 0, None)
    made = entry(after=after)
    others = [
        made,
        entry(card="imp-00000001", shipped_at=days_before(SHIPPED, 14)),
        entry(card="imp-00000002", shipped_at=days_before(SHIPPED, 14.1)),
        entry(card="imp-00000003", shipped_at=days_before(SHIPPED, -14)),
        entry(card="imp-00000004", shipped_at=days_before(SHIPPED, 60), reverted_at=SHIPPED),
        entry(card="imp-00000005", agent="juno"),
    ]
    assert others_shipped(made, others) == [
        "imp-00000001 was shipped on 2026-03-02", "imp-00000004 was taken back on 2026-03-16",
    ]  # fmt: skip


def test_another_model_is_named() -> None:
    (was, old), (now, new) = side(-14, 5, 0, None), side(0, 5, 0, None)
    made = entry(before=was, after=now)
    assert other_models(made, [*old, *new]) == []
    small = [replace(one, model="small-1") for one in new]
    assert other_models(made, [*old, *small]) == ["the model changed: large-5, then small-1"]
    unknown = [replace(one, model=None) for one in new]
    assert other_models(made, [*old, *unknown]) == []


# ── the file ────────────────────────────────────────────────────────────────────────────────

FULL = entry(
    after=side(0, 3, 1, 0.25)[0], margin=0.1, corrections=Compared(observed=None, low=0, high=9.5),
    cost=Compared(observed=1.5, low=0.25, high=1000), verdict=REVERT,
    measured_at=days_before(SHIPPED, -15), confounders=("the model changed: a, then b", "x: #y"),
    revert_card="imp-00000001", revert_refused=None, reverted_by_person="Kim",
    reverted_commit="2" * 40, reverted_at=days_before(SHIPPED, -20), reverts="imp-00000009",
)  # fmt: skip


@pytest.mark.parametrize("made", [entry(), FULL], ids=["waiting", "full"])
def test_an_entry_is_read_as_it_was_written(made: Entry) -> None:
    text = write_entry(made)
    assert read_entry(text, "x.yaml") == (made, ())
    assert write_entry(made) == text


def test_a_newer_entry_is_refused_by_name() -> None:
    text = write_entry(entry()).replace("version: 1", "version: 2")
    found, problems = read_entry(text, "x.yaml")
    assert found is None
    assert "format version 2" in str(problems[0])


def test_before_the_first_look_no_other_model_is_named_and_changes_read_as_factors() -> None:
    _, old = side(-14, 5, 0, None)
    assert other_models(entry(after=None), old) == []
    assert in_words(Compared(observed=0.5, low=0.25, high=1)) == "×0.5, between ×0.25 and ×1"
    assert in_words(Compared(observed=None, low=0, high=9.5)) == "between ×0 and ×9.5"
