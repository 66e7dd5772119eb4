"""What every command takes beside its own options, and how a group finds its commands."""

import importlib
from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


# Arguments and options that stand for an id, by name: every command calls them so.
_IDS = {"agent": "agent", "claim": "claim", "claim_or_line": "claim", "card": "card"}


class Settings:
    """The words that hold for any command; given before or after its name."""

    def __init__(self) -> None:
        self.vault: str | None = None
        self.actor: str | None = None
        self.json = False
        self.dry_run = False
        self.quiet = False
        self.no_color = False
        self.debug = False


class Id(click.types.StringParamType):
    """An id that the shell can complete."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem]":
        """The ids that begin so and are there."""
        group = ctx.parent.info_name if ctx.parent and param.name == "card" else ""
        kind = "proposal" if group in {"proposal", "ledger"} else self.kind
        asked = importlib.import_module("orgvault.cli.completing")  # found as a command is
        found: list[CompletionItem] = asked.complete(kind, ctx, incomplete)
        return found


def settings() -> Settings:
    """The settings of the command that is running."""
    return click.get_current_context().find_root().ensure_object(Settings)


def _keep(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def keep(context: click.Context, _: click.Parameter, value: Any) -> None:
        if value:
            setattr(context.find_root().ensure_object(Settings), name, value)

    return keep


def _flag(name: str, field: str, text: str) -> click.Option:
    return click.Option([name], is_flag=True, expose_value=False, callback=_keep(field), help=text)


def shared() -> list[click.Option]:
    """The options that any command takes."""
    return [
        _flag("--json", "json", "Print one JSON object."),
        click.Option(
            ["--as"], metavar="NAME", expose_value=False, callback=_keep("actor"),
            type=Id("actor"), help="Act as this agent or operator (never more than you may).",
        ),
        _flag("--dry-run", "dry_run", "Show what would be written; write nothing."),
        _flag("--quiet", "quiet", "No remarks on stderr."),
        _flag("--no-color", "no_color", "No colours."),
        _flag("--debug", "debug", "Show the traceback of a bug."),
    ]  # fmt: skip


class Amount(click.FloatRange):
    """A number that is one: neither NaN nor infinite."""

    name = "amount"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number."""
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


class Command(click.Command):
    """A command with the shared options; its example ends the help."""

    def __init__(self, *args: Any, example: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for param in self.params:
            if param.name in _IDS and param.type is click.STRING:
                param.type = Id(_IDS[param.name])
        self.params.extend(shared())
        if example:
            self.epilog = f"\b\nExample:\n  {example}"


class Lazy(click.Group):
    """A group whose commands are imported when they are called: name → (module, attribute)."""

    def __init__(self, *args: Any, lazy: dict[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order in which they were given."""
        del ctx
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name."""
        del ctx
        if cmd_name not in self._lazy:
            return None
        module, attribute = self._lazy[cmd_name]
        found: click.Command = getattr(importlib.import_module(module), attribute)
        return found

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """The names that begin so; no command is imported for it."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name) for name in self._lazy if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant; one that is mistyped is answered with what is near."""
        mistyped = args and args[0] not in self._lazy and not args[0].startswith("-")
        if mistyped and not ctx.resilient_parsing:
            raise UnknownCommand(ctx.command_path, args[0], tuple(self._lazy))
        return super().resolve_command(ctx, args)


class UnknownCommand(click.UsageError):
    """No command of that name."""

    def __init__(self, path: str, given: str, known: Sequence[str]) -> None:
        from difflib import get_close_matches

        near = get_close_matches(given.replace("_", "-"), known, n=1, cutoff=0.5)
        hint = f"did you mean `{path} {near[0]}`?" if near else f"`{path} --help` lists them."
        super().__init__(f"no command `{path} {given}`: {hint}")
