"""What a person would call a shell command by: `uv run pytest`, not its paths and options."""

import re


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SETUP = _set(
    ". : cd clear date echo export popd printf pushd set shopt sleep source trap true ulimit "
    "umask unset wait"
)
_PREFIXES = _set("command env exec nice nohup stdbuf sudo time timeout xargs")
_KEYWORDS = _set("case do done else esac fi for function if in then until while { } ( )")
_INTERPRETERS = _set("bash bun deno node perl php python python3 ruby sh tsx zsh")
# Programs whose next word says what they do; a second word counts after some first ones.
_SPEAKING = _set(
    "apt apt-get brew bun bundle cargo composer conda docker dotnet flutter gh git go gradle "
    "gradlew hatch helm just kubectl make mix mvn npm nx pip pip3 pipenv pipx pnpm podman "
    "poetry rake rustup swift systemctl terraform uv yarn"
)
_TWO_WORDS = _set("compose issue pip pr remote run stash submodule tool worktree")
_RUNNERS = frozenset(
    {
        ("bundle", "exec"), ("bunx",), ("hatch", "run"), ("npx",), ("pipenv", "run"),
        ("pnpm", "dlx"), ("pnpm", "exec"), ("poetry", "run"), ("uv", "run"), ("uvx",),
        ("yarn", "dlx"), ("yarn", "exec"),
    }
)  # fmt: skip
_WITH_VALUE = _set(
    "-C -c -F -f -n -p -w --cwd --dir --directory --extra --file --filter --group "
    "--manifest-path --namespace --prefix --project --python --with --workspace"
)
_READ_CHARS = 4000


def names(command: str) -> tuple[str, ...]:
    """The names of a command line's steps in order, without set-up such as `cd`.

    Of a pipeline the first program counts.  Empty when there is no telling (a loop, a script
    typed in).
    """
    text = re.split(r"<<-?\s*[\"']?\w", command[:_READ_CHARS], maxsplit=1)[0]
    text = re.sub(r"\\\n", " ", text)
    # What is quoted is one argument, whatever characters it holds.
    text = re.sub(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", "Q", text)
    text = re.sub(r"(?m)^\s*#.*$|\d?>&\d|&>\s*\S+|\d?>>?\s*\S+", " ", text)
    steps = [step.split("|")[0].split() for step in re.split(r"&&|\|\||[;\n&]", text)]
    found = [name for step in steps if (name := _name(step)) is not None]
    if "" in found:
        return ()
    told = [name for name in found if name.split()[0] not in _SETUP]
    return tuple(dict.fromkeys(told or found))


def _name(words: list[str]) -> str | None:
    """The name of one step: None when it is empty, "" when there is no telling."""
    while words and (
        re.match(r"[A-Za-z_]\w*=", words[0])
        or words[0] in _PREFIXES
        or re.match(r"[\d.]+[smh]?$", words[0])
    ):
        words = words[1:]
    if not words:
        return None
    program = re.split(r"[\\/]", words[0])[-1]
    if words[0] in _KEYWORDS or not re.fullmatch(r"[A-Za-z.\[:][\w.+\[-]*", program):
        return ""
    return " ".join([program, *_arguments(program, words[1:])])


def _arguments(program: str, words: list[str]) -> list[str]:
    if program in _INTERPRETERS:
        return _interpreted(words)
    if program not in _SPEAKING and (program,) not in _RUNNERS:
        return []
    told: list[str] = []
    skip = False
    for at, word in enumerate(words):
        if skip or word.startswith("-"):
            skip = not skip and word in _WITH_VALUE
            continue
        if (program, *told) in _RUNNERS:
            inner = _name(words[at:])
            return [*told, *(inner.split() if inner else [])]
        if not re.fullmatch(r"[a-z][a-z0-9:_-]*", word):
            break
        told.append(word)
        if not ((program, *told) in _RUNNERS or (len(told) == 1 and word in _TWO_WORDS)):
            break
    return told


def _interpreted(words: list[str]) -> list[str]:
    """`-m module` or the script's file name; nothing for code given on the line."""
    for at, word in enumerate(words):
        if word == "-m" and at + 1 < len(words):
            return ["-m", words[at + 1]] if re.fullmatch(r"[\w.]+", words[at + 1]) else []
        if word.startswith("-"):
            continue
        script = re.split(r"[\\/]", word)[-1]
        return [script] if re.fullmatch(r"[\w-]+\.\w{1,4}", script) else []
    return []
