"""What stands in and around the vault as `doctor` finds it: files, spool, sync tools, disk."""

from collections.abc import Callable, Iterator
from functools import cached_property

from orgvault.domain.diagnosis import (
    Diagnosis,
    age_in_words,
    count_of,
    fault,
    in_short,
    ok,
    warning,
)
from orgvault.domain.instants import moment
from orgvault.domain.problem import Problem
from orgvault.services.desk import Desk
from orgvault.store.claims import ACTIVE, Claims
from orgvault.store.inspection import Inspection
from orgvault.store.logs import LOGS
from orgvault.store.surroundings import Odd, Surroundings

_YEAR_DAYS = 365
_WAITS_S = 3600.0  # a merge or a lock of the person's is over by then, mostly
_SKEW_S = 300.0
_FEW_BYTES = 500 * 1024**2
_NO_BYTES = 20 * 1024**2
_MIB = 1024**2
_TIMES = ("at", "finished_at", "recorded_at", "sent_at")


def questions(desk: Desk) -> dict[str, Callable[[], Iterator[Diagnosis]]]:
    """What is asked of the files and the machine, by name."""
    of = _Files(desk)
    return {
        "sync tools": of.sync_tools,
        "conflict copies": of.copies,
        "encodings": of.encodings,
        "line ends": of.line_ends,
        "torn rows": of.torn,
        "spool": of.spool,
        "claims": of.claims,
        "clock": of.clock,
        "disk": of.disk,
        "file names": of.names,
        "YAML reader": of.reader,
    }


