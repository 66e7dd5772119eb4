"""After every other rule: ruamel's round trip of both texts, which judges and never writes."""

import pytest

from orgvault.domain.gate.diffs import Applied, Diff
from orgvault.domain.gate.refused import Refused
from orgvault.domain.gate.round_trip import NOT_COMPARED, round_trip_flags
from orgvault.domain.gate.trees import Comparison, Side
from orgvault.domain.proposal import PROSE, Refusal, Rule
from orgvault.domain.yaml_tree import compose
from tests.domain.gate.conftest import ORG, Gate
from tests.domain.gate_tree import ORG_PATH

NOVA = Comparison(Rule.ORG, ("agents", "nova"), PROSE)


def test_an_old_text_that_it_cannot_read_is_a_flag(gate: Gate) -> None:
    old = ORG.replace("   # said often", "\t# said often")
    answer = gate.accepted(ORG_PATH, old.replace('"yes"', '"no"'), old)
    assert answer.flags == (NOT_COMPARED,)


def flags(old: str, new: str, judged_new: str | None = None) -> tuple[str, ...]:
    """The round trip's word on two texts, of which the trees saw `judged_new` as the new one."""
    seen = judged_new or new
    changes = NOVA.changes(Side(old, compose(old, "")), Side(seen, compose(seen, "")))
    applied = Applied(old, new, Diff("", (), has_crlf=False), has_crlf=False)
    return round_trip_flags(applied, NOVA, changes)


def refusal(old: str, new: str, judged_new: str) -> Refusal:
    with pytest.raises(Refused) as raised:
        flags(old, new, judged_new)
    assert str(raised.value) == raised.value.refusal.why
    return raised.value.refusal


def test_a_new_text_that_it_cannot_read_is_refused() -> None:
    judged = ORG.replace('"yes"', '"no"')
    new = judged.replace("   # said often", "\t# said often")
    assert refusal(ORG, new, judged) == Refusal(
        Rule.ROUND_TRIP, "ruamel's round trip reads the old text, and not the new one"
    )


def test_what_it_sees_change_besides_is_refused_under_its_name() -> None:
    judged = ORG.replace('"yes"', '"no"')
    found = refusal(ORG, judged.replace("[Read, Edit]", "[Bash]"), judged)
    assert (found.rule, found.key) == (Rule.ROUND_TRIP, "tools")
    found = refusal(ORG, judged.replace("# what it may do", "# what it must do"), judged)
    assert found.why == "a comment, a blank or a mark changes outside of the values"
    found = refusal(ORG, judged.replace('"no"', '"na"'), judged)
    assert found == Refusal(Rule.ROUND_TRIP, "ruamel's round trip sees other values change")


def test_blanks_that_it_writes_in_another_way_are_no_difference() -> None:
    text = ORG.replace("A site that builds.", "A site\n      that builds.")
    assert flags(text, text.replace("A site\n", "A long, long site\n")) == ()
    assert flags(ORG, ORG.replace("A site that builds.", "A")) == ()
    assert flags(ORG, ORG.replace("- One", "-   Two")) == ()
    # it leaves a comment in the column where it was, and writes an escape as one letter
    assert flags(ORG, ORG.replace("A site that builds.", '"A caf\\u00e9"')) == ()
    assert flags(ORG, ORG.replace("A site that builds.", "A site\n      or two")) == ()
