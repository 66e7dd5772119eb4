"""The state of a proposal that nobody has closed: decided by what HEAD says, and by nothing else.

Values are compared, not lines, so that it does not matter how a person shipped it: applied,
squashed, cherry-picked, merged, or typed anew with other quotes and indentation.
"""

from collections.abc import Sequence
from enum import StrEnum

from orgvault.domain.frontmatter import FRONTMATTER
from orgvault.domain.patch import is_edited
from orgvault.domain.proposal import BODY, Edit, Proposal, Target
from orgvault.domain.yaml_node import Node, child, key_text, target
from orgvault.domain.yaml_tree import Document, compose
from orgvault.values import dataclass


class State(StrEnum):
    """What becomes of a proposal without anybody's saying so."""

    OPEN = "open"
    SHIPPED = "shipped"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class Decided:
    """A state, and why it is so: a few words, empty for a proposal that simply waits."""

    state: State
    why: str = ""


def decide(proposal: Proposal, head: bytes | None, working: bytes | None, now: str) -> Decided:
    """The state of a proposal.

    `head` and `working` are the content of its file in HEAD and in the working tree, None where
    there is none; `now` an instant.  A file that differs between the two is being edited, so the
    proposal stays open whatever it says.  One that cannot be read in HEAD says nothing: the
    proposal waits for its mending, or its expiry.  One that is gone withdraws it.
    """
    if proposal.shipped_commit is not None:
        return Decided(State.SHIPPED, f"in other words, as {proposal.shipped_commit[:10]}")
    if is_edited(head, working):
        return Decided(State.OPEN, f"{proposal.path} has changes that are not committed")
    if head is None:
        return Decided(State.WITHDRAWN, f"{proposal.path} is gone")
    stands = [_stands(proposal, edit, head) for edit in proposal.edits]
    if all(one is _Stands.AFTER for one in stands):
        return Decided(State.SHIPPED)
    if _Stands.NEITHER in stands:
        return Decided(State.WITHDRAWN, "what it would change reads otherwise by now")
    if now >= proposal.expires:
        return Decided(State.WITHDRAWN, f"it expired on {proposal.expires[:10]}")
    if _Stands.UNREADABLE in stands:
        return Decided(State.OPEN, f"{proposal.path} cannot be read as HEAD has it")
    return Decided(State.OPEN, "a part of it is shipped" if _Stands.AFTER in stands else "")


class _Stands(StrEnum):
    """Which of an edit's two values stands in a file."""

    BEFORE = "before"
    AFTER = "after"
    NEITHER = "neither"
    UNREADABLE = "unreadable"


def _stands(proposal: Proposal, edit: Edit, content: bytes) -> _Stands:
    text = content.decode(errors="replace")
    if proposal.target is Target.OWN_SKILLS and edit.key == BODY:
        return _stands_in(_words(text.splitlines()), edit)
    if proposal.target is Target.OWN_PROMPT:
        document = compose(text, proposal.path)
        block = _block(document, proposal.agent)
    else:
        document = compose(_frontmatter(text), proposal.path)
        block = document.root
        if block is None and not document.problems:
            return _compared(None, edit)  # a skill without frontmatter has no description
    if document.root is None:
        return _Stands.UNREADABLE
    return _compared(_value(block, edit.key), edit) if block is not None else _Stands.NEITHER


# ── values ──────────────────────────────────────────────────────────────────────────────────────


def _block(document: Document, agent: str) -> Node | None:
    """The block of an agent: its `id`, where it has one, else its key."""
    agents = document.node(("agents",))
    if agents is None or target(agents).kind != "mapping":
        return None
    for key, value in target(agents).pairs():
        named = child(target(value), "id")
        if agent == (target(named[1]).value if named else key_text(key)):
            return target(value)
    return None


def _value(block: Node, key: str) -> tuple[str, ...] | None:
    pair = child(block, key)
    if pair is None:
        return None
    node = target(pair[1])
    if node.kind == "list":
        return tuple(target(item).value for item in node.children)
    return (node.value,)


def _compared(value: tuple[str, ...] | None, edit: Edit) -> _Stands:
    before, after = edit.before, edit.after
    if _folded(before) != _folded(after):  # else spaces are what it would change
        value, before, after = _folded(value), _folded(before), _folded(after)
    if value == after:
        return _Stands.AFTER
    return _Stands.BEFORE if value == before else _Stands.NEITHER


def _folded(value: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """A value without regard to where its lines break."""
    return None if value is None else tuple(" ".join(text.split()) for text in value)


def _frontmatter(text: str) -> str:
    match = FRONTMATTER.match(text)
    return match["keys"] if match else ""


# ── lines ───────────────────────────────────────────────────────────────────────────────────────


def _stands_in(lines: Sequence[str], edit: Edit) -> _Stands:
    """Shipped where the new lines stand once, and the old ones nowhere but within them."""
    before, after = _words(edit.before or ()), _words(edit.after or ())
    old, new = _found(lines, before), _found(lines, after)
    if len(new) == 1 and all(
        new[0] <= at and at + len(before) <= new[0] + len(after) for at in old
    ):
        return _Stands.AFTER
    return _Stands.BEFORE if old else _Stands.NEITHER


def _words(lines: Sequence[str]) -> tuple[str, ...]:
    """Lines without regard to their indentation and the spaces at their ends."""
    return tuple(line.strip() for line in lines)


def _found(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    last = len(lines) - len(wanted)
    return [at for at in range(last + 1) if tuple(lines[at : at + len(wanted)]) == tuple(wanted)]
