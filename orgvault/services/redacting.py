"""`redact`: where a secret stands, and the one legal rewriting of a history."""

from orgvault.domain import redaction
from orgvault.errors import CannotRedact
from orgvault.services.desk import Desk
from orgvault.store.redaction import Found, Redaction, Rewritten
from orgvault.store.roster import SOURCE
from orgvault.store.vault import ORG
from orgvault.values import dataclass

NOWHERE = (
    "it stands nowhere here: not as text, not as JSON writes it "
    "(what hides it otherwise, base64 say, is not looked for)"
)
_RUNS = f"{ORG}/runs/"
_FILED = f"{ORG}/proposals/"


@dataclass(frozen=True)
class Redacted:
    """Where the value was found, what was rewritten (if it was asked for), what is left to do.

    `refused` says why a rewriting that was only to be shown would not be done.
    """

    found: Found
    rewritten: Rewritten | None
    to_do: tuple[str, ...]
    refused: str = ""


def redact(desk: Desk, value: str, *, rewrite: bool, only_shown: bool) -> Redacted:
    """Look for a value; with `rewrite` take it out of history, unless it is `only_shown`.

    Raises CannotRedact, VaultBusy.
    """
    desk.require("redact", "redact")
    if why := redaction.why_not(value):
        raise CannotRedact(why, "give the whole secret")
    work = Redaction(desk.vault, redaction.forms(value))
    found = work.find()
    if not any(found.in_git):
        return Redacted(found, None, ())
    if not rewrite:
        return Redacted(found, None, _left_to_do(desk, found, rewritten=False))
    if only_shown:
        if refused := _refusal(work, found):
            return Redacted(found, None, (), refused)
        return Redacted(found, None, _left_to_do(desk, found, rewritten=False))
    message = desk.message("org(vault): redact a secret", "redact")
    done = work.rewrite(found, message, desk.author, desk.clock.now())
    return Redacted(found, done, _left_to_do(desk, found, rewritten=True))


def _left_to_do(desk: Desk, found: Found, *, rewritten: bool) -> tuple[str, ...]:
    def had(place: str) -> bool:
        return any(one.startswith(desk.vault.place.in_repository(place)) for one in found.tracked)

    return redaction.left_to_do(
        rewritten=rewritten, source=had(SOURCE), filed=had(_FILED), sent=had(_RUNS)
    )


def describe(done: Redacted) -> str:
    """What was found and done, line by line; never the value."""
    found, lines = done.found, list[str]()
    lines += [f"file       {one}" for one in found.tracked]
    lines += [f"untracked  {one}   (edit it by hand)" for one in found.untracked]
    lines += [f".git       {one}   ({_what_to_do(one)})" for one in found.private]
    lines += [f"file name  in the folder {one[:10]} of git" for one in found.names]
    counts = f"{len(found.commits)} commits, {len(found.blobs)} contents, {len(found.tags)} tags"
    counts = counts if any(found.in_git) else "nowhere, so that there is nothing to rewrite"
    lines.append(f"in git: {counts}" if found.anywhere else NOWHERE)
    if done.refused:
        lines.append(done.refused)
    if done.rewritten is not None:
        one = done.rewritten
        lines.append(
            f"rewritten: {one.commits} commits and {len(one.refs)} refs, HEAD was "
            f"{one.old_head[:10]} and is {one.new_head[:10]}; all names are in {one.map}"
        )
    lines += ["Left to do:", *(f"  {one}" for one in done.to_do)] if done.to_do else []
    return "\n".join(lines)


def _what_to_do(path: str) -> str:
    """What helps where the git folder holds the value in a file of git's own, or in one of ours."""
    first = path.partition("/")[0]
    if path.startswith(("orgvault/spool/", "orgvault/journal/")):
        return "it waits to be committed, as `orgvault post` and the like do: never remove it"
    if first in {"packed-refs", "refs", "HEAD", "index"}:
        return "never remove it: rename the branch, tag or file that has it in its name"
    if first == "logs":
        return "`git reflog expire --expire=now --all`"
    return "edit it by hand" if first in {"config", "info", "hooks"} else "remove it"


def _refusal(work: Redaction, found: Found) -> str:
    try:
        work.refuse(found)
    except CannotRedact as failure:
        return str(failure)
    return ""
