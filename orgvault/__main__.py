"""The program `orgvault`, and `python -m orgvault`."""

import contextlib
import gc
import os
import sys


def run() -> None:
    """Run the command line and end the process.

    A command lives for a tenth of a second: collecting garbage while its modules load, and
    taking them apart again at its end, would be a sixth of that.  Nothing of ours waits for the
    interpreter's end; what is written is written.
    """
    # A shell can close them (`>&-`); nobody then reads what is said.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115, PTH123
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115, PTH123
    try:
        gc.disable()
        from orgvault.cli.main import main

        gc.enable()
        code = main()
    except KeyboardInterrupt:  # while modules load
        code = 130
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the reader went away
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
