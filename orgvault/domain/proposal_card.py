"""The note of a proposal: what a person reads before they apply it or close it."""

import re
import shlex
from collections.abc import Sequence
from unicodedata import category

from orgvault.domain.card import Card
from orgvault.domain.episode import Episode
from orgvault.domain.proposal import Proposal, Target
from orgvault.domain.statement import JOINERS

RATIONALE_CHARS = 4000
_TITLE_CHARS = 200
_LEAST_FENCE = 3
_TEMPLATE = "<%"
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Marks of Markdown and of Obsidian: links, embeds, tags, block ids, comments, math, tables,
# emphasis, code, highlights, addresses, fields and templates of plugins.
_MARKS = re.compile(r"[\\`*_{}\[\]#!|~^$%=@]|:(?=[:/])|(?<=:):|(?<=[Ww]{3})\.")
# At the start of a line: lists and headings underlined.
_STARTS = re.compile(r"^(?:([-+])|(\d+)([.)]))", re.MULTILINE)
_ENTITIES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}


def card(proposal: Proposal, name: str) -> Card:
    """The frontmatter of a proposal's note; `name` is what its agent is called."""
    kind = "revert" if proposal.reverts else "improve"
    return Card(
        id=proposal.id, kind=kind, status="open", title=_title(proposal, name),
        author=proposal.agent, agent=proposal.agent, created=proposal.created,
        memory_id=proposal.memory_id, target=proposal.target, expires=proposal.expires,
        flags=proposal.flags,
    )  # fmt: skip


def body(
    proposal: Proposal, rationale: str, evidence: Sequence[Episode], diff: bytes, prefix: str
) -> str:
    """What stands below the frontmatter.

    `prefix` is the vault's folder in its repository, empty for the top.
    """
    parts = [
        f"## Why\n\n{as_text(rationale[:RATIONALE_CHARS]) or 'No reason was given.'}",
        f"## Evidence\n\n{_evidence(proposal, evidence)}",
        f"## Change\n\n{_change(proposal, diff)}",
        f"## Apply it, or close it\n\n{_commands(proposal, prefix)}",
    ]
    return "\n" + "\n\n".join(parts) + "\n"


def as_text(words: str) -> str:
    """Words of a model as Markdown that shows just these words, in Obsidian too.

    Lines and paragraphs stay; whatever else could mean something is escaped, and what cannot be
    seen is left out.
    """
    lines = [_visible(line) for line in words.replace("\r\n", "\n").split("\n")]
    marked = _MARKS.sub(lambda mark: f"\\{mark[0]}", "\n".join(lines).strip("\n"))
    marked = _STARTS.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", marked)
    return re.sub(r"\n{3,}", "\n\n", marked.translate(_ENTITIES))


def fenced(text: str, language: str) -> str:
    """A text as a block of code, in a fence longer than any inside it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(_LEAST_FENCE, longest + 1)
    return f"{fence}{language}\n{text.removesuffix(chr(10))}\n{fence}"


def apply_command(proposal: Proposal, prefix: str) -> str:
    """The command that applies a diff, for a shell in the vault's folder.

    git takes the names in a diff as from the repository's top, wherever it is called.
    """
    folder = f"--directory={shlex.quote(prefix)} " if prefix else ""
    return f"git apply {folder}.agents/org/proposals/{proposal.id}.diff"


def ref(card_id: str) -> str:
    """The ref under which the change stands as a commit, once somebody asks for that."""
    return f"refs/orgvault/proposals/{card_id}"


def _title(proposal: Proposal, name: str) -> str:
    if proposal.target is Target.OWN_PROMPT:
        what = ", ".join(edit.key for edit in proposal.edits)
    else:
        what = f"the skill {proposal.path}"
    title = f"Undo {proposal.reverts}: {what}" if proposal.reverts else f"{name}: change {what}"
    return title if len(title) <= _TITLE_CHARS else title[: _TITLE_CHARS - 1] + "…"


def _evidence(proposal: Proposal, evidence: Sequence[Episode]) -> str:
    lines = [
        f"- `{one.run}` ({one.finished_at[:10]}, {one.outcome}): {as_text(_one_line(one.summary))}"
        for one in evidence
    ]
    shown = [fenced(f"orgvault memory episodes {proposal.agent}", "sh")]
    if proposal.memory_id:
        shown = [fenced(f"orgvault memory why {proposal.memory_id}", "sh")]
    return "\n".join([*(lines or ["No run is named."]), "", *shown])


def _change(proposal: Proposal, diff: bytes) -> str:
    lines = [as_text(proposal.path), *(f"\n- Look twice: {as_text(f)}" for f in proposal.flags)]
    text = diff.decode(errors="replace").replace("\r\n", "\n")
    if _TEMPLATE in text:  # Templater runs what stands there, even in a block of code
        shown = "The diff holds a mark of the Templater plugin, so it is not shown here."
    else:
        shown = fenced(text, "diff")
    return "\n".join([*lines, "", shown])


def _commands(proposal: Proposal, prefix: str) -> str:
    card_id = proposal.id
    lines = [
        f"orgvault proposal show {card_id} --word-diff",
        apply_command(proposal, prefix),
        f"orgvault proposal close {card_id} 'why not'",
        "",
        "# or as a commit, to compare, cherry-pick or merge:",
        f"orgvault proposal show {card_id} --branch",
        f"git diff HEAD...{ref(card_id)}",
    ]
    said = (
        "Only a person applies a change: after `git apply`, commit the file in your own words. "
        f"Unless that happens by {proposal.expires[:10]}, the proposal is withdrawn. "
        "From the folder of the vault:"
    )
    return f"{said}\n\n{fenced(chr(10).join(lines), 'sh')}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _visible(line: str) -> str:
    """A line without what cannot be seen, and without spaces at its ends."""
    spaced = "".join(" " if char.isspace() else char for char in line)
    return "".join(c for c in spaced if category(c) not in _HIDDEN or c in JOINERS).strip()
