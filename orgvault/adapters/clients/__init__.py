"""Client programs (Claude Code, Codex, any command): started, fed a prompt, and heard out.

What a client printed is read by what it looks like, not by the command's name.
"""

from collections.abc import Mapping, Sequence

from orgvault.adapters.clients.answer import ClientResult, read_answer
from orgvault.adapters.clients.options import with_options
from orgvault.adapters.clients.orphans import end_orphans
from orgvault.adapters.clients.process import CannotStart, hear
from orgvault.adapters.clients.sessions import session_file

__all__ = ["CANNOT_START", "ClientResult", "end_orphans", "run_client", "with_options"]

CANNOT_START = 127  # as a shell says it


def run_client(
    command: Sequence[str], env: Mapping[str, str], cwd: str, prompt: str
) -> ClientResult:
    """Run a client until it ends: the prompt on its stdin, its result from its stdout.

    It leads a process group of its own, which is ended when the waiting is interrupted.  One that
    cannot be started gives exit code 127 and says why; no OSError leaves here.
    """
    try:
        heard = hear(command, env, cwd, prompt.encode(errors="replace"))
    except CannotStart as failure:
        return ClientResult(exit_code=CANNOT_START, result=str(failure))
    answer = read_answer(heard.stdout, heard.stderr, heard.exit_code, heard.took_s)
    return session_file(answer, env, cwd)
