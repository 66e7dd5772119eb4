"""`check` for runs: their rows, and the texts that the rows name."""

from collections.abc import Iterator

from orgvault.digests import sha256
from orgvault.domain import record
from orgvault.domain.instants import days_before
from orgvault.domain.problem import Problem
from orgvault.domain.run import KINDS, MANIFEST, Manifest, OpeningRow
from orgvault.services.desk import Desk
from orgvault.store.files import unread
from orgvault.store.logs import Line
from orgvault.store.runs import LOG, Runs, digest_in, texts_of
from orgvault.values import dataclass

_RESTORE = "restore it from git"


@dataclass(frozen=True)
class CheckedRuns:
    """How many files were looked at, and what is wrong in them."""

    files: int
    problems: tuple[Problem, ...]


def check_runs(desk: Desk) -> CheckedRuns:
    """Check every row of every run, that each text has the hash in its name, and is there.

    A text may be missing once `runs.keep_days` has let it go.
    """
    logs, runs, problems = desk.vault.logs, Runs(desk.vault), []
    paths = list(runs.paths())
    problems += [fault for path in paths for fault in _text(desk, path)]
    files, there = len(paths), set(paths)
    days = desk.roster.keep_run_days
    since = days_before(desk.clock.now(), days) if days else ""
    for agent in logs.agents(LOG):
        files += len(logs.segments(LOG, agent))
        manifests: dict[str, Manifest] = {}
        openings: list[tuple[Line, OpeningRow]] = []
        for line in logs.lines(LOG, agent, problems):
            one = _row(line, agent, problems)
            if isinstance(one, Manifest):
                manifests[one.run] = one
            elif one is not None:
                openings.append((line, one))
        for line, opening in openings:
            manifest = manifests.get(opening.run)
            if manifest is None:
                what = f"the manifest of {opening.run} is not there"
                problems.append(Problem(line.file, line.line, what, _RESTORE))
            elif manifest.at >= since:
                problems += _missing(desk, line, opening, there)
    return CheckedRuns(files, tuple(dict.fromkeys(problems)))


def _text(desk: Desk, path: str) -> Iterator[Problem]:
    name = path.rpartition("/")[2]
    digest = digest_in(name)
    if not digest:
        yield Problem(path, 0, "not the name of a text", "a sync tool's copy? remove it")
        return
    try:
        content = desk.vault.read(path)
    except OSError as failure:
        yield unread(path, failure)
        return
    if content is not None and sha256(content).hexdigest() != digest:
        yield Problem(path, 0, "not the text that its name says", _RESTORE)


def _row(line: Line, agent: str, problems: list[Problem]) -> Manifest | OpeningRow | None:
    kind = line.row.get("kind")
    if kind not in KINDS:
        what = f"kind: `{kind}` is not one of {', '.join(KINDS)}"
        problems.append(Problem(line.file, line.line, what, "mend the line, or update orgvault"))
        return None
    one: Manifest | OpeningRow | None
    one, faults = record.read(Manifest if kind == MANIFEST else OpeningRow, line.row)
    for fault in faults:
        key = ".".join(map(str, fault.path)) or "row"
        do = fault.do or "mend the line, or update orgvault"
        problems.append(Problem(line.file, line.line, f"{key}: {fault.what}", do))
    if one is not None and one.agent != agent:
        what = f"a row of {one.agent} in the log of {agent}"
        problems.append(Problem(line.file, line.line, what, "move the row"))
        return None
    return one


def _missing(desk: Desk, line: Line, opening: OpeningRow, there: set[str]) -> Iterator[Problem]:
    for path in texts_of(opening):
        if path not in there and desk.vault.content_waiting(path) is None:
            what = f"the text of {opening.run} in {path} is missing"
            yield Problem(line.file, line.line, what, _RESTORE)
