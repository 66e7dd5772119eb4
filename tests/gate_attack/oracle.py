"""The second opinion on what the gate accepted; it shares no code with it.

`git apply` in a scratch repository must yield the same bytes; two other YAML loaders (PyYAML and
ruamel's pure one) must see no value change but the agent's own prose; what stands outside of the
changed values must be the same, byte by byte; nothing that a skill may not hold may be new in it.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from orgvault.domain.proposal import Accepted, Target
from tests.gate_attack.attack import Attack
from tests.gate_attack.oracle_org import org_faults
from tests.gate_attack.oracle_text import character_faults, skill_faults
from tests.gate_attack.scene import ORG, SKILLS

LINES_MAX = 40
SKILL_FILES = {f"{SKILLS}/build.md", f"{SKILLS}/look-around.md", f"{SKILLS}/deep/Über uns.md"}


class Oracle:
    """`with Oracle() as oracle`: owns a scratch repository."""

    def __enter__(self) -> Self:
        self._folder = tempfile.mkdtemp(prefix="gate-oracle-")
        self._vault = Path(self._folder, "vault")
        self._vault.mkdir()
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": self._folder,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "LC_ALL": "C.UTF-8",
        }
        self._git("init", "-q")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self._folder)

    def faults(self, attack: Attack, answer: Accepted) -> list[str]:
        """What is wrong with an accepted diff; empty when the second opinion is the same."""
        found = [*self._git_faults(attack, answer)]
        if answer.old != attack.files.get(answer.path) or answer.diff != attack.diff:
            found.append("`old` or `diff` is not what was given")
        if (answer.path == ORG) != (answer.target is Target.OWN_PROMPT):
            found.append(f"{answer.path} is not {answer.target}")
        if answer.path not in {ORG, *_skills(attack)}:
            found.append(f"{answer.path} is no file of the agent's own")
        found += _ending_faults(answer)
        try:
            found += org_faults(answer) if answer.path == ORG else skill_faults(answer)
            found += character_faults(answer)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            found.append(f"another reader stumbles over it: {error}")
        return found

    def _git_faults(self, attack: Attack, answer: Accepted) -> Iterator[str]:
        said = self._git("apply", "--numstat", "-z", "--whitespace=nowarn", diff=attack.diff)
        expected = f"{answer.added}\t{answer.removed}\t{answer.path}\0".encode()
        if said.stdout != expected:
            yield f"git counts {said.stdout!r} {said.stderr[:200]!r}, the gate {expected!r}"
        if answer.added + answer.removed > LINES_MAX:
            yield f"{answer.added + answer.removed} lines change"
        # A CRLF file may be asked for in its LF form, which is how git sees it with autocrlf.
        ways = ["false", *(["true"] if b"\r\n" in answer.old else [])]
        results = [self._applied(attack, answer, autocrlf) for autocrlf in ways]
        if all(results):
            yield "; ".join(results)

    def _applied(self, attack: Attack, answer: Accepted, autocrlf: str) -> str:
        """What git does otherwise than the gate; empty when nothing."""
        before = {name: body for name, body in attack.files.items() if not name.startswith(".git/")}
        self._lay_out(before)
        said = self._git(
            "-c", f"core.autocrlf={autocrlf}", "-c", "core.safecrlf=false",
            "apply", "--whitespace=nowarn", diff=attack.diff,
        )  # fmt: skip
        if said.returncode:
            return f"git apply refuses: {said.stderr.decode(errors='replace').strip()[:300]}"
        after = dict(self._contents())
        if after.get(answer.path) != answer.new:
            return f"git apply makes another file of {answer.path}"
        others = {name for name in {*before, *after} if before.get(name) != after.get(name)}
        return f"git apply changes {sorted(others)}" if others != {answer.path} else ""

    def _lay_out(self, files: Mapping[str, bytes]) -> None:
        known = dict(self._contents())
        for name in known.keys() - files.keys():
            (self._vault / name).unlink()
        for name, body in files.items():
            if known.get(name) != body:
                (self._vault / name).parent.mkdir(parents=True, exist_ok=True)
                (self._vault / name).write_bytes(body)

    def _contents(self) -> Iterator[tuple[str, bytes]]:
        for folder, names, files in os.walk(self._vault):
            if ".git" in names:
                names.remove(".git")
            for name in files:
                path = Path(folder, name)
                yield str(path.relative_to(self._vault)), path.read_bytes()

    def _git(self, *args: str, diff: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["git", *args], cwd=self._vault, env=self._environment, input=diff,
            capture_output=True, check=False, timeout=60,
        )  # fmt: skip


def _ending_faults(answer: Accepted) -> Iterator[str]:
    """Line ends, the last one, the mark of byte order and the encoding stay."""
    old, new = (
        (
            content.count(b"\n") == content.count(b"\r\n"),
            content.endswith(b"\n"),
            content.startswith(b"\xef\xbb\xbf"),
        )
        for content in (answer.old, answer.new)
    )
    if old != new or (b"\r\n" in answer.new) != (b"\r\n" in answer.old):
        yield "line ends or the mark of byte order change"


def _skills(attack: Attack) -> set[str]:
    """The files that are the agent's own, by hand for each scene's `knowledge`."""
    if any(one.startswith("Projects/") for one in attack.knowledge):
        return {"Projects/Site.md"}
    return SKILL_FILES & attack.files.keys()
