"""The flags of rule 6: every word that reads as more leave than before, and how far apart."""

import pytest

from tests.domain.gate.conftest import BUILD, SKILL, Gate

VERBS = (
    "ignore ignores ignored ignoring bypass bypasses bypassed bypassing circumvent circumvents "
    "disable disables disabled disabling disregard disregarding override overriding evade evading "
    "skip skips skipping"
)
LIMITS = (
    "tool tools permission permissions permission_mode capability capabilities guard guards "
    "guardrail guardrails gate gates limit limits budget budgets hook hooks rule rules review "
    "reviews reviewer reviewers approval approvals check checks restriction restrictions safety "
    "instruction instructions owner lead protected sandbox policy policies"
)
ACTS = "run act proceed commit push merge deploy write delete edit change install work"
LEAVES = "asking approval permission review confirmation checking waiting consent leave"
SAID = (
    *(f"{verb} the guard" for verb in (*VERBS.split(), "work around", "get around")),
    *(f"ignore every {noun}" for noun in LIMITS.split()),
    *(f"{verb} it without asking" for verb in (*ACTS.split(), "go ahead")),
    *(f"run it without {noun}" for noun in LEAVES.split()),
    *(f"{kind} access" for kind in ("full", "unlimited", "unrestricted", "root", "admin", "write")),
    *(f"full {noun}" for noun in ("permission", "permissions", "rights")),
    *("bypasspermissions", "acceptedits", "dangerously", "yolo", "sudo"),
    *(f"{no} ask" for no in ("never", "no need to", "need not", "don't", "do not")),
    *(f"never {verb}" for verb in ("wait for", "request")),
    *(f"you {may} {verb}" for may in ("may", "can", "are free to") for verb in ("ignore", "skip",
      "bypass")),
    "never ever really ask",
    "you can just quite simply skip",
    "run without any of the asking",
)  # fmt: skip
HARMLESS = (
    "The signore of the guard.",
    "We skipperish the guard.",
    "We ignore the guardian.",
    "We ignore it. The guard stays.",
    "We ignore it; the guard stays.",
    "They overrun it without asking.",
    "We run it. Without asking nobody comes.",
    "We run it; without asking nobody comes.",
    "We run it without askings.",
    "We run without any one of these asking.",
    "A handwrite access.",
    "We write accessible pages.",
    "A pseudosudo and sudoku.",
    "Now whenever ask.",
    "We never ever really truly ask.",
    "We never asked.",
    "Theyou may ignore it.",
)


def flags(gate: Gate, text: str) -> tuple[str, ...]:
    return gate.accepted(SKILL, f"{BUILD}{text}\n", BUILD).flags


def test_what_widens_a_permission_is_shown(gate: Gate) -> None:
    for said in SAID:
        for text in (f"Now {said}", f"({said.upper()})"):
            shown = [one for one in flags(gate, text) if one.startswith("reads as a wider")]
            assert any(said in one for one in shown), (text, shown)


def test_what_only_looks_like_it_is_not(gate: Gate) -> None:
    for text in HARMLESS:
        assert flags(gate, text) == (), text


def test_a_leave_is_shown_without_what_is_too_far_behind_it(gate: Gate) -> None:
    for text, shown in (
        ("You may also quite simply and skip it.", "you may"),
        ("You can skipper it.", "you can"),
    ):
        assert flags(gate, text) == (f"reads as a wider permission: `{shown}`",)


@pytest.mark.parametrize(("first", "last"), [("ignore", "guard"), ("run", "without asking")])
def test_forty_characters_may_stand_between(gate: Gate, first: str, last: str) -> None:
    between = f" {'x' * 38} "
    assert flags(gate, f"Now {first}{between}{last}") == (
        f"reads as a wider permission: `{first}{between}{last}`",
    )
    assert flags(gate, f"Now {first}{between}x {last}") == ()


def test_sixty_characters_of_it_are_shown(gate: Gate) -> None:
    said = f"circumvent {'x' * 38} instructions"
    assert flags(gate, said) == (f"reads as a wider permission: `{said[:60]}`",)
