"""`memory stats` counts what a plain reader of the rows counts, and names what it cannot count."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgvault.domain.access import Actor
from orgvault.domain.claim import ClaimKind, close, new_claim, superseding
from orgvault.domain.claim_file import write_claim
from orgvault.domain.episode import Correction, Episode
from orgvault.domain.ids import derived_id
from orgvault.domain.problem import Problem
from orgvault.domain.record import plain
from orgvault.domain.reflection import Reflection, Result
from orgvault.domain.roster import Agent, Roster
from orgvault.domain.wake import Trigger
from orgvault.errors import NotAllowed, UnknownAgent
from orgvault.services import measuring
from orgvault.services.desk import Desk
from orgvault.services.measuring import Stats, Work
from orgvault.store.entry import Row
from orgvault.store.logs import encode
from orgvault.store.vault import Vault
from tests.adapters.test_statistics import line
from tests.vaults import AT, NOVA, folder_in_memory, make_vault, message

NOW = "2026-11-21T00:00:00Z"
SEGMENT = "2026-11-{:04d}.nova.ab12.jsonl"


class Stopped:
    def now(self) -> str:
        return NOW

    def monotonic(self) -> float:
        return 0.0


@dataclass
class Place:
    """A vault with an agent nova, and its statistics."""

    root: Path

    def desk(self, actor: Actor | None = None) -> Desk:
        roster = Roster(
            guild="Harbor", owner="sam", operators=(), protected=(),
            agents={name: Agent(id=name, name=name.title()) for name in ("nova", "atlas")},
        )  # fmt: skip
        return Desk(
            Vault(str(self.root)), roster, actor or Actor("owner", "sam"), Stopped(),
            lambda count: b"\0" * count, "0", len,
        )  # fmt: skip

    def segment(self, *lines: str | bytes, log: str = "episodes", number: int = 1) -> str:
        """Write a segment of nova's; its path in the vault."""
        folder = f"{log}/nova" if log == "episodes" else log
        path = f".agents/org/{folder}/{SEGMENT.format(number)}"
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        raw = [one if isinstance(one, bytes) else one.encode() for one in lines]
        (self.root / path).write_bytes(b"".join(one + b"\n" for one in raw))
        return path

    def spool(self, *lines: str, log: str = "episodes") -> None:
        """Leave rows in the spool, as a write while somebody merges does."""
        merging = self.root / ".git/MERGE_HEAD"
        merging.write_text("0" * 40 + "\n")
        rows = [Row(log, "nova", str(json.loads(one)["id"]), one) for one in lines]
        Vault(str(self.root)).record(message("test(nova): rows"), NOVA, rows, AT)
        merging.unlink()

    def measure(self, days: int | None = None) -> tuple[Stats, list[Problem]]:
        return measuring.stats(self.desk(), "nova", days=days)

    def work(self, days: int | None = None) -> Work:
        """The figures of the episodes, where nothing is wrong."""
        measured, problems = self.measure(days)
        assert problems == []
        return measured.work

    def plainly(self, since: str = "") -> dict[str, Any]:
        """The same figures from `Logs.records`, counted with nothing but Python."""
        logs = Vault(str(self.root)).logs
        said: list[Problem] = []
        all_of = logs.records(Episode, "episodes", "nova", said)
        back = {c.episode for c in logs.records(Correction, "corrections", "nova", said)}
        found = [one for one in all_of if one.finished_at >= since]
        done = sum(one.outcome == "done" for one in found)
        micro = [whole(one.cost_usd, 6) for one in found if one.cost_usd is not None]
        turns = [one.turns for one in found if one.turns is not None]
        took = [whole(one.duration_s, 3) for one in found if one.duration_s is not None]
        corrected = sum(one.id in back for one in found)
        return {
            "episodes": len(found), "done": done, "corrected": corrected,
            "corrections": round(corrected / done, 6) if done else None,
            "cost": sum(micro) / 1e6 if micro else None,
            "cost of one": round(sum(micro) / done / 1e6, 6) if micro and done else None,
            "unpriced": len(found) - len(micro),
            "outcomes": counted(str(one.outcome) for one in found),
            "turns": (len(turns), sum(turns), max(turns, default=None)),
            "took": (len(took), sum(took) / 1000, max(took) / 1000 if took else None),
        }  # fmt: skip


