"""Attacks made from other attacks: bytes and tokens changed, two of them crossed.

Most mutate the text that a diff leads to and make the diff anew, so that the rules behind the
first one are reached.
"""

import re
from collections.abc import Callable
from random import Random

from tests.gate_attack import hostile_keys, hostile_skill, hostile_values
from tests.gate_attack.attack import OPEN, Attack
from tests.gate_attack.diffing import hunks, make_diff
from tests.gate_attack.honest import honest
from tests.gate_attack.scene import AGENT, ORG

TOKENS = (
    b" ", b"  ", b"\n", b"\n    ", b"\n      ", b"\n  ", b"\t", b":", b": ", b" #", b"#", b"'",
    b'"',
    b"''", b'\\"', b"\\", b"-", b"- ", b"\n      - ", b"[", b"]", b"{", b"}", b",", b", ", b"&a ",
    b"*a", b"!x ", b"!!str ", b"|", b">", b">-", b"|2", b"|+", b"? ", b"<<: ", b"%", b"@", b"`",
    b"---\n",
    b"...\n", b"\r", b"\r\n", b"\0", b"\xc2\x85", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xff", b"~",
    b"null",
    b"true", b"3", b"tools: [Bash]", b"permission_mode: x", b"goal: x", b"\n    goal: x\n",
    b"\n    model: x\n", b"principles", b"agents:", b"nova:", b"atlas:", b"\\x74", b"\\u202e",
    b"=", b"\\\n",
    b"[[", b"]]", b"![[", b"<!--", b"-->", b"](x)", b"<memory>", b"http://x", b"%%", b"```\n", b"`",
    b"allowed-tools: [x]\n", b"description: x\n", b"---", b"+", b"@@", b"word", b" words and more",
)  # fmt: skip


def token_changed(lot: Random, text: bytes, at: int) -> bytes:
    """A text with something put in, taken out, doubled or swapped near a place."""
    how = lot.randrange(7)
    end = min(len(text), at + lot.randint(1, 6))
    if how <= 2:
        return text[:at] + lot.choice(TOKENS) + text[at:]
    if how == 3:
        return text[:at] + text[end:]
    if how == 4:
        return text[:at] + lot.choice(TOKENS) + text[end:]
    begin = text.rfind(b"\n", 0, at) + 1
    stop = text.find(b"\n", at) + 1 or len(text)
    line = text[begin:stop]
    if how == 5:
        return text[:stop] + line + text[stop:]
    indent = lot.choice([b"  ", b"    ", b"      ", b"", b"        "])
    return text[:begin] + indent + line.lstrip(b" ") + text[stop:]


def target_of(attack: Attack) -> tuple[str, bytes] | None:
    """The file that a well-made attack is about, and its content."""
    found = re.search(rb"^\+\+\+ b/(.*?)\t?$", attack.diff, re.MULTILINE)
    path = found[1].decode("utf-8", "replace") if found else ""
    return (path, attack.files[path]) if path in attack.files else None


def result_of(attack: Attack, old: bytes) -> bytes | None:
    """What a well-made diff leads to; None of one that is not."""
    lines, after, at = old.split(b"\n"), [], 0
    for line in attack.diff.split(b"\n"):
        if found := re.match(rb"@@ -(\d{1,6})(?:,(\d{1,6}))? \+", line):
            start = int(found[1]) - (found[2] != b"0")
            after += lines[at:start]
            at = start
        elif after or at:
            if line[:1] == b"+" and not line.startswith(b"+++ b/"):
                after.append(line[1:])
            elif line[:1] in {b" ", b"-"}:
                after += lines[at : at + 1] if line[:1] == b" " else []
                at += 1
    return b"\n".join([*after, *lines[at:]]) if at else None


def _place(lot: Random, path: str, old: bytes, new: bytes) -> int:
    """Where to mutate: mostly where it differs already, or in the agent's own block."""
    if lot.random() < 0.5:
        same = next(
            (at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), 0
        )
        return min(len(new), max(0, same + lot.randint(-60, 90)))
    block = new.find(f"  {AGENT}:".encode()) if path == ORG else 0
    if block >= 0 and lot.random() < 0.8:
        return min(len(new), block + lot.randint(0, 1500))
    return lot.randrange(len(new) + 1)


