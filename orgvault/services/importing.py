"""Backfill: episodes from a client's own session files, however many there are.

Every session is one run.  It is recorded once, whatever run it is known by, and a message counts
for one session only: a resumed or forked session repeats the messages of the one before, which
keeps them.  So sessions are read in the order in which they happened, those already recorded
first.  What sub-agents took belongs to the session that started them.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from orgvault.adapters.transcripts import counting, stored
from orgvault.adapters.transcripts.counting import Reading
from orgvault.adapters.transcripts.counts import Counted, Fault, Message
from orgvault.adapters.transcripts.gathered import StoredSession, gather
from orgvault.adapters.transcripts.lines import clean, total
from orgvault.adapters.transcripts.stored import Glance
from orgvault.domain import episode as episodes
from orgvault.domain.episode import Episode, TranscriptFile
from orgvault.domain.ids import derived_id, is_run_id
from orgvault.domain.wake import Outcome, Reason
from orgvault.errors import BadFile
from orgvault.services.desk import Desk, row
from orgvault.services.finishing import FinishedRun, unfit, without_misfits
from orgvault.values import dataclass

BATCH_ROWS = 500
REFLECT_SKIPPED = "imported"

# Told what is being done, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Skipped:
    """A file that gave no episode; `reason` is one of a few words, `why` says it of this file."""

    path: str
    reason: str
    why: str


@dataclass(frozen=True)
class Imported:
    """What an import did.

    `imported` and `already_recorded` are runs, `sub_agents` how many sub-agents' files were
    counted with them.
    """

    agent: str
    client: str
    imported: tuple[str, ...]
    already_recorded: tuple[str, ...]
    sub_agents: int
    skipped: tuple[Skipped, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class _Session:
    """A session as the run that it is; `known_as` is the episode that it has already."""

    run: str
    stored: StoredSession
    known_as: Episode | None = None


class Importing:
    """One import.  `imported` are the runs that are durable so far.

    `since` is an instant: sessions that ended before it are left out.
    """

    def __init__(
        self, desk: Desk, agent: str, client: str, progress: Progress, *, since: str = ""
    ) -> None:
        self._desk = desk
        self._agent = desk.agent(agent)
        self._client = client
        self._since = since
        self._progress = progress
        self._seen: set[str] = set()  # ids of the messages of every session read so far
        self._made: list[Episode] = []  # still to be recorded
        self._sub_agents = 0
        self._skipped: list[Skipped] = []
        self._remarks: list[str] = []
        self.imported: list[str] = []
        desk.require("dispatch", f"import runs of {self._agent.id}", self._agent)

    def run(self, paths: Sequence[str]) -> Imported:
        """Record every session at and below some paths.

        What is no session, or cannot be read, is skipped with its reason.  Raises BadFile when
        none of the paths is there.
        """
        if not any(os.path.lexists(path) for path in paths):
            do = "name session files, or a folder of them"
            raise BadFile(clean(paths[0]), 0, "is not there", do)
        sessions = self._recorded(self._sessions(self._glances(paths)))
        wanted = [one.stored.order[0] for one in sessions if self._is_wanted(one)]
        begun = min(wanted, default="~")  # after any time
        for at, one in enumerate(sessions):
            self._progress("reading", at, len(sessions))
            # A copy keeps its times: what ended before anything new began is repeated by nothing.
            if self._is_wanted(one) or one.stored.ended_at >= begun:
                self._take(one)
            elif one.known_as is None:
                self._skip(one.stored.files[-1].path, self._too_early())
            if len(self._made) >= BATCH_ROWS:
                self._record()
        self._record()
        known = [one.known_as for one in sessions if one.known_as]
        for other, count in Counter(one.agent for one in known).items():
            if other != self._agent.id:
                self._remarks.append(f"{count} of those already recorded are {other}'s")
        return Imported(
            self._agent.id, self._client, tuple(self.imported), tuple(one.run for one in known),
            self._sub_agents, tuple(self._skipped), tuple(self._remarks),
        )  # fmt: skip

    # ── which sessions there are ────────────────────────────────────────────────────────────

    def _glances(self, paths: Sequence[str]) -> list[Glance]:
        """What both ends of each file tell; sub-agents' files that nobody named last."""
        found = stored.find([path for path in paths if not self._refuses(path)])
        glances = []
        for at, (path, asked) in enumerate(found.items()):
            self._progress("looking", at, len(found))
            if self._refuses(os.path.relpath(path)):
                continue
            glance = stored.glance(path, self._client)
            if asked and glance.fault:
                self._skip(path, glance.fault)
            elif not glance.fault and (asked or glance.sub_agent):
                glances.append(replace(glance, asked=asked))
        return glances

    def _refuses(self, path: str) -> bool:
        """Whether a path is protected, which then is said; nothing in there is looked at."""
        protected = self._desk.protects(path)
        if protected:
            self._skip(path, _PROTECTED)
        return protected

    def _sessions(self, glances: Sequence[Glance]) -> list[_Session]:
        """The sessions that these files hold, each run once."""
        sessions, orphans = gather(glances)
        for one in orphans:
            if one.asked:
                of = f" of {one.parents[0]}" if one.parents else ""
                self._skip(one.path, Fault("sub_agent", f"is a sub-agent's{of}, which is not here"))
        runs: dict[str, _Session] = {}
        for each in sessions:
            run = self._run_of(each)
            if run in runs:
                self._skip(each.files[0].path, _SAYS_NOTHING_NEW)
            runs.setdefault(run, _Session(run, each))
        return list(runs.values())

    def _run_of(self, session: StoredSession) -> str:
        """The run that a session is: its client and id, or what its file holds if it has none."""
        if session.name is None:
            return f"{self._client}:file-{session.files[0].sha256[:32]}"
        run = f"{self._client}:{session.name}"
        return run if is_run_id(run) else f"{self._client}:{derived_id('s', session.name)}"

    def _recorded(self, sessions: Sequence[_Session]) -> list[_Session]:
        """The sessions in the order to read them, those known by run or session first."""
        logs = self._desk.vault.logs
        runs = {one.run for one in sessions}
        names = {one.stored.name for one in sessions if one.stored.name}
        by_run: dict[str, Episode] = {}
        by_name: dict[str | None, Episode] = {}
        for agent in logs.agents("episodes") if sessions else ():
            for found in logs.find(Episode, "episodes", agent, "run", runs):
                by_run[found.run] = found
            for found in logs.find(Episode, "episodes", agent, "session", names):
                by_name[found.session] = found
        told = [
            replace(one, known_as=by_run.get(one.run) or by_name.get(one.stored.name))
            for one in sessions
        ]
        return sorted(told, key=lambda one: (one.known_as is None, one.stored.order))

    # ── one session ─────────────────────────────────────────────────────────────────────────

    def _take(self, session: _Session) -> None:
        """Read a session's files; if it is new and has something of its own, make its episode."""
        files = self._read(session.stored.files)
        helpers = self._read(session.stored.sub_agents)
        if files and session.known_as is None:
            made = self._episode(session, files, helpers)
            if isinstance(made, Episode):
                made = without_misfits(made, FinishedRun(run=session.run), self._remarks)
            if isinstance(made, Fault):
                self._skip(files[-1][0].path, made)
            elif why := unfit(made):
                self._skip(files[-1][0].path, Fault("unfit", why))
            else:
                self._made.append(made)
                self._sub_agents += len(helpers)
        self._seen.update(one.id for one in _messages((*files, *helpers)))

    def _read(self, files: Iterable[Glance]) -> list[tuple[Glance, Reading]]:
        read = []
        for one in files:
            reading = counting.count(one.path, self._client)
            if reading.fault:
                self._skip(one.path, reading.fault)
            else:
                read.append((one, reading))
            if reading.skipped_lines and not reading.fault:
                many = "" if reading.skipped_lines == 1 else "s"
                what = f"{reading.skipped_lines} line{many} could not be read"
                self._remarks.append(f"{clean(one.path)}: {what}")
        return read

    def _episode(
        self,
        session: _Session,
        files: Sequence[tuple[Glance, Reading]],
        helpers: Sequence[tuple[Glance, Reading]],
    ) -> Episode | Fault:
        own: dict[str, Message] = {}
        for one in _messages(files):
            if one.id not in self._seen:  # of two files of one session the later one counts
                own[one.id] = one._replace(since=own.get(one.id, one).since)
        main = [one for one in own.values() if not one.aside]
        glance, reading = files[-1]
        counted = [reading.counted for _, reading in files if reading.counted]
        last = counted[-1]
        copied = any(one.id in self._seen for one in _messages(files))
        if not main and not last.error:
            return _SAYS_NOTHING_NEW if copied else _SILENT
        finished = max(filter(None, (one.finished_at for one in counted)), default=None)
        finished = finished or glance.modified_at
        if finished < self._since:
            return self._too_early()
        taken = {one.id: one for one in _messages(helpers) if one.id not in self._seen} | own
        how = Outcome.ERROR if last.error else Outcome.NO_REPORT
        turns = len(main) if last.turns is None else last.turns
        words = next((one.said for one in reversed(counted) if one.said_in in own), "")
        said = self._desk.masked(words or last.error)
        return Episode(
            id=episodes.episode_id(self._agent.id, session.run),
            agent=self._agent.id,
            run=session.run,
            wakes=(),
            reason=Reason.MANUAL,
            card=None,
            outcome=how,
            exit_code=1 if last.error else 0,
            turns=turns,
            cost_usd=None,
            duration_s=None,
            tokens_in=total(one.tokens_in for one in taken.values()),
            tokens_out=total(one.tokens_out for one in taken.values()),
            model=next((one.model for one in reversed(main) if one.model), None),
            summary=episodes.summary(Reason.MANUAL, None, how, turns, said),
            log=None,
            transcript=TranscriptFile(path=glance.path, sha256=reading.sha256),
            prompt_sha256=None,
            core_sha256=None,
            client=self._client,
            session=session.stored.name,
            session_cost_usd=None,
            reflect_skipped=REFLECT_SKIPPED,
            started_at=_started(main, counted, copied=copied),
            finished_at=finished,
        )

    def _is_wanted(self, session: _Session) -> bool:
        return session.known_as is None and session.stored.ended_at >= self._since

    def _too_early(self) -> Fault:
        return Fault("before_since", f"ended before {self._since}")

    def _record(self) -> None:
        """One commit of the episodes made since the last one."""
        made = sorted(self._made, key=lambda one: one.finished_at)
        if not made:
            return
        desk, count = self._desk, len(made)
        what = f"{count} session{'' if count == 1 else 's'} of {self._client}"
        run = made[0].run if count == 1 else ""
        message = desk.message(f"import({self._agent.id}): {what}", "import", self._agent.id, run)
        rows = [row("episodes", one) for one in made]
        desk.vault.record(message, desk.author, rows, desk.clock.now())
        self.imported.extend(one.run for one in made)
        self._made = []

    def _skip(self, path: str, fault: Fault) -> None:
        self._skipped.append(Skipped(clean(path), fault.reason, fault.why))


_SAYS_NOTHING_NEW = Fault("repeats", "only repeats what other sessions hold")
_PROTECTED = Fault("protected", "stands in a protected place and was not read")
_SILENT = Fault("silent", "holds nothing that the agent said")


def _messages(files: Sequence[tuple[Glance, Reading]]) -> list[Message]:
    return [m for _, reading in files if reading.counted for m in reading.counted.messages]


def _started(main: Sequence[Message], counted: Sequence[Counted], *, copied: bool) -> str | None:
    """When a session began: after what it copied, if it did."""
    times = [one.since for one in main] if copied else [one.started_at for one in counted]
    return min(filter(None, times), default=None)
