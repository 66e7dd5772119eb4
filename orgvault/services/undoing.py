"""The reverse of a shipped proposal, as a diff of what stands there now that passed the gate."""

from dataclasses import replace

from orgvault.domain.gate import judge
from orgvault.domain.gate.diffs import read_diff
from orgvault.domain.gate.refused import Refused
from orgvault.domain.ledger import Entry, in_words
from orgvault.domain.patch import as_lf, is_edited, unified
from orgvault.domain.proposal import Accepted, Proposal, Refusal, Target
from orgvault.domain.splice import Unspliced, prose, with_value
from orgvault.errors import UnknownRevision
from orgvault.services.desk import Desk
from orgvault.store.history import at
from orgvault.store.working_tree import WorkingTree, hooks_folder

UNCOMMITTED = "{path} has changes that are not committed"
GONE = "{path} cannot be read any more"
OTHERWISE = "what it changed reads otherwise by now"


def reverse(desk: Desk, entry: Entry, proposal: Proposal, diff: bytes) -> Accepted | str:
    """The change that undoes a proposal, or why there is none.

    The lines that its diff brought are put back where they still stand as they were brought;
    values that a person wrote in their own way are put back as values, where they still read as
    in the commit that shipped them.
    """
    path = proposal.path
    old = desk.vault.read(path)
    if old is None:
        return GONE.format(path=path)
    if is_edited(old, desk.vault.committed(path) or b""):
        return UNCOMMITTED.format(path=path)
    new = _lines_back(old, diff) or _values_back(desk, old, entry, proposal)
    if new is None or new == old:
        return OTHERWISE
    tree, hooks = WorkingTree(desk.vault), hooks_folder(desk.vault)
    back = unified(path, old, new)
    answer = judge(back, agent=proposal.agent, roster=desk.roster, tree=tree, hooks=hooks)
    if isinstance(answer, Refusal):
        return f"the gate refuses it ({answer.rule}): {answer.why}"
    return replace(answer, old=old, new=new)


def rationale(entry: Entry) -> str:
    """Why an agent asks that its own change be undone: the rationale of that card."""
    told = [
        f"{name} {in_words(one)}"
        for name, one in (("corrections", entry.corrections), ("cost", entry.cost))
        if one is not None
    ]
    return (
        f"My change {entry.card}, shipped on {entry.shipped_at[:10]}, made my work worse. "
        f"After / before, per completed card: {'; '.join(told)}. I ask that it be undone."
    )


def _lines_back(old: bytes, diff: bytes) -> bytes | None:
    """The content with each hunk's new lines, if they stand there once, as they were before."""
    try:
        text = as_lf(old).decode()
        hunks = read_diff(as_lf(diff)).hunks
    except (Refused, UnicodeDecodeError):
        return None
    for hunk in hunks:
        was, now = ("".join(hunk.side(mark)) for mark in "-+")
        whole, sought = f"\n{text}", f"\n{now}"
        if whole.count(sought) != 1:
            return None
        at = whole.index(sought)
        text = text[:at] + was + text[at + len(now) :]
    return (text.replace("\n", "\r\n") if b"\r\n" in old else text).encode()


def _values_back(desk: Desk, old: bytes, entry: Entry, proposal: Proposal) -> bytes | None:
    """The content with each value as it was before; only where all of them can be written."""
    if proposal.target is not Target.OWN_PROMPT:
        return None
    text = old.decode(errors="replace")
    try:
        shipped = at(desk.vault, entry.shipped_commit).read(proposal.path) or b""
    except UnknownRevision:  # history was rewritten since
        return None
    then, now = (prose(one, entry.agent) for one in (shipped.decode(errors="replace"), text))
    for edit in proposal.edits:
        if isinstance(then, Unspliced) or isinstance(now, Unspliced) or edit.before is None:
            return None
        if then.get(edit.key) != now.get(edit.key):
            return None
        made = with_value(text, entry.agent, edit.key, edit.before)
        if isinstance(made, Unspliced):
            return None
        text = made
    return text.encode()