def text_mutated(lot: Random, base: Attack | None = None) -> Attack:
    """The new text changed in one to three places, and its diff made anew."""
    attack = base or _any(lot)
    target = target_of(attack)
    if target is None:
        return diff_mutated(lot, attack)
    path, old = target
    new = result_of(attack, old)
    if new is None:
        return diff_mutated(lot, attack)
    for _ in range(lot.choice([1, 1, 2, 3])):
        new = token_changed(lot, new, _place(lot, path, old, new))
    return attack.having(make_diff(path, old, new), f"text mutated: {attack.name}", OPEN)


def old_and_new_mutated(lot: Random) -> Attack:
    """What stands there is odd already, and an honest change is made beside it."""
    attack = honest(lot)
    target = target_of(attack)
    new = result_of(attack, target[1]) if target else None
    if target is None or new is None:
        return diff_mutated(lot, attack)
    path, old = target
    block = max(0, old.find(f"  {AGENT}:".encode())) if path == ORG else 0
    same = next(
        (at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), 0
    )
    at = min(same, max(0, block + lot.randint(0, max(1, same - block))))
    token, cut = lot.choice(TOKENS), lot.choice([0, 0, 1, 3])
    cut = min(cut, same - at)
    old, new = (one[:at] + token + one[at + cut :] for one in (old, new))
    made = attack.having(make_diff(path, old, new), f"both mutated: {attack.name}", OPEN)
    return Attack(made.name, OPEN, made.diff, {**made.files, path: old}, made.links, made.knowledge)


def diff_mutated(lot: Random, base: Attack | None = None) -> Attack:
    """The bytes of a diff changed."""
    attack = base or _any(lot)
    diff = attack.diff
    for _ in range(lot.choice([1, 1, 2, 4])):
        at = lot.randrange(len(diff) + 1)
        how = lot.randrange(4)
        if how == 0 and diff:
            at = min(at, len(diff) - 1)
            diff = diff[:at] + bytes([diff[at] ^ (1 << lot.randrange(8))]) + diff[at + 1 :]
        elif how == 1:
            lines = diff.splitlines(keepends=True)
            lot.shuffle(lines) if lot.random() < 0.1 else lines.reverse() if not lines else None
            if lines:
                line = lines.pop(lot.randrange(len(lines)))
                lines.insert(lot.randint(0, len(lines)), line)
            diff = b"".join(lines)
        elif how == 2:
            numbers = [*re.finditer(rb"\d+", diff)]
            if numbers:
                found = lot.choice(numbers)
                said = str(max(0, int(found[0][:9]) + lot.choice([1, -1, 10]))).encode()
                diff = diff[: found.start()] + said + diff[found.end() :]
        else:
            diff = token_changed(lot, diff, at)
    intent = attack.intent if diff == attack.diff else OPEN
    return attack.having(diff, f"diff mutated: {attack.name}", intent)


def crossed(lot: Random) -> Attack:
    """Hunks of a hostile change of the same file put among those of an honest one."""
    mine = honest(lot)
    target = target_of(mine)
    new = result_of(mine, target[1]) if target else None
    if target is None or new is None:
        return diff_mutated(lot, mine)
    path, old = target
    added = lot.choice(
        [one for group in hostile_keys.NEW_RIGHTS.values() for one in group]
        + [*hostile_keys.TWICE, *hostile_keys.MERGES, *hostile_keys.COMPLEX]
        if path == ORG
        else [f"{one}\n" for one in hostile_skill.MORE_THAN_TEXT]
    )
    lines = new.split(b"\n")
    at = _place(lot, path, old, new)
    number = new.count(b"\n", 0, at)
    lines[number:number] = added.rstrip("\n").encode().split(b"\n")
    both = b"\n".join(lines)
    parts = [one.text() for one in hunks(old, both)]
    if len(parts) > 1 and lot.random() < 0.2:
        lot.shuffle(parts)
    head = mine.diff[: mine.diff.find(b"@@")]
    return mine.having(head + b"".join(parts), f"crossed: {mine.name}", OPEN)


def _any(lot: Random) -> Attack:
    """Something to mutate: as often honest as hostile."""
    if lot.random() < 0.5:
        return honest(lot)
    return lot.choice(
        lot.choice(
            [hostile_keys.PRODUCTIONS, hostile_values.PRODUCTIONS, hostile_skill.PRODUCTIONS]
        )
    )(lot)


MUTATIONS: tuple[Callable[[Random], Attack], ...] = (
    text_mutated, text_mutated, text_mutated, old_and_new_mutated, diff_mutated, crossed,
)  # fmt: skip
PRODUCTIONS = MUTATIONS
