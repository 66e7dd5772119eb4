"""The page of who may do what, from the table that decides it."""

import sys

from orgvault.domain.access import TABLE, Actor, allowed
from orgvault.domain.roster import Agent

HEAD = """\
# Who may do what

Generated from `orgvault/domain/access.py` by `make docs`; do not edit.

One function decides for every command. How it is found out who is acting stands in
[Environment](environment.md); `orgvault status --json` tells it as `actor`. What is refused ends
with 4, and says who may.

- The *owner* and the *operators* (`role: reviewer`) are the people of org.yaml.
- The *lead* of an agent is the person or the agent that its `lead:` names. The column says what a
  lead may as such; a reviewer who leads may what reviewers may, too.
- *Another agent* is one that neither is the agent nor leads it.
"""

FOOT = """\
- `status`, `stats`, `query`, `wake list`, `memory why`, `replay` and the lists show what you may
  see and leave out the rest. People also see what agents left that are no longer on the roster.
- An agent sees its own cards with `orgvault query "SELECT * FROM cards"`.
- An agent draws a picture (`--plot`) only into its home.
- An agent is told as little of what is not there as of what it may not see.
- Collections and their records are for people, and for agents as the collection's `access:` says
  (`read`, or `write`): `collection list`, `collection show`, `record list`, `record add`.
- `init` is for people; before there is a vault nobody can ask who they are.

These rules stop mistakes. They do not stop a program that writes the files itself: whoever may
write in the folder can write anything, and `git log` shows what was written.
"""

# What each verb stands for: in words, and the commands.  Those that the table does not have are
# the owner's.
VERBS: dict[str, tuple[str, tuple[str, ...]]] = {
    "read": (
        "read its memory, runs, wakes and figures",
        (
            "memory show", "memory episodes", "memory stats", "memory why", "recall", "wake list",
            "replay", "status", "stats", "query", "run list", "run show", "prompt preview",
            "prompt diff", "prompt verify", "prompt shape", "routine list", "script list",
        ),
    ),
    "list": (
        "see its proposals and what came of them",
        ("proposal list", "proposal show", "ledger list", "ledger show"),
    ),
    "correct": ("put its claims right", ("memory edit", "memory retire")),
    "dispatch": (
        "start and report its runs; compile the roster",
        (
            "dispatch", "run start", "run exec", "wake-done", "reflect", "import claude-code",
            "import codex", "compile",
        ),
    ),
    "redo": ("send its work back", ("task redo",)),
    "task": ("keep the backlog", ("task add", "task list", "task show", "task done", "task close")),
    "proposal-close": (
        "answer its proposal, or make a commit of it (`proposal show --branch`)",
        ("proposal close", "proposal shipped"),
    ),
    "post": ("say how its run goes; speak in the group chat", ("post", "chat post")),
    "roster": ("know names, focus and leads; read the group chat", ("chat list",)),
    "shape": ("shape collections; change org.yaml, which no command writes", ("collection add",)),
    "wake": ("ask that it runs", ("wake add",)),
    "propose": ("let a claim become a proposal now", ("propose-improvement",)),
    "proposal-check": ("try a diff on the gate", ("proposal check",)),
    "proposal-sync": ("write down how proposals stand", ("proposal sync",)),
    "ledger-sync": ("write down what was shipped, and measure", ("ledger sync",)),
    "routine": (
        "give it routines",
        ("routine add", "routine due", "routine pause", "routine resume"),
    ),
    "script": ("give it scripts", ("script add",)),
    "connectors": (
        "look after connectors",
        ("connector list", "connector check", "connector try"),
    ),
    "check": ("check every file", ("check", "collection check")),
    "audit": ("prove the history", ("audit",)),
    "doctor": ("examine the vault and this machine", ("doctor",)),
    "redact": ("take a secret out of the history", ("redact",)),
    "selftest": ("try the transaction on this disk", ("selftest",)),
    "render": ("write its core.md anew", ("memory render",)),
}  # fmt: skip
# What no verb decides: before there is a vault, and where a collection says who may.
FREE = {"init", "collection list", "collection show", "record add", "record list"}
COLUMNS = {
    "owner": Actor("owner", "sam"),
    "operator": Actor("operator", "kim"),
    "lead": Actor("agent", "lead"),
    "the agent itself": Actor("agent", "self"),
    "another agent": Actor("agent", "other"),
}


def page(commands: set[str]) -> str:
    """The page, as Markdown; each of `commands` and each verb of the table must be on it."""
    named = [one for _, own in VERBS.values() for one in own]
    amiss = sorted((set(TABLE) - set(VERBS)) | (commands - FREE ^ set(named)))
    if amiss or len(named) != len(set(named)):
        sys.exit(f"VERBS of tools/access_page.py: say once where these belong: {', '.join(amiss)}")
    agent = Agent(id="self", name="Self", lead="lead")
    lines = [
        HEAD,
        f"| verb | is to | commands | {' | '.join(COLUMNS)} |",
        "|---" * (3 + len(COLUMNS)) + "|",
    ]
    for verb, (what, own) in VERBS.items():
        shown = ", ".join(f"`{one}`" for one in own) or "–"
        may = ("yes" if allowed(actor, verb, agent) else "–" for actor in COLUMNS.values())
        lines.append(f"| `{verb}` | {what} | {shown} | {' | '.join(may)} |")
    return "\n".join(lines) + f"\n\n{FOOT}"
