"""Every failure a person can meet.

Each class writes its own sentence (what, where, what to do) from the facts it is given, and has
its exit code: 1 a known failure, 2 usage, 3 refused by the gate, 4 not allowed, 5 changed
underneath, 70 a bug, 75 the vault is busy.  No message text stands where they are raised.
"""

from collections.abc import Callable, Sequence

_SHOWN_EMBEDS = 40


class OrgvaultError(Exception):
    """A known failure; `str()` is the sentence a person reads."""

    exit_code = 1


class NoVault(OrgvaultError):
    """No `.agents/org/` at or above the place where we looked."""

    def __init__(self, start: str) -> None:
        super().__init__(
            f"no vault at {start} or above it (no .agents/org/ folder): "
            "go to your vault, name it with -C, or make one with `orgvault init`"
        )


class InsideAnother(OrgvaultError):
    """A vault was to be made where its files would not be a person's."""

    def __init__(self, path: str, where: str) -> None:
        super().__init__(
            f"no vault was made at {path}: it is in {where}: name the folder of your notes"
        )


class NoFolder(OrgvaultError):
    """There is no such folder."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is not a folder: make it first")


class NoRepository(OrgvaultError):
    """The vault is not inside a git repository."""

    def __init__(self, place: str) -> None:
        super().__init__(f"{place} is not in a git repository: run `orgvault init` there")


class NoRepositoryYet(OrgvaultError):
    """A preview of `init` where a repository would have to be made first."""

    def __init__(self, place: str) -> None:
        super().__init__(f"{place} is in no git repository: without --dry-run, one is made there")


class ForeignRepository(OrgvaultError):
    """git does not trust the repository since another user owns it."""

    def __init__(self, place: str) -> None:
        super().__init__(
            f"git refuses {place} since another user owns it: if you trust it, run "
            f"`git config --global --add safe.directory {place}`"
        )


class PathsIgnored(OrgvaultError):
    """A gitignore rule hides what orgvault writes."""

    def __init__(self, rule: str, path: str) -> None:
        super().__init__(
            f"{rule} ignores {path}, so that nothing orgvault writes could be committed: "
            "take that line out, or add `!.agents/` below it"
        )


class GitFailed(OrgvaultError):
    """A git command failed in a way we do not expect."""

    def __init__(self, command: str, said: str) -> None:
        super().__init__(f"`{command}` failed: {said or 'it said nothing'}")


class NotCompiled(OrgvaultError):
    """There is no compiled roster."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is missing: run `orgvault compile`")


class BadFile(OrgvaultError):
    """A file cannot be used as it stands; it is named with line, fault and remedy."""

    def __init__(self, file: str, line: int, what: str, do: str) -> None:
        super().__init__(f"{file}:{line}: {what}, {do}" if line else f"{file}: {what}, {do}")


class Faults(OrgvaultError):
    """Several things wrong at once, each with its place."""

    def __init__(self, what: str, faults: Sequence[object]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join([what, *map(str, faults)]))


class NotCompilable(Faults):
    """org.yaml does not compile; every fault has its line."""

    def __init__(self, path: str, faults: Sequence[object]) -> None:
        super().__init__(f"{path} was not compiled:", faults)


class UnusableRoster(Faults):
    """org-agents.json cannot be used."""

    def __init__(self, path: str, faults: Sequence[object]) -> None:
        super().__init__(f"{path} cannot be used:", faults)


class UnreadableMemory(Faults):
    """A claim's file cannot be read, and a shorter list would be a lie."""

    def __init__(self, agent: str, faults: Sequence[object]) -> None:
        super().__init__(f"the memory of {agent} cannot be read:", faults)


