"""The gate: whether a diff may become a proposal.  Nothing else may make one.

No configuration reaches the rules.  They are asked in the order of `judge`, and the first that
is broken is the answer.
"""

from orgvault.domain.gate.diffs import apply_diff, read_diff
from orgvault.domain.gate.org_change import org_comparison
from orgvault.domain.gate.places import check_path, knowledge_links, target_of
from orgvault.domain.gate.refused import Refused
from orgvault.domain.gate.round_trip import round_trip_flags
from orgvault.domain.gate.skill_change import skill_edits
from orgvault.domain.gate.words import word_flags
from orgvault.domain.proposal import Accepted, Edit, Refusal, Rule, Target, Tree
from orgvault.domain.roster import Roster


def judge(
    diff: bytes, *, agent: str, roster: Roster, tree: Tree, hooks: str = ""
) -> Accepted | Refusal:
    """Whether a unified diff is a proposal that `agent` may make: accepted, or why not.

    `tree` holds the files as they stand, `hooks` is the folder that core.hooksPath names,
    relative to the vault, or empty.  Any bytes at all get an answer; nothing is raised.
    """
    try:
        return _judged(diff, agent, roster, tree, hooks)
    except Refused as refused:
        return refused.refusal
    except Exception as error:  # noqa: BLE001 - what cannot be judged is refused, whatever it is
        return Refusal(Rule.SHAPE, f"it cannot be judged ({type(error).__name__})")


def _judged(diff: bytes, agent_id: str, roster: Roster, tree: Tree, hooks: str) -> Accepted:
    read = read_diff(diff)
    check_path(read.path)
    agent = roster.agents.get(agent_id)
    if agent is None:
        raise Refused(Rule.TARGET, f"{agent_id} is not on the roster")
    target = target_of(read.path, agent, roster, tree, hooks)
    content = tree.read(read.path)
    if content is None:
        raise Refused(Rule.SHAPE, f"{read.path}: it cannot be read")
    applied = apply_diff(read, content)
    edits: list[Edit]
    flags: tuple[str, ...] = ()
    if target is Target.OWN_PROMPT:
        compared, changes = org_comparison(applied, agent_id)
        edits = [one.edit() for one in changes]
        words = word_flags(applied.diff, edits)
        flags = round_trip_flags(applied, compared, changes)
    else:
        edits = skill_edits(applied, knowledge_links(read.path, agent, tree))
        words = word_flags(applied.diff, edits)
    gone = tuple(f"takes `{one.key}` out" for one in edits if one.after is None)
    return Accepted(
        target,
        read.path,
        tuple(edits),
        content,
        applied.written(),
        diff,
        (*words, *gone, *flags),
        len(read.changed("+")),
        len(read.changed("-")),
    )
