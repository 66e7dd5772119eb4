"""Rule 4 of the gate: of org.yaml only the agent's own prose may change."""

import re

from orgvault.domain.gate.diffs import Applied
from orgvault.domain.gate.refused import Refused
from orgvault.domain.gate.trees import Change, Comparison, Side
from orgvault.domain.org import FILE
from orgvault.domain.org_rules import key_of
from orgvault.domain.proposal import PROSE, Rule
from orgvault.domain.yaml_tree import compose

# Some readers of YAML end a line there, and others do not: they see two different files.
_OTHER_LINE_END = re.compile("[\r\x85\u2028\u2029]")


def org_comparison(applied: Applied, agent_id: str) -> tuple[Comparison, list[Change]]:
    """What was compared, and the prose that changes; raises Refused for anything else."""
    if (mark := _OTHER_LINE_END.search(applied.old)) is not None:
        line = applied.old.count("\n", 0, mark.start()) + 1
        why = "a line of org.yaml ends in a way that not all readers know: mend it first"
        raise Refused(Rule.ORG, why, "", line)
    old, new = (Side(text, compose(text, FILE)) for text in (applied.old, applied.new))
    for side, when in ((old, "today; mend it first"), (new, "any more once this is shipped")):
        if side.document.root is None:
            problem = next(iter(side.document.problems), None)
            what, line = (problem.what, problem.line) if problem else ("it is empty", 0)
            raise Refused(Rule.ORG, f"org.yaml cannot be read {when}: {what}", "", line)
    key = key_of(old.document.value, agent_id)
    if key is None:
        raise Refused(Rule.TARGET, f"org.yaml has no block of {agent_id}")
    comparison = Comparison(Rule.ORG, ("agents", key), PROSE)
    return comparison, comparison.changes(old, new)
