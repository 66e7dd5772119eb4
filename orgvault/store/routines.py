"""Routines: one file each, `.agents/org/routines/<id>.yaml`."""

from zoneinfo import ZoneInfo

from orgvault.domain.problem import Problem
from orgvault.domain.routine import Routine, id_fault, local
from orgvault.domain.routine_file import read_routine
from orgvault.errors import BadFile
from orgvault.store.change import Tree
from orgvault.store.files import text_of
from orgvault.store.place import ORG

FOLDER = f"{ORG}/routines"
ENDING = ".yaml"
# An occurrence is looked for from here: whether a routine reads must not depend on the day.
_FROM = local("2026-01-01T00:00:00Z", ZoneInfo("UTC"))


class Routines:
    """The routines of a vault."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @staticmethod
    def path(routine_id: str) -> str:
        """Where the file of a routine stands."""
        return f"{FOLDER}/{routine_id}{ENDING}"

    def all(self, problems: list[Problem]) -> list[Routine]:
        """Every routine, by id; what is none goes to `problems`."""
        found = []
        for name in self._tree.names(FOLDER):
            if not name.endswith(ENDING) or id_fault(name.removesuffix(ENDING)):
                if not name.startswith("."):
                    problems.append(Problem(f"{FOLDER}/{name}", 0, *_FOREIGN))
                continue
            routine = self.get(name.removesuffix(ENDING), problems)
            if routine is not None:
                found.append(routine)
        return found

    def get(self, routine_id: str, problems: list[Problem]) -> Routine | None:
        """One routine; None when there is none of that id, or `problems` says what is wrong."""
        if id_fault(routine_id):
            return None
        text = self.text(routine_id, problems)
        if text is None:
            return None
        path = self.path(routine_id)
        routine, faults = read_routine(text, path, _FROM)
        problems.extend(faults)
        if routine is not None and routine.id != routine_id:
            do = f"name the file {routine.id}{ENDING}, or remove it"
            problems.append(Problem(path, 0, f"the file holds the routine {routine.id}", do))
            return None
        return routine

    def text(self, routine_id: str, problems: list[Problem]) -> str | None:
        """The text of a routine's file; None when there is none, or a link stands in its way."""
        path = self.path(routine_id)
        try:
            self._tree.check(path)
        except BadFile as fault:  # it might lead to a protected place
            what = str(fault).removeprefix(f"{path}: ")
            problems.append(Problem(path, 0, f"it is not read: {what}"))
            return None
        return text_of(self._tree.read, path, problems, "save it as UTF-8")


_FOREIGN = ("not the name of a routine, so it is not loaded", "a sync tool's copy? remove it")
