"""Write docs/reference from commands, errors, records and rules; `--check` says what is stale."""

import argparse
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from orgvault import errors
from orgvault.cli.main import cli
from orgvault.cli.options import Command, shared
from tools import access_page, org_page

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
SHARED = {option.opts[0] for option in shared()}


def main() -> int:
    """Write the pages, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    own = {path.removeprefix("orgvault ") for path, _ in _walk(cli, "orgvault")}
    pages = {
        "commands.md": commands(), "exit-codes.md": exit_codes(), "org.md": org_page.page(),
        "access.md": access_page.page(own),
    }  # fmt: skip
    stale = [name for name, text in pages.items() if _stale(FOLDER / name, text)]
    if check:
        for name in stale:
            print(f"docs/reference/{name} is stale: run `make docs`")
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


def commands() -> str:
    """The page of all commands."""
    lines = [
        "# Commands",
        "",
        "Generated from the commands by `make docs`; do not edit.",
        "",
        cli.help.replace("\n\n", "\n") if cli.help else "",
        "",
        "Every command takes these, before or after its name (`-C`, `--version` only before):",
        "",
        "| option | does |",
        "|---|---|",
        *(_row(option) for option in cli.params if isinstance(option, click.Option)),
    ]
    for path, command in _walk(cli, "orgvault"):
        lines += ["", f"## {path}", "", (command.help or "").replace("\b\n", "").strip(), ""]
        with click.Context(command, info_name=path) as context:
            lines += ["```", command.get_usage(context).removeprefix("Usage: "), "```"]
        own = [
            one
            for one in command.params
            if isinstance(one, click.Option) and one.opts[0] not in SHARED
        ]
        if own:
            lines += ["", "| option | does |", "|---|---|", *(_row(one) for one in own)]
        if isinstance(command, Command) and command.epilog:
            lines += ["", "```", command.epilog.partition("Example:")[2].strip(), "```"]
    return "\n".join(lines) + "\n"


def exit_codes() -> str:
    """The page of every failure that a person can meet."""
    lines = [
        "# Exit codes and failures",
        "",
        "Generated from `orgvault/errors.py` by `make docs`; do not edit.",
        "",
        "| code | means |",
        "|---|---|",
        "| 0 | fine |",
        "| 1 | a known failure, or a failed check |",
        "| 2 | the command's words do not fit |",
        "| 3 | refused by the gate |",
        "| 4 | not allowed for this actor |",
        "| 5 | changed underneath, try again |",
        "| 70 | a bug; a log file was written and is named |",
        "| 75 | the vault is busy, and the write could not be queued |",
        "| 130 | interrupted |",
        "",
        "| failure | code | when |",
        "|---|---|---|",
    ]
    for name, one in sorted(inspect.getmembers(errors, inspect.isclass)):
        if issubclass(one, errors.OrgvaultError) and one is not errors.OrgvaultError:
            when = " ".join((one.__doc__ or "").split())
            lines.append(f"| {name} | {one.exit_code} | {_cell(when)} |")
    return "\n".join(lines) + "\n"


def _walk(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from _walk(command, f"{path} {name}")
            elif command is not None:
                yield f"{path} {name}", command


def _row(option: click.Option) -> str:
    with click.Context(click.Command("x")) as context:
        told = option.get_help_record(context)
    names, text = told or (", ".join(option.opts), "")
    return f"| `{_cell(names)}` | {_cell(text)} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _stale(path: Path, text: str) -> bool:
    return not path.exists() or path.read_text(encoding="utf-8") != text


if __name__ == "__main__":
    sys.exit(main())
