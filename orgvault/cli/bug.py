"""A bug: the traceback goes to a file, the person gets one sentence."""

import sys
import tempfile
import traceback

import click

EXIT_CODE = 70


def write_down(bug: BaseException, *, debug: bool) -> int:
    """Write a bug's traceback to a file and name it; the exit code."""
    text = "".join(traceback.format_exception(bug))
    if debug:
        click.echo(text, err=True)
    with tempfile.NamedTemporaryFile(
        "w", prefix="orgvault-bug-", suffix=".log", delete=False, encoding="utf-8"
    ) as file:
        file.write(f"orgvault {' '.join(sys.argv[1:2])}\n{text}")
    click.echo(
        f"orgvault: this is a bug ({type(bug).__name__}); what had been recorded is safe. "
        f"The details are in {file.name}",
        err=True,
    )
    return EXIT_CODE
