"""The command `orgvault`: where every command is found, and the one place that ends a failure."""

import sys

import click

from orgvault import __version__
from orgvault.cli import output
from orgvault.cli.options import Lazy, Settings, shared
from orgvault.errors import OrgvaultError

_ORG, _WAKE, _MEMORY, _TASK = (f"orgvault.cli.{name}" for name in ("org", "wake", "memory", "task"))
_COMMANDS = {
    "init": (_ORG, "init"),
    "compile": (_ORG, "compile_"),
    "check": (_ORG, "check"),
    "audit": ("orgvault.cli.audit", "audit"),
    "doctor": ("orgvault.cli.doctor", "doctor"),
    "redact": ("orgvault.cli.redact", "redact"),
    "status": (_ORG, "status"),
    "wake": (_WAKE, "wake"),
    "post": (_WAKE, "post"),
    "wake-done": (_WAKE, "wake_done"),
    "reflect": (_WAKE, "reflect"),
    "memory": (_MEMORY, "memory"),
    "replay": ("orgvault.cli.replay", "replay"),
    "recall": ("orgvault.cli.recall", "recall"),
    "stats": ("orgvault.cli.stats", "stats"),
    "query": ("orgvault.cli.query", "query"),
    "import": ("orgvault.cli.importing", "import_"),
    "task": (_TASK, "task"),
    "propose-improvement": ("orgvault.cli.proposing", "propose_improvement"),
    "proposal": ("orgvault.cli.proposal", "proposal"),
    "ledger": ("orgvault.cli.ledger", "ledger"),
    "prompt": ("orgvault.cli.prompt", "prompt"),
    "run": ("orgvault.cli.run", "run"),
    "dispatch": ("orgvault.cli.dispatch", "dispatch"),
    "routine": ("orgvault.cli.routine", "routine"),
    "chat": ("orgvault.cli.chat", "chat"),
    "collection": ("orgvault.cli.collection", "collection"),
    "record": ("orgvault.cli.record", "record"),
    "script": ("orgvault.cli.script", "script"),
    "connector": ("orgvault.cli.connector", "connector"),
    "selftest": ("orgvault.cli.selftest", "selftest"),
}


def _version(context: click.Context, _: click.Parameter, value: object) -> None:
    if value:
        click.echo(f"orgvault {__version__}")
        context.exit()


@click.group(
    cls=Lazy,
    lazy=_COMMANDS,
    params=[
        click.Option(
            ["-C", "vault"], metavar="VAULT", envvar="ORGVAULT_VAULT",
            help="The vault, or a folder in it.  [default: the one around this folder]",
        ),
        click.Option(
            ["--version"], is_flag=True, expose_value=False, is_eager=True, callback=_version,
            help="Show the version and exit.",
        ),
        *shared(),
    ],
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
@click.pass_context
def cli(context: click.Context, vault: str | None) -> None:
    """Persona memory for LLM agents, kept in your vault.

    Every write is one git commit: look at `git log` and `git diff`.  Begin with `orgvault init`.
    """
    context.ensure_object(Settings).vault = vault


def main(args: list[str] | None = None) -> int:
    """Run one command and return its exit code; no failure leaves as a traceback."""
    try:
        code = cli.main(args, prog_name="orgvault", standalone_mode=False)
    except OrgvaultError as failure:
        output.complain(str(failure))
        return failure.exit_code
    except click.ClickException as failure:
        failure.show()
        return failure.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("orgvault: interrupted", err=True)
        return 130
    except BrokenPipeError:
        return 0  # the reader (`| head`) went away; what it did not want is not a failure
    except OSError as failure:
        what = failure.filename or "the output, or the current folder"
        output.complain(f"{what}: {failure.strerror or failure}")
        return 1
    except Exception as bug:  # noqa: BLE001 - the last resort: say where it was written down
        from orgvault.cli.bug import write_down

        return write_down(bug, debug="--debug" in (args or sys.argv))
    return code if isinstance(code, int) else 0
