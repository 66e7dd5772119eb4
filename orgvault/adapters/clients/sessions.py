"""Where known clients keep the file of a session.

- Claude Code: `<CLAUDE_CONFIG_DIR or ~/.claude>/projects/<folder>/<session>.jsonl`, the folder's
  name being the working folder with `-` for every character but letters and digits
- Codex: `<CODEX_HOME or ~/.codex>/sessions/<year>/<month>/<day>/rollout-<time>-<thread>.jsonl`
"""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from glob import escape, iglob

from orgvault.adapters.clients.answer import ClientResult


def session_file(answer: ClientResult, env: Mapping[str, str], cwd: str) -> ClientResult:
    """The answer with the path of its session's file, where that exists."""
    session, home = answer.session, env.get("HOME") or os.path.expanduser("~")
    if not session or not re.fullmatch(r"[\w-]+", session):
        return answer
    if answer.client == "codex":
        base = env.get("CODEX_HOME") or os.path.join(home, ".codex")
        pattern = os.path.join(escape(base), "sessions", *"***", f"rollout-*-{session}.jsonl")
        found = max(iglob(pattern), default=None)
    else:
        base = env.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
        folder = re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(cwd))
        found = os.path.join(base, "projects", folder, f"{session}.jsonl")
    return replace(answer, transcript=found) if found and os.path.isfile(found) else answer
