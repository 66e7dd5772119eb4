"""Claims as files: stable, exact, and legal to edit by hand."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from orgvault.domain.claim import Claim, ClaimKind, close, new_claim
from orgvault.domain.claim_file import close_claim_text, read_claim, updated_claim_text, write_claim
from orgvault.domain.record import plain

FILE = ".agents/org/memory/nova/claims/c-7f3k2q9d.yaml"
AT, LATER = "2026-06-29T09:14:03Z", "2026-11-27T16:40:51Z"
TEXT = "I lose a turn whenever I run the site build before installing its dependencies."
CLAIM = replace(
    new_claim("c-7f3k2q9d", "nova", ClaimKind.FRICTION, TEXT, "run-0412", AT, "reflection"),
    evidence=("run-0412", "2026-06-13T01:21:19Z"),
    times_seen=2,
    supersedes="c-1m8p0r4t",
)
WRITTEN = f"""\
version: 1
id: c-7f3k2q9d
agent: nova
kind: friction
text: "{TEXT}"
evidence: [run-0412, "2026-06-13T01:21:19Z"]
times_seen: 2
first_seen: {AT}
last_seen: {AT}
written_by: reflection
supersedes: c-1m8p0r4t
proposal: null
proposed_evidence: []
seal: "{CLAIM.seal}"
"""


def faults(text: str) -> list[str]:
    claim, problems = read_claim(text, FILE)
    assert (claim is None) == bool(problems)
    return [str(one).removeprefix(f"{FILE}:") for one in problems]


def test_one_key_a_line_and_only_what_there_is() -> None:
    assert write_claim(CLAIM) == WRITTEN
    assert read_claim(WRITTEN, FILE) == (CLAIM, ())


def test_the_form_of_the_specification_is_read() -> None:
    text = WRITTEN.replace("version: 1\n", "# a comment\n")
    text = text.replace(f'"{TEXT}"', TEXT).replace(f'"{CLAIM.seal}"', CLAIM.seal)
    assert read_claim(text, FILE) == (CLAIM, ())


RUNS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,20}", fullmatch=True)
TEXTS = st.text(max_size=60)
CLAIMS = st.builds(
    replace,
    st.just(CLAIM),
    kind=st.sampled_from(ClaimKind),
    agent=st.sampled_from(["nova", "no", "null", "on", "true", "y"]),
    text=TEXTS,
    evidence=st.lists(RUNS, max_size=4).map(tuple),
    times_seen=st.integers(0, 10**6),
    written_by=TEXTS,
    proposal=st.sampled_from([None, "imp-00000000", "t-7f3k2q9d"]),
    proposed_evidence=st.lists(RUNS, max_size=2).map(tuple),
    seal=st.from_regex(r"[0-9a-f]{16}", fullmatch=True),
)
CLOSED = st.builds(close, CLAIMS, by=TEXTS, reason=TEXTS, at=st.just(LATER))


@given(CLAIMS | CLOSED)
def test_what_is_written_is_read_back_the_same(claim: Claim) -> None:
    text = write_claim(claim)
    assert read_claim(text, FILE) == (claim, ())
    given_keys = [key for key, value in plain(claim).items() if value is not None]
    lines = [line for line in text.split("\n")[:-1] if line != "proposal: null"]
    assert [line.split(":")[0] for line in lines] == given_keys


@given(CLAIMS)
def test_ruamel_reads_the_same_values(claim: Claim) -> None:
    theirs = YAML(typ="rt").load(write_claim(claim))
    times = {"first_seen", "last_seen"}
    ours = plain(claim)
    assert {key: value for key, value in theirs.items() if key not in times} == {
        key: ours[key] for key in theirs if key not in times
    }


def test_yaml_06_retiring_adds_lines_at_the_end_and_nothing_else() -> None:
    retired = close(CLAIM, "sam", "it's no: longer true", LATER)
    assert close_claim_text(WRITTEN, retired) == WRITTEN + (
        f'closed_at: {LATER}\nclosed_by: sam\nreason: "it\'s no: longer true"\n'
    )
    superseded = close(CLAIM, "sam", "reworded", LATER, "c-00000000")
    assert close_claim_text(WRITTEN, superseded).endswith("\nsuperseded_by: c-00000000\n")


BY_HAND = f"""\
# mine
text: >-
  I lose a turn whenever I run the site build
  before installing its dependencies.   # not a comment
kind:   friction
id: 'c-7f3k2q9d'
agent: nova

evidence:
  - run-0412
times_seen: 2
first_seen: 2026-06-29T11:14:03+02:00   # a comment
last_seen: {AT}
written_by: reflection
seal: '0123456789abcdef'"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n", "\n\n# the end\n"])
def test_yaml_06_a_text_edited_by_hand_keeps_every_line(end: str, last: str) -> None:
    text = (BY_HAND + last).replace("\n", end)
    claim, problems = read_claim(text, FILE)
    assert problems == ()
    assert claim is not None
    assert claim.first_seen == AT
    assert claim.edited_by_hand
    closed = close(claim, "kim", "why", LATER)
    after = close_claim_text(text, closed)
    gap = "" if last else end
    assert after == f'{text}{gap}closed_at: {LATER}{end}closed_by: kim{end}reason: "why"{end}'
    assert read_claim(after, FILE) == (closed, ())


