"""`check`: every file of ours against its format, and the rules between files."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from orgvault.domain import capability_parts
from orgvault.domain.annotation import annotation
from orgvault.domain.capability_parts import TEMPLATE
from orgvault.domain.chat import LOG as CHAT
from orgvault.domain.chat import Said
from orgvault.domain.episode import Correction, Episode
from orgvault.domain.ids import is_claim_id
from orgvault.domain.org_compiler import compile_org, encode_compiled
from orgvault.domain.problem import Problem
from orgvault.domain.reflection import Reflection
from orgvault.domain.wake import Status, WakeEvent
from orgvault.services.checking_routines import check_routines
from orgvault.services.checking_runs import check_runs
from orgvault.services.checking_tasks import warnings_of_tasks
from orgvault.services.collecting import problems_of as problems_of_collections
from orgvault.services.connecting import problems_of
from orgvault.services.desk import Desk
from orgvault.services.keeping import core
from orgvault.services.scripting import problems_of as problems_of_scripts
from orgvault.store.cards import Cards
from orgvault.store.claims import ACTIVE, CLOSED, Claims, Stored
from orgvault.store.files import text_of
from orgvault.store.ledger import Ledger
from orgvault.store.losses import losses
from orgvault.store.proposals import Proposals
from orgvault.store.roster import COMPILED, SOURCE
from orgvault.store.vault import ORG

LOGS = {
    "episodes": Episode,
    "corrections": Correction,
    "reflections": Reflection,
    "status": Status,
    "wakes": WakeEvent,
    CHAT: Said,
}


@dataclass
class Checked:
    """What was looked at, everything wrong in it, by file and line, and what is only risky."""

    files: int = 0
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def check(desk: Desk) -> Checked:
    """Check the whole vault; never stops at the first problem."""
    desk.require("check", "check the vault")
    checked = Checked()
    _check_roster(desk, checked)
    _check_template(desk, checked)
    _check_logs(desk, checked)
    checked.problems += losses(desk.vault)
    for agent in _agents_with_memory(desk):
        text_of(desk.vault.read, f"{ORG}/memory/{agent}.md", checked.problems, "save it as UTF-8")
        _check_claims(desk, agent, checked)
    runs = check_runs(desk)
    checked.files += runs.files
    checked.problems += runs.problems
    checked.files += check_routines(desk, checked.problems)
    checked.files += problems_of_collections(desk, checked.problems)
    checked.files += problems_of_scripts(desk, checked.problems)
    connectors = problems_of(desk)
    checked.files += connectors.files
    checked.problems += connectors.problems
    cards = Cards(desk.vault, desk.roster.pages_folder)
    checked.files += len(cards.all(checked.problems))
    checked.files += 2 * len(Proposals(desk.vault).all(checked.problems))
    checked.files += len(Ledger(desk.vault).all(checked.problems))
    checked.problems.sort()
    checked.warnings += dict.fromkeys(warnings_of_tasks(desk))
    return checked


def annotations(desk: Desk, checked: Checked) -> list[str]:
    """The problems as workflow commands of GitHub, with files as the repository calls them."""
    whole = desk.vault.place.in_repository
    return [annotation(one, whole(one.file)) for one in checked.problems]


def _check_roster(desk: Desk, checked: Checked) -> None:
    source, compiled = desk.vault.read(SOURCE), desk.vault.read(COMPILED)
    checked.files += 2
    if source is None:
        checked.problems.append(Problem(SOURCE, 0, "the file is missing", "run `orgvault init`"))
        return
    made, problems = compile_org(source.decode(errors="replace"), desk.version)
    checked.problems.extend(problems)
    if made is not None and compiled != encode_compiled(made).encode():
        what = f"not what {SOURCE} compiles to"
        do = f"run `orgvault compile`; in a commit hook, stage {SOURCE}, too"
        checked.problems.append(Problem(COMPILED, 0, what, do))


def _check_template(desk: Desk, checked: Checked) -> None:
    before = len(checked.problems)
    text = text_of(desk.vault.read, TEMPLATE, checked.problems, "save it as UTF-8")
    checked.files += 1
    if text is not None:
        checked.problems.extend(capability_parts.problems(text, TEMPLATE))
    elif len(checked.problems) == before:
        do = "restore it from git, or run `orgvault init`"
        checked.problems.append(Problem(TEMPLATE, 0, "the file is missing", do))


def _check_logs(desk: Desk, checked: Checked) -> None:
    logs = desk.vault.logs
    logs.pass_over_unread(checked.problems)
    for log, kind in LOGS.items():
        for agent in logs.agents(log):
            checked.files += len(logs.segments(log, agent))
            for line in logs.lines(log, agent, checked.problems):
                if line.row.get("agent", agent if log == CHAT else None) != agent:
                    what = f"a row of {line.row.get('agent')} in the log of {agent}"
                    checked.problems.append(Problem(line.file, line.line, what, "move the row"))
            logs.records(kind, log, agent, checked.problems)
    checked.problems[:] = list(dict.fromkeys(checked.problems))


def _agents_with_memory(desk: Desk) -> list[str]:
    folders = {name for name in desk.vault.names(f"{ORG}/memory") if "." not in name}
    return sorted(folders | set(desk.roster.agents))


def _check_claims(desk: Desk, agent: str, checked: Checked) -> None:
    kept, problems = Claims(desk.vault), checked.problems
    active = kept.load(agent, ACTIVE, problems)
    closed = kept.load(agent, CLOSED, problems)
    checked.files += len(active) + len(closed)
    problems.extend(_misplaced(active, closed))
    problems.extend(
        Problem(one.path, 0, "a claim without words", "give it a text, or retire it")
        for one in active
        if not one.claim.text.strip()
    )
    problems.extend(_broken_chains(active, closed))
    for folder in (ACTIVE, CLOSED):
        for name in desk.vault.names(f"{ORG}/memory/{agent}/{folder}"):
            if not is_claim_id(name.removesuffix(".yaml")):
                what = "not the name of a claim, so it is not loaded"
                path = f"{ORG}/memory/{agent}/{folder}/{name}"
                problems.append(Problem(path, 0, what, "a sync tool's copy? remove it"))
    known = desk.roster.agents.get(agent)
    written = desk.vault.read(kept.core_path(agent))
    if known is None:
        return
    if "core" not in known.memory.tiers:
        if written is not None:
            do = f"run `orgvault memory render {agent}`, which removes it"
            problems.append(Problem(kept.core_path(agent), 0, "the core tier is off", do))
        return
    if written is None and not active:
        return
    checked.files += 1
    if written != core(desk, known, [one.claim for one in active]).text.encode():
        what = "not what the claims render to"
        do = f"run `orgvault memory render {agent}`"
        problems.append(Problem(kept.core_path(agent), 0, what, do))


def _misplaced(active: list[Stored], closed: list[Stored]) -> Iterator[Problem]:
    for one in active:
        if not one.claim.active:
            yield Problem(one.path, 0, "a closed claim among the active ones", "move it to closed/")
    for one in closed:
        if one.claim.active:
            yield Problem(
                one.path, 0, "an active claim among the closed ones", "move it to claims/"
            )


def _broken_chains(active: list[Stored], closed: list[Stored]) -> Iterator[Problem]:
    every = {one.claim.id: one.claim for one in (*closed, *active)}
    for one in (*active, *closed):
        claim = one.claim
        for word, other in (
            ("supersedes", claim.supersedes),
            ("superseded_by", claim.superseded_by),
        ):
            if other is not None and other not in every:
                what = f"{word} names {other}, which is not there"
                yield Problem(one.path, 0, what, "restore its file from git")
        successor = every.get(claim.superseded_by or "")
        if successor is not None and successor.supersedes != claim.id:
            what = f"superseded_by names {successor.id}, which does not say so"
            yield Problem(one.path, 0, what, "restore both files from git")
