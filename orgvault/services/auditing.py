"""`audit`: every commit of HEAD's history by the rules, HEAD itself, and what was known of it."""

from collections.abc import Mapping

from orgvault.domain.audit import cores, records, rows
from orgvault.domain.audit.claims import Claims
from orgvault.domain.audit.derived import Means, compiles_to, core, roster, source_of
from orgvault.domain.audit.finding import Finding, Note, Report, Rule
from orgvault.domain.audit.pair import Pair
from orgvault.domain.audit.places import COMPILED, ORG, SOURCE
from orgvault.domain.roster import Agent
from orgvault.services.desk import Desk
from orgvault.services.history_walk import SHORT, WHERE, HistoryWalk, changes, entries, facts_of
from orgvault.store.ancestry import Ancestry, TreeFiles, Walked, is_file
from orgvault.store.head_record import HeadRecord
from orgvault.values import dataclass

_ODD = {"shallow": Rule.SHALLOW, "grafts": Rule.GRAFTED, "replaced": Rule.REPLACED}
# What a rewritten history may not have lost; the rest is looked at commit by commit.
_LOSSES = frozenset({
    Rule.ROW_DROPPED, Rule.ROW_CHANGED, Rule.CLAIM_DELETED, Rule.CLAIM_REOPENED,
    Rule.CLAIM_FROZEN, Rule.CLAIM_REWRITTEN, Rule.SEAL_FORGED, Rule.EVIDENCE_DROPPED,
    Rule.COUNT_LOWERED, Rule.PROPOSAL_DELETED,
})  # fmt: skip
# Of these, what a redaction in another clone brings about by itself.
_ALTERED = frozenset({
    Rule.ROW_CHANGED, Rule.CLAIM_FROZEN, Rule.CLAIM_REWRITTEN, Rule.SEAL_FORGED,
})  # fmt: skip


@dataclass(frozen=True)
class Audited:
    """What was looked at, and what was found.

    `head` is the commit (empty: none yet), `commits` how many were walked, `rows` and `claims`
    how many HEAD holds.
    """

    head: str
    commits: int
    rows: int
    claims: int
    findings: tuple[Finding, ...]
    notes: tuple[Note, ...]


def audit(desk: Desk, since: str | None, *, keep: bool) -> Audited:
    """Audit HEAD's history, or its part since a revision; `keep`: remember what HEAD holds.

    Raises UnknownRevision.
    """
    desk.require("audit", "audit the vault")
    history = Ancestry(desk.vault)
    try:
        return _Audit(desk, history).run(since, keep=keep)
    finally:
        history.walk.close()


