"""The sentences that the composer itself puts into the sections: intros and memory rules."""

from collections.abc import Sequence

from orgvault.domain import offer

TASK = "This is the operator's standing purpose for you. You do not rewrite it."
NOT_WITH_MEMORY_WRITE = "It is not yours to edit with `memory_write`."
TASK_TEXT = "Task:"

STATE = "This is a read-only snapshot, taken when the run was created."
_INSTEAD = "Use it instead of a first call of {tools}."
_SEARCH = "Notes are not listed here: search them with `note_find`."
# What each key holds, for those that are there.
KEYS = {
    "utc_date": "`utc_date` is that moment's day; take dates from here, and never make one up.",
    "max_tool_calls": "`max_tool_calls` is how many tool calls this run may make.",
    "about": "`group.about` says in one line what the guild is.",
    "description": "`group.description` says more about the guild.",
    "members": "`group.members` are the agents, with what each does.",
    "operators": "`group.operators` are the people, with their roles.",
    "history": "`group.history` holds recent public messages, oldest first, each with who sent it.",
    "collections": "`collections` are the tables you can read; `truncated` says there are more.",
    "scripts": "`scripts` are your own programs; one with `parameters` is a tool as well.",
    "environment": "`environment` names the secrets you have, never a value.",
    "repositories": "`repositories` are the working trees you work in.",
    "utc_now": "`utc_now` is the moment itself, in UTC.",
}

MEMORY = "### Your Memory"
MEMORY_RULES = """\
Your notebook stands below. You change it with `memory_write`.

- Keep what helps in later runs: how things are done here, what you promised, where things stand.
- Change or take out what no longer holds before you add. One fact stands once; link to the rest.
- No secrets, no copies of notes, nothing that State tells you anyway.
- What stands under a heading like "What … has learned" comes from your finished runs. You do not
  edit that."""


def task(tools: Sequence[str]) -> str:
    """The intro of the Task."""
    return f"{TASK} {NOT_WITH_MEMORY_WRITE}" if offer.MEMORY_WRITE in tools else TASK


def state(keys: Sequence[str], sentences: Sequence[str], tools: Sequence[str]) -> str:
    """The intro of State: of the keys that are there, and with each connector's own sentence.

    Only the listing tools that the run offers are named.
    """
    listing = [name for name in ("note_find", "record_list", "script_list") if name in tools]
    lines = [STATE]
    if listing:
        lines[0] += " " + _INSTEAD.format(tools=listed(listing, "or"))
    if offer.NOTES[0] in tools:
        lines.append(_SEARCH)
    told = [text for key, text in KEYS.items() if key in keys and key != "utc_now"]
    lines += (f"- {text}" for text in (*told, *sentences, KEYS["utc_now"]))
    return "\n".join(lines)


def listed(names: Sequence[str], word: str) -> str:
    """The names of tools as a sentence lists them, `word` before the last; empty for none."""
    shown = [f"`{name}`" for name in names]
    return f" {word} ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def shape() -> dict[str, str]:
    """Everything that the composer may say by itself, for whoever drafts a Task."""
    tools = [*offer.NOTES, *offer.RECORDS, *offer.SCRIPTS, offer.MEMORY_WRITE]
    return {
        "task_intro": task(tools),
        "state_intro": state(list(KEYS), (), tools),
        "memory_heading": MEMORY,
        "memory_rules": MEMORY_RULES,
    }
