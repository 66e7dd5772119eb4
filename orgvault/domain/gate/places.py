"""Rule 3 of the gate: which file a diff may be about."""

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from unicodedata import category, normalize

from orgvault.domain.gate.refused import Refused
from orgvault.domain.org import FILE
from orgvault.domain.proposal import Rule, Target, Tree
from orgvault.domain.roster import BUILTIN_PROTECTED, Agent, Roster

_PATH_CHARS_MAX = 1000
# Where no agent may write, at any depth; beside every dot-folder but `.agents/`.
_PROTECTED = (
    *BUILTIN_PROTECTED,
    "AGENTS.md",
    "CLAUDE.md",
    "org-agents.json",
    ".claude/",
    ".obsidian/",
    ".github/",
    ".githooks/",
    ".husky/",
    ".agents/guard*",
    ".agents/hooks/",
    ".agents/org/",
)
_GLOB = re.compile(r"[*?\[]")
_SKILLS_ROOT = ".agents"


def check_path(path: str) -> None:
    """Refuse a path that is not relative, normalised and inside, before anything is joined."""
    steps = path.split("/")
    odd = any(category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in path)
    outside = path.startswith("~") or re.match(r"[A-Za-z]:", path) is not None
    if odd or outside or "\\" in path or len(path) > _PATH_CHARS_MAX:
        raise Refused(Rule.SHAPE, "its path must be relative, with `/`, without odd characters")
    if any(step in {"", ".", ".."} for step in steps):
        raise Refused(Rule.SHAPE, "its path must lead into the vault, without `.`, `..` or `//`")


def target_of(path: str, agent: Agent, roster: Roster, tree: Tree, hooks: str) -> Target:
    """What of the agent's own a file is; raises Refused when it is neither."""
    if why := _guarded(path, agent, roster, hooks):
        raise Refused(Rule.TARGET, f"{path}: {why}")
    steps = path.split("/")
    for count in range(1, len(steps) + 1):
        kind = tree.kind("/".join(steps[:count]))
        if kind == "link":
            raise Refused(Rule.SHAPE, f"{path}: a link stands on the way to it")
        if kind != ("file" if count == len(steps) else "folder"):
            raise Refused(Rule.SHAPE, f"{path}: there is no such file")
    real = tree.real(path)
    if real is None or folded_steps(real) != folded_steps(path):
        raise Refused(Rule.SHAPE, f"{path}: it leads to another place")
    if path == FILE:
        return Target.OWN_PROMPT
    if not is_known(path, agent, tree):
        raise Refused(Rule.TARGET, f"{path}: it is not in the knowledge of {agent.id}")
    return Target.OWN_SKILLS