class NoSource(OrgvaultError):
    """There is no org.yaml to compile."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is missing: run `orgvault init`, or restore it from git")


class Stale(OrgvaultError):
    """A generated file is not what its source gives."""

    def __init__(self, path: str, source: str, command: str) -> None:
        super().__init__(f"{path} is not what {source} gives: run `{command}`")


class UnknownAgent(OrgvaultError):
    """No such agent on the roster."""

    def __init__(self, agent: str, known: Sequence[str]) -> None:
        super().__init__(
            f"no agent `{agent}` on the roster: it has {', '.join(known) or 'none'} "
            "(after editing org.yaml run `orgvault compile`)"
        )


class UnknownActor(OrgvaultError):
    """Somebody acts who is neither an operator nor on the roster."""

    exit_code = 4

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"nobody is called `{name}` here: known are {', '.join(known)}")


class UnknownWake(OrgvaultError):
    """No such wake in any queue of ours."""

    def __init__(self, given: str) -> None:
        super().__init__(
            f"no wake `{given}`: see `orgvault wake list --all`, or say with --agent whose it is"
        )


class UnknownCard(OrgvaultError):
    """No card of that id, or its note cannot be read."""

    def __init__(self, given: str, why: str) -> None:
        super().__init__(f"no card `{given}`: {why or 'see `orgvault task list --all`'}")


class UnknownRun(OrgvaultError):
    """No reflection speaks of that run."""

    def __init__(self, given: str) -> None:
        super().__init__(
            f"nothing is stored of a reflection on `{given}`: see `orgvault memory episodes AGENT`"
        )


class UnknownClaim(OrgvaultError):
    """No claim of that id, and no line of core.md that reads so."""

    def __init__(self, given: str) -> None:
        super().__init__(
            f"no claim `{given}`: give an id (`orgvault memory AGENT --all`) or a whole line of "
            "core.md"
        )


class UnknownRevision(OrgvaultError):
    """No commit of that name, or none that early."""

    def __init__(self, given: str, *, dated: bool = True) -> None:
        date = ", or a date like 2026-11-20" if dated else " (one commit, no range)"
        super().__init__(f"no commit `{given}`: give a revision{date}")


class CannotRedact(OrgvaultError):
    """A value that cannot be looked for, or a history that cannot be rewritten soundly."""

    def __init__(self, why: str, do: str) -> None:
        super().__init__(f"nothing was redacted, {why}: {do}")


class NothingBefore(OrgvaultError):
    """The history begins later."""

    def __init__(self, moment: str) -> None:
        super().__init__(f"no commit is as old as {moment}: give a later date, or a revision")


class AmbiguousClaim(OrgvaultError):
    """A shortened id fits several claims."""

    def __init__(self, given: str, fits: Sequence[str]) -> None:
        super().__init__(f"`{given}` fits several claims: {', '.join(fits)}; give more of it")


class BadValue(OrgvaultError):
    """A value that cannot be recorded."""

    exit_code = 2

    def __init__(self, name: str, value: str, wanted: str) -> None:
        super().__init__(f"{name} {value!r} cannot be recorded: {wanted}")


class BadCallsPerDay(OrgvaultError):
    """The setting of the day's cap is no number."""

    exit_code = 2

    def __init__(self, given: str) -> None:
        super().__init__(
            f"ORG_REFLECT_MAX_PER_DAY is {given!r}, so no model is called: give a whole number, "
            "0 or more, or unset it"
        )


class BadRunId(OrgvaultError):
    """A run id that cannot be one."""

    exit_code = 2

    def __init__(self, given: str) -> None:
        super().__init__(
            f"--run {given!r} is no run id: a letter or digit, then up to 127 of "
            "A-Z a-z 0-9 . _ : -"
        )


class BadAgentId(OrgvaultError):
    """An agent id that cannot be one."""

    exit_code = 2

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}: choose another --agent")


class BadClaimText(OrgvaultError):
    """Words that cannot be a claim's."""

    exit_code = 2

    def __init__(self, text: str, why: str) -> None:
        super().__init__(
            f"{text!r} cannot be recorded as a claim: {why or 'it is empty, give a sentence'}"
        )


class NoTitle(OrgvaultError):
    """A card says in its title what is to be done."""

    exit_code = 2

    def __init__(self) -> None:
        super().__init__("a card needs a title: say in a few words what is to be done")


class NoReason(OrgvaultError):
    """A claim is closed with a reason."""

    exit_code = 2

    def __init__(self, claim: str) -> None:
        super().__init__(f"{claim} is closed with a reason: say why in a few words")


class WhoseRun(OrgvaultError):
    """A person posts for a run and does not say whose it is."""

    exit_code = 2

    def __init__(self) -> None:
        super().__init__("it is not clear whose run this is: name the agent with --agent")


class NoWake(OrgvaultError):
    """`wake-done` was given no wake (an empty variable, often)."""

    exit_code = 2

    def __init__(self) -> None:
        super().__init__(
            "no wake was given: name the wakes that the run closes, or record a run that had none "
            "with `orgvault reflect AGENT --run R`"
        )


