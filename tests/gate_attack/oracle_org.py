"""What two other YAML loaders say of a change of org.yaml: PyYAML, and ruamel's pure one."""

from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from orgvault.domain.proposal import Accepted
from tests.gate_attack.oracle_text import lf
from tests.gate_attack.scene import AGENT

TEXTS = {"personality", "goal", "perspective", "style", "voice", "description"}
PROSE = TEXTS | {"principles"}


class Reading(NamedTuple):
    """A text, its nodes as PyYAML composes them, and what stands beside values."""

    text: str
    root: yaml.Node
    marks: Counter[tuple[str, ...]]


def org_faults(answer: Accepted) -> list[str]:
    """What two other loaders say against a change of org.yaml.

    One that cannot read what stands there has no opinion; it must read the new text where it
    read the old one.  Where neither can, the gate's round trip cannot either, and owes a flag.
    """
    old, new = (lf(content) for content in (answer.old, answer.new))
    try:
        before = _read(old)
    except (yaml.YAMLError, ValueError):
        # PyYAML reads no tab before a comment: the question is put without tabs.
        old, new = (one.replace("\t", " ") for one in (old, new))
        try:
            before = _read(old)
        except (yaml.YAMLError, ValueError):
            return _second_faults(answer, is_alone=True)
    try:
        after = _read(new)
    except (yaml.YAMLError, ValueError) as error:
        return [f"PyYAML cannot read the new text: {_line(error)}"]
    return [*_node_faults(before, after), *_second_faults(answer, is_alone=False)]


def _second_faults(answer: Accepted, *, is_alone: bool) -> list[str]:
    try:
        old = _plain(lf(answer.old))
    except (YAMLError, ValueError) as error:
        said = f"no flag says that ruamel cannot read what stands there: {_line(error)}"
        return [said] if is_alone and not answer.flags else []
    try:
        new = _plain(lf(answer.new))
    except (YAMLError, ValueError, TypeError) as error:
        return [f"ruamel cannot read the new text: {_line(error)}"]
    return [*_value_faults(old, new, answer)]


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _read(text: str) -> Reading:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is None:
        message = "nothing"
        raise ValueError(message)
    marks: Counter[tuple[str, ...]] = Counter()
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        name = type(event).__name__
        if isinstance(event, yaml.AliasEvent):
            marks[name, event.anchor or ""] += 1
        elif isinstance(event, yaml.DocumentStartEvent | yaml.DocumentEndEvent):
            marks[name, str(event.explicit), str(getattr(event, "version", ""))] += 1
        elif isinstance(event, yaml.NodeEvent):
            marks["anchor", event.anchor or ""] += event.anchor is not None
            tag = getattr(event, "tag", None)
            marks["tag", tag or ""] += tag is not None
    return Reading(text, root, +marks)


def _plain(text: str) -> Any:  # noqa: ANN401 - what a YAML file holds
    loader = YAML(typ="safe", pure=True)
    return loader.load(text)


def _node_faults(old: Reading, new: Reading) -> Iterator[str]:
    if old.marks != new.marks:
        yield f"anchors, tags or markers: {dict((new.marks - old.marks) + (old.marks - new.marks))}"
    twice = [Counter(_twice(one.root, set())) for one in (old, new)]
    yield from twice[1] - twice[0]
    sides = []
    for one in (old, new):
        block = _block(one.root)
        if block is None:
            yield f"no block of {AGENT}"
            return
        sides.append(block)
    if _reached(new.root, sides[1]) > 1:
        yield "the block is shared by an alias"
    values = [
        {key.value: (key, value) for key, value in side.value if isinstance(key, yaml.ScalarNode)}
        for side in sides
    ]
    changed = {
        key for key in PROSE
        if _shape(values[0].get(key)) != _shape(values[1].get(key))
    }  # fmt: skip
    trees = [_whole(one.root, side, changed) for one, side in zip((old, new), sides, strict=True)]
    if trees[0] != trees[1]:
        yield f"PyYAML sees another change than {sorted(changed)}"
    kept = changed & values[0].keys() & values[1].keys()
    frames = [
        _frame(one.text, {key: pairs[key] for key in changed & pairs.keys()}, kept, side)
        for one, pairs, side in zip((old, new), values, sides, strict=True)
    ]
    if frames[0] != frames[1]:
        yield "something outside of the changed values differs"
    if "principles" in kept:
        spans = [
            _list_span(one.text, pairs["principles"])
            for one, pairs in zip((old, new), values, strict=True)
        ]
        for (_, tail), (other, _) in (spans, spans[::-1]):
            if tail not in other:
                yield f"the comment {tail!r} comes or goes"


def _reached(node: yaml.Node, wanted: yaml.Node) -> int:
    """On how many ways from a node another one, or a mapping that holds it, is reached."""
    if node is wanted:
        return 1
    if isinstance(node, yaml.MappingNode):
        return sum(_reached(one, wanted) for pair in node.value for one in pair)
    if isinstance(node, yaml.SequenceNode):
        return sum(_reached(one, wanted) for one in node.value)
    return 0


