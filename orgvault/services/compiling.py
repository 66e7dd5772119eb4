"""org.yaml → org-agents.json: what the engine reads."""

from orgvault.domain.org_compiler import compile_org, encode_compiled
from orgvault.errors import NoSource, NotCompilable, Stale
from orgvault.services.desk import Desk
from orgvault.store.roster import COMPILED, SOURCE
from orgvault.values import dataclass


@dataclass(frozen=True)
class Compiled:
    """What compiling did."""

    path: str
    agents: tuple[str, ...]
    changed: bool
    source_uncommitted: bool = False


def compile_roster(desk: Desk) -> Compiled:
    """Compile org.yaml and commit the result if it differs.

    Raises NoSource, or Faults with every problem; nothing is written then.
    """
    desk.require("dispatch", "compile the roster")
    text, agents = _compiled(desk)
    changed = desk.vault.read(COMPILED) != text.encode()
    if changed:
        message = desk.message("org(roster): compile", "compile")
        with desk.vault.change(message, desk.author, desk.clock.now()) as change:
            change.write(COMPILED, text)
    loose = desk.vault.committed(SOURCE) != desk.vault.read(SOURCE)
    return Compiled(COMPILED, agents, changed, loose)


def check_compiled(desk: Desk) -> Compiled:
    """Raise Stale when org-agents.json is not what org.yaml compiles to."""
    text, agents = _compiled(desk)
    if desk.vault.read(COMPILED) != text.encode():
        raise Stale(COMPILED, SOURCE, "orgvault compile")
    return Compiled(COMPILED, agents, changed=False)


def _compiled(desk: Desk) -> tuple[str, tuple[str, ...]]:
    content = desk.vault.read(SOURCE)
    if content is None:
        raise NoSource(SOURCE)
    compiled, problems = compile_org(content.decode(errors="replace"), desk.version)
    if compiled is None:
        raise NotCompilable(SOURCE, problems)
    return encode_compiled(compiled), tuple(sorted(compiled["agents"]))