class InsideVault(OrgvaultError):
    """A new vault would stand inside one."""

    def __init__(self, place: str, around: str) -> None:
        super().__init__(
            f"{place} is inside the vault {around}: go there, or, for a vault of its own, name "
            f"the folder: `orgvault init {place}`"
        )


class MixedWakes(OrgvaultError):
    """The wakes of one report belong to several agents, or to none."""

    exit_code = 2

    def __init__(self, agents: Sequence[str]) -> None:
        whose = ", ".join(agents) or "nobody we know"
        super().__init__(
            f"these wakes belong to {whose}: close those of one agent at a time, or say with "
            "--agent whose they are"
        )


class AlreadySo(OrgvaultError):
    """The thing is already in the state that was asked for, or in one that forbids it."""

    def __init__(self, what: str, state: str, do: str) -> None:
        super().__init__(f"{what} is {state}: {do}")


class NotRecorded(OrgvaultError):
    """A row could not be made durable; nothing was acknowledged."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(
            f"nothing was recorded, {place} could not be written ({why}): "
            "make room or mend the disk, then run the same command again"
        )


class NotAllowed(OrgvaultError):
    """This actor may not do this; the same for what does not exist and what is not theirs."""

    exit_code = 4

    def __init__(self, actor: str, verb: str, who: str) -> None:
        super().__init__(f"{actor} may not {verb}: {who} may")


class ChangedUnderneath(OrgvaultError):
    """A file no longer is what was read, or what the person has staged for it."""

    exit_code = 5

    def __init__(self, path: str, how: str) -> None:
        super().__init__(f"{path} {how}, nothing was changed: look at it and try again")


class VaultBusy(OrgvaultError):
    """The write could not be done now and could not be queued."""

    exit_code = 75

    def __init__(self, why: str, do: str) -> None:
        self.why = why
        super().__init__(f"the vault is busy, {why}: {do}")


class LockHeld(VaultBusy):
    """A lock file of git stands in the way: which, for how long, and whether anyone holds it."""

    def __init__(self, path: str, age: str, held_by: Sequence[str]) -> None:
        holder = f"held by {', '.join(held_by)}" if held_by else "no process has it open"
        super().__init__(
            f"{path} has been there for {age} ({holder})",
            "if no git command is running, remove it",
        )


class Detached(VaultBusy):
    """HEAD is on no branch, so that a commit would belong to none."""

    def __init__(self) -> None:
        super().__init__(
            "HEAD is detached",
            "check out a branch (`git branch` lists them), or point ORGVAULT_VAULT at the working "
            "tree that has one",
        )


class InProgress(VaultBusy):
    """A merge, rebase or the like is unfinished, or a commit message is open."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is in progress", "finish or abort it, then try again")


class ModelFailed(OrgvaultError):
    """A model call failed; reflection records it and goes on."""

    def __init__(self, model: str, why: str) -> None:
        self.why = why
        super().__init__(f"{model} did not answer: {why}")


class EmbedBudgetExceeded(OrgvaultError):
    """A text embeds more than a prompt takes; each embed is named with its bytes."""

    def __init__(self, source: str, limit: int, sizes: Sequence[tuple[str, int]]) -> None:
        self.sizes = tuple(sizes)
        self._source, self._limit = source, limit
        shown = [f"  {size:>9,}  {target}" for target, size in self.sizes[:_SHOWN_EMBEDS]]
        if len(self.sizes) > _SHOWN_EMBEDS:
            shown.append(f"  and {len(self.sizes) - _SHOWN_EMBEDS:,} more")
        what = (
            f"embed budget exceeded: {source or 'the task'} embeds more than {limit:,} bytes; "
            "take embeds out, or embed a part (`![[note#Heading]]`).  In bytes, at least:"
        )
        super().__init__("\n".join([what, *shown]))

    def masked(self, masked: Callable[[str], str]) -> "EmbedBudgetExceeded":
        """The same, with no secret in a name."""
        sizes = [(masked(target), size) for target, size in self.sizes]
        return EmbedBudgetExceeded(masked(self._source), self._limit, sizes)


class BrokenTemplate(OrgvaultError):
    """The capability parts of system.md are not well-formed."""

    def __init__(self, problems: Sequence[object]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, problems)))