def is_known(path: str, agent: Agent, tree: Tree) -> bool:
    """Whether a path is a Markdown file in the places that an agent's `knowledge` names."""
    given = agent.block.get("knowledge")
    entries = [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
    steps = normalize("NFC", path).split("/")
    return steps[-1].lower().endswith(".md") and any(_covers(one, steps, tree) for one in entries)


def knowledge_links(path: str, agent: Agent, tree: Tree) -> Callable[[str, bool], bool]:
    """Whether a link in the file at `path` leads to a file of the agent's knowledge.

    Given a link's target, and whether it counts from the vault's root (`[[…]]`) or, as in
    Markdown, from the file's own folder.
    """
    folder = path.split("/")[:-1]

    def leads_inside(words: str, from_root: bool) -> bool:  # noqa: FBT001 - one question
        place, _, part = _decoded(words).partition("#")
        if not place:
            return bool(part)  # a heading of the file itself
        steps = [] if from_root else list(folder)
        for step in place.split("/"):
            if step == ".." and steps:
                steps.pop()
            elif step != ".":
                steps.append(step)
        leads_to = "/".join(steps)
        if from_root and not leads_to.lower().endswith(".md"):
            leads_to += ".md"
        try:
            check_path(leads_to)
        except Refused:
            return False
        return (
            tree.kind(leads_to) == "file"
            and tree.real(leads_to) == leads_to
            and is_known(leads_to, agent, tree)
        )

    return leads_inside


def _decoded(words: str) -> str:
    """A link's target without its brackets, its alias and its percent signs."""
    words = words.removeprefix("[[").partition("|")[0]
    return re.sub(r"%([0-9A-Fa-f]{2})", lambda found: chr(int(found[1], 16)), words).strip()


def folded_steps(path: str) -> list[str]:
    """The steps of a path as file systems may see them: no case, no accents' spelling.

    Also without what some of them ignore: format characters, and dots and blanks at the end.
    """
    folded = normalize("NFC", normalize("NFC", path).casefold())
    folded = "".join(char for char in folded if category(char) != "Cf")
    return [step.rstrip(" .") or step for step in folded.split("/")]


def _guarded(path: str, agent: Agent, roster: Roster, hooks: str) -> str:
    steps = folded_steps(path)
    for place in (*roster.protected, *(() if path == FILE else _PROTECTED)):
        if _holds(place, steps):
            return f"no agent may write there ({place})"
    folder = [step for step in folded_steps(hooks.removesuffix("/")) if step != "."]
    if hooks and steps[: len(folder)] == [step for step in folder if step]:
        return "git runs programs from there (core.hooksPath)"
    visible = steps[1:] if steps[0] == _SKILLS_ROOT else steps
    if any(step.startswith(".") for step in visible):
        return "no agent may write in a dot-folder"
    pages = folded_steps(roster.pages_folder.strip("/"))
    home = agent.block.get("home")
    own = [f"{roster.pages_folder}/Guild", f"{roster.pages_folder}/Home/{agent.id}"]
    if isinstance(home, str) and home.strip("/"):
        own[1] = home.strip("/")
    if _begins(steps, pages) and not any(_begins(steps, folded_steps(one)) for one in own):
        return "these pages are the engine's and the owner's"
    return ""


def _begins(steps: Sequence[str], folder: Sequence[str]) -> bool:
    return steps[: len(folder)] == list(folder)


def _holds(place: str, steps: Sequence[str]) -> bool:
    """Whether the steps of a protected place stand anywhere in a path's."""
    pattern = [step for step in folded_steps(place.replace("\\", "/")) if step.strip(".")]
    while pattern and pattern[-1] == "**":
        pattern.pop()
    if pattern and pattern[0] == "**":
        pattern = pattern[1:]
    runs = (steps[at : at + len(pattern)] for at in range(len(steps) - len(pattern) + 1))
    return bool(pattern) and any(all(map(_fits, run, pattern)) for run in runs)


def _fits(step: str, pattern: str) -> bool:
    return step == pattern or fnmatchcase(step, pattern)


def _covers(entry: str, steps: Sequence[str], tree: Tree) -> bool:
    """Whether an entry of `knowledge` (a file, a folder or a glob) covers a path's steps."""
    wanted = [step for step in normalize("NFC", entry).split("/") if step not in {"", "."}]
    plain = next((at for at, one in enumerate(wanted) if _GLOB.search(one)), len(wanted))
    globs = wanted[plain:]
    if ".." in wanted or not wanted:
        return False
    if plain:
        real = tree.real("/".join(wanted[:plain]))
        if real is None:
            return False
        wanted = [*normalize("NFC", real).split("/"), *globs]
    if not globs:
        return _begins(steps, wanted)
    return _matches(steps, [*wanted, *(["**"] if entry.endswith("/") else [])])


def _matches(steps: Sequence[str], pattern: Iterable[str]) -> bool:
    """A glob over whole steps: `**` stands for any number of them."""
    ends = {0}
    for one in pattern:
        if one == "**":
            ends = set(range(min(ends, default=len(steps) + 1), len(steps) + 1))
        else:
            ends = {at + 1 for at in ends if at < len(steps) and _fits(steps[at], one)}
    return len(steps) in ends