def _block(root: yaml.Node) -> yaml.MappingNode | None:
    if not isinstance(root, yaml.MappingNode):
        return None
    agents = [value for key, value in root.value if key.value == "agents"]
    if len(agents) != 1 or not isinstance(agents[0], yaml.MappingNode):
        return None
    for key, value in agents[0].value:
        if not isinstance(value, yaml.MappingNode):
            continue
        own = [one.value for name, one in value.value if name.value == "id"]
        if ((own and own[0]) or key.value) == AGENT:
            return value
    return None


def _twice(node: yaml.Node, seen: set[int]) -> Iterator[str]:
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        names = Counter(str(_shape((key,))) for key, _ in node.value)
        yield from (f"{name} stands twice" for name, count in names.items() if count > 1)
        for key, value in node.value:
            yield from _twice(key, seen)
            yield from _twice(value, seen)
    elif isinstance(node, yaml.SequenceNode):
        for one in node.value:
            yield from _twice(one, seen)


def _shape(nodes: tuple[yaml.Node, ...] | None) -> object:
    """Nodes as plain values that compare: kinds, tags, texts, whether in quotes."""
    if nodes is None:
        return None
    return [_whole(node, None, set()) for node in nodes]


def _whole(node: yaml.Node, block: yaml.Node | None, left_out: set[str]) -> object:
    if isinstance(node, yaml.MappingNode):
        return "map", node.tag, [
            (_whole(key, block, left_out), _whole(value, block, left_out))
            for key, value in node.value
            if not (node is block and str(key.value) in left_out)
        ]  # fmt: skip
    if isinstance(node, yaml.SequenceNode):
        return "list", node.tag, [_whole(one, block, left_out) for one in node.value]
    return "text", node.tag, node.value, getattr(node, "style", None)


_CUT = "\0"


def _frame(
    text: str,
    pairs: Mapping[str, tuple[yaml.Node, yaml.Node]],
    kept: AbstractSet[str],
    block: yaml.MappingNode,
) -> str:
    """The text without its changed values and without blank lines.

    A cut leaves `_CUT`; behind one, blanks may belong to the value that was cut out.  What comes or
    goes whole in `{...}` does so with its comma.
    """
    spans = []
    for key, (name, value) in pairs.items():
        start, end = name.start_mark.index, _end(text, value)
        if key in kept and isinstance(value, yaml.SequenceNode):
            end = _line_end(text, end)
        if block.flow_style and key not in kept:
            spans.append((*_with_comma(text, start, end), ""))
            continue
        spans.append((start, end, f"{key}:{_CUT}" if key in kept else _CUT))
    left, at = [], 0
    for start, end, mark in sorted(spans):
        left += [text[at:start], mark]
        at = end
    lines = "".join([*left, text[at:]]).split("\n")
    lines = [line.rstrip() if _CUT in line else line for line in lines]
    return "\n".join(line for line in lines if line.strip(f" {_CUT}"))


def _with_comma(text: str, start: int, end: int) -> tuple[int, int]:
    """A pair of `{...}` with the comma before it, or, of the first one, with that behind it."""
    before = text[:start].rstrip()
    if before.endswith(","):
        return len(before) - 1, end
    behind = text[end:]
    after = behind.lstrip()
    return start, end + len(behind) - len(after.removeprefix(",").lstrip(" "))


def _list_span(text: str, pair: tuple[yaml.Node, yaml.Node]) -> tuple[str, str]:
    """A list with what stands behind it on its last line, and this alone.

    The comment of a last item stands inside once another item follows, and must still stand.
    """
    end = _end(text, pair[1])
    stop = _line_end(text, end)
    return text[pair[0].start_mark.index : stop], text[end:stop].strip()


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found


def _end(text: str, node: yaml.Node) -> int:
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return _end(text, node.value[-1])
    start: int = node.start_mark.index
    return start + len(text[start : node.end_mark.index].rstrip())


def _value_faults(old: Any, new: Any, answer: Accepted) -> Iterator[str]:  # noqa: ANN401
    blocks = [_plain_block(one) for one in (old, new)]
    before, after = ({key: block.pop(key) for key in PROSE if key in block} for block in blocks)
    if repr(old) != repr(new):
        yield "ruamel sees a change outside of the prose"
    changed = {key for key in PROSE if before.get(key) != after.get(key)}
    for key in changed & after.keys():
        value = after[key]
        items = value if key == "principles" and isinstance(value, list) else [value]
        if (key == "principles") != isinstance(value, list) or not all(
            type(one) is str for one in items
        ):
            yield f"{key} becomes {value!r}"
    said = {edit.key: (edit.before, edit.after) for edit in answer.edits}
    seen = {key: (_texts(before.get(key)), _texts(after.get(key))) for key in changed}
    if len(said) != len(answer.edits) or said != seen:
        yield f"the gate says {said}, ruamel {seen}"


def _plain_block(value: Any) -> dict[str, Any]:  # noqa: ANN401
    for key, block in value["agents"].items():
        if isinstance(block, dict) and (block.get("id") or key) == AGENT:
            return block
    message = f"no block of {AGENT}"
    raise ValueError(message)


def _texts(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    return tuple(str(one) for one in value) if isinstance(value, list) else (str(value),)
