"""The repository as `doctor` finds it: git, objects, locks, hooks, state, attributes."""

from collections.abc import Callable, Iterator

from orgvault.domain.diagnosis import (
    Diagnosis,
    State,
    age_in_words,
    count_of,
    fault,
    in_short,
    judge_version,
    lost_objects,
    ok,
    warning,
)
from orgvault.services.desk import Desk
from orgvault.services.setting_up import ATTRIBUTES, IGNORED
from orgvault.store.inspection import Inspection, Lock
from orgvault.store.roster import SOURCE
from orgvault.store.vault import ORG
from orgvault.values import dataclass

# No write of git's own takes that long, unless an editor is open: of that there is other proof.
STALE_S = 600.0


@dataclass(frozen=True)
class Mending:
    """Whether what is safe is to be mended, and whether that is only to be shown."""

    asked: bool
    only_shown: bool

    def said(self, done: str, planned: str) -> str:
        """What was done, or would be."""
        return planned if self.only_shown else done


Question = Callable[[], Iterator[Diagnosis]]


def questions(desk: Desk, mending: Mending) -> dict[str, Question]:
    """What is asked of the repository, by name."""
    of = _Repository(desk, mending)
    return {
        "git": of.version,
        "objects": of.objects,
        "locks": of.locks,
        "state": of.state,
        "hooks": of.hooks,
        "signing": of.signing,
        "ignored": of.ignored,
        "attributes": of.attributes,
    }


