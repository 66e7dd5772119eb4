"""A proposal's file: the same record gives the same bytes, and is read back whole or not at all."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from orgvault.domain.proposal import Edit, Proposal, Target
from orgvault.domain.proposal_file import read_proposal, write_proposal

PROPOSAL = Proposal(
    id="imp-7f3k2q9d", agent="nova", memory_id="c-7f3k2q9d", target=Target.OWN_PROMPT,
    path=".agents/org/org.yaml",
    edits=(
        Edit(key="goal", before=("A site: that 'builds'.",), after=("A site\nthat # builds.",)),
        Edit(key="principles", before=None, after=("One.", "- Two.")),
    ),
    base="1" * 40, base_blob="2" * 40, diff_sha256="3" * 64,
    flags=('it speaks of permissions: "run without asking"',),
    evidence=("run-1", "12:30"), created="2026-11-20T09:14:03Z", expires="2026-12-20T09:14:03Z",
)  # fmt: skip

TEXT = """\
version: 1
id: imp-7f3k2q9d
agent: nova
memory_id: c-7f3k2q9d
target: own_prompt
path: ".agents/org/org.yaml"
edits:
  - key: goal
    before:
      - "A site: that 'builds'."
    after:
      - "A site\\nthat # builds."
  - key: principles
    before: null
    after:
      - "One."
      - "- Two."
base: "1111111111111111111111111111111111111111"
base_blob: "2222222222222222222222222222222222222222"
diff_sha256: "3333333333333333333333333333333333333333333333333333333333333333"
flags: ["it speaks of permissions: \\"run without asking\\""]
evidence: [run-1, "12:30"]
created: 2026-11-20T09:14:03Z
expires: 2026-12-20T09:14:03Z
"""


def test_a_proposal_is_written_one_key_a_line_and_read_back() -> None:
    assert write_proposal(PROPOSAL) == TEXT
    assert read_proposal(TEXT, "p.yaml") == (PROPOSAL, ())


def test_a_reverse_without_claim_or_evidence_is_read_back_too() -> None:
    other = replace(
        PROPOSAL, memory_id=None, reverts="imp-00000000", evidence=(), flags=(),
        shipped_commit="0" * 40, edits=(Edit(key="body", before=(), after=("x", "")),),
    )  # fmt: skip
    assert read_proposal(write_proposal(other), "p.yaml") == (other, ())


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))), st.none() | st.text("a\n: "))
def test_any_text_survives_the_file(before: list[str], after: str | None) -> None:
    edit = Edit(key="body", before=tuple(before), after=None if after is None else (after,))
    proposal = replace(PROPOSAL, edits=(edit,))
    assert read_proposal(write_proposal(proposal), "p.yaml") == (proposal, ())


def test_every_fault_has_its_line_and_nothing_is_read_by_halves() -> None:
    text = TEXT.replace("own_prompt", "own_everything").replace("key: goal", "kee: goal")
    read, problems = read_proposal(text, "p.yaml")
    assert read is None
    assert [(one.line, "own_everything" in one.what or "key" in one.what) for one in problems] == [
        (5, True), (8, True), (8, True),
    ]  # fmt: skip


def test_a_file_of_a_newer_orgvault_is_refused_by_name() -> None:
    read, (problem,) = read_proposal(TEXT.replace("version: 1", "version: 2"), "p.yaml")
    assert read is None
    assert (problem.file, problem.line) == ("p.yaml", 1)
    assert "2" in problem.what
