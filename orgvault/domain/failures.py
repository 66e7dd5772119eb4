"""Failing tool calls: which were not expected, and why they failed, said the same every time."""

import re

from orgvault.domain.command_names import names
from orgvault.domain.transcript import Session, ToolCall
from orgvault.values import dataclass

REASON_CHARS = 120
_LOOKED_AT_CHARS = 20_000
_LINE_CHARS = 500
_STEPS = 3

_SHELLS = (
    r"(?i)(?:bash|shell|sh|exec|exec_command|shell_command|container\.exec|local_shell"
    r"|run_terminal_cmd|terminal|run_shell_command|execute_command)$"
)
_READERS = (
    r"(?i)(?:read|glob|grep|ls|notebookread|read_file|list_dir|grep_files|view|search|find"
    r"|bashoutput|taskoutput|todowrite|websearch|webfetch|update_plan)$"
)
# A person, or the client in a person's stead, said no: nothing was run.
_REJECTED = (
    r"user doesn't want to (?:proceed|take this action)|\[Request interrupted by user"
    r"|(?:rejected|denied|cancelled|canceled|aborted|declined|interrupted) by (?:the )?user"
    r"|requires? (?:your )?approval|haven't granted|(?:has been|was) denied"
    r"|by (?:your|the) (?:organization|administrator)|Permission to use "
    r"|blocked by (?:a |the )?(?:\w+ )?hook"
)
# The service behind the agent, not the work: the same for every agent, and gone tomorrow.
_SERVICE = (
    r"(?i)API Error|(?:rate|usage|session|spending|weekly|quota) limit|limit reached|overloaded"
    r"|(?:credit|account) balance|Sibling tool call|parallel tool call|Interrupted\b"
    r"|status code (?:429|5\d\d)|Internal server error|service unavailable"
)
_PROBING = (
    "[ [[ ack ag awk cat cmp command diff du egrep fd fgrep file find git-grep grep head hash id jq"
    " less ls lsof man pgrep pkill ps readlink realpath rg sed stat tail test tree type wc which"
    " whereis"
)
_PROBES = frozenset(_PROBING.split())
_CHECKS = (
    r"(?:^|[ :_-])(?:pytest|unittest|jest|vitest|mocha|ava|rspec|phpunit|ctest|tox|nox|playwright"
    r"|cypress|mypy|pyright|ruff|flake8|pylint|black|isort|eslint|prettier|stylelint|tsc|biome"
    r"|clippy|rustc|gcc|g\+\+|cc|clang|javac|cmake|shellcheck|lint-imports|coverage|pre-commit"
    r"|tests?|check|lint|build|typecheck|type-check|types|fmt|format|vet|verify|compile|ci|all)"
    r"(?=$|[ :_-])"
)
_SCRIPTS = r"^(?:bash|bun|deno|node|perl|php|python3?|ruby|sh|tsx|zsh)\b"
# The call never got to its work: said of a check or a script, that is a lesson.
_NOT_STARTED = (
    r"(?i)No module named ['\"]?\w+['\"]?(?!\.?\w)|command not found|: not found$|Missing script"
    r"|Cannot find (?:module|package) ['\"][^.'\"]|no tests (?:ran|collected|found)"
    r"|unrecognized arguments|(?:unknown|invalid|no such) (?:option|command|argument|subcommand)"
    r"|permission denied|timed out|ECONNREFUSED|connection refused|(?:could|can) ?not connect"
    r"|address already in use|EADDRINUSE|Executable doesn't exist|No rule to make target"
    r"|not installed|file or directory not found|can't open file|is locked|No space left"
)
_ABSENT = (
    r"(?i)no such file|does not exist|doesn't exist|not found|no (?:files|matches)|is a directory"
    r"|EISDIR|ENOENT|not a directory|cannot access|status code 40[34]|not part of the working"
)
_MISUSED = (
    r"(?i)(?:invalid|illegal|unrecognized|unknown) (?:option|predicate|argument)|usage:|regex parse"
    r"|permission denied|timed out|command not found|exceeds|must be"
)
_TELLING = (
    r"(?i)error\b|exception\b|fatal|fail|cannot|can't|could ?n[o']t|unable|not found|no such|denied"
    r"|refused|invalid|illegal|unknown|missing|timed out|unexpected|unrecognized|no module"
    r"|undefined|abort|rejected|nothing to|conflict|exceeds|does(?:n't| not)|has not|have not"
    r"|is not|not a|already|no rule|locked|no tests|panic|usage:"
)
_RAISED = r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt|NotFound)\b"
_LEAD = (
    r"^(?:\d{4}-\d\d-\d\d[T ][\d:.,Z+-]+\s*|(?:/\S*/)?(?:ba|z|da|k)?sh: (?:line \d+: |\d+: )?"
    r"|\(eval\):\d+: |(?:Uncaught )?Error: |ERROR: |error: |npm (?:ERR!|error) (?:code \w+$)?)+"
)
_TAGS = r"</?[A-Za-z][\w-]*(?: [^<>]*)?/?>"


