"""Scripts: for each agent a folder of folders, each with its script.yaml and the files beside."""

import os
import re

from orgvault.domain.problem import Problem
from orgvault.domain.script import SCRIPT_NAME, Script
from orgvault.domain.script_file import read_script
from orgvault.errors import BadFile
from orgvault.store.change import Tree
from orgvault.store.files import read_regular, text_of
from orgvault.store.vault import ORG

FOLDER = f"{ORG}/scripts"
ABOUT = "script.yaml"


class Scripts:
    """The scripts of a vault, or of a change of it."""

    def __init__(self, vault: Tree) -> None:
        self._tree = vault

    @staticmethod
    def folder(agent: str, name: str) -> str:
        """Where a script stands with its files."""
        return f"{FOLDER}/{agent}/{name}"

    def agents(self) -> list[str]:
        """Whose scripts there are, by the names of the folders."""
        return [name for name in self._tree.names(FOLDER) if not name.startswith(".")]

    def of(self, agent: str, problems: list[Problem]) -> list[Script]:
        """An agent's scripts, by name; what is none goes to `problems`."""
        found = []
        for name in self._tree.names(f"{FOLDER}/{agent}"):
            if name.startswith("."):
                continue
            if not re.fullmatch(SCRIPT_NAME, name):
                problems.append(Problem(self.folder(agent, name), 0, *_NO_SCRIPT))
                continue
            before = len(problems)
            script = self.get(agent, name, problems)
            if script is not None:
                found.append(script)
            elif len(problems) == before:
                what = f"there is no {ABOUT} in it"
                do = "restore it from git, or remove the folder"
                problems.append(Problem(self.folder(agent, name), 0, what, do))
        return found

    def get(self, agent: str, name: str, problems: list[Problem]) -> Script | None:
        """One script; None when there is none of that name, or it cannot be relied on."""
        if not re.fullmatch(SCRIPT_NAME, name):
            return None
        path = f"{self.folder(agent, name)}/{ABOUT}"
        try:
            self._tree.check(path)
        except BadFile as fault:
            what = str(fault).removeprefix(f"{path}: ")
            problems.append(Problem(path, 0, f"it is not read: {what}"))
            return None
        text = text_of(self._tree.read, path, problems, "save it as UTF-8")
        if text is None:
            return None
        script, faults = read_script(text, path)
        problems.extend(faults)
        if script is not None and script.name != name:
            what = f"it holds the script {script.name} under another name"
            problems.append(Problem(path, 0, what, f"write `name: {name}`, or rename the folder"))
            return None
        return script


def name_of(path: str) -> str:
    """The name of a file somewhere on this machine."""
    return os.path.basename(path)


def is_link(path: str) -> bool:
    """Whether such a file is a symbolic link."""
    return os.path.islink(path)


def outside(path: str) -> bytes:
    """The content of such a file.  OSError for anything but a file."""
    return read_regular(path)


_NO_SCRIPT = (
    "not the name of a script, so it is not loaded",
    "a small letter, then up to 31 of a-z, 0-9, - and _",
)
