"""What an agent's block says of its model and tools, as options of a client that knows them.

- `claude`: `--model`, `--allowedTools` (one list with commas), `--permission-mode`
  (https://docs.anthropic.com/en/docs/claude-code/cli-reference)
- `codex`: `--model` (https://developers.openai.com/codex/cli/reference); it goes after `exec`

An option that the command has already is left as it is, in any of its spellings.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

_MODEL = ("--model", "-m")
_TOOLS = ("--allowedTools", "--allowed-tools")
_MODE = ("--permission-mode", "--dangerously-skip-permissions")
_BARE = "--"


def with_options(command: Sequence[str], block: Mapping[str, Any]) -> list[str]:
    """The command of a client with the options that follow from its agent's block."""
    words = list(command)
    program = os.path.basename(words[0]).removesuffix(".exe") if words else ""
    model, tools, mode = block.get("model"), block.get("tools"), block.get("permission_mode")
    if program == "claude":
        added = [
            *_given(words, _MODEL[:1], model),
            *_given(words, _TOOLS, ",".join(tools or ())),
            *_given(words, _MODE, mode),
        ]
        return _with(words, added)
    if program == "codex":
        return _with(words, _given(words, _MODEL, model))
    return words


def _given(words: Sequence[str], names: Sequence[str], value: str | None) -> list[str]:
    options = words[: words.index(_BARE)] if _BARE in words else words
    has = any(word == name or word.startswith(f"{name}=") for word in options for name in names)
    return [names[0], value] if value and not has else []


def _with(words: list[str], added: list[str]) -> list[str]:
    """The options at the end, but before what is no option: a lone `-` or all after `--`."""
    at = next((i for i, word in enumerate(words) if word in {_BARE, "-"}), len(words))
    return [*words[:at], *added, *words[at:]]