@dataclass(frozen=True)
class Failure:
    """A call that failed unexpectedly.

    `at` is its place in the session's items; `name` what was called (`pytest`, or the tool);
    `shell` whether that is a command; `reason` why, with numbers, paths, hashes and quotations
    replaced by `…`, so that the same kind of failure reads the same in every run; `line` the
    line of the result that says so, as it stands there.
    """

    at: int
    name: str
    shell: bool
    reason: str
    line: str
    input: str


def failures(session: Session) -> tuple[Failure, ...]:
    """The session's failing calls in order, without those that any good run has."""
    found = [
        _failure(at, item)
        for at, item in enumerate(session.items)
        if isinstance(item, ToolCall) and item.failed
    ]
    return tuple(one for one in found if one is not None)


def rejected(result: str) -> bool:
    """Whether a call was not run since a person (or their settings) refused it."""
    return re.search(_REJECTED, result[:400]) is not None


def is_shell(tool: str) -> bool:
    """Whether the tool runs commands."""
    return re.match(_SHELLS, tool) is not None


def only_looks(call: ToolCall) -> bool:
    """Whether a call changes nothing, as far as its name tells."""
    if not is_shell(call.tool):
        return re.match(_READERS, call.tool) is not None
    told = names(call.input)
    reading = ("git status", "git diff", "git log", "git show")
    return bool(told) and all(one in reading or one.split()[0] in _PROBES for one in told)


def telling_line(result: str) -> str:
    """The line of a failed call's result that says why, as it stands; "" when none does."""
    lines = [line for line in result[-_LOOKED_AT_CHARS:].split("\n") if _bare(line)]
    lines = [line for line in lines if not re.match(r"\s*(?:Error: )?Exit code \d+\s*$", line)]
    if any(line.startswith("Traceback (most recent") for line in lines):
        lines = [line for line in lines if re.match(_RAISED, line)][-1:] or lines
    raised = [line for line in lines if re.match(r"E\s{2,}\w*(?:Error|Exception)\b", line)]
    telling = raised or [line for line in lines if re.search(_TELLING, line)]
    if telling:
        return telling[0]
    return lines[0] if len(lines) == 1 else ""


def abstracted(line: str) -> str:
    """A telling line without what differs from run to run, each piece replaced by `…`."""
    text = re.sub(r"^\s*E\s{2,}", "", re.sub(_TAGS, " ", line[:_LINE_CHARS]))
    text = " ".join(text.split())
    for _ in range(2):
        text = re.sub(_LEAD, "", text)
    for pattern in _VARYING:
        text = re.sub(pattern, "…", text)
    text = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", " ", text)
    text = re.sub(r"[\"`]|(?<!\w)'|'(?!\w)", "", text)
    text = re.sub(r"…(?:[\s,:;=|→>-]*…)+", "…", " ".join(text.split()))
    text = re.sub(r"\s+(?=[.,:;!?])", "", text)
    text = re.split(r"(?<=[.!?])\s|\s[—|]\s", text, maxsplit=1)[0]
    text = re.sub(r"^(?:…\s*:\s*)+|:\s*…$", "", text).strip(" .,:;!-")
    if len(text) > REASON_CHARS:
        text = text[: REASON_CHARS - 1].rsplit(" ", 1)[0].rstrip(" .,:;!-…") + " …"
    return text