class _Audit:
    """One audit."""

    def __init__(self, desk: Desk, history: Ancestry) -> None:
        self._desk = desk
        self._history = history
        self._report = Report()
        self._means = Means(desk.count_tokens, desk.masked, desk.version)
        own = desk.vault.read(SOURCE)
        self._walk = HistoryWalk(history, self._means, self._report, own)

    def run(self, since: str | None, *, keep: bool) -> Audited:
        """Walk, look at HEAD, compare with what was known."""
        start = self._history.named(since) if since else ""
        for name, told in self._history.oddities().items():
            for one in told:
                self._report.find(_ODD[name], "", one)
        tip = self._history.tip()
        if tip is None:
            return Audited("", 0, 0, 0, self._report.findings, ())
        commits = self._history.commits(tip.name, start)
        head = self._history.at(tip.tree)
        self._walk.walk(commits, head)
        self._report.commit = tip.name[:SHORT]
        self._compiled(head)
        whole = self._compare(tip, head)
        self._report.commit = ""
        for oid in sorted(self._history.walk.altered):
            self._report.find(Rule.ALTERED, "", f"the object {oid}")
        counts = self._walk.counts
        if keep and whole and not since:  # of a part nobody knows what came before it
            HeadRecord(self._desk.vault).write(tip.name, counts, sound=not self._report.findings)
        held = sum(counts.values()) - counts["claims"]
        said = self._report
        return Audited(tip.name, len(commits), held, counts["claims"], said.findings, said.notes)

    # ── HEAD ────────────────────────────────────────────────────────────────────────────────

    def _compiled(self, head: TreeFiles) -> None:
        """org-agents.json against org.yaml, and every core.md against its claims."""
        compiled, source = head.read(COMPILED), head.read(SOURCE)
        if source is not None:
            made_of = self._walk.source(source_of(compiled))
            entry = head.entry(COMPILED)
            doubt = self._walk.doubt(COMPILED, entry.oid) if entry is not None else ""
            if compiled is not None and made_of is None and doubt:
                what = f"made of an org.yaml that nobody has committed, {doubt}"
                self._report.note(COMPILED, f"{what}: `orgvault compile`")
            elif (
                compiled is None
                or made_of is None
                or not compiles_to(made_of, compiled, self._means)
            ):
                self._report.find(Rule.COMPILED_WRONG, COMPILED, "not made of any known org.yaml")
            elif made_of != source:
                own = made_of == self._desk.vault.read(SOURCE)
                do = f"`git commit {SOURCE}`" if own else "`orgvault compile`"
                self._report.note(COMPILED, f"made of another org.yaml than HEAD's: {do}")
        known = roster(compiled)
        for agent in known.agents.values() if known is not None else ():
            if "core" in agent.memory.tiers:
                self._core(head, agent)

    def _core(self, head: TreeFiles, agent: Agent) -> None:
        path = f"{ORG}memory/{agent.id}/core.md"
        entry = head.entry(path)
        if entry is None or not is_file(entry):
            if any(cores.active(head, agent.id)) and self._walk.ever(path):
                self._report.find(Rule.CORE_WRONG, path, "it is not there")
            return
        now = self._history.walk.content(entry.oid)
        if now == core(head, agent, self._means):
            return
        if now == core(self._desk.vault, agent, self._means):
            self._report.note(path, "made of claims that are not committed yet")
            return
        # Hand edits and merges leave it older than its claims: right when it was written.
        do = f"`orgvault memory render {agent.id}`"
        if now == core(head, agent, self._means, now) or self._was_right(agent, path, entry.oid):
            self._report.note(path, f"older than the claims: {do}")
        elif doubt := self._walk.doubt(path, entry.oid):
            self._report.note(path, f"not what the claims render to, {doubt}: {do}")
        else:
            self._report.find(Rule.CORE_WRONG, path, f"{agent.id} is told something else")

    def _was_right(self, agent: Agent, path: str, oid: str) -> bool:
        """Whether a core was what the claims rendered to, but for those that came with it.

        One commit may be made of several, the last of which came from another branch.
        """
        then = self._walk.wrote(path, oid)
        known = then.roster.agents.get(agent.id) if then is not None else None
        if then is None or known is None:
            return False
        now, right = self._history.walk.content(oid), core(then.tree, known, self._means)
        if now == right:
            return True
        lacks = set(right.decode().splitlines()) - set(now.decode(errors="replace").splitlines())
        came = cores.come(then.before, then.tree, agent.id, self._means.masked)
        return bool(came) and {one for one in lacks if cores.tells(one)} <= came

    # ── what an earlier audit saw ───────────────────────────────────────────────────────────

    def _compare(self, tip: Walked, head: TreeFiles) -> bool:
        """Whether all that an earlier audit saw is still there."""
        recorded = HeadRecord(self._desk.vault).read()
        lost = 0
        for name in recorded.commits if recorded else ():
            was = self._history.walk.commit(name)
            if was is None:
                lost += self._fewer(name, recorded.counts if recorded else {})
            elif self._history.commits(name, tip.name):
                lost += self._lost(was, tip, head)
        return not lost

    def _fewer(self, name: str, counts: Mapping[str, int]) -> int:
        """What HEAD has fewer of than a commit that is gone."""
        now = self._walk.counts
        fewer = {key: count for key, count in counts.items() if now.get(key, 0) < count}
        for key, count in fewer.items():
            what = f"{now.get(key, 0)} {key}, and {count} at {name[:SHORT]}, which is gone"
            self._report.find(Rule.REWRITTEN, "", what)
        if not fewer:
            self._report.note("", f"{name[:SHORT]}, which was audited, is gone; nothing is fewer")
        return len(fewer)

    def _lost(self, was: Walked, tip: Walked, head: TreeFiles) -> int:
        """What a commit that HEAD no longer stands on holds, and HEAD does not; how much."""
        apart, before = Report(), self._history.at(was.tree)
        deltas = next(self._history.deltas([(was.tree, tip.tree)], WHERE))
        contents = self._history.contents(entries(deltas))
        pair = Pair(facts_of(tip), before, head, [before], [], changes(deltas, contents))
        for _ in rows.check(pair, rows.Known(), apart):
            pass
        Claims(self._walk.proof, apart, head).check(pair)
        records.check(pair, self._walk.proof, apart)
        apart.settle()
        every = [one for one in apart.findings if one.rule in _LOSSES]
        found = [one for one in every if not self._redacted(head, one)]
        for one in found:
            what = f"since {was.name[:SHORT]} was audited: {one.rule}: {one.what}"
            self._report.find(Rule.REWRITTEN, one.path, what)
        if not found:
            lost = "a secret was taken out" if every else "nothing is lost"
            self._report.note("", f"rewritten since {was.name[:SHORT]} was audited; {lost}")
        return len(found)

    def _redacted(self, head: TreeFiles, one: Finding) -> bool:
        """Whether a file reads otherwise since a redaction: in another clone than this."""
        words = (head.read(one.path) or b"").decode(errors="replace")
        return one.rule in _ALTERED and self._walk.proof.without_secret(words)
