"""Runs the command line as `python -m orgvault`."""

import sys

from orgvault.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
