"""The skill files of an agent, as far as it may ask for a change of them."""

import re
from collections.abc import Iterator

from orgvault.domain.frontmatter import FRONTMATTER
from orgvault.domain.gate.places import target_of
from orgvault.domain.gate.refused import Refused
from orgvault.domain.proposal import Target
from orgvault.domain.roster import Agent, Roster
from orgvault.store.vault import Vault
from orgvault.store.working_tree import WorkingTree, hooks_folder

FILES_MOST = 200
BYTES_MOST = 64 * 1024
_GLOB = re.compile(r"[*?\[]")


def skills(vault: Vault, agent: Agent, roster: Roster) -> list[tuple[str, str]]:
    """(path, body) of each Markdown file that the gate takes for a skill of the agent, by path.

    At most 200; what is no text, or longer than 64 KiB, is left out.
    """
    tree, hooks = WorkingTree(vault), hooks_folder(vault)
    found = []
    for path in sorted(set(_named(vault, tree, agent)))[:FILES_MOST]:
        try:
            target = target_of(path, agent, roster, tree, hooks)
            content = tree.read(path)
        except (Refused, OSError):
            continue
        if target is Target.OWN_SKILLS and content is not None and len(content) <= BYTES_MOST:
            text = _text(content)
            found += [(path, text)] if text.strip() else []
    return found


def _named(vault: Vault, tree: WorkingTree, agent: Agent) -> Iterator[str]:
    """The Markdown files in the places that the agent's `knowledge` names, links resolved."""
    given = agent.block.get("knowledge")
    for entry in given if isinstance(given, list | tuple) else ():
        steps = [step for step in str(entry).split("/") if step not in {"", "."}]
        plain = next((at for at, one in enumerate(steps) if _GLOB.search(one)), len(steps))
        real = tree.real("/".join(steps[:plain])) if plain and ".." not in steps else None
        if real:
            yield from _below(vault, tree, real, 0)


def _below(vault: Vault, tree: WorkingTree, path: str, depth: int) -> Iterator[str]:
    kind = tree.kind(path)
    if kind == "file" and path.lower().endswith(".md"):
        yield path
    elif kind == "folder" and depth < _DEEPEST:
        for name in vault.names(path)[:FILES_MOST]:
            yield from _below(vault, tree, f"{path}/{name}", depth + 1)


_DEEPEST = 6


def _text(content: bytes) -> str:
    """The body, with LF; empty for what is no text."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return ""
    front = FRONTMATTER.match(text)
    return text[front.end() if front else 0 :].replace("\r\n", "\n")
