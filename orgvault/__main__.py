"""The program `orgvault`, and `python -m orgvault`."""

import gc
import os
import sys


def run() -> None:
    """Run the command line and end the process.

    A command lives for a tenth of a second: collecting garbage while its modules load, and
    taking them apart again at its end, would be a sixth of that.  Nothing of ours waits for the
    interpreter's end; what is written is written.
    """
    gc.disable()
    from orgvault.cli.main import main

    gc.enable()
    code = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (BrokenPipeError, ValueError):
        code = code or 0  # the reader went away: it has what it wanted
    os._exit(code)


if __name__ == "__main__":
    run()
