"""Which notes of the vault an agent may read and write: by rule, then by its path patterns."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from unicodedata import category, normalize

from orgvault.domain.access import Actor, allowed
from orgvault.domain.masking import mentions_protected
from orgvault.domain.roster import Agent, Roster

IN_DOT_FOLDER = "dot-folders are not readable"
PROTECTED = "that is a protected place"
OTHERS_PAGE = "that is a page of another agent"
NOT_LISTED = "it is not among the notes that the agent may read (`notes: read` in org.yaml)"

# What no agent may write, wherever it stands; the gate's list (`gate.places`) says the same.
_OWNERS = frozenset({"agents.md", "claude.md", "org-agents.json"})


def why_unreadable(agent: Agent, path: str, roster: Roster) -> str:
    """Why an agent may not read a note (its path in the vault); empty when it may."""
    steps = _steps(path)
    if _in_dot_folder(steps):
        return IN_DOT_FOLDER
    if _is_protected(path, steps, roster):
        return PROTECTED
    whose = _page_of(steps, roster)
    if whose is not None:
        known = roster.agents.get(whose)
        may = known is not None and allowed(Actor("agent", agent.id), "read", known)
        return "" if may else OTHERS_PAGE
    return "" if _matches(path, _patterns(agent, "read")) else NOT_LISTED


def may_write(agent: Agent, path: str, roster: Roster) -> bool:
    """Whether an agent may write a note.

    Never, whatever its patterns say: a protected place, a dot-folder, AGENTS.md, CLAUDE.md, or
    any of the pages that people look at but its own home and the guild's notes.
    """
    steps = _steps(path)
    if _in_dot_folder(steps) or _is_protected(path, steps, roster) or _OWNERS & set(steps):
        return False
    pages = roster.pages_folder.strip("/")
    home = str(agent.block.get("home") or "").strip("/") or f"{pages}/Home/{agent.id}"
    own = any(_is_below(steps, one) for one in (home, f"{pages}/Guild"))
    inside = _is_below([*steps, ""], pages)  # the folder's own name is no note either
    return (own or not inside) and _matches(path, _patterns(agent, "write"))


def _patterns(agent: Agent, verb: str) -> tuple[str, ...]:
    return tuple((agent.block.get("notes") or {}).get(verb) or ())


def _page_of(steps: Sequence[str], roster: Roster) -> str | None:
    """The agent whose page, or one of whose claims' pages, a note is."""
    pages = roster.pages_folder.strip("/")
    at = len(_steps(pages)) + 1
    if _is_below(steps, f"{pages}/Agents"):
        return steps[at].removesuffix(".md")
    return steps[at] if _is_below(steps, f"{pages}/Claims") else None


def _in_dot_folder(steps: Iterable[str]) -> bool:
    """Whether a path leads into a folder that nobody sees, or out of the vault (`..`, `/x`)."""
    return any(step.startswith(".") or not step for step in steps)


def _is_protected(path: str, steps: Iterable[str], roster: Roster) -> bool:
    return any(mentions_protected(one, roster.protected) for one in (path, "/".join(steps)))


def _is_below(steps: Sequence[str], folder: str) -> bool:
    above = _steps(folder)
    return len(steps) > len(above) and list(steps[: len(above)]) == above


def _steps(path: str) -> list[str]:
    """The steps of a path as file systems may see them: no case, no accents' spelling.

    Also without what some of them ignore: format characters, and dots and blanks at the end.
    """
    folded = normalize("NFC", normalize("NFC", path).casefold())
    if not folded.isascii():
        folded = "".join(char for char in folded if category(char) != "Cf")
    return [step.rstrip(" .") or step for step in folded.split("/")]


def _matches(path: str, patterns: Iterable[str]) -> bool:
    plain = normalize("NFC", path)
    return any(_expression(normalize("NFC", one)).fullmatch(plain) for one in patterns)


@lru_cache(maxsize=512)
def _expression(pattern: str) -> re.Pattern[str]:
    """A pattern as an expression for whole paths, in the case that it is written in.

    `*` stands for anything within one name, a step `**` for any folders (at the end: for all that
    is below), and so does a `/` at the end.  Whatever else stands in it means itself.
    """
    *folders, name = (f"{pattern}**" if pattern.endswith("/") else pattern).split("/")
    before = ("(?:[^/]+/)*" if one == "**" else f"{_step(one)}/" for one in folders)
    return re.compile("".join([*before, ".+" if name == "**" else _step(name)]), re.DOTALL)


def _step(pattern: str) -> str:
    """One step of a pattern; atomic, so that many `*` take no longer than one."""
    first, *more = map(re.escape, re.split(r"\*+", pattern))
    if not more:
        return first
    return "".join([first, *(f"(?>[^/]*?{one})" for one in more[:-1]), f"[^/]*{more[-1]}"])