class _Files:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._around = Surroundings(desk.vault, desk.roster.pages_folder)

    @cached_property
    def _odd(self) -> Odd:
        return self._around.odd_files()

    def sync_tools(self) -> Iterator[Diagnosis]:
        found = self._around.sync_tools()
        if refs := self._around.odd_refs():
            what = f"a sync tool has been in the git folder: {in_short(refs)}"
            yield fault("sync tools", what, "move those files out of it, and keep it from syncing")
        if not found:
            yield ok("sync tools", "none seems to have this folder")
        elif self._around.git_is_left_out():
            yield ok("sync tools", f"{in_short(found)}, told to leave .git alone")
        else:
            what = f"{in_short(found)}: a .git folder that is synced file by file loses objects"
            yield warning("sync tools", what, "leave .git out of it, and push to a remote instead")

    def copies(self) -> Iterator[Diagnosis]:
        if self._odd.copies:
            what = f"not loaded: {in_short(self._odd.copies)}"
            do = "compare each with the file it is a copy of, then remove it"
            yield warning("conflict copies", what, do)
        else:
            yield ok("conflict copies", "none")

    def encodings(self) -> Iterator[Diagnosis]:
        odd, do = self._odd, "restore it from git, or save it as UTF-8"
        if odd.nul:
            yield fault("encodings", f"with NUL bytes: {in_short(odd.nul)}", do)
        if odd.not_utf8:
            yield fault("encodings", f"not UTF-8: {in_short(odd.not_utf8)}", do)
        if odd.unread:
            yield fault("encodings", f"cannot be read: {in_short(odd.unread)}", "mend their modes")
        if not (odd.nul or odd.not_utf8 or odd.unread):
            yield ok("encodings", "every file is UTF-8 text")

    def line_ends(self) -> Iterator[Diagnosis]:
        if self._odd.crlf:
            what = f"CR LF in files that orgvault writes: {in_short(self._odd.crlf)}"
            do = "see `attributes`, then `git checkout` those files"
            yield warning("line ends", what, do)
        else:
            yield ok("line ends", "LF in all files that orgvault writes")

    def torn(self) -> Iterator[Diagnosis]:
        if self._odd.torn:
            what = f"cut off by a crash before they were acknowledged: {in_short(self._odd.torn)}"
            yield warning("torn rows", what, "look at them, then remove them")
        else:
            yield ok("torn rows", "none was set aside")

    def spool(self) -> Iterator[Diagnosis]:
        waiting, inspection = self._around.waiting(), Inspection(self._desk.vault)
        if waiting.unreadable:
            what = f"cannot be read, or of a newer orgvault: {in_short(waiting.unreadable)}"
            do = "keep them: install the newest orgvault, or ask what they are"
            yield fault("spool", what, do)
        gone = [ref for ref in waiting.refs if not inspection.known(ref)]
        if gone and self._desk.vault.repository.head().oid:
            what = f"writes wait for branches that are not there: {in_short(gone)}"
            do = "make the branch again where it stood (`git reflog`), and run any command on it"
            yield warning("spool", what, do)
        if waiting.journal:
            what = "a change was cut off; the next write finishes or gives it up"
            yield warning("spool", what, "run any command that writes")
        told = f"{count_of(waiting.count, 'acknowledged write')} not committed yet"
        if waiting.count and waiting.oldest_s > _WAITS_S:
            told += f", the oldest for {age_in_words(waiting.oldest_s)}"
            yield warning("spool", told, "see `state` and `locks`: the next write commits them")
        elif not (waiting.unreadable or gone or waiting.journal):
            yield ok("spool", told if waiting.count else "nothing waits")

    def claims(self) -> Iterator[Diagnosis]:
        kept, edited, old = Claims(self._desk.vault), [], 0
        now, problems = moment(self._desk.clock.now()), list[Problem]()
        agents = sorted(self._desk.roster.agents)
        every = [one.claim for name in agents for one in kept.load(name, ACTIVE, problems)]
        for claim in every:
            if claim.edited_by_hand:
                edited.append(f"{claim.id} ({claim.agent})")
            old += (now - moment(claim.last_seen)).days > _YEAR_DAYS
        if problems:
            yield fault("claims", in_short(map(str, problems)), "`orgvault check` lists all")
        if edited:
            what = f"{count_of(len(edited), 'claim')} edited by hand: {in_short(edited)}"
            yield warning("claims", what, "nothing, if a person did that: `git log` tells who")
        if old:
            what = f"{count_of(old, 'claim')} not seen for a year"
            do = "read them (`orgvault memory AGENT`) and retire what no longer holds"
            yield warning("claims", what, do)
        if not (problems or edited or old):
            yield ok("claims", f"{count_of(len(every), 'active claim')}, none stale")

    def clock(self) -> Iterator[Diagnosis]:
        now, newest = moment(self._desk.clock.now()), ""
        for log in LOGS:
            for agent in self._desk.vault.logs.agents(log):
                line = next(self._desk.vault.logs.newest_lines(log, agent), None)
                values = (line.row.get(name) for name in _TIMES) if line else ()
                newest = max([newest, *(one for one in values if isinstance(one, str))])
        ahead_s = (_moment(newest) - now.timestamp()) if newest else 0.0
        if ahead_s > _SKEW_S:
            what = f"the newest row is of {newest}, {age_in_words(ahead_s)} from now"
            do = "set the clock, or see who wrote that row: windows of days count from the clock"
            yield warning("clock", what, do)
        else:
            yield ok("clock", f"{self._desk.clock.now()}, after every row")

    def disk(self) -> Iterator[Diagnosis]:
        free = self._around.free_bytes()
        told = f"{free // _MIB:,} MiB free"
        if free < _NO_BYTES:
            yield fault("disk", told, "make room: soon nothing more can be recorded")
        elif free < _FEW_BYTES:
            yield warning("disk", told, "make room")
        else:
            yield ok("disk", told)

    def names(self) -> Iterator[Diagnosis]:
        if self._around.ignores_case():
            what = "the file system takes A for a; ids of orgvault differ in more than that"
            yield ok("file names", what)
        else:
            yield ok("file names", "the file system tells A from a")

    def reader(self) -> Iterator[Diagnosis]:
        from importlib.util import find_spec

        if find_spec("_ruamel_yaml") is None:
            what = "ruamel.yaml.clib is missing: YAML is read seven times slower"
            yield warning("YAML reader", what, "`pip install ruamel.yaml.clib`")
        else:
            yield ok("YAML reader", "the C parser is installed")


def _moment(text: str) -> float:
    """Seconds since the epoch; 0 for what is no instant."""
    try:
        return moment(text).timestamp()
    except ValueError:
        return 0.0