def whole(value: float, digits: int) -> int:
    """A figure in whole parts of ten to the minus `digits`, halves away from zero."""
    return int(Decimal(value * 10**digits).quantize(Decimal(1), ROUND_HALF_UP))


def counted(words: Iterator[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return found


def as_plain(did: Work) -> dict[str, Any]:
    return {
        "episodes": did.episodes, "done": did.done, "corrected": did.corrected,
        "corrections": did.corrections_per_completed_card, "cost": did.cost_usd,
        "cost of one": did.cost_per_completed_card_usd, "unpriced": did.unpriced,
        "outcomes": {key: n for key, n in did.outcomes.items() if n},
        "turns": (did.turns.known, did.turns.total, did.turns.largest),
        "took": (did.duration_s.known, did.duration_s.total, did.duration_s.largest),
    }  # fmt: skip


def correction(number: int, episode: str) -> str:
    return encode(
        Correction(
            id=f"x-{number}", agent="nova", card="t-00000001", episode=episode, run="r-1",
            why="The links are dead.", actor="sam", at=AT,
        )
    )  # fmt: skip


@pytest.fixture
def place() -> Iterator[Place]:
    with folder_in_memory() as folder:
        yield Place(make_vault(folder / "v").root)


# ── the two numbers ─────────────────────────────────────────────────────────────────────────


def test_duck_01_a_cost_in_one_of_eleven_rows(place: Place) -> None:
    costs = [None] * 10 + [0.5]
    place.segment(*(line(id=f"e-{n}", cost_usd=cost) for n, cost in enumerate(costs)))
    did = place.work()
    assert (did.episodes, did.done, did.unpriced) == (11, 11, 10)
    assert (did.cost_usd, did.cost_per_completed_card_usd) == (0.5, 0.045455)


def test_corrections_count_each_episode_once(place: Place) -> None:
    place.segment(*(line(id=f"e-{n}", outcome="done" if n else "blocked") for n in range(4)))
    place.segment(*(correction(n, f"e-{n % 2}") for n in range(5)), log="corrections")
    did = place.work()
    assert (did.corrected, did.done, did.corrections_per_completed_card) == (2, 3, 0.666667)


def test_jsonl_07_no_done_card_is_no_number(place: Place) -> None:
    place.segment(line(outcome="error"))
    measured, _ = place.measure()
    assert measured.work.corrections_per_completed_card is None
    assert measured.work.cost_per_completed_card_usd is None
    assert measured.work.cost_usd == 0.25
    told = measuring.describe(measured)
    assert " ".join(told.splitlines()[1].split()).endswith("card n/a 0 corrected / 0 done")
    assert "nan" not in told
    assert "inf" not in told


def test_costs_that_nobody_knows_are_no_zero(place: Place) -> None:
    place.segment(line(cost_usd=None))
    did = place.work()
    assert (did.cost_usd, did.cost_per_completed_card_usd, did.unpriced) == (None, None, 1)


def test_an_agent_without_any_row(place: Place) -> None:
    measured, problems = place.measure()
    assert problems == []
    assert (measured.work.episodes, measured.work.outcomes["done"]) == (0, 0)
    assert measured.work.turns == measuring.Spread(0, 0, None, None)
    assert "n/a" in measuring.describe(measured)
    assert json.loads(json.dumps(plain(measured)))["work"]["cost_usd"] is None


def test_money_is_summed_without_a_rest(place: Place) -> None:
    place.segment(*(line(id=f"e-{n}", cost_usd=0.1) for n in range(30)))
    assert place.work().cost_usd == 3.0


# ── time ────────────────────────────────────────────────────────────────────────────────────


def test_duck_07_offsets_are_instants(place: Place) -> None:
    times = {
        "e-1": "2026-11-20T00:00:00Z", "e-2": "2026-11-19T23:59:59Z",
        "e-3": "2026-11-20T04:59:59+05:00", "e-4": "2026-11-20T05:00:00+05:00",
        "e-5": "2026-11-19T16:00:00-08:00", "e-6": "2026-11-20T00:00:00.25+00:00",
    }  # fmt: skip
    place.segment(*(line(id=key, finished_at=at) for key, at in times.items()))
    assert (place.work(days=1).episodes, place.work().episodes) == (4, 6)


@pytest.mark.parametrize(("days", "episodes"), [(0, 1), (1, 2), (2, 3), (None, 3)])
def test_days_are_24_hours_back_from_now(place: Place, days: int | None, episodes: int) -> None:
    for number, at in enumerate((NOW, "2026-11-20T00:00:00Z", "2026-11-19T00:00:00Z")):
        place.segment(line(id=f"e-{number}", finished_at=at), number=number + 1)
    assert place.work(days=days).episodes == episodes


# ── rows that do not fit ────────────────────────────────────────────────────────────────────

MARKERS = ("<<<<<<< HEAD", "=======", ">>>>>>> theirs")
BAD = {
    "DUCK-02 2.7": (line(id="e-9", turns=2.7), "turns"),
    "DUCK-02 true": (line(id="e-9", turns=True), "turns"),
    'DUCK-02 "3"': (line(id="e-9", turns="3"), "turns"),
    "JSONL-01 torn": (line(id="e-9")[:50], "not a row"),
    "JSONL-08 twice": (line(id="e-9")[:-1] + ',"turns":9}', "twice"),
    "NaN": (line(id="e-9").replace("0.25", "NaN"), "NaN"),
    "1e400": (line(id="e-9").replace("0.25", "1e400"), "finite"),
    "newer format": (line(id="e-9", v=2), "newer"),
    "unknown key": (line(id="e-9", extra=1), "extra"),
    "unknown outcome": (line(id="e-9", outcome="finished"), "outcome"),
    "not UTF-8": (b'{"id":"\xff"}', "UTF-8"),
    "30 February": (line(id="e-9", finished_at="2026-02-30T00:00:00Z"), "finished_at"),
    "turns without end": (line(id="e-9", turns=10**400), "too large"),
    "all the money": (line(id="e-9", cost_usd=1e300), "too large"),
}


@pytest.mark.parametrize(("bad", "said"), BAD.values(), ids=BAD)
def test_a_bad_row_is_named_and_every_good_one_counted(
    place: Place, bad: str | bytes, said: str
) -> None:
    place.segment(line(id="e-1"))
    path = place.segment(line(id="e-2"), bad, line(id="e-3"), number=2)
    measured, problems = place.measure()
    assert measured.work.episodes == 3
    assert [(one.file, one.line) for one in problems] == [(path, 2)]
    assert said in str(problems[0])


def test_duck_05_git_11_conflict_markers_hide_no_row(place: Place) -> None:
    path = place.segment(MARKERS[0], line(id="e-1"), MARKERS[1], line(id="e-2"), MARKERS[2])
    measured, problems = place.measure()
    assert measured.work.episodes == 2
    assert [(one.file, one.line) for one in problems] == [(path, 1), (path, 3), (path, 5)]


def test_jsonl_04_nuls_are_reported_and_both_rows_read(place: Place) -> None:
    path = place.segment(line(id="e-1"), b"\0" * 4096 + line(id="e-2").encode())
    measured, problems = place.measure()
    assert measured.work.episodes == 2
    assert [(one.file, one.line) for one in problems] == [(path, 2)]


def test_a_bad_correction_is_named_too(place: Place) -> None:
    place.segment(line(id="e-1"), line(id="e-2"))
    path = place.segment(correction(1, "e-1"), "{", correction(2, "e-2"), log="corrections")
    measured, problems = place.measure()
    assert measured.work.corrected == 2
    assert [(one.file, one.line) for one in problems] == [(path, 2)]


# ── each row once ───────────────────────────────────────────────────────────────────────────


def test_spooled_rows_count(place: Place) -> None:
    place.segment(line(id="e-1"))
    place.spool(line(id="e-2"), line(id="e-3", outcome="error"))
    place.spool(correction(1, "e-2"), log="corrections")
    did = place.work()
    assert (did.episodes, did.done, did.corrected) == (3, 2, 1)


def test_a_row_in_spool_and_segment_counts_once(place: Place) -> None:
    place.segment(line(id="e-1"), line(id="e-2"))
    place.spool(line(id="e-2"))
    assert place.work().episodes == 2


def test_a_union_merge_counts_each_row_once(place: Place) -> None:
    place.segment(line(id="e-1"), line(id="e-2"), line(id="e-1"))
    place.segment(line(id="e-2"), line(id="e-3"), number=2)
    assert place.work().episodes == 3


def test_the_same_id_with_other_content_is_a_problem(place: Place) -> None:
    place.segment(line(id="e-1", turns=3))
    path = place.segment(line(id="e-2"), line(id="e-1", turns=4), number=2)
    measured, problems = place.measure()
    assert measured.work.episodes == 2
    assert measured.work.turns.total == 6
    assert [(one.file, one.line) for one in problems] == [(path, 2)]


def test_a_torn_row_that_was_written_again_counts(place: Place) -> None:
    place.segment(line(id="e-1"), line(id="e-2")[:300])
    place.segment(line(id="e-2"), number=2)
    measured, problems = place.measure()
    assert (measured.work.episodes, len(problems)) == (2, 1)


# ── the same as counting ────────────────────────────────────────────────────────────────────

TIMES = st.sampled_from(
    [AT, "2026-11-20T00:00:00Z", "2026-11-20T04:59:59+05:00", "2020-02-29T00:00:00Z"]
)  # fmt: skip
MONEY = st.none() | st.floats(0, 1000) | st.integers(0, 9) | st.sampled_from([5e-05, 1e-07, 0.1])
GOOD = st.fixed_dictionaries(
    {
        "id": st.integers(1, 12).map(lambda n: f"e-{n}"),
        "turns": st.none() | st.integers(0, 10**6),
        "cost_usd": MONEY,
        "duration_s": MONEY,
        "outcome": st.sampled_from(["done", "blocked", "request_changes", "no_report", "error"]),
        "summary": st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
        "finished_at": TIMES,
    }
).map(lambda changes: line(**changes))
WORSE: list[Callable[[str], str]] = [
    lambda one: one[: len(one) // 2], lambda one: one + one, lambda one: " " + one + "\r",
    lambda one: one.replace('"turns":', '"turn":'), lambda one: one.replace('":', '": '),
    lambda one: one.replace('"v":1', '"v":2'), lambda one: one[:-1] + ',"turns":1}',
    lambda one: one.replace('"exit_code":0', '"exit_code":"0"'), lambda _: "=======", lambda _: "",
    lambda one: "\0" + one, lambda one: json.dumps(json.loads(one), sort_keys=True),
]  # fmt: skip
ANY = GOOD | st.builds(lambda spoil, one: spoil(one), st.sampled_from(WORSE), GOOD)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(ANY, max_size=8), max_size=4), st.lists(GOOD, max_size=3),
    st.sets(st.integers(1, 12), max_size=5), st.sampled_from([None, 1]),
)  # fmt: skip
def test_any_log_comes_to_what_a_plain_reader_counts(
    segments: list[list[str]], spooled: list[str], sent_back: set[int], days: int | None
) -> None:
    with folder_in_memory() as folder:
        place = Place(make_vault(folder / "v").root)
        for number, lines in enumerate(segments, 1):
            place.segment(*lines, number=number)
        place.segment(*(correction(n, f"e-{n}") for n in sent_back), log="corrections")
        if spooled:
            place.spool(*spooled)
        measured, problems = place.measure(days)
        since = "2026-11-20T00:00:00Z" if days else ""
        assert as_plain(measured.work) == place.plainly(since)
        expected: list[Problem] = []
        Vault(str(place.root)).logs.records(Episode, "episodes", "nova", expected)
        assert set(expected) <= set(problems)
        assert bool(expected) == bool(problems)


# ── the rest ────────────────────────────────────────────────────────────────────────────────


def test_claims_by_kind_and_state(place: Place) -> None:
    kinds = [ClaimKind.LESSON, ClaimKind.LESSON, ClaimKind.FRICTION]
    texts = ["I read first.", "I run the linter.", "I lose a turn."]
    made = [
        new_claim(f"c-0000000{n}", "nova", kind, text, "r-1", AT, "reflection")
        for n, (kind, text) in enumerate(zip(kinds, texts, strict=True))
    ]
    newer = superseding(made[1], "c-00000009", "I run it always.", "sam", AT)
    folder = place.root / ".agents/org/memory/nova"
    for state, claims in (
        ("claims", [made[0], newer]),
        (
            "closed",
            [close(made[1], "sam", "edited", AT, newer.id), close(made[2], "sam", "no", AT)],
        ),
    ):
        (folder / state).mkdir(parents=True)
        for claim in claims:
            (folder / state / f"{claim.id}.yaml").write_text(write_claim(claim))
    measured, problems = place.measure()
    assert problems == []
    assert measured.claims["lesson"] == {"active": 2, "superseded": 1, "retired": 0}
    assert measured.claims["friction"] == {"active": 0, "superseded": 0, "retired": 1}


def test_reflections_by_result_and_drops_by_reason(place: Place) -> None:
    def reflection(run: str, **changes: Any) -> str:  # noqa: ANN401
        row = {
            "v": 1, "id": derived_id("r", run), "agent": "nova", "run": run, "at": AT,
            "trigger": "wake_done", "result": "applied", "calls": 1, "cost_usd": 0.00005,
        }  # fmt: skip
        return json.dumps(row | changes)

    stale, good = {"op": "add", "verdict": "stale"}, {"op": "add", "verdict": "accepted"}
    place.segment(
        reflection("r-1", operations=[stale, good, stale]),
        reflection("r-2", operations=[{"op": "add", "verdict": "a secret"}], cost_usd=None),
        reflection("r-3", result="skipped", calls=0, cost_usd=None),
        reflection("r-4", calls=2.5),
        log="reflections",
    )
    measured, problems = place.measure()
    learned = measured.reflections
    assert [one.line for one in problems] == [4]
    assert (learned.reflections, learned.calls) == (3, 2)
    assert (learned.cost_usd, learned.unpriced) == (0.00005, 1)
    assert {key: n for key, n in learned.results.items() if n} == {"applied": 2, "skipped": 1}
    assert (learned.accepted, learned.dropped) == (1, {"stale": 2, "a secret": 1})


def test_a_reflection_reads_as_it_is_written(place: Place) -> None:
    one = Reflection(
        id="r-1", agent="nova", run="r-1", at=AT, trigger=Trigger.WAKE_DONE, result=Result.APPLIED
    )
    place.segment(encode(one), log="reflections")
    assert place.measure()[0].reflections.reflections == 1


def test_proposals_of_the_agent(place: Place) -> None:
    folder = place.root / "Org/Backlog"
    folder.mkdir(parents=True)
    for number, (agent, status) in enumerate(
        [("nova", "open"), ("nova", "shipped"), ("nova", "closed"), ("atlas", "shipped")]
    ):
        card = f"imp-0000000{number}"
        (folder / f"{card}.md").write_text(
            f"---\nversion: 1\nid: {card}\nkind: improve\nstatus: {status}\ntitle: Better\n"
            f"author: nova\nassignee: ''\nagent: {agent}\ncreated: {AT}\n---\nText.\n"
        )
    measured, problems = place.measure()
    assert problems == []
    assert measured.proposals == measuring.Proposed(3, 1, 1)


def test_the_figures_as_a_person_reads_them(place: Place) -> None:
    place.segment(line(id="e-1"), line(id="e-2", outcome="error", cost_usd=None, turns=6))
    told = measuring.describe(place.measure(days=7)[0]).splitlines()
    assert told[0] == "nova, the last 7 days"
    assert [" ".join(one.split()) for one in told[1:5]] == [
        "corrections per completed card 0.00 0 corrected / 1 done",
        "cost per completed card $0.2500 $0.2500 / 1 done, 1 unpriced",
        "episodes 2 1 done, 1 error",
        "turns 4.5 on average, 9 in all, at most 6, 2 known",
    ]


def test_only_who_may_read_the_agent_sees_its_figures(place: Place) -> None:
    with pytest.raises(NotAllowed):
        measuring.stats(place.desk(Actor("agent", "atlas")), "nova", days=None)
    with pytest.raises(UnknownAgent):
        measuring.stats(place.desk(), "nobody", days=None)


def test_another_agents_rows_are_not_counted(place: Place) -> None:
    place.segment(line(id="e-1"))
    other = place.root / ".agents/org/episodes/atlas"
    other.mkdir()
    (other / SEGMENT.format(1)).write_text(line(id="e-2", agent="atlas") + "\n")
    assert place.work().episodes == 1
