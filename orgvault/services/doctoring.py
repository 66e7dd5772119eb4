"""`doctor`: machine, repository and vault, looked at one by one; what is safe, mended."""

from collections.abc import Callable, Iterator

from orgvault.domain.capability_parts import TEMPLATE
from orgvault.domain.diagnosis import (
    Diagnosis,
    State,
    fault,
    in_short,
    judge_secrets,
    ok,
    warning,
)
from orgvault.domain.org_compiler import compile_org, encode_compiled
from orgvault.errors import OrgvaultError
from orgvault.services import doctoring_files, doctoring_git
from orgvault.services.desk import Desk
from orgvault.services.doctoring_git import Mending
from orgvault.store.roster import COMPILED, SOURCE, load
from orgvault.store.surroundings import Mode, Surroundings
from orgvault.values import dataclass

Question = Callable[[], Iterator[Diagnosis]]


@dataclass(frozen=True)
class Examined:
    """Everything that was looked at, in order, and how many warnings and faults are left."""

    diagnoses: tuple[Diagnosis, ...]
    warnings: int
    faults: int


def examine(desk: Desk, *, fix: bool, only_shown: bool) -> Examined:
    """Look at everything; with `fix` mend what is safe, unless it is `only_shown`.

    A question that cannot be answered is a fault of its own and keeps no other from being asked.
    """
    desk.require("doctor", "examine the vault")
    asked: dict[str, Question] = {
        "owner": lambda: _owner(desk),
        **doctoring_git.questions(desk, Mending(asked=fix, only_shown=only_shown)),
        **doctoring_files.questions(desk),
        "roster": lambda: _roster(desk),
        "template": lambda: _template(desk),
        "secrets": lambda: _secrets(desk),
        "modes": lambda: _modes(desk),
        "isolation": lambda: _isolation(desk),
    }
    found = [one for name, question in asked.items() for one in _answers(name, question)]
    counts = {state: sum(one.state == state for one in found) for state in State}
    return Examined(tuple(found), counts[State.WARNING], counts[State.FAULT])


def _answers(name: str, question: Question) -> list[Diagnosis]:
    try:
        return list(question())
    except OrgvaultError as failure:
        return [fault(name, str(failure), "mend that, then ask again")]
    except OSError as failure:
        what = f"{failure.filename or 'a file'} cannot be looked at ({failure.strerror})"
        return [fault(name, what, "mend its mode or owner, then ask again")]


def _owner(desk: Desk) -> Iterator[Diagnosis]:
    desk.vault.repository.trusted()
    yield ok("owner", "git trusts the repository")


def _roster(desk: Desk) -> Iterator[Diagnosis]:
    source, compiled = desk.vault.read(SOURCE), desk.vault.read(COMPILED)
    if source is None:
        yield fault("roster", f"{SOURCE} is missing", "`orgvault init`, or restore it from git")
        return
    roster, said = load(desk.vault)
    made, problems = compile_org(source.decode(errors="replace"), desk.version)
    if made is None:
        what = f"{SOURCE} does not compile ({len(problems)} problems); the last good one is used"
        yield warning("roster", what, "`orgvault compile` lists them")
    elif compiled != encode_compiled(made).encode():
        what = f"{COMPILED} is not what {SOURCE} gives"
        yield warning("roster", what, "`orgvault compile`")
    elif said:
        yield warning("roster", in_short(said), "`orgvault check`")
    else:
        yield ok("roster", f"compiled, with {len(roster.agents)} agents")


def _template(desk: Desk) -> Iterator[Diagnosis]:
    if desk.vault.read(TEMPLATE) is None:
        yield fault(
            "template", f"{TEMPLATE} is missing: no prompt can be composed", "`orgvault init`"
        )
    else:
        yield ok("template", f"{TEMPLATE} is there")


def _secrets(desk: Desk) -> Iterator[Diagnosis]:
    bound = {
        str(one["name"])
        for agent in desk.roster.agents.values()
        for one in agent.block.get("secrets") or ()
    }
    names = sorted(bound)
    yield from judge_secrets(names, [desk.environment.get(name, "") for name in names])


def _modes(desk: Desk) -> Iterator[Diagnosis]:
    around = Surroundings(desk.vault, desk.roster.pages_folder)
    modes, reached = around.modes(), around.open_to_others()
    foreign = [_said(one) for one in modes if one.foreign]
    if foreign:
        yield warning("modes", f"of another user: {in_short(foreign)}", "`chown` them, if yours")
    loose = [_said(one) for one in modes if one.written_by_others]
    shared = [_said(one) for one in modes if one.written_by_group and not one.written_by_others]
    if loose and reached:
        what = f"any user of this machine may write: {in_short(loose)}"
        yield fault("modes", what, f"`chmod -R o-w {desk.vault.repository.top}`")
    elif loose:
        what = f"open to all, behind a folder that is closed to others: {in_short(loose)}"
        yield warning("modes", what, f"`chmod -R o-w {desk.vault.repository.top}`")
    if shared:
        what = f"a group may write: {in_short(shared)}"
        do = f"`chmod -R g-w {desk.vault.repository.top}`, unless that group is you alone"
        yield warning("modes", what, do)
    if not (foreign or loose or shared):
        yield ok("modes", "only its owner may write the vault and its .git")


def _isolation(desk: Desk) -> Iterator[Diagnosis]:
    """The level of vault.md as it is: nothing in this version reaches level 1 by itself."""
    around = Surroundings(desk.vault, desk.roster.pages_folder)
    modes = {one.path: one for one in around.modes()}
    root, git = modes[desk.vault.root], modes[desk.vault.repository.common_dir]
    closed = not around.open_to_others() or not (root.read_by_others or git.read_by_others)
    others = "cannot read" if closed else "can read"
    what = (
        "level 0: the access rules stop mistakes, not a hostile process. Whatever runs as user "
        f"{root.uid} can write every file here, .git included; `orgvault audit` finds that "
        f"afterwards. Other users of this machine {others} the vault (looked at: owner, "
        f"{_said(root)} and {_said(git)}, and the folders above). Level 1 needs agents that run "
        "as another user and reach the vault through a broker only; level 2 a central repository "
        "that audits what is pushed. Neither can be seen from here"
    )
    yield ok("isolation", what)


def _said(one: Mode) -> str:
    return f"{one.path} ({one.mode:04o})"
