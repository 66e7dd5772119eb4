"""The nodes of a YAML tree: how each is written, where, and what its plain value is."""

from collections.abc import Iterator
from typing import NamedTuple

from orgvault.domain.yaml_scalars import scalar, trap


class Node(NamedTuple):
    """One node of the tree as it is written.

    `kind` is `scalar`, `list`, `mapping` or `alias`.  `value` is a scalar's text with escapes
    and folds resolved, or the name that an alias points to; `children` the items of a list,
    the keys and values of a mapping by turns, or the one node that an alias stands for.
    `tag` and `anchor` are empty where none is written.  `style` is a scalar's quote (`"`,
    `'`, `|`, `>`, or empty for none) and `flow` or `block` of a collection.  `line` counts
    from 1; `start` and `end` are character offsets into the text, anchor and tag included.
    `size` and `height` count all the values below, aliases written out.
    """

    kind: str
    value: str
    children: tuple["Node", ...]
    tag: str
    anchor: str
    style: str
    line: int
    start: int
    end: int
    size: int = 1
    height: int = 1

    def pairs(self) -> Iterator[tuple["Node", "Node"]]:
        """The keys and values of a mapping, in written order."""
        return zip(self.children[::2], self.children[1::2], strict=True)


def target(node: Node) -> Node:
    """The node that an alias stands for; any other node itself."""
    return node.children[0] if node.kind == "alias" else node


def child(node: Node, step: str | int) -> tuple[Node, Node] | None:
    """The key and the value at a key of a mapping, or the item at an index twice; or None."""
    if isinstance(step, int):
        if node.kind != "list" or not 0 <= step < len(node.children):
            return None
        return node.children[step], node.children[step]
    if node.kind != "mapping":
        return None
    return next((pair for pair in node.pairs() if key_text(pair[0]) == step), None)


def key_text(key: Node) -> str | None:
    """The text of a key as the plain value has it; None for one that cannot be a key."""
    key = target(key)
    return key.value if key.kind == "scalar" and not is_merge(key) else None


def is_merge(key: Node) -> bool:
    """Whether a key is the merge key of YAML 1.1, which we do not follow."""
    return key.kind == "scalar" and key.value == "<<" and not key.style and not key.tag


def is_trap(node: Node, *, instants: bool) -> bool:
    """Whether a node is an unquoted word that others read differently."""
    unquoted = node.kind == "scalar" and not node.style and not node.tag
    return unquoted and bool(trap(node.value, instants=instants))


def traps(
    node: Node, path: tuple[str | int, ...] = (), *, instants: bool
) -> Iterator[tuple[Node, tuple[str | int, ...]]]:
    """Every trap at and below a node with its path; what an alias stands for only once."""
    if node.kind == "scalar":
        if is_trap(node, instants=instants):
            yield node, path
    elif node.kind == "list":
        for index, item in enumerate(node.children):
            yield from traps(item, (*path, index), instants=instants)
    elif node.kind == "mapping":
        for key, value in node.pairs():
            below = (*path, key_text(key) or key.value)
            if is_trap(key, instants=instants):
                yield key, below
            yield from traps(value, below, instants=instants)


def plain(node: Node, *, instants: bool) -> object:
    """The dicts, lists and scalars of a tree; its height is bounded, so recursion is."""
    if node.kind == "scalar":
        unquoted = not node.style and not node.tag
        return scalar(node.value, instants=instants) if unquoted else node.value
    if node.kind == "list":
        return [plain(item, instants=instants) for item in node.children]
    if node.kind == "alias":
        return plain(node.children[0], instants=instants)
    found: dict[str, object] = {}
    for key, value in node.pairs():
        text = key_text(key)
        if text is not None and text not in found:
            found[text] = plain(value, instants=instants)
    return found