# Patterns are kept as text and compiled when first used: to compile all takes longer than to
# import everything else.
_VARYING = (
    r"\[secret\]",
    r"[A-Za-z][A-Za-z0-9+.-]*://\S+?(?=[.,;:!?)'\"]*(?:\s|$))",  # addresses
    r"(?<=\bhost: )\S+|(?<=\bhost )['\"]?[\w.-]+['\"]?",
    r"\"[^\"]{0,300}\"|`[^`]{0,300}`|“[^”]{0,300}”|\u2018[^’]{0,300}’|«[^»]{0,300}»",
    r"(?<!\w)'[^']{1,300}'(?!\w)",
    r"(?<=: )[^:…]{1,200}(?=: (?:No such file|[Nn]ot a directory|Permission denied))",
    r"\S+@[\w.-]+|@[\w-]+",  # mail addresses, names
    r"[^\s:('\"=,]*[\\/][^\s:)'\",]*",  # paths
    r"(?<!\w)\.[A-Za-z_][\w.-]*",  # dot files
    r"\b[\w-]+(?:\.[\w-]+)+\b(?:\(\))?",  # files, hosts, versions, dotted names
    r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b",
    r"\b(?=[0-9a-f]*\d)[0-9a-f]{6,}\b",
    r"\b[a-z]{1,4}-[0-9a-z]{8}\b(?<=\d)|\b\w{1,4}-(?=\w*\d)\w{6,}\b",  # ids
    r"[-+]?\b\d[\d.,:_]*(?:\s?(?:ms|s|m|h|min|[kKMG]i?B|%)(?!\w)|\b)",
    r"\b0x\w+\b",
)


def _bare(line: str) -> str:
    return re.sub(_TAGS, "", line).strip()


def _failure(at: int, call: ToolCall) -> Failure | None:
    if rejected(call.result) or re.search(_SERVICE, call.result[:2000]):
        return None
    line = telling_line(call.result)
    reason = abstracted(line)
    shell = is_shell(call.tool)
    name, reason = _named(call, line, reason) if shell else (call.tool.strip(), reason)
    told = re.search(r"[^\W\d_]{2}.*?[\W_].*?[^\W\d_]{2}", reason)  # two words, or it says nothing
    if not told or not re.fullmatch(r"[\w\[][\w .:+-]{0,80}", name):
        return None
    if _expected(name, line, call.result) if shell else _looking(name, line):
        return None
    return Failure(at, name, shell, reason, line, call.input)


def _named(call: ToolCall, line: str, reason: str) -> tuple[str, str]:
    """Which step failed: the one that the line begins with, else all of them, if they are few."""
    absent = re.search(r"(?:^|[\s:])([\w.+-]+): (?:command )?not found\s*$", line) or re.search(
        r"command not found: ([\w.+-]+)\s*$", line
    )
    if absent and re.search(rf"(?<![\w-]){re.escape(absent[1])}(?![\w-])", call.input):
        return absent[1], "command not found"
    told = names(call.input)
    start = re.match(r"[\w.+-]+(?=[:\s])", reason)
    if start and start[0] == "cd" and re.search(r"\bcd\s", call.input):
        return "cd", reason
    for name in told:
        if start and name.split()[0] == start[0]:
            return name, reason
    return (" then ".join(told), reason) if len(told) <= _STEPS else ("", reason)


def _looking(tool: str, line: str) -> bool:
    """Whether a tool merely did not find what it was to read."""
    return re.match(_READERS, tool) is not None and re.search(_ABSENT, line) is not None


def _expected(name: str, line: str, result: str) -> bool:
    """Whether such a failure is part of any good run: looking for things, fixing a test."""
    steps = name.split(" then ")
    if all(step.split()[0] in _PROBES for step in steps):
        return re.search(_MISUSED, line) is None
    working = any(re.search(_CHECKS, step) or re.match(_SCRIPTS, step) for step in steps)
    counted = re.search(r"\b\d+ (?:failed|failing|problems?|errors?)\b", result[-3000:])
    return (working or counted is not None) and re.search(_NOT_STARTED, line) is None