def seen_again(claim: Claim, *runs: str) -> Claim:
    evidence = (*claim.evidence, *runs)[-3:]
    return replace(claim, evidence=evidence, times_seen=claim.times_seen + 1, last_seen=LATER)


@given(CLAIMS, CLAIMS)
def test_yaml_06_our_own_file_gives_the_same_bytes_when_values_change(a: Claim, b: Claim) -> None:
    after = replace(b, text=a.text, kind=a.kind)
    assert updated_claim_text(write_claim(a), after) == write_claim(after)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_yaml_06_a_repeat_changes_only_its_values(end: str) -> None:
    text = BY_HAND.replace("  - run-0412\n", "  # first\n  - run-0412  # one\n  - 'run-0413'\n")
    text = text.replace(f"last_seen: {AT}", f"last_seen:  {AT}  # last").replace("\n", end)
    claim, problems = read_claim(text, FILE)
    assert problems == ()
    assert claim is not None
    again = seen_again(claim, "run-0414")
    after = (
        text.replace(f"  - 'run-0413'{end}", f"  - 'run-0413'{end}  - run-0414{end}")
        .replace("times_seen: 2", "times_seen: 3")
        .replace(f"last_seen:  {AT}", f"last_seen:  {LATER}")
    )
    assert updated_claim_text(text, again) == after
    forgetful = seen_again(again, "run-0415")
    assert forgetful.evidence[0] == "run-0413"
    twice = updated_claim_text(after, forgetful)
    assert read_claim(twice, FILE) == (forgetful, ())
    assert f"  - 'run-0413'{end}  - run-0414{end}  - run-0415{end}" in twice
    assert "# not a comment" in twice
    assert twice.startswith("# mine" + end)


def test_yaml_06_a_list_in_brackets_keeps_its_comments() -> None:
    text = WRITTEN.replace("[run-0412, ", "[ run-0412,  # one\n  ").replace("proposal: null\n", "")
    claim, _ = read_claim(text, FILE)
    assert claim is not None
    again = replace(claim, evidence=(*claim.evidence, "run-9"), proposal="imp-00000000")
    after = text.replace('Z"]', 'Z", run-9]') + "proposal: imp-00000000\n"
    assert updated_claim_text(text, again) == after


def test_what_cannot_be_spliced_is_written_anew() -> None:
    values = {key: value for key, value in plain(CLAIM).items() if value is not None}
    braces = str(values).replace("'", '"') + "\n"
    again = seen_again(CLAIM, "run-9")
    for text in (braces, "no claim", WRITTEN.replace("times_seen: 2", "times_seen: &a 2")):
        assert read_claim(updated_claim_text(text, again), FILE) == (again, ())


def test_a_text_that_nothing_can_be_added_to_is_written_anew() -> None:
    values = {key: value for key, value in plain(CLAIM).items() if value is not None}
    for text in (
        str(values).replace("'", '"') + "\n",
        f"---\n{WRITTEN}...\n",
        f"{WRITTEN}reason:\n",
    ):
        claim, problems = read_claim(text, FILE)
        assert problems == ()
        assert claim is not None
        closed = close(claim, "sam", "why", LATER)
        assert read_claim(close_claim_text(text, closed), FILE) == (closed, ())


def test_jsonl_10_conflict_markers_in_a_claim_are_a_hard_error() -> None:
    text = WRITTEN.replace(
        "times_seen: 2\n", "<<<<<<< HEAD\ntimes_seen: 2\n=======\ntimes_seen: 3\n>>>>>>> b\n"
    )
    (fault,) = faults(text)
    assert fault.startswith("7: a conflict marker of git (`<<<<<<<`)")


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("times_seen: 2", "times_seen: two", "7: times_seen: expected a whole number"),
        ("kind: friction", "kind: frictoin", "4: kind: `frictoin` is not one of"),
        ("run-0412,", "1.10,", '6: evidence[0]: expected text, found 1.10, quote it ("1.10")'),
        ("run-0412,", "0412,", "6: evidence[0]: `0412` unquoted is a number of another base"),
        ("agent: nova", "agent: no", "3: agent: `no` unquoted is true or false"),
        ("version: 1", "version: 7", "1: format version 7, and this orgvault knows 1"),
        ("proposal:", "propsal:", "12: propsal: unknown key `propsal`, did you mean `proposal`?"),
        (f"first_seen: {AT}", "first_seen: 2026-06-29", "8: first_seen: `2026-06-29` unquoted"),
        (f"first_seen: {AT}", "first_seen: 2026-02-30T00:00:00Z", "8: first_seen: "),
        (f"first_seen: {AT}", "first_seen: 0001-01-01T00:00:00+23:00", "8: first_seen: "),
        ("agent: nova", "agent: nova\nagent: nova", "4: the key `agent` is written twice"),
        ('"2026-', "2026-", "6: a `:` in an unquoted text inside [ ] or { }"),
        (f'"{TEXT}"', "a: b", "5: a `: ` inside an unquoted text"),
    ],
)
def test_a_fault_with_its_line(before: str, after: str, fault: str) -> None:
    assert faults(WRITTEN.replace(before, after))[0].startswith(fault)


@given(st.text() | st.lists(st.sampled_from(WRITTEN.splitlines()), max_size=16).map("\n".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    faults(text)
    closed = close(CLAIM, "sam", "why", LATER)
    assert read_claim(close_claim_text(text, closed), FILE) == (closed, ())