class _Repository:
    def __init__(self, desk: Desk, mending: Mending) -> None:
        self._desk = desk
        self._vault = desk.vault
        self._repository = desk.vault.repository
        self._inspection = Inspection(desk.vault)
        self._mending = mending

    def version(self) -> Iterator[Diagnosis]:
        yield judge_version(self._inspection.version())

    def objects(self) -> Iterator[Diagnosis]:
        self._repository.trusted()
        lost = lost_objects(self._inspection.fsck())
        if lost and lost[0].startswith("fatal:"):
            yield fault(
                "objects", f"`git fsck` cannot look: {lost[0]}", "mend that, then ask again"
            )
        elif lost:
            what = f"`git fsck` misses {count_of(len(lost), 'thing')}: {in_short(lost)}"
            do = "restore them from a clone or a backup of .git (`git fetch` from one)"
            yield fault("objects", what, do)
        else:
            what = "none that the history needs is missing (`git fsck --full` reads their contents)"
            yield ok("objects", what)

    def locks(self) -> Iterator[Diagnosis]:
        found = self._inspection.locks()
        for lock in found:
            yield self._lock(lock)
        if not found:
            yield ok("locks", "no lock of git stands in the way")

    def _lock(self, lock: Lock) -> Diagnosis:
        age = age_in_words(lock.age_s)
        if lock.held_by:
            what = f"{lock.path}, for {age}, held by {', '.join(lock.held_by)}"
            return warning("locks", what, "let it finish")
        what = f"{lock.path}, for {age}; no process of yours has it open"
        if lock.ours:
            do = "nothing: an orgvault that was killed left it, and the next write clears it"
            return warning("locks", what, do)
        if lock.age_s < STALE_S:
            return warning("locks", what, f"look again when it is {age_in_words(STALE_S)} old")
        at_work = self._inspection.git_at_work()
        if at_work is None:
            do = f"if no git and no editor of a commit message is open: `rm {lock.path}`"
            return fault("locks", what, do)
        if at_work or self._repository.message_open():
            who = at_work or "a commit message in an editor"
            return warning("locks", f"{what}, but {who} is open here", "finish that")
        if not self._mending.asked:
            return fault("locks", what, "`orgvault doctor --fix` removes it")
        if not self._mending.only_shown and not self._inspection.remove(lock):
            return warning("locks", f"{what}; it changed meanwhile", "look again")
        done = self._mending.said(f"removed {lock.path}", f"would remove {lock.path}")
        return Diagnosis("locks", State.OK, what, fixed=done)

    def state(self) -> Iterator[Diagnosis]:
        head, operation = self._repository.head(), self._repository.operation()
        if operation:
            what = f"{operation} is in progress: rows wait in the spool, texts are not written"
            yield warning("state", what, "finish or abort it")
        elif head.ref is None:
            what = "HEAD is detached: reads work, every write is refused"
            yield warning("state", what, "`git switch` to your branch")
        if self._repository.is_shallow:
            what = "the clone is shallow: `audit` and the ledger cannot see what was cut off"
            yield warning("state", what, "`git fetch --unshallow`")
        if self._repository.message_open():
            what = "a commit message seems to be open in an editor, so writes wait"
            yield warning("state", what, "finish or leave that commit")
        if head.ref and not operation and not self._repository.is_shallow:
            unborn = "" if head.oid else ", which has no commit yet"
            yield ok("state", f"on {head.ref.removeprefix('refs/heads/')}{unborn}, at rest")

    def hooks(self) -> Iterator[Diagnosis]:
        folder, names = self._inspection.hooks()
        told = f"{in_short(names)} in {folder}" if names else "none"
        yield ok("hooks", f"{told} (your commits run them; orgvault's never do)")

    def signing(self) -> Iterator[Diagnosis]:
        wanted = self._inspection.settings().get("commit.gpgsign", "").lower()
        signs = wanted in {"true", "yes", "on", "1"}
        if self._desk.roster.sign_commits:
            yield ok("signing", "orgvault signs its commits with your key (`commit: {sign: true}`)")
        elif signs:
            what = (
                "commit.gpgsign is on, but orgvault's commits are not signed with your key, unless "
                "org.yaml says `commit: {sign: true}`"
            )
            yield ok("signing", what)
        else:
            yield ok("signing", "neither your commits nor orgvault's are signed")

    def ignored(self) -> Iterator[Diagnosis]:
        if rule := self._vault.ignored_by(SOURCE):
            what = f"{rule} ignores {ORG}/: new files of orgvault are in nobody's clone or backup"
            yield fault("ignored", what, "take that line out, or add `!.agents/` below it")
        else:
            yield ok("ignored", f"git sees {ORG}/")

    def attributes(self) -> Iterator[Diagnosis]:
        altered, path = self._inspection.altered_by_git(), f"{ORG}/.gitattributes"
        crlf = self._inspection.settings().get("core.autocrlf", "").lower()
        also = f"; core.autocrlf is {crlf}" if crlf in {"true", "input"} else ""
        if altered:
            what = f"git would alter files of orgvault ({in_short(altered)}){also}"
            yield self._mend("attributes", what, path, ATTRIBUTES)
        elif not self._inspection.union_merged():
            what = "rows of two branches would conflict when they are merged"
            yield self._mend("attributes", what, path, ATTRIBUTES)
        elif self._vault.read(path) is None:  # git still goes by the one in the index
            yield self._mend("attributes", f"{path} is missing{also}", path, ATTRIBUTES)
        else:
            yield ok("attributes", "files of orgvault stay byte for byte as they are")
        if not self._inspection.hides_scratch():
            what = "what a crash leaves behind would be seen by `git add`"
            yield self._mend("ignore file", what, f"{ORG}/.gitignore", IGNORED)
        else:
            yield ok("ignore file", "what a crash leaves behind is hidden from git")

    def _mend(self, name: str, what: str, path: str, wanted: str) -> Diagnosis:
        """Have a file end with our lines; what the person wrote before them stays."""
        try:
            there = (self._vault.read(path) or b"").decode()
        except UnicodeDecodeError:
            return fault(name, f"{what}, and {path} is not UTF-8", "save it as UTF-8, then --fix")
        if there.endswith(wanted):
            do = f"look at .git/info and the {path.rpartition('/')[2]} of deeper folders"
            return fault(name, f"{what}, although {path} is right", do)
        if not self._mending.asked:
            return fault(name, what, f"`orgvault doctor --fix` writes {path}")
        gap = "" if not there or there.endswith("\n") else "\n"
        message = self._desk.message(f"org(vault): mend {path.rpartition('/')[2]}", "doctor")
        with self._vault.change(message, self._desk.author, self._desk.clock.now()) as change:
            change.write(path, f"{there}{gap}{wanted}")
        done = self._mending.said(f"wrote {path}", f"would write {path}")
        return Diagnosis(name, State.OK, what, fixed=done)
