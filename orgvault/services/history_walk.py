"""The audit's way through a history: each commit against each parent, by every rule."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from typing import NamedTuple

from orgvault.domain.audit import actors, cores, modes, records, rows
from orgvault.domain.audit.claims import Claims
from orgvault.domain.audit.derived import Means, compiles_to, roster, source_of
from orgvault.domain.audit.finding import Report, Rule
from orgvault.domain.audit.pair import Changed, Facts, Pair, trailers
from orgvault.domain.audit.places import ORG, SEGMENTS, UNREAD, Spot, spot
from orgvault.domain.audit.proof import Proof
from orgvault.domain.instants import moment
from orgvault.domain.roster import Roster
from orgvault.domain.run import MANIFEST
from orgvault.store.ancestry import Ancestry, Delta, Entry, TreeFiles, Walked, is_file

WHERE = ".agents"
SHORT = 10  # hexadecimal digits of a commit that people are shown
_FOLDER = ORG.rstrip("/")
_DAY_S = 86_400
_AT_ONCE = 200  # commits (or segments) whose contents are in memory together


class Wrote(NamedTuple):
    """The vault, its roster, and the vault before, when a core.md came to read as it does."""

    tree: TreeFiles
    roster: Roster
    before: TreeFiles


class HistoryWalk:
    """What is known while a history is walked, and afterwards; `own_source` is org.yaml on disk."""

    def __init__(
        self, history: Ancestry, means: Means, report: Report, own_source: bytes | None
    ) -> None:
        self.history = history
        self.means = means
        self.report = report
        self.proof, self.known = Proof(), rows.Known()
        self.counts: dict[str, int] = {"claims": 0}  # what HEAD holds: claims, and rows by log
        self._own_source = own_source
        self._rosters: dict[str, Roster | None] = {}
        self._trees: dict[str, str] = {}
        self._compiled: dict[str, str] = {}  # the object of org-agents.json, by commit
        self._sources: dict[str, Entry] = {}
        # What is derived, by path and object: the commit that wrote it, and its parent.
        self._derived: dict[tuple[str, str], tuple[str, str]] = {}
        self._unsure: dict[str, str] = {}  # commits whose cores may not be of their claims: why
        self._texts: set[str] = set()
        self._began_s: dict[str, float] = {}  # by run, as its manifest tells it
        self._wanted: dict[str, tuple[str, str, str]] = {}  # text: commit, path, run

    def walk(self, commits: Sequence[Walked], head: TreeFiles) -> None:
        """Look at commits (parents before children), the last of which is HEAD."""
        self._gather(head)
        self.proof.redacted = any(map(is_redaction, commits))
        self._boundary(commits)
        claims = Claims(self.proof, self.report, head)
        waiting = iter(commits)
        while batch := list(islice(waiting, _AT_ONCE)):
            self._batch(batch, head, claims)
        self.report.settle()
        for sha, (commit, path, run) in self._wanted.items():
            if sha not in self._texts:
                self.report.commit = commit
                self.report.find(Rule.TEXT_MISSING, path, f"{run} was sent {sha[:16]}…")

    def source(self, sha: str) -> bytes | None:
        """An org.yaml by its hash: of this history, or the one that waits to be committed."""
        known = [*self.history.contents(self._sources.values()).values(), self._own_source or b""]
        return next((one for one in known if sha256(one).hexdigest() == sha), None)

    def wrote(self, path: str, oid: str) -> Wrote | None:
        """Of what a core.md with this content was made; None where that is not known."""
        commit, parent = self._derived.get((path, oid), ("", ""))
        known = self._roster(self._compiled.get(commit, ""))
        if known is None or commit not in self._trees:
            return None
        tree, before = self._trees[commit], self._trees.get(parent, "")
        return Wrote(self.history.at(tree), known, self.history.at(before))

    def doubt(self, path: str, oid: str) -> str:
        """Why what is derived may not be of what stood beside it; empty where it must have been."""
        return self._unsure.get(self._derived.get((path, oid), ("", ""))[0], "")

    def ever(self, path: str) -> bool:
        """Whether there has been something derived at a path."""
        return any(one == path for one, _ in self._derived)

    # ── before the walk ─────────────────────────────────────────────────────────────────────

    def _gather(self, head: TreeFiles) -> None:
        """Take in what HEAD and the spool prove, and count what HEAD holds."""
        for where, row in self._rows_of(head):
            self.proof.add(where.log, row.value)
            self.counts[where.log] = self.counts.get(where.log, 0) + 1
        for log, _, line in self.history.waiting():
            for row in rows.read(line.encode() + b"\n").rows:
                self.proof.add(log, row.value)
        for path in head.files(_FOLDER):
            what = spot(path)
            self.counts["claims"] += what.kind in {"active", "closed"}
            if what.kind == "text":
                self._texts.add(what.name)

    def _boundary(self, commits: Sequence[Walked]) -> None:
        """Take in what stood before the part that is walked."""
        self._trees = {one.name: one.tree for one in commits}
        outside = {parent for one in commits for parent in one.parents} - self._trees.keys()
        outside |= {one.name for one in commits if one.cut}
        for name in sorted(outside):
            found = self.history.walk.commit(name)
            if found is None:
                continue
            self._trees[name] = found.tree
            self._unsure[name] = f"and was not at {name[:SHORT]}, before what was looked at"
            before = self.history.at(found.tree)
            for where, row in self._rows_of(before):
                self.known.add(rows.Key(where.log, where.agent, row.id), row.sha)
            for path, entry in before.files(_FOLDER).items():
                self._remember((name, ""), path, entry)

    def _rows_of(self, tree: TreeFiles) -> Iterator[tuple[Spot, rows.Row]]:
        found = ((spot(path), one) for path, one in tree.files(_FOLDER).items() if is_file(one))
        segments = ((where, one) for where, one in found if where.kind in SEGMENTS)
        while part := list(islice(segments, _AT_ONCE)):
            contents = self.history.contents(entry for _, entry in part)
            for where, entry in part:
                yield from ((where, row) for row in rows.read(contents[entry.oid]).rows)

    # ── the walk ────────────────────────────────────────────────────────────────────────────

    def _batch(self, commits: Sequence[Walked], head: TreeFiles, claims: Claims) -> None:
        # What a clone was cut off at was made by those before it.
        whole = [one for one in commits if not one.cut]
        wanted = [(one, parent) for one in whole for parent in (one.parents or ("",))]
        trees = [(self._trees.get(parent, ""), one.tree) for one, parent in wanted]
        deltas = list(self.history.deltas(trees, WHERE))
        every = (one for found in deltas for one in found)
        contents = self.history.contents(
            entries(one for one in every if spot(one.path).kind not in UNREAD)
        )
        for (commit, parent), found in zip(wanted, deltas, strict=True):
            self.report.commit = commit.name[:SHORT]
            self._step(commit, parent, found)
            pair = self._pair(commit, parent, changes(found, contents))
            if parent in {"", *commit.parents[:1]}:
                actors.check_commit(pair.facts, pair.rosters, self.report)
            self._check(pair, head, claims)

    def _step(self, commit: Walked, parent: str, deltas: Sequence[Delta]) -> None:
        """Take in what a commit changed, before its rules are asked."""
        if parent in {"", *commit.parents[:1]}:
            self._compiled[commit.name] = self._compiled.get(parent, "")
            for one in deltas:
                merge = len(commit.parents) > 1
                self._remember((commit.name, parent), one.path, one.new, merge=merge)
        for one in deltas:
            if one.new is not None and (one.old is None or one.old.mode != one.new.mode):
                modes.check(one.path, one.new.mode, self.report)

    def _pair(self, commit: Walked, parent: str, changed: Sequence[Changed]) -> Pair:
        others = (self._trees.get(one) for one in commit.parents if one != parent)
        named = dict.fromkeys(self._compiled.get(one, "") for one in (commit.name, *commit.parents))
        known = [found for one in named if (found := self._roster(one)) is not None]
        pair = Pair(
            facts_of(commit),
            self.history.at(self._trees.get(parent, "")),
            self.history.at(commit.tree),
            [self.history.at(tree) for tree in others if tree],
            known,
            changed,
        )
        if pair.joins or pair.facts.ours:
            made = "merged" if pair.merge else "made anew" if pair.joins else "rendered"
            self._unsure.setdefault(commit.name, f"as it was {made} in {commit.name[:SHORT]}")
        # What comes from another branch was allowed by the roster that stood there.
        return pair._replace(rosters=[*known, *self._every_roster()]) if pair.joins else pair

    def _every_roster(self) -> list[Roster]:
        return [one for one in self._rosters.values() if one is not None]

    def _check(self, pair: Pair, head: TreeFiles, claims: Claims) -> None:
        for path, key, row in rows.check(pair, self.known, self.report):
            self._row(pair, path, key, row)
        claims.check(pair)
        trees = (head, self.history.vault)
        later = cores.Later(trees, claims.by_hand, self._every_roster)
        cores.check(pair, later, self.means.masked, self.report)
        records.check(pair, self.proof, self.report)
        records.check_persons(pair, head, self.report)
        for one in pair.changes:
            if one.spot.kind == "compiled" and one.new and not pair.taken(one.path, one.new):
                source = self.source(source_of(one.new))
                if source is None:
                    self.report.note(one.path, "made of an org.yaml that nobody has committed")
                elif not compiles_to(source, one.new, self.means):
                    self.report.find(Rule.COMPILED_WRONG, one.path, "it says otherwise")

    def _row(self, pair: Pair, path: str, key: rows.Key, row: rows.Row) -> None:
        if pair.by_agent_alone:
            self.report.note(path, f"{row.id} came with a commit of {pair.facts.author}'s own")
        self.proof.add(key.log, row.value)
        rows.check_form(path, spot(path), row, self.report)
        actors.check_row(path, key, row, pair.rosters, self.report)
        if key.log == "runs":
            self._texts_of(pair, path, row)

    def _texts_of(self, pair: Pair, path: str, row: rows.Row) -> None:
        """Look for the texts that a row of a run names, unless they may be gone by their age."""
        run = str(row.value.get("run"))
        if row.value.get("kind") == MANIFEST:
            with suppress(ValueError):
                self._began_s[run] = moment(str(row.value.get("at"))).timestamp()
        # One commit may be made of those that stored a text and removed it again.
        age_s = pair.facts.at_s - self._began_s.get(run, pair.facts.at_s)
        days = [one.keep_run_days for one in pair.rosters if one.keep_run_days]
        outlived = any(age_s >= one * _DAY_S for one in days)
        for sha in rows.texts(path, row, self.proof, self.report):
            if not outlived:
                self._wanted.setdefault(sha, (self.report.commit, path, run))

    def _remember(
        self, commit: tuple[str, str], path: str, entry: Entry | None, *, merge: bool = False
    ) -> None:
        """Keep which commit made what is derived, and from what; a merge takes what was made."""
        what = spot(path)
        if what.kind == "compiled":
            self._compiled[commit[0]] = entry.oid if entry is not None and is_file(entry) else ""
            if entry is not None:
                self._write(path, entry, commit, merge=merge)
        elif what.kind == "source" and entry is not None and is_file(entry):
            self._sources[entry.oid] = entry
        elif what.kind == "core" and entry is not None:
            self._write(path, entry, commit, merge=merge)
        elif what.kind == "text":
            self._texts.add(what.name)

    def _write(self, path: str, entry: Entry, commit: tuple[str, str], *, merge: bool) -> None:
        """Keep which commit (and on what parent) wrote what is derived."""
        if not (merge and (path, entry.oid) in self._derived):
            self._derived[path, entry.oid] = commit

    def _roster(self, oid: str) -> Roster | None:
        if oid not in self._rosters:
            self._rosters[oid] = roster(self.history.walk.content(oid)) if oid else None
        return self._rosters[oid]


def is_redaction(commit: Walked) -> bool:
    """Whether a person's commit says that all history before it was redacted."""
    facts = facts_of(commit)
    return "Orgvault-Redacted" in facts.trailers and not facts.by_agent


def facts_of(commit: Walked) -> Facts:
    """What the rules look at of a commit."""
    return Facts(
        commit.name, commit.author, commit.email, commit.committer_email,
        trailers(commit.message), later=commit.at_s != commit.written_s, at_s=commit.at_s,
    )  # fmt: skip


def entries(deltas: Iterable[Delta]) -> Iterator[Entry]:
    """What stands on either side of what differs."""
    both = (entry for one in deltas for entry in (one.old, one.new))
    return (entry for entry in both if entry is not None)


def changes(deltas: Sequence[Delta], contents: Mapping[str, bytes]) -> list[Changed]:
    """What differs, with the contents of plain files."""

    def content(entry: Entry | None) -> bytes | None:
        return contents.get(entry.oid) if entry is not None and is_file(entry) else None

    return [Changed(one.path, spot(one.path), content(one.old), content(one.new)) for one in deltas]
